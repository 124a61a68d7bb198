// Command testbed fetches and starts the nodes of the test bed by hand.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"guard/test/testbed"
)

const usage = `usage:
  testbed fetch KIND...       assemble the homes of these kinds in the cache, with their REST suites ("all" for all of them)
  testbed start [flags] KIND  start one node, print its URL, stop it on Ctrl-C
      --port N                HTTP port on 127.0.0.1; a free one by default
      --heap SIZE             Java heap, such as 1g; 512 to 768 MiB by default
      --security FOLDER       files of the security plugin, for secured kinds
      --full-speed            Java's compiler and collector as in production

kinds: %v
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "testbed: error: %v\n", err)
		os.Exit(1)
	}
}

// command runs one command line; out gets what a caller may want to read.
func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("no command; testbed help lists them")
	}
	var err error
	switch args[0] {
	case "fetch":
		err = fetch(ctx, args[1:])
	case "start":
		err = start(ctx, args[1:], out)
	case "help", "-h", "-help", "--help":
		err = flag.ErrHelp
	default:
		return fmt.Errorf("unknown command %q; want fetch, start or help", args[0])
	}
	if errors.Is(err, flag.ErrHelp) { // wherever it was asked for
		_, err = fmt.Fprintf(out, usage, testbed.Kinds())
	}
	return err
}

// flagSet is that of a command. Its errors are reported by main, once.
func flagSet(command string) *flag.FlagSet {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// fetch fetches each kind and reports all that fail.
func fetch(ctx context.Context, args []string) error {
	flags := flagSet("fetch")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w; testbed help lists the flags", err)
	}
	names := flags.Args()
	kinds := testbed.Kinds()
	if len(names) == 0 {
		return fmt.Errorf("no kind; want some of %v, or all", kinds)
	}
	if len(names) != 1 || names[0] != "all" {
		kinds = nil
		for _, name := range names {
			kind, err := testbed.ParseKind(name)
			if err != nil {
				return err
			}
			kinds = append(kinds, kind)
		}
	}
	if err := testbed.Lacks(kinds); err != nil {
		return err
	}
	var errs []error
	for _, kind := range kinds {
		_, err := testbed.Fetch(ctx, kind)
		errs = append(errs, err)
		if slices.Contains(testbed.SuiteKinds(), kind) {
			_, err = testbed.FetchSuite(ctx, kind)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// start runs one node until ctx ends.
func start(ctx context.Context, args []string, out io.Writer) error {
	var o testbed.Options
	flags := flagSet("start")
	flags.IntVar(&o.Port, "port", 0, "")
	flags.StringVar(&o.Heap, "heap", "", "")
	flags.StringVar(&o.SecurityConfig, "security", "", "")
	flags.BoolVar(&o.FullSpeed, "full-speed", false, "")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w; testbed help lists the flags", err)
	}
	if flags.NArg() != 1 {
		return fmt.Errorf("start takes one kind, behind the flags; got %q", flags.Args())
	}
	var err error
	if o.Kind, err = testbed.ParseKind(flags.Arg(0)); err != nil {
		return err
	}
	node, err := testbed.Start(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, node.URL)
	if node.User != "" {
		fmt.Fprintf(os.Stderr, "testbed: log in as %s with password %s\n", node.User, node.Password)
	}
	<-ctx.Done()
	return node.Stop()
}
