package proxy

import (
	"math/rand/v2"
	"slices"
	"time"
)

// rank orders nodes before their load does: the lowest is the best.
type rank int

const (
	rankUp     rank = iota
	rankHeld        // it starts slowly or lost calls, and this one is not in its share
	rankFailed      // the call failed there before
	rankUnfit       // it can be reached, and was not fit for calls when guard looked
	rankOut
	rankLast // out or unfit, and the call failed there before
)

// choose returns the node that a call is best sent to, or nil if none has room: the
// one with the least load, and of equals the one that was chosen longest ago. Nodes
// that are out or unfit are taken only if no other is known. left reports whether there
// is a node at all that the call has not tried.
func (n *nodes) choose(p *pick) (best *host, left bool) {
	var (
		bestRank rank
		bestLoad float64
		up       bool // a node is up, with room or without
		trusted  = n.mostTrusted()
	)
	for _, h := range n.list {
		if len(p.tried) > 0 && slices.Contains(p.tried, h) {
			continue
		}
		left, up = true, up || h.health.up()
		if !h.hasRoom(p.claim) {
			continue
		}
		r, load := h.merit(p, n.limits.slowStart, trusted)
		if best == nil || r < bestRank || r == bestRank && (load < bestLoad || load == bestLoad && h.picked < best.picked) {
			best, bestRank, bestLoad = h, r, load
		}
	}
	if up && bestRank >= rankUnfit {
		return nil, left
	}
	return best, left
}

// merit is what choose compares nodes by. A node that starts slowly or lost calls counts its
// load for more than it is and takes part in a share of the choices only: the first bounds
// it where there is much to do, the second where calls come one by one.
func (h *host) merit(p *pick, slowStart time.Duration, trusted float64) (rank, float64) {
	load := float64(h.load() - h.asked)
	switch {
	case !h.health.up() && h == p.avoid:
		return rankLast, load
	case h.health.out, h.health.unfit == verdictForeign:
		return rankOut, load
	case h.health.unfit != "":
		return rankUnfit, load
	case h == p.avoid:
		return rankFailed, load
	}
	r := rankUp
	if w := h.health.weight(slowStart) * h.health.reliance(trusted); w < 1 {
		load /= w
		if rand.Float64() >= w { //nolint:gosec // G404: a share, not a secret
			r = rankHeld
		}
	}
	return r, load
}

// take makes a slot of the room of h. What failed before gets leave to open a
// connection, if there is. The lock is held.
func (n *nodes) take(h *host, p *pick) slot {
	n.picks++
	h.picked = n.picks
	h.enter(p.claim)
	s := slot{claim: p.claim, host: h, last: !h.health.up()}
	if p.avoid == nil || h.conns >= n.limits.maxConns {
		if s.wire = h.pop(p.claim); s.wire != nil {
			return s
		}
	}
	h.conns++
	return s
}
