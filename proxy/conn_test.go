package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/gate"
	"guard/internal/ask"
)

// TestKeepAlive sends several requests on one connection, one after the other and all
// at once; each is authenticated for itself.
func TestKeepAlive(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		if r.Method == "HEAD" {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
			return
		}
		writeAnswer(c, 200, `"`+r.Method+r.RequestURI+string(body)+`"`)
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	c := g.dial()
	br := bufio.NewReader(c)
	f := func(a got, status int, body string, closed bool) {
		t.Helper()
		if a.status != status || a.body != body || a.closed != closed {
			t.Errorf("got %+v; want %d %q closed=%v", a, status, body, closed)
		}
	}
	all := request("GET", "/1", "", "") + request("POST", "/2", jsonLine, "two") + chunkedRequest("/3", jsonLine, strings.Repeat("3", 10000)) +
		request("HEAD", "/4", "", "") + "GET /5 HTTP/1.1\r\nHost: a\r\n\r\n" + request("PUT", "/6", jsonLine, "six") + request("GET", "/7", "Connection: close\r\n", "") +
		request("GET", "/never", "", "")
	go func() { _, _ = io.WriteString(c, all) }()
	f(readGot(t, c, br, "GET"), 200, `"GET/1"`, false)
	f(readGot(t, c, br, "GET"), 200, `"POST/2two"`, false)
	f(readGot(t, c, br, "GET"), 200, `"POST/3`+strings.Repeat("3", 10000)+`"`, false)
	head := readGot(t, c, br, "HEAD")
	f(head, 200, "", false)
	if head.header.Get("Content-Length") != "8" {
		t.Errorf("HEAD: content length %q; want 8", head.header.Get("Content-Length"))
	}
	f(readGot(t, c, br, "GET"), 401, "Unauthorized", false) // no credentials of its own
	f(readGot(t, c, br, "GET"), 200, `"PUT/6six"`, false)
	f(readGot(t, c, br, "GET"), 200, `"GET/7"`, true)
	if n := node.accepted(); n != 1 {
		t.Errorf("%d connections to the node; want 1", n)
	}
}

