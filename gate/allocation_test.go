package gate

import (
	"strings"
	"testing"

	"guard/internal/ask"
)

// TestPlanAllocations bounds what the usual requests cost: a plan stays on the stack,
// what follows from rules is remembered, and a refusal is cheaper than what it refuses
// (law 12).
func TestPlanAllocations(t *testing.T) {
	fields := worldWith(t, ruledStaff, staff())
	documents := worldWith(t, strings.Replace(ruledStaff, `fls: ["~ssn"], `, "", 1), staff())
	f := func(s *Snapshot, who, method, target, body string, most float64) {
		t.Helper()
		p := s.Principal(ask.Identity{Name: who})
		r := requestFor(t, method, target, body)
		n := testing.AllocsPerRun(200, func() { s.Plan(p, r, Known{Fresh: true}) })
		if n > most {
			t.Errorf("%s %s by %s allocates %v times; want at most %v", method, target, who, n, most)
		}
	}
	const body = `{"query":{"match":{"name":"ada"}},"size":3}`
	// What is asked, the group of the one index, its binding, and the body that is written.
	f(documents, "u", "POST", "/logs-b-1/_search", body, 4)
	f(documents, "u", "POST", "/logs-b-1/_search", "", 3)
	// The groups of a wildcard are kept.
	f(documents, "u", "POST", "/logs-b*/_search", body, 3)
	f(documents, "u", "POST", "/logs-*/_search", body, 3)
	// Under a document rule the target gets a parameter, which is kept for a wildcard.
	f(documents, "u", "POST", "/hr/_search", body, 5)
	f(documents, "u", "POST", "/hr,logs-*/_search", body, 5) // two names, whose text is put together to be found
	f(fields, "u", "POST", "/hr/_search", body, 8)
	f(fields, "u", "GET", "/hr/_doc/1", "", 23)
	f(fields, "nobody", "POST", "/hr/_search", body, 6)
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
