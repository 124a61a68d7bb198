package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/config"
)

// brittle is a file that fails or is stuck when a test wants it.
type brittle struct {
	mu    sync.Mutex // guards all below
	text  bytes.Buffer
	fails error
	after int // bytes that are written of what fails
	stuck chan struct{}
}

func (b *brittle) Write(p []byte) (int, error) {
	b.mu.Lock()
	stuck := b.stuck
	b.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails != nil {
		n := min(b.after, len(p))
		b.text.Write(p[:n])
		return n, b.fails
	}
	return b.text.Write(p)
}

func (b *brittle) set(fails error, after int, stuck chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails, b.after, b.stuck = fails, after, stuck
}

func (b *brittle) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Split(strings.TrimSuffix(b.text.String(), "\n"), "\n")
}

func brittleLog(t *testing.T) (*zap.Logger, *brittle, *prometheus.Registry) {
	t.Helper()
	out, reg := &brittle{}, prometheus.NewRegistry()
	log, _, to, err := newLogger(config.Log{Level: config.LogInfo}, out, reg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		out.set(nil, 0, nil)
		to.close()
		<-to.done
	})
	return log, out, reg
}

func lostRecords(t *testing.T, reg *prometheus.Registry) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%v, %v; want one metric", families, err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

// TestLogOrder: records come whole and in their order.
func TestLogOrder(t *testing.T) {
	log, out, _ := brittleLog(t)
	for i := range 1000 {
		log.Info("record", zap.Int("n", i))
	}
	_ = log.Sync()
	lines := out.lines()
	if len(lines) != 1000 {
		t.Fatalf("%d records; want 1000", len(lines))
	}
	for i, line := range lines {
		var r struct {
			N     int
			Level string
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.N != i || r.Level != "info" {
			t.Fatalf("record %d is %s (%v)", i, line, err)
		}
	}
}

// TestLogFails: what can't be written is counted and said once when it can be again; a
// record that was written in part does not spoil the next.
func TestLogFails(t *testing.T) {
	log, out, reg := brittleLog(t)
	out.set(errors.New("no space left on device"), 5, nil)
	for range 3 {
		log.Info("lost")
		_ = log.Sync()
	}
	if n := lostRecords(t, reg); n != 3 {
		t.Errorf("%v records counted as lost; want 3", n)
	}
	out.set(nil, 0, nil)
	log.Info("after")
	_ = log.Sync()
	log.Info("later")
	_ = log.Sync()
	lines := out.lines()
	if len(lines) < 3 {
		t.Fatalf("got %q", lines)
	}
	said := lines[len(lines)-3]
	if !strings.Contains(said, `"msg":"log records were lost"`) || !strings.Contains(said, `"records":3,"error":"no space left on device"`) || !json.Valid([]byte(said)) {
		t.Errorf("it says %s; want 3 records lost, and why", said)
	}
	for i, want := range []string{"after", "later"} {
		if line := lines[len(lines)-2+i]; !strings.Contains(line, `"msg":"`+want+`"`) || !json.Valid([]byte(line)) {
			t.Errorf("got %s; want %s", line, want)
		}
	}
}

// TestLogStuck: nobody waits for a log that nobody reads, and what it holds is bounded.
func TestLogStuck(t *testing.T) {
	log, out, reg := brittleLog(t)
	stuck := make(chan struct{})
	out.set(nil, 0, stuck)
	long := strings.Repeat("x", 1000)
	for range 3000 { // three times what may wait
		log.Info(long)
	}
	_ = log.Sync() // returns
	if n := lostRecords(t, reg); n < 1000 || n > 2500 {
		t.Errorf("%v records lost; want about 2000 of 3000", n)
	}
	lost := int(lostRecords(t, reg))
	out.set(nil, 0, nil)
	close(stuck)
	_ = log.Sync()
	log.Info("after")
	_ = log.Sync()
	said, others := 0, 0 // it is said once, or twice if the first word was stuck itself
	for _, line := range out.lines() {
		if strings.Contains(line, `"msg":"log records were lost"`) {
			said++
		} else {
			others++
		}
	}
	if others != 3000-lost+1 || said < 1 || said > 2 {
		t.Errorf("%d records, and %d that say that some were lost; want the %d that were not, one more, and one or two", others, said, 3000-lost)
	}
}
