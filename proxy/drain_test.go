package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"guard/gate"
)

// TestDrain: from the moment that it is told, each answer is the last of its connection
// and comes whole, whatever the client has sent behind its request; what it has sent is
// not executed. New connections are served until Shutdown.
func TestDrain(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	kept := g.dial()
	br := bufio.NewReader(kept)
	_, _ = io.WriteString(kept, request("GET", "/1", "", ""))
	if a := readGot(t, kept, br, "GET"); a.status != 200 || a.header.Get("Connection") != "" {
		t.Fatalf("before: %+v; want the connection kept", a)
	}
	g.srv.Drain()
	if !g.srv.Draining() {
		t.Error("it does not say that it drains")
	}
	for _, c := range []net.Conn{kept, g.dial()} {
		before := len(node.requests())
		_, _ = io.WriteString(c, request("GET", "/2", "", "")+request("GET", "/3", "", ""))
		if a := readGot(t, c, bufio.NewReader(c), "GET"); a.status != 200 || a.body != `{"took":1}` || a.cut || !a.closed {
			t.Errorf("while it drains: %+v; want the whole answer and the connection closed", a)
		}
		if n := len(node.requests()) - before; n != 1 {
			t.Errorf("%d requests came to the node; want the first alone", n)
		}
	}
	silent := g.dial()
	eventually(t, "it is accepted", func() bool { return g.clients() > 0 })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := g.srv.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := silent.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("a connection that never asked: %v; want it closed at the shutdown", err)
	}
	eventually(t, "no connection is counted or remembered", func() bool {
		g.srv.door.mu.Lock()
		defer g.srv.door.mu.Unlock()
		return g.srv.door.open == 0 && len(g.srv.door.conns) == 0
	})
}

// TestDrainEnds: at the end of the drain each client is told what became of its request
// before guard goes: nothing was sent of one that waited for a connection, so it may be sent
// again; of one under way nobody knows.
func TestDrainEnds(t *testing.T) {
	for _, k := range endKinds {
		t.Run(k.name, func(t *testing.T) {
			node := newWitness(t, func(w *witness, c net.Conn, r *http.Request) bool { return w.take(r) && stalls(c) })
			conf := testConfig(node.url())
			conf.Upstream.MaxConns, conf.Upstream.QueueTimeout = 1, time.Minute
			g := startGuard(t, k.gate(), conf)
			var answers []chan got
			send := func() {
				ready := make(chan got, 1)
				answers = append(answers, ready)
				go func() { ready <- g.send(k.raw) }()
			}
			send()
			eventually(t, "one is under way", func() bool { return node.executed.Load() == 1 })
			for range 4 {
				send()
			}
			n := g.srv.cluster.(*Transport).nodes
			eventually(t, "four wait", func() bool {
				n.mu.Lock()
				defer n.mu.Unlock()
				return n.waiting.len() == 4
			})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := g.srv.Shutdown(ctx); err == nil {
				t.Error("Shutdown has cut nothing")
			}
			g.srv.door.mu.Lock()
			left := g.srv.door.open
			g.srv.door.mu.Unlock()
			if left > 0 {
				t.Errorf("%d clients are not told anything when Shutdown has returned", left)
			}
			for i, ready := range answers {
				a, want := <-ready, refused
				if i == 0 {
					want = unclear
				}
				if e := endOf(a); e != want || i > 0 && a.header.Get("Retry-After") == "" {
					t.Errorf("request %d ended %s; want %s: %+v", i, e, want, a)
				}
			}
			if n := node.executed.Load(); n != 1 {
				t.Errorf("the node executed %d requests; want the first", n)
			}
		})
	}
}

// TestEndIdle ends a connection that waits for a request, and none that is at one; a
// request that comes at that moment is served or never read, nothing between.
func TestEndIdle(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	for i := range 200 {
		c := g.dial()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = io.WriteString(c, request("GET", "/", "", ""))
		}()
		if i%2 == 0 {
			<-sent
		}
		g.srv.door.endIdle()
		before := len(node.requests())
		a := readGot(t, c, bufio.NewReader(c), "GET")
		if a.status != 0 && (a.status != 200 || a.cut) || a.status == 0 && len(node.requests()) > before {
			t.Fatalf("got %+v; want the answer, or a request that never came", a)
		}
		<-sent
		_ = c.Close()
	}
}
