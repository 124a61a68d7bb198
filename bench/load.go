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
	CPU     float64   // µs of the proxy for a request
	PerSec  float64   // requests a second, as fast as they go
	Latency latencies // at the fixed rate
	Late    float64   // µs: 99 % of these requests were sent no later than this after their time
	Samples int       // behind Latency
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
	m.CPU = tenths(micros(after-before) / float64(j.Requests))
	m.PerSec = tenths(float64(j.Requests) / took.Seconds())
	paced, err := j.pace(conns)
	if err != nil {
		return m, err
	}
	m.Latency, m.Late, m.Samples = percentilesOf(paced.took), percentile(paced.late, 99), len(paced.took)
	return m, nil
}

// conn is one connection with the buffers that its answers are read into.
type conn struct {
	net.Conn
	r      *bufio.Reader
	answer fasthttp.Response
	due    chan time.Time // when the request was to be sent whose answer comes next; see pace
}

func (j job) dial() (*conn, error) {
	c, err := net.DialTimeout("tcp", j.Addr, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	if err := c.SetDeadline(time.Now().Add(j.Limit)); err != nil {
		return nil, fmt.Errorf("cannot bound the load: %w", err)
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 128<<10), due: make(chan time.Time, 1)}, nil
}

// send sends the request.
func (c *conn) send(j *job) error {
	if _, err := c.Write(j.Request); err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	return nil
}

// receive reads an answer, which must be the one that is known.
func (c *conn) receive(j *job) error {
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
			if err := c.receive(j); err != nil {
				return err
			}
		}
		return nil
	})
	return time.Since(began), err
}

// each runs f for all of list at once and returns the first error.
func each[T any](list []T, f func(int, T) error) error {
	var all sync.WaitGroup
	errs := make([]error, len(list))
	for i, x := range list {
		all.Go(func() { errs[i] = f(i, x) })
	}
	all.Wait()
	return firstOf(errs...)
}

// request writes a search as a client of user sends it.
func request(user, target string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\nAuthorization: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", target, basic(user), len(searchBody), searchBody)
}

// ask sends one request and returns the body of its answer.
func ask(addr, user, target string) ([]byte, error) {
	j := job{Addr: addr, Request: request(user, target), Limit: 10 * time.Second}
	c, err := j.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.send(&j); err != nil {
		return nil, err
	}
	if err := c.answer.Read(c.r); err != nil && err != io.EOF {
		return nil, fmt.Errorf("cannot read an answer: %w", err)
	}
	if c.answer.StatusCode() != fasthttp.StatusOK {
		return nil, fmt.Errorf("user %q at %q got status %d: %.300q", user, target, c.answer.StatusCode(), c.answer.Body())
	}
	return slices.Clone(c.answer.Body()), nil
}
