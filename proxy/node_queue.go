package proxy

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"time"
)

// queue holds the calls that wait for a connection, in one line for each user, which are
// served in turn: many calls of another keep nobody waiting for longer than one does. The
// lock of nodes guards it. Whatever makes room calls serve under the same lock, so no
// wake-up can be lost, and no call is served before an earlier one of its line.
type queue struct {
	lines []*line // that of guard's own calls first, then the next to be served; none is empty
	calls int
}

// line holds the calls of one user, of guard, or those that are shared, the longest waiting first.
type line struct {
	claim
	calls list.List
}

// waiter is one call that waits.
type waiter struct {
	pick  pick
	line  *line
	place *list.Element // nil: it is not in the queue any more
	ready chan slot     // gets one slot; closed if there will be none
}

func (q *queue) len() int { return q.calls }

func (l *line) first() *waiter {
	w, _ := l.calls.Front().Value.(*waiter) // nothing else is put in
	return w
}

// join puts w at the end of its line.
func (q *queue) join(w *waiter) {
	i := slices.IndexFunc(q.lines, func(l *line) bool { return l.claim == w.pick.claim })
	if i < 0 {
		if i = len(q.lines); w.pick.own {
			i = 0
		}
		q.lines = slices.Insert(q.lines, i, &line{claim: w.pick.claim})
	}
	w.line = q.lines[i]
	w.place = w.line.calls.PushBack(w)
	q.calls++
}

// leave takes w out of the queue. It reports whether w was still in it.
func (q *queue) leave(w *waiter) bool {
	if w.place == nil {
		return false
	}
	w.line.calls.Remove(w.place)
	w.place = nil
	q.calls--
	if w.line.calls.Len() == 0 {
		i := slices.Index(q.lines, w.line)
		q.lines = slices.Delete(q.lines, i, i+1)
	}
	return true
}

// next takes out the first call of line i, which goes behind the others.
func (q *queue) next(i int) *waiter {
	l := q.lines[i]
	w := l.first()
	if l.calls.Len() > 1 && !l.own {
		q.lines = append(slices.Delete(q.lines, i, i+1), l)
	}
	q.leave(w)
	return w
}

// refuse sends all away.
func (q *queue) refuse() {
	for q.calls > 0 {
		close(q.next(0).ready)
	}
}

// own is how many of guard's own calls wait.
func (q *queue) own() int {
	if len(q.lines) == 0 || !q.lines[0].own {
		return 0
	}
	return q.lines[0].calls.Len()
}

// maxOwnQueue bounds guard's own calls that wait: it has a few at a time.
const maxOwnQueue = 64

// enqueue lets a call wait, if so many may. Clients that wait are no reason to turn guard's
// own away, nor the other way round. The lock is held.
func (n *nodes) enqueue(p *pick) (*waiter, error) {
	waiting, most := n.waiting.len()-n.waiting.own(), n.limits.maxQueue
	if p.own {
		waiting, most = n.waiting.own(), maxOwnQueue
	}
	if waiting >= most {
		return nil, &wireError{faultFull, fmt.Errorf("%d calls wait for a connection already", most)}
	}
	w := &waiter{pick: pick{claim: p.claim, avoid: p.avoid}, ready: make(chan slot, 1)}
	n.waiting.join(w)
	return w, nil
}

// serve gives what room there is to those who wait. A line whose user has all that one may
// have does not keep the others from theirs. The lock is held.
func (n *nodes) serve() {
	for i := 0; i < len(n.waiting.lines); {
		p := &n.waiting.lines[i].first().pick
		h, _ := n.choose(p)
		switch {
		case h != nil:
			n.waiting.next(i).ready <- n.take(h, p)
		case p.own || n.hasRoom():
			i++
		default:
			return
		}
	}
}

// hasRoom reports whether a client who holds nothing would get a connection. The lock is
// held.
func (n *nodes) hasRoom() bool {
	h, _ := n.choose(&pick{})
	return h != nil
}

// unserved says why a call gets no connection. The lock is held.
func (n *nodes) unserved(p *pick) error {
	if p.user != "" && n.hasRoom() {
		return &wireError{faultShare, fmt.Errorf("the user has all connections to the nodes that one may have, and none came free within %v", n.limits.queueTime)}
	}
	if p.shared && n.hasRoom() {
		return &wireError{faultBusy, fmt.Errorf("shared calls have all connections to the nodes that they may have, and none came free within %v", n.limits.queueTime)}
	}
	return &wireError{faultBusy, fmt.Errorf("no connection to a node came free within %v", n.limits.queueTime)}
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
		err = givenUp(ctx)
	case <-timer.C:
	}
	n.mu.Lock()
	if err == nil {
		err = n.unserved(&w.pick)
	}
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
	s.host.drop(s.claim)
}
