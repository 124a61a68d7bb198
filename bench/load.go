package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
)

// job tells the load process what to send. It sends the same request all the time,
// over connections that are kept.
type job struct {
	Addr    string
	Request []byte // a whole HTTP request
	Bytes   int    // of the body of each answer; another length is a fault
	Conns   int
	PID     int // of the proxy, whose CPU time is read

	Warmup   int           // requests before anything is measured
	Requests int           // as fast as they go
	Rate     int           // requests a second of the second part
	Paced    time.Duration // how long the second part is
	Limit    time.Duration // a load that takes longer is a fault
}

// measured is what a load found.
type measured struct {
	CPU     float64 // µs of the proxy for a request
	PerSec  float64 // requests a second, as fast as they go
	P50     float64 // µs at the fixed rate
	P99     float64
	Samples int // behind P50 and P99
}

// runLoad does one job, from standard input, and prints what it measured.
func runLoad([]string) error {
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return fmt.Errorf("cannot read the job: %w", err)
	}
	m, err := j.run()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(m)
}

// run connects, warms up and measures.
func (j job) run() (measured, error) {
	var m measured
	conns := make([]*conn, j.Conns)
	for i := range conns {
		c, err := j.dial()
		if err != nil {
			return m, err
		}
		defer c.Close()
		conns[i] = c
	}
	if _, err := j.flood(conns, j.Warmup); err != nil {
		return m, err
	}
	before, err := cpuTime(j.PID)
	if err != nil {
		return m, err
	}
	took, err := j.flood(conns, j.Requests)
	if err != nil {
		return m, err
	}
	after, err := cpuTime(j.PID)
	if err != nil {
		return m, err
	}
	m.CPU = float64((after - before).Microseconds()) / float64(j.Requests)
	m.PerSec = float64(j.Requests) / took.Seconds()
	latencies, err := j.pace(conns)
	if err != nil {
		return m, err
	}
	slices.Sort(latencies)
	m.P50, m.P99, m.Samples = percentile(latencies, 50), percentile(latencies, 99), len(latencies)
	return m, nil
}

// percentile returns the value in µs that p percent of sorted do not exceed.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100 // rounded up
	return float64(sorted[max(rank, 1)-1].Nanoseconds()) / 1000
}

// conn is one connection with the buffers that its answers are read into.
type conn struct {
	net.Conn
	r      *bufio.Reader
	answer fasthttp.Response
}

func (j job) dial() (*conn, error) {
	c, err := net.DialTimeout("tcp", j.Addr, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	if err := c.SetDeadline(time.Now().Add(j.Limit)); err != nil {
		return nil, fmt.Errorf("cannot bound the load: %w", err)
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 128<<10)}, nil
}

// send makes one request and reads its answer.
func (c *conn) send(j *job) error {
	if _, err := c.Write(j.Request); err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	if err := c.answer.Read(c.r); err != nil {
		return fmt.Errorf("cannot read an answer: %w", err)
	}
	if status, n := c.answer.StatusCode(), len(c.answer.Body()); status != fasthttp.StatusOK || n != j.Bytes {
		return fmt.Errorf("answer has status %d and %d bytes; want 200 and %d: %.200q", status, n, j.Bytes, c.answer.Body())
	}
	return nil
}

// flood sends n requests over all connections, each as fast as it is answered.
func (j *job) flood(conns []*conn, n int) (time.Duration, error) {
	var sent atomic.Int64
	began := time.Now()
	err := each(conns, func(_ int, c *conn) error {
		for sent.Add(1) <= int64(n) {
			if err := c.send(j); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(began), err
}

// pace sends at the fixed rate. A request whose time had come while the one before
// was still unanswered counts from that time, so that a stall is not hidden.
func (j *job) pace(conns []*conn) ([]time.Duration, error) {
	interval := time.Duration(len(conns)) * time.Second / time.Duration(j.Rate)
	count := int(j.Paced / interval)
	latencies := make([][]time.Duration, len(conns))
	start := time.Now()
	err := each(conns, func(i int, c *conn) error {
		due := start.Add(interval * time.Duration(i) / time.Duration(len(conns)))
		for range count {
			began := due
			if wait := time.Until(due); wait > 0 {
				time.Sleep(wait)
				began = time.Now()
			}
			if err := c.send(j); err != nil {
				return err
			}
			latencies[i] = append(latencies[i], time.Since(began))
			due = due.Add(interval)
		}
		return nil
	})
	return slices.Concat(latencies...), err
}

// each runs f for all connections at once and returns the first error.
func each(conns []*conn, f func(int, *conn) error) error {
	var all sync.WaitGroup
	errs := make([]error, len(conns))
	for i, c := range conns {
		all.Go(func() { errs[i] = f(i, c) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// request writes a search of user on an index, as a client sends it.
func request(user, index string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\nAuthorization: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", searchPath(index), basic(user), len(searchBody), searchBody)
}

// ask sends one request and returns the body of its answer.
func ask(addr, user, index string) ([]byte, error) {
	j := job{Addr: addr, Limit: 10 * time.Second}
	c, err := j.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Write(request(user, index)); err != nil {
		return nil, fmt.Errorf("cannot send: %w", err)
	}
	if err := c.answer.Read(c.r); err != nil && err != io.EOF {
		return nil, fmt.Errorf("cannot read an answer: %w", err)
	}
	if c.answer.StatusCode() != fasthttp.StatusOK {
		return nil, fmt.Errorf("user %q on %q got status %d: %.300q", user, index, c.answer.StatusCode(), c.answer.Body())
	}
	return slices.Clone(c.answer.Body()), nil
}
