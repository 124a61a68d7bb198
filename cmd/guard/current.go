package main

import (
	"context"
	"sync"
	"sync/atomic"

	"guard/authn"
	"guard/gate"
	"guard/indexresolver"
	"guard/indexresolver/source"
	"guard/proxy"
)

// current holds what requests are served with: one policy and one state of the cluster
// at a time, joined to snapshots. A request loads one and keeps it.
type current struct {
	source *source.Source

	mu         sync.Mutex // guards what follows, and the order of the swaps
	policy     *policy
	state      *indexresolver.State
	generation uint64

	snapshot atomic.Pointer[snapshot]
}

// snapshot is what one request is served with: who somebody is and what he may do come
// from the same policy.
type snapshot struct {
	*authn.Chain
	*gate.Snapshot
}

// Cluster is that of the state.
func (s *snapshot) Cluster() string {
	if s.State().Empty() {
		return ""
	}
	return s.State().ClusterUUID
}

var (
	_ proxy.Snapshots = (*current)(nil)
	_ proxy.Planner   = (*snapshot)(nil)
)

// setPolicy swaps the policy.
func (c *current) setPolicy(p *policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.policy = p
	c.join()
}

// setState swaps the state of the cluster.
func (c *current) setState(s *indexresolver.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
	c.join()
}

func (c *current) join() {
	if c.policy == nil {
		return
	}
	c.generation++
	c.snapshot.Store(&snapshot{c.policy.chain, gate.NewSnapshot(c.generation, c.policy.rules, c.state)})
}

// policyHash returns the hash of the files at work.
func (c *current) policyHash() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.policy.hash
}

// Load returns the snapshot of now.
func (c *current) Load() proxy.Planner {
	if s := c.snapshot.Load(); s != nil {
		return s
	}
	return nil
}

// Fresher reads the state of the cluster once more.
func (c *current) Fresher(ctx context.Context) (proxy.Planner, error) {
	if _, err := c.source.Refresh(ctx); err != nil {
		return nil, err
	}
	return c.Load(), nil
}
