package gate

import (
	"slices"
	"testing"
)

// TestMissingCells: a refusal tells the log every action that is missing with the name it is
// missing on, also names that the client did not write, and counts what it leaves out.
func TestMissingCells(t *testing.T) {
	const role = "  cluster_permissions: []\n  index_permissions:\n    - {index_patterns: [\"logs-a*\"], allowed_actions: [\"indices:data/read/*\"]}\n"
	s := worldWith(t, role, readable())
	f := func(method, target, body string, most int, want []string, wantMore int) {
		t.Helper()
		out := planFor(t, s, method, target, body)
		if out.Kind != Reject || out.Rejection.Missing == nil {
			t.Fatalf("%s %s: %s; want a refusal that says what is missing", method, target, gist(t, out))
		}
		got, more := out.Rejection.Missing(most)
		if !slices.Equal(got, want) || more != wantMore {
			t.Errorf("%s %s: missing %q and %d more; want %q and %d", method, target, got, more, want, wantMore)
		}
	}
	const search = "indices:data/read/search on "
	f("GET", "/secret/_search", "", 20, []string{search + "secret"}, 0)
	f("GET", "/secret,nosuch/_search", "", 20, []string{search + "nosuch", search + "secret"}, 0)
	f("GET", "/secret,nosuch/_search", "", 1, []string{search + "nosuch"}, 1)
	f("DELETE", "/logs-a-*", "", 1, []string{"indices:admin/delete on logs-a-1"}, 1) // names that the client did not write
	f("GET", "/_cluster/health", "", 20, []string{"cluster:monitor/health"}, 0)
}
