// Command bench measures what guard costs, side by side in one run and in front of the
// same stub: a search through a bare fasthttp proxy, through nginx, through haproxy, and
// through guard as four users; the memory that guard takes for large transfers and for idle
// connections; what a plan costs by the number of indices; and what operations cost on real
// nodes, through guard and with the security plugin. It leaves nothing running.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The processes that are started end with the thread that started them: main keeps it.
func init() { runtime.LockOSThread() }

// roles are what this program is when it starts itself.
var roles = map[string]func(args []string) error{"stub": runStub, "bare": runBare, "load": runLoad, "loop": runLoop}

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		if role := roles[args[0]]; role != nil {
			return role(args[1:])
		}
	}
	o := order{amounts: wholeAmounts, breadth: wholeMatrix, nodes: wholeCluster}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.Rounds, "rounds", 0, fmt.Sprintf("rounds; each measures every column; 0: %d of the comparison, %d of matrix and cluster", compareRounds, planRounds))
	flags.IntVar(&o.Requests, "requests", 20_000, "requests of a round and column, for the small answer")
	flags.IntVar(&o.Conns, "connections", 16, "connections of the load")
	flags.IntVar(&o.Rate, "rate", 1000, "requests a second while latency is measured")
	flags.DurationVar(&o.Paced, "paced", 5*time.Second, "how long latency is measured, in a round and column")
	flags.StringVar(&o.only, "only", "", "of "+strings.Join(parts, ", ")+": measure these alone, with commas between them")
	flags.StringVar(&o.out, "out", "bench/results", "folder for the results")
	flags.BoolVar(&o.profile, "profile", false, "write profiles of guard, one a column, to the folder; no tables")
	flags.BoolVar(&o.document, "document", false, "write the results into the documentation, too; run it in the root of the repository")
	flags.BoolVar(&o.render, "render", false, "measure nothing; write the documentation of the documented results anew")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := o.check(flags.Args()); err != nil {
		return err
	}
	if o.render {
		return render(".")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return o.bench(ctx, os.Stdout)
}

// order is what one call of the program does.
type order struct {
	settings
	amounts  amounts
	breadth  breadth
	nodes    clusterBreadth
	only     string // some of parts, with commas between them, or all
	out      string
	profile  bool
	document bool
	render   bool
}

const (
	compareOnly = "compare"
	memoryOnly  = "memory"
	matrixOnly  = "matrix"
	clusterOnly = "cluster"
)

// parts are what is measured, in this order.
var parts = []string{compareOnly, memoryOnly, matrixOnly, clusterOnly}

// The rounds of a part, if nothing else is wanted.
const (
	compareRounds = 7
	planRounds    = 3
)

// rounds returns how many are wanted, or usual.
func (o *order) rounds(usual int) int {
	if o.Rounds == 0 {
		return usual
	}
	return o.Rounds
}

// wants reports whether a part is measured.
func (o *order) wants(part string) bool {
	return o.only == "" || slices.Contains(strings.Split(o.only, ","), part)
}

// checkParts refuses what can't be measured.
func (o *order) checkParts() error {
	if o.only == "" {
		return nil
	}
	for part := range strings.SplitSeq(o.only, ",") {
		if !slices.Contains(parts, part) {
			return fmt.Errorf("only %q: no part is called %q; want some of %q", o.only, part, parts)
		}
	}
	return nil
}

// check refuses settings that measure nothing.
func (o *order) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected %q; want only flags", rest)
	case o.profile && (o.document || o.only != ""):
		return errors.New("profiles are not documented, and are of all columns")
	case o.Rounds < 0 || o.Requests < 1 || o.Conns < 1 || o.Rate < 1 || o.Paced <= 0:
		return errors.New("requests, connections, rate and paced must be above zero, and rounds not below")
	}
	return o.checkParts()
}

