package gate

import (
	"strings"
	"testing"

	"guard/indexresolver"
)

// TestAliasesUnderADocumentRule: under a document rule the indices of a filtered alias are
// asked by their own names, with its filter in the query, ranges in a dis_max.
func TestAliasesUnderADocumentRule(t *testing.T) {
	const born = `{"range":{"born":{"gte":"2025-01-01"}}}`
	const inMax = `{"dis_max":{"queries":[` + born + `]}}`
	const rule = `{"term":{"dept":"eng"}}`
	alias := func(name, filter, routing string) indexresolver.Membership {
		m := indexresolver.Membership{Alias: name, SearchRouting: routing}
		if filter != "" {
			m.Filter = []byte(filter)
		}
		return m
	}
	index := func(name string, aliases ...indexresolver.Membership) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(`{"properties":{"dept":{"type":"keyword"},"born":{"type":"date"}}}`), Aliases: aliases}
	}
	indices := []indexresolver.Index{
		index("a", alias("late", born, ""), alias("eng", rule, ""), alias("all", "", ""), alias("odd", `{"terms":{"x":{"index":"i","id":"1","path":"p"}}}`, ""), alias("far", rule, "r"), alias("far-late", born, "r")),
		index("b", alias("late", `{"bool":{"must":[`+born+`]}}`, ""), alias("one", born, "")),
		index("free", alias("loose", born, "")),
	}
	s := worldWith(t, `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [a, b], dls: '`+rule+`', allowed_actions: ["*"]}
    - {index_patterns: [free], allowed_actions: ["*"]}
`, indices)
	f := func(target, want string, parts ...string) {
		t.Helper()
		got := gist(t, planFor(t, s, "POST", target, `{"query":{"match_all":{}}}`))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s; want %s", target, got, want)
		}
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s; want %s in it", target, got, part)
			}
		}
	}
	f("/late/_search", "POST /a,b/_search", inMax, `{"bool":{"must":[`+inMax+`]}}`, rule)
	f("/late/_count", "POST /a,b/_count", inMax)
	f("/one/_search", "POST /b/_search", `{"bool":{"filter":[`+inMax+`,`+rule+`]}}`)
	f("/late,loose/_search", "POST /a,b,free/_search", inMax, `"free"`)
	f("/late*/_search", "POST /a,b/_search", inMax)
	f("/eng/_search", "POST /a/_search", rule)

	// What another name shows whole is not bound by the alias.
	f("/late,all/_search", "POST /a,b/_search", `{"bool":{"must":[`+inMax+`]}}`)
	f("/one,b/_search", "POST /b,one/_search")
	if got := gist(t, planFor(t, s, "POST", "/one,b/_search", "")); strings.Contains(got, "born") {
		t.Errorf("an alias beside its index: %s; want no filter", got)
	}
	// Without a rule the alias keeps its name.
	f("/loose/_search", "POST /loose/_search")
	// A routing is brought by the name alone.
	f("/far/_search", "POST /far/_search")
	f("/far-late/_search", "reject 403 not_built")
	f("/odd/_search", "reject 403 not_built")

	for _, path := range []string{"/one/_doc/1", "/one/_source/1"} {
		out := planFor(t, s, "GET", path, "")
		if out.Kind != Need || !strings.Contains(string(out.Needs[0].Body), inMax) {
			t.Errorf("%s: %s; want the range in a dis_max", path, gist(t, out))
		}
	}
	if got := gist(t, planFor(t, s, "GET", "/odd/_doc/1", "")); !strings.HasPrefix(got, "reject 403") {
		t.Errorf("a read through a filter that is not understood: %s; want it refused", got)
	}
}

// TestUnreadableFilter holds that an alias whose filter can't be read is refused wherever
// the filter would have to be placed, and keeps its name where it has not.
func TestUnreadableFilter(t *testing.T) {
	in := []indexresolver.Membership{{Alias: "al", Filter: []byte(`"unreadable"`)}}
	indices := []indexresolver.Index{{Name: "d-1", Mapping: []byte(`{}`), Aliases: in}, {Name: "d-2", Mapping: []byte(`{}`), Aliases: in}}
	f := func(rule, target, want string) {
		t.Helper()
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [\"al\", \"d-*\"], allowed_actions: [\"*\"]"+rule+"}\n", indices)
		if got := gist(t, planFor(t, s, "GET", target, "")); !strings.HasPrefix(got, want) {
			t.Errorf("%s with %q: %s; want %s", target, rule, got, want)
		}
	}
	const dls = `, dls: '{"term":{"a":"b"}}'`
	f("", "/al/_search", "GET /al/_search")
	f(dls, "/al/_search", "reject 403")
	f(dls, "/a*/_search", "reject 403")
	f("", "/a*,-d-1/_search", "reject 403") // the rest of the alias stands by its own name
	f(dls, "/d-1/_search", "GET /d-1/_search")
}
