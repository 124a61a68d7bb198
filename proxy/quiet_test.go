package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"guard/gate"
)

// surplus is a node that answers the request for /first with more than was asked for.
type surplus struct {
	first  string // the answer
	behind string // what comes a while later; if empty, an answer comes at once
	closes bool
}

const lateAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n\"wrong\""

// playOn has a node do so; written tells when it has.
func (s surplus) playOn(node *esfake) (written chan struct{}) {
	written = make(chan struct{}, 1)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if r.RequestURI != "/first" {
			writeAnswer(c, 200, `"`+r.RequestURI+`"`)
			return
		}
		_, _ = io.WriteString(c, s.first)
		if s.behind == "" { // by TLS it is another record
			_, _ = io.WriteString(c, lateAnswer)
		}
		time.Sleep(20 * time.Millisecond) // the connection lies in the pool
		_, _ = io.WriteString(c, s.behind)
		if s.closes {
			_ = c.Close()
		}
		written <- struct{}{}
	})
	return written
}

// TestSurplus: an answer that no call has asked for reaches nobody. Each client gets the
// answer to its own request, on another connection if need be, and hears of no fault.
func TestSurplus(t *testing.T) {
	a := newAuthority(t)
	f := func(name string, secure bool, method string, s surplus) {
		t.Helper()
		node := newFake(t)
		conf := testConfig(node.url())
		if secure {
			node = tlsNode(t, a, "127.0.0.1")
			conf = testConfig("https://" + node.ln.Addr().String())
			conf.Upstream.CAFile = a.file
			conf.Upstream.ClientCert, conf.Upstream.ClientKey = a.issue("guard", nil)
		}
		written := s.playOn(node)
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
		c := g.dial()
		br := bufio.NewReader(c)
		_, _ = io.WriteString(c, request(method, "/first", "", ""))
		readGot(t, c, br, method)
		<-written
		for _, target := range []string{"/second", "/third"} {
			_, _ = io.WriteString(c, request("GET", target, "", ""))
			if got := readGot(t, c, br, "GET"); got.status != 200 || got.body != `"`+target+`"` {
				t.Errorf("%s, TLS %v: GET %s got %+v", name, secure, target, got)
			}
		}
		if n := node.accepted(); n != 2 {
			t.Errorf("%s, TLS %v: %d connections to the node; want another one, once", name, secure, n)
		}
		if n := g.metric("guard_upstream_surplus_total", ""); n != 1 && !secure {
			t.Errorf("%s: %v connections with a surplus are counted; want 1", name, n)
		}
		if len(g.logs.FilterMessage("node is out").All()) > 0 {
			t.Errorf("%s: the node is out", name)
		}
	}
	const good = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n\"a\""
	const bye = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	for _, secure := range []bool{false, true} {
		f("an answer too many", secure, "GET", surplus{first: good, behind: lateAnswer})
		f("an answer too many at once", secure, "GET", surplus{first: good})
		f("a last word", secure, "GET", surplus{first: good, behind: bye, closes: true})
		f("the body of a HEAD", secure, "HEAD", surplus{first: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", behind: "12345"})
	}
}

// TestSurplusRetires: once more came on one connection of a node than was asked for, no
// other one that was open then carries a further call, idle or at work.
func TestSurplusRetires(t *testing.T) {
	node := newFake(t)
	hold := make(chan struct{})
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		switch r.RequestURI {
		case "/hold":
			<-hold
		case "/late":
			defer func() { _, _ = io.WriteString(c, lateAnswer) }()
		}
		writeAnswer(c, 200, `"`+r.RequestURI+`"`)
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	tr := g.srv.cluster.(*Transport)
	results := make(chan got, 3)
	for range 3 {
		go func() { results <- g.send(request("GET", "/hold", "", "")) }()
	}
	eventually(t, "three are under way", func() bool { return len(node.requests()) == 3 })
	hold <- struct{}{} // one lies idle then
	<-results
	eventually(t, "one is idle", func() bool {
		tr.nodes.mu.Lock()
		defer tr.nodes.mu.Unlock()
		return len(tr.nodes.list[0].idle) == 1
	})
	g.send(request("GET", "/late", "", "")) // over the idle one
	eventually(t, "the surplus is noticed", func() bool {
		g.send(request("GET", "/any", "", ""))
		return tr.nodes.surplus.Load() == 1
	})
	old := 3
	close(hold)
	<-results
	<-results
	eventually(t, "those of before are closed", func() bool {
		tr.nodes.mu.Lock()
		defer tr.nodes.mu.Unlock()
		h := tr.nodes.list[0]
		return h.load() == 0 && h.conns <= node.accepted()-old
	})
	for _, w := range tr.nodes.list[0].idle {
		if !w.current() {
			t.Error("a connection of before the surplus is kept")
		}
	}
}
