package gate

import (
	"strings"
	"testing"

	"guard/indexresolver"
)

// TestComputedFields: under a document rule no clause means a field that a script computes, by
// its name, an alias, a pattern, or since it names none: the script runs on hidden documents too.
func TestComputedFields(t *testing.T) {
	const fields = `"dept":{"type":"keyword"},"s":{"type":"keyword"},"text":{"type":"text"},"n":{"type":"integer"}`
	s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [a, b, r], allowed_actions: [\"*\"], dls: '{\"term\":{\"dept\":\"eng\"}}'}\n    - {index_patterns: [free], allowed_actions: [\"*\"]}\n",
		[]indexresolver.Index{
			{Name: "a", Mapping: []byte(`{"derived":{"dk":{"type":"keyword","script":{"source":"x"}},"o":{"type":"object","script":{"source":"x"}}},"properties":{` + fields + `,"also":{"type":"alias","path":"dk"}}}`)},
			{Name: "b", Mapping: []byte(`{"properties":{` + fields + `}}`)},
			{Name: "r", Mapping: []byte(`{"runtime":{"dk":{"type":"keyword","script":{"source":"x"}}},"properties":{` + fields + `}}`)},
			{Name: "free", Mapping: []byte(`{"derived":{"dk":{"type":"keyword","script":{"source":"x"}}},"properties":{` + fields + `}}`)},
		})
	f := func(target, query string, refused bool) {
		t.Helper()
		body := `{"query":` + query + `}`
		got := gist(t, planFor(t, s, "POST", target, body))
		if is := strings.HasPrefix(got, "reject 403 restricted") && strings.Contains(got, "script"); is != refused {
			t.Errorf("%s %s: %s; want it refused: %v", target, query, got, refused)
		}
	}
	for _, query := range []string{
		`{"term":{"dk":"x"}}`, `{"term":{"dk":{"value":"x"}}}`, `{"range":{"dk":{"gte":"x"}}}`, `{"exists":{"field":"dk"}}`, `{"match":{"dk":"x"}}`, `{"prefix":{"dk":"x"}}`,
		`{"bool":{"should":[{"bool":{"must_not":[{"term":{"dk":"x"}}]}}]}}`, `{"constant_score":{"filter":{"term":{"dk":"x"}}}}`,
		`{"multi_match":{"query":"x","fields":["text","dk^2"]}}`, `{"multi_match":{"query":"x","fields":["d*"]}}`, `{"multi_match":{"query":"x"}}`,
		`{"query_string":{"query":"x"}}`, `{"query_string":{"query":"dk:x","fields":["text"]}}`, `{"query_string":{"query":"x","default_field":"*"}}`,
		`{"query_string":{"query":"dk","default_field":"_exists_"}}`,
		`{"simple_query_string":{"query":"x"}}`, `{"simple_query_string":{"query":"x","fields":["*k"]}}`,
		`{"function_score":{"field_value_factor":{"field":"dk"}}}`, `{"function_score":{"functions":[{"filter":{"term":{"dk":"x"}},"weight":2}]}}`,
	} {
		f("/a/_search", query, true)
		f("/a,b/_search", query, true)
		f("/r/_count", query, true)
		f("/free/_search", query, false)
	}
	f("/a/_search", `{"term":{"also":"x"}}`, true)
	f("/a/_search", `{"term":{"o.below":"x"}}`, true)
	f("/a/_search", `{"exists":{"field":"o"}}`, true)
	for _, query := range []string{
		`{"term":{"s":"x"}}`, `{"multi_match":{"query":"x","fields":["text","s"]}}`, `{"multi_match":{"query":"x","fields":["te*"]}}`,
		`{"query_string":{"query":"x y","fields":["text"]}}`, `{"query_string":{"query":"x","default_field":"text"}}`, `{"match_all":{}}`,
	} {
		f("/a/_search", query, false)
		f("/b/_search", query, false)
	}
	for target, refused := range map[string]bool{
		"/a/_search?q=x": true, "/a/_search?q=dk:x": true, "/a/_search?q=x&df=text": false, "/a/_search?q=x&df=dk": true, "/a/_count?q=dk&df=_exists_": true, "/a/_count?q=dk:x": true, "/b/_search?q=dk:x": false,
	} {
		got := gist(t, planFor(t, s, "GET", target, ""))
		if is := strings.Contains(got, "script"); is != refused {
			t.Errorf("%s: %s; want it refused: %v", target, got, refused)
		}
	}
	for _, body := range []string{
		`{"post_filter":{"term":{"dk":"x"}}}`, `{"aggs":{"f":{"filter":{"term":{"dk":"x"}}}}}`, `{"rescore":{"window_size":5,"query":{"rescore_query":{"term":{"dk":"x"}}}}}`,
		`{"highlight":{"fields":{"text":{}},"highlight_query":{"term":{"dk":"x"}}}}`, `{"sort":[{"n":{"nested":{"path":"p","filter":{"term":{"dk":"x"}}}}}]}`,
	} {
		if got := gist(t, planFor(t, s, "POST", "/a/_search", body)); !strings.HasPrefix(got, "reject 403 restricted") {
			t.Errorf("%s: %s; want it refused", body, got)
		}
	}
	if got := gist(t, planFor(t, s, "POST", "/a/_search", `{"aggs":{"t":{"terms":{"field":"dk"}}},"docvalue_fields":["s"]}`)); strings.HasPrefix(got, "reject") {
		t.Errorf("an aggregation over visible documents: %s", got)
	}
}
