package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// rawNode answers every request with the same bytes.
func rawNode(t *testing.T, answer string) *esfake {
	t.Helper()
	node := newFake(t)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { _, _ = io.WriteString(c, answer) })
	return node
}

// exchange writes raw bytes on a new connection, which the last request has to close, and
// returns all that comes back.
func (g *guarded) exchange(raw string) string {
	g.t.Helper()
	c := g.dial()
	go func() { _, _ = io.WriteString(c, raw) }()
	b, err := io.ReadAll(c)
	if err != nil {
		g.t.Errorf("%.60q: %v after %.200q", raw, err, b)
	}
	return string(b)
}

// lastRequest is a request that ends its connection.
func lastRequest(method, target, headers, body string) string {
	return request(method, target, "Connection: close\r\n"+headers, body)
}

// headLines splits a head into its lines, without the one by which guard ends connections.
func headLines(head string) []string {
	return strings.Split(strings.Replace(strings.TrimSuffix(head, "\r\n\r\n"), "\r\nConnection: close", "", 1), "\r\n")
}

// TestAnswerHeads holds that the head of an answer reaches the client as the node wrote
// it: status and reason, and of each name all values in their order. What is about one
// connection stays behind. The order of different names is guard's.
func TestAnswerHeads(t *testing.T) {
	const length = "Content-Length: 9\r\n\r\n{\"a\":\"b\"}"
	f := func(answer string, streamed, treated []string) {
		t.Helper()
		node := rawNode(t, answer)
		for _, p := range []struct {
			gate *fakeGate
			want []string
		}{{&fakeGate{intake: gate.IntakeStream}, streamed}, {readPlan(asIs{}, true), treated}} {
			head, body, _ := strings.Cut(startGuard(t, p.gate, testConfig(node.url())).exchange(lastRequest("GET", "/i", "", "")), "\r\n\r\n")
			if d := cmp.Diff(p.want, headLines(head)); d != "" || body != `{"a":"b"}` {
				t.Errorf("%q, treated %v: body %q (-want +got):\n%s", answer, p.gate.restricted, body, d)
			}
		}
	}
	same := func(answer string, want ...string) {
		t.Helper()
		f(answer, want, want)
	}
	same("HTTP/1.1 200 OK\r\n"+length, "HTTP/1.1 200 OK", "Content-Length: 9")
	same("HTTP/1.1 200 Very well\r\n"+length, "HTTP/1.1 200 Very well", "Content-Length: 9")
	same("HTTP/1.1 299 \r\n"+length, "HTTP/1.1 299 Unknown Status Code", "Content-Length: 9") // a head has to have one
	same("HTTP/1.0 200 OK\r\n"+length, "HTTP/1.1 200 OK", "Content-Length: 9")
	same("HTTP/1.1 429 Slow down\r\nretry-after: 1\r\n"+length, "HTTP/1.1 429 Slow down", "Content-Length: 9", "retry-after: 1")
	same("HTTP/1.1 200 OK\r\nWarning: 299 ES \"a, b\"\r\nX-Elastic-Product: Elasticsearch\r\nwarning: 299 ES \"c\"\r\nWarning: 299 ES \"a, b\"\r\n"+length,
		"HTTP/1.1 200 OK", "Content-Length: 9", `Warning: 299 ES "a, b"`, "X-Elastic-Product: Elasticsearch", `warning: 299 ES "c"`, `Warning: 299 ES "a, b"`)
	same("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET,HEAD,DELETE\r\nLocation: /i/_doc/%2F1?a=b\r\nX-OpenSearch-Version: OpenSearch/3.4.0 (opensearch)\r\nX-Empty:\r\n"+length,
		"HTTP/1.1 405 Method Not Allowed", "Content-Length: 9", "Allow: GET,HEAD,DELETE", "Location: /i/_doc/%2F1?a=b", "X-OpenSearch-Version: OpenSearch/3.4.0 (opensearch)", "X-Empty: ")
	same("HTTP/1.1 200 OK\r\ncontent-type: application/vnd.elasticsearch+json; compatible-with=8;x=\"y, z\"\r\n"+length,
		"HTTP/1.1 200 OK", "Content-Type: application/vnd.elasticsearch+json; compatible-with=8;x=\"y, z\"", "Content-Length: 9")
	same("HTTP/1.1 200 OK\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\nServer: s\r\nVia: 1.1 a\r\nVia: 1.1 b\r\nSet-Cookie: a=1\r\nSet-Cookie: a=2; Path=/\r\nSet-Cookie: b\r\n"+length,
		"HTTP/1.1 200 OK", "Server: s", "Content-Length: 9", "Date: Mon, 02 Jan 2006 15:04:05 GMT", "Via: 1.1 a", "Via: 1.1 b",
		"Set-Cookie: a=1", "Set-Cookie: a=2; Path=/", "Set-Cookie: b")
	same("HTTP/1.1 200 OK\r\nConnection: X-Hop , keep-alive\r\nx-hop: 1\r\nConnection: x-hip\r\nX-Hip: 1\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\nTrailer: x\r\nProxy-Authenticate: Basic\r\nTE: x\r\nX-A: 1\r\n"+length,
		"HTTP/1.1 200 OK", "Content-Length: 9", "X-A: 1")
	same("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n"+length, "HTTP/1.1 200 OK", "Content-Length: 9")
	// What is about the bytes of an answer does not go with other bytes.
	f("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: x\r\nAccept-Ranges: bytes\r\nX-A: 1\r\n"+length,
		[]string{"HTTP/1.1 200 OK", "Content-Length: 9", `ETag: "1"`, "Last-Modified: x", "Accept-Ranges: bytes", "X-A: 1"},
		[]string{"HTTP/1.1 200 OK", "Content-Length: 9", "X-A: 1"})
}

