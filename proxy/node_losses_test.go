package proxy

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lossy is how a node of a rehearsal serves: one of so many calls well, after a while; it ends
// the others at once.
type lossy struct {
	one   int
	takes time.Duration
}

// served is what became of the calls of a rehearsal at one node.
type served struct{ good, lost int }

// rehearse has clients call nodes for ten seconds, one call after the other. Of the calls, the
// part bad makes any node end it at once. Who lost a call waits as long as a good one takes.
func rehearse(t *testing.T, clients int, bad float64, list ...lossy) []served {
	t.Helper()
	got := make([]served, len(list))
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c", "d"}[:len(list)]
		p := newPaperNodes(nodeLimits{maxConns: 512}, names...)
		at := map[*host]int{}
		for i, name := range names {
			at[p.by[name]] = i
			p.by[name].stop = func() {} // nobody looks
		}
		end := time.Now().Add(10 * time.Second)
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for time.Now().Before(end) {
					p.mu.Lock()
					h, _ := p.choose(&pick{})
					s := p.take(h, &pick{})
					i := at[h]
					ok := rand.IntN(list[i].one) == 0 && rand.Float64() >= bad
					if ok {
						got[i].good++
					} else {
						got[i].lost++
					}
					p.mu.Unlock()
					if ok {
						time.Sleep(list[i].takes)
						h.answered()
						s.giveBack()
						continue
					}
					h.suspect(&wireError{faultCut, errCutAnswer})
					s.giveBack()
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
		all.Wait()
	})
	return got
}

// TestLossyNode: a node that answers looks and loses calls, all or some, gets few of them, however
// busy the others are.
func TestLossyNode(t *testing.T) {
	good := lossy{1, 50 * time.Millisecond}
	for _, clients := range []int{4, 8, 40, 120} {
		for one, most := range map[int]float64{1 << 30: 0.15, 10: 0.15, 5: 0.15, 2: 0.2} {
			got := rehearse(t, clients, 0, lossy{one, good.takes}, good, good)
			lost, all := 0, 0
			for _, s := range got {
				lost, all = lost+s.lost, all+s.lost+s.good
			}
			if part := float64(lost) / float64(all); part > most {
				t.Errorf("%d clients, a node that serves one of %d: %.2f of the calls are lost; want %.2f at most: %+v", clients, one, part, most, got)
			}
			if got[0].lost == 0 {
				t.Errorf("%d clients: the node gets no calls, and can't prove itself", clients)
			}
		}
	}
}

// TestLossesOfAll: a client that makes all nodes lose calls takes no node from the others.
func TestLossesOfAll(t *testing.T) {
	good := lossy{1, 50 * time.Millisecond}
	for _, clients := range []int{8, 40} {
		for _, bad := range []float64{0.1, 0.5, 0.9} {
			got := rehearse(t, clients, bad, good, good, good)
			all := 0
			for _, s := range got {
				all += s.good + s.lost
			}
			for i, s := range got {
				if part := float64(s.good+s.lost) / float64(all); part < 0.2 || part > 0.47 {
					t.Errorf("%d clients, %.1f of their calls bad: node %d gets %.2f of them: %+v", clients, bad, i, part, got)
				}
			}
		}
	}
}

// TestLossesFade: a node that lost calls has its whole share again when it has served, and when
// time has passed.
func TestLossesFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s health
		f := func(what string, least, most float64) {
			t.Helper()
			if got := s.reliance(1); got < least || got > most {
				t.Errorf("%s: a share of %.2f; want %.2f to %.2f", what, got, least, most)
			}
		}
		f("at first", 1, 1)
		s.count(1, 0)
		f("one was lost", 0.5, 0.7)
		s.count(0, 100)
		f("and many served", 0.95, 1)
		s.count(1000, 0)
		f("many were lost", leastShare, leastShare)
		time.Sleep(halfLife * 15)
		f("long ago", 0.95, 1)
		s.count(0, 1)
		time.Sleep(halfLife * 5)
		s.count(0, 1)
		if s.losses != (losses{}) {
			t.Errorf("%+v is left of losses of long ago", s.losses)
		}
	})
}