// TestUnreadBody refuses requests without reading their bodies: a small rest is read
// away, a large one closes the connection, after the client has got its answer.
func TestUnreadBody(t *testing.T) {
	g := startGuard(t, &fakeGate{}, testConfig("http://127.0.0.1:1"))
	f := func(raw string, keeps bool) {
		t.Helper()
		c := g.dial()
		go func() { _, _ = io.WriteString(c, raw) }()
		br := bufio.NewReader(c)
		if a := readGot(t, c, br, "POST"); a.status != 401 || a.closed == keeps {
			t.Errorf("got %+v; want 401, kept: %v", a, keeps)
			return
		}
		if !keeps {
			return
		}
		go func() { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") }()
		if a := readGot(t, c, br, "GET"); a.status != 401 {
			t.Errorf("the next request got %+v", a)
		}
	}
	post := func(headers string, body string) string {
		return "POST / HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body
	}
	f(post("Content-Length: 1000\r\n", strings.Repeat("a", 1000)), true)
	f(post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"), true)
	f(post("Content-Length: 200000\r\n", strings.Repeat("a", 200000)), false)
	f(post("Content-Length: 1000000000\r\n", strings.Repeat("a", 100000)), false)
	f(post("Content-Length: 1000\r\nExpect: 100-continue\r\n", ""), false) // what comes next is the body or a request: unknown
}

func TestExpectContinue(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Limits.MaxBulkBody = 1000
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	c := g.dial()
	br := bufio.NewReader(c)
	_, _ = io.WriteString(c, "POST /a HTTP/1.1\r\nHost: a\r\n"+authLine+"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
	line, err := br.ReadString('\n')
	if err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v; want the 100", line, err)
	}
	_, _ = br.ReadString('\n')
	_, _ = io.WriteString(c, "hello")
	if a := readGot(t, c, br, "POST"); a.status != 200 {
		t.Errorf("got %+v", a)
	}
	if seen := node.requests(); len(seen) != 1 || seen[0].body != "hello" {
		t.Errorf("the node got %+v", seen)
	}
	// What is refused anyway gets no 100.
	a := g.send("POST /a HTTP/1.1\r\nHost: a\r\n" + authLine + "Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n")
	if a.status != 413 || !a.closed {
		t.Errorf("an oversized body: %+v; want 413 at once", a)
	}
}

func TestOldClients(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	a := g.send("GET / HTTP/1.0\r\n" + authLine + "\r\n")
	if a.status != 200 || a.body != "hello" || !a.closed || a.header.Get("Content-Length") != "5" {
		t.Errorf("HTTP/1.0: %+v", a)
	}
	a = g.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n" + authLine + "\r\n")
	if a.status != 200 || a.body != "hello" || a.closed || !strings.EqualFold(a.header.Get("Connection"), "keep-alive") {
		t.Errorf("HTTP/1.0 that keeps its connection: %+v", a)
	}
	a = g.send("GET / HTTP/1.1\r\nHost: a\r\n" + authLine + "\r\n")
	if a.body != "hello" || a.header.Get("Content-Length") != "" {
		t.Errorf("HTTP/1.1: %+v; want chunks", a)
	}
}

// TestSlowClients holds that connections that stall end, and that a body which comes
// steadily lives longer than any timeout.
func TestSlowClients(t *testing.T) {
	node := newFake(t)
	conf := faultConfig(node.url())
	conf.Timeouts.Idle = 200 * time.Millisecond
	conf.Timeouts.Upstream = 5 * time.Second
	g := startGuard(t, &fakeGate{restricted: true, intake: gate.IntakeWhole}, conf)
	post := "POST / HTTP/1.1\r\nHost: a\r\n" + authLine + jsonLine
	if a := g.send(post + "Content-Length: 10\r\n\r\n{"); a.status != 408 || !a.closed {
		t.Errorf("a body that stalls: %+v; want 408", a)
	}
	c := g.dial()
	start := time.Now()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF || time.Since(start) > 3*time.Second {
		t.Errorf("an idle connection: %v after %v; want it closed", err, time.Since(start))
	}

	conf.Timeouts.Read = time.Second
	free := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	c = free.dial()
	const steps = 20
	_, _ = io.WriteString(c, fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n", authLine, steps*window))
	for range steps {
		_, _ = c.Write(make([]byte, window))
		time.Sleep(100 * time.Millisecond)
	}
	if a := readGot(t, c, bufio.NewReader(c), "POST"); a.status != 200 {
		t.Errorf("a steady body that takes twice the timeout: %+v", a)
	}
}

// TestClientStopsReading holds that an answer nobody reads ends after the timeout.
func TestClientStopsReading(t *testing.T) {
	node := newFake(t)
	ended := make(chan struct{})
	node.takes(func(c net.Conn, br *bufio.Reader) {
		_, _ = http.ReadRequest(br)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
		for {
			if _, err := c.Write(make([]byte, 64<<10)); err != nil {
				close(ended)
				return
			}
		}
	})
	conf := faultConfig(node.url())
	conf.Timeouts.Upstream = 10 * time.Second
	g := startGuard(t, readPlan(nil, true), conf)
	c := g.dial()
	_, _ = io.WriteString(c, request("GET", "/i", "", ""))
	select {
	case <-ended:
	case <-time.After(8 * time.Second):
		t.Error("the node still sends to a client that does not read")
	}
}

func TestConcurrencyLimit(t *testing.T) {
	node := newFake(t)
	wait := make(chan struct{})
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		<-wait
		writeAnswer(c, 200, "{}")
	})
	conf := testConfig(node.url())
	conf.Limits.MaxConcurrent = 4
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if a := g.send(request("GET", "/", "", "")); a.status != 200 {
				t.Errorf("within the limit: %+v", a)
			}
		})
	}
	eventually(t, "four requests are at the node", func() bool { return len(node.requests()) == 4 })
	if a := g.send(request("GET", "/", "", "")); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("beyond the limit: %+v; want 503 with Retry-After", a)
	}
	close(wait)
	wg.Wait()
	if a := g.send(request("GET", "/", "", "")); a.status != 200 {
		t.Errorf("after the others ended: %+v", a)
	}
}

