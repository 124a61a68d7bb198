package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
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
