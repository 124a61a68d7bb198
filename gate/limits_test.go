package gate

import (
	"fmt"
	"strings"
	"testing"

	"guard/indexresolver"
	"guard/internal/ask"
)

// TestLimits holds that a refusal by a limit names it, for the metric.
func TestLimits(t *testing.T) {
	var many []indexresolver.Index
	for i := range 40 { // more names than fit into the request line of these tests
		many = append(many, indexresolver.Index{Name: fmt.Sprintf("many-with-a-long-name-%02d", i), Mapping: []byte(`{}`)})
	}
	s := worldWith(t, "  cluster_permissions: ['*']\n  index_permissions: [{index_patterns: ['many-with-a-long-name-?*'], allowed_actions: ['*']}]\n", many)
	f := func(method, target, body string, want ask.Limit, text string) {
		t.Helper()
		out := planFor(t, s, method, target, body)
		if r := out.Rejection; out.Kind != Reject || r.Limit != want || !strings.Contains(r.Public, text) {
			t.Errorf("%s %.60s: got %v, limit %q, %q; want limit %q and %q", method, target, out.Kind, r.Limit, r.Public, want, text)
		}
	}
	nested := strings.Repeat(`{"bool":{"must":`, 40) + "{}" + strings.Repeat("}}", 40)
	f("POST", "/many*/_search", `{"query":`+nested+"}", ask.LimitDepth, "nesting too deep")
	f("GET", "/many*/_mapping", "", ask.LimitUpstreamURI, "do not fit into one request line")
	f("GET", "/"+strings.Repeat("a*,", 1000)+"a/_search", "", ask.LimitExpressionNames, "holds 1001 names")

	s = worldWith(t, writerRole, writable())
	if err := refuseAll(t, s, maxRefused+1); err == nil || asRejection(err).Limit != ask.LimitItems {
		t.Errorf("a bulk of refused items: %v; want limit %q", err, ask.LimitItems)
	}
}

// refuseAll gives a bulk n items that are refused, until one ends it.
func refuseAll(t *testing.T, s *Snapshot, n int) error {
	t.Helper()
	lines := linesFor(t, s, "/_bulk").Lines
	for range n {
		if _, err := lines.Action([]byte(`{"delete":{"_index":"secret","_id":"1"}}`)); err != nil {
			return err
		}
		before := lines.Held()
		if _, err := lines.Item(nil, nil); err != nil {
			return err
		}
		if held := lines.Held(); held < before+200 {
			t.Fatalf("a refused item raised what is held from %d to %d; want what stands for it counted", before, held)
		}
	}
	return nil
}