// bench runs all and writes the results, or profiles, to w and into the folder out.
func (o *order) bench(ctx context.Context, w io.Writer) (err error) {
	m, err := newMachine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return fmt.Errorf("cannot make the folder for results: %w", err)
	}
	if o.profile {
		return o.profileAll(ctx, m, w)
	}
	all, failed := o.measureAll(ctx, m, w)
	if all == (results{}) {
		return failed
	}
	path := filepath.Join(o.out, time.Now().UTC().Format("2006-01-02T150405"))
	if err := errors.Join(failed, all.save(path+".json"), all.write(w)); err != nil {
		return err
	}
	fmt.Fprintln(w, "bench: written to", path+".json")
	if o.document {
		return all.document(".")
	}
	return nil
}

// measureAll measures the parts that are wanted. With an error it returns those that were
// measured before: they took long.
func (o *order) measureAll(ctx context.Context, m *machine, w io.Writer) (all results, err error) {
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{compareOnly, func() (err error) { all.Comparison, err = o.compareAll(ctx, m, w); return err }},
		{memoryOnly, func() (err error) { all.Memory, err = o.hoardAll(ctx, m, w); return err }},
		{matrixOnly, func() (err error) { all.Matrix, err = o.matrixAll(ctx, m, w); return err }},
		{clusterOnly, func() (err error) { all.Cluster, err = o.clusterAll(ctx, m, w); return err }},
	} {
		if !o.wants(part.name) {
			continue
		}
		if err := part.measure(); err != nil {
			return all, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return all, nil
}

// compareAll builds guard as it is shipped and compares it.
func (o *order) compareAll(ctx context.Context, m *machine, w io.Writer) (*comparison, error) {
	around := m.look()
	fmt.Fprintln(w, "bench: building guard")
	binary, err := m.buildGuard(ctx, false)
	if err != nil {
		return nil, err
	}
	targets, err := m.start(ctx, binary, w)
	if err != nil {
		return nil, err
	}
	s := o.settings
	s.Rounds = o.rounds(compareRounds)
	c, err := m.compare(ctx, targets, s, w)
	if err != nil {
		return nil, err
	}
	c.On = around
	return c, nil
}

// hoardAll builds guard with the profiler and measures its memory.
func (o *order) hoardAll(ctx context.Context, m *machine, w io.Writer) (*memory, error) {
	around := m.look()
	fmt.Fprintln(w, "bench: building guard with the profiler")
	binary, err := m.buildGuard(ctx, true)
	if err != nil {
		return nil, err
	}
	found, err := m.hoard(ctx, binary, o.amounts, o.out, w)
	if err != nil {
		return nil, err
	}
	found.On = around
	return found, nil
}

// matrixAll measures plans in this process.
func (o *order) matrixAll(ctx context.Context, m *machine, w io.Writer) (found *matrix, err error) {
	around := m.look()
	ended := make(chan struct{})
	go func() { // not on the thread of main, which is no goroutine like those that serve
		defer close(ended)
		found, err = o.breadth.matrix(ctx, o.rounds(planRounds), w)
	}()
	<-ended
	if err != nil {
		return nil, err
	}
	found.On = around
	return found, nil
}

// profileAll profiles guard column by column.
func (o *order) profileAll(ctx context.Context, m *machine, w io.Writer) error {
	fmt.Fprintln(w, "bench: building guard with the profiler")
	binary, err := m.buildGuard(ctx, true)
	if err != nil {
		return err
	}
	targets, err := m.start(ctx, binary, w)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if !t.guard {
			continue
		}
		lengths, err := t.check()
		if err != nil {
			return err
		}
		for _, z := range sizes {
			to := filepath.Join(o.out, fileName(t.name+" "+z.name))
			if err := m.profileOf(ctx, t.process, o.job(t, z, lengths[z.name]), to); err != nil {
				return err
			}
			fmt.Fprintf(w, "bench: go tool pprof -top %s.cpu\n", to)
		}
	}
	return nil
}

// fileName is a name without what shells and paths have a use for.
func fileName(s string) string {
	return strings.NewReplacer(" ", "-", "+", "-", ",", "").Replace(s)
}
