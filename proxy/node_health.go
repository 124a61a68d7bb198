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
	firstPause = 200 * time.Millisecond // until a node that is out is looked at
	maxPause   = 10 * time.Second
	leastShare = 0.05 // of a node that has just come back
)

// health is what is known of a node from the calls that were sent to it, and from looks at
// it. The lock of nodes guards it.
//
// A call that can't reach a node takes it out: no byte of it was there to be the reason.
// What else a call meets, cuts and stalls among it, only makes guard look: a client must not
// be able to take a good node from others by what it asks for, and an answer that refuses
// it is mostly right.
type health struct {
	out   bool      // it can't be reached
	unfit verdict   // of the last look, if it was not good
	times int       // how often it went out or unfit since its last good answer
	since time.Time // when it came back; zero: it has its whole share
	losses
}

// up reports whether a node is fit for calls. One that is not gets none as long as
// another is.
func (s *health) up() bool { return s.why() == "" }

// why is the verdict by which a node gets no calls; empty if it is up.
func (s *health) why() verdict {
	if s.out {
		return verdictUnreachable
	}
	return s.unfit
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
	h.health.count(0, 1)
	if h.health.up() { // else the answer came over a connection of before
		h.health.times = 0
		h.shaky.Store(h.health.lost > 0)
	}
}

// unreached takes out a node to which no connection could be made.
func (h *host) unreached(err error) {
	n := h.nodes
	n.mu.Lock()
	var idle []*wire
	out := !h.health.out && !h.removed && !n.closed
	if out {
		idle = n.fall(h, verdictUnreachable)
	}
	n.mu.Unlock()
	shutAll(idle)
	if out {
		n.log.Load().Warn("node is out", zap.String("node", h.name), zap.Error(err))
	}
}

// fall takes h out, or makes it unfit, until a look at it is good. The lock is held; the
// caller closes the connections that it returns.
func (n *nodes) fall(h *host, why verdict) []*wire {
	times := h.health.times
	if h.health.up() {
		times++
	}
	h.health = health{out: why == verdictUnreachable, times: times}
	if !h.health.out {
		h.health.unfit = why
	}
	h.shaky.Store(true)
	n.attend(h, times-1, false)
	if n.count(stateUp) == 0 {
		n.signal(n.lost)
	}
	idle := h.release()
	n.serve() // if it was the last, those who wait may try the others
	return idle
}

// signal leaves a token for who waits.
func (n *nodes) signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// attend has a goroutine look at h, at once or after a pause, until it is up; times is how
// often it has fallen before. The lock is held.
func (n *nodes) attend(h *host, times int, now bool) {
	if h.stop != nil || h.removed || n.closed {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	n.tasks.Go(func() {
		for ; ; times++ {
			if !now {
				sleep(ctx, pauseOf(times), nil)
			}
			now = false
			s := h.look(ctx)
			s.hint = h.hint(s)
			if ctx.Err() != nil || h.judge(s) {
				return
			}
		}
	})
}

// unattend ends the goroutine that looks at h, if there is one. The lock is held.
func (h *host) unattend() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// suspect has guard look at a node on which a call ended before its answer was whole, if
// that may be the node's fault. Whether it is, nobody knows but who looks: the call may
// hold what makes any node end the connection, or take longer than any may.
func (h *host) suspect(err error) {
	var we *wireError
	if !errors.As(err, &we) || we.kind != faultCut && we.kind != faultStall && we.kind != faultGarbage {
		return
	}
	h.nodes.mu.Lock()
	h.shaky.Store(true)
	h.health.count(1, 0)
	h.nodes.mu.Unlock()
	h.doubt()
}

// doubt has guard look at a node, unless it has just done so.
func (h *host) doubt() {
	n := h.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(h.looked) >= n.limits.lookPause {
		n.attend(h, h.health.times, true)
	}
}

// judge notes what a look at a node has found. It reports whether the node is up, and then
// nobody attends to it any more.
func (h *host) judge(s sight) (up bool) {
	n := h.nodes
	n.mu.Lock()
	if h.removed || n.closed {
		n.mu.Unlock()
		return true
	}
	h.looked = time.Now()
	if s.cluster != "" {
		h.cluster = s.cluster
		n.settle(h)
		if n.home.uuid != "" && s.cluster != n.home.uuid {
			s = foreign(s.cluster, n.home.uuid)
		}
	}
	n.looks.WithLabelValues(string(s.verdict)).Inc()
	was := h.health
	var idle []*wire
	switch s.verdict {
	case verdictBusy:
	case verdictGood:
		if !was.up() {
			h.health = health{times: was.times, since: time.Now()}
			n.serve()
		}
	default:
		if s.verdict != was.why() {
			idle = n.fall(h, s.verdict)
		}
	}
	is := h.health
	if is.up() {
		h.unattend()
	}
	n.signal(n.news)
	n.mu.Unlock()
	shutAll(idle)
	if was.why() != is.why() {
		n.tell(h, is, s)
	}
	return is.up()
}

// tell logs what has changed.
func (n *nodes) tell(h *host, is health, s sight) {
	log := n.log.Load().With(zap.String("node", h.name))
	if !is.up() {
		log = log.With(zap.Error(s.err))
		if s.hint != "" {
			log = log.With(zap.String("want", s.hint))
		}
	}
	switch {
	case is.up():
		log.Info("node is back")
	case is.out:
		log.Warn("node is out")
	case is.unfit == verdictForeign:
		log.Error("node is of another cluster: it gets no calls")
	default:
		log.Warn("node is unfit", zap.String("verdict", string(is.unfit)))
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

// revive notes that a connection to the node could be made, where no cluster is known of
// which it could have to be.
func (h *host) revive() {
	n := h.nodes
	n.mu.Lock()
	back := h.health.out && !h.removed
	if back {
		h.unattend()
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
