package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"guard/gate"
)

// end is how a request ended, as its client sees it (law 13).
type end string

const (
	whole     end = "whole"     // the node's answer, all of it
	refused   end = "refused"   // a 503 that says that nothing was sent
	unclear   end = "unclear"   // a 5xx that says that nobody knows
	cut       end = "cut"       // the beginning of an answer, and no proper end
	withheld  end = "withheld"  // a 502: the answer is too large to filter
	malformed end = "malformed" // none of these: a fault of guard
)

func endOf(a got) end {
	switch {
	case a.status == 0 || a.cut:
		return cut
	case a.status == 503 && strings.Contains(a.body, "nothing was sent"):
		return refused
	case a.status >= 500 && strings.Contains(a.body, "is unknown"):
		return unclear
	case a.status == 502 && strings.Contains(a.body, "too large to filter"):
		return withheld
	case strings.HasPrefix(a.body, `{"node":`):
		return whole
	}
	return malformed
}

// witness is a node that behaves as a test says, and counts the requests that it got
// whole: those that a real one would have executed.
type witness struct {
	*esfake
	executed atomic.Int64
}

// behaviour answers one request on a connection; false ends the connection.
type behaviour func(w *witness, c net.Conn, r *http.Request) bool

func newWitness(t *testing.T, b behaviour) *witness {
	w := &witness{esfake: newFake(t)}
	w.takes(func(c net.Conn, br *bufio.Reader) {
		for {
			r, err := http.ReadRequest(br)
			if err != nil || !b(w, c, r) {
				return
			}
		}
	})
	return w
}

// take reads the rest of a request. A look of guard's own is none that it executes.
func (w *witness) take(r *http.Request) bool {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return false
	}
	if r.RequestURI != lookTarget {
		w.executed.Add(1)
	}
	return true
}

const nodeAnswer = `{"node":"ok, and some more text to cut in two"}`

// says takes a request, writes text and goes on or ends the connection.
func says(text string, goOn bool) behaviour {
	return func(w *witness, c net.Conn, r *http.Request) bool {
		if !w.take(r) {
			return false
		}
		_, _ = io.WriteString(c, text) // guard may have left
		return goOn
	}
}

func plain(status, body string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

// stalls holds the connection until guard ends it.
func stalls(c net.Conn) bool {
	_, _ = io.Copy(io.Discard, c)
	return false
}

// endKind is a kind of request: reads may be repeated; a treated answer is whole in memory
// before its client gets a byte.
type endKind struct {
	name  string
	gate  func() *fakeGate
	raw   string
	read  bool // it may be repeated once
	whole bool // the answer is treated
}

var endKinds = []endKind{
	{"read", func() *fakeGate { return readPlan(nil, true) }, request("GET", "/i", "", ""), true, false},
	{"treated", func() *fakeGate { return readPlan(asIs{}, true) }, request("POST", "/i/_search", jsonLine, "{}"), true, true},
	{"write", func() *fakeGate { return readPlan(nil, false) }, request("POST", "/i/_doc", jsonLine, "{}"), false, false},
	{"bulk", func() *fakeGate { return bulkGate(func() *fakeLines { return &fakeLines{} }, asIs{}) },
		request("POST", "/_bulk", ndjsonLine, strings.Repeat("{\"index\":{}}\n{\"a\":1}\n", 20_000)), false, true},
	{"upload", func() *fakeGate { return &fakeGate{intake: gate.IntakeStream} }, request("POST", "/_bulk", ndjsonLine, strings.Repeat("{\"index\":{}}\n{\"a\":1}\n", 20_000)), false, false},
}

// nodeFault is what a node does, and how requests end for it.
type nodeFault struct {
	name string
	node behaviour
	// streamed and treated are the ends by how the answer goes. A small one of known length
	// is whole before its client gets a byte, either way.
	streamed, treated end
}

var nodeFaults = []nodeFault{
	{"closes before it reads", func(_ *witness, _ net.Conn, _ *http.Request) bool { return false }, unclear, unclear},
	{"resets before it reads", func(_ *witness, c net.Conn, _ *http.Request) bool {
		_ = c.(*net.TCPConn).SetLinger(0)
		return false
	}, unclear, unclear},
	{"closes after it read", says("", false), unclear, unclear},
	{"closes in the status line", says("HTTP/1.1 20", false), unclear, unclear},
	{"closes in the head", says("HTTP/1.1 200 OK\r\nContent-Le", false), unclear, unclear},
	{"closes behind the head", says(strings.TrimSuffix(plain("200 OK", nodeAnswer), nodeAnswer), false), unclear, unclear},
	{"closes in the body", says(plain("200 OK", nodeAnswer)[:100], false), unclear, unclear},
	{"closes in a long body", says(strings.Replace(plain("200 OK", nodeAnswer), "Length: ", "Length: 1000", 1), false), cut, unclear},
	{"closes in a chunk", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"node\":", false), cut, unclear},
	{"closes before the last chunk", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"node\":\r\n", false), cut, unclear},
	{"stalls before it reads", func(_ *witness, c net.Conn, _ *http.Request) bool {
		time.Sleep(600 * time.Millisecond)
		return false
	}, unclear, unclear},
	{"stalls before the answer", func(w *witness, c net.Conn, r *http.Request) bool { return w.take(r) && stalls(c) }, unclear, unclear},
	{"stalls in the head", func(w *witness, c net.Conn, r *http.Request) bool {
		return says("HTTP/1.1 200 OK\r\n", true)(w, c, r) && stalls(c)
	}, unclear, unclear},
	{"stalls in the body", func(w *witness, c net.Conn, r *http.Request) bool {
		return says(plain("200 OK", nodeAnswer)[:100], true)(w, c, r) && stalls(c)
	}, unclear, unclear},
	{"garbage", says("\x16\x03\x01\x00\x00", false), unclear, unclear},
	{"a hundred headers", says("HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Some: thing\r\n", 100)+"Content-Length: "+itoa(len(nodeAnswer))+"\r\n\r\n"+nodeAnswer, true), whole, whole},
	{"a length too short", says(plain("200 OK", nodeAnswer)+"rest of it", true), whole, whole},
	{"a length too long, then the end", says(strings.Replace(plain("200 OK", nodeAnswer), "Length: ", "Length: 1", 1), false), unclear, unclear},
	{"interim answers first", says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"+plain("200 OK", nodeAnswer), true), whole, whole},
	{"slow", func(w *witness, c net.Conn, r *http.Request) bool {
		if !w.take(r) {
			return false
		}
		for _, b := range []byte(plain("200 OK", nodeAnswer)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return false
			}
			time.Sleep(time.Millisecond)
		}
		return true
	}, whole, whole},
	{"an early answer, then it reads on", func(w *witness, c net.Conn, r *http.Request) bool {
		_, _ = io.WriteString(c, plain("429 Too Many Requests", nodeAnswer))
		return w.take(r)
	}, whole, whole},
	{"an early answer, then it closes", func(w *witness, c net.Conn, r *http.Request) bool {
		_, _ = io.WriteString(c, plain("413 Content Too Large", nodeAnswer))
		_ = c.(*net.TCPConn).CloseWrite()
		time.Sleep(50 * time.Millisecond)
		return false
	}, whole, whole},
}

