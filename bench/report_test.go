package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"slices"
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
	f := func(want, p float64, micros ...int) {
		t.Helper()
		var d []time.Duration
		for _, m := range micros {
			d = append(d, time.Duration(m)*time.Microsecond)
		}
		if got := percentile(d, p); got != want {
			t.Errorf("%v %% of %v: %v; want %v", p, micros, got, want)
		}
	}
	f(0, 50)
	f(7, 99, 7)
	f(1, 50, 1, 2)
	f(2, 51, 1, 2)
	f(2, 99, 1, 2)
	f(2, 99.9, 1, 2)
	f(1, 0, 1, 2)
}

// sample is a comparison in which each round is disturbed by as much for all columns.
func sample() *comparison {
	c := &comparison{
		Settings: settings{Rounds: 3, Conns: 16, Requests: 100, Rate: 1000}, Columns: []string{bareName, nginxName, filteredName, unrestrictedName},
		Rounds: map[string]map[string][]measured{},
	}
	for _, z := range sizes {
		for round := range 3 {
			noise := float64(10 * round)
			for i, column := range c.Columns {
				own := float64(5 * i)
				c.add(z.name, column, measured{
					CPU: 20 + own + noise, PerSec: 1000, Late: 60, Samples: 500,
					Latency: latencies{p50: 50 + own + noise, p99: 100 + own + noise, p999: 200 + own + noise},
				})
			}
		}
	}
	return c
}

// TestWrite holds that rounds are compared with other columns of the same round.
func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := (results{Comparison: sample(), Memory: sampleMemory()}).write(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"| column | CPU µs/request | × bare | × nginx | µs over bare | requests/s |",
		"| nginx | 35.0 (25.0–45.0) | 1.17 (1.12–1.25) | 1.00 (1.00–1.00) | 5.0 (5.0–5.0) | 1000 (1000–1000) |",
		"| column | p50 µs | p99 µs | p99.9 µs | p50 over bare | p99 over bare | p99.9 over bare |",
		"| nginx | 65 (55–75) | 115 (105–125) | 215 (205–225) | 5 (5–5) | 5 (5–5) | 5 (5–5) |",
		"3 rounds, 16 connections, no core of its own for the proxy",
		"CPU of 5 requests a round",
		"latency at 100 requests a second, 500 a round",
		"sent within 60 and 60 µs of their time",
		"| guard DLS+FLS, 1.2 KiB: CPU over bare: 5 µs and 1 µs for each KiB | 6 µs | 10 (10–10) µs | **no** |",
		"| guard DLS+FLS, 64 KiB: CPU over bare: 5 µs and 1 µs for each KiB | 69 µs | 10 (10–10) µs | yes |",
		"| guard unrestricted, 1 MiB: streamed at the CPU of the bare proxy | 1 × | 1.50 (1.38–1.75) × | **no** |",
		"| guard unrestricted, 1.2 KiB: p99 over bare | 500 µs | 15 (15–15) µs | yes |",
		"| bulk, limited | 100 | 2.0 (1.0–3.0) | 30 (30–30) | 50 (40–60) | 20 (10–30) | 4 (4–4) | 9 (9–9) |",
		"| nginx | 1000 | 2.0 (2.0–2.0) | – | – | – | – |",
		"| guard | 1000 | 20.0 (20.0–20.0) | 16.0 (16.0–16.0) | 8.0 (8.0–8.0) | 4.0 (4.0–4.0) | 1.0 (1.0–1.0) |",
		"100 were asked for",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(text, "1 MiB: p99") {
		t.Errorf("the target for 1,000 requests a second is shown for fewer:\n%s", b.String())
	}
}

func sampleMemory() *memory {
	const mib, conns = 1 << 20, 1000
	bulk := transfers{Name: "bulk, limited", Bytes: 100 * mib}
	for i := range int64(3) {
		bulk.Rounds = append(bulk.Rounds, transfer{Seconds: float64(1 + i), Before: 30 * mib, Peak: (40 + 10*i) * mib, Heap: 4 * mib, HeapPeak: 9 * mib})
	}
	return &memory{
		Transfers: []transfers{bulk},
		Idle: []idles{
			{Name: nginxName, Connections: conns, Rounds: []idle{{Resident: 2048 * conns}}},
			{Name: "guard", Connections: conns, Guard: true, Rounds: []idle{{
				Resident: 20 << 10 * conns, Collected: 16 << 10 * conns, Heap: 8 << 10 * conns, Stacks: 4 << 10 * conns, Goroutines: conns,
			}}},
		},
		Notes: []string{"100 were asked for"},
	}
}

// TestPlots holds that the plots are whole and show each column for each size, and each user
// for each operation.
func TestPlots(t *testing.T) {
	f := func(p plot, times int, columns ...string) {
		t.Helper()
		texts := map[string]int{}
		d := xml.NewDecoder(bytes.NewReader(p.svg()))
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", p.file, err, p.svg())
			}
			if text, ok := token.(xml.CharData); ok {
				texts[string(text)]++
			}
		}
		for _, column := range columns {
			if texts[column] != times {
				t.Errorf("%s names %q %d times; want %d", p.file, column, texts[column], times)
			}
		}
		if bytes.Contains(p.svg(), []byte("NaN")) || bytes.Contains(p.svg(), []byte("Inf")) {
			t.Errorf("%s has what is no number:\n%s", p.file, p.svg())
		}
	}
	for _, p := range sample().plots() {
		f(p, len(sizes), sample().Columns...)
	}
	for _, p := range sampleMatrix().plots() {
		f(p, 5, "full privileges", "DLS", thousandRoles)
	}
}

func TestLogScale(t *testing.T) {
	f := func(least, most, low, high float64, ticks ...float64) {
		t.Helper()
		s := logScale(least, most)
		if s.low != low || s.high != high || !slices.Equal(s.ticks, ticks) {
			t.Errorf("%v to %v: %+v; want %v to %v, %v", least, most, s, low, high, ticks)
		}
		if s.share(low) != 0 || s.share(high) != 1 {
			t.Errorf("%v to %v: the ends stand at %v and %v", least, most, s.share(low), s.share(high))
		}
	}
	f(340, 900, 200, 1000, 200, 500, 1000)
	f(200, 2000, 200, 2000, 200, 500, 1000, 2000)
	f(0, 0, 1, 2, 1, 2)
	f(99, 101, 50, 200, 50, 100, 200)
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
	if _, err := cpuTime(1<<22 + 1); err == nil {
		t.Error("a process that can't be has a CPU time")
	}
}
