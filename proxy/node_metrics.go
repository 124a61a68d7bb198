package proxy

import (
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// nodeState is what a node is counted as: a closed set, a metric label.
type nodeState string

const (
	stateUp       nodeState = "up"
	stateOut      nodeState = "out"      // it can't be reached
	stateUnfit    nodeState = "unfit"    // it can be, and does not answer as a node that can serve
	stateForeign  nodeState = "foreign"  // it is of another cluster
	stateDraining nodeState = "draining" // removed, with calls under way
)

// count returns how many nodes are in a state. The lock is held.
func (n *nodes) count(s nodeState) (count int) {
	if s == stateDraining {
		return len(n.leaving)
	}
	for _, h := range n.list {
		if h.health.state() == s {
			count++
		}
	}
	return count
}

func (s *health) state() nodeState {
	switch {
	case s.out:
		return stateOut
	case s.unfit == verdictForeign:
		return stateForeign
	case s.unfit != "":
		return stateUnfit
	}
	return stateUp
}

// report shows the nodes in metrics, and from now on in the log.
func (n *nodes) report(reg prometheus.Registerer, log *zap.Logger) error {
	gauges := []prometheus.Collector{prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_upstream_queue", Help: "Calls to the cluster that wait for a connection.",
	}, n.locked(n.waiting.len))}
	for _, s := range []nodeState{stateUp, stateOut, stateUnfit, stateForeign, stateDraining} {
		gauges = append(gauges, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "guard_upstream_nodes", Help: "Nodes of the cluster: up, out (not reached), unfit (not answering as a node that can serve), foreign (of another cluster), draining.",
			ConstLabels: prometheus.Labels{"state": string(s)},
		}, n.locked(func() int { return n.count(s) })))
	}
	for _, g := range gauges {
		if err := reg.Register(g); err != nil {
			return err
		}
	}
	surplus := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "guard_upstream_surplus_total", Help: "Connections to the cluster that were closed because more came on them than was asked for.",
	}, func() float64 { return float64(n.surplus.Load()) })
	if err := reg.Register(surplus); err != nil {
		return err
	}
	if err := reg.Register(n.looks); err != nil {
		return err
	}
	n.log.Store(log)
	return nil
}

// locked reads a number under the lock.
func (n *nodes) locked(read func() int) func() float64 {
	return func() float64 {
		n.mu.Lock()
		defer n.mu.Unlock()
		return float64(read())
	}
}
