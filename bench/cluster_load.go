package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/valyala/fasthttp"
)

// loop is a load in a closed loop: each connection sends the same request again as soon
// as it is answered, for a while.
type loop struct {
	Addr    string
	Request []byte // a whole HTTP request
	Want    []byte // stands in each answer; one without is a fault
	Conns   int
	PIDs    []int // of the processes whose CPU time is read

	Warmup, Slice time.Duration
	Limit         time.Duration // a load that takes longer is a fault
}

// looped is what such a load found.
type looped struct {
	CPU     []float64 // µs for an operation, in the order of PIDs
	PerSec  float64
	Latency latencies
	Samples int
}

// runLoop does one loop, from standard input, and prints what it measured.
func runLoop([]string) error {
	var l loop
	if err := json.NewDecoder(os.Stdin).Decode(&l); err != nil {
		return fmt.Errorf("cannot read the loop: %w", err)
	}
	found, err := l.run()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// run connects, warms up and measures.
func (l loop) run() (found looped, err error) {
	conns := make([]*conn, l.Conns)
	for i := range conns {
		if conns[i], err = (job{Addr: l.Addr, Limit: l.Limit}).dial(); err != nil {
			return found, err
		}
		defer conns[i].Close()
	}
	if _, err := l.turn(conns, l.Warmup); err != nil {
		return found, err
	}
	before, err := l.used()
	if err != nil {
		return found, err
	}
	began := time.Now()
	took, err := l.turn(conns, l.Slice)
	if err != nil {
		return found, err
	}
	whole := time.Since(began)
	after, err := l.used()
	if err != nil {
		return found, err
	}
	found.Samples = len(took)
	found.PerSec = digits(float64(len(took)) / whole.Seconds())
	found.Latency = percentilesOf(took)
	for i := range after {
		found.CPU = append(found.CPU, tenths(micros(after[i]-before[i])/float64(len(took))))
	}
	return found, nil
}

// used returns the CPU times of the processes.
func (l loop) used() ([]time.Duration, error) {
	times := make([]time.Duration, len(l.PIDs))
	for i, pid := range l.PIDs {
		var err error
		if times[i], err = cpuTime(pid); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// turn sends for a while over all connections, at least once over each, and returns how
// long each answer took, sorted.
func (l loop) turn(conns []*conn, d time.Duration) ([]time.Duration, error) {
	took := make([][]time.Duration, len(conns))
	until := time.Now().Add(d)
	err := each(conns, func(i int, c *conn) error {
		for first := true; first || time.Now().Before(until); first = false {
			began := time.Now()
			if err := l.once(c); err != nil {
				return err
			}
			took[i] = append(took[i], time.Since(began))
		}
		return nil
	})
	all := slices.Concat(took...)
	slices.Sort(all)
	return all, err
}

// once sends the request and reads its answer, which must be of the kind that is known.
func (l loop) once(c *conn) error {
	if _, err := c.Write(l.Request); err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	if err := c.answer.Read(c.r); err != nil {
		return fmt.Errorf("cannot read an answer: %w", err)
	}
	if status := c.answer.StatusCode(); status != fasthttp.StatusOK || !bytes.Contains(c.answer.Body(), l.Want) {
		return fmt.Errorf("answer has status %d; want 200 and %s in it: %.300q", status, l.Want, c.answer.Body())
	}
	return nil
}
