package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// write prints all that was measured as tables in Markdown: median (least–most) of the
// rounds.
func (r results) write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	if r.Comparison != nil {
		r.Comparison.write(t)
	}
	if r.Memory != nil {
		r.Memory.write(t)
	}
	if r.Matrix != nil {
		r.Matrix.write(t)
	}
	if r.Cluster != nil {
		r.Cluster.write(t)
	}
	return t.Flush() // what failed before fails here again
}

// table prints a head and its rule.
func table(w io.Writer, columns ...string) {
	row(w, columns...)
	row(w, slices.Repeat([]string{"---"}, len(columns))...)
}

func row(w io.Writer, cells ...string) {
	fmt.Fprintf(w, "| %s\t|\n", strings.Join(cells, "\t| "))
}

func (c *comparison) write(w io.Writer) {
	cores := "proxy on a core of its own"
	if !c.On.Pinned {
		cores = "no core of its own for the proxy (one core, or no taskset)"
	}
	fmt.Fprintf(w, "%s %d rounds, %d connections, %s.\n\n", c.On, c.Settings.Rounds, c.Settings.Conns, cores)
	for _, z := range sizes {
		fmt.Fprintf(w, "Answer of %s, CPU of %d requests a round, as fast as they are answered:\n\n", z.name, c.Settings.count(z))
		c.writeCPU(w, z)
		fmt.Fprintf(w, "\nAnswer of %s, latency at %d requests a second, %d a round:\n\n", z.name, c.Settings.rate(z), c.samples(z))
		c.writeLatency(w, z)
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "99 %% of the requests at a fixed rate were sent within %s µs of their time (median of all loads, and the worst).\n\n", c.late())
	writeTargets(w, c.goals())
	fmt.Fprintln(w)
}

func (c *comparison) writeCPU(w io.Writer, z size) {
	rounds := c.Rounds[z.name]
	head := []string{"column", "CPU µs/request"}
	var others []string
	for _, name := range []string{bareName, nginxName, haproxyName} {
		if rounds[name] != nil {
			others = append(others, name)
			head = append(head, "× "+strings.TrimSuffix(name, " fasthttp"))
		}
	}
	table(w, append(head, "µs over bare", "requests/s")...)
	for _, column := range c.Columns {
		cells := []string{column, over(rounds[column], cpu).String()}
		for _, other := range others {
			cells = append(cells, paired(rounds[column], rounds[other], timesCPU).shown(2))
		}
		row(w, append(cells, paired(rounds[column], rounds[bareName], moreCPU).String(), over(rounds[column], perSec).whole())...)
	}
}

func (c *comparison) writeLatency(w io.Writer, z size) {
	rounds := c.Rounds[z.name]
	shown := []int{p50, p99, p999}
	head := []string{"column"}
	for _, more := range []string{" µs", " over bare"} {
		for _, p := range shown {
			head = append(head, fmt.Sprintf("p%v%s", percentiles[p], more))
		}
	}
	table(w, head...)
	for _, column := range c.Columns {
		cells := []string{column}
		for _, p := range shown {
			cells = append(cells, over(rounds[column], at(p)).whole())
		}
		for _, p := range shown {
			cells = append(cells, paired(rounds[column], rounds[bareName], moreAt(p)).whole())
		}
		row(w, cells...)
	}
}

func cpu(m measured) float64             { return m.CPU }
func perSec(m measured) float64          { return m.PerSec }
func timesCPU(m, other measured) float64 { return m.CPU / other.CPU }
func moreCPU(m, other measured) float64  { return m.CPU - other.CPU }

// at is one percentile of the latency.
func at(p int) func(measured) float64 { return func(m measured) float64 { return m.Latency[p] } }

func moreAt(p int) func(m, other measured) float64 {
	return func(m, other measured) float64 { return m.Latency[p] - other.Latency[p] }
}

// samples is how many latencies stand behind the percentiles of a round.
func (c *comparison) samples(z size) int {
	for _, m := range c.Rounds[z.name][bareName] {
		return m.Samples
	}
	return 0
}

