package proxy

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// TestFrame sends every refused head over a socket: the answer is JSON with the status
// of the table, the connection is closed, what follows is not read as a second request,
// and the node hears nothing.
func TestFrame(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: 3}, testConfig(node.url()))
	const smuggled = "5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, c := range refusedHeads {
		for _, follow := range []string{"", smuggled} {
			raw := strings.Replace(c.head, "\r\n", "\r\n"+authLine, 1)
			if strings.Contains(c.head, "uthorization: ") || strings.Contains(c.head, "\r\n Host") {
				raw = c.head
			}
			checkRefused(t, g, raw+follow, c.status)
		}
	}
	if n := len(node.requests()); n != 0 {
		t.Errorf("the node got %d requests; want none", n)
	}
}

func checkRefused(t *testing.T, g *guarded, raw string, status int) {
	t.Helper()
	c := g.dial()
	go func() { _, _ = io.WriteString(c, raw) }()
	br := bufio.NewReader(c)
	a := readGot(t, c, br, "GET")
	var body struct {
		Error  struct{ Type, Reason string }
		Status int
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || body.Status != status || body.Error.Reason == "" {
		t.Errorf("%q: body %q (%v); want an error with status %d", raw, a.body, err, status)
	}
	if a.status != status || !a.closed {
		t.Errorf("%q: status %d, closed %v; want %d and a closed connection", raw, a.status, a.closed, status)
	}
	_ = c.Close()
}

// TestFrameBytes tries shapes that never become a block.
func TestFrameBytes(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Timeouts.ReadHeader = 300 * time.Millisecond
	conf.Limits.MaxHeader = 8 << 10
	g := startGuard(t, &fakeGate{intake: 3}, conf)
	f := func(raw string, status int) { t.Helper(); checkRefused(t, g, raw, status) }
	f("GET / HTTP/1.1\nHost: a\n\n", 400)             // a bare line feed is refused at once, not waited for
	f("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400) // also within a block
	f("GET / HTTP/1.1\r\nHost: a\r\n\nGET / HTTP/1.1\r\n\r\n", 400)
	f("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400)
	f("\n", 400)
	f("GET /"+strings.Repeat("a", 9<<10)+" HTTP/1.1\r\nHost: a\r\n\r\n", 414)
	f("GET / HTTP/1.1\r\nHost: a\r\nX: "+strings.Repeat("a", 9<<10)+"\r\n\r\n", 431)
	f("GET / HTTP/1.1\r\nHost: a\r\n"+strings.Repeat("X: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n", 100)+"\r\n", 431)
	f("GET / HTTP/1.1\r\nHost: a\r\n", 408) // it never ends
	f("\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\n", 400)
	if n := len(node.requests()); n != 0 {
		t.Errorf("the node got %d requests; want none", n)
	}
}

// TestChunkedSmuggling sends bodies whose chunks are malformed: no second request comes
// of them and none is seen whole by the node.
func TestChunkedSmuggling(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: 3}, testConfig(node.url()))
	f := func(chunks string) {
		t.Helper()
		raw := "POST /i/_doc HTTP/1.1\r\nHost: a\r\n" + authLine + "Transfer-Encoding: chunked\r\n\r\n" + chunks
		checkRefused(t, g, raw, 400)
	}
	const next = "GET /smuggled HTTP/1.1\r\nHost: a\r\n" + "\r\n"
	f("5\r\nhelloX\r\n0\r\n\r\n" + next)
	f("5\nhello\r\n0\r\n\r\n" + next)
	f("100000000000000000005\r\nhello\r\n0\r\n\r\n" + next) // OpenSearch reads 5
	f("0000000000005\r\nhello\r\n0\r\n\r\n" + next)
	f("-5\r\nhello\r\n0\r\n\r\n" + next)
	f("0x5\r\nhello\r\n0\r\n\r\n" + next)
	f(" 5\r\nhello\r\n0\r\n\r\n" + next)
	f("5 \r\nhello\r\n0\r\n\r\n" + next)
	f("5\r\nhello\r\n0\r\nBad Trailer: x\r\n\r\n" + next)
	f("5;a\rb\r\nhello\r\n0\r\n\r\n" + next)
	f("5\r\nhello\n0\r\n\r\n" + next)
	f("\r\n" + next)
	for _, r := range node.requests() {
		t.Errorf("the node got %s %s", r.method, r.target)
	}

	// What is right passes: extensions and trailers are dropped.
	a := g.send("POST /i/_doc HTTP/1.1\r\nHost: a\r\n" + authLine +
		"Transfer-Encoding: chunked\r\nTrailer: X-Proxy-User\r\n\r\n5;ext=\"1\"\r\nhello\r\n0\r\nX-Proxy-User: admin\r\n\r\n")
	seen := node.requests()
	if a.status != 200 || len(seen) != 1 || seen[0].body != "hello" {
		t.Errorf("got %+v, the node %+v", a, seen)
	}
}
