// Command guard is a security reverse proxy in front of an OpenSearch or Elasticsearch
// cluster: it serves, checks its configuration, explains what becomes of requests, tests
// policies and makes password hashes.
package main

import (
	"errors"
	"fmt"
	"os"

	"guard/config"
)

func main() { os.Exit(run(os.Args[1:])) }

// errTold is a failure that the output tells of already.
var errTold = errors.New("failed")

// run runs one command and returns the process's exit code.
func run(args []string) int {
	cmd := rootCommand()
	cmd.SetArgs(args)
	err := cmd.Execute()
	if err == nil {
		return 0
	}
	var faults config.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			fmt.Fprintf(os.Stderr, "guard: error: %s\n", f)
		}
		fmt.Fprintf(os.Stderr, "guard: %s; nothing was started or changed\n", count(len(faults), "fault"))
		return 1
	}
	if !errors.Is(err, errTold) {
		fmt.Fprintf(os.Stderr, "guard: error: %v\n", err)
	}
	return 1
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
