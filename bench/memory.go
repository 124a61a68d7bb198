package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory is how much memory guard takes: while much passes through it, and for
// connections that only wait.
type memory struct {
	On        surroundings
	Transfers []transfers
	Idle      []idles
	Notes     []string // what was measured otherwise than asked
}

// transfers are the rounds of one kind of transfer, each by a fresh process.
type transfers struct {
	Name   string
	Bytes  int64
	Rounds []transfer
}

// transfer is one. All but its time are bytes of guard's process.
type transfer struct {
	Seconds  float64
	Before   int64 // resident
	Peak     int64
	Heap     int64 // in use before
	HeapPeak int64
}

// idles are the rounds of connections through one proxy, each by a fresh process.
type idles struct {
	Name        string
	Connections int
	Guard       bool // all is known, of others only what is resident
	Rounds      []idle
}

// idle is what connections take together, in bytes but for the goroutines: each is the
// growth since before the first one.
type idle struct {
	Resident   int64 // as it is
	Collected  int64 // resident after a collection
	Heap       int64 // after a collection, as the next
	Stacks     int64
	Goroutines int64
}

// amounts say how much is moved and held.
type amounts struct {
	rounds      int
	bulk        int64 // bytes of the request
	answer      int64
	connections int
}

// wholeAmounts are those that are documented.
var wholeAmounts = amounts{rounds: 3, bulk: 100 << 20, answer: 1 << 30, connections: 10_000}

// hoard measures memory. guardBinary has the profiler, which can be told to collect.
func (m *machine) hoard(ctx context.Context, guardBinary string, a amounts, out string, progress io.Writer) (*memory, error) {
	upstream, err := m.role(ctx, loadCore, "stub")
	if err != nil {
		return nil, err
	}
	r := &memory{}
	if most := descriptors() - 256; most < a.connections {
		r.Notes = append(r.Notes, fmt.Sprintf("%d connections were asked for; the limit of descriptors allows %d.", a.connections, most))
		a.connections = most
	}
	h := &hoarding{machine: m, binary: guardBinary, upstream: upstream.addr, amounts: a, out: out}
	for _, k := range transferKinds {
		fmt.Fprintln(progress, "bench: memory:", k.name)
		rounds, err := h.transfers(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		r.Transfers = append(r.Transfers, rounds)
	}
	kinds, err := h.idleKinds(progress)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		fmt.Fprintf(progress, "bench: memory: %d idle connections, %s\n", a.connections, k.name)
		rounds, err := h.idles(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		r.Idle = append(r.Idle, rounds)
	}
	return r, nil
}

// hoarding is one run of hoard.
type hoarding struct {
	*machine
	binary, upstream, out string
	amounts               amounts
}

// transferKind is one kind of transfer through guard.
type transferKind struct {
	name string
	user string
	bulk bool // else the answer is large
}

var transferKinds = []transferKind{
	{name: "bulk, unrestricted", user: "admin", bulk: true},
	{name: "bulk, limited", user: "writer", bulk: true},
	{name: "answer, unrestricted", user: "admin"},
}

// transfers measures one kind.
func (h *hoarding) transfers(ctx context.Context, k transferKind) (transfers, error) {
	t := transfers{Name: k.name, Bytes: h.amounts.answer}
	if k.bulk {
		t.Bytes = h.amounts.bulk
	}
	for range h.amounts.rounds {
		p, err := h.startGuard(ctx, h.binary, h.upstream, "")
		if err != nil {
			return t, err
		}
		one, err := k.measure(ctx, p, t.Bytes)
		h.end(p)
		if err != nil {
			return t, err
		}
		t.Rounds = append(t.Rounds, one)
	}
	return t, nil
}

// measure makes one transfer and watches guard meanwhile.
func (k transferKind) measure(ctx context.Context, p process, size int64) (t transfer, err error) {
	if err := p.warmUp(k.user); err != nil {
		return t, err
	}
	collected, err := p.collect()
	if err != nil {
		return t, err
	}
	t.Heap = collected.Heap
	if t.Before, err = p.forgetPeak(); err != nil {
		return t, err
	}
	watched, stop := context.WithCancel(ctx)
	peak := make(chan int64, 1)
	go func() { peak <- p.watchHeap(watched) }()
	began := time.Now()
	err = k.move(ctx, p.addr, size)
	t.Seconds = time.Since(began).Seconds()
	stop()
	t.HeapPeak = <-peak
	if err != nil {
		return t, err
	}
	_, t.Peak, err = resident(p.pid)
	return t, err
}

// bulkItem is an action with its document, of 1 KiB together.
var bulkItem = func() []byte {
	const head, tail = `{"index":{"_index":"people"}}` + "\n" + `{"name":"Anna Berg","region":"eu","note":"`, `"}` + "\n"
	return []byte(head + strings.Repeat("x", 1024-len(head)-len(tail)) + tail)
}()

// move sends or fetches size bytes and holds that they all arrived.
func (k transferKind) move(ctx context.Context, addr string, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	target, body, items := searchPath(fmt.Sprint(paddedIndex, size)), io.Reader(strings.NewReader(searchBody)), size/int64(len(bulkItem))
	length := int64(len(searchBody))
	if k.bulk {
		target, length = bulkPath, items*int64(len(bulkItem))
		body = io.LimitReader(&repeated{text: bulkItem}, length)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+target, body)
	if err != nil {
		return fmt.Errorf("cannot make a request: %w", err)
	}
	req.ContentLength = length
	req.Header.Set("Authorization", basic(k.user))
	req.Header.Set("Content-Type", "application/x-ndjson")
	if !k.bulk {
		req.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500)) // what there is of it
		return fmt.Errorf("got status %d: %s", res.StatusCode, text)
	}
	if !k.bulk {
		if n, err := io.Copy(io.Discard, res.Body); err != nil || n != size {
			return fmt.Errorf("%d bytes arrived, %w; want %d", n, err, size)
		}
		return nil
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("cannot read the answer: %w", err)
	}
	if n := int64(bytes.Count(text, []byte(`"status":201`))); n != items {
		return fmt.Errorf("%d items were acknowledged; want %d", n, items)
	}
	return nil
}