// TestSlowBodies holds that clients that send their bodies slowly take no room from the
// others.
func TestSlowBodies(t *testing.T) {
	conf := testConfig("http://127.0.0.1:1")
	conf.Limits.MaxConcurrent = 2
	g := startGuard(t, echo(), conf)
	for range 4 {
		c := g.dial()
		_, _ = io.WriteString(c, strings.TrimSuffix(request("POST", "/slow", jsonLine, strings.Repeat("a", 200)), strings.Repeat("a", 199)))
	}
	eventually(t, "four bodies are on their way", func() bool { return inFlight(t, g) == 4 })
	if a := g.send(request("POST", "/", jsonLine, "{}")); a.status != 200 {
		t.Errorf("beside slow bodies: %+v; want 200", a)
	}
}

func inFlight(t *testing.T, g *guarded) float64 {
	t.Helper()
	families, err := g.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "guard_requests_in_flight" {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatal("no gauge of requests in flight")
	return 0
}

// TestAdmission holds the bounds in all and of one user, and that room comes back.
func TestAdmission(t *testing.T) {
	a := newAdmission(3, 2)
	f := func(user string, want int) {
		t.Helper()
		var r *ask.Rejection
		got := 0
		if err := a.enter(user); errors.As(err, &r) {
			got = r.Status.Code()
		}
		if got != want {
			t.Errorf("enter(%s) = %d; want %d", user, got, want)
		}
	}
	f("u", 0)
	f("u", 0)
	f("u", 429)
	f("v", 0)
	f("w", 503)
	a.leave("u")
	f("u", 0)
	a.leave("u")
	a.leave("u")
	a.leave("v")
	if a.total != 0 || len(a.byUser) != 0 {
		t.Errorf("left over: %d, %v", a.total, a.byUser)
	}
}

// TestShutdown lets a running request end, closes idle connections, accepts no more,
// and leaves no goroutine.
func TestShutdown(t *testing.T) {
	before := runtime.NumGoroutine()
	node := newFake(t)
	wait := make(chan struct{})
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		if r.RequestURI == "/slow" {
			<-wait
		}
		writeAnswer(c, 200, "{}")
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	idle := g.dial()
	_, _ = io.WriteString(idle, request("GET", "/", "", ""))
	if a := readGot(t, idle, bufio.NewReader(idle), "GET"); a.status != 200 {
		t.Fatalf("got %+v", a)
	}
	answered := make(chan got, 1)
	go func() { answered <- g.send(request("GET", "/slow", "", "")) }()
	eventually(t, "the slow request is at the node", func() bool { return len(node.requests()) == 2 })

	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		done <- g.srv.Shutdown(ctx)
	}()
	if _, err := idle.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("an idle connection at the shutdown: %v; want it closed", err)
	}
	if _, err := net.DialTimeout("tcp", g.addr, time.Second); err == nil {
		t.Error("a connection was accepted during the shutdown")
	}
	if !g.srv.Draining() {
		t.Error("the server does not say that it drains")
	}
	close(wait)
	if a := <-answered; a.status != 200 || !a.closed {
		t.Errorf("the running request got %+v; want its answer and a closed connection", a)
	}
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	node.closeConns()
	eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before+4 })
}

// TestShutdownAtOnce stops a server that hardly began, or did not.
func TestShutdownAtOnce(t *testing.T) {
	for range 50 {
		startGuard(t, &fakeGate{}, testConfig("http://127.0.0.1:1")) // its cleanup waits for Serve
	}
}

