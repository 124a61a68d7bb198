package gate

import (
	"sync"
	"testing"

	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
)

const ruledStaff = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [hr, nope], dls: '{"term":{"dept":"eng"}}', fls: ["~ssn"], allowed_actions: ["*"]}
    - {index_patterns: ["logs-*"], allowed_actions: ["*"]}
`

// TestBindingRemembered holds that a remembered binding, and a remembered target, means what a new one does,
// whatever was planned before: an outcome does not depend on who came first.
func TestBindingRemembered(t *testing.T) {
	requests := [][2]string{
		{"GET", "/eng/_doc/1"}, {"GET", "/hr/_doc/1"}, {"GET", "/staff/_doc/1"}, {"GET", "/logs-b-1/_doc/1"},
		{"POST", "/hr/_search"}, {"POST", "/eng/_search"}, {"POST", "/staff/_search"}, {"POST", "/hr*/_search"}, {"POST", "/logs-b*/_search"},
		{"GET", "/_cat/indices/logs-b-1"}, {"GET", "/_cat/indices/hr"}, {"GET", "/eng/_mapping"}, {"GET", "/hr/_field_caps?fields=*"}, {"POST", "/nope/_count"},
		{"POST", "/logs-*/_search"}, {"GET", "/logs-%2A/_search/"}, {"POST", "/logs-*/_search?size=1"}, {"POST", "/_search?index=logs-*"}, {"POST", "/logs-*/_count"},
		{"POST", "/logs-*,hr/_search"}, {"POST", "/logs-*,hr/_search?size=1"}, {"POST", "/logs-*/_search?expand_wildcards=all"}, {"POST", "/logs-*,hr/_search?preference=a"},
	}
	warm := worldWith(t, ruledStaff, staff())
	for range 2 {
		for _, r := range requests {
			got := gist(t, planFor(t, warm, r[0], r[1], ""))
			if want := gist(t, planFor(t, worldWith(t, ruledStaff, staff()), r[0], r[1], "")); got != want {
				t.Errorf("%s %s behind others:\ngot  %s\nwant %s", r[0], r[1], got, want)
			}
		}
	}
}

// TestTargetsAtOnce holds that requests at the same time, of which one has to make what is kept
// for all, get each its own target.
func TestTargetsAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	s := worldWith(t, ruledStaff, staff())
	for _, target := range []string{"/logs-*/_search", "/logs-*/_search?size=1", "/logs-*,hr/_search", "/logs-*,hr/_search?size=1", "/_search?index=logs-*,hr"} {
		want := planFor(t, worldWith(t, ruledStaff, staff()), "POST", target, "").Forward.Target
		r, who := requestFor(t, "POST", target, ""), s.Principal(ask.Identity{Name: "u"})
		for range 2 {
			wg.Go(func() {
				for range 50 {
					if got := s.Plan(who, r, Known{Fresh: true}).Forward.Target; got != want {
						t.Errorf("%s is forwarded as %s; want %s", target, got, want)
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestBindingOfNewMapping holds that a binding follows the mapping of its index: a
// field that is new is judged by the rules, and not unknown.
func TestBindingOfNewMapping(t *testing.T) {
	s := worldWith(t, ruledStaff, staff())
	const sorted = `{"sort":["ssn2"]}`
	before := gist(t, planFor(t, s, "POST", "/hr/_search", sorted))
	indices := staff()
	indices[0].Mapping = []byte(`{"properties":{"ssn2":{"type":"keyword"},"ssn":{"type":"keyword"}}}`)
	state, err := indexresolver.New(indexresolver.Contents{ClusterUUID: "c", StateUUID: "s2", Version: 2, FetchedAt: recordedAt, Indices: indices}, s.state)
	if err != nil {
		t.Fatal(err)
	}
	later := *s
	later.state = state
	if after := gist(t, planFor(t, &later, "POST", "/hr/_search", sorted)); after == before {
		t.Errorf("a sort by a new field is still planned as %s", after)
	}
}

// TestBindingKey holds which decisions have a remembered binding: those on one index
// that is there. A name that a client made up must not fill the table.
func TestBindingKey(t *testing.T) {
	s := worldWith(t, ruledStaff, staff())
	f := func(want bool, exprs ...names.Expr) {
		t.Helper()
		who := s.Principal(ask.Identity{Name: "u"})
		pl := plan{s: s, who: who, r: &ask.Request{Now: recordedAt}, known: Known{Fresh: true}}
		j, err := pl.judge(ask.Part{Privileges: []ask.Privilege{{Action: "indices:data/read/search"}}, Exprs: exprs, Opts: names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := s.bindingKey(&j, false); got != want {
			t.Errorf("the binding of %v is remembered: %v; want %v", exprs, got, want)
		}
	}
	f(true, "hr")
	f(true, "logs-b*")
	f(true, "staff")
	f(false, "nope")
	f(false, "logs-*")
	f(false, "hr", "logs-b-1")
}
