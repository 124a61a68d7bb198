package framing

import (
	"strconv"
	"strings"
)

// Shapes is the table, with the credentials of one principal: a header line with its
// CRLF.
func Shapes(auth string) []Shape {
	w := writer{auth}
	var list []Shape
	for _, part := range [][]Shape{
		w.lines(), w.versions(), w.hosts(), w.fields(), w.lengths(), w.codings(), w.both(), w.chunks(), w.trailers(),
		w.bodies(), w.expectations(), w.connections(), w.sequences(), w.sizes(), w.paths(), w.params(),
	} {
		list = append(list, part...)
	}
	return list
}

// writer writes requests of one principal.
type writer struct{ auth string }

const (
	doc    = `{"a":1}`
	target = "/open/_doc/1"
	kept   = "X-Opaque-Id: 1" // a header that is forwarded

	// hidden is a request that stands where a second reading would look for one.
	hiddenID     = "hidden"
	hiddenTarget = "/open/_doc/" + hiddenID
)

// raw is a request with any first line.
func (w writer) raw(first string, lines ...string) string {
	return w.bare(first, append([]string{"Host: es"}, lines...)...)
}

// bare is raw without a Host.
func (w writer) bare(first string, lines ...string) string {
	b := first + "\r\n"
	for i, line := range lines {
		b += line + "\r\n"
		if i == 0 {
			b += w.auth
		}
	}
	if len(lines) == 0 {
		b += w.auth
	}
	return b + "\r\n"
}

// get reads a document.
func (w writer) get(lines ...string) string { return w.raw("GET "+target+" HTTP/1.1", lines...) }

// put writes a document; the lines say how long it is.
func (w writer) put(body string, lines ...string) string {
	return w.raw("PUT "+target+" HTTP/1.1", append(lines, "Content-Type: application/json")...) + body
}

func (w writer) hidden() string { return w.raw("GET " + hiddenTarget + " HTTP/1.1") }

// chunked writes a body in one chunk.
func chunked(body string) string {
	return strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body + "\r\n0\r\n\r\n"
}

func sized(body string) string { return "Content-Length: " + strconv.Itoa(len(body)) }

// What the shapes mean.
var (
	one    = []Meant{{"GET", target, ""}}
	write  = []Meant{{"PUT", target, doc}}
	second = Meant{"GET", hiddenTarget, ""}
)

// lines are shapes of the request line.
func (w writer) lines() []Shape {
	f := func(id, first string, guard Verdict) Shape {
		method, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(first), "\t", " "), " ")
		return Shape{ID: "line/" + id, Raw: w.raw(first), Odd: first, Means: []Meant{{method, target, ""}}, Guard: guard}
	}
	return []Shape{
		{ID: "line/plain", Title: "a plain read", Raw: w.get(), Means: one, Guard: passed},
		f("absolute", "GET http://es/open/_doc/1 HTTP/1.1", refused(400)),
		f("absolute-other", "GET http://other/open/_doc/1 HTTP/1.1", refused(400)),
		f("authority", "CONNECT es:9200 HTTP/1.1", refused(501)),
		f("asterisk", "OPTIONS * HTTP/1.1", refused(400)),
		f("lower-case", "get /open/_doc/1 HTTP/1.1", refused(501)),
		f("trace", "TRACE /open/_doc/1 HTTP/1.1", refused(501)),
		f("unknown", "FOO /open/_doc/1 HTTP/1.1", refused(501)),
		f("no-token", "G@T /open/_doc/1 HTTP/1.1", refused(400)),
		f("method-nul", "GET\x00 /open/_doc/1 HTTP/1.1", refused(400)),
		f("two-blanks", "GET  /open/_doc/1 HTTP/1.1", refused(400)),
		f("two-blanks-version", "GET /open/_doc/1  HTTP/1.1", refused(400)),
		f("blank-first", " GET /open/_doc/1 HTTP/1.1", refused(400)),
		f("blank-last", "GET /open/_doc/1 HTTP/1.1 ", refused(400)),
		f("tab", "GET\t/open/_doc/1\tHTTP/1.1", refused(400)),
		f("blank-in-target", "GET /open/_doc/1 2 HTTP/1.1", refused(400)),
		f("cr-in-target", "GET /open/_doc/1\r2 HTTP/1.1", refused(400)),
		f("lf-in-target", "GET /open/_doc/1\nX: HTTP/1.1", refused(400)),
		f("nul-in-target", "GET /open/_doc/1\x00 HTTP/1.1", refused(400)),
		f("non-ascii-target", "GET /open/_doc/ä HTTP/1.1", refused(400)),
		f("8-bit-target", "GET /open/_doc/\xff HTTP/1.1", refused(400)),
		f("fragment", "GET /open/_doc/1#x HTTP/1.1", refused(400)),
		f("no-slash", "GET open/_doc/1 HTTP/1.1", refused(400)),
		f("query-alone", "GET ?x=1 HTTP/1.1", refused(400)),
		f("no-target", "GET HTTP/1.1", refused(400)),
		{ID: "line/leading-crlf", Title: "an empty line before the request line", Raw: "\r\n" + w.get(), Means: one, Guard: refused(400)},
		{ID: "line/leading-lf", Title: "a bare line feed before the request line", Raw: "\n" + w.get(), Means: one, Guard: refused(400)},
		{ID: "line/bare-lf", Title: "a request line that ends in a bare line feed", Raw: strings.Replace(w.get(), "\r\n", "\n", 1), Means: one, Guard: refused(400)},
		{ID: "line/bare-cr", Title: "a request line that ends in a bare carriage return", Raw: strings.Replace(w.get(), "\r\n", "\r", 1), Means: one, Guard: refused(400)},
		{ID: "line/two-cr", Title: "a request line that ends in two carriage returns", Raw: strings.Replace(w.get(), "\r\n", "\r\r\n", 1), Means: one, Guard: refused(400)},
		{ID: "line/head", Title: "`HEAD /open/_doc/1 HTTP/1.2`: the refusal has no body", Raw: w.raw("HEAD " + target + " HTTP/1.2"), Means: []Meant{{"HEAD", target, ""}}, Guard: refused(400)},
		{ID: "line/tls", Title: "the hello of TLS on a plain port", Raw: "\x16\x03\x01\x00\x0a\x01\x00\x00\x06\x03\x03\n\r\n\r\n", Guard: refused(400)},
	}
}

