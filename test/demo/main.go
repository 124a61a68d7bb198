// Command demo shows guard at work: a real OpenSearch node with a small data set,
// guard in front of it with the policy of deploy/sample, and one search as four users.
//
// With ONCE=1 in the environment it ends by itself, with exit code 0 only if every
// answer was as the policy says; else guard stays until Ctrl-C, which ends the demo
// with exit code 0 at any time. What it started ends with it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"guard/test/testbed"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, orphaned := context.WithCancel(ctx)
	defer orphaned()
	go watchParent(ctx, orphaned)
	if err := run(ctx, os.Getenv("ONCE") != ""); err != nil {
		fmt.Fprintf(os.Stderr, "demo: error: %v\n", err)
		os.Exit(1)
	}
}

// watchParent calls orphaned when the process that started this one is gone: one that
// is killed, or `go run` by SIGTERM, hands nothing on.
func watchParent(ctx context.Context, orphaned func()) {
	parent := os.Getppid()
	for ctx.Err() == nil && os.Getppid() == parent {
		time.Sleep(200 * time.Millisecond)
	}
	orphaned()
}

// progress tells what is being done; the standard output is left to the answers.
func progress(format string, args ...any) {
	for _, line := range wrap("demo: "+fmt.Sprintf(format, args...), maxWidth) {
		fmt.Fprintln(os.Stderr, line)
	}
}

// run is the demo. Being told to stop is its end and no error, but for one that is to
// check the answers once and did not come to it.
func run(ctx context.Context, once bool) (err error) {
	s := &stage{}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		if ctx.Err() != nil && !once {
			progress("told to stop before the first answer")
			return nil
		}
		return err
	}
	progress("asking as admin, anna, sam and ivan")
	text, wrong := show(s.guard.client, s.node.Version)
	fmt.Print(text)
	if wrong != nil {
		return fmt.Errorf("not every answer is as the policy says: %w", wrong)
	}
	if once {
		progress("every answer is as the policy says")
		return nil
	}
	fmt.Print(invitation(s.guard.client.URL))
	progress("every answer is as the policy says; guard's log is %s", s.guard.logPath)
	progress("guard: %s  probes: %s  node: %s", s.guard.client.URL, s.guard.internal, s.node.URL)
	select {
	case <-ctx.Done():
		progress("stopping guard and the node")
		return nil
	case <-s.guard.exited:
		return fmt.Errorf("guard ended by itself\n%s", s.guard.log())
	}
}

// A stage is what the demo started.
type stage struct {
	dir   string
	node  *testbed.Node
	guard *guardProcess
}

// open starts everything. What was started before a failure is in s as well.
func (s *stage) open(ctx context.Context) error {
	root, err := repository()
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "guard-demo-"); err != nil {
		return fmt.Errorf("cannot make a folder for the demo: %w", err)
	}
	progress("building guard")
	binary, err := buildGuard(ctx, root, s.dir)
	if err != nil {
		return err
	}
	progress("starting an OpenSearch node without security; the first time it is fetched, for minutes")
	s.node, err = testbed.Start(ctx, testbed.Options{Kind: testbed.OpenSearch, Port: freePort(nodePort)})
	if err != nil {
		return err
	}
	progress("loading customers, orders and the shop's log")
	if err := load(s.node.Client); err != nil {
		return err
	}
	progress("starting guard with deploy/sample/guard.yml")
	s.guard, err = startGuard(ctx, root, s.dir, binary, s.node.URL)
	return err
}

// close stops what was started and removes what was written.
func (s *stage) close() error {
	var errs []error
	if s.guard != nil {
		errs = append(errs, s.guard.stop())
	}
	if s.node != nil {
		errs = append(errs, s.node.Stop())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
