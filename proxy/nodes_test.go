package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// TestOtherNode repeats a read that was cut on another node, also when its answer had
// begun and nothing of it was passed on. A write is not repeated.
func TestOtherNode(t *testing.T) {
	good, bad := newFake(t), newFake(t)
	var raw atomic.Value
	bad.takes(func(c net.Conn, br *bufio.Reader) {
		if _, err := http.ReadRequest(br); err == nil {
			_, _ = io.WriteString(c, raw.Load().(string))
		}
	})
	conf := faultConfig(good.url(), bad.url())
	f := func(g *guarded, answer string, want string) {
		t.Helper()
		raw.Store(answer)
		got := map[string]bool{}
		for range 2 { // one for each node
			got[itoa(g.send(request("GET", "/i/_search", "", "")).status)] = true
		}
		for status := range got {
			if !strings.Contains(want, status) {
				t.Errorf("%q: got %s; want %s", answer, status, want)
			}
		}
		if len(got) != len(strings.Fields(want)) {
			t.Errorf("%q: got %v; want %s", answer, got, want)
		}
	}
	for _, answer := range []string{"", "HTTP/1.1 200 OK\r\nConte", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"} {
		f(startGuard(t, readPlan(upper{}, true), conf), answer, "200")
		f(startGuard(t, readPlan(upper{}, false), conf), answer, "200 502")
	}
	f(startGuard(t, readPlan(nil, true), conf), "HTTP/1.1 200 OK\r\nConte", "200")
	fetch := newTestTransport(t, good.url(), bad.url())
	for range 2 {
		if status, _, err := fetch.Fetch(context.Background(), "GET", "/"); err != nil || status != 200 {
			t.Errorf("a look at the state: %d, %v", status, err)
		}
	}
}

// TestNodeDies ends a node under load, and lets it come back. No acknowledged write is
// lost and none is sent twice, no read fails, and the node gets calls again.
func TestNodeDies(t *testing.T) {
	var mu sync.Mutex
	executed := map[string]int{} // writes by id
	execute := func(c net.Conn, r *http.Request, _ []byte) {
		if id := r.URL.Query().Get("id"); r.Method == "POST" {
			mu.Lock()
			executed[id]++
			mu.Unlock()
		}
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		writeAnswer(c, 200, `{"took":1}`)
	}
	one, two, dying := newFake(t), newFake(t), newFake(t)
	for _, node := range []*esfake{one, two, dying} {
		node.answers(execute)
	}
	conf := testConfig(one.url(), dying.url(), two.url())
	conf.Upstream.SlowStart = 100 * time.Millisecond
	g := startGuard(t, &fakeGate{restricted: true, intake: gate.IntakeWhole, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		c := gate.Call{Method: r.Method, Target: r.RawTarget, Repeatable: r.Method == "GET"}
		return gate.Outcome{Kind: gate.Forward, Route: "any", Forward: gate.Forwarding{Call: c}}
	}}, conf)

	stop := make(chan struct{})
	var clients sync.WaitGroup
	var done atomic.Int64
	for i := range 8 {
		clients.Go(func() {
			loadClient(t, g, i, stop, &done, func(id string) int { mu.Lock(); defer mu.Unlock(); return executed[id] })
		})
	}
	enough := func(n int64) {
		t.Helper()
		goal := done.Load() + n
		eventually(t, "requests are served", func() bool { return done.Load() >= goal })
	}
	enough(200)
	addr := dying.ln.Addr().String()
	_ = dying.ln.Close()
	dying.closeConns()
	enough(200)
	if got := nodesIn(t, g, stateOut); got != 1 {
		t.Errorf("%v nodes are out; want 1", got)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	back := newFakeOn(t, ln)
	back.answers(execute)
	eventually(t, "the node gets calls again", func() bool { return len(back.requests()) > 20 })
	close(stop)
	clients.Wait()
	for _, message := range []string{"node is out", "node is back"} {
		if logs := g.logs.FilterMessage(message).All(); len(logs) != 1 || logs[0].ContextMap()["node"] != addr {
			t.Errorf("%q is logged %d times", message, len(logs))
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for id, n := range executed {
		if n > 1 {
			t.Errorf("write %s came %d times", id, n)
		}
	}
}

// loadClient sends reads and writes until it is told to stop.
func loadClient(t *testing.T, g *guarded, i int, stop chan struct{}, done *atomic.Int64, executed func(id string) int) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		id := fmt.Sprintf("%d-%d", i, n)
		if a := g.send(request("GET", "/?id="+id, "", "")); a.status != 200 || a.cut {
			t.Errorf("read %s: %+v", id, a)
		}
		switch a := g.send(request("POST", "/?id="+id, "", "")); {
		case a.status == 200 && executed(id) != 1:
			t.Errorf("write %s is acknowledged, and was executed %d times", id, executed(id))
		case a.status != 200 && (a.status != 502 || !strings.Contains(a.body, "unknown")):
			t.Errorf("write %s: %+v", id, a)
		}
		done.Add(1)
	}
}

