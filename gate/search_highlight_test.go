package gate

import (
	"regexp"
	"strings"
	"testing"
)

var unskipped = regexp.MustCompile(`\{"dis_max":\{"queries":\[(\{"range":\{[^}]*\}\}\})\]\}\}`)

// TestHighlightOfTopHits holds that the query beside a document rule, by which top_hits are
// highlighted, has no clause that a cluster would have to rewrite: it fails with 500 there.
func TestHighlightOfTopHits(t *testing.T) {
	s := worldWith(t, `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [hr, "logs-*"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
`, staff())
	const top = `"aggs":{"t":{"top_hits":{"highlight":{"fields":{"name":{}}}}}}`
	f := func(index, asked, want string) {
		t.Helper()
		got := gist(t, planFor(t, s, "POST", "/"+index+"/_search", `{"query":`+asked+`,`+top+`}`))
		// Hidden words would weigh in one, and hidden dates end the other.
		const fuzzy = `{"constant_score":{"filter":{"fuzzy":{"nosuch":{"value":"x","rewrite":"constant_score"}}}}}`
		got = unskipped.ReplaceAllString(strings.ReplaceAll(got, fuzzy, `{"fuzzy":{"nosuch":"x"}}`), "$1")
		if !strings.Contains(got, want) {
			t.Errorf("%s %s: %s; want %s", index, asked, got, want)
		}
		if !strings.HasPrefix(got, "reject") && !strings.Contains(got[strings.LastIndex(got, `"query":`):], asked) {
			t.Errorf("%s %s: %s; want the query itself as it was", index, asked, got)
		}
	}
	as := func(query string) string { return `"highlight_query":` + query + `}` }
	for _, clause := range []string{
		`{"term":{"nosuch":"x"}}`, `{"terms":{"nosuch":["x"]}}`, `{"range":{"nosuch":{"gt":1}}}`, `{"prefix":{"nosuch":"x"}}`,
		`{"wildcard":{"nosuch":{"value":"e*g"}}}`, `{"fuzzy":{"nosuch":"x"}}`, `{"exists":{"field":"nosuch"}}`, `{"term":{"person":"x"}}`,
	} {
		f("hr", clause, as(`{"match_none":{}}`))
		f("hr", `{"bool":{"should":[`+clause+`,{"match":{"name":"x"}}]}}`, as(`{"bool":{"should":[{"match_none":{}},{"match":{"name":"x"}}]}}`))
	}
	for _, clause := range []string{`{"term":{"dept":"x"}}`, `{"prefix":{"name":"x"}}`, `{"exists":{"field":"n*"}}`, `{"match":{"nosuch":"x"}}`, `{"regexp":{"nosuch":"x"}}`, `{"range":{"dept":{"gt":"a"}}}`} {
		f("hr", clause, as(clause))
	}
	f("hr,logs-a-1", `{"term":{"dept":"x"}}`, "reject 403 restricted: [dept]")
	f("hr", `{"range":{"dept":{"gt":"now-1d"}}}`, "reject 403 restricted: [dept]")

	// Elsewhere the cluster rewrites it.
	body := `{"query":{"term":{"nosuch":"x"}},"highlight":{"fields":{"name":{}}}}`
	if got := gist(t, planFor(t, s, "POST", "/hr/_search", body)); !strings.Contains(got, as(`{"term":{"nosuch":"x"}}`)) {
		t.Errorf("%s: %s; want it as it is", body, got)
	}
}