// late tells how well the load kept its times.
func (c *comparison) late() string {
	var all []float64
	for _, columns := range c.Rounds {
		for _, rounds := range columns {
			for _, m := range rounds {
				all = append(all, m.Late)
			}
		}
	}
	s := spreadOf(all)
	return fmt.Sprintf("%.0f and %.0f", s.median, s.high)
}

// goal is a target of the design with what was measured.
type goal struct {
	what     string
	most     string
	measured string
	met      bool
}

// goals are the targets that the comparison can tell about.
func (c *comparison) goals() []goal {
	var list []goal
	for _, z := range sizes {
		rounds := c.Rounds[z.name]
		bare, filtered, whole := rounds[bareName], rounds[filteredName], rounds[unrestrictedName]
		most := 5 + float64(z.bytes)/1024 // µs
		more := paired(filtered, bare, moreCPU)
		list = append(list, goal{
			fmt.Sprintf("%s, %s: CPU over bare: 5 µs and 1 µs for each KiB", filteredName, z.name),
			fmt.Sprintf("%.0f µs", most), more.whole() + " µs", more.median <= most,
		})
		if z.bytes >= 64<<10 {
			times := paired(whole, bare, timesCPU)
			list = append(list, goal{
				fmt.Sprintf("%s, %s: streamed at the CPU of the bare proxy", unrestrictedName, z.name),
				"1 ×", times.shown(2) + " ×", times.median <= 1,
			})
		}
		for _, name := range []string{unrestrictedName, filteredName} {
			if z.slower > 1 {
				continue // it is for 1,000 requests a second
			}
			added := paired(rounds[name], bare, moreAt(p99))
			list = append(list, goal{
				fmt.Sprintf("%s, %s: p99 over bare", name, z.name), "500 µs", added.whole() + " µs", added.median <= 500,
			})
		}
	}
	return list
}

func writeTargets(w io.Writer, goals []goal) {
	table(w, "target", "at most", "measured", "met")
	for _, g := range goals {
		met := "**no**"
		if g.met {
			met = "yes"
		}
		row(w, g.what, g.most, g.measured, met)
	}
}

func (m *memory) write(w io.Writer) {
	fmt.Fprintf(w, "%s Each row is of %d rounds, each with a fresh process.\n\n", m.On, m.rounds())
	table(w, "transfer", "MiB", "seconds", "resident before, MiB", "peak, MiB", "growth, MiB", "heap in use before, MiB", "heap peak, MiB")
	const mib = 1 << 20
	for _, t := range m.Transfers {
		mibs := func(f func(transfer) int64) string {
			return over(t.Rounds, func(r transfer) float64 { return float64(f(r)) / mib }).whole()
		}
		row(w, t.Name, fmt.Sprint(t.Bytes/mib), over(t.Rounds, func(r transfer) float64 { return r.Seconds }).String(),
			mibs(func(r transfer) int64 { return r.Before }), mibs(func(r transfer) int64 { return r.Peak }),
			mibs(func(r transfer) int64 { return r.Peak - r.Before }),
			mibs(func(r transfer) int64 { return r.Heap }), mibs(func(r transfer) int64 { return r.HeapPeak }))
	}
	fmt.Fprintln(w)
	table(w, "idle connections", "number", "resident, KiB each", "resident after a collection", "heap", "stacks", "goroutines each")
	for _, i := range m.Idle {
		each := func(unit float64, f func(idle) int64) string {
			return over(i.Rounds, func(r idle) float64 { return float64(f(r)) / unit / float64(i.Connections) }).String()
		}
		cells := []string{i.Name, fmt.Sprint(i.Connections), each(1024, func(r idle) int64 { return r.Resident })}
		if i.Guard {
			cells = append(cells, each(1024, func(r idle) int64 { return r.Collected }), each(1024, func(r idle) int64 { return r.Heap }),
				each(1024, func(r idle) int64 { return r.Stacks }), each(1, func(r idle) int64 { return r.Goroutines }))
		} else {
			cells = append(cells, "–", "–", "–", "–")
		}
		row(w, cells...)
	}
	fmt.Fprintln(w)
	for _, n := range m.Notes {
		fmt.Fprintf(w, "%s\n\n", n)
	}
}

func (m *memory) rounds() int {
	for _, t := range m.Transfers {
		return len(t.Rounds)
	}
	return 0
}
