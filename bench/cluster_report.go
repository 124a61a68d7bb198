package main

import (
	"fmt"
	"io"
)

func (x *cluster) write(w io.Writer) {
	fmt.Fprintf(w, "%s %s on both sides, heap of each node %s. %d rounds, %d connections in a closed loop, %v for each operation and column. All of it took %v.\n\n",
		x.On, x.Node, x.Heap, x.Rounds, x.Conns, x.Slice, x.Took)
	for _, o := range operations {
		if !o.aliases {
			x.writeOperation(w, o.name)
		}
	}
	writeTargets(w, x.goals())
	fmt.Fprintln(w)
}

// writeOperation shows one operation, a row for each number of indices and column.
func (x *cluster) writeOperation(w io.Writer, name string) {
	fmt.Fprintf(w, "%s, on real nodes:\n\n", capital(name))
	table(w, "indices", "column", "CPU µs of the node", "of guard", "together", "× secured", "× open", "operations/s", "p50 µs", "p99 µs")
	for i := range x.Worlds {
		v := &x.Worlds[i]
		for k := range v.Cells {
			c := &v.Cells[k]
			if c.Operation != name {
				continue
			}
			guard, times, open := "–", "–", "–"
			if c.Side == guardSide {
				guard = over(c.Rounds, guardCPU).String()
				times = c.times(v.cell(name, securedSide, c.User), togetherCPU).shown(2)
			}
			if c.Side != openSide {
				open = c.times(v.cell(name, openSide, ""), togetherCPU).shown(2)
			}
			row(w, grouped(v.Indices), c.column(), over(c.Rounds, nodeCPU).whole(), guard, over(c.Rounds, togetherCPU).whole(), times, open,
				short(over(c.Rounds, loopsPerSec)), over(c.Rounds, latencyAt(p50)).whole(), over(c.Rounds, latencyAt(p99)).whole())
		}
	}
	fmt.Fprintln(w)
}

func (c *clusterCell) column() string {
	return column{side: c.Side, user: member{name: c.User}}.String()
}

func nodeCPU(l looped) float64     { return l.CPU[0] }
func loopsPerSec(l looped) float64 { return l.PerSec }

// guardCPU is that of guard, which stands behind the node's.
func guardCPU(l looped) float64 {
	if len(l.CPU) < 2 {
		return 0
	}
	return l.CPU[1]
}

func togetherCPU(l looped) float64 { return nodeCPU(l) + guardCPU(l) }

func latencyAt(p int) func(looped) float64 { return func(l looped) float64 { return l.Latency[p] } }

// perOperation is large where throughput is small.
func perOperation(l looped) float64 { return 1 / l.PerSec }

// times compares two cells round by round.
func (c *clusterCell) times(other *clusterCell, f func(looped) float64) spread {
	var of, to []float64
	for i := range c.Rounds {
		of, to = append(of, f(c.Rounds[i])), append(to, f(other.Rounds[i]))
	}
	return ratio(of, to)
}

// The targets of guard and an open node beside the secured one.
const (
	mostCPU         = 0.8
	mostFilteredCPU = 0.5  // with a document rule, at filteredFrom indices
	mostFifthCPU    = 0.25 // of them on a pattern of 20 %
	filteredFrom    = 1000
)

// goals are, for each operation, the targets with the column that is the worst.
func (x *cluster) goals() (list []goal) {
	for _, o := range operations {
		if o.aliases {
			continue
		}
		filtered := mostFilteredCPU
		if o.name == fifth {
			filtered = mostFifthCPU
		}
		isFiltered := func(v *clusterWorld, u member) bool { return u.filters != "" && v.Indices >= filteredFrom }
		usual := func(v *clusterWorld, u member) bool { return !isFiltered(v, u) }
		all := func(*clusterWorld, member) bool { return true }
		list = append(list, x.goal(o.name, "CPU", mostCPU, togetherCPU, usual)...)
		list = append(list, x.goal(o.name, "CPU", filtered, togetherCPU, isFiltered)...)
		list = append(list, x.goal(o.name, "1 / throughput", 1, perOperation, all)...)
		list = append(list, x.goal(o.name, "p99", 1, latencyAt(p99), all)...)
	}
	return list
}

// goal is a target of all cells that count; none, if there are none.
func (x *cluster) goal(operation, what string, most float64, f func(looped) float64, counts func(*clusterWorld, member) bool) []goal {
	var worst spread
	where := ""
	for i := range x.Worlds {
		v := &x.Worlds[i]
		for _, u := range clusterUsers() {
			c := v.cell(operation, guardSide, u.name)
			if c == nil || !counts(v, u) {
				continue
			}
			if s := c.times(v.cell(operation, securedSide, u.name), f); where == "" || s.median > worst.median {
				worst, where = s, fmt.Sprintf("%s, %s indices", u.name, grouped(v.Indices))
			}
		}
	}
	if where == "" {
		return nil
	}
	return []goal{{
		fmt.Sprintf("%s: %s with guard, of that on the secured node (%s)", operation, what, where),
		fmt.Sprintf("%v ×", most), worst.shown(2) + " ×", worst.median <= most,
	}}
}
