package main

import (
	"fmt"
	"slices"
)

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

// String shows what is small to a tenth.
func (s spread) String() string { return s.shown(1) }

// whole is for large numbers.
func (s spread) whole() string { return s.shown(0) }

func (s spread) shown(digits int) string {
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, s.median, digits, s.low, digits, s.high)
}

// over is the spread of one value of the rounds.
func over[T any](rounds []T, f func(T) float64) spread {
	values := make([]float64, len(rounds))
	for i, m := range rounds {
		values[i] = f(m)
	}
	return spreadOf(values)
}

// paired compares two columns round by round: what disturbs a round disturbs both.
func paired(rounds, others []measured, f func(m, other measured) float64) spread {
	var values []float64
	for i := range min(len(rounds), len(others)) {
		values = append(values, f(rounds[i], others[i]))
	}
	return spreadOf(values)
}
