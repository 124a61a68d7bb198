// Command bench measures what guard costs: one search through a bare fasthttp proxy,
// through nginx, and through guard as four users, side by side in one run, in front
// of the same stub. It leaves nothing running.
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
	"strings"
	"syscall"
	"time"
)

// The processes that are started end with the thread that started them: main keeps it.
func init() { runtime.LockOSThread() }

// roles are what this program is when it starts itself.
var roles = map[string]func(args []string) error{"stub": runStub, "bare": runBare, "load": runLoad}

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
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&s.rounds, "rounds", 9, "rounds; each measures every column")
	flags.IntVar(&s.requests, "requests", 10_000, "requests of a round and column, for the small answer")
	flags.IntVar(&s.conns, "connections", 16, "connections of the load")
	flags.IntVar(&s.rate, "rate", 1000, "requests a second while latency is measured")
	flags.DurationVar(&s.paced, "paced", time.Second, "how long latency is measured, in a round and column")
	out := flags.String("out", "bench/results", "folder for the tables")
	profile := flags.Bool("profile", false, "write profiles of guard, one a column, to the folder; no tables")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := s.check(flags.Args()); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return bench(ctx, s, *out, *profile, os.Stdout)
}

// check refuses settings that measure nothing.
func (s settings) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected %q; want only flags", rest)
	}
	if s.rounds < 1 || s.requests < 1 || s.conns < 1 || s.rate < 1 || s.paced <= 0 {
		return errors.New("rounds, requests, connections, rate and paced must be above zero")
	}
	return nil
}

// bench runs all and writes the tables, or profiles, to w and into the folder out.
func bench(ctx context.Context, s settings, out string, profile bool, w io.Writer) (err error) {
	m, err := newMachine()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := os.MkdirAll(out, 0o750); err != nil {
		return fmt.Errorf("cannot make the folder for results: %w", err)
	}
	fmt.Fprintln(w, "bench: building guard")
	binary, err := m.buildGuard(ctx, profile)
	if err != nil {
		return err
	}
	targets, err := m.start(ctx, binary, w)
	if err != nil {
		return err
	}
	if profile {
		return m.profileAll(ctx, targets, s, out, w)
	}
	r, err := m.compare(ctx, targets, s, w)
	if err != nil {
		return err
	}
	path := filepath.Join(out, time.Now().UTC().Format("2006-01-02T150405")+".md")
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	if err := errors.Join(r.write(io.MultiWriter(w, f), targets, s, m.pinned), f.Close()); err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	fmt.Fprintln(w, "bench: written to", path)
	return nil
}

// profileAll profiles guard column by column.
func (m *machine) profileAll(ctx context.Context, targets []target, s settings, out string, w io.Writer) error {
	for _, t := range targets {
		if !t.guard {
			continue
		}
		lengths, err := t.check()
		if err != nil {
			return err
		}
		for _, z := range sizes {
			to := filepath.Join(out, strings.NewReplacer(" ", "-", "+", "-").Replace(t.name)+"-"+z.index)
			if err := m.profileOf(ctx, s.job(t, z, lengths[z.index]), to); err != nil {
				return err
			}
			fmt.Fprintf(w, "bench: go tool pprof -top %s.cpu\n", to)
		}
	}
	return nil
}
