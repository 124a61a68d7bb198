package conformance

import (
	"fmt"

	"guard/test/testbed"
)

// A Trial is a suite on a node of its own with guard in front of it.
type Trial struct {
	Suite *Suite
	Node  *testbed.Node
	Guard testbed.Client // as one who may do everything

	// Tell is called for each difference when it is found, Progress now and then. Both must be set.
	Tell     func(Difference)
	Progress func(done int)
}

// A Result is what a trial has found.
type Result struct {
	Pass, Fail, Skip int      // on the node itself
	Calls            int      // answers of guard that were compared
	Warned           int      // of them, those that had warnings
	Failures         []string // why cases fail on the node itself
	Repeats          int      // cases that were run more often on the node, to tell noise
	Differences      []Difference
}

// moreRuns bounds how often a case is repeated on the node itself when guard's answers
// differ. What is noise then shows there; what guard did is not tried again. The order in
// which shards answer, and with it that of members, may stay the same for ten runs.
const moreRuns = 20

// progressEvery is how many cases lie between two calls of Progress: about half a minute.
const progressEvery = 50

// Try runs cases, each twice on the node and once through guard, and each on an empty cluster.
func (t *Trial) Try(cases []*Case) (Result, error) {
	var r Result
	e := engine{openSearch: t.Node.Kind != testbed.ES710, version: t.Node.Version}
	for i, c := range cases {
		if i > 0 && i%progressEvery == 0 {
			t.Progress(i)
		}
		if c.because(e) != "" {
			r.Skip++
			continue
		}
		if err := t.try(c, &r); err != nil {
			return r, fmt.Errorf("%s: %w", c.ID(), err)
		}
	}
	return r, nil
}

// try runs one case.
func (t *Trial) try(c *Case, r *Result) error {
	var direct []*Run
	for range 2 {
		run, err := t.run(c, t.Node.Client)
		if err != nil {
			return err
		}
		direct = append(direct, run)
	}
	guard, err := t.run(c, t.Guard)
	if err != nil {
		return err
	}
	found := Compare(c, direct, guard)
	if len(found) > 0 {
		r.Repeats++
	}
	for n := 0; n < moreRuns && len(found) > 0; n++ {
		run, err := t.run(c, t.Node.Client)
		if err != nil {
			return err
		}
		direct = append(direct, run)
		found = Compare(c, direct, guard)
	}
	for _, d := range found {
		t.Tell(d)
	}
	r.add(c, direct[0], guard, found)
	return nil
}

// run empties the cluster and runs the case at a place.
func (t *Trial) run(c *Case, at testbed.Client) (*Run, error) {
	if err := Clean(t.Node); err != nil {
		return nil, err
	}
	return t.Suite.Run(c, at), nil
}

// add counts a case.
func (r *Result) add(c *Case, direct, guard *Run, found []Difference) {
	if direct.Failed {
		r.Fail++
		r.Failures = append(r.Failures, fmt.Sprintf("%s: step %d: %s", c.ID(), direct.Step, direct.Why))
	} else {
		r.Pass++
	}
	r.Calls += len(guard.Answers)
	for _, a := range guard.Answers {
		if a.Header.Get("Warning") != "" {
			r.Warned++
		}
	}
	r.Differences = append(r.Differences, found...)
}

// Sample returns a part of the cases, always the same: one of each folder, and so of each call.
func (s *Suite) Sample() []*Case {
	byFolder := map[string][]*Case{}
	for _, c := range s.Cases {
		byFolder[c.Folder()] = append(byFolder[c.Folder()], c)
	}
	var sample []*Case
	for _, folder := range sortedKeys(byFolder) {
		cases := byFolder[folder]
		sample = append(sample, cases[pick(folder, len(cases))])
	}
	return sample
}
