package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// queueBed is two nodes that take one call each, both under way.
type queueBed struct {
	*testing.T
	tr    *Transport
	held  []*wire
	calls chan queued
}

// queued is what became of a call that had to wait.
type queued struct {
	name string
	wire *wire
	err  error
}

func newQueueBed(t *testing.T) *queueBed {
	t.Helper()
	conf := testConfig(newFake(t).url(), newFake(t).url())
	conf.Upstream.MaxConns, conf.Upstream.MaxQueue = 1, 3
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	q := &queueBed{t, tr, nil, make(chan queued, 3)}
	for range 2 {
		w, err := tr.nodes.acquire(t.Context(), pick{})
		if err != nil {
			t.Fatal(err)
		}
		q.held = append(q.held, w)
	}
	return q
}

// waits starts a call that has to wait, and returns when it does.
func (q *queueBed) waits(ctx context.Context, name string) {
	q.Helper()
	before := q.waiting()
	go func() {
		w, err := q.tr.nodes.acquire(ctx, pick{})
		q.calls <- queued{name, w, err}
	}()
	eventually(q.T, name+" waits", func() bool { return q.waiting() == before+1 })
}

func (q *queueBed) waiting() int {
	q.tr.nodes.mu.Lock()
	defer q.tr.nodes.mu.Unlock()
	return q.tr.nodes.waiting.len()
}

// isFault fails the test if err is no fault of this kind.
func (q *queueBed) isFault(err error, kind faultKind) {
	q.Helper()
	var wire *wireError
	if !errors.As(err, &wire) || wire.kind != kind {
		q.Errorf("got %v; want a fault of kind %s", err, kind)
	}
}

// TestQueue: who waits longest is served first, by whatever node has room.
func TestQueue(t *testing.T) {
	q := newQueueBed(t)
	q.waits(t.Context(), "a")
	q.waits(t.Context(), "b")
	q.held[1].host.put(q.held[1])
	a := <-q.calls
	q.held[0].kill() // its room is as good as a connection
	b := <-q.calls
	if a.name != "a" || b.name != "b" || a.err != nil || b.err != nil {
		t.Errorf("served: %s, %v and then %s, %v", a.name, a.err, b.name, b.err)
	}
	a.wire.host.put(a.wire)
	b.wire.host.put(b.wire)
	n := q.tr.nodes
	if q.tr.Open() != 2 || len(n.list[0].idle) != 1 || len(n.list[1].idle) != 1 {
		t.Errorf("%d connections are open", q.tr.Open())
	}
}

// TestQueueLeft: who leaves takes nothing along.
func TestQueueLeft(t *testing.T) {
	q := newQueueBed(t)
	ctx, leave := context.WithCancel(t.Context())
	q.waits(ctx, "gone")
	q.waits(t.Context(), "stays")
	leave()
	q.isFault((<-q.calls).err, faultGone)
	if n := q.waiting(); n != 1 {
		t.Errorf("%d wait; want 1", n)
	}
	q.held[0].host.put(q.held[0])
	if c := <-q.calls; c.name != "stays" || c.err != nil {
		t.Errorf("served: %s, %v", c.name, c.err)
	} else {
		c.wire.host.put(c.wire)
	}
}

// TestQueueBounds: beyond the bound nobody waits, and nobody waits beyond the time.
func TestQueueBounds(t *testing.T) {
	q := newQueueBed(t)
	ctx, leave := context.WithCancel(t.Context())
	for _, name := range []string{"a", "b", "c"} {
		q.waits(ctx, name)
	}
	_, err := q.tr.nodes.acquire(t.Context(), pick{})
	q.isFault(err, faultFull)
	leave()
	for range 3 {
		q.isFault((<-q.calls).err, faultGone)
	}
	q.tr.nodes.limits.queueTime = 20 * time.Millisecond
	_, err = q.tr.nodes.acquire(t.Context(), pick{})
	q.isFault(err, faultBusy)
}

// TestQueueEnds: who waits for a transport that is closed is sent away, and what is given
// back to it is closed.
func TestQueueEnds(t *testing.T) {
	q := newQueueBed(t)
	q.waits(t.Context(), "a")
	q.tr.Close()
	if err := (<-q.calls).err; !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
	for _, w := range q.held {
		w.host.put(w)
	}
	if n := q.tr.Open(); n != 0 {
		t.Errorf("%d connections are open", n)
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
		w, err := p.enqueue(&pick{})
		p.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		p.by["a"].drop(claim{})
		if s, err := p.await(ctx, w); err == nil {
			s.giveBack()
		}
		if p.open() != 0 {
			t.Fatalf("%d slots are lost", p.open())
		}
		p.choices(1, pick{})
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
