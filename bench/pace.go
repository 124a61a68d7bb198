package main

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// percentiles are those of the latencies that a round keeps.
var percentiles = [...]float64{50, 75, 90, 95, 99, 99.5, 99.9}

// latencies are in µs, in the order of percentiles.
type latencies [len(percentiles)]float64

// Where the three that tables show stand in percentiles.
const (
	p50  = 0
	p99  = 4
	p999 = 6
)

// paced is what a load at a fixed rate found, each sorted.
type paced struct {
	took []time.Duration // from when a request was to be sent until its answer was read
	late []time.Duration // from then until the load was awake to send it
}

// pace sends at a fixed rate whatever becomes of the answers: an open loop. Each latency
// counts from the time for which the request was meant, also where no connection was free
// or the load came late. So a stall is counted for all requests that it kept waiting.
func (j *job) pace(conns []*conn) (paced, error) {
	// The sender sleeps in the kernel and keeps its share of the scheduler there: the
	// goroutines that read need one of their own.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.NumCPU())))
	free, failed := make(chan *conn, len(conns)), make(chan struct{}, len(conns))
	for _, c := range conns {
		free <- c
	}
	var p paced
	var sendErr error
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		p.late, sendErr = j.sendAll(free, failed)
		for _, c := range conns {
			close(c.due)
		}
	}()
	took := make([][]time.Duration, len(conns))
	err := each(conns, func(i int, c *conn) error {
		for due := range c.due {
			if err := c.receive(j); err != nil {
				failed <- struct{}{}
				return err
			}
			took[i] = append(took[i], time.Since(due))
			free <- c
		}
		return nil
	})
	<-sent
	p.took = slices.Concat(took...)
	slices.Sort(p.took)
	slices.Sort(p.late)
	return p, firstOf(err, sendErr)
}

// sendAll sends every request at its time over a connection that is free, until one failed.
func (j *job) sendAll(free <-chan *conn, failed <-chan struct{}) ([]time.Duration, error) {
	runtime.LockOSThread() // it ends with this goroutine, and its timers are as exact as they can be
	exactTimers()
	count := int(float64(j.Rate) * j.Paced.Seconds())
	late := make([]time.Duration, 0, count)
	start := time.Now()
	for i := range count {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(j.Rate))
		sleep(time.Until(due))
		late = append(late, time.Since(due))
		select {
		case c := <-free:
			c.due <- due
			if err := c.send(j); err != nil {
				return late, err
			}
		case <-failed:
			return late, nil // who failed says why
		}
	}
	return late, nil
}

// firstOf returns the first error that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func percentilesOf(sorted []time.Duration) (l latencies) {
	for i, p := range percentiles {
		l[i] = percentile(sorted, p)
	}
	return l
}

// percentile returns the value in µs that p percent of sorted do not exceed.
func percentile(sorted []time.Duration, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(float64(len(sorted)) * p / 100))
	return micros(sorted[min(max(rank, 1), len(sorted))-1])
}

// micros is d in µs.
func micros(d time.Duration) float64 { return tenths(float64(d.Nanoseconds()) / 1000) }

// tenths rounds: more would say more than was measured.
func tenths(f float64) float64 { return math.Round(f*10) / 10 }