// TestShutdownCuts ends what outlives the drain.
func TestShutdownCuts(t *testing.T) {
	node := newFake(t)
	node.takes(func(c net.Conn, br *bufio.Reader) { _, _ = io.Copy(io.Discard, br) })
	g := startGuard(t, readPlan(nil, true), testConfig(node.url()))
	answered := make(chan got, 1)
	go func() { answered <- g.send(request("GET", "/", "", "")) }()
	eventually(t, "the request is at the node", func() bool { return node.open() == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := g.srv.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "requests were cut") {
		t.Errorf("Shutdown: %v; want it to say that requests were cut", err)
	}
	if a := <-answered; a.status != 502 {
		t.Errorf("the cut request got %+v; want 502", a)
	}
}

// TestOldClientsFaults holds that a client which reads no chunks gets no half answer.
func TestOldClientsFaults(t *testing.T) {
	node := newFake(t)
	conf := faultConfig(node.url())
	conf.Limits.MaxFilteredAnswer = 100 << 10
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	f := func(raw string) {
		t.Helper()
		node.takes(func(c net.Conn, br *bufio.Reader) {
			_, _ = http.ReadRequest(br)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n"+raw)
		})
		if a := g.send("GET / HTTP/1.0\r\n" + authLine + "\r\n"); a.status != 502 || a.header.Get("X-A") != "" || a.cut {
			t.Errorf("got %+v; want 502 and nothing of the node's answer", a)
		}
	}
	f("5\r\nhello\r\n")
	f("20000\r\n" + strings.Repeat("a", 0x20000) + "\r\n0\r\n\r\n")
}

// TestUploadLimit counts a body that does not tell its length.
func TestUploadLimit(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Limits.MaxBulkBody = 100 << 10
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	f := func(size, status int) {
		t.Helper()
		before := len(node.requests())
		a := g.send(chunkedRequest("/_bulk", ndjsonLine, strings.Repeat("a", size)))
		executed := len(node.requests()) - before
		if a.status != status || (executed == 1) != (status == 200) {
			t.Errorf("%d bytes: got %d %s, %d executed; want %d", size, a.status, a.body, executed, status)
		}
	}
	f(100<<10, 200)
	f(100<<10+1, 413)
	f(1<<20, 413)
	if a := g.send(request("POST", "/_bulk", ndjsonLine, strings.Repeat("a", 100<<10+1))); a.status != 413 {
		t.Errorf("an announced length: %+v; want 413", a)
	}
}

// flakyListener fails a few times before it accepts.
type flakyListener struct {
	net.Listener
	fails int
}

func (f *flakyListener) Accept() (net.Conn, error) {
	if f.fails--; f.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Err: fmt.Errorf("too many open files")}
	}
	return f.Listener.Accept()
}

// TestAcceptFails keeps serving when no descriptor is left for a while.
func TestAcceptFails(t *testing.T) {
	g := startGuard(t, &fakeGate{plan: denyAll}, testConfig("http://127.0.0.1:1"))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- g.srv.Serve(&flakyListener{ln, 3}) }()
	g.addr = ln.Addr().String()
	if a := g.send(request("GET", "/", "", "")); a.status != 403 {
		t.Errorf("got %+v", a)
	}
	if n := g.logs.FilterMessage("cannot accept a connection").Len(); n != 3 {
		t.Errorf("%d records; want 3", n)
	}
	if err := g.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestOptions(t *testing.T) {
	g := startGuard(t, &fakeGate{}, testConfig("http://127.0.0.1:1"))
	conf := testConfig("http://127.0.0.1:1")
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	f := func(change func(*Options), want string) {
		t.Helper()
		o := Options{Config: conf, Transport: tr, Snapshots: g.gate, Log: g.srv.log, Metrics: g.reg}
		change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v; want %q", err, want)
		}
	}
	f(func(o *Options) { o.Snapshots = nil }, "options are incomplete")
	f(func(*Options) {}, "cannot register metrics") // a second server on one registry
	f(func(o *Options) {
		c := *conf
		c.TLS.Key = "x"
		o.Config = &c
	}, "without tls.certificate")
}

// TestNobodyWaitsForContinue: a client that is gone before guard asks for its body is no fault.
func TestNobodyWaitsForContinue(t *testing.T) {
	client, ours := net.Pipe()
	_ = client.Close()
	c := newConn(context.Background(), ours, &connLimits{}, &front{})
	c.owes100 = true
	if _, err := c.request(); !errors.Is(err, errClientGone) || toRejection(err).Reason == ask.ReasonInternal {
		t.Errorf("got %v", err)
	}
}
