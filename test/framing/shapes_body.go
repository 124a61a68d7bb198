package framing

import "strings"

// lengths are shapes of Content-Length. Where a reader could take a length for none,
// the body is a request.
func (w writer) lengths() []Shape {
	f := func(id, lines, body string, guard Verdict) Shape {
		return Shape{ID: "length/" + id, Raw: w.put(body, lines), Odd: lines, Means: []Meant{{"PUT", target, body}}, Guard: guard}
	}
	hidden := w.hidden()
	n := strings.TrimPrefix(sized(hidden), "Content-Length: ")
	return []Shape{
		{ID: "length/plain", Title: "a plain write", Raw: w.put(doc, sized(doc)), Means: write, Guard: passed},
		f("plus", "Content-Length: +"+n, hidden, refused(400)),
		f("minus", "Content-Length: -1", hidden, refused(400)),
		f("minus-zero", "Content-Length: -0", hidden, refused(400)),
		f("hex", "Content-Length: 0x7", doc, refused(400)),
		f("fraction", "Content-Length: 7.0", doc, refused(400)),
		f("exponent", "Content-Length: 7e0", doc, refused(400)),
		f("underscore-digits", "Content-Length: 0_7", doc, refused(400)),
		f("quoted", `Content-Length: "7"`, doc, refused(400)),
		f("wide-digit", "Content-Length: \uff17", doc, refused(400)),
		f("list", "Content-Length: 7, 7", doc, refused(400)),
		f("list-different", "Content-Length: "+n+", 0", hidden, refused(400)),
		f("list-blank", "Content-Length: 7 7", doc, refused(400)),
		f("twice", "Content-Length: 7\r\nContent-Length: 7", doc, refused(400)),
		f("twice-different", "Content-Length: 0\r\nContent-Length: "+n, hidden, refused(400)),
		f("twice-case", "Content-Length: "+n+"\r\ncontent-length: 0", hidden, refused(400)),
		f("empty", "Content-Length:", hidden, refused(400)),
		f("huge", "Content-Length: 99999999999999999999999", doc, refused(400)),
		f("2^64+7", "Content-Length: 18446744073709551623", doc, refused(400)),
		f("2^63", "Content-Length: 9223372036854775808", doc, refused(400)),
		f("2^32+7", "Content-Length: 4294967303", doc, refused(413)),
		f("vt", "Content-Length: \v7", doc, refused(400)),
		f("nul", "Content-Length: 7\x00", doc, refused(400)),
		f("semicolon", "Content-Length: 7;", doc, refused(400)),
		f("space-before-colon", "Content-Length : "+n, hidden, refused(400)),
		f("space-before-name", " Content-Length: "+n, hidden, refused(400)),
		f("bare-lf", "X-A: b\nContent-Length: "+n, hidden, refused(400)),
		f("bare-cr", "X-A: b\rContent-Length: "+n, hidden, refused(400)),
		f("fold", "Content-Length:\r\n "+n, hidden, refused(400)),
		f("zeros", "Content-Length: 007", doc, mended),
		f("blanks", "Content-Length: \t 7 \t", doc, mended),
		f("no-blank", "Content-Length:7", doc, mended),
		{
			ID: "length/underscore", Raw: w.get("Content_Length: "+n) + hidden, Odd: "Content_Length: " + n,
			Means: []Meant{one[0], second}, Guard: mended,
		},
	}
}

