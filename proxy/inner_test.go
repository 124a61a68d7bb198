package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// startInner serves an internal listener, and returns its address and how often it
// reloaded.
func startInner(t *testing.T, hosts ...string) (addr string, reloads *int, reg *prometheus.Registry) {
	t.Helper()
	reloads, reg = new(int), prometheus.NewRegistry()
	in := Internal{
		Ready: func() error { return nil }, Draining: func() bool { return false }, Faulty: func() []FaultyPart { return nil },
		Reload: func(context.Context) (Reloaded, error) { *reloads++; return Reloaded{}, nil },
		Hosts:  hosts, Metrics: reg, Level: zap.NewAtomicLevel(), Log: zap.NewNop(),
	}
	srv, err := in.Server()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := in.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln) // until it is closed
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return ln.Addr().String(), reloads, reg
}

// TestInternalScreen: pages in browsers change nothing over the internal listener, by
// whatever name they reach it. Everybody else does, and reads.
func TestInternalScreen(t *testing.T) {
	addr, reloads, reg := startInner(t)
	named, _, _ := startInner(t, "guard.search.svc", "Metrics")
	f := func(addr, method, path, host, headers string, status int) {
		t.Helper()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		body := `{"level":"info"}`
		_, _ = io.WriteString(c, method+" "+path+" HTTP/1.1\r\nHost: "+host+"\r\n"+headers+"Content-Length: "+itoa(len(body))+"\r\n\r\n"+body)
		r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != status {
			t.Errorf("%s %s for %q, %q: got %d; want %d", method, path, host, headers, r.StatusCode, status)
		}
	}
	for _, host := range []string{"127.0.0.1", "127.0.0.1:9290", "10.1.2.3:9290", "[::1]:9290", "[::1]", "localhost", "LOCALHOST:9290"} {
		f(addr, "POST", "/-/reload", host, "", 200)
		f(addr, "PUT", "/log-level", host, "", 200)
		f(named, "GET", "/metrics", host, "", 200)
	}
	good := *reloads
	for _, host := range []string{"evil.example", "evil.example:9290", "localhost.evil.example", "127.0.0.1.evil.example", "127.1", "2130706433", "guard.search.svc"} {
		f(addr, "POST", "/-/reload", host, "", 403)
		f(addr, "PUT", "/log-level", host, "", 403)
		f(addr, "GET", "/metrics", host, "", 200)
		f(addr, "GET", "/log-level", host, "", 200)
	}
	f(addr, "POST", "http://evil.example/-/reload", "127.0.0.1", "", 403)
	for _, page := range []string{"Origin: https://evil.example\r\n", "Origin: null\r\n", "Origin: http://127.0.0.1:9290\r\n", "Origin: \r\n", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-origin\r\n"} {
		f(addr, "POST", "/-/reload", "127.0.0.1", page, 403)
		f(addr, "PUT", "/log-level", "127.0.0.1", page, 403)
		f(addr, "GET", "/readyz", "127.0.0.1", page, 200)
	}
	if *reloads != good {
		t.Errorf("%d refused requests reloaded", *reloads-good)
	}
	f(addr, "POST", "/-/reload", "127.0.0.1", "Sec-Fetch-Site: none\r\n", 200)

	f(named, "POST", "/-/reload", "guard.search.svc:9290", "", 200)
	f(named, "GET", "/metrics", "metrics", "", 200)
	f(named, "GET", "/metrics", "evil.example", "", 403)
	f(named, "POST", "/-/reload", "evil.example", "", 403)

	g := &guarded{t: t, reg: reg}
	if a, b := g.metric("guard_internal_refusals_total", "origin"), g.metric("guard_internal_refusals_total", "host"); a != 12 || b != 15 {
		t.Errorf("%v refusals by origin and %v by host are counted; want 12 and 15", a, b)
	}
}

// TestInternalConnections: one address has a bound on the internal listener, and what is
// closed makes room.
func TestInternalConnections(t *testing.T) {
	addr, _, _ := startInner(t)
	ask := func() (net.Conn, int) {
		t.Helper()
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		return c, r.StatusCode
	}
	var conns []net.Conn
	for range maxInternalAddress {
		c, status := ask()
		if status != 200 {
			t.Fatalf("connection %d got %d", len(conns), status)
		}
		conns = append(conns, c)
	}
	if _, status := ask(); status != 429 {
		t.Errorf("one too many got %d; want 429", status)
	}
	_ = conns[0].Close()
	eventually(t, "there is room again", func() bool { _, status := ask(); return status == 200 })
}
