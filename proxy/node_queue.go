package proxy

import (
	"container/list"
	"context"
	"fmt"
	"time"
)

// queue holds the calls that wait for a connection, the longest waiting first. The lock
// of nodes guards it. While it holds a call, no node has room: whatever makes room
// calls serve under the same lock, so no wake-up can be lost, and nobody who comes
// later is served before.
type queue struct{ list list.List }

// waiter is one call that waits.
type waiter struct {
	avoid *host
	place *list.Element // nil: it is not in the queue any more
	ready chan slot     // gets one slot; closed if there will be none
}

func (q *queue) len() int { return q.list.Len() }

func (q *queue) first() *waiter {
	w, _ := q.list.Front().Value.(*waiter) // nothing else is put in
	return w
}

// leave takes w out of the queue. It reports whether w was still in it.
func (q *queue) leave(w *waiter) bool {
	if w.place == nil {
		return false
	}
	q.list.Remove(w.place)
	w.place = nil
	return true
}

// refuse sends all away.
func (q *queue) refuse() {
	for q.len() > 0 {
		w := q.first()
		q.leave(w)
		close(w.ready)
	}
}

// enqueue lets a call wait behind all others, if so many may. The lock is held.
func (n *nodes) enqueue(avoid *host) (*waiter, error) {
	if n.waiting.len() >= n.limits.maxQueue {
		return nil, &wireError{faultFull, fmt.Errorf("%d calls wait for a connection already", n.limits.maxQueue)}
	}
	w := &waiter{avoid: avoid, ready: make(chan slot, 1)}
	w.place = n.waiting.list.PushBack(w)
	return w, nil
}

// serve gives what room there is to those who wait. The lock is held.
func (n *nodes) serve() {
	for n.waiting.len() > 0 {
		w := n.waiting.first()
		h, _ := n.choose(&pick{avoid: w.avoid})
		if h == nil {
			return
		}
		n.waiting.leave(w)
		w.ready <- n.take(h, w.avoid)
	}
}

// await waits for the turn of w. Who leaves takes no room along.
func (n *nodes) await(ctx context.Context, w *waiter) (slot, error) {
	timer := time.NewTimer(n.limits.queueTime)
	defer timer.Stop()
	var err error
	select {
	case s, ok := <-w.ready:
		return granted(s, ok)
	case <-ctx.Done():
		err = &wireError{faultGone, context.Cause(ctx)}
	case <-timer.C:
		err = &wireError{faultBusy, fmt.Errorf("no connection to a node came free within %v", n.limits.queueTime)}
	}
	n.mu.Lock()
	left := n.waiting.leave(w)
	n.mu.Unlock()
	if left {
		return slot{}, err
	}
	s, ok := <-w.ready // it came at the last moment
	if ok && ctx.Err() != nil {
		s.giveBack()
		return slot{}, err
	}
	return granted(s, ok)
}

func granted(s slot, ok bool) (slot, error) {
	if !ok {
		return slot{}, &wireError{faultConnect, errClosed}
	}
	return s, nil
}

// giveBack frees a slot that was not used.
func (s slot) giveBack() {
	if s.wire != nil {
		s.wire.kill()
		return
	}
	s.host.drop()
}
