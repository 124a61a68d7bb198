package proxy

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// patience is how many times the time for a connection a call may spend on nodes that
// can't be reached.
const patience = 4

var (
	errClosed   = errors.New("the transport is closed")
	errAllTried = errors.New("no node is left to try")
)

// nodes are the nodes of the cluster with their connections, and the calls that wait
// for one. One lock guards all of it, so who frees a connection sees who waits, and
// the choice of a node sees the load of each; it is held no longer than that takes.
type nodes struct {
	limits nodeLimits
	log    atomic.Pointer[zap.Logger]
	tasks  sync.WaitGroup // probes; see node_health.go
	lost   chan struct{}  // holds a token when the last node went out

	surplus atomic.Int64 // connections on which more came than was asked for

	mu      sync.Mutex // guards all below, and the lower half of host
	list    []*host
	leaving []*host // removed, with calls under way
	waiting queue
	picks   uint64 // how often a node was chosen
	reaper  *time.Timer
	reaping bool // the reaper is set
	closed  bool
}

// nodeLimits bound what nodes are asked for.
type nodeLimits struct {
	maxConns  int           // of one node
	maxQueue  int           // calls that wait for a connection
	queueTime time.Duration // the longest such wait
	slowStart time.Duration // until a node that came back has its whole share
	idleTime  time.Duration // an older idle connection is closed
	connect   time.Duration
}

// host is one node: where it is, its connections, its health.
type host struct {
	address
	hostCommon
	nodes *nodes
	shaky atomic.Bool // its next good answer is news; see answered

	// The lock of nodes guards all below.
	conns   int     // open ones, or about to be opened
	asked   int     // of those under way, guard's own questions
	idle    []*wire // the oldest first; the last used is taken first, so that those not needed grow old
	picked  uint64  // when it was chosen last, in picks
	removed bool    // it is not in the list any more
	health  health
}

// asks notes that n of guard's own questions more are under way: one of them waits for
// the cluster to change, most of the time.
func (h *host) asks(c *call, n int) {
	if !c.own {
		return
	}
	h.nodes.mu.Lock()
	h.asked += n
	h.nodes.mu.Unlock()
}

// load is the number of calls under way on the node.
func (h *host) load() int { return h.conns - len(h.idle) }

// ownRoom is how many connections of each node are kept for guard's own questions: what
// clients hold must not keep it from knowing the cluster.
const ownRoom = 2

// roomFor is how many calls may be under way on a node for one more of this kind.
func (n *nodes) roomFor(p *pick) int {
	if p.own {
		return n.limits.maxConns + ownRoom
	}
	return n.limits.maxConns
}

// pick says what connection a call wants.
type pick struct {
	own   bool    // guard asks it itself
	avoid *host   // where the call failed before: rather another node, and a new connection
	tried []*host // they could not be reached
}

// slot is room for one call at a node: a connection that lay idle, or leave to open one.
type slot struct {
	host *host
	wire *wire
}

func newNodes(l nodeLimits) *nodes {
	n := &nodes{limits: l, lost: make(chan struct{}, 1)}
	n.log.Store(zap.NewNop())
	n.reaper = time.AfterFunc(time.Hour, n.reap)
	n.reaper.Stop()
	return n
}

// acquire returns a connection to a node for one call. Only here is another node tried
// without being asked to, since nothing has been sent yet.
func (n *nodes) acquire(ctx context.Context, p pick) (*wire, error) {
	var end time.Time // when no further node is tried
	var last error
	for {
		s, err := n.reserve(ctx, &p)
		if errors.Is(err, errAllTried) && last != nil {
			return nil, last
		}
		if err != nil {
			return nil, err
		}
		w, err := s.connection(ctx, &p)
		if err == nil {
			return w, nil
		}
		if end.IsZero() {
			end = time.Now().Add((patience - 1) * n.limits.connect)
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return nil, err
		}
		last, p.tried = err, append(p.tried, s.host)
	}
}

// reserve returns room at the best node, waiting if there is none.
func (n *nodes) reserve(ctx context.Context, p *pick) (slot, error) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return slot{}, &wireError{faultConnect, errClosed}
	}
	h, left := n.choose(p)
	if h != nil {
		s := n.take(h, p.avoid)
		n.mu.Unlock()
		return s, nil
	}
	if !left {
		n.mu.Unlock()
		return slot{}, errAllTried
	}
	w, err := n.enqueue(p.avoid)
	n.serve() // a node that the call has tried may be back
	n.mu.Unlock()
	if err != nil {
		return slot{}, err
	}
	return n.await(ctx, w)
}

// rank orders nodes before their load does: the lowest is the best.
type rank int

const (
	rankUp     rank = iota
	rankHeld        // it starts slowly, and this call is not in its share
	rankFailed      // the call failed there before
	rankOut
	rankLast // out, and the call failed there before
)

// choose returns the node that a call is best sent to, or nil if none has room: the
// one with the least load, and of equals the one that was chosen longest ago. Nodes
// that are out are taken only if no other is known. left reports whether there is a
// node at all that the call has not tried.
func (n *nodes) choose(p *pick) (best *host, left bool) {
	var (
		bestRank rank
		bestLoad float64
		up       bool // a node is up, with room or without
	)
	for _, h := range n.list {
		if len(p.tried) > 0 && slices.Contains(p.tried, h) {
			continue
		}
		left, up = true, up || !h.health.out
		if h.load() >= n.roomFor(p) {
			continue
		}
		r, load := h.merit(p, n.limits.slowStart)
		if best == nil || r < bestRank || r == bestRank && (load < bestLoad || load == bestLoad && h.picked < best.picked) {
			best, bestRank, bestLoad = h, r, load
		}
	}
	if up && bestRank >= rankOut {
		return nil, left
	}
	return best, left
}

