package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/gate"
	"guard/internal/ask"
)

func newTestTransport(t *testing.T, urls ...string) *Transport {
	t.Helper()
	conf := faultConfig(urls...)
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

func TestFetch(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	status, body, err := tr.Fetch(context.Background(), "GET", "/_cluster/state?x=1")
	if err != nil || status != 200 || string(body) != `{"took":1}` {
		t.Errorf("got %d %q, %v", status, body, err)
	}
	if seen := node.requests(); len(seen) != 1 || seen[0].target != "/_cluster/state?x=1" || seen[0].header.Get("Accept") != "application/json" {
		t.Errorf("the node got %+v", seen)
	}
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")
		_ = c.Close()
	})
	var wire *wireError
	if _, _, err = tr.Fetch(context.Background(), "GET", "/"); !errors.As(err, &wire) || wire.kind != faultCut {
		t.Errorf("a cut answer: %v; want a fault of kind cut", err)
	}
	if !strings.Contains(err.Error(), "cannot read the cluster's answer to /") {
		t.Errorf("error text %q", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	node.answers(func(net.Conn, *http.Request, []byte) { <-ctx.Done() })
	if _, _, err = tr.Fetch(ctx, "GET", "/"); !errors.As(err, &wire) || wire.kind != faultGone {
		t.Errorf("a look whose time is over: %v; want a fault of kind gone", err)
	}
}

// TestFaultKinds names what each fault of the wire is.
func TestFaultKinds(t *testing.T) {
	node := newFake(t)
	f := func(raw func(c net.Conn, br *bufio.Reader), kind faultKind) {
		t.Helper()
		node.takes(raw)
		tr := newTestTransport(t, node.url())
		_, err := tr.Do(context.Background(), &call{method: "GET", target: "/"})
		var wire *wireError
		if !errors.As(err, &wire) || wire.kind != kind {
			t.Errorf("got %v; want a fault of kind %s", err, kind)
		}
		if tr.Open() != 0 {
			t.Errorf("%s: %d connections are open", kind, tr.Open())
		}
	}
	f(func(c net.Conn, br *bufio.Reader) {}, faultCut)
	f(func(c net.Conn, br *bufio.Reader) { _, _ = io.WriteString(c, "HTTP/1.1 2") }, faultCut)
	f(func(c net.Conn, br *bufio.Reader) { _, _ = io.WriteString(c, "nonsense\r\n\r\n") }, faultGarbage)
	f(func(c net.Conn, br *bufio.Reader) { _, _ = io.Copy(io.Discard, br) }, faultStall)
}

// TestPool reuses connections that are whole, and no other.
func TestPool(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	f := func(raw string, read int, pooled bool) {
		t.Helper()
		node.answers(func(c net.Conn, _ *http.Request, _ []byte) { _, _ = io.WriteString(c, raw) })
		before := node.accepted()
		a, err := tr.Do(context.Background(), &call{method: "GET", target: "/"})
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		_, _ = io.CopyN(io.Discard, a.body, int64(read))
		a.body.Close()
		a.body.Close() // once is enough, twice does no harm
		if got := tr.Open() == 1; got != pooled {
			t.Errorf("%q: in the pool: %v; want %v", raw, got, pooled)
		}
		if n := node.accepted(); n > before+1 {
			t.Errorf("%q: %d new connections", raw, n-before)
		}
	}
	const all = 100
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", all, true)
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", all, true)
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", all, true)
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 1, false)                        // not read to its end
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", all, false) // the node ends it
	f("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", all, false)                      // the node is old
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\n", all, false)   // more than was asked for
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x, CLOSE\r\n\r\n{}", all, false)
}

// TestRestart restarts the node between calls: no call is lost, no write doubled.
func TestRestart(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				a, err := tr.Do(context.Background(), &call{method: "GET", target: "/", repeatable: true})
				if err != nil {
					t.Errorf("a read was lost: %v", err)
					return
				}
				_, _ = io.Copy(io.Discard, a.body)
				a.body.Close()
			}
		})
	}
	wg.Wait()
	for range 20 {
		node.closeConns()
		eventually(t, "the node has closed its connections", func() bool { return node.open() == 0 })
		a, err := tr.Do(context.Background(), &call{method: "POST", target: "/w", fixed: []byte("{}")})
		if err != nil {
			t.Fatalf("a write after the node closed its idle connections: %v", err)
		}
		a.body.Close()
	}
	writes := 0
	for _, r := range node.requests() {
		if r.target == "/w" {
			writes++
		}
	}
	if writes != 20 {
		t.Errorf("%d writes at the node; want 20", writes)
	}
}

