package policytest

import (
	"slices"
	"strings"
	"time"

	"guard/authz"
	"guard/config"
	"guard/explain"
	"guard/gate"
)

// Suite runs tests of one policy on one state, one after the other.
type Suite struct {
	Snapshot *gate.Snapshot
	Accounts explain.Accounts
	Limits   config.Limits
	Now      time.Time // of all requests: the clock of rules and of names with dates

	used map[string]bool // paths of the entries of roles that granted something
}

// Result is how a test ended.
type Result struct {
	Test   *config.PolicyTest
	Faults []string // what is not as it is wanted; none if the test passed
	Took   time.Duration
}

// Run runs one test.
func (s *Suite) Run(t *config.PolicyTest) Result {
	began := time.Now()
	report, err := s.ask(t)
	if err != nil {
		return Result{Test: t, Faults: []string{err.Error()}, Took: time.Since(began)}
	}
	s.note(&report)
	return Result{Test: t, Faults: compare(&t.Want, &report), Took: time.Since(began)}
}

// allCells is more than any request asks.
const allCells = 1 << 30

func (s *Suite) ask(t *config.PolicyTest) (explain.Report, error) {
	who := explain.Somebody{Name: t.As.User, BackendRoles: t.As.BackendRoles, Attributes: t.As.Attributes, Address: t.As.Address, By: t.As.By, Admin: t.As.Admin}
	method, target, _ := strings.Cut(t.Send.Request, " ")
	in, err := who.Sends(s.Accounts, method, target, t.Send.ContentType, []byte(t.Send.Body), s.Now)
	if err != nil {
		return explain.Report{}, err
	}
	in.MaxCells = allCells
	return explain.Ask(s.Snapshot, in, s.Limits), nil
}

// note remembers which entries of roles granted something.
func (s *Suite) note(r *explain.Report) {
	if s.used == nil {
		s.used = make(map[string]bool)
	}
	for i := range r.Parts {
		for _, c := range r.Parts[i].Cells {
			for _, e := range c.Entries {
				if c.Granted {
					s.used[e.Path] = true
				}
			}
		}
	}
}

// Coverage is which entries of roles the tests have used.
type Coverage struct {
	Entries int
	Unused  []explain.Entry // that granted nothing to any test
}

// Percent returns how many of a hundred entries were used, rounded down; 100 where there
// are none.
func (c Coverage) Percent() int {
	if c.Entries == 0 {
		return 100
	}
	return 100 * (c.Entries - len(c.Unused)) / c.Entries
}

// Coverage tells what the tests so far have used. Roles that are built in don't count.
func (s *Suite) Coverage() Coverage {
	grants := s.Snapshot.Grants()
	c := Coverage{Entries: len(grants)}
	for _, g := range slices.DeleteFunc(grants, func(g authz.Grant) bool { return s.used[g.At.Path] }) {
		c.Unused = append(c.Unused, explain.EntryOf(g))
	}
	return c
}
