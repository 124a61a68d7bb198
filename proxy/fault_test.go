package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// readPlan forwards every request as a read that is treated by treat.
func readPlan(treat gate.Treatment, repeatable bool) *fakeGate {
	return &fakeGate{restricted: true, intake: gate.IntakeWhole, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		c := gate.Call{Method: r.Method, Target: r.RawTarget, Repeatable: repeatable}
		if r.Body != nil {
			c.Source, c.Body = gate.FixedBody, r.Body
		}
		return gate.Outcome{Kind: gate.Forward, Route: "read", Forward: gate.Forwarding{Call: c, Treat: treat}}
	}}
}

// upper is a treatment that can be seen.
type upper struct{}

func (upper) Treat(a gate.Answer) (gate.Answer, error) {
	a.Body = bytes.ToUpper(a.Body)
	return a, nil
}

// faultConfig has timeouts that a test can wait for.
func faultConfig(urls ...string) *config.Config {
	c := testConfig(urls...)
	c.Timeouts.Connect = 300 * time.Millisecond
	c.Timeouts.Upstream = 400 * time.Millisecond
	c.Timeouts.Read = 400 * time.Millisecond
	c.Timeouts.Write = 400 * time.Millisecond
	return c
}

// TestBrokenAnswers gives guard answers that are no HTTP, or no good HTTP. The client
// gets a clean 502 and none of it; the connection to the node is not used again.
func TestBrokenAnswers(t *testing.T) {
	node := newFake(t)
	var raw atomic.Value
	node.takes(func(c net.Conn, br *bufio.Reader) {
		if _, err := http.ReadRequest(br); err == nil {
			_, _ = io.WriteString(c, raw.Load().(string))
		}
	})
	g := startGuard(t, readPlan(nil, false), faultConfig(node.url()))
	f := func(answer string) {
		t.Helper()
		raw.Store(answer)
		a := g.send(request("GET", "/i/_search", "", ""))
		if a.status != 502 || !strings.Contains(a.body, "is unknown") || a.cut {
			t.Errorf("%.80q: got %+v; want 502", answer, a)
		}
		eventually(t, "the connection to the node is closed", func() bool { return g.srv.cluster.(*Transport).Open() == 0 })
	}
	f("")
	f("SSH-2.0-OpenSSH_9.2\r\n\r\n")
	f("\x00\x01\x02\x03")
	f("HTTP/1.1 200 OK\n\n")
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\n{}")
	f("HTTP/1.1 200 OK\r\n\r\n{}") // without a length a cut could not be told from the end
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nX Y: a\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 99 OK\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")
	f(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20))
	f("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxAnswerFields+1) + "Content-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 100<<10) + "\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 200 OK\r\nContent-Len")
}

// TestCutAnswers cuts answers in their bodies: one that is streamed stays cut for the
// client, one that is treated, or is small, becomes a clean 502.
func TestCutAnswers(t *testing.T) {
	node := newFake(t)
	var raw atomic.Value
	node.takes(func(c net.Conn, br *bufio.Reader) {
		if _, err := http.ReadRequest(br); err == nil {
			_, _ = io.WriteString(c, raw.Load().(string))
		}
	})
	passed := startGuard(t, readPlan(nil, true), faultConfig(node.url()))
	treated := startGuard(t, readPlan(upper{}, true), faultConfig(node.url()))
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"a\":",
		"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{\"a\":",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n0\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\nzz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000000000000005\r\n{\"a\":\r\n0\r\n\r\n",
	} {
		raw.Store(text)
		small := strings.Contains(text, "Length: 100\r")
		if a := passed.send(request("GET", "/i", "", "")); small && (a.status != 502 || a.cut) || !small && !a.cut && a.status != 0 {
			t.Errorf("%q: the client took %+v; want it cut, or 502 if it is small: %v", text, a, small)
		}
		if a := treated.send(request("GET", "/i", "", "")); a.status != 502 || a.cut || strings.Contains(a.body, `{"A":`) {
			t.Errorf("%q: got %+v; want a clean 502", text, a)
		}
	}
}