// TestEarlyBulkAnswer treats an answer that came while the bulk was still being sent:
// the plan of its lines is not read and written at once.
func TestEarlyBulkAnswer(t *testing.T) {
	node := newFake(t)
	node.takes(func(c net.Conn, br *bufio.Reader) {
		if _, err := http.ReadRequest(br); err == nil {
			writeAnswer(c, 429, `{"busy":true}`)
			_, _ = io.Copy(io.Discard, br)
		}
	})
	lines := &fakeLines{}
	fg := bulkGate(func() *fakeLines { return lines }, countLines{lines})
	plan := fg.plan
	fg.plan = func(p *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome {
		o := plan(p, r, k)
		o.Forward.ChangesState = func() bool { return lines.n > 0 }
		return o
	}
	g := startGuard(t, fg, testConfig(node.url()))
	c := g.dial()
	go func() {
		_, _ = io.WriteString(c, "POST /_bulk HTTP/1.1\r\nHost: a\r\n"+authLine+ndjsonLine+"Transfer-Encoding: chunked\r\n\r\n")
		pair := strings.Repeat("{\"index\":{}}\n{\"a\":1}\n", 400)
		for {
			if _, err := io.WriteString(c, hexOf(len(pair))+"\r\n"+pair+"\r\n"); err != nil {
				return
			}
		}
	}()
	if a := readGot(t, c, bufio.NewReader(c), "POST"); a.status != 429 || a.body != `{"busy":true}` {
		t.Errorf("got %+v; want the node's 429", a)
	}
}

// countLines is a treatment that looks at the plan of the lines.
type countLines struct{ lines *fakeLines }

func (c countLines) Treat(a gate.Answer) (gate.Answer, error) {
	if c.lines.n == 0 {
		return a, errors.New("nothing was planned")
	}
	return a, nil
}

// TestPoolAges drops connections that lay unused for too long.
func TestPoolAges(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	do := func() {
		t.Helper()
		a, err := tr.Do(context.Background(), &call{method: "GET", target: "/", repeatable: true})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, a.body)
		a.body.Close()
	}
	h := tr.nodes.list[0]
	age := func() {
		tr.nodes.mu.Lock()
		defer tr.nodes.mu.Unlock()
		for _, w := range h.idle {
			w.idle = w.idle.Add(-2 * maxIdleTime)
		}
	}
	do()
	age()
	do() // on a new connection
	if n := node.accepted(); n != 2 || tr.Open() != 1 {
		t.Errorf("%d connections made, %d open; want 2 and 1", n, tr.Open())
	}
	// One that nobody calls for is closed as well.
	age()
	tr.nodes.reap()
	if n := tr.Open(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
	eventually(t, "the node sees the end of its connections", func() bool { return node.open() == 0 })
}

// TestPasswordFile takes guard's password from a file, without its last line end.
func TestPasswordFile(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Upstream.Username, conf.Upstream.PasswordFile = "guard", filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(conf.Upstream.PasswordFile, []byte("s3 cret\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	g.send(request("GET", "/", "", ""))
	if seen := node.requests(); len(seen) != 1 || seen[0].header.Get("Authorization") != basic("guard", "s3 cret") {
		t.Errorf("the node got %+v", seen)
	}
}

// TestUploadEndsBesideItsAnswer: a connection that was ended because its upload went on
// is not pooled, though the last byte of the upload went out at that moment. Its slot
// is given back once.
func TestUploadEndsBesideItsAnswer(t *testing.T) {
	tr := newTestTransport(t, newFake(t).url())
	w, err := tr.nodes.acquire(t.Context(), pick{})
	if err != nil {
		t.Fatal(err)
	}
	w.body.reset(w.src, framing{})
	up := &upload{done: make(chan struct{})}
	up.abort = func() { close(up.done) } // and no error: all was sent
	b := &answerBody{wire: w, up: up, stop: func() bool { return true }, keep: true, ctx: t.Context()}
	b.Close()
	if n := tr.Open(); n != 0 || len(w.host.idle) != 0 {
		t.Errorf("%d connections are open, %d idle; want none", n, len(w.host.idle))
	}
}