// TestRemovedNode: a node that is taken out of the list ends its calls and gets no other;
// nothing of it stays. One that comes back is as good as new.
func TestRemovedNode(t *testing.T) {
	stays, leaves := newFake(t), newFake(t)
	hold := make(chan struct{})
	leaves.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if r.RequestURI == "/hold" {
			<-hold
		}
		writeAnswer(c, 200, "{}")
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(leaves.url()))
	tr := g.srv.cluster.(*Transport)
	g.send(request("GET", "/", "", ""))
	held := make(chan got, 1)
	go func() { held <- g.send(request("GET", "/hold", "", "")) }()
	eventually(t, "the call is under way", func() bool { return len(leaves.requests()) == 2 })
	if err := setURLs(tr, []string{stays.url(), stays.url()}); err != nil {
		t.Fatal(err)
	}
	if n := nodesIn(t, g, stateDraining); n != 1 || len(tr.nodes.list) != 1 {
		t.Errorf("%v nodes drain, %d are in use; want 1 and 1", n, len(tr.nodes.list))
	}
	eventually(t, "its idle connections are closed", func() bool { return leaves.open() == 1 })
	for range 5 {
		g.send(request("GET", "/", "", ""))
	}
	if n, m := len(leaves.requests()), len(stays.requests()); n != 2 || m != 5 {
		t.Errorf("%d requests on the node that leaves, %d on the other", n, m)
	}
	close(hold)
	if a := <-held; a.status != 200 {
		t.Errorf("the call under way: %+v", a)
	}
	eventually(t, "the node is forgotten", func() bool {
		return nodesIn(t, g, stateDraining) == 0 && leaves.open() == 0
	})
	if err := setURLs(tr, []string{leaves.url()}); err != nil {
		t.Fatal(err)
	}
	if a := g.send(request("GET", "/", "", "")); a.status != 200 || len(leaves.requests()) != 3 {
		t.Errorf("the node is back in the list: %+v", a)
	}
	for _, bad := range [][]string{nil, {"http://a/path"}, {"ftp://a"}} {
		if err := setURLs(tr, bad); err == nil || len(tr.nodes.list) != 1 {
			t.Errorf("%q: error %v; want one, and no change", bad, err)
		}
	}
}

// TestNodesChurn changes nodes, kills and cancels at random: at the end no slot is
// lost, nobody waits, and no bound was broken.
func TestNodesChurn(t *testing.T) {
	var fakes []*esfake
	for range 4 {
		fakes = append(fakes, newFake(t))
	}
	conf := testConfig(fakes[0].url(), fakes[1].url(), "http://127.0.0.1:1")
	conf.Upstream.MaxConns, conf.Upstream.SlowStart = 2, 10*time.Millisecond
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	var workers sync.WaitGroup
	end := time.Now().Add(time.Second)
	for i := range 16 {
		workers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 3))
			for time.Now().Before(end) {
				churn(t, tr, rnd, conf.Upstream)
			}
		})
	}
	workers.Go(func() {
		rnd := rand.New(rand.NewPCG(99, 3))
		for time.Now().Before(end) {
			urls := []string{fakes[rnd.IntN(4)].url(), fakes[rnd.IntN(4)].url(), "http://127.0.0.1:1"}
			if err := setURLs(tr, urls[rnd.IntN(2):]); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	})
	workers.Wait()
	n := tr.nodes
	n.mu.Lock()
	waiting, draining := n.waiting.len(), len(n.leaving)
	for _, h := range n.list {
		if h.load() != 0 {
			t.Errorf("node %s: %d slots are lost", h.name, h.load())
		}
	}
	n.mu.Unlock()
	if waiting != 0 || draining != 0 {
		t.Errorf("%d wait, %d nodes drain", waiting, draining)
	}
}

// churn takes one connection and gives it back, or not.
func churn(t *testing.T, tr *Transport, rnd *rand.Rand, conf config.Upstream) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(20))*time.Millisecond)
	defer cancel()
	w, err := tr.nodes.acquire(ctx, pick{})
	if err != nil {
		return
	}
	tr.nodes.mu.Lock()
	if n := w.host.conns; n > conf.MaxConns {
		t.Errorf("%d connections to one node", n)
	}
	tr.nodes.mu.Unlock()
	time.Sleep(time.Duration(rnd.IntN(2000)) * time.Microsecond)
	switch rnd.IntN(10) {
	case 0:
		w.kill()
	case 1:
		w.host.unreached(io.EOF)
		w.kill()
	default:
		w.host.put(w)
	}
}

// nodesIn reads the metric of nodes in a state.
func nodesIn(t *testing.T, g *guarded, state nodeState) float64 {
	t.Helper()
	families, err := g.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "guard_upstream_nodes" && m.GetLabel()[0].GetValue() == string(state) {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric of nodes that are %s", state)
	return 0
}

// setURLs is setNodes for URLs.
func setURLs(t *Transport, urls []string) error {
	list := make([]address, 0, len(urls))
	for _, raw := range urls {
		at, err := parseAddress(raw)
		if err != nil {
			return err
		}
		list = append(list, at)
	}
	return t.setNodes(list)
}
