package authn

import (
	"context"
	"net/netip"
	"sync"
)

// queue bounds the hashes at work and the checks that wait for their turn: in all, and
// those of one site, so that nobody who sends many keeps all others from logging in.
type queue struct {
	slots   chan struct{} // one for each hash at work
	most    int           // checks that may wait
	ofASite int           // of them, those of one site

	mu      sync.Mutex // guards what follows
	waiting int
	bySite  map[netip.Addr]int // sites of which some wait
}

// newQueue lets one site have half of the queue.
func newQueue(concurrency, most int) *queue {
	return &queue{slots: make(chan struct{}, concurrency), most: most, ofASite: (most + 1) / 2, bySite: map[netip.Addr]int{}}
}

// siteOf returns what counts as one in the queue: a network, but of IPv6 48 bits, since
// who is given these has all of the networks in them. Without an address it is the zero
// value: all that come by one Unix socket would be one.
func siteOf(network netip.Addr) netip.Addr {
	if !network.Is6() {
		return network
	}
	p, err := network.Prefix(48)
	if err != nil {
		return netip.Addr{} // never: 48 bits are there
	}
	return p.Addr()
}

// acquire waits for a slot, which has to be released, unless ctx ends before: then the
// place in the queue is free again. ErrBusy says that there was none.
func (q *queue) acquire(ctx context.Context, site netip.Addr) error {
	select {
	case q.slots <- struct{}{}:
		return nil
	default:
	}
	if !q.enter(site) {
		return ErrBusy
	}
	defer q.leave(site)
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) release() { <-q.slots }

// full reports whether a check of a site could not wait now.
func (q *queue) full(site netip.Addr) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.noRoom(site)
}

func (q *queue) noRoom(site netip.Addr) bool {
	return q.waiting >= q.most || site.IsValid() && q.bySite[site] >= q.ofASite
}

func (q *queue) enter(site netip.Addr) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.noRoom(site) {
		return false
	}
	q.waiting++
	q.bySite[site]++
	return true
}

func (q *queue) leave(site netip.Addr) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting--
	if q.bySite[site]--; q.bySite[site] == 0 {
		delete(q.bySite, site)
	}
}
