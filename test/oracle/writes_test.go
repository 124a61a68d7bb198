package oracle_test

import (
	"fmt"
	"slices"
	"testing"

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
// effect, and makes the cluster as it was.
func replayWrites(t *testing.T, node *testbed.Node, guard testbed.Client, rec *oracle.Recording, c *tally, skip map[string]bool) {
	requests := map[int]oracle.Request{}
	for _, r := range rec.Scenario.Requests {
		requests[r.ID] = r
	}
	before, err := oracle.ReadContents(node.Client)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range rec.Answers {
		req := requests[a.R]
		if !slices.Contains(written, req.EP) || skip[a.U] {
			continue
		}
		step := req.Steps[0]
		res, err := guard.As(a.U, oracle.Password).Do(step.M, step.P, step.Body())
		if err != nil {
			t.Fatal(err)
		}
		effect := map[string]any{}
		if res.Status != 403 {
			after, err := oracle.ReadContents(node.Client)
			if err != nil {
				t.Fatal(err)
			}
			effect = oracle.Effect(before, after)
		}
		if err := rec.Scenario.World.Undo(node.Client, effect); err != nil {
			t.Fatalf("cannot undo request %d of %s: %v", a.R, a.U, err)
		}
		compareWrite(req, a, res, effect, c)
	}
	after, err := oracle.ReadContents(node.Client)
	if err != nil {
		t.Fatal(err)
	}
	if left := oracle.Effect(before, after); len(left) > 0 {
		t.Errorf("a refused write changed %s", answer.Text(left))
	}
}

func compareWrite(req oracle.Request, a oracle.Recorded, res testbed.Response, effect map[string]any, c *tally) {
	got := map[string]any{"answer": oracle.Comparable(answer.Canonical(answer.FormOf(req.Steps[0].P), res.Status, res.Body)), "effect": effect}
	want := map[string]any{"answer": oracle.WithoutStatus(a.A), "effect": map[string]any{}}
	if a.E != nil {
		want["effect"] = a.E
	}
	places := oracle.Differences(got, want)
	if res.Status == a.Status() && len(places) == 0 {
		c.add("equal")
		return
	}
	c.differs(oracle.Difference{
		Request: req, User: a.U, Paths: places,
		Guard:    fmt.Sprintf("%d %s", res.Status, answer.Text(got)),
		Recorded: fmt.Sprintf("%d %s", a.Status(), answer.Text(want)),
	})
}
