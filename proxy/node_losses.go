package proxy

import (
	"math"
	"time"
)

// losses count how the calls of the last seconds ended: one counts for half after halfLife. The
// zero value has seen none. Good ones count only beside lost ones.
type losses struct {
	lost, good float64
	at         time.Time // up to when they have faded
}

const (
	halfLife    = 5 * time.Second
	benefit     = 4.0  // good calls that each node is taken to have had: a lost one may be the client's fault
	leastLosses = 0.05 // less is none
)

// count adds calls that ended now.
func (l *losses) count(lost, good float64) {
	if lost == 0 && l.lost == 0 {
		return
	}
	fade := l.fade()
	l.lost, l.good, l.at = l.lost*fade+lost, l.good*fade+good, time.Now()
	if l.lost < leastLosses {
		*l = losses{}
	}
}

func (l *losses) fade() float64 { return math.Exp2(-float64(time.Since(l.at)) / float64(halfLife)) }

// trust is the part of the last calls that ended well, for all that is known: 1 is all.
func (l *losses) trust() float64 {
	if l.lost == 0 {
		return 1
	}
	fade := l.fade()
	return (l.good*fade + benefit) / ((l.good+l.lost)*fade + benefit)
}

// mostTrusted is the trust of the node that lost the smallest part. The others are measured by
// it: where a client brings losses on all nodes, they stay what they are to each other. The
// lock is held.
func (n *nodes) mostTrusted() (most float64) {
	for _, h := range n.list {
		if h.health.up() {
			most = max(most, h.health.trust())
		}
	}
	return most
}

// reliance is the share of a node that lost calls: 1 is all of it. One that answers guard and
// ends each call at once is never busy, and would draw all calls to itself; one that ends half
// of them would have half of all. So the share falls faster than trust does, and never so low
// that the node could not prove itself.
func (s *health) reliance(mostTrusted float64) float64 {
	if s.lost == 0 {
		return 1
	}
	t := s.trust() / mostTrusted
	return max(leastShare, min(t*t, 1))
}
