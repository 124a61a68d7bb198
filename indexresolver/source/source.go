// Package source keeps the state of the cluster current. It waits for changes of
// the cluster's metadata, reads the whole state only then, and never goes back: on
// errors the last good state stays and grows older.
package source

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"guard/indexresolver"
)

// Config says how often and how long a Source asks. Zero values take the defaults.
type Config struct {
	Wait     time.Duration // of one long poll; default 15 s
	Poll     time.Duration // between polls where long polls are refused; default 1 s
	MinPause time.Duration // between two reads; default 100 ms
	MaxPause time.Duration // between two reads that fail; default 5 s
	Timeout  time.Duration // of one read, a long poll has Wait on top; default 30 s
	Retry    time.Duration // after which what was forbidden is tried again; default 1 min

	// OnError is told of each failed read. It may be nil.
	OnError func(error)
	// OnLists is told why the cluster's state is not read but its lists, when that begins, and
	// of nil when it ends. It may be nil.
	OnLists func(refused error)
}

// SetDefaults states each default once.
func (c *Config) SetDefaults() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.Wait, 15 * time.Second}, {&c.Poll, time.Second}, {&c.MinPause, 100 * time.Millisecond},
		{&c.MaxPause, 5 * time.Second}, {&c.Timeout, 30 * time.Second}, {&c.Retry, time.Minute},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	if c.OnLists == nil {
		c.OnLists = func(error) {}
	}
}

// Source is the cached state of one cluster.
type Source struct {
	config Config
	read   reader
	state  atomic.Pointer[indexresolver.State]
	seen   atomic.Pointer[stamp] // the newest state that was read, also if it changed no name
	stats
	asked chan struct{} // holds a token while somebody waits for a read

	mu       sync.Mutex // guards what follows
	next     *read      // the read that has not begun yet; nil if nobody waits
	ended    error      // why no read begins any more
	watchers []func(*indexresolver.State)
}

// read is one reading of the state, which all who asked before its start share.
type read struct {
	done chan struct{}
	err  error // valid after done
}

// New returns a Source that asks through f. It does nothing before Run.
func New(f Fetcher, c Config) *Source {
	c.SetDefaults()
	s := &Source{config: c, asked: make(chan struct{}, 1)}
	s.read = reader{fetch: f, retry: c.Retry, turned: func(refused error) { s.lists.Store(refused != nil); c.OnLists(refused) }}
	return s
}

// State returns the newest state. Before the first one it is empty: it resolves
// nothing.
func (s *Source) State() *indexresolver.State {
	if state := s.state.Load(); state != nil {
		return state
	}
	return &indexresolver.State{}
}

// OnChange calls f with each new state, in their order and never twice at once. It
// must be called before Run. A Refresh returns after f has.
func (s *Source) OnChange(f func(*indexresolver.State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
}

// Run keeps the state current until outer ends, and returns when all it started has
// ended.
func (s *Source) Run(outer context.Context) error {
	group, ctx := errgroup.WithContext(outer)
	group.Go(func() error { return s.serve(ctx) })
	group.Go(func() error { return s.watch(ctx) })
	err := group.Wait()
	if outer.Err() != nil {
		return nil //nolint:nilerr // it was told to end
	}
	return err
}

// Refresh returns a state that was read, or found unchanged, after the call. Calls
// at the same time share one reading, and readings keep a pause between them. On an
// error the state is the old one.
func (s *Source) Refresh(ctx context.Context) (*indexresolver.State, error) {
	r := s.ask()
	select {
	case <-r.done:
		return s.State(), r.err
	case <-ctx.Done():
		return s.State(), fmt.Errorf("cannot wait for the state of the cluster: %w", ctx.Err())
	}
}

// ask joins the read that has not begun yet.
func (s *Source) ask() *read {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		return s.next
	}
	r := &read{done: make(chan struct{}), err: s.ended}
	if s.ended != nil {
		close(r.done)
		return r
	}
	s.next = r
	s.asked <- struct{}{} // never blocks: serve took the last token with the last read
	return r
}

// serve does the reads that are asked for, one at a time.
func (s *Source) serve(ctx context.Context) error {
	pause := s.config.MinPause
	for {
		select {
		case <-s.asked:
		case <-ctx.Done():
			return s.end(ctx.Err())
		}
		r, began := s.take(), time.Now()
		r.err = survive(func() error { return s.update(ctx) })
		close(r.done)
		if r.err != nil {
			s.failed(r.err)
			pause = min(2*pause, s.config.MaxPause)
		} else {
			// The larger the cluster, the longer a reading; it has as much time without.
			pause = max(s.config.MinPause, min(time.Since(began), s.config.MaxPause))
		}
		if err := sleep(ctx, pause); err != nil {
			return s.end(err)
		}
	}
}

// failed counts and tells an error.
func (s *Source) failed(err error) {
	s.errors.Add(1)
	s.config.OnError(err)
}

// take begins the read that was asked for: who asks from now on waits for the next.
func (s *Source) take() *read {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.next
	s.next = nil
	return r
}

// end lets go all who wait for a read, now and later.
func (s *Source) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = fmt.Errorf("the state of the cluster is not read any more: %w", err)
	if s.next != nil {
		s.next.err = s.ended
		close(s.next.done)
		s.next = nil
	}
	return err
}

// errOlder tells of an answer from a node that is behind.
var errOlder = errors.New("the answer is older than the state that is known")

// update reads the state if it has changed and publishes it.
func (s *Source) update(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	began := time.Now()
	old, seen := s.state.Load(), s.seen.Load()
	contents, stamp, err := s.read.contents(ctx, seen, old)
	switch {
	case err != nil:
		return err
	case contents == nil:
		old.Confirm(began)
		return nil
	case seen != nil && stamp.olderThan(*seen):
		s.older.Add(1)
		return fmt.Errorf("cannot use the state of the cluster: %w", errOlder)
	}
	s.readings.Add(1)
	contents.FetchedAt, contents.Generation = began, s.State().Generation+1
	state, err := indexresolver.New(*contents, old)
	if err != nil {
		return err
	}
	if state.SameNames(old) {
		old.Confirm(began)
		s.seen.Store(&stamp)
		return nil
	}
	s.mu.Lock()
	watchers := s.watchers
	s.mu.Unlock()
	for _, f := range watchers {
		f(state)
	}
	// Only now: a state that could not be told of is read again, and grows old meanwhile.
	s.state.Store(state)
	s.seen.Store(&stamp)
	return nil
}

// survive runs a step. A panic in it, over an answer that nobody foresaw, is an error as
// any other: the last good state stays and grows older.
func survive(step func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("BUG: panic: %v\n%s", v, debug.Stack())
		}
	}()
	return step()
}

// sleep waits for d, give or take a tenth, so that replicas do not ask in step.
func sleep(ctx context.Context, d time.Duration) error {
	d += time.Duration(float64(d) * (rand.Float64() - 0.5) / 5) //nolint:gosec // G404: jitter, not a secret
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
