package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseAnswer(t *testing.T) {
	f := func(block, method string, status int, reason string, length int64, body framing, keep bool, fields ...field) {
		t.Helper()
		a, fr, kept, err := parseAnswer([]byte(block), method)
		if err != nil {
			t.Errorf("%q is refused: %v", block, err)
			return
		}
		if a.status != status || a.reason != reason || a.length != length || fr != body || kept != keep {
			t.Errorf("%q: got %d %q, length %d, %+v, keep %v", block, a.status, a.reason, a.length, fr, kept)
		}
		if d := cmp.Diff(append([]field{}, fields...), a.fields, cmp.AllowUnexported(field{})); d != "" {
			t.Errorf("%q (-want +got):\n%s", block, d)
		}
	}
	ok := "HTTP/1.1 200 OK\r\n"
	f(ok+"Content-Length: 5\r\n\r\n", "GET", 200, "OK", 5, framing{length: 5}, true)
	f(ok+"content-length: 0\r\nA: b\r\na:\tc \r\n\r\n", "GET", 200, "OK", 0, framing{}, true, newField("A", "b"), newField("a", "c"))
	f(ok+"Transfer-Encoding: Chunked\r\n\r\n", "GET", 200, "OK", -1, framing{chunked: true}, true)
	f(ok+"Content-Length: 5\r\n\r\n", "HEAD", 200, "OK", 5, framing{}, true)
	f(ok+"Transfer-Encoding: chunked\r\n\r\n", "HEAD", 200, "OK", -1, framing{}, true)
	f(ok+"\r\n", "HEAD", 200, "OK", -1, framing{}, true)
	f("HTTP/1.1 204 No Content\r\n\r\n", "GET", 204, "No Content", 0, framing{}, true)
	f("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "GET", 204, "No Content", 0, framing{}, true)
	// A body that comes all the same would be taken for the next answer.
	f("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "GET", 204, "No Content", 0, framing{}, false)
	f("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "GET", 204, "No Content", 0, framing{}, false)
	f("HTTP/1.1 304 \r\n\r\n", "GET", 304, "", -1, framing{}, true)
	f("HTTP/1.1 100 Continue\r\n\r\n", "GET", 100, "Continue", 0, framing{}, true)
	f("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", "GET", 200, "OK", 1, framing{length: 1}, false)
	f(ok+"Connection: close\r\nContent-Length: 1\r\n\r\n", "GET", 200, "OK", 1, framing{length: 1}, false)
	// Hop-by-hop headers stay behind, and those that Connection names.
	f(ok+"Connection: x-a\r\nX-A: 1\r\nX-B: 2\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\nTrailer: x\r\nContent-Length: 1\r\n\r\n", "GET",
		200, "OK", 1, framing{length: 1}, true, newField("X-B", "2"))

	fail := func(block, want string) {
		t.Helper()
		_, _, _, err := parseAnswer([]byte(block), "GET")
		var wire *wireError
		if !errors.As(err, &wire) || wire.kind != faultGarbage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v; want %q", block, err, want)
		}
	}
	fail("HTTP/1.1\r\n\r\n", `status line "HTTP/1.1"`)
	fail("HTTP/1.1 2x0 OK\r\n\r\n", "status line")
	fail("HTTP/1.1 101 Switching\r\n\r\n", "status line")
	fail("HTTP/1.1 600 X\r\n\r\n", "status line")
	fail("HTTP/1.1 -20 X\r\n\r\n", "status line")
	fail("HTTP/1.1 200 a\x01b\r\n\r\n", "status line")
	fail("http/1.1 200 OK\r\n\r\n", "status line")
	fail(ok+"\r\n", "an answer without a length")
	fail(ok+"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", `content length "2", or with two`)
	fail(ok+"Content-Length: +1\r\n\r\n", `content length "+1"`)
	fail(ok+"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer encoding")
	fail(ok+"Transfer-Encoding: gzip, chunked\r\n\r\n", `transfer encoding "gzip, chunked"`)
	fail(ok+"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "a length beside chunks")
	fail(ok+"A\r\n\r\n", "has no colon")
	fail(ok+"A: b\r\n c: d\r\n\r\n", "is not a token")
	fail(ok+strings.Repeat("A: b\r\n", maxAnswerFields+1)+"\r\n", "more than 1024 header lines")
	fail(ok+"Content-Type: a/b\r\ncontent-type: a/c\r\nContent-Length: 1\r\n\r\n", `two headers "content-type"`)
	fail(ok+"Content-Encoding: gzip\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\n", `two headers "content-encoding"`)
}

// FuzzParseAnswer holds that an answer which is accepted means the same to net/http.
func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: x\r\nX: y\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 204\r\n\r\n"))
	f.Fuzz(func(t *testing.T, block []byte) {
		if n := bytes.Index(block, []byte("\r\n\r\n")); n < 0 || n+4 != len(block) {
			return // readHead gives no other blocks
		}
		a, fr, _, err := parseAnswer(block, "GET")
		if err != nil {
			return
		}
		r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(block)), nil)
		if err != nil {
			return // net/http refuses more
		}
		if r.StatusCode != a.status {
			t.Fatalf("%q: status %d; net/http says %d", block, a.status, r.StatusCode)
		}
		if a.status/100 == 1 || a.status == 204 || a.status == 304 {
			return
		}
		want := fr.length
		if fr.chunked {
			want = -1
		}
		if r.ContentLength != want && !(fr.chunked && r.ProtoMinor == 0) { // net/http knows no chunks in 1.0
			t.Fatalf("%q: length %d; net/http says %d", block, want, r.ContentLength)
		}
	})
}

