package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// results are the measurements by index and column, in the order of the rounds.
type results map[string]map[string][]measured

func (r results) add(index, target string, m measured) {
	if r[index] == nil {
		r[index] = map[string][]measured{}
	}
	r[index][target] = append(r[index][target], m)
}

// spread is the median of some rounds with the least and the most.
type spread struct{ median, low, high float64 }

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return spread{median: (v[(n-1)/2] + v[n/2]) / 2, low: v[0], high: v[n-1]}
}

func (s spread) String() string { return fmt.Sprintf("%.1f (%.1f–%.1f)", s.median, s.low, s.high) }

// whole is for large numbers.
func (s spread) whole() string { return fmt.Sprintf("%.0f (%.0f–%.0f)", s.median, s.low, s.high) }

func over(rounds []measured, f func(measured) float64) spread {
	values := make([]float64, len(rounds))
	for i, m := range rounds {
		values[i] = f(m)
	}
	return spreadOf(values)
}

// paired compares with the bare proxy round by round: what disturbs a round
// disturbs both.
func paired(rounds, bare []measured, f func(m, bare measured) float64) spread {
	var values []float64
	for i := range min(len(rounds), len(bare)) {
		values = append(values, f(rounds[i], bare[i]))
	}
	return spreadOf(values)
}

// write prints a table for each answer in Markdown: median (least–most) of the rounds.
func (r results) write(w io.Writer, targets []target, s settings, pinned bool) error {
	cores := "proxy on a core of its own"
	if !pinned {
		cores = "no core of its own for the proxy (one core, or no taskset)"
	}
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	for _, z := range sizes {
		bare := r[z.index][bareName]
		fmt.Fprintf(t, "Answer of %s: %d rounds of %d requests, %d connections, %s; latency at %d requests a second.\n\n",
			z.label, s.rounds, max(s.requests/z.share, 1), s.conns, cores, s.rate)
		fmt.Fprintf(t, "| column\t| CPU µs/request\t| × bare\t| µs over bare\t| requests/s\t| p50 µs\t| p99 µs\t| p99 over bare\t|\n")
		fmt.Fprintf(t, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|---\t|\n")
		for _, column := range targets {
			rounds := r[z.index][column.name]
			fmt.Fprintf(t, "| %s\t| %v\t| %.2f\t| %v\t| %s\t| %s\t| %s\t| %s\t|\n", column.name,
				over(rounds, func(m measured) float64 { return m.CPU }),
				paired(rounds, bare, func(m, b measured) float64 { return m.CPU / b.CPU }).median,
				paired(rounds, bare, func(m, b measured) float64 { return m.CPU - b.CPU }),
				over(rounds, func(m measured) float64 { return m.PerSec }).whole(),
				over(rounds, func(m measured) float64 { return m.P50 }).whole(),
				over(rounds, func(m measured) float64 { return m.P99 }).whole(),
				paired(rounds, bare, func(m, b measured) float64 { return m.P99 - b.P99 }).whole())
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