// TestManyHeaders passes 1,000 header lines, in a head of up to 64 KiB; what is more is no
// answer.
func TestManyHeaders(t *testing.T) {
	answer := func(n, size int) string {
		return "HTTP/1.1 200 OK\r\n" + strings.Repeat("Warning: "+strings.Repeat("w", size)+"\r\n", n) + "Content-Length: 2\r\n\r\n{}"
	}
	f := func(n, size, status, want int) {
		t.Helper()
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(rawNode(t, answer(n, size)).url()))
		if a := g.send(request("GET", "/", "", "")); a.status != status || len(a.header["Warning"]) != want {
			t.Errorf("%d lines: got %d with %d lines", n, a.status, len(a.header["Warning"]))
		}
	}
	f(100, 500, 200, 100)
	f(1000, 50, 200, 1000)
	f(maxAnswerFields+1, 10, 502, 0)
	f(100, 700, 502, 0)
}

// TestNoBody holds the forms of an answer without a body: none comes, its length is the
// one that the node gave, and the next answer on the connection is the next one.
func TestNoBody(t *testing.T) {
	f := func(method, answer string, want ...string) {
		t.Helper()
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(rawNode(t, answer).url()))
		first, second, _ := strings.Cut(g.exchange(request(method, "/", "", "")+lastRequest(method, "/", "", "")), "\r\n\r\n")
		if d := cmp.Diff(want, headLines(first)); d != "" {
			t.Errorf("%s %q (-want +got):\n%s", method, answer, d)
		}
		if d := cmp.Diff(want, headLines(second)); d != "" {
			t.Errorf("%s %q, the second (-want +got):\n%s", method, answer, d)
		}
	}
	f("HEAD", "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 77\r\n\r\n", "HTTP/1.1 200 OK", "Content-Type: a/b", "Content-Length: 77")
	f("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK", "Content-Length: 0")
	f("HEAD", "HTTP/1.1 404 Not Found\r\nX-A: 1\r\n\r\n", "HTTP/1.1 404 Not Found", "X-A: 1")
	f("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK")
	f("GET", "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", "HTTP/1.1 204 No Content", "X-A: 1")
	f("GET", "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", "HTTP/1.1 304 Not Modified", `ETag: "1"`)
	f("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 304 Not Modified", "Content-Length: 9")
	f("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK", "Content-Length: 0")
}

