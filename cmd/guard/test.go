package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"guard/config"
	"guard/policytest"
)

// testRun is what guard test is asked.
type testRun struct {
	settings
	state       string
	junit       string
	minCoverage int
}

func testCommand() *cobra.Command {
	var t testRun
	cmd := &cobra.Command{
		Use: "test [flags] FILE...", Short: "Test a policy: who sends what, and what becomes of it", Args: wantArguments(1, math.MaxInt, "files of tests"),
		Long: `test plans the requests of each FILE as serve would, compares what becomes of them with what
the file wants, and tells which entries of roles.yml no test has used. It exits with 1 if
a test fails or a file has a fault. With a saved state no cluster is needed.

A file of tests:

  state: state.json            # or the flag --state
  tests:
    - name: analysts see their own region
      as: anna                 # an account; or {user: x, backend_roles: [sales]}
      send: GET /customers/_search
      want: {verdict: forwarded, indices: [customers], documents: ['{"term": {"region": "north"}}']}
    - as: anna
      send: DELETE /customers
      want: refused`,
		Example: `  guard test --security ./security --state state.json tests/*.yml
  guard test --config guard.yml --junit results.xml --min-coverage 90 tests/*.yml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	t.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&t.state, "state", "", "file of guard state save; wins over that of a test file")
	f.StringVar(&t.junit, "junit", "", "file to write the results to, as JUnit XML")
	f.IntVar(&t.minCoverage, "min-coverage", 0, "percentage of the entries of roles.yml that tests must use")
	return cmd
}

func (t *testRun) run(ctx context.Context, out, warn io.Writer, files []string) error {
	suites, err := loadTests(files)
	if err != nil {
		return err
	}
	state, err := t.stateFile(suites)
	if err != nil {
		return err
	}
	o, err := newOffline(ctx, warn, t.settings, state)
	if err != nil {
		return err
	}
	suite := policytest.Suite{Snapshot: o.snapshot, Accounts: o.policy.chain, Limits: o.config.Limits, Now: time.Now()}
	var results []policytest.Result
	for _, tests := range suites {
		for i := range tests.Tests {
			results = append(results, suite.Run(&tests.Tests[i]))
		}
	}
	if err := policytest.WriteTable(out, results); err != nil {
		return err
	}
	if err := t.writeJUnit(results); err != nil {
		return err
	}
	return t.conclude(out, results, suite.Coverage())
}

// loadTests reads all files. All faults are reported at once.
func loadTests(files []string) (list []*config.PolicyTests, err error) {
	var faults []error
	for _, file := range files {
		tests, err := config.LoadPolicyTests(file)
		faults = append(faults, err)
		list = append(list, tests)
	}
	return list, joinFaults(faults...)
}

// stateFile returns the one state that all tests are about.
func (t *testRun) stateFile(suites []*config.PolicyTests) (string, error) {
	if t.state != "" {
		return t.state, nil
	}
	state := suites[0].State
	for _, s := range suites {
		if s.State != state {
			return "", config.Faults{s.Pos.At("state").Fault("the files name several states", "one state for all, or the flag --state")}.Err()
		}
	}
	return state, nil
}

func (t *testRun) writeJUnit(results []policytest.Result) error {
	if t.junit == "" {
		return nil
	}
	f, err := os.Create(t.junit)
	if err != nil {
		return fmt.Errorf("cannot write the results: %w", err)
	}
	return errors.Join(policytest.WriteJUnit(f, results), f.Close())
}

// conclude tells the sums, and fails if they are not as they have to be.
func (t *testRun) conclude(out io.Writer, results []policytest.Result, c policytest.Coverage) error {
	failed := policytest.Failed(results)
	fmt.Fprintf(out, "\n%s, %d failed\n", count(len(results), "test"), failed)
	fmt.Fprintf(out, "%d of %d entries of roles were used (%d %%)\n", c.Entries-len(c.Unused), c.Entries, c.Percent())
	for _, e := range c.Unused {
		fmt.Fprintf(out, "  not used: %s (%s)\n", e.Path, e.At)
	}
	if c.Percent() < t.minCoverage {
		fmt.Fprintf(out, "want at least %d %% of them\n", t.minCoverage)
		return errTold
	}
	if failed > 0 {
		return errTold
	}
	return nil
}
