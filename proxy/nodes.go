package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
	tasks  sync.WaitGroup // those who attend to nodes; see node_health.go
	lost   chan struct{}  // holds a token when the last node went out
	news   chan struct{}  // holds a token when a node was looked at

	looking chan struct{} // holds a token for each look under way

	surplus atomic.Int64           // connections on which more came than was asked for
	looks   *prometheus.CounterVec // looks at nodes, by verdict

	mu      sync.Mutex // guards all below, and the lower half of host
	list    []*host
	leaving []*host // removed, with calls under way
	waiting queue
	picks   uint64 // how often a node was chosen
	home    home
	reaper  *time.Timer
	reaping bool // the reaper is set
	closed  bool
}

// nodeLimits bound what nodes are asked for.
type nodeLimits struct {
	maxConns  int           // of one node
	userConns int           // of these, for one user; 0: as many as are left for others
	maxQueue  int           // calls that wait for a connection
	queueTime time.Duration // the longest such wait
	slowStart time.Duration // until a node that came back has its whole share
	idleTime  time.Duration // an older idle connection is closed
	lookPause time.Duration // the least between two looks at a node for which calls gave the reason
	connect   time.Duration
}

// host is one node: where it is, its connections, its health.
type host struct {
	address
	hostCommon
	nodes *nodes
	found bool // the cluster named it, and not the configuration
	// anonymous tells that it has to prove on each connection that it is of the cluster before
	// guard's account is sent on it.
	anonymous bool
	shaky     atomic.Bool  // its next good answer is news; see answered
	era       atomic.Int64 // connections of an earlier one carry no further call; see surplus

	// The lock of nodes guards all below.
	conns   int            // open ones, or about to be opened
	asked   int            // of those under way, guard's own questions
	shared  int            // of those under way, calls that many may wait for
	held    map[string]int // of those under way, those of each user
	idle    []*wire        // the oldest first; the last used is taken first, so that those not needed grow old
	picked  uint64         // when it was chosen last, in picks
	removed bool           // it is not in the list any more
	health  health
	looked  time.Time // when guard looked at it last
	cluster string    // of which it said to be then, or the last time that it said so
	stop    func()    // ends who attends to it; nil: nobody does
}

// load is the number of calls under way on the node.
func (h *host) load() int { return h.conns - len(h.idle) }

// pick says what connection a call wants.
type pick struct {
	claim
	cluster string  // of which the node must be; empty: any
	avoid   *host   // where the call failed before: rather another node, and a new connection
	tried   []*host // they could not be reached
	last    bool    // no node is left that has proved to be of the cluster; see accepts
}

// slot is room for one call at a node: a connection that lay idle, or leave to open one.
type slot struct {
	claim
	host *host
	wire *wire
	last bool // only because no better node is known
}

func newNodes(l nodeLimits) *nodes {
	n := &nodes{limits: l, lost: make(chan struct{}, 1), news: make(chan struct{}, 1), looking: make(chan struct{}, looksAtOnce), looks: newLooks()}
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
			if p.last || !errors.Is(last, errUnproven) {
				return nil, last
			}
			p.last, p.tried = true, nil
			continue
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
		s := n.take(h, p)
		n.mu.Unlock()
		return s, nil
	}
	if !left {
		n.mu.Unlock()
		return slot{}, &wireError{faultConnect, errAllTried}
	}
	w, err := n.enqueue(p)
	n.serve() // a node that the call has tried may be back
	n.mu.Unlock()
	if err != nil {
		return slot{}, err
	}
	return n.await(ctx, w)
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
		h.unattend()
		idle = append(idle, h.release()...)
		if h.conns > 0 {
			n.leaving = append(n.leaving, h)
		}
	}
	n.serve()
	n.mu.Unlock()
	n.signal(n.news) // who waits for all to be looked at may wait for one less
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
		h.unattend()
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

// noneUp reports whether no node is fit for calls.
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
