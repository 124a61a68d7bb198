package proxy

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"guard/internal/ask"
)

// TestDoorway: the bounds in all and of one network, which a socket without an address
// does not have; room comes back, and nothing is kept of who left.
func TestDoorway(t *testing.T) {
	d := newDoorway(4, 2, nil)
	a, b, none := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.Addr{}
	leave := func(from netip.Addr) { (&place{door: d, from: from}).leave() }
	f := func(from netip.Addr, want ask.Limit) {
		t.Helper()
		if got := d.enter(from); got != want {
			t.Errorf("%v enters: limit %q; want %q", from, got, want)
		}
	}
	f(a, ask.NoLimit)
	f(a, ask.NoLimit)
	f(a, ask.LimitAddressConnections)
	f(b, ask.NoLimit)
	f(none, ask.NoLimit)
	f(none, ask.LimitConnections)
	f(a, ask.LimitConnections)
	leave(a)
	f(none, ask.NoLimit)
	leave(none)
	f(a, ask.NoLimit)
	for _, from := range []netip.Addr{a, a, b, none} {
		leave(from)
	}
	if d.open != 0 || len(d.from) != 0 {
		t.Errorf("left over: %d, %v", d.open, d.from)
	}
	d = newDoorway(3, 0, nil)
	f(a, ask.NoLimit)
	f(a, ask.NoLimit)
	f(a, ask.NoLimit)
	f(b, ask.LimitConnections)
}

// TestMoves: a connection whose client is named later counts as that one's from then on,
// within the bound, and as nobody's once it has left.
func TestMoves(t *testing.T) {
	d := newDoorway(10, 2, nil)
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var all []*place
	f := func(to netip.Addr, want ask.Limit) {
		t.Helper()
		if met := d.enter(netip.Addr{}); met != ask.NoLimit {
			t.Fatal(met)
		}
		p := &place{door: d}
		all = append(all, p)
		if got := p.move(to); got != want {
			t.Errorf("move to %v: %q; want %q", to, got, want)
		}
	}
	f(a, ask.NoLimit)
	f(a, ask.NoLimit)
	f(a, ask.LimitAddressConnections)
	f(b, ask.NoLimit)
	f(netip.Addr{}, ask.NoLimit)
	all[0].leave()
	if all[0].move(b) != ask.NoLimit || d.from[b] != 1 {
		t.Error("one that left is counted")
	}
	f(a, ask.NoLimit)
	f(a, ask.LimitAddressConnections)
	for _, p := range all[1:] {
		p.leave()
	}
	if d.open != 0 || len(d.from) != 0 {
		t.Errorf("left over: %d, %v", d.open, d.from)
	}
}

// TestTurnedAway holds that a connection beyond the bound gets an answer that clients
// understand, whatever it has sent, and that those within it go on; that room comes back;
// and that a crowd that is turned away leaves nothing behind.
func TestTurnedAway(t *testing.T) {
	conf := testConfig("http://127.0.0.1:1")
	conf.Limits.MaxConnections = 2
	g := startGuard(t, &fakeGate{plan: denyAll}, conf)
	inside := []net.Conn{g.dial(), g.dial()}
	eventually(t, "both are inside", func() bool { return g.clients() == 2 })
	before := runtime.NumGoroutine()
	f := func(raw string) {
		t.Helper()
		a := g.send(raw)
		if a.status != 503 || a.header.Get("Retry-After") != "1" || a.header.Get("Content-Type") != jsonType || !a.closed ||
			!strings.Contains(a.body, `"type":"circuit_breaking_exception"`) {
			t.Errorf("%.40q: got %+v; want 503", raw, a)
		}
	}
	f("")
	f(request("GET", "/", "", ""))
	f(request("POST", "/", jsonLine, strings.Repeat("a", 100<<10)))
	f("\x16\x03\x01 nonsense")
	for range 4 * mostTold { // more than are told why
		c := g.dial()
		go func() { _, _ = io.Copy(io.Discard, c) }()
	}
	eventually(t, "all were turned away", func() bool { return g.hits(ask.LimitConnections) == 4+4*mostTold })
	for _, c := range inside {
		_, _ = io.WriteString(c, request("GET", "/", "", ""))
		if a := readGot(t, c, bufio.NewReader(c), "GET"); a.status != 403 {
			t.Errorf("a connection within the bound got %+v; want 403", a)
		}
	}
	_ = inside[0].Close()
	eventually(t, "there is room again", func() bool { return g.clients() == 1 })
	if a := g.send(request("GET", "/", "", "")); a.status != 403 {
		t.Errorf("with room: %+v; want 403", a)
	}
	eventually(t, "nobody is told any more", func() bool { return runtime.NumGoroutine() <= before+4 })
	if n := g.logs.FilterMessage("connection turned away").Len(); n == 0 {
		t.Error("the log says nothing of those turned away")
	}
}

// TestTurnedAwayTLS closes at once what it could tell nothing without a handshake.
func TestTurnedAwayTLS(t *testing.T) {
	a := newAuthority(t)
	conf := testConfig("http://127.0.0.1:1")
	conf.TLS.Certificate, conf.TLS.Key = a.issue("guard", []string{"127.0.0.1"})
	conf.Limits.MaxConnections = 1
	g := startGuard(t, &fakeGate{plan: denyAll}, conf)
	g.dial()
	eventually(t, "the first is inside", func() bool { return g.clients() == 1 })
	c := g.dial()
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("read %d, %v; want the connection closed", n, err)
	}
	if err := tls.Client(g.dial(), &tls.Config{RootCAs: a.pool(), ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}).Handshake(); err == nil {
		t.Error("a handshake beyond the bound succeeded")
	}
}
