package gate

import (
	"testing"

	"guard/internal/ask"
)

// TestPlanAllocations bounds what the usual requests cost: a plan stays on the stack,
// what follows from rules is remembered, and a refusal is cheaper than what it refuses
// (law 12).
func TestPlanAllocations(t *testing.T) {
	s := worldWith(t, ruledStaff, staff())
	f := func(who, method, target, body string, most float64) {
		t.Helper()
		p := s.Principal(ask.Identity{Name: who})
		r := requestFor(t, method, target, body)
		n := testing.AllocsPerRun(200, func() { s.Plan(p, r, Known{Fresh: true}) })
		if n > most {
			t.Errorf("%s %s by %s allocates %v times; want at most %v", method, target, who, n, most)
		}
	}
	const body = `{"query":{"match":{"name":"ada"}},"size":3}`
	f("u", "POST", "/logs-b-1/_search", body, 14)
	f("u", "POST", "/hr/_search", body, 18)
	f("u", "GET", "/hr/_doc/1", "", 32)
	f("nobody", "POST", "/hr/_search", body, 10)
}

// TestBulkAllocations holds that an item of a bulk costs no allocation once its index was
// decided on, where it is sent as it is.
func TestBulkAllocations(t *testing.T) {
	s := worldWith(t, ruledStaff, staff())
	r := requestFor(t, "POST", "/_bulk", "")
	r.Header.ContentType = "application/x-ndjson"
	out := s.Plan(s.Principal(ask.Identity{Name: "u"}), r, Known{Fresh: true})
	action, document := []byte(`{"index":{"_index":"logs-b-1","_id":"1"}}`), []byte(`{"name":"ada"}`)
	sent := make([]byte, 0, 1024)
	n := testing.AllocsPerRun(200, func() {
		if has, err := out.Forward.Lines.Action(action); err != nil || !has {
			t.Fatalf("%s has a document: %v, %v", action, has, err)
		}
		var err error
		if sent, err = out.Forward.Lines.Item(sent[:0], document); err != nil || len(sent) == 0 {
			t.Fatalf("%s is not sent: %v", action, err)
		}
	})
	if n > 0 {
		t.Errorf("an item of a bulk allocates %v times; want none", n)
	}
}