// TestRepeat closes pooled connections under guard: what may be repeated is, once, and
// what may not ends as unknown.
func TestRepeat(t *testing.T) {
	node := newFake(t)
	var cuts atomic.Int64
	node.takes(func(c net.Conn, br *bufio.Reader) {
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if cuts.Add(-1) >= 0 {
				return
			}
			writeAnswer(c, 200, "{}")
		}
	})
	conf := faultConfig(node.url())
	reads, writes := startGuard(t, readPlan(nil, true), conf), startGuard(t, readPlan(nil, false), conf)
	f := func(g *guarded, n int64, status int) {
		t.Helper()
		cuts.Store(n)
		if a := g.send(request("POST", "/i", jsonLine, "{}")); a.status != status {
			t.Errorf("%d cuts: got %d; want %d", n, a.status, status)
		}
	}
	f(reads, 0, 200)
	f(reads, 1, 200)
	f(reads, 2, 502)
	f(writes, 0, 200)
	f(writes, 1, 502)

	// A connection that the node closed while it lay in the pool is noticed first.
	f(writes, 0, 200)
	node.closeConns()
	eventually(t, "the node has closed its connections", func() bool { return node.open() == 0 })
	f(writes, 0, 200)
}

// TestEarlyAnswer refuses a large upload before reading it.
func TestEarlyAnswer(t *testing.T) {
	for name, reads := range map[string]bool{"the node closes": false, "the node reads on": true} {
		t.Run(name, func(t *testing.T) {
			node := newFake(t)
			node.takes(func(c net.Conn, br *bufio.Reader) {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				writeAnswer(c, 413, `{"too":"large"}`)
				if reads {
					_, _ = io.Copy(io.Discard, r.Body)
				} else {
					_ = c.(*net.TCPConn).CloseWrite()
					time.Sleep(50 * time.Millisecond)
				}
			})
			conf := testConfig(node.url())
			conf.Timeouts.Read = 2 * time.Second
			g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
			c := g.dial()
			_, _ = io.WriteString(c, "POST /_bulk HTTP/1.1\r\nHost: a\r\n"+authLine+"Content-Length: 50000000\r\n\r\n")
			go func() { _, _ = c.Write(make([]byte, 8<<20)) }()
			a := readGot(t, c, bufio.NewReader(c), "POST")
			if a.status != 413 || a.body != `{"too":"large"}` {
				t.Errorf("got %+v; want the node's 413", a)
			}
		})
	}
}

// TestAfterEarlyAnswer: a connection on which an answer came before the request was out
// carries no further call, though all of the request was sent before the answer had ended: the
// node may have taken the rest for another request.
func TestAfterEarlyAnswer(t *testing.T) {
	node := newFake(t)
	half, rest := make(chan struct{}), make(chan struct{})
	node.takes(func(c net.Conn, br *bufio.Reader) {
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			if r.Method == "GET" {
				writeAnswer(c, 200, "{}")
				continue
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 50_000))
			close(half)
			_, _ = io.Copy(io.Discard, r.Body)
			<-rest
			_, _ = io.WriteString(c, strings.Repeat("x", 50_000))
		}
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	c := g.dial()
	body := strings.Repeat("b", 40_000)
	_, _ = io.WriteString(c, strings.TrimSuffix(request("POST", "/", "", body), body)+body[:20_000])
	<-half
	br := bufio.NewReader(c)
	if _, err := br.Peek(1); err != nil { // the head of the answer is on its way
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, body[20_000:])
	time.Sleep(50 * time.Millisecond) // the upload ends
	close(rest)
	if a := readGot(t, c, br, "POST"); a.status != 200 || len(a.body) != 100_000 {
		t.Fatalf("got %d, %d bytes, cut %v", a.status, len(a.body), a.cut)
	}
	if a := g.send(request("GET", "/", "", "")); a.status != 200 {
		t.Errorf("afterwards: %+v", a)
	}
	if n := node.accepted(); n != 2 {
		t.Errorf("%d connections to the node; want another one for the second request", n)
	}
}

