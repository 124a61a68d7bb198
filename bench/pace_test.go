package main

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// serveSlowly answers all requests at once when they are let go, and later ones as they come.
func serveSlowly(t *testing.T) (addr string, letGo func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gate, done := make(chan struct{}), make(chan struct{})
	letGo = sync.OnceFunc(func() { close(gate) })
	go func() {
		defer close(done)
		_ = (&fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) { <-gate; ctx.SetBodyString("ok") }}).Serve(ln) // ends with its listener
	}()
	t.Cleanup(func() { letGo(); _ = ln.Close(); <-done })
	return ln.Addr().String(), letGo
}

func (j *job) connect(t *testing.T, n int) []*conn {
	t.Helper()
	conns := make([]*conn, n)
	for i := range conns {
		c, err := j.dial()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		conns[i] = c
	}
	return conns
}

// TestPaceCountsFromItsTime: a stall is counted for every request that was meant to be
// sent during it, also for those that had no connection.
func TestPaceCountsFromItsTime(t *testing.T) {
	addr, letGo := serveSlowly(t)
	j := job{Addr: addr, Request: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Bytes: 2, Rate: 1000, Paced: 300 * time.Millisecond, Limit: time.Minute}
	conns := j.connect(t, 2)
	const stall = 200 * time.Millisecond
	time.AfterFunc(stall, letGo)
	p, err := j.pace(conns)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.took) != 300 || len(p.late) != 300 {
		t.Fatalf("%d latencies and %d delays; want 300 of each", len(p.took), len(p.late))
	}
	waited := 0
	for _, d := range p.took {
		if d > stall/2 {
			waited++
		}
	}
	if waited < 50 { // the 100 that were due in the first half of the stall, less what the load began late
		t.Errorf("%d requests waited for more than half of the stall; want 50 at least", waited)
	}
}

// TestPaceFails: what goes wrong ends the load at once and is told.
func TestPaceFails(t *testing.T) {
	addr, letGo := serveSlowly(t)
	letGo()
	j := job{Addr: addr, Request: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Bytes: 3, Rate: 1000, Paced: time.Hour, Limit: time.Minute}
	if _, err := j.pace(j.connect(t, 2)); err == nil {
		t.Error("answers of another length passed")
	}
}

func TestPadded(t *testing.T) {
	for _, n := range []int64{14, 15, 100, 70_000} {
		text, err := io.ReadAll(padded(n))
		if err != nil || int64(len(text)) != n || text[0] != '{' || text[n-1] != '}' {
			t.Errorf("%d: %d bytes, %v", n, len(text), err)
		}
	}
}

func TestPaddedSize(t *testing.T) {
	f := func(target string, size int64, ok bool) {
		t.Helper()
		if n, found := paddedSize(target); found != ok || ok && n != size {
			t.Errorf("%s: %d, %v; want %d, %v", target, n, found, size, ok)
		}
	}
	f("/padded-1073741824/_search", 1<<30, true)
	f("/padded-/_search", 0, false)
	f("/padded--1/_search", 0, false)
	f("/people/_search", 0, false)
}