// codings are shapes of Transfer-Encoding.
func (w writer) codings() []Shape {
	f := func(id, lines string, guard Verdict) Shape {
		return Shape{ID: "coding/" + id, Raw: w.put(chunked(doc), lines), Odd: lines, Means: write, Guard: guard}
	}
	hidden := w.hidden()
	return []Shape{
		{ID: "coding/plain", Title: "a write in chunks", Raw: w.put(chunked(doc), "Transfer-Encoding: chunked"), Means: write, Guard: passed},
		f("tab", "Transfer-Encoding:\tchunked", mended),
		f("blanks", "Transfer-Encoding:  chunked \t ", mended),
		{
			ID: "coding/name-case", Title: "`tRANSFER-eNCODING: chunked`", Raw: w.put(chunked(doc), "tRANSFER-eNCODING: chunked"), Means: write, Guard: passed,
		},
		f("capitals", "Transfer-Encoding: CHUNKED", refused(501)),
		f("twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", refused(400)),
		f("twice-case", "Transfer-Encoding: chunked\r\ntransfer-encoding: identity", refused(400)),
		f("twice-other", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", refused(400)),
		f("list-twice", "Transfer-Encoding: chunked, chunked", refused(501)),
		f("identity-last", "Transfer-Encoding: chunked, identity", refused(501)),
		f("identity-first", "Transfer-Encoding: identity, chunked", refused(501)),
		f("gzip-first", "Transfer-Encoding: gzip, chunked", refused(501)),
		f("empty-item", "Transfer-Encoding: ,chunked", refused(501)),
		f("param", "Transfer-Encoding: chunked;q=1", refused(501)),
		f("identity", "Transfer-Encoding: identity", refused(501)),
		f("other", "Transfer-Encoding: xchunked", refused(501)),
		f("x", "Transfer-Encoding: x", refused(501)),
		f("quoted", `Transfer-Encoding: "chunked"`, refused(501)),
		f("empty", "Transfer-Encoding:", refused(501)),
		f("vt", "Transfer-Encoding: \vchunked", refused(400)),
		f("vt-behind", "Transfer-Encoding: chunked\v", refused(400)),
		f("nul", "Transfer-Encoding: chunked\x00", refused(400)),
		f("8-bit", "Transfer-Encoding: chunked\xa0", refused(501)),
		f("fold", "Transfer-Encoding:\r\n chunked", refused(400)),
		f("fold-behind", "Transfer-Encoding: chunked\r\n , identity", refused(400)),
		f("space-before-colon", "Transfer-Encoding : chunked", refused(400)),
		f("space-before-name", " Transfer-Encoding: chunked", refused(400)),
		f("nul-in-name", "Transfer-Encoding\x00: chunked", refused(400)),
		f("bare-lf", "X-A: b\nTransfer-Encoding: chunked", refused(400)),
		f("bare-cr", "X-A: b\rTransfer-Encoding: chunked", refused(400)),
		{
			ID: "coding/1.0", Title: "`Transfer-Encoding: chunked` in HTTP/1.0", Means: write, Guard: refused(400),
			Raw: w.raw("PUT "+target+" HTTP/1.0", "Transfer-Encoding: chunked", "Content-Type: application/json") + chunked(doc), Odd: "Transfer-Encoding: chunked",
		},
		{
			ID: "coding/underscore", Raw: w.get("Transfer_Encoding: chunked") + hidden, Odd: "Transfer_Encoding: chunked",
			Means: []Meant{one[0], second}, Guard: mended,
		},
		{ID: "coding/te", Raw: w.get("TE: trailers, chunked"), Odd: "TE: trailers, chunked", Means: one, Guard: mended},
	}
}

// both are shapes with Content-Length beside Transfer-Encoding: the classic pairs, whose
// rest is a request for whoever reads by the other one.
func (w writer) both() []Shape {
	hidden := w.hidden()
	inChunks, byLength := "0\r\n\r\n"+hidden, chunked(hidden)
	decoded := map[string]string{inChunks: "", byLength: hidden, chunked(doc): doc, doc: doc} // as RFC 9112 has it: chunks count
	f := func(id, title, lines, body string, guard Verdict) Shape {
		return Shape{ID: "both/" + id, Title: title, Raw: w.put(body, lines), Odd: lines, Means: []Meant{{"PUT", target, decoded[body]}}, Guard: guard}
	}
	return []Shape{
		f("cl-te", "length, then chunks; the rest is a request for who reads chunks", sized(inChunks)+"\r\nTransfer-Encoding: chunked", inChunks, refused(400)),
		f("te-cl", "chunks, then length; the rest is a request for who reads chunks", "Transfer-Encoding: chunked\r\n"+sized(inChunks), inChunks, refused(400)),
		f("te-cl-short", "length of 4 beside chunks; the rest is a request for who reads the length", "Content-Length: 4\r\nTransfer-Encoding: chunked", byLength, refused(400)),
		f("zero", "length of 0 beside chunks", "Content-Length: 0\r\nTransfer-Encoding: chunked", chunked(doc), refused(400)),
		f("true", "chunks and their true length", "Transfer-Encoding: chunked\r\n"+sized(chunked(doc)), chunked(doc), refused(400)),
		f("tab", "length beside `Transfer-Encoding:\\tchunked`", sized(inChunks)+"\r\nTransfer-Encoding:\tchunked", inChunks, refused(400)),
		f("capitals", "length beside `Transfer-Encoding: CHUNKED`", sized(inChunks)+"\r\nTransfer-Encoding: CHUNKED", inChunks, refused(501)),
		f("identity", "length beside `Transfer-Encoding: identity`", "Transfer-Encoding: identity\r\n"+sized(doc), doc, refused(501)),
		f("x", "length beside `Transfer-Encoding: xchunked`", sized(inChunks)+"\r\nTransfer-Encoding: xchunked", inChunks, refused(501)),
		f("hidden-by-space", "length beside `Transfer-Encoding : chunked`", sized(inChunks)+"\r\nTransfer-Encoding : chunked", inChunks, refused(400)),
		f("hidden-by-fold", "length beside a folded `Transfer-Encoding: chunked`", sized(inChunks)+"\r\nX-A: b\r\n Transfer-Encoding: chunked", inChunks, refused(400)),
		f("hidden-by-cr", "length beside `X: a\\rTransfer-Encoding: chunked`", sized(inChunks)+"\r\nX-A: b\rTransfer-Encoding: chunked", inChunks, refused(400)),
		f("hidden-by-lf", "length beside `X: a\\nTransfer-Encoding: chunked`", sized(inChunks)+"\r\nX-A: b\nTransfer-Encoding: chunked", inChunks, refused(400)),
		f("bad-length", "`Content-Length: x` beside chunks", "Content-Length: x\r\nTransfer-Encoding: chunked", chunked(doc), refused(400)),
	}
}

// clipped bounds what a title shows.
func clipped(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// chunks are shapes of the chunks themselves.
func (w writer) chunks() []Shape {
	f := func(id, odd, body string, guard Verdict) Shape {
		return Shape{
			ID: "chunk/" + id, Title: "chunk with `" + clipped(quoted(odd)) + "`", Raw: w.put(body, "Transfer-Encoding: chunked"), Odd: odd, Means: write, Guard: guard,
		}
	}
	// g is f with an odd size; the rest is as it should be.
	g := func(id, size string, guard Verdict) Shape { return f(id, size, size+"\r\n"+doc+"\r\n0\r\n\r\n", guard) }
	return []Shape{
		g("prefix", "0x7", refused(400)),
		g("plus", "+7", refused(400)),
		g("minus", "-7", refused(400)),
		g("blank-before", " 7", refused(400)),
		g("blank-behind", "7 ", refused(400)),
		g("tab-behind", "7\t", refused(400)),
		g("vt", "\v7", refused(400)),
		g("underscore", "0_7", refused(400)),
		g("no-hex", "7g", refused(400)),
		{
			ID: "chunk/empty", Title: "an empty chunk size", Raw: w.put("\r\n"+doc+"\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), Means: write, Guard: refused(400),
		},
		g("2^64+7", "10000000000000007", refused(400)),
		g("2^100+7", "100000000000000000000000007", refused(400)),
		g("nine-digits", "000000007", refused(400)),
		g("minus-one", "ffffffffffffffff", refused(400)),
		g("eight-digits", "00000007", mended),
		g("extension", "7;name=value", mended),
		g("extension-quoted", `7;name="a;b\"c"`, mended),
		g("extension-odd", "7;;;=,", mended),
		g("extension-lf", "7;a\nb", refused(400)),
		g("extension-cr", "7;a\rb", refused(400)),
		g("extension-nul", "7;a\x00b", refused(400)),
		g("extension-blank", "7 ;a", refused(400)),
		g("extension-long", "7;"+strings.Repeat("a", 300), refused(400)),
		g("extension-lf-chunk", "7;\n"+doc+"\r\n0\r\n\r\n", refused(400)),
		f("lf", "7\n", "7\n"+doc+"\n0\n\n", refused(400)),
		f("lf-behind-data", doc+"\n0", "7\r\n"+doc+"\n0\r\n\r\n", refused(400)),
		f("cr-behind-data", doc+"\r0", "7\r\n"+doc+"\r0\r\n\r\n", refused(400)),
		f("no-crlf", doc+"0", "7\r\n"+doc+"0\r\n\r\n", refused(400)),
		f("two-crlf", doc+"\r\n\r\n", "7\r\n"+doc+"\r\n\r\n0\r\n\r\n", refused(400)),
		f("too-small", "6\r\n", "6\r\n"+doc+"\r\n0\r\n\r\n", refused(400)),
		f("too-large", "8\r\n", "8\r\n"+doc+"\r\n0\r\n\r\n", refused(400)),
		f("last-lf", "0\n\n", "7\r\n"+doc+"\r\n0\n\n", refused(400)),
		f("last-minus", "-0", "7\r\n"+doc+"\r\n-0\r\n\r\n", refused(400)),
		f("last-zeros", "\r\n000\r\n", "7\r\n"+doc+"\r\n000\r\n\r\n", mended),
		f("two", "1\r\n{\r\n6\r\n", "1\r\n{\r\n6\r\n\"a\":1}\r\n0\r\n\r\n", mended),
		{
			ID: "chunk/hex", Title: "a chunk size in upper case", Odd: "\r\nA\r\n", Raw: w.put("A\r\n{\"abcd\":1}\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
			Means: []Meant{{"PUT", target, `{"abcd":1}`}}, Guard: mended,
		},
		{
			ID: "chunk/late", Title: "a bad chunk behind 64 KiB of good ones", Means: write, Guard: Verdict{Kind: Begun, Status: 400}, Limited: refused(400),
			Raw: w.put(strings.Repeat("400\r\n"+strings.Repeat(" ", 1<<10)+"\r\n", 64)+"7 \r\n"+doc+"\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
		},
		{ID: "chunk/waits", Title: "a last chunk that never comes", Raw: w.put("7\r\n"+doc+"\r\n", "Transfer-Encoding: chunked"), Means: write, Guard: refused(408), Waits: true},
		{ID: "chunk/cut", Title: "a half-closed connection inside the chunks", Raw: w.put("7\r\n"+doc, "Transfer-Encoding: chunked"), Means: write, Guard: refused(400), HalfClose: true},
	}
}

// trailers are shapes of what stands behind the last chunk: it never becomes a header.
func (w writer) trailers() []Shape {
	f := func(id, trailer string, guard Verdict) Shape {
		body := "7\r\n" + doc + "\r\n0\r\n" + trailer + "\r\n\r\n"
		return Shape{ID: "trailer/" + id, Raw: w.put(body, "Transfer-Encoding: chunked"), Odd: trailer, Means: write, Guard: guard, Title: "a trailer `" + quoted(trailer) + "`"}
	}
	return []Shape{
		f("plain", "X-A: b", mended),
		f("identity", "X-Proxy-User: admin", mended),
		f("host", "Host: other", mended),
		f("coding", "Transfer-Encoding: identity", mended),
		f("length", "Content-Length: 3", mended),
		f("authorization", "Authorization: Basic eDp5", mended),
		f("opaque", kept, mended),
		f("name", "Bad Trailer: x", refused(400)),
		f("no-colon", "trailer", refused(400)),
		f("space-before-colon", "X-A : b", refused(400)),
		f("nul", "X-A: \x00", refused(400)),
		f("cr", "X-A: a\rb", refused(400)),
		f("lf", "X-A: a\nX-B: c", refused(400)),
		f("fold", "X-A: a\r\n b", refused(400)),
		{
			ID: "trailer/many", Title: "more than 4 KiB of trailers", Means: write, Guard: refused(400),
			Raw: w.put("7\r\n"+doc+"\r\n0\r\n"+strings.Repeat("X-A: b\r\n", 1000)+"\r\n", "Transfer-Encoding: chunked"), Odd: "X-A: b",
		},
		{
			ID: "trailer/announced", Raw: w.put("7\r\n"+doc+"\r\n0\r\nX-A: b\r\n\r\n", "Transfer-Encoding: chunked", "Trailer: X-A"), Odd: "Trailer: X-A",
			Means: write, Guard: mended,
		},
	}
}

// bodies are shapes of bodies where one does not expect them, or more or less of it.
func (w writer) bodies() []Shape {
	hidden := w.hidden()
	f := func(id, title, first, body string, guard, limited Verdict) Shape {
		method, rest, _ := strings.Cut(first, " ")
		at, _, _ := strings.Cut(rest, " ")
		return Shape{
			ID: "body/" + id, Title: title, Raw: w.raw(first, sized(body), "Content-Type: application/json") + body,
			Means: []Meant{{method, at, body}}, Guard: guard, Limited: limited,
		}
	}
	return []Shape{
		f("get", "GET with a body", "GET /open/_search HTTP/1.1", `{"size":1}`, passed, Verdict{}),
		f("get-doc", "GET of a document with a body that is a request", "GET "+target+" HTTP/1.1", hidden, passed, rejected(400)),
		f("head", "HEAD with a body that is a request", "HEAD "+target+" HTTP/1.1", hidden, passed, rejected(400)),
		f("delete", "DELETE with a body that is a request", "DELETE "+target+" HTTP/1.1", hidden, passed, rejected(400)),
		f("post-empty", "POST with a length of 0", "POST /open/_refresh HTTP/1.1", "", passed, Verdict{}),
		{ID: "body/none", Title: "POST without a length", Raw: w.raw("POST /open/_refresh HTTP/1.1"), Means: []Meant{{"POST", "/open/_refresh", ""}}, Guard: passed},
		{ID: "body/get-chunks", Title: "GET with chunks", Raw: w.get("Transfer-Encoding: chunked") + chunked(hidden), Means: []Meant{{"GET", target, hidden}}, Guard: passed, Limited: rejected(400)},
		{ID: "body/head-chunks", Title: "HEAD with chunks", Raw: w.raw("HEAD "+target+" HTTP/1.1", "Transfer-Encoding: chunked") + chunked(hidden), Means: []Meant{{"HEAD", target, hidden}}, Guard: passed, Limited: rejected(400)},
		{ID: "body/longer", Title: "a body longer than its length", Raw: w.put(doc+"excess\r\n\r\n", sized(doc)), Means: append(write[:1:1], Meant{}), Guard: partly},
		{ID: "body/longer-request", Title: "a request behind a body", Raw: w.put(doc+hidden, sized(doc)), Means: append(write[:1:1], second), Guard: passed},
		{ID: "body/shorter", Title: "a body shorter than its length", Raw: w.put(doc, "Content-Length: 8"), Means: write, Guard: refused(408), Waits: true},
		{ID: "body/cut", Title: "a half-closed connection inside the body", Raw: w.put(doc, "Content-Length: 8"), Means: write, Guard: refused(400), HalfClose: true},
		{ID: "body/large", Title: "a length beyond the limit", Raw: w.put(doc, "Content-Length: 1000000000000"), Means: write, Guard: refused(413)},
	}
}

// expectations are shapes of Expect.
func (w writer) expectations() []Shape {
	f := func(id, lines string, guard Verdict) Shape {
		return Shape{ID: "expect/" + id, Raw: w.put(doc, sized(doc), lines), Odd: lines, Means: write, Guard: guard}
	}
	return []Shape{
		{
			ID: "expect/waits", Title: "`Expect: 100-continue`, and the body behind the 100", Raw: w.put("", sized(doc), "Expect: 100-continue"), Rest: doc, Means: write, Guard: passed,
		},
		{
			ID: "expect/chunks", Title: "`Expect: 100-continue`, and chunks behind the 100", Raw: w.put("", "Transfer-Encoding: chunked", "Expect: 100-continue"), Rest: chunked(doc), Means: write, Guard: passed,
		},
		{
			ID: "expect/refused", Title: "`Expect: 100-continue` for a body that is a request, where none is taken", Means: []Meant{{"GET", target, w.hidden()}},
			Raw: w.get(sized(w.hidden()), "Expect: 100-continue"), Rest: w.hidden(), Guard: passed, Limited: refused(400),
		},
		f("at-once", "Expect: 100-continue", mended),
		f("case", "expect: 100-Continue", mended),
		f("other", "Expect: 200-ok", refused(417)),
		f("list", "Expect: 100-continue, x", refused(417)),
		f("empty", "Expect:", refused(417)),
		f("twice", "Expect: 100-continue\r\nExpect: 100-continue", refused(400)),
		{ID: "expect/no-body", Title: "`Expect: 100-continue` without a body", Raw: w.get("Expect: 100-continue"), Odd: "Expect: 100-continue", Means: one, Guard: mended},
		{
			ID: "expect/1.0", Title: "`Expect: 100-continue` in HTTP/1.0", Odd: "Expect: 100-continue", Means: write, Guard: ended(mended), Closes: true,
			Raw: w.raw("PUT "+target+" HTTP/1.0", sized(doc), "Content-Type: application/json", "Expect: 100-continue") + doc,
		},
	}
}
