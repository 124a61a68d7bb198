package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestSpreadOf(t *testing.T) {
	f := func(want spread, values ...float64) {
		t.Helper()
		if got := spreadOf(values); got != want {
			t.Errorf("%v: %+v; want %+v", values, got, want)
		}
	}
	f(spread{})
	f(spread{3, 3, 3}, 3)
	f(spread{2.5, 1, 4}, 4, 1, 3, 2)
	f(spread{2, 1, 9}, 9, 1, 2)
}

func TestPercentile(t *testing.T) {
	f := func(want float64, p int, micros ...int) {
		t.Helper()
		var d []time.Duration
		for _, m := range micros {
			d = append(d, time.Duration(m)*time.Microsecond)
		}
		if got := percentile(d, p); got != want {
			t.Errorf("%d %% of %v: %v; want %v", p, micros, got, want)
		}
	}
	f(0, 50)
	f(7, 99, 7)
	f(1, 50, 1, 2)
	f(2, 51, 1, 2)
	f(2, 99, 1, 2)
}

// TestWrite holds that rounds are compared with the bare proxy of the same round.
func TestWrite(t *testing.T) {
	r := results{}
	for _, z := range sizes {
		for round := range 3 {
			noise := float64(10 * round)
			r.add(z.index, bareName, measured{CPU: 20 + noise, P99: 100 + noise, PerSec: 1000, P50: 50})
			r.add(z.index, "other", measured{CPU: 25 + noise, P99: 107 + noise, PerSec: 900, P50: 60})
		}
	}
	var b strings.Builder
	targets := []target{{name: bareName}, {name: "other"}}
	if err := r.write(&b, targets, settings{rounds: 3, conns: 16, requests: 100, rate: 1000}, false); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"| other | 35.0 (25.0–45.0) | 1.17 | 5.0 (5.0–5.0) | 900 (900–900) | 60 (60–60) | 117 (107–127) | 7 (7–7) |",
		"3 rounds of 20 requests, 16 connections, no core of its own for the proxy",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

// TestCPUTime holds that work is seen.
func TestCPUTime(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 200*time.Millisecond; {
	}
	after, err := cpuTime(os.Getpid())
	if err != nil || after <= before {
		t.Errorf("from %v to %v, %v; want more", before, after, err)
	}
	if _, err := cpuTime(1 << 30); err == nil {
		t.Error("a process that can't be has a CPU time")
	}
}