// warmUp has guard serve a little, so that what it makes once is made.
func (p process) warmUp(user string) error {
	for range 200 {
		if _, err := ask(p.addr, user, searchPath(echoIndex)); err != nil {
			return err
		}
	}
	return nil
}

// watchHeap returns the largest heap that it saw until ctx ended.
func (p process) watchHeap(ctx context.Context) int64 {
	var peak int64
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return peak
		case <-tick.C:
			if n, err := p.metric("go_memstats_heap_inuse_bytes"); err == nil {
				peak = max(peak, n)
			}
		}
	}
}

// metric returns one of guard's metrics.
func (p process) metric(name string) (int64, error) {
	res, err := http.Get("http://" + p.internal + "/metrics")
	if err != nil {
		return 0, fmt.Errorf("cannot ask for metrics: %w", err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), name+" ")
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("cannot read the metric %s: %w", name, err)
		}
		return int64(n), nil
	}
	return 0, errors.Join(fmt.Errorf("guard has no metric %s", name), lines.Err())
}

// idles measures the connections through one proxy.
func (h *hoarding) idles(ctx context.Context, k idleKind) (idles, error) {
	r := idles{Name: k.name, Connections: h.amounts.connections, Guard: k.guard}
	for range h.amounts.rounds {
		p, err := k.start(ctx)
		if err != nil {
			return r, err
		}
		one, err := k.measure(p, h.amounts.connections)
		if err == nil && k.guard {
			err = p.keep(".allocs", filepath.Join(h.out, fileName("idle "+k.name)))
		}
		h.end(p)
		if err != nil {
			return r, err
		}
		r.Rounds = append(r.Rounds, one)
	}
	return r, nil
}
