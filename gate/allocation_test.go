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
