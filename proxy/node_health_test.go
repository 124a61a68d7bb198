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
)

// TestBlame: what takes a node out.
func TestBlame(t *testing.T) {
	connect, stall, cut := &wireError{faultConnect, io.EOF}, &wireError{faultStall, io.EOF}, &wireError{faultCut, io.EOF}
	answer, reached := errors.New("an answer"), errors.New("a connection")
	f := func(out bool, events ...error) {
		t.Helper()
		tr := newTestTransport(t, "http://127.0.0.1:1", "http://127.0.0.1:2")
		h := tr.nodes.list[0]
		for _, e := range events {
			switch {
			case errors.Is(e, answer):
				h.answered()
			case errors.Is(e, reached):
				h.revive()
			default:
				h.blame(fmt.Errorf("outer: %w", e))
			}
		}
		if h.health.out != out {
			t.Errorf("after %v: out %v; want %v", events, h.health.out, out)
		}
	}
	f(true, connect)
	f(false, stall, stall)
	f(true, stall, cut, stall)
	f(false, stall, stall, answer, stall, stall)
	f(true, connect, answer) // over a connection of before
	f(false, connect, reached)
	f(true, connect, reached, cut) // what came back and has not answered has no credit
	f(true, connect, answer, reached, cut)
	f(false, connect, reached, answer, cut, cut)
	f(true, connect, reached, answer, cut, cut, cut)
	f(false, io.EOF, io.EOF, io.EOF, io.EOF)
	f(false, answer)
	for _, ours := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL} {
		if !isOurs(fmt.Errorf("cannot connect: %w", &net.OpError{Err: os.NewSyscallError("socket", ours)})) {
			t.Errorf("%v is held against the node", ours)
		}
	}
	if isOurs(syscall.ECONNREFUSED) {
		t.Error("a refused connection is not held against the node")
	}
}

// TestBlamedCalls: which ends of a call are held against its node.
func TestBlamedCalls(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	h := tr.nodes.list[0]
	f := func(c call, ctx context.Context, faults int) {
		t.Helper()
		count := func(reset bool) int { // garbage makes guard look at the node beside this
			tr.nodes.mu.Lock()
			defer tr.nodes.mu.Unlock()
			if reset {
				h.health.faults = 0
			}
			return h.health.faults
		}
		count(true)
		c.method, c.target = "POST", "/"
		if a, err := tr.Do(ctx, &c); err == nil {
			_, _ = io.Copy(io.Discard, a.body)
			a.body.Close()
		}
		if got := count(false); got != faults {
			t.Errorf("%d faults; want %d", got, faults)
		}
	}
	always := context.Background()
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 503, "{}") })
	f(call{}, always, 0)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { _ = c.Close() })
	f(call{}, always, 0) // the connection had lain idle
	f(call{}, always, 1)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { _, _ = io.WriteString(c, "rubbish\r\n\r\n") })
	f(call{}, always, 0)
	stop := make(chan struct{})
	defer close(stop)
	node.answers(func(net.Conn, *http.Request, []byte) { <-stop })
	f(call{}, always, 1)
	soon, cancel := context.WithTimeout(always, 50*time.Millisecond)
	defer cancel()
	f(call{}, soon, 0)
	slow := func(w io.Writer) error { // a client that sends nothing for longer than the node may take
		time.Sleep(600 * time.Millisecond)
		return nil
	}
	f(call{body: slow, framing: framing{chunked: true}}, always, 0)
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
