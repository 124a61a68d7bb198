package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"

	"guard/gate"
)

// TestOut: what takes a node out. Cuts and stalls do not, however many there are: see
// TestCutsTakeNoNodeOut.
func TestOut(t *testing.T) {
	const connect, answer, reached, cut, stall = "no connection", "an answer", "a connection", "a cut", "a stall"
	f := func(out bool, events ...string) {
		t.Helper()
		tr := newTestTransport(t, newFake(t).url(), "http://127.0.0.1:2")
		h := tr.nodes.list[0]
		h.stop = func() {} // nobody looks: it is what calls alone tell
		for _, e := range events {
			switch e {
			case answer:
				h.answered()
			case reached:
				h.revive()
				h.stop = func() {}
			case connect:
				h.unreached(io.EOF)
			case cut:
				h.suspect(fmt.Errorf("outer: %w", &wireError{faultCut, io.EOF}))
			case stall:
				h.suspect(fmt.Errorf("outer: %w", &wireError{faultStall, io.EOF}))
			}
		}
		if h.health.out != out || h.health.up() == out {
			t.Errorf("after %v: out %v; want %v", events, h.health.out, out)
		}
	}
	f(false)
	f(true, connect)
	f(true, connect, connect)
	f(true, connect, answer) // over a connection of before
	f(false, connect, reached)
	f(false, answer)
	f(false, cut, cut, cut, stall, stall, stall)
	f(false, connect, reached, cut, cut, stall)
	f(true, cut, connect)
	for _, ours := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL} {
		if !isOurs(fmt.Errorf("cannot connect: %w", &net.OpError{Err: os.NewSyscallError("socket", ours)})) {
			t.Errorf("%v is held against the node", ours)
		}
	}
	if isOurs(syscall.ECONNREFUSED) {
		t.Error("a refused connection is not held against the node")
	}
}

// TestDoubtedCalls: which ends of a call make guard look at its node.
func TestDoubtedCalls(t *testing.T) {
	always := context.Background()
	f := func(name string, want bool, ctx context.Context, c call, answer func(c net.Conn)) {
		t.Helper()
		node := newFake(t)
		node.answers(func(c net.Conn, _ *http.Request, _ []byte) { answer(c) })
		tr := newTestTransport(t, node.url())
		c.method, c.target = "POST", "/"
		if a, err := tr.Do(ctx, &c); err == nil {
			_, _ = io.Copy(io.Discard, a.body)
			a.body.Close()
		}
		tr.nodes.mu.Lock()
		h := tr.nodes.list[0]
		looks := h.stop != nil || !h.looked.IsZero()
		tr.nodes.mu.Unlock()
		if looks != want {
			t.Errorf("%s: guard looks at the node: %v; want %v", name, looks, want)
		}
	}
	says := func(text string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, text); _ = c.Close() }
	}
	f("an answer", false, always, call{}, func(c net.Conn) { writeAnswer(c, 200, "{}") })
	f("an odd answer", true, always, call{}, func(c net.Conn) { writeAnswer(c, 503, "{}") })
	f("a cut", true, always, call{}, says(""))
	f("a cut in the head", true, always, call{}, says("HTTP/1.1 20"))
	f("a cut in the body", true, always, call{}, says("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"))
	f("garbage", true, always, call{}, says("rubbish\r\n\r\n"))
	f("garbage in the body", true, always, call{}, says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nrubbish\r\n"))
	stop := make(chan struct{})
	defer close(stop)
	f("a stall", true, always, call{}, func(net.Conn) { <-stop })
	soon, cancel := context.WithTimeout(always, 50*time.Millisecond)
	defer cancel()
	f("a client that leaves", false, soon, call{}, func(net.Conn) { <-stop })
	f("a client that fails", false, always, call{body: func(io.Writer) error { return io.ErrUnexpectedEOF }, framing: framing{chunked: true}}, says(""))
}

// TestCutsTakeNoNodeOut: whatever a client makes a node do to calls, the node stays up for
// all others as long as it answers guard.
func TestCutsTakeNoNodeOut(t *testing.T) {
	for name, end := range map[string]func(c net.Conn){
		"closes": func(c net.Conn) { _ = c.Close() },
		"resets": func(c net.Conn) {
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		},
		"closes in the head": func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 20"); _ = c.Close() },
		"speaks garbage":     func(c net.Conn) { _, _ = io.WriteString(c, "rubbish\r\n\r\n") },
		"stalls":             func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			node := newFake(t)
			node.answers(func(c net.Conn, r *http.Request, _ []byte) {
				if r.RequestURI == "/bad" {
					end(c)
					return
				}
				writeAnswer(c, 200, "{}")
			})
			g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(node.url()))
			tr := g.srv.cluster.(*Transport)
			tr.nodes.limits.lookPause = 0
			tr.Meet(t.Context())
			met := len(node.lookHeaders())
			for range 4 {
				if a := g.send(request("POST", "/bad", "", "")); a.status < 500 {
					t.Errorf("got %+v", a)
				}
			}
			eventually(t, "guard has looked at it", func() bool { return len(node.lookHeaders()) > met })
			if a := g.send(request("GET", "/good", "", "")); a.status != 200 {
				t.Errorf("another client got %+v", a)
			}
			for _, message := range []string{"node is out", "node is unfit"} {
				if n := g.logs.FilterMessage(message).Len(); n > 0 {
					t.Errorf("%q is logged %d times", message, n)
				}
			}
			if n := nodesIn(t, g, stateUp); n != 1 {
				t.Errorf("%v nodes are up; want it", n)
			}
		})
	}
}

func TestPauses(t *testing.T) {
	for times := range 100 {
		least, most := min(firstPause<<min(times, 20), maxPause)*3/4, min(firstPause<<min(times, 20), maxPause)*5/4
		if p := pauseOf(times); p < least || p > most {
			t.Errorf("pause %d: %v; want %v to %v", times, p, least, most)
		}
	}
}

// TestSingleNodeRecovers: the only node is tried by each call, so the first one after it
// came back gets through.
func TestSingleNodeRecovers(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	tr := newTestTransport(t, "http://"+addr)
	var wire *wireError
	for range 5 {
		if _, _, err := tr.Fetch(context.Background(), "GET", "/"); !errors.As(err, &wire) || wire.kind != faultConnect {
			t.Fatalf("got %v", err)
		}
	}
	if ln, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	newFakeOn(t, ln)
	if _, _, err := tr.Fetch(context.Background(), "GET", "/"); err != nil {
		t.Errorf("the node is back: %v", err)
	}
}
