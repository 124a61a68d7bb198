package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"guard/config"
	"guard/gate"
)

// slowConfig lets clients be as slow as they like and the cluster not.
func slowConfig(urls ...string) (c *config.Config) {
	c = testConfig(urls...)
	c.Timeouts.Upstream = time.Second
	c.Limits.MinRate, c.Timeouts.Stall = 1, time.Minute
	return c
}

// TestSlowUploads: a client that sends steadily has all the time that its own limits give;
// the cluster's time begins when the request is whole, and is over when it takes nothing or
// does not answer then.
func TestSlowUploads(t *testing.T) {
	for _, k := range endKinds[3:] { // those whose body is sent while it comes
		f := func(name string, node behaviour, want end) {
			t.Run(k.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWitness(t, node)
				g := startGuard(t, k.gate(), slowConfig(w.url()))
				c := g.dial()
				go func() {
					rest := k.raw[len(k.raw)-1200:]
					if _, err := io.WriteString(c, strings.TrimSuffix(k.raw, rest)); err != nil {
						return
					}
					for ; rest != ""; rest = rest[100:] { // far less in a second than a node has to move
						time.Sleep(200 * time.Millisecond)
						if _, err := io.WriteString(c, rest[:100]); err != nil {
							return
						}
					}
				}()
				if a := readGot(t, c, bufio.NewReader(c), "POST"); endOf(a) != want {
					t.Errorf("it ended %s; want %s: %+v", endOf(a), want, a)
				}
			})
		}
		f("answered", says(plain("200 OK", nodeAnswer), true), whole)
		f("answered early", func(w *witness, c net.Conn, r *http.Request) bool {
			_, _ = io.WriteString(c, plain("429 Too Many Requests", nodeAnswer))
			return w.take(r)
		}, whole)
		f("never answered", func(w *witness, c net.Conn, r *http.Request) bool { return w.take(r) && stalls(c) }, unclear)
		f("cut", func(_ *witness, c net.Conn, r *http.Request) bool {
			_, _ = io.CopyN(io.Discard, r.Body, 100)
			return false
		}, unclear)
	}
}

// TestStalledNodes: a node that takes nothing of a large body ends the call in its time,
// not in that of its answer besides.
func TestStalledNodes(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	defer close(stop)
	node := newWitness(t, func(_ *witness, c net.Conn, _ *http.Request) bool {
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		<-stop
		return false
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, slowConfig(node.url()))
	if a := g.send(request("POST", "/_bulk", ndjsonLine, strings.Repeat("x", 32<<20))); a.status != 504 {
		t.Errorf("got %+v; want 504", a)
	}
}

// TestSlowDownloads: a client that takes a long answer steadily, and slower than the cluster
// may send one, gets all of it.
func TestSlowDownloads(t *testing.T) {
	t.Parallel()
	const size = 24 << 20 // more than sockets hold
	node := newFake(t)
	body := strings.Repeat("1000\r\n"+strings.Repeat("x", 4<<10)+"\r\n", size/(4<<10)) + "0\r\n\r\n"
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+body)
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, slowConfig(node.url()))
	c := g.dial()
	_ = c.(*net.TCPConn).SetReadBuffer(64 << 10)
	_, _ = io.WriteString(c, request("GET", "/", "", ""))
	br := bufio.NewReaderSize(c, 16)
	r, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := int64(0)
	for err == nil {
		var n int64
		n, err = io.CopyN(io.Discard, r.Body, 4<<20)
		got += n
		time.Sleep(1200 * time.Millisecond) // longer than the node may pause
	}
	if got != size {
		t.Errorf("the client took %d bytes and then %v; want all %d", got, err, size)
	}
	if n := len(node.lookHeaders()); n > 0 {
		t.Errorf("guard looked at the node %d times, as if it had failed", n)
	}
}

// TestBeforeTheFirstByte: what a node sends on a connection that a call has, before the
// first byte of the call, is no answer to it; nor is anything sent on one that has ended.
func TestBeforeTheFirstByte(t *testing.T) {
	for _, k := range []struct {
		name string
		does func(c net.Conn)
	}{
		{"an answer too many", func(c net.Conn) { _, _ = io.WriteString(c, lateAnswer) }},
		{"a part of one", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n") }},
		{"the end", func(c net.Conn) { _ = c.Close() }},
	} {
		t.Run(k.name, func(t *testing.T) {
			now, done := make(chan struct{}), make(chan struct{})
			node := newFake(t)
			node.answers(func(c net.Conn, r *http.Request, _ []byte) {
				writeAnswer(c, 200, `"`+r.RequestURI+`"`)
				if r.RequestURI == "/first" {
					<-now
					k.does(c)
					close(done)
				}
			})
			g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
			if a := g.send(request("GET", "/first", "", "")); a.status != 200 {
				t.Fatalf("got %+v", a)
			}
			c := g.dial()
			_, _ = io.WriteString(c, "POST /second HTTP/1.1\r\nHost: a\r\n"+authLine+"Content-Length: 50000\r\n\r\n")
			tr := g.srv.cluster.(*Transport)
			eventually(t, "the call has the connection", func() bool {
				tr.nodes.mu.Lock()
				defer tr.nodes.mu.Unlock()
				return tr.nodes.list[0].load() == 1
			})
			close(now)
			<-done
			time.Sleep(20 * time.Millisecond) // on its way
			go func() { _, _ = c.Write(make([]byte, 50000)) }()
			if a := readGot(t, c, bufio.NewReader(c), "POST"); endOf(a) != refused {
				t.Errorf("got %+v; want it refused, since nothing was sent", a)
			}
			if a := g.send(request("GET", "/third", "", "")); a.status != 200 || a.body != `"/third"` {
				t.Errorf("afterwards: %+v", a)
			}
			for _, r := range node.requests() {
				if r.target == "/second" {
					t.Error("the node got the call all the same")
				}
			}
		})
	}
}
