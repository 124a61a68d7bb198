package main

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// sink writes the log in a goroutine of its own. A full disk, a pipe that nobody reads or
// that is closed cost records, which are counted: never a request, nor its time.
type sink struct {
	out  io.Writer
	lost prometheus.Counter
	told func(lost int, why error) []byte // the record that says so afterwards

	mu      sync.Mutex // guards what follows
	waiting []byte     // whole records
	dropped int        // records that found no room

	wake  chan struct{}      // holds a token while something waits
	syncs chan chan struct{} // who waits until all is written
	done  chan struct{}      // closed when run has ended
	ended chan struct{}      // closed to end it
}

const (
	maxWaiting = 1 << 20     // bytes of records that wait to be written
	syncTime   = time.Second // the most that somebody waits for them
)

// newSink returns a sink that runs until close.
func newSink(out io.Writer, lost prometheus.Counter, told func(int, error) []byte) *sink {
	s := &sink{
		out: out, lost: lost, told: told,
		wake: make(chan struct{}, 1), syncs: make(chan chan struct{}), done: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.run()
	return s
}

// Write takes a record, or drops it. It does not wait and does not fail.
func (s *sink) Write(record []byte) (int, error) {
	s.mu.Lock()
	if len(s.waiting)+len(record) > maxWaiting {
		s.dropped++
		s.lost.Inc()
	} else {
		s.waiting = append(s.waiting, record...)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return len(record), nil
}

// Sync waits until what was written before has left, but not for long.
func (s *sink) Sync() error {
	late := time.NewTimer(syncTime)
	defer late.Stop()
	through := make(chan struct{})
	select {
	case s.syncs <- through:
	case <-late.C:
		return nil
	case <-s.done:
		return nil
	}
	select {
	case <-through:
	case <-late.C:
	}
	return nil
}

// close writes what waits, and ends the goroutine unless it is stuck in a write.
func (s *sink) close() {
	_ = s.Sync() // never fails
	close(s.ended)
}

func (s *sink) run() {
	defer close(s.done)
	var fault writeFault
	var batch []byte
	for {
		select {
		case <-s.wake:
			batch = s.flush(batch, &fault)
		case through := <-s.syncs:
			batch = s.flush(batch, &fault)
			close(through)
		case <-s.ended:
			return
		}
	}
}

// writeFault is what went wrong since something was written.
type writeFault struct {
	lost int   // records
	why  error // the first error; nil if there was only no room
	torn bool  // the last record was written in part
}

// flush writes what waits, after a word about what was lost. It returns the buffer for
// the next time.
func (s *sink) flush(batch []byte, fault *writeFault) []byte {
	s.mu.Lock()
	batch, s.waiting = s.waiting, batch[:0]
	fault.lost += s.dropped
	s.dropped = 0
	s.mu.Unlock()
	if fault.lost > 0 && !s.tell(fault) {
		s.lose(batch, fault, nil)
		return batch
	}
	if len(batch) == 0 {
		return batch
	}
	if n, err := s.out.Write(batch); err != nil {
		s.lose(batch[n:], fault, err)
		fault.torn = torn(batch[:n], false)
	}
	return batch
}

// tell says that records were lost, and reports whether it could.
func (s *sink) tell(fault *writeFault) bool {
	word := s.told(fault.lost, fault.why)
	if fault.torn {
		word = append([]byte{'\n'}, word...)
	}
	n, err := s.out.Write(word)
	fault.torn = torn(word[:n], fault.torn)
	if err != nil {
		if fault.why == nil {
			fault.why = err
		}
		return false
	}
	*fault = writeFault{}
	return true
}

// torn reports whether the log ends inside a record, once written was added to it.
func torn(written []byte, before bool) bool {
	if len(written) == 0 {
		return before
	}
	return written[len(written)-1] != '\n'
}

// lose counts the records of what was not written.
func (s *sink) lose(rest []byte, fault *writeFault, why error) {
	n := bytes.Count(rest, []byte{'\n'})
	fault.lost += n
	s.lost.Add(float64(n))
	if fault.why == nil {
		fault.why = why
	}
}
