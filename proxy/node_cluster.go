package proxy

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"
)

const (
	// loyalty is how long guard waits for a node of its cluster to answer before it takes
	// the nodes of another one for a cluster that has come in its place.
	loyalty = time.Minute
	// meetGrace is how long a node may take to be met after the first that has named a cluster.
	meetGrace = time.Second
)

// home is the cluster that guard is for. What was decided by the state of one cluster is
// sent to its nodes alone, so one whose address leads to another gets nothing.
type home struct {
	uuid string    // empty: not known yet
	seen time.Time // when a node of it was seen last
	met  bool      // the nodes of the start were looked at: from then on guard is for a cluster
}

// ours returns the cluster that guard is for; empty if that is not known yet.
func (n *nodes) ours() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.home.uuid
}

// foreign is the sight of a node of another cluster.
func foreign(cluster, ours string) sight {
	return sight{verdict: verdictForeign, cluster: cluster, err: fmt.Errorf("it is of cluster %q, and guard is for %q", clip(cluster), ours)}
}

// settle decides which cluster guard is for after a node has named its own. It is that of
// the most nodes, of equals that of the first in the list, and stays it until all nodes
// name another, or none of it has answered for a while: then a cluster was put in the
// place of another one, as a restored one is. The lock is held.
func (n *nodes) settle(named *host) {
	m := &n.home
	if named != nil && named.cluster == m.uuid {
		m.seen = time.Now()
	}
	if !m.met {
		return
	}
	best, strangers := "", 0
	votes := map[string]int{}
	for _, h := range n.list {
		if h.cluster == "" {
			continue
		}
		votes[h.cluster]++
		if h.cluster != m.uuid {
			strangers++
		}
	}
	for _, h := range n.list {
		if h.cluster != "" && (best == "" || votes[h.cluster] > votes[best]) && (m.uuid == "" || h.cluster != m.uuid) {
			best = h.cluster
		}
	}
	if best == "" || m.uuid != "" && strangers < len(n.list) && time.Since(m.seen) < loyalty {
		return
	}
	log := n.log.Load()
	if m.uuid == "" {
		log.Info("guard is for a cluster", zap.String("cluster_uuid", best))
	} else {
		log.Warn("the cluster is another one from now on", zap.String("cluster_uuid", best), zap.String("before", m.uuid))
	}
	m.uuid, m.seen = best, time.Now()
}

// Meet looks at all nodes for the first time, so that guard knows which cluster it is for
// before it asks for its state: a node that speaks no sense, or for another cluster, is not
// asked. It does not wait for nodes that can't be reached if others answer. Only the first
// call looks; all return when that is done.
func (t *Transport) Meet(ctx context.Context) {
	t.meeting.Do(func() {
		n := t.nodes
		n.lookAtAll()
		first := true
		for !n.allMet() && ctx.Err() == nil {
			if first && n.anyMet() {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, meetGrace)
				defer cancel()
				first = false
			}
			sleep(ctx, lookTimeout, n.news)
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.home.met = true
		n.settle(nil)
	})
}

// Watch looks at each node that is up every so often, until ctx ends. Those that are not
// are looked at anyway.
func (t *Transport) Watch(ctx context.Context) {
	t.Meet(ctx)
	for ctx.Err() == nil {
		sleep(ctx, jitter(glanceEvery), nil)
		t.nodes.lookAtAll()
	}
}

// lookAtAll looks at each node that nobody looks at.
func (n *nodes) lookAtAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.list {
		n.attend(h, h.health.times, true)
	}
}

// allMet reports whether there is no need to wait for further nodes.
func (n *nodes) allMet() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	votes, looked := map[string]int{}, 0
	for _, h := range n.list {
		if !h.looked.IsZero() {
			looked++
		}
		if h.cluster == "" {
			continue
		}
		if votes[h.cluster]++; votes[h.cluster] > len(n.list)/2 {
			return true
		}
	}
	return looked == len(n.list)
}

// anyMet reports whether a node has named its cluster.
func (n *nodes) anyMet() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.list {
		if h.cluster != "" {
			return true
		}
	}
	return false
}