// TestEndOfRequests plays all that nodes do. In every cell: an answer that is whole was
// executed once, a refusal never, and nothing that may not be repeated was executed twice.
func TestEndOfRequests(t *testing.T) {
	before := settledNow()
	for _, row := range nodeFaults {
		for _, k := range endKinds {
			t.Run(row.name+"/"+k.name, func(t *testing.T) { checkEnd(t, row, k) })
		}
	}
	eventually(t, "nothing is held any more", func() bool { return !settledNow().above(before) })
}

func checkEnd(t *testing.T, row nodeFault, k endKind) {
	t.Helper()
	node := newWitness(t, row.node)
	conf := faultConfig(node.url())
	if row.name == "slow" {
		conf.Timeouts.Upstream = 5 * time.Second
	}
	g := startGuard(t, k.gate(), conf)
	want := row.streamed
	if k.whole {
		want = row.treated
	}
	a := g.send(k.raw)
	if e := endOf(a); e != want {
		t.Errorf("it ended %s; want %s: %+v", e, want, a)
	}
	if a.status == 200 && !a.cut && node.executed.Load() == 0 {
		t.Error("a whole answer, and the node executed nothing")
	}
	most := int64(1)
	if k.read {
		most = 2
	}
	if n := node.executed.Load(); n > most {
		t.Errorf("the node executed it %d times; at most %d are right", n, most)
	}
}

// TestEndWithoutNode has no node, and then one.
func TestEndWithoutNode(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	for _, k := range endKinds {
		t.Run(k.name, func(t *testing.T) {
			g := startGuard(t, k.gate(), faultConfig("http://"+addr))
			if e := endOf(g.send(k.raw)); e != refused {
				t.Errorf("without a node it ended %s; want %s", e, refused)
			}
			ln, err := net.Listen("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			node := newFakeOn(t, ln)
			node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, nodeAnswer) })
			eventually(t, "the node is used again", func() bool { return endOf(g.send(k.raw)) == whole })
		})
	}
}

