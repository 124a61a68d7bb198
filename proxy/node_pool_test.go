package proxy

import (
	"context"
	"testing"
	"time"
)

// TestNodesAllocate: a call takes and gives back a connection without garbage.
func TestNodesAllocate(t *testing.T) {
	one, two := newFake(t), newFake(t)
	tr := newTestTransport(t, one.url(), two.url())
	if n := testing.AllocsPerRun(200, func() {
		w, err := tr.nodes.acquire(context.Background(), pick{claim: claim{user: "anna"}})
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
