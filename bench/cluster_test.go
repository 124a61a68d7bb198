package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestCluster measures few indices for a moment, on real nodes: each answer is checked to
// hold what its user may see.
func TestCluster(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 1, Conns: 1, Requests: 1, Rate: 1, Paced: 1},
		nodes:    clusterBreadth{worlds: []int{5, 10}, conns: 2, warmup: time.Millisecond, slice: 10 * time.Millisecond, patternsFrom: 10},
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
		if want := 7 * len(o.nodes.operations(v.Indices)); len(v.Cells) != want {
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

// sampleCluster has the same three rounds everywhere, but for the CPU of guard's side: an
// operation there costs twice what it does on the open node, and half as much as on the secured one.
func sampleCluster() *cluster {
	x := &cluster{Rounds: 3, Conns: 4, Slice: time.Second, Heap: "1g", Node: "OpenSearch 2", Took: time.Minute}
	for _, indices := range []int{10, 1000} {
		v := clusterWorld{Indices: indices}
		for _, o := range wholeCluster.operations(indices) {
			add := func(side, user string, latency float64, cpu ...float64) {
				c := clusterCell{Operation: o.name, Side: side, User: user}
				for i := range 3 {
					noise := float64(1 + i)
					of := make([]float64, len(cpu))
					for k := range cpu {
						of[k] = noise * cpu[k]
					}
					c.Rounds = append(c.Rounds, looped{CPU: of, PerSec: 100 / noise, Latency: latencies{p50: latency, p99: latency + noise}})
				}
				v.Cells = append(v.Cells, c)
			}
			add(openSide, "", 50, 100)
			for i, u := range clusterUsers() {
				add(guardSide, u.name, 80, 150, 50)
				add(securedSide, u.name, 90-10*float64(i), 400-float64(i))
			}
		}
		x.Worlds = append(x.Worlds, v)
	}
	return x
}

// TestWriteCluster holds that columns are compared within a round, that each user is
// compared with itself, and that the worst decides whether a target is met.
func TestWriteCluster(t *testing.T) {
	var b strings.Builder
	if err := (results{Cluster: sampleCluster()}).write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"OpenSearch 2 on both sides, heap of each node 1g. 3 rounds, 4 connections in a closed loop, 1s for each operation and column. All of it took 1m0s.",
		"Search, one index, on real nodes:",
		"| 10 | open node | 200 (100–300) | – | 200 (100–300) | – | – | 50.0 (33.3–100.0) | 50 (50–50) | 52 (51–53) |",
		"| 10 | guard + open node, DLS | 300 (150–450) | 100.0 (50.0–150.0) | 400 (200–600) | 0.50 (0.50–0.50) | 2.00 (2.00–2.00) | 50.0",
		"| 1,000 | secured node, full privileges | 800 (400–1200) | – | 800 (400–1200) | – | 4.00 (4.00–4.00) |",
		"| search, one index: CPU with guard, of that on the secured node (DLS, 10 indices) | 0.8 × | 0.50 (0.50–0.50) × | yes |",
		"| search, one index: CPU with guard, of that on the secured node (DLS, 1,000 indices) | 0.5 × | 0.50 (0.50–0.50) × | **no** |",
		"| search, 20 % of the indices: CPU with guard, of that on the secured node (DLS, 1,000 indices) | 0.25 × | 0.50 (0.50–0.50) × | **no** |",
		"| bulk, 10 items: 1 / throughput with guard, of that on the secured node (full privileges, 10 indices) | 1 × | 1.00 (1.00–1.00) × | yes |",
		"| bulk, 1,000 items: p99 with guard, of that on the secured node (DLS, 10 indices) | 1 × | 1.14 (1.14–1.14) × | **no** |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, b.String())
		}
	}
	if n := strings.Count(text, "| 10 | open node |"); n != 4 {
		t.Errorf("%d operations are shown for 10 indices; want 4, without a pattern of 2 %%", n)
	}
}