// TestHeadOfRefusals gives a HEAD the length that the refusal of a GET has, and no body.
func TestHeadOfRefusals(t *testing.T) {
	g := startGuard(t, &fakeGate{plan: denyAll}, testConfig("http://127.0.0.1:1"))
	down := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig("http://127.0.0.1:1"))
	for _, c := range []struct {
		g           *guarded
		raw, status string
	}{
		{g, " / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "401 Unauthorized"},
		{g, " /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + authLine + "\r\n", "403 Forbidden"},
		{g, " /x HTTP/1.1\r\n\r\n", "400 Bad Request"},
		{down, " / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + authLine + "\r\n", "503 Service Unavailable"},
	} {
		wantHead, wantBody, _ := strings.Cut(c.g.exchange("GET"+c.raw), "\r\n\r\n")
		gotHead, gotBody, _ := strings.Cut(c.g.exchange("HEAD"+c.raw), "\r\n\r\n")
		if d := cmp.Diff(wantHead, gotHead); d != "" || gotBody != "" || wantBody == "" || !strings.HasPrefix(gotHead, "HTTP/1.1 "+c.status+"\r\n") {
			t.Errorf("%q: body %q behind HEAD, %d bytes behind GET (-GET +HEAD):\n%s", c.raw, gotBody, len(wantBody), d)
		}
		if want := fmt.Sprintf("Content-Length: %d\r\n", len(wantBody)); !strings.Contains(gotHead+"\r\n", want) {
			t.Errorf("%q: want %q in %q", c.raw, want, gotHead)
		}
	}
}

// TestPartialRequests passes conditions and ranges on to a cluster whose answer passes,
// and to none whose answer becomes another.
func TestPartialRequests(t *testing.T) {
	node := rawNode(t, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\n{}")
	asked := "Range: bytes=0-1\r\nIf-Range: \"1\"\r\nIf-Match: \"a\"\r\nIf-None-Match: \"b\", \"c\"\r\nIf-Modified-Since: x\r\nIf-Unmodified-Since: y\r\n"
	a := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url())).send(request("GET", "/", asked, ""))
	if a.status != 206 || a.header.Get("Content-Range") != "bytes 0-1/9" {
		t.Errorf("got %+v", a)
	}
	if n := len(node.requests()[0].header); n != 7 { // X-Forwarded-For besides
		t.Errorf("the node got %v", node.requests()[0].header)
	}
	a = startGuard(t, readPlan(asIs{}, true), testConfig(node.url())).send(request("GET", "/", asked, ""))
	if n := len(node.requests()[1].header); n != 1 || a.header.Get("Content-Range") != "" {
		t.Errorf("the node got %v, the client %+v", node.requests()[1].header, a)
	}
}

// TestOldKeepAlive serves clients of HTTP/1.0: their connection ends unless they ask for
// more, and nothing comes in chunks.
func TestOldKeepAlive(t *testing.T) {
	node := rawNode(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
	for _, fg := range []*fakeGate{{intake: gate.IntakeStream}, readPlan(asIs{}, true)} {
		g := startGuard(t, fg, testConfig(node.url()))
		once := "GET / HTTP/1.0\r\n" + authLine
		if got, want := g.exchange(once+"\r\n"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"; got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
		kept := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n{}"
		if got, want := g.exchange(once+"Connection: Keep-Alive\r\n\r\n"+once+"\r\n"), kept+"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"; got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
		if got := g.exchange("HEAD / HTTP/1.0\r\n" + authLine + "\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") || strings.Contains(got, "{") {
			t.Errorf("HEAD: got %q", got)
		}
	}
}

// TestPipeline answers requests that come at once in their order; behind one whose shape is
// refused nothing is served, behind one that is forbidden the next one is.
func TestPipeline(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if r.Method == http.MethodHead {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
			return
		}
		writeAnswer(c, 200, r.RequestURI)
	})
	fg := &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		if strings.HasPrefix(r.RawTarget, "/forbidden") {
			return gate.Outcome{}
		}
		out := passAll(r)
		if strings.HasPrefix(r.RawTarget, "/treated") {
			out.Forward.Treat = asIs{}
		}
		return out
	}}
	g := startGuard(t, fg, testConfig(node.url()))
	c := g.dial()
	good := request("GET", "/1", "", "") + request("HEAD", "/2", "", "") + request("POST", "/treated/3", "", strings.Repeat("x", 50_000)) +
		request("GET", "/forbidden", "", "") + "GET /5 HTTP/1.1\r\nHost: a\r\n\r\n" + request("DELETE", "/6", "", "{}")
	bad := "GET /7 HTTP/1.1\r\nHost: a\r\n" + authLine + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	go func() { _, _ = io.WriteString(c, good+bad+request("GET", "/8", "", "")) }()
	br := bufio.NewReader(c)
	for i, want := range []struct {
		method string
		status int
		body   string
	}{
		{"GET", 200, "/1"},
		{"HEAD", 200, ""},
		{"POST", 200, "/treated/3"},
		{"GET", 403, ""},
		{"GET", 401, "Unauthorized"},
		{"DELETE", 200, "/6"},
		{"GET", 400, ""},
	} {
		r, err := http.ReadResponse(br, &http.Request{Method: want.method})
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		body, err := io.ReadAll(r.Body)
		if r.StatusCode != want.status || err != nil || want.body != "" && string(body) != want.body {
			t.Errorf("answer %d: got %d %q, %v; want %+v", i+1, r.StatusCode, body, err, want)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if rest, err := io.ReadAll(br); err != nil || len(rest) != 0 {
		t.Errorf("behind the refusal comes %q, %v", rest, err)
	}
	var seen bytes.Buffer
	for _, r := range node.requests() {
		seen.WriteString(r.target + " ")
	}
	if seen.String() != "/1 /2 /treated/3 /6 " {
		t.Errorf("the node got %s", seen.String())
	}
}

// TestUpstreamHeader refuses headers that the cluster would not take, by their size at the
// node: what the client sent and does not go on costs nothing.
func TestUpstreamHeader(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Limits.MaxUpstreamHeader = 1000
	conf.Upstream.Username, conf.Upstream.Password = "guard", config.NewSecret(strings.Repeat("p", 60))
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	size := func(n int) string {
		own := g.srv.ownHeader() + len("X-Forwarded-For: 127.0.0.1")
		return "User-Agent: " + strings.Repeat("u", n-own-len("User-Agent: ")) + "\r\nX-Else: " + strings.Repeat("e", 3000) + "\r\n"
	}
	if a := g.send(request("GET", "/", size(1000), "")); a.status != 200 {
		t.Errorf("got %d %s", a.status, a.body)
	}
	a := g.send(request("GET", "/", size(1001), ""))
	if a.status != 431 || !strings.Contains(a.body, "the headers come to 1001 bytes for the cluster, which takes 1000") {
		t.Errorf("got %d %s", a.status, a.body)
	}
	got := headerSizeAt(node)
	if most := 1000 - len("Content-Length: 999999999999999999"); got != most {
		t.Errorf("the node got %d bytes of headers; want %d", got, most)
	}
}

// headerSizeAt is the size of the headers of the first request, as the node counts it.
func headerSizeAt(node *esfake) int {
	n := len("Host: " + node.ln.Addr().String())
	for name, values := range node.requests()[0].header {
		for _, v := range values {
			n += len(name) + 2 + len(v)
		}
	}
	return n
}
