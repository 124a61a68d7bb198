package proxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
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
			p.take(h, &pick{})
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