// TestAppendHead writes a call as one strict parser after the other reads it.
func TestAppendHead(t *testing.T) {
	w := &wire{host: &host{address: address{name: "es:9200"}}, made: &generation{account: "Authorization: Basic eA==\r\n"}}
	f := func(c call, want string) {
		t.Helper()
		got := string(w.appendHead(nil, &c))
		if got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
		if _, rej := parseHead(got); rej != nil {
			t.Errorf("the frame check refuses %q: %v", got, rej)
		}
	}
	const start = " HTTP/1.1\r\nHost: es:9200\r\nAuthorization: Basic eA==\r\n"
	f(call{method: "GET", target: "/"}, "GET /"+start+"\r\n")
	f(call{method: "POST", target: "/a", hasBody: true}, "POST /a"+start+"Content-Length: 0\r\n\r\n")
	f(call{method: "POST", target: "/a", fixed: []byte("abc")}, "POST /a"+start+"Content-Length: 3\r\n\r\n")
	f(call{method: "PUT", target: "/a", body: func(io.Writer) error { return nil }, framing: framing{chunked: true}}, "PUT /a"+start+"Transfer-Encoding: chunked\r\n\r\n")
	f(call{method: "PUT", target: "/a", body: func(io.Writer) error { return nil }, framing: framing{length: 7}, fields: []field{newField("X", "y")}},
		"PUT /a"+start+"X: y\r\nContent-Length: 7\r\n\r\n")
}

// TestSourceFails ends a call whose body can't be read to its end: the node sees a cut
// body, and the caller the reason.
func TestSourceFails(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	reason := errors.New("the source is dry")
	f := func(c call) {
		t.Helper()
		c.method, c.target = "POST", "/"
		c.body = func(w io.Writer) error {
			_, _ = w.Write(make([]byte, 100<<10))
			return reason
		}
		if _, err := tr.Do(context.Background(), &c); !errors.Is(err, reason) {
			t.Errorf("got %v; want %v", err, reason)
		}
	}
	f(call{framing: framing{chunked: true}})
	f(call{framing: framing{length: 1 << 20}})
	f(call{framing: framing{chunked: true}, repeatable: true}) // a body that was read can't be sent again
	if n := len(node.requests()); n != 0 {
		t.Errorf("the node executed %d requests", n)
	}
	if tr.Open() != 0 {
		t.Errorf("%d connections are open", tr.Open())
	}
}

// TestLargeFixedBody sends a body that does not fit into the socket while the answer is
// awaited.
func TestLargeFixedBody(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	body := bytes.Repeat([]byte("0123456789"), 1<<20)
	for range 3 {
		a, err := tr.Do(context.Background(), &call{method: "POST", target: "/", fixed: body})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, a.body)
		if !a.body.SourceDone() {
			t.Error("the source is not done though the answer is here")
		}
		a.body.Close()
	}
	for _, r := range node.requests() {
		if r.body != string(body) {
			t.Errorf("the node got %d bytes", len(r.body))
		}
	}
	if n := node.accepted(); n != 1 {
		t.Errorf("%d connections; want 1", n)
	}
}

// recorder is a connection that notes its deadlines.
type recorder struct {
	net.Conn
	reads, writes []time.Duration
	data          int
}

func (r *recorder) SetReadDeadline(t time.Time) error {
	r.reads = append(r.reads, time.Until(t).Round(time.Second))
	return nil
}

func (r *recorder) SetWriteDeadline(t time.Time) error {
	r.writes = append(r.writes, time.Until(t).Round(time.Second))
	return nil
}

func (r *recorder) Read(b []byte) (int, error) { return min(len(b), r.data), nil }

func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }

func TestPaced(t *testing.T) {
	r := &recorder{data: window}
	p := &paced{Conn: r, writeTimeout: 80 * time.Second}
	big := make([]byte, 3*window)
	p.paceReads(10 * time.Second)
	if len(r.reads) != 0 {
		t.Errorf("deadlines %v before anything is read", r.reads)
	}
	_, _ = p.Read(big)
	_, _ = p.Read(big)
	p.paceReads(20 * time.Second)
	_, _ = p.Read(big)
	if d := cmp.Diff([]time.Duration{10 * time.Second, 20 * time.Second}, r.reads); d != "" { // the second window began at once
		t.Errorf("read deadlines (-want +got):\n%s", d)
	}
	p.reads.at = p.reads.at.Add(-5 * time.Second)
	_, _ = p.Read(big)
	if len(r.reads) != 3 || r.reads[2] != 20*time.Second {
		t.Errorf("read deadlines %v; want a new one for a window that begins late", r.reads)
	}
	if n, err := p.Write(big); n != len(big) || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	p.writes.at = p.writes.at.Add(-20 * time.Second)
	_, _ = p.Write(big[:1])
	if d := cmp.Diff([]time.Duration{80 * time.Second, 80 * time.Second}, r.writes); d != "" {
		t.Errorf("write deadlines (-want +got):\n%s", d)
	}
	p.abort()
	p.paceReads(30 * time.Second)
	_, _ = p.Read(big)
	if last := r.reads[len(r.reads)-1]; last >= 0 {
		t.Errorf("a read after an abort has %v", last)
	}
}
