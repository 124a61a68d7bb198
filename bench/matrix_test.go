package main

import (
	"bytes"
	"testing"
	"time"
)

// TestMatrix measures small worlds: every cell is checked to be what its name says.
func TestMatrix(t *testing.T) {
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 2, Conns: 1, Requests: 1, Rate: 1, Paced: 1},
		breadth: breadth{
			worlds: []world{{indices: 10}, {indices: 100}, {indices: 1000}, {indices: 100, aliases: 250, once: true}},
			births: 10 * time.Millisecond, slice: time.Millisecond, passes: 2,
		},
		only: matrixOnly, out: t.TempDir(),
	}
	if err := o.bench(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Log(out.String())
	x := written(t, o.out).Matrix
	if x == nil || len(x.Worlds) != len(o.breadth.worlds) {
		t.Fatalf("%+v; want all worlds", x)
	}
	for i := range x.Worlds {
		v, w := &x.Worlds[i], o.breadth.worlds[i]
		rounds := o.Rounds
		if w.once {
			rounds = 1
		}
		if v.Births == 0 || len(v.Visible) != rounds || len(v.Live) != rounds || v.Swap[0] <= v.Live[0] {
			t.Errorf("%s: %+v; want births in each round, and more heap with two states than with one", v.Name, v)
		}
		for _, p := range operations {
			for _, u := range members() {
				c := v.cell(p.name, u.name)
				if c == nil && p.aliases && w.aliases == 0 {
					continue
				}
				if c == nil || len(c.Micros) != rounds || len(c.Cold) != rounds || c.Micros[0] <= 0 || c.Cold[0] <= 0 || c.Longest[0] < c.Micros[0] {
					t.Errorf("%s, %s by %s: nothing was measured: %+v", v.Name, p.name, u.name, c)
				}
			}
		}
	}
}