// TestEndlessAnswers has a node that never stops. A treated answer is withheld at its
// limit; a streamed one goes on until the client leaves or stops reading, and the node
// hears of that.
func TestEndlessAnswers(t *testing.T) {
	ended := make(chan struct{}, 8)
	node := newWitness(t, func(w *witness, c net.Conn, r *http.Request) bool {
		defer func() { ended <- struct{}{} }()
		_ = w.take(r)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<15, strings.Repeat("x", 1<<15)); ; {
			if _, err := io.WriteString(c, chunk); err != nil {
				return false
			}
		}
	})
	conf := faultConfig(node.url())
	conf.Limits.MaxFilteredAnswer = 1 << 20
	treated, streamed := startGuard(t, readPlan(asIs{}, true), conf), startGuard(t, readPlan(nil, true), conf)
	if e := endOf(treated.send(request("POST", "/i/_search", jsonLine, "{}"))); e != withheld {
		t.Errorf("treated: it ended %s; want %s", e, withheld)
	}
	<-ended
	for name, leave := range map[string]func(net.Conn){
		"leaves":        func(c net.Conn) { _ = c.Close() },
		"stops reading": func(net.Conn) {},
	} {
		c := streamed.dial()
		_, _ = io.WriteString(c, request("GET", "/i", "", ""))
		if _, err := io.CopyN(io.Discard, c, 1<<20); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		leave(c)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("a client that %s: the node goes on", name)
		}
	}
}

// TestGivenUpIsReset: the connection of a call that is given up is reset, so that its port
// is free at once: whoever leaves often must not use up guard's ports to a node.
func TestGivenUpIsReset(t *testing.T) {
	reached, ended := make(chan struct{}), make(chan error, 1)
	node := newWitness(t, func(_ *witness, c net.Conn, _ *http.Request) bool {
		close(reached)
		_, err := io.Copy(io.Discard, c)
		ended <- err
		return false
	})
	g := startGuard(t, readPlan(nil, true), faultConfig(node.url()))
	c := g.dial()
	_, _ = io.WriteString(c, request("GET", "/i", "", ""))
	<-reached
	_ = c.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the node's connection ended with %v; want it reset", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the node's connection did not end")
	}
}

// TestEndOfClients is the table of what clients do in the middle of a request. The node
// executes nothing of a request that did not come whole.
func TestEndOfClients(t *testing.T) {
	before := settledNow()
	for _, k := range endKinds {
		for _, row := range []struct {
			name string
			do   func(t *testing.T, c net.Conn)
			most int64 // requests that the node may have executed
		}{
			{"leaves in the head", func(_ *testing.T, c net.Conn) { _, _ = io.WriteString(c, k.raw[:20]); _ = c.Close() }, 0},
			{"resets in the head", func(_ *testing.T, c net.Conn) {
				_, _ = io.WriteString(c, k.raw[:20])
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			}, 0},
			{"leaves in the body", func(_ *testing.T, c net.Conn) { _, _ = io.WriteString(c, k.raw[:len(k.raw)-1]); _ = c.Close() }, 0},
			{"resets in the body", func(_ *testing.T, c net.Conn) {
				_, _ = io.WriteString(c, k.raw[:len(k.raw)-1])
				_ = c.(*net.TCPConn).SetLinger(0)
				_ = c.Close()
			}, 0},
			{"leaves before the answer", func(_ *testing.T, c net.Conn) { _, _ = io.WriteString(c, k.raw); _ = c.Close() }, 1},
			{"stalls in the body", func(t *testing.T, c net.Conn) {
				_, _ = io.WriteString(c, k.raw[:len(k.raw)-1])
				if a := readGot(t, c, bufio.NewReader(c), "POST"); a.status == 200 {
					t.Errorf("got %+v for a part of a request", a)
				}
			}, 0},
			{"drips", func(t *testing.T, c net.Conn) {
				half := min(200, len(k.raw)/2)
				for i := range half {
					_, _ = io.WriteString(c, k.raw[i:i+1])
					time.Sleep(100 * time.Microsecond)
				}
				_, _ = io.WriteString(c, k.raw[half:])
				if a := readGot(t, c, bufio.NewReader(c), "POST"); endOf(a) != whole {
					t.Errorf("got %+v", a)
				}
			}, 1},
		} {
			t.Run(k.name+"/"+row.name, func(t *testing.T) {
				node := newWitness(t, says(plain("200 OK", nodeAnswer), true))
				conf := faultConfig(node.url())
				conf.Timeouts.Read = 2 * time.Second // a whole body comes in that, on any machine
				g := startGuard(t, k.gate(), conf)
				row.do(t, g.dial())
				eventually(t, "the request has ended", func() bool {
					return inFlight(t, g) == 0 && g.srv.budget.left.Load() == conf.Limits.MaxInFlight
				})
				if n := node.executed.Load(); n > row.most {
					t.Errorf("the node executed %d requests; want at most %d", n, row.most)
				}
				// The next client finds guard as it was.
				if a := g.send(k.raw); endOf(a) != whole {
					t.Errorf("afterwards a client got %+v", a)
				}
			})
		}
	}
	eventually(t, "nothing is held any more", func() bool { return !settledNow().above(before) })
}

// held is what this process holds.
type held struct{ goroutines, descriptors int }

func settledNow() held {
	files, _ := os.ReadDir("/proc/self/fd") // elsewhere there is none, and none is counted
	return held{runtime.NumGoroutine(), len(files)}
}

// above allows for workers that the library keeps for a while.
func (h held) above(before held) bool {
	return h.goroutines > before.goroutines+60 || h.descriptors > before.descriptors+5
}
