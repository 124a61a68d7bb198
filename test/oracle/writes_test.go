package oracle_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"guard/test/oracle"
	"guard/test/oracle/answer"
	"guard/test/testbed"
)

// written are the kinds of writes that guard offers to restricted users.
var written = []string{
	"index", "index_newfield", "index_newindex", "create", "update", "upsert", "delete", "bulk",
	"create_index", "delete_index", "aliases", "refresh",
}

// replayWrites sends every recorded write, one after the other, compares answer and
// effect, and makes the cluster as it was. What differs is tried once more: names that a write
// took away are put back at the node, and guard hears of it later.
func replayWrites(t *testing.T, node *testbed.Node, guard testbed.Client, rec *oracle.Recording, c *tally, skip map[string]bool) {
	requests := map[int]oracle.Request{}
	for _, r := range rec.Scenario.Requests {
		requests[r.ID] = r
	}
	before, err := oracle.ReadContents(node.Client)
	if err != nil {
		t.Fatal(err)
	}
	w := writer{node, guard, rec, before}
	for _, a := range rec.Answers {
		req := requests[a.R]
		if !slices.Contains(written, req.EP) || skip[a.U] {
			continue
		}
		d, differs := w.try(t, req, a)
		if differs && c.kindOf(d) == "" {
			time.Sleep(late)
			d, differs = w.try(t, req, a)
		}
		if differs {
			c.differs(d)
		} else {
			c.add("equal")
		}
	}
	after, err := oracle.ReadContents(node.Client)
	if err != nil {
		t.Fatal(err)
	}
	if left := oracle.Effect(before, after); len(left) > 0 {
		t.Errorf("a refused write changed %s", answer.Text(left))
	}
}

// late is how long guard has to hear of names that were put back behind its back.
const late = 3 * time.Second

// writer sends writes to a cluster and takes them back.
type writer struct {
	node   *testbed.Node
	guard  testbed.Client
	rec    *oracle.Recording
	before oracle.Contents
}

// try sends a write, makes the cluster as it was, and returns how the answer and the effect
// differ from those recorded, if they do.
func (w *writer) try(t *testing.T, req oracle.Request, a oracle.Recorded) (d oracle.Difference, differs bool) {
	t.Helper()
	step := req.Steps[0]
	res, err := w.guard.As(a.U, oracle.Password).Do(step.M, step.P, step.Body())
	if err != nil {
		t.Fatal(err)
	}
	effect := map[string]any{}
	if res.Status != 403 {
		after, err := oracle.ReadContents(w.node.Client)
		if err != nil {
			t.Fatal(err)
		}
		effect = oracle.Effect(w.before, after)
	}
	if err := w.rec.Scenario.World.Undo(w.node.Client, effect); err != nil {
		t.Fatalf("cannot undo request %d of %s: %v", a.R, a.U, err)
	}
	got := map[string]any{"answer": oracle.Comparable(answer.Canonical(answer.FormOf(step.P), res.Status, res.Body)), "effect": effect}
	want := map[string]any{"answer": oracle.WithoutStatus(a.A), "effect": map[string]any{}}
	if a.E != nil {
		want["effect"] = a.E
	}
	places := oracle.Differences(got, want)
	return oracle.Difference{
		Request: req, User: a.U, Paths: places,
		Guard:    fmt.Sprintf("%d %s", res.Status, answer.Text(got)),
		Recorded: fmt.Sprintf("%d %s", a.Status(), answer.Text(want)),
	}, res.Status != a.Status() || len(places) > 0
}
