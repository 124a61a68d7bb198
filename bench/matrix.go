package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// matrix is what planning costs, by the number of indices, the user and the operation,
// while indices are born.
type matrix struct {
	On     surroundings
	Rounds int
	Born   time.Duration // one index each
	Worlds []worldResult
}

// worldResult is what was measured in one world. Lists have an element for each round.
type worldResult struct {
	Name             string
	Indices, Aliases int
	Cells            []cellResult

	Births  int       // in all rounds
	Visible []float64 // ms until an index that was learnt of is decided on, the longest
	Work    []float64 // ms of CPU for that, the most
	Live    []float64 // MiB that are in use, without garbage
	Swap    []float64 // MiB, while the next state is there as well
	Peak    []float64 // MiB of the heap while indices were born, with garbage
}

// cellResult is one operation by one user.
type cellResult struct {
	User, Operation string
	Micros          []float64 // for a plan
	CPU             []float64 // of it, on the thread that plans
	Longest         []float64 // µs for the slowest batch of plans
	Cold            []float64 `json:",omitempty"` // µs for the first plan under a new policy
	Allocs, Bytes   float64   // of a plan
}

// breadth says how much of the matrix is measured.
type breadth struct {
	worlds []world
	births time.Duration // the time from one to the next
	slice  time.Duration // a cell is measured for so long
	passes int           // and so many times in a round
}

// wholeMatrix is the one that is documented.
var wholeMatrix = breadth{
	worlds: []world{
		{indices: 10}, {indices: 30}, {indices: 100}, {indices: 300}, {indices: 1000}, {indices: 3000},
		{indices: 10_000}, {indices: 30_000}, {indices: 100_000},
		{indices: 100_000, aliases: 100_000}, {indices: 100_000, aliases: 500_000, once: true},
	},
	births: time.Second, slice: 15 * time.Millisecond, passes: 20,
}

// The collector works as in guard serve.
const (
	gcPercent  = 400
	baseMemory = 256 << 20
)