// merit is what choose compares nodes by. A node that starts slowly counts its load
// for more than it is and takes part in a share of the choices only: the first bounds
// it where there is much to do, the second where calls come one by one.
func (h *host) merit(p *pick, slowStart time.Duration) (rank, float64) {
	load := float64(h.load() - h.asked)
	switch {
	case h.health.out && h == p.avoid:
		return rankLast, load
	case h.health.out:
		return rankOut, load
	case h == p.avoid:
		return rankFailed, load
	}
	r := rankUp
	if w := h.health.weight(slowStart); w < 1 {
		load /= w
		if rand.Float64() >= w { //nolint:gosec // G404: a share, not a secret
			r = rankHeld
		}
	}
	return r, load
}

// take makes a slot of the room of h. What failed before gets leave to open a
// connection, if there is. The lock is held.
func (n *nodes) take(h, avoid *host) slot {
	n.picks++
	h.picked = n.picks
	if avoid == nil || h.conns >= n.limits.maxConns {
		if w := h.pop(); w != nil {
			return slot{h, w}
		}
	}
	h.conns++
	return slot{host: h}
}

// pop takes the newest idle connection, or returns nil. The lock is held.
func (h *host) pop() *wire {
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	w := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	return w
}

// connection makes a slot a connection that is fit for a call. No byte of the call is
// sent before it returns. If it fails, the slot is given back.
func (s slot) connection(ctx context.Context, p *pick) (*wire, error) {
	h := s.host
	for w := s.wire; w != nil; w = h.another() {
		if p.avoid == nil && w.fit() {
			return w, nil
		}
		w.shut()
		if p.avoid != nil {
			break
		}
	}
	made := h.shown.load()
	c, err := h.open(ctx, made)
	if err == nil {
		h.revive()
		return newWire(c, h, made), nil
	}
	if ctx.Err() != nil {
		h.drop()
		return nil, &wireError{faultGone, context.Cause(ctx)}
	}
	err = &wireError{faultConnect, fmt.Errorf("cannot connect to node %s: %w", h.name, err)}
	if !isOurs(err) {
		h.blame(err)
	}
	h.drop()
	return nil, err
}

// fit reports whether a pooled connection may carry a call.
func (w *wire) fit() bool {
	if time.Since(w.idle) >= w.host.nodes.limits.idleTime || !w.current() {
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
func (h *host) another() *wire {
	n := h.nodes
	n.mu.Lock()
	defer n.mu.Unlock()
	w := h.pop()
	if w != nil {
		n.dropped(h) // the slot of the other one
	}
	return w
}

// put gives back a connection that has served a call.
func (h *host) put(w *wire) {
	n := h.nodes
	w.idle = time.Now()
	n.mu.Lock()
	keep := !n.closed && !h.removed && !h.health.out && w.current()
	if keep {
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
func (h *host) drop() {
	h.nodes.mu.Lock()
	h.nodes.dropped(h)
	h.nodes.mu.Unlock()
}

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

// set makes list the nodes. Those that stay keep their connections and their health.
func (n *nodes) set(list []address, newHost func(address) *host) {
	n.mu.Lock()
	known := map[address]*host{}
	for _, h := range slices.Concat(n.leaving, n.list) {
		known[h.address] = h
	}
	first := len(n.list) == 0
	old := n.list
	n.list = nil
	for _, at := range list {
		h := known[at]
		if h == nil {
			h = newHost(at)
			h.removed = !first
			known[at] = h
		}
		if h.removed {
			h.removed = false
			h.health = health{since: time.Now()} // new, or as good as new
			n.leaving = without(n.leaving, h)
		}
		if !slices.Contains(n.list, h) {
			n.list = append(n.list, h)
		}
	}
	var idle []*wire
	for _, h := range old {
		if slices.Contains(n.list, h) {
			continue
		}
		h.removed = true
		h.health.end()
		idle = append(idle, h.release()...)
		if h.conns > 0 {
			n.leaving = append(n.leaving, h)
		}
	}
	n.serve()
	n.mu.Unlock()
	shutAll(idle)
}

// without returns list without h; list is left alone.
func without(list []*host, h *host) []*host {
	return slices.DeleteFunc(slices.Clone(list), func(x *host) bool { return x == h })
}

// close ends what is idle and who waits, and waits for the probes.
func (n *nodes) close() {
	n.mu.Lock()
	n.closed = true
	n.reaper.Stop()
	var idle []*wire
	for _, h := range n.list {
		h.health.end()
		idle = append(idle, h.release()...)
	}
	n.waiting.refuse()
	n.mu.Unlock()
	shutAll(idle)
	n.tasks.Wait()
}

// addresses are where the nodes in use are.
func (n *nodes) addresses() (list []address) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.list {
		list = append(list, h.address)
	}
	return list
}

// noneUp reports whether all nodes are out.
func (n *nodes) noneUp() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count(stateUp) == 0
}

func (n *nodes) open() (conns int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, list := range [][]*host{n.list, n.leaving} {
		for _, h := range list {
			conns += h.conns
		}
	}
	return conns
}