// TestAfterEarlyAnswerToWhole: the same for a body that guard holds.
func TestAfterEarlyAnswerToWhole(t *testing.T) {
	node := newFake(t)
	node.takes(func(c net.Conn, br *bufio.Reader) {
		for used := false; ; used = true {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			if used {
				t.Error("the connection of an early answer carries a further call")
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
			time.Sleep(50 * time.Millisecond) // guard reads the head
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, strings.Repeat("x", 100))
		}
	})
	conf := testConfig(node.url())
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	for range 2 {
		sendWhole(t, tr, 64<<20) // more than sockets hold
	}
}

// sendWhole sends a body that guard holds, and reads the answer.
func sendWhole(t *testing.T, tr *Transport, size int) {
	t.Helper()
	a, err := tr.Do(t.Context(), &call{method: "POST", target: "/", fixed: make([]byte, size), hasBody: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.body.Close()
	if _, err := io.Copy(io.Discard, a.body); err != nil {
		t.Error(err)
	}
}

// TestAfterUnreadRequest: no connection is kept after an answer which says that the request was
// not read to its end; it is after others, however the body was written.
func TestAfterUnreadRequest(t *testing.T) {
	f := func(status, size, want int) {
		t.Helper()
		node := newFake(t)
		node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, status, "{}") })
		tr := newTestTransport(t, node.url())
		for range 3 {
			sendWhole(t, tr, size)
		}
		if n := node.accepted(); n != want {
			t.Errorf("status %d to %d bytes: %d connections to the node; want %d", status, size, n, want)
		}
	}
	for _, size := range []int{0, 20_000, 40_000, 8 << 20} {
		f(200, size, 1)
		f(400, size, 1)
		f(408, size, 3)
		f(413, size, 3)
	}
}

// TestClientLeaves closes the client's side while the node works: the node sees the
// end of its connection soon.
func TestClientLeaves(t *testing.T) {
	node := newFake(t)
	ended := make(chan time.Duration, 1)
	got := make(chan struct{}, 1)
	node.takes(func(c net.Conn, br *bufio.Reader) {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		got <- struct{}{}
		start := time.Now()
		_, _ = io.Copy(io.Discard, br)
		ended <- time.Since(start)
	})
	g := startGuard(t, readPlan(nil, true), testConfig(node.url()))
	for _, pipelined := range []string{"", request("GET", "/next", "", "")} {
		c := g.dial()
		_, _ = io.WriteString(c, request("GET", "/i/_search", "", "")+pipelined)
		<-got
		_ = c.Close()
		select {
		case d := <-ended:
			if d > time.Second {
				t.Errorf("the node heard of it after %v", d)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the node's connection stays open after the client left")
		}
	}
}

// TestLeftBehind holds that what a client sent behind a request that it did not wait for
// is not begun.
func TestLeftBehind(t *testing.T) {
	node := newFake(t)
	got := make(chan string, 3)
	node.takes(func(_ net.Conn, br *bufio.Reader) {
		if r, err := http.ReadRequest(br); err == nil {
			got <- r.Method
		}
		_, _ = io.Copy(io.Discard, br) // no answer until guard gives up
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	c := g.dial()
	_, _ = io.WriteString(c, request("GET", "/slow", "", "")+request("POST", "/a", "", "1")+request("POST", "/b", "", "2"))
	if first := <-got; first != "GET" {
		t.Fatalf("the node got %s first", first)
	}
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("the connection can't be closed by halves")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answers, _ := io.ReadAll(c) // ends when guard has closed the connection
	if n := strings.Count(string(answers), "HTTP/1.1 "); n > 1 || len(got) > 0 {
		t.Errorf("%d answers, and the node got %d requests more: %s", n, len(got), answers)
	}
}
