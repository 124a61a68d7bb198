package naive_test

import (
	"flag"
	"testing"

	"guard/indexresolver"
	"guard/test/naive"
	"guard/test/naive/worlds"
)

// rounds is how many policies are asked.
var rounds = flag.Int("rounds", 1000, "policies that are asked, 24 questions each")

// TestTwoRoads holds that the compiled evaluator and the plain one agree on random
// policies, clusters and requests. Some people ask about some clusters in turn under one
// policy, and each cluster changes, so that what is remembered of one question has to be
// right for the next.
func TestTwoRoads(t *testing.T) {
	if testing.Short() {
		*rounds = min(*rounds, 150)
	}
	var n counts
	for seed := range *rounds {
		askMany(t, worlds.Roll(uint64(seed)), &n) //nolint:gosec // G115: not negative
		if t.Failed() {
			return
		}
	}
	t.Logf("%+v", n)
	for name, share := range map[string]int{"allowed": n.allowed, "reduced": n.reduced, "ruled": n.ruled, "bound": n.bound, "missing": n.missing} {
		if share*100 < n.asked {
			t.Errorf("only %d of %d answers were %s: the questions are too poor to tell anything", share, n.asked, name)
		}
	}
}

// counts tells how rich the questions were.
type counts struct{ asked, allowed, reduced, ruled, bound, missing, bad int }

func (n *counts) note(a naive.Answer) {
	n.asked++
	add := func(to *int, yes bool) {
		if yes {
			*to++
		}
	}
	add(&n.bad, a.Bad)
	add(&n.allowed, a.Allow)
	add(&n.reduced, a.Allow && a.Reduced)
	add(&n.missing, len(a.Missing) > 0)
	ruled, bound := false, false
	for _, r := range a.Rules {
		ruled = ruled || r.None || len(r.DLS)+len(r.FLS)+len(r.Masks) > 0
	}
	for _, b := range a.Bound {
		bound = bound || len(b.Filters)+len(b.Routing) > 0
	}
	add(&n.ruled, ruled)
	add(&n.bound, bound)
}

// identities are somebody himself, asked by another, and as an administrator.
func identities(who naive.Who) []naive.Who {
	by, admin := who, who
	by.By, admin.Admin = "another", true
	return []naive.Who{who, by, admin}
}

// askMany asks under one policy.
func askMany(t *testing.T, d worlds.Dice, n *counts) {
	t.Helper()
	c := naive.Case{Policy: d.Policy()}
	policy, err := worlds.Policy(c.Policy)
	if err != nil {
		t.Fatalf("cannot compile: %v", err)
	}
	people := []naive.Who{d.Who(), d.Who()}
	var state *indexresolver.State
	c.World = d.World()
	for generation := range 4 {
		switch generation {
		case 2: // another cluster
			c.World, state = d.World(), nil
		case 1, 3:
			c.World = d.Change(c.World)
		}
		if state, err = worlds.State(c.World, state); err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			c.Who, c.Ask = people[i%2], d.Ask()
			n.note(naive.Evaluate(c))
			for _, who := range identities(c.Who)[:1+2*(i/5)] { // the last question is asked as all of them
				c.Who = who
				if diff := worlds.Compare(policy, state, c); diff != "" {
					fail(t, c, diff)
					return
				}
			}
		}
	}
}

// fail reports a question, as small as it can be made.
func fail(t *testing.T, c naive.Case, diff string) {
	t.Helper()
	if worlds.Differ(c) == "" {
		t.Errorf("differs only behind other questions: something was remembered for the wrong ones\n%s\n%s", diff, worlds.Print(c))
		return
	}
	c = worlds.Shrink(c, func(c naive.Case) bool { return worlds.Differ(c) != "" })
	t.Errorf("%s\nput this into testdata/cases to repeat it:\n%s", worlds.Differ(c), worlds.Print(c))
}
