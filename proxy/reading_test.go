package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"guard/gate"
	"guard/internal/ask"
)

// takenHead is a head as the library is told of it, and what it was read with.
type takenHead struct {
	target string
	with   *reading
}

// takeHeads does what the library does: it takes a head after the other, until the
// connection ends. It reads the bodies, or leaves them.
func takeHeads(c *conn, read bool) <-chan takenHead {
	heads := make(chan takenHead, 1)
	go func() {
		defer close(heads)
		for {
			if _, err := io.ReadFull(c, make([]byte, len(substitutes[0]))); err != nil {
				return
			}
			heads <- takenHead{c.head.target, c.reading}
			if read {
				_, _ = io.Copy(io.Discard, &c.body)
			}
		}
	}()
	return heads
}

// TestRest: a connection that waits for a request, be it the first or a further one,
// whole or refused, with a body that was read or not, holds nothing of the last one; a second
// later it holds nothing to read with either, and the next request comes whole all the
// same. It ends after its idle time, whatever it holds.
func TestRest(t *testing.T) {
	const idle = time.Minute
	f := func(raw string, read bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			met := make(chan ask.Limit, 1)
			c := newConn(context.Background(), ours, &connLimits{
				maxHead: 3 * readBuffer, idle: idle, header: idle, read: idle, stopped: new(atomic.Bool), met: func(l ask.Limit) { met <- l },
			}, &front{})
			requests := takeHeads(c, read)
			send := func() (last takenHead) {
				_, _ = io.WriteString(theirs, raw)
				for range strings.Count(raw, "HTTP/1.1") {
					if last = <-requests; last.target != "/a" {
						t.Errorf("%q came", last.target)
					}
				}
				return last
			}
			for round := range 3 {
				time.Sleep(2 * restAfter)
				synctest.Wait()
				if c.at.Load() != waiting || c.reading != nil || c.body.src != nil || c.head.fields != nil {
					t.Errorf("round %d: a connection that waits is at %d, holds %v, a body of %v, a head of %v", round, c.at.Load(), c.reading, c.body.src, c.head.fields)
				}
				first := send()
				time.Sleep(restAfter / 2)
				if next := send(); next.with != first.with {
					t.Errorf("round %d: what a busy connection reads with changed", round)
				}
			}
			begun := time.Now()
			if _, more := <-requests; more || <-met != ask.LimitIdle || time.Since(begun) != idle {
				t.Errorf("it ended after %v; want it after %v of waiting", time.Since(begun), idle)
			}
			_ = theirs.Close()
		})
	}
	head := "GET /a HTTP/1.1\r\nHost: a\r\n"
	f(head+"\r\n", false)
	f(head+"P: "+strings.Repeat("x", 2*readBuffer)+"\r\n\r\n", false)
	f(head+"Content-Length: 10\r\n\r\n0123456789", true)
	f(head+"Content-Length: 10\r\n\r\n0123456789", false)
	f(strings.Repeat(head+"\r\n", 5), false)
}

// TestFirstBytes: wherever the first bytes of a request end, in the head, behind it or in
// the next request, on a new connection or on one that was used, each request comes whole,
// in order and once.
func TestFirstBytes(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) { writeAnswer(c, 200, r.URL.Path+" "+string(body)) })
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	more := request("POST", "/second", jsonLine, "345") + request("GET", "/third", "", "")
	for _, pad := range []int{0, readBuffer, 3 * readBuffer} {
		first := request("POST", "/first", jsonLine+"P: "+strings.Repeat("x", pad)+"\r\n", "12")
		raw := first + more
		for _, cut := range []int{1, 2, len(first) - 2, len(first) - 1, len(first), len(first) + 1, len(first) + 20} {
			c := g.dial()
			br := bufio.NewReader(c)
			next := func(want string) {
				t.Helper()
				if a := readGot(t, c, br, "POST"); a.body != want {
					t.Fatalf("of %d bytes, cut at %d, came %+v; want %q", len(raw), cut, a, want)
				}
			}
			for range 2 {
				eventually(t, "it waits", func() bool { return !g.wakes() })
				_, _ = io.WriteString(c, raw[:cut])
				if cut < len(first) {
					eventually(t, "the first bytes are taken", g.wakes)
				} else {
					next("/first 12")
				}
				_, _ = io.WriteString(c, raw[cut:])
				if cut < len(first) {
					next("/first 12")
				}
				next("/second 345")
				next("/third ")
			}
			_ = c.Close()
		}
	}
}

// wakes reports whether a connection reads or serves a request.
func (g *guarded) wakes() bool {
	g.srv.door.mu.Lock()
	defer g.srv.door.mu.Unlock()
	for c := range g.srv.door.conns {
		if c.at.Load() != waiting {
			return true
		}
	}
	return false
}
