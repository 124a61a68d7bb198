package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"syscall"
	"time"

	"go.uber.org/zap"
)

const (
	maxFaults  = 3                      // stalls and cuts in a row that take a node out
	firstPause = 200 * time.Millisecond // until a node that is out is looked at
	maxPause   = 10 * time.Second
	leastShare = 0.05 // of a node that has just come back
)

// health is what is known of a node from the calls that were sent to it. The lock of
// nodes guards it.
type health struct {
	out    bool      // no call goes to it as long as another node is up
	faults int       // stalls and cuts since its last good answer
	times  int       // how often it went out since then
	since  time.Time // when it came back; zero: it has its whole share
	stop   func()    // ends the probe; nil unless it is out
}

// end stops the probe of a node that is out.
func (s *health) end() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// weight is the share of a node that starts slowly: 1 is all of it.
func (s *health) weight(slowStart time.Duration) float64 {
	if s.since.IsZero() {
		return 1
	}
	if age := time.Since(s.since); age < slowStart {
		return max(leastShare, float64(age)/float64(slowStart))
	}
	s.since = time.Time{}
	return 1
}

// answered notes a good answer: whatever its status, the node is alive.
func (h *host) answered() {
	if !h.shaky.Load() {
		return
	}
	h.nodes.mu.Lock()
	defer h.nodes.mu.Unlock()
	h.health.faults = 0
	if !h.health.out { // else the answer came over a connection of before
		h.health.times = 0
		h.shaky.Store(false)
	}
}

// blame notes a fault of the node. One that can't be reached is out at once; stalls and
// cuts take it out if there was no answer between them, since a single call may end
// its connection or take too long. One that came back and has not answered yet has no
// credit.
func (h *host) blame(err error) {
	var we *wireError
	if !errors.As(err, &we) {
		return
	}
	n := h.nodes
	n.mu.Lock()
	h.shaky.Store(true)
	h.health.faults++
	var idle []*wire
	out := !h.health.out && !h.removed && !n.closed && (we.kind == faultConnect || h.health.faults >= maxFaults || h.health.times > 0)
	if out {
		idle = n.takeOut(h)
	}
	n.mu.Unlock()
	shutAll(idle)
	if out {
		n.log.Load().Warn("node is out", zap.String("node", h.name), zap.Error(err))
	}
}

// takeOut takes h out until a probe has reached it. The lock is held; the caller closes
// the connections that it returns.
func (n *nodes) takeOut(h *host) []*wire {
	ctx, stop := context.WithCancel(context.Background())
	times := h.health.times
	h.health = health{out: true, times: times + 1, stop: stop}
	n.tasks.Go(func() { h.probe(ctx, times) })
	if n.count(stateUp) == 0 {
		select {
		case n.lost <- struct{}{}:
		default:
		}
	}
	idle := h.release()
	n.serve() // if it was the last, those who wait may try the others
	return idle
}

// probe connects to a node that is out until it can, so that no call of a client has
// to find out.
func (h *host) probe(ctx context.Context, times int) {
	for ; ; times++ {
		sleep(ctx, pauseOf(times), nil)
		c, err := h.open(ctx, h.shown.load())
		if err == nil {
			_ = c.Close() // nothing was sent
		}
		if ctx.Err() != nil {
			return // it is back already, or gone
		}
		if err == nil {
			h.revive()
			return
		}
	}
}

// pauseOf is the pause before the next look: it doubles up to a bound.
func pauseOf(times int) time.Duration {
	return jitter(min(firstPause<<min(times, 10), maxPause))
}

// jitter varies a pause by a quarter, so that many guards do not look at once.
func jitter(pause time.Duration) time.Duration {
	return pause*3/4 + rand.N(pause/2+1) //nolint:gosec // G404: not a secret
}

// revive notes that a connection to the node could be made.
func (h *host) revive() {
	n := h.nodes
	n.mu.Lock()
	back := h.health.out && !h.removed
	if back {
		h.health.end()
		h.health = health{times: h.health.times, since: time.Now()}
		n.serve()
	}
	n.mu.Unlock()
	if back {
		n.log.Load().Info("node is back", zap.String("node", h.name))
	}
}

// isOurs reports whether a connection failed for want of something on this side: that
// says nothing of the node.
func isOurs(err error) bool {
	for _, e := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