// versions are shapes of the version.
func (w writer) versions() []Shape {
	f := func(id, version string, guard Verdict) Shape {
		first := "GET /open/_doc/1 " + version
		return Shape{ID: "version/" + id, Raw: w.raw(first), Odd: first, Means: one, Guard: guard}
	}
	return []Shape{
		f("0.9", "HTTP/0.9", refused(400)),
		f("1.2", "HTTP/1.2", refused(400)),
		f("2.0", "HTTP/2.0", refused(400)),
		f("9.9", "HTTP/9.9", refused(400)),
		f("1.10", "HTTP/1.10", refused(400)),
		f("1.01", "HTTP/1.01", refused(400)),
		f("short", "HTTP/1", refused(400)),
		f("lower-case", "http/1.1", refused(400)),
		f("blank", "HTTP /1.1", refused(400)),
		f("other", "ICAP/1.1", refused(400)),
		{ID: "version/simple", Title: "`GET /open/_doc/1` alone, as in HTTP/0.9", Raw: "GET /open/_doc/1\r\n", Guard: refused(408), Waits: true},
		{ID: "version/none", Title: "no version, but headers", Raw: w.raw("GET /open/_doc/1"), Means: one, Guard: refused(400)},
		{ID: "version/1.0", Title: "HTTP/1.0", Raw: w.raw("GET /open/_doc/1 HTTP/1.0"), Means: one, Guard: ended(passed), Closes: true},
		{ID: "version/1.0-kept", Title: "HTTP/1.0 with `Connection: keep-alive`", Raw: w.raw("GET /open/_doc/1 HTTP/1.0", "Connection: keep-alive"), Means: one, Guard: passed},
		{ID: "version/preface", Title: "the preface of HTTP/2", Raw: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", Guard: refused(501)},
	}
}

// hosts are shapes of Host.
func (w writer) hosts() []Shape {
	f := func(id, line string, guard Verdict) Shape {
		return Shape{ID: "host/" + id, Raw: w.bare("GET /open/_doc/1 HTTP/1.1", line), Odd: line, Means: one, Guard: guard}
	}
	return []Shape{
		{ID: "host/none", Title: "no Host", Raw: w.bare("GET /open/_doc/1 HTTP/1.1"), Means: one, Guard: refused(400)},
		{ID: "host/none-1.0", Title: "no Host in HTTP/1.0", Raw: w.bare("GET /open/_doc/1 HTTP/1.0"), Means: one, Guard: ended(passed), Closes: true},
		f("twice", "Host: es\r\nHost: es", refused(400)),
		f("two", "Host: es\r\nHost: other", refused(400)),
		f("list", "Host: es, other", refused(400)),
		f("empty", "Host:", refused(400)),
		f("path", "Host: es/open", refused(400)),
		f("user", "Host: admin@es", refused(400)),
		f("blank", "Host: es other", refused(400)),
		f("nul", "Host: es\x00", refused(400)),
		f("non-ascii", "Host: ëş", refused(400)),
		f("space-before-colon", "Host : es", refused(400)),
		f("quoted", `Host: "es"`, refused(400)),
		{ID: "host/ipv6", Title: "`Host: [::1]:9200`", Raw: w.bare("GET /open/_doc/1 HTTP/1.1", "Host: [::1]:9200"), Means: one, Guard: passed},
	}
}

// fields are shapes of names and values of headers.
func (w writer) fields() []Shape {
	f := func(id, line string, guard Verdict) Shape {
		return Shape{ID: "field/" + id, Raw: w.get(line), Odd: line, Means: one, Guard: guard}
	}
	return []Shape{
		f("space-before-colon", "X-Opaque-Id : 1", refused(400)),
		f("tab-before-colon", "X-Opaque-Id\t: 1", refused(400)),
		f("no-colon", "X-Opaque-Id", refused(400)),
		f("no-name", ": 1", refused(400)),
		f("blank-in-name", "X Opaque: 1", refused(400)),
		f("nul-in-name", "X-Opaque\x00-Id: 1", refused(400)),
		f("cr-in-name", "X-Opaque\r-Id: 1", refused(400)),
		f("lf-in-name", "X-Opaque\n-Id: 1", refused(400)),
		f("quote-in-name", `X"Opaque: 1`, refused(400)),
		f("brackets-in-name", "X(Opaque): 1", refused(400)),
		f("non-ascii-name", "X-Öpaque: 1", refused(400)),
		f("8-bit-name", "X-\xffpaque: 1", refused(400)),
		f("nul-in-value", "X-Opaque-Id: a\x00b", refused(400)),
		f("cr-in-value", "X-Opaque-Id: a\rX-B: c", refused(400)),
		f("cr-at-end", "X-Opaque-Id: a\r", refused(400)),
		f("lf-in-value", "X-Opaque-Id: a\nX-B: c", refused(400)),
		f("lf-lf", "X-Opaque-Id: a\n\nGET /open/_doc/hidden HTTP/1.1", refused(400)),
		f("bell-in-value", "X-Opaque-Id: a\ab", refused(400)),
		f("vt-in-value", "X-Opaque-Id: a\vb", refused(400)),
		f("del-in-value", "X-Opaque-Id: a\x7f", refused(400)),
		f("fold", "X-Opaque-Id: a\r\n b", refused(400)),
		f("fold-tab", "X-Opaque-Id: a\r\n\tb", refused(400)),
		f("fold-header", "X-Opaque-Id: a\r\n Content-Length: 5", refused(400)),
		f("fold-empty", "X-Opaque-Id: a\r\n ", refused(400)),
		{ID: "field/fold-first", Title: "a folded line behind the request line", Raw: w.bare("GET /open/_doc/1 HTTP/1.1", " Host: es"), Means: one, Guard: refused(400)},
		{ID: "field/lf-alone", Title: "headers that end in bare line feeds", Raw: strings.ReplaceAll(w.get(), "\r\n", "\n"), Means: one, Guard: refused(400)},
		{ID: "field/end-lf", Title: "an empty line of a bare line feed", Raw: strings.TrimSuffix(w.get(), "\r\n") + "\n", Means: one, Guard: refused(400)},
		f("8-bit-value", "X-Other: \xff\xfe", mended),
		f("8-bit-value-kept", "X-Opaque-Id: \xff\xfe", Verdict{Kind: AsItIs, Open: true}),
		f("non-ascii-value", "X-Other: ä", mended),
		f("underscore", "X_Proxy_User: admin", mended),
		f("identity", "X-Proxy-User: admin", mended),
		f("identity-case", "x-pROXY-uSER: admin", mended),
		f("unknown", "X-Unknown: 1", mended),
		f("cookie", "Cookie: a=b", mended),
		f("empty-value", "X-Opaque-Id:", Verdict{Kind: AsItIs, Open: true}),
		f("two-opaque", "X-Opaque-Id: 1\r\nX-Opaque-Id: 2", refused(400)),
		f("two-types", "Content-Type: application/json\r\nContent-Type: text/plain", refused(400)),
		{
			ID: "field/two-authorizations", Title: "`Authorization` twice", Raw: w.get(strings.TrimSuffix(w.auth, "\r\n")), Odd: strings.TrimSuffix(w.auth, "\r\n"),
			Means: one, Guard: refused(400),
		},
	}
}

// Hidden is a request that stands behind another one.
func Hidden(auth string) string { return writer{auth}.hidden() }
