package framing

import "strings"

// connections are shapes of what belongs to one connection: it ends here.
func (w writer) connections() []Shape {
	f := func(id, lines string, guard Verdict) Shape {
		return Shape{ID: "connection/" + id, Raw: w.get(lines), Odd: lines, Means: one, Guard: guard}
	}
	g := func(id, line string) Shape {
		return Shape{ID: "connection/" + id, Raw: w.put(doc, sized(doc), line), Odd: line, Means: write, Guard: refused(400)}
	}
	return []Shape{
		{ID: "connection/close", Title: "`Connection: close`", Raw: w.get("Connection: close"), Means: one, Guard: ended(passed), Closes: true},
		{ID: "connection/close-next", Title: "a request behind `Connection: close`", Raw: w.get("Connection: close") + w.hidden(), Means: one, Guard: ended(passed), Closes: true},
		f("keep-alive", "Connection: keep-alive", mended),
		f("keep-alive-params", "Keep-Alive: timeout=1, max=1", mended),
		f("proxy", "Proxy-Connection: close", mended),
		f("host", "Connection: Host", refused(400)),
		f("authorization", "Connection: Authorization", refused(400)),
		f("forwarded", "Connection: X-Forwarded-For", mended),
		{
			ID: "connection/opaque", Title: "`Connection: X-Opaque-Id` beside that header", Raw: w.get("Connection: X-Opaque-Id", kept), Odd: kept, Means: one, Guard: mended,
		},
		g("length", "Connection: Content-Length"),
		g("type", "Connection: Content-Type"),
		{
			ID: "connection/coding", Raw: w.put(chunked(doc), "Transfer-Encoding: chunked", "Connection: Transfer-Encoding"), Odd: "Connection: Transfer-Encoding",
			Means: write, Guard: mended,
		},
		f("upgrade-alone", "Connection: Upgrade", mended),
		f("h2c", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__", mended),
		f("h2c-alone", "Upgrade: h2c", mended),
		f("settings", "HTTP2-Settings: AAMAAABkAAQAAP__", mended),
		f("websocket", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", mended),
		{ID: "connection/half-closed-head", Title: "a half-closed connection inside the head", Raw: strings.TrimSuffix(w.get(), "\r\n"), Guard: Verdict{Kind: Closed}, HalfClose: true},
		{ID: "connection/half-closed", Title: "a half-closed connection behind a request", Raw: w.get(), Means: one, Guard: ended(passed), HalfClose: true, Racy: true},
		{ID: "connection/half-head", Title: "a head that never ends", Raw: strings.TrimSuffix(w.get(), "\r\n"), Means: one, Guard: refused(408), Waits: true},
	}
}

// sequences are several requests on one connection.
func (w writer) sequences() []Shape {
	hidden, head := w.hidden(), w.raw("HEAD "+target+" HTTP/1.1")
	first, last := one[0], Meant{"PUT", target, doc}
	return []Shape{
		{ID: "sequence/two", Title: "two requests at once", Raw: w.get() + hidden, Means: []Meant{first, second}, Guard: passed},
		{
			ID: "sequence/mixed", Title: "HEAD, a write by length, one in chunks, a read, at once", Guard: passed,
			Raw:   head + w.put(doc, sized(doc)) + w.put(chunked(doc), "Transfer-Encoding: chunked") + hidden,
			Means: []Meant{{"HEAD", target, ""}, last, last, second},
		},
		{ID: "sequence/bad-second", Title: "a refused request behind a good one", Raw: w.get() + w.get("Bad Name: x") + hidden, Means: []Meant{first, {}}, Guard: partly},
		{ID: "sequence/crlf-between", Title: "an empty line between two requests", Raw: w.put(doc, sized(doc)) + "\r\n" + hidden, Means: []Meant{last, second}, Guard: partly},
	}
}

// sizes are shapes at the limits.
func (w writer) sizes() []Shape {
	line := "X-Filler: " + strings.Repeat("a", 1000)
	few := make([]string, 200)
	for i := range few {
		few[i] = "X-A: b"
	}
	return []Shape{
		{ID: "size/line", Title: "a request line of 20 KiB", Raw: w.raw("GET /open/_doc/" + strings.Repeat("a", 20<<10) + " HTTP/1.1"), Means: []Meant{{"GET", "/open/_doc/" + strings.Repeat("a", 20<<10), ""}}, Guard: refused(414)},
		{ID: "size/value", Title: "a header of 20 KiB", Raw: w.get("X-Opaque-Id: " + strings.Repeat("a", 20<<10)), Means: one, Guard: refused(431)},
		{ID: "size/head", Title: "20 headers of 1 KiB", Raw: w.get(strings.Split(strings.Repeat(line+"\n", 20)+line, "\n")...), Means: one, Guard: refused(431)},
		{ID: "size/fields", Title: "200 headers", Raw: w.get(few...), Means: one, Guard: refused(431)},
		{ID: "size/head-method", Title: "HEAD with a header of 20 KiB: the refusal has no body", Raw: w.raw("HEAD "+target+" HTTP/1.1", "X-Opaque-Id: "+strings.Repeat("a", 20<<10)), Means: []Meant{{"HEAD", target, ""}}, Guard: refused(431)},
		{ID: "size/name", Title: "a name of 20 KiB", Raw: w.get(strings.Repeat("a", 20<<10) + ": b"), Means: one, Guard: refused(431)},
	}
}

// paths are shapes of the path. What two nodes could read in two ways is refused to
// limited principals, who may name only what they may reach; for others it passes as it
// was written, as the node would get it.
func (w writer) paths() []Shape {
	f := func(id, path string, limited Verdict) Shape {
		return Shape{ID: "path/" + id, Title: "`" + path + "`", Raw: w.raw("GET " + path + " HTTP/1.1"), Means: []Meant{{"GET", path, ""}}, Guard: passed, Limited: limited}
	}
	return []Shape{
		f("double-slash", "//open/_doc/1", rejected(400)),
		f("double-slash-inside", "/open//_doc/1", rejected(400)),
		f("double-slash-last", "/open/_doc/1//", rejected(400)),
		f("authority", "//es/open/_doc/1", rejected(400)),
		f("dot", "/./open/_doc/1", rejected(400)),
		f("dot-inside", "/open/./_doc/1", rejected(400)),
		f("dots", "/closed/../open/_doc/1", rejected(400)),
		f("dots-out", "/open/../closed/_doc/1", rejected(400)),
		f("dots-escaped", "/open/%2e%2e/closed/_doc/1", rejected(400)),
		f("dots-half-escaped", "/open/.%2E/closed/_doc/1", rejected(400)),
		f("dots-last", "/open/_doc/%2e%2e", rejected(400)),
		f("dots-semicolon", "/open/..;/closed/_doc/1", rejected(403)),
		f("slash-in-index", "/open%2f..%2fclosed/_doc/1", rejected(400)),
		f("slash-for-index", "/open%2F_doc%2F1", rejected(400)),
		f("backslash", `/open\_doc\1`, rejected(400)),
		f("backslash-escaped", "/open%5c..%5cclosed/_doc/1", rejected(400)),
		f("backslash-first", `/\open/_doc/1`, rejected(400)),
		f("nul", "/open%00/_doc/1", rejected(400)),
		f("nul-id", "/open/_doc/1%00", rejected(400)),
		f("bad-escape", "/open/_doc/%zz", rejected(400)),
		f("short-escape", "/open/_doc/%4", rejected(400)),
		f("escape-alone", "/open/_doc/%", rejected(400)),
		f("unicode-escape", "/open/_doc/%u0031", rejected(400)),
		f("overlong", "/open/_doc/%c0%ae", rejected(400)),
		f("surrogate", "/open/_doc/%ed%a0%80", rejected(400)),
		f("no-utf8", "/open/_doc/%ff", rejected(400)),
		f("line-escaped", "/open%0d%0aX:%20y/_doc/1", rejected(403)),
		f("semicolon-index", "/open;x=1/_doc/1", rejected(403)),
		f("word-escaped", "/open/%5Fdoc/1", rejected(400)),
		f("twice-escaped", "/open/_doc/%252e%252e", Verdict{}),
		f("index-escaped", "/%6fpen/_doc/1", Verdict{}),
		f("slash-in-id", "/open/_doc/x%2Fy", Verdict{}),
		f("dots-in-id", "/open/_doc/..%2f..%2fclosed", Verdict{}),
		f("semicolon-id", "/open/_doc/1;x=1", Verdict{}),
		f("plus", "/open/_doc/a+b", Verdict{}),
		f("utf8", "/open/_doc/%C3%A4", Verdict{}),
		f("line-in-id", "/open/_doc/a%0d%0ab", Verdict{}),
		f("slash-last", "/open/_doc/1/", Verdict{}),
	}
}

// params are shapes of the query.
func (w writer) params() []Shape {
	f := func(id, query string, limited Verdict) Shape {
		at := target + "?" + query
		return Shape{ID: "param/" + id, Title: "`?" + query + "`", Raw: w.raw("GET " + at + " HTTP/1.1"), Means: []Meant{{"GET", at, ""}}, Guard: passed, Limited: limited}
	}
	return []Shape{
		f("plain", "realtime=true", Verdict{}),
		f("twice", "routing=a&routing=b", rejected(400)),
		f("semicolon", "routing=a;routing=b", rejected(400)),
		f("nul", "routing=%00", rejected(400)),
		f("no-utf8", "routing=%ff", rejected(400)),
		f("bad-escape", "routing=%", rejected(400)),
		f("plus", "routing=a+b", Verdict{}),
		f("ampersand", "routing=a%26b", Verdict{}),
		f("question", "routing=a?b", Verdict{}),
		f("empty", "&&", Verdict{}),
	}
}
