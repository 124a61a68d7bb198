package proxy

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// pop takes the newest idle connection, or returns nil. The lock is held.
func (h *host) pop(c claim) *wire {
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	w := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	w.claim = c
	return w
}

// connection makes a slot a connection that is fit for a call. No byte of the call is
// sent before it returns. If it fails, the slot is given back.
func (s slot) connection(ctx context.Context, p *pick) (*wire, error) {
	h := s.host
	for w := s.wire; w != nil; w = h.another(s.claim) {
		if p.avoid == nil && w.fit(p) {
			return w, nil
		}
		w.shut()
		if p.avoid != nil {
			break
		}
	}
	w, err := h.reach(ctx, p, s.last || p.last)
	if err != nil {
		h.drop(s.claim)
		return nil, err
	}
	w.claim = s.claim
	return w, nil
}

// reach opens a connection, which has proved to lead where the call may go.
func (h *host) reach(ctx context.Context, p *pick, last bool) (*wire, error) {
	w, err := h.dialed(ctx)
	if err != nil {
		return nil, err
	}
	if p.cluster != "" || h.found {
		return h.proved(ctx, w, p, last)
	}
	h.revive()
	return w, nil
}

// dialed opens a connection; nothing is known of whom it leads to.
func (h *host) dialed(ctx context.Context) (*wire, error) {
	made := h.shown.load()
	c, err := h.open(ctx, made)
	if err == nil {
		return newWire(c, h, made), nil
	}
	if ctx.Err() != nil {
		return nil, givenUp(ctx)
	}
	err = &wireError{faultConnect, fmt.Errorf("node %s: %w", h.name, dialFault(err))}
	if !isOurs(err) {
		h.unreached(err)
	}
	return nil, err
}

// fit reports whether a pooled connection may carry a call.
func (w *wire) fit(p *pick) bool {
	if time.Since(w.idle) >= w.host.nodes.limits.idleTime || !w.current() || p.cluster != "" && w.cluster != p.cluster {
		return false
	}
	found := w.rest()
	if found == spoken {
		w.host.surplus()
	}
	return found == silent
}

// another returns a further idle connection to one whose connection was of no use, or
// nil.
func (h *host) another(c claim) *wire {
	n := h.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	w := h.pop(c)
	if w != nil {
		n.dropped(h) // the other one
	}
	return w
}

// put gives back a connection that has served a call.
func (h *host) put(w *wire) {
	n := h.nodes
	w.idle = time.Now()
	n.mu.Lock()
	keep := !n.closed && !h.removed && !h.health.out && w.cluster == n.home.uuid && w.current()
	if keep {
		h.leave(w.claim)
		h.idle = append(h.idle, w)
		n.serve()
		n.setReaper(n.limits.idleTime)
	}
	n.mu.Unlock()
	if !keep {
		w.kill()
	}
}

// drop gives back the slot of a connection that was closed, or never opened.
func (h *host) drop(c claim) {
	h.nodes.mu.Lock()
	h.leave(c)
	h.nodes.dropped(h)
	h.nodes.mu.Unlock()
}

// dropped counts a connection less. The lock is held.
func (n *nodes) dropped(h *host) {
	h.conns--
	if h.removed && h.conns == 0 {
		n.leaving = without(n.leaving, h)
	}
	n.serve()
}

// release empties the pool of h. The caller closes what it gets once the lock is free.
func (h *host) release() []*wire {
	idle := h.idle
	h.conns -= len(idle)
	h.idle = nil
	return idle
}

func shutAll(idle []*wire) {
	for _, w := range idle {
		w.shut()
	}
}

// retire closes what lies idle, because a new connection would be made with other
// certificates, CAs or a password.
func (n *nodes) retire() {
	n.mu.Lock()
	var idle []*wire
	for _, h := range n.list {
		idle = append(idle, h.release()...)
	}
	n.serve()
	n.mu.Unlock()
	shutAll(idle)
}

// setReaper lets the reaper look in after a time, if it is not to come anyway. The lock
// is held.
func (n *nodes) setReaper(after time.Duration) {
	if !n.reaping && !n.closed {
		n.reaping = true
		n.reaper.Reset(after)
	}
}

// reap closes connections that lay idle for too long, so that nothing is held when
// nobody calls.
func (n *nodes) reap() {
	n.mu.Lock()
	var old []*wire
	var oldest time.Time // of those that stay
	now := time.Now()
	for _, h := range n.list {
		i := 0
		for i < len(h.idle) && now.Sub(h.idle[i].idle) >= n.limits.idleTime {
			i++
		}
		old = append(old, h.idle[:i]...)
		h.idle = slices.Delete(h.idle, 0, i)
		h.conns -= i
		if len(h.idle) > 0 && (oldest.IsZero() || h.idle[0].idle.Before(oldest)) {
			oldest = h.idle[0].idle
		}
	}
	n.reaping = false
	if !oldest.IsZero() {
		n.setReaper(oldest.Add(n.limits.idleTime).Sub(now))
	}
	n.mu.Unlock()
	shutAll(old)
}
