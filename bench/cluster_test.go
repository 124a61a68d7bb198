package main

import (
	"bytes"
	"testing"
	"time"
)

// TestCluster measures few indices for a moment, on real nodes: each answer is checked to
// hold what its user may see.
func TestCluster(t *testing.T) {
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 1, Conns: 1, Requests: 1, Rate: 1, Paced: 1},
		nodes:    clusterBreadth{worlds: []int{10, 100}, conns: 2, warmup: time.Millisecond, slice: 10 * time.Millisecond, before: time.Millisecond},
		only:     clusterOnly, out: t.TempDir(),
	}
	if err := o.bench(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	x := written(t, o.out).Cluster
	if x == nil || len(x.Worlds) != len(o.nodes.worlds) {
		t.Fatalf("%+v; want all worlds", x)
	}
	for i := range x.Worlds {
		v := &x.Worlds[i]
		if want := 7 * len(clusterOperations(v.Indices)); len(v.Cells) != want {
			t.Errorf("%d indices: %d cells; want %d", v.Indices, len(v.Cells), want)
		}
		for _, c := range v.Cells {
			if len(c.Rounds) != o.Rounds {
				t.Fatalf("%d indices, %s, %s: %d rounds; want %d", v.Indices, c.Operation, c.column(), len(c.Rounds), o.Rounds)
			}
			r := c.Rounds[0]
			if r.CPU[0] <= 0 || r.PerSec <= 0 || r.Samples < o.nodes.conns || r.Latency[p50] <= 0 || (c.Side == guardSide) != (guardCPU(r) > 0) {
				t.Errorf("%d indices, %s, %s: nothing was measured: %+v", v.Indices, c.Operation, c.column(), r)
			}
		}
	}
}
