package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// paperNodes are nodes without sockets, by the names of their loads: what is chosen is
// told by name.
type paperNodes struct {
	*nodes
	by map[string]*host
}

func newPaperNodes(l nodeLimits, names ...string) *paperNodes {
	p := &paperNodes{newNodes(l), map[string]*host{}}
	p.rename(names...)
	return p
}

func (p *paperNodes) rename(names ...string) {
	var list []address
	for _, name := range names {
		list = append(list, address{name: name})
	}
	p.set(list, func(at address) *host {
		h := &host{address: at, nodes: p.nodes}
		p.by[at.name] = h
		return h
	})
}

// choices chooses so many times, with a call under way on each after it.
func (p *paperNodes) choices(n int, want pick) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var got []string
	for range n {
		h, left := p.choose(&want)
		switch {
		case h != nil:
			p.take(h, nil)
			got = append(got, h.name)
		case left:
			got = append(got, "wait")
		default:
			got = append(got, "none")
		}
	}
	return strings.Join(got, " ")
}

// TestChoice: the least loaded node with room, of equals the one that waited longest;
// one that is out only if no other is known.
func TestChoice(t *testing.T) {
	p := newPaperNodes(nodeLimits{maxConns: 3}, "a", "b", "c")
	a, b, c := p.by["a"], p.by["b"], p.by["c"]
	f := func(n int, want pick, names string) {
		t.Helper()
		if got := p.choices(n, want); got != names {
			t.Errorf("chose %q; want %q", got, names)
		}
	}
	loads := func(la, lb, lc int) { a.conns, b.conns, c.conns = la, lb, lc }
	f(4, pick{}, "a b c a")
	loads(2, 0, 1)
	f(4, pick{}, "b c b a") // b and c were level, and c the longer without a call; then a
	f(2, pick{}, "c b")
	f(1, pick{}, "wait")
	loads(0, 0, 0)
	f(1, pick{avoid: a, tried: []*host{b}}, "c")
	f(1, pick{tried: []*host{a, b, c}}, "none")
	loads(0, 3, 3)
	f(1, pick{avoid: a}, "a") // room where it failed before comes before waiting
	loads(0, 1, 2)
	a.health.out = true
	f(3, pick{}, "b c b")
	f(1, pick{}, "wait") // the node that is out has room, and is not tried as long as another is up
	loads(0, 0, 0)
	b.health.out, c.health.out = true, true
	f(3, pick{}, "a c b") // all are out: each is tried
	f(1, pick{tried: []*host{c}, avoid: a}, "b")
	p.rename("b")
	f(1, pick{}, "b")
	if !a.removed || b.removed || p.count(stateDraining) != 2 {
		t.Errorf("%d nodes drain", p.count(stateDraining))
	}
}

