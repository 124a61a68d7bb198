package gate

import (
	"fmt"
	"strings"
	"testing"

	"guard/config"
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

// TestManySearches holds what all searches of a request may cost together: that each costs
// little is not enough, where a small body holds thousands.
func TestManySearches(t *testing.T) {
	var fields strings.Builder
	for i := range 500 {
		fmt.Fprintf(&fields, `,"field_%d_%s":{"type":"keyword"}`, i, strings.Repeat("x", 100))
	}
	long := []indexresolver.Index{{Name: "mine-" + strings.Repeat("a", 250), Mapping: []byte(`{"properties":{"ssn":{"type":"keyword"}` + fields.String() + `}}`)}}
	s := worldWith(t, "  cluster_permissions: ['*']\n  index_permissions: [{index_patterns: ['mine-*'], allowed_actions: ['*'], fls: ['~ssn']}]\n", long)
	f := func(n int, body string) Outcome {
		t.Helper()
		return planFor(t, s, "POST", "/_msearch", strings.Repeat("{\"index\":\"mine-*\"}\n"+body+"\n", n))
	}
	// What patterns of fields become.
	stars := `{"query":{"bool":{"should":[` + strings.Repeat(`{"query_string":{"query":"a","fields":["*"]}},`, 40) + `{"match_all":{}}]}}}`
	if out := f(10, stars); out.Kind != Forward || len(out.Forward.Body) < 20<<20 {
		t.Errorf("10 searches: %v, %d bytes; want them forwarded with the names of all fields", out.Kind, len(out.Forward.Body))
	}
	refuses := func(n int, body, why string, want int) {
		t.Helper()
		out, refused := f(n, body), 0
		treat, _ := out.Forward.Treat.(*slotted)
		if treat == nil {
			treat = new(slotted) // none was refused
		}
		for _, slot := range treat.slots {
			if strings.Contains(string(slot.refused), why) {
				refused++
			}
		}
		if refused != want {
			t.Errorf("of %d searches %d were refused since %q; want %d", n, refused, why, want)
		}
	}
	refuses(35, stars, "it makes the searches of this request too long", 6)
	// How many are compared with all fields.
	refuses(20, `{"fields":[`+strings.Repeat(`"no*",`, 1000)+`"no*"]}`, "hold more than 16384 patterns of fields together", 4)
	// Refused searches count as well.
	worse := strings.Replace(stars, "[", "["+strings.Repeat(`{"query_string":{"query":"a","fields":["*"]}},`, 40), 1)
	if out := f(35, worse); out.Kind != Local || !strings.Contains(string(out.Local.Body), "it makes the searches of this request too long") {
		t.Errorf("35 searches that are too long: %v, %.200s; want the last of them refused by what all take", out.Kind, out.Local.Body)
	}
	// What a rule adds to each.
	s = worldWith(t, "  cluster_permissions: ['*']\n  index_permissions: [{index_patterns: ['mine-*'], allowed_actions: ['*'], dls: '{\"term\":{\"dept\":\""+strings.Repeat("x", 1<<16)+"\"}}'}]\n", long)
	if out := f(1200, `{}`); out.Kind != Reject || out.Rejection.Limit != ask.LimitItems || out.Rejection.Status.Code() != 413 {
		t.Errorf("1200 searches: %v, %d bytes, %q; want them refused", out.Kind, len(out.Forward.Body), out.Rejection.Public)
	}
	// With how many names how many wildcards are: the longer one is, and the more '*' it has,
	// the fewer. Long lists count also where they mean nothing.
	var many []indexresolver.Index
	for i := range 2000 {
		many = append(many, indexresolver.Index{Name: fmt.Sprintf("mine-%d", i)})
	}
	s = worldWith(t, xRole, many)
	s.settings.MaxUpstreamURI = 1 << 20
	list := func(n int, name string) string { return strings.TrimSuffix(strings.Repeat(name+",", n), ",") }
	for path, n := range map[string]int{
		"x*": 5000, strings.Repeat("*a", 120) + "b": 300, "*" + strings.Repeat("a", 240) + "b": 1500,
		list(1000, "q*"): 4000, list(300, "%3Cx-%7Bnow%2Fd%7D%3E"): 3000,
	} {
		out, want := planFor(t, s, "POST", "/"+path+"/_msearch", strings.Repeat("{}\n{}\n", n)), path == "x*"
		if (out.Kind != Reject) != want || !want && out.Rejection.Limit != ask.LimitItems {
			t.Errorf("%d searches over %.20s among 2000 names: %v, %q; want them forwarded: %v", n, path, out.Kind, out.Rejection.Public, want)
		}
	}
}

// TestManyRemovals holds that removals of aliases by many patterns end where they would
// compare too much.
func TestManyRemovals(t *testing.T) {
	var many []indexresolver.Index
	for i := range 200 {
		x := indexresolver.Index{Name: fmt.Sprintf("x-%d", i)}
		for k := range 5 {
			x.Aliases = append(x.Aliases, indexresolver.Membership{Alias: fmt.Sprintf("xal-%d-%d", i, k)})
		}
		many = append(many, x)
	}
	s := worldBy(t, config.EvaluationV4, xRole, many)
	action := `{"remove":{"index":"x*","aliases":[` + strings.Repeat(`"x*q",`, 900) + `"x*r"]}}`
	for n, want := range map[int]Kind{3: Forward, 10: Reject} {
		out := planFor(t, s, "POST", "/_aliases", `{"actions":[`+strings.Repeat(action+",", n-1)+action+`]}`)
		if out.Kind != want || want == Reject && out.Rejection.Limit != ask.LimitItems {
			t.Errorf("%d removals: %v, %q; want %v", n, out.Kind, out.Rejection.Public, want)
		}
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