// matrix measures every world in every round. The order moves on by one each round.
func (b breadth) matrix(ctx context.Context, rounds int, progress io.Writer) (*matrix, error) {
	users := members()
	l, err := newLaw(users)
	if err != nil {
		return nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(l.guard.Limits.MaxInFlight/2*3 + baseMemory))
	r := &matrix{Rounds: rounds, Born: b.births, Worlds: make([]worldResult, len(b.worlds))}
	for i, w := range b.worlds {
		r.Worlds[i] = worldResult{Name: w.String(), Indices: w.indices, Aliases: w.aliases}
	}
	for round := range rounds {
		fmt.Fprintf(progress, "bench: matrix: round %d of %d\n", round+1, rounds)
		for k := range b.worlds {
			i := (k + round) % len(b.worlds)
			if b.worlds[i].once && round > 0 {
				continue
			}
			if err := b.measure(ctx, l, users, b.worlds[i], &r.Worlds[i]); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// measure is one round in one world.
func (b breadth) measure(ctx context.Context, l *law, users []member, w world, into *worldResult) error {
	empty := liveHeap()
	p, err := l.compile()
	if err != nil {
		return err
	}
	s, err := w.stand(p)
	if err != nil {
		return err
	}
	cells, err := cellsOf(l, users, s, into)
	if err != nil {
		return err
	}
	found, err := b.under(ctx, s, cells)
	if err != nil {
		return err
	}
	for i, c := range cells {
		if err := into.Cells[i].add(c, found.cells[i], s); err != nil {
			return err
		}
	}
	into.Births += len(found.births)
	longest, most := time.Duration(0), time.Duration(0)
	for _, b := range found.births {
		longest, most = max(longest, b.took), max(most, b.cpu)
	}
	into.Visible, into.Work = append(into.Visible, digits(micros(longest)/1000)), append(into.Work, digits(micros(most)/1000))
	live, swap, err := s.heaps()
	if err != nil {
		return err
	}
	into.Live, into.Swap = append(into.Live, mib(live, empty)), append(into.Swap, mib(swap, empty))
	into.Peak = append(into.Peak, mib(found.peak, 0))
	return nil
}

// add keeps what a round saw, and what a plan allocates while nothing is born.
func (r *cellResult) add(c *cell, seen timed, s *standing) (err error) {
	plans := float64(seen.plans)
	r.Micros = append(r.Micros, digits(micros(seen.total)/plans))
	r.CPU = append(r.CPU, digits(micros(seen.cpu)/plans))
	r.Longest = append(r.Longest, digits(micros(seen.longest)))
	r.Allocs, r.Bytes, err = c.cost(s.snapshot.Load())
	r.Allocs, r.Bytes = math.Round(r.Allocs), math.Round(r.Bytes)
	return err
}

// cellsOf makes and warms the cells of a world.
func cellsOf(l *law, users []member, s *standing, into *worldResult) ([]*cell, error) {
	var cells []*cell
	for _, o := range operations {
		if o.aliases && s.aliases == 0 {
			continue
		}
		for _, u := range users {
			if len(into.Cells) == len(cells) {
				into.Cells = append(into.Cells, cellResult{User: u.name, Operation: o.name})
			}
			if o.cold {
				took, err := coldPlan(l, u, o, s)
				if err != nil {
					return nil, err
				}
				r := &into.Cells[len(cells)]
				r.Cold = append(r.Cold, digits(micros(took)))
			}
			c := newCell(u, o, s.world, s.snapshot.Load())
			if err := c.check(s.snapshot.Load()); err != nil {
				return nil, fmt.Errorf("%s: %w", s.world, err)
			}
			if err := c.warm(s.snapshot.Load()); err != nil {
				return nil, err
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// coldPlan times a plan under a policy that nobody was decided by yet.
func coldPlan(l *law, u member, o operation, s *standing) (time.Duration, error) {
	p, err := l.compile()
	if err != nil {
		return 0, err
	}
	unused := &standing{world: s.world, policy: p}
	unused.serve(s.state)
	c := newCell(u, o, s.world, unused.snapshot.Load())
	began := time.Now()
	err = c.plan(unused.snapshot.Load())
	return time.Since(began), err
}

// underBirths is what is seen while indices are born.
type underBirths struct {
	cells  []timed
	births []birth
	peak   uint64
}

// under times all cells, slice by slice in turn, while indices are born.
func (b breadth) under(ctx context.Context, s *standing, cells []*cell) (underBirths, error) {
	found := underBirths{cells: make([]timed, len(cells))}
	ctx, stop := context.WithCancel(ctx)
	first := newBirth(s)
	ended := make(chan error, 2)
	go func() { ended <- b.bearAll(ctx, s, first, &found) }()
	go func() { found.peak = peakHeap(ctx); ended <- nil }()
	err := b.timeAll(ctx, s, cells, found.cells)
	stop()
	err = firstOf(err, <-ended, <-ended)
	return found, err
}

func (b breadth) timeAll(ctx context.Context, s *standing, cells []*cell, into []timed) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for pass := range b.passes {
		for k := range cells {
			i := (k + pass) % len(cells)
			if err := cells[i].slice(s, b.slice, &into[i]); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("the matrix was not measured: %w", err)
		}
	}
	return nil
}

// newBirth is the request that is planned first on each new state: by who has the most roles.
func newBirth(s *standing) *cell {
	users := members()
	return newCell(users[len(users)-1], operations[0], s.world, s.snapshot.Load())
}

// bearAll has an index born at each tick until ctx ends.
func (b breadth) bearAll(ctx context.Context, s *standing, first *cell, into *underBirths) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tick := time.NewTicker(b.births)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		seen, err := s.bear(first)
		if err != nil {
			return err
		}
		into.births = append(into.births, seen)
	}
}

// liveHeap returns the bytes that are in use, without garbage.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heaps returns what is live with the one state, and while the next one is there as well.
func (s *standing) heaps() (live, swap uint64, err error) {
	live = liveHeap()
	old := s.snapshot.Load()
	if err = s.swap(s.contents(s.born + 1)); err != nil {
		return 0, 0, err
	}
	swap = liveHeap()
	runtime.KeepAlive(old)
	runtime.KeepAlive(s)
	return live, swap, nil
}

// peakHeap returns the most that the heap held until ctx ended, garbage included.
func peakHeap(ctx context.Context) (peak uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64())
		select {
		case <-ctx.Done():
			return peak
		case <-tick.C:
		}
	}
}

// mib is how many MiB n is more than before.
func mib(n, before uint64) float64 { return digits((float64(n) - float64(before)) / (1 << 20)) }

// digits rounds to four digits: more tell nothing.
func digits(f float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 4, 64), 64)
	if err != nil {
		panic("BUG: a number that was written can't be read: " + err.Error())
	}
	return rounded
}