// TestSlowStart: a node that came back gets a part of what the others get, that grows
// with time, both of calls one by one and of calls at a time; alone it gets all.
func TestSlowStart(t *testing.T) {
	p := newPaperNodes(nodeLimits{maxConns: 1 << 20, slowStart: time.Hour}, "old", "new")
	fresh := p.by["new"]
	after := func(d time.Duration) { fresh.health.since = time.Now().Add(-d) }
	share := func(calls int, together bool) float64 {
		n := 0
		for range calls {
			if p.choices(1, pick{}) == "new" {
				n++
			}
			if !together {
				p.by["old"].conns, fresh.conns = 0, 0
			}
		}
		p.by["old"].conns, fresh.conns = 0, 0
		return float64(n) / float64(calls)
	}
	f := func(age time.Duration, low, high float64) {
		t.Helper()
		for _, together := range []bool{false, true} {
			after(age)
			if s := share(4000, together); s < low || s > high {
				t.Errorf("after %v, together %v: a share of %.3f; want %.3f to %.3f", age, together, s, low, high)
			}
		}
	}
	f(0, 0.01, 0.06)
	f(15*time.Minute, 0.08, 0.22)
	f(30*time.Minute, 0.18, 0.35)
	f(time.Hour, 0.48, 0.52)
	after(0)
	p.rename("new")
	if got := p.choices(3, pick{}); got != "new new new" {
		t.Errorf("a node that is alone got %q", got)
	}
	p.rename("new", "added", "other")
	if p.by["added"].health.since.IsZero() || p.by["old"].health.weight(time.Hour) != 1 {
		t.Error("a node that is added starts slowly; those of the start do not")
	}
}

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
		h.health.faults = 0
		c.method, c.target = "POST", "/"
		if a, err := tr.Do(ctx, &c); err == nil {
			_, _ = io.Copy(io.Discard, a.body)
			a.body.Close()
		}
		if h.health.faults != faults {
			t.Errorf("%d faults; want %d", h.health.faults, faults)
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

// TestQueue: who waits longest is served first, by whatever node; who leaves takes
// nothing along; beyond the bound nobody waits.
func TestQueue(t *testing.T) {
	one, two := newFake(t), newFake(t)
	conf := testConfig(one.url(), two.url())
	conf.Upstream.MaxConns, conf.Upstream.MaxQueue = 1, 3
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	n := tr.nodes
	get := func(ctx context.Context) (*wire, error) { return n.acquire(ctx, pick{}) }
	must := func() *wire {
		t.Helper()
		w, err := get(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	waiting := func(want int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d wait", want), func() bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.waiting.len() == want
		})
	}
	first, second := must(), must()
	order := make(chan string, 3)
	wires := make(chan *wire, 3)
	ctx, cancel := context.WithCancel(context.Background())
	for i, name := range []string{"a", "gone", "b"} {
		go func() {
			ctx := ctx
			if name != "gone" {
				ctx = context.Background()
			}
			w, err := get(ctx)
			if err != nil {
				order <- err.Error()
				return
			}
			order <- name
			wires <- w
		}()
		waiting(i + 1)
	}
	var wire *wireError
	if _, err := get(context.Background()); !errors.As(err, &wire) || wire.kind != faultFull {
		t.Errorf("the fourth that waits: %v", err)
	}
	cancel()
	if got := <-order; !strings.Contains(got, "(gone)") {
		t.Errorf("got %q", got)
	}
	waiting(2)
	second.host.put(second)
	if got := <-order; got != "a" {
		t.Errorf("first came %q", got)
	}
	first.kill() // its room is as good as a connection
	if got := <-order; got != "b" {
		t.Errorf("then came %q", got)
	}
	for range 2 {
		w := <-wires
		w.host.put(w)
	}
	if tr.Open() != 2 || len(n.list[0].idle) != 1 || len(n.list[1].idle) != 1 {
		t.Errorf("%d connections are open", tr.Open())
	}
	n.limits.queueTime = 20 * time.Millisecond
	first, second = must(), must()
	if _, err := get(context.Background()); !errors.As(err, &wire) || wire.kind != faultBusy {
		t.Errorf("one whose time is over: %v", err)
	}
	n.limits.queueTime = time.Minute
	go func() {
		_, err := get(context.Background())
		order <- err.Error()
	}()
	waiting(1)
	tr.Close()
	if got := <-order; !strings.Contains(got, "is closed") {
		t.Errorf("who waits for a transport that is closed got %q", got)
	}
	first.host.put(first)
	second.host.put(second)
	if tr.Open() != 0 {
		t.Errorf("%d connections are open", tr.Open())
	}
}

// TestLastMoment gives a slot to one who has just left: it is not lost.
func TestLastMoment(t *testing.T) {
	p := newPaperNodes(nodeLimits{maxConns: 1, maxQueue: 9, queueTime: time.Minute}, "a")
	p.choices(1, pick{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 200 { // select takes either
		p.mu.Lock()
		w, err := p.enqueue(nil)
		p.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		p.by["a"].drop()
		if s, err := p.await(ctx, w); err == nil {
			s.giveBack()
		}
		if p.open() != 0 {
			t.Fatalf("%d slots are lost", p.open())
		}
		p.choices(1, pick{})
	}
}

// TestNodesAllocate: a call takes and gives back a connection without garbage.
func TestNodesAllocate(t *testing.T) {
	one, two := newFake(t), newFake(t)
	tr := newTestTransport(t, one.url(), two.url())
	if n := testing.AllocsPerRun(200, func() {
		w, err := tr.nodes.acquire(context.Background(), pick{})
		if err != nil {
			t.Fatal(err)
		}
		w.host.answered()
		w.host.put(w)
	}); n != 0 {
		t.Errorf("%v allocations; want 0", n)
	}
}

// TestIdleEnds: connections end by themselves when nobody calls.
func TestIdleEnds(t *testing.T) {
	node := newFake(t)
	tr := newTestTransport(t, node.url())
	tr.nodes.limits.idleTime = 30 * time.Millisecond
	for range 3 {
		if _, _, err := tr.Fetch(context.Background(), "GET", "/"); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the idle connections are closed", func() bool { return tr.Open() == 0 && node.open() == 0 })
}

// TestManyNodes: more nodes than bits in a word.
func TestManyNodes(t *testing.T) {
	node := newFake(t)
	var urls []string
	for i := range 150 {
		urls = append(urls, fmt.Sprintf("http://127.0.0.1:%d", i+1)) // nobody listens there
	}
	tr := newTestTransport(t, append(urls, node.url())...)
	for range 5 {
		if status, _, err := tr.Fetch(context.Background(), "GET", "/"); err != nil || status != 200 {
			t.Fatalf("got %d, %v", status, err)
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
	if err := tr.SetNodes([]string{stays.url(), stays.url()}); err != nil {
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
	if err := tr.SetNodes([]string{leaves.url()}); err != nil {
		t.Fatal(err)
	}
	if a := g.send(request("GET", "/", "", "")); a.status != 200 || len(leaves.requests()) != 3 {
		t.Errorf("the node is back in the list: %+v", a)
	}
	for _, bad := range [][]string{nil, {"http://a/path"}, {"ftp://a"}} {
		if err := tr.SetNodes(bad); err == nil || len(tr.nodes.list) != 1 {
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
			if err := tr.SetNodes(urls[rnd.IntN(2):]); err != nil {
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
		w.host.blame(&wireError{faultConnect, io.EOF})
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

// TestOwnQuestionsAreNoLoad holds that the question on which guard waits for the cluster to
// change does not keep requests from a node that has nothing else to do.
func TestOwnQuestionsAreNoLoad(t *testing.T) {
	waits, other := newFake(t), newFake(t)
	hold := make(chan struct{})
	defer close(hold)
	for _, node := range []*esfake{waits, other} {
		node.answers(func(c net.Conn, r *http.Request, _ []byte) {
			if r.URL.Path == "/wait" {
				<-hold
			}
			writeAnswer(c, 200, "{}")
		})
	}
	c := testConfig(waits.url(), other.url())
	tr, err := NewTransport(c.Upstream, c.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _, _, _ = tr.Fetch(ctx, "GET", "/wait") }() // it ends with the test
	eventually(t, "the question waits", func() bool { return len(waits.requests())+len(other.requests()) == 1 })
	for range 10 {
		if _, _, err := tr.Fetch(ctx, "GET", "/"); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := len(waits.requests()), len(other.requests()); a < 4 || b < 4 {
		t.Errorf("the nodes got %d and %d requests; want them spread", a, b)
	}
}

// TestRoomForOwnQuestions holds that clients who take all connections do not keep guard
// from asking the cluster, and that they take none of what is kept for that.
func TestRoomForOwnQuestions(t *testing.T) {
	node := newFake(t)
	hold := make(chan struct{})
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if r.URL.Path == "/hold" {
			<-hold
		}
		writeAnswer(c, 200, "{}")
	})
	conf := testConfig(node.url())
	conf.Upstream.MaxConns, conf.Upstream.QueueTimeout = 1, time.Minute
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			if a, err := tr.Do(context.Background(), &call{method: "GET", target: "/hold", repeatable: true}); err != nil {
				t.Error(err)
			} else {
				_, _ = io.Copy(io.Discard, a.body) // it has two bytes
				a.body.Close()
			}
		})
	}
	eventually(t, "one holds the connection and two wait", func() bool {
		tr.nodes.mu.Lock()
		defer tr.nodes.mu.Unlock()
		return tr.nodes.waiting.len() == 2
	})
	for range 5 {
		if _, _, err := tr.Fetch(context.Background(), "GET", "/"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(node.requests()); n != 6 {
		t.Errorf("the node got %d requests; want that of one client and guard's own five", n)
	}
	close(hold)
	clients.Wait()
}
