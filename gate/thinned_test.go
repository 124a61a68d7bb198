package gate

import (
	"strings"
	"testing"

	"guard/indexresolver"
)

// TestThinnedTexts: under a document rule nothing reads the words of a text that are loaded by
// how many documents hold them, hidden ones among them.
func TestThinnedTexts(t *testing.T) {
	const thinned = `{"type":"text","fielddata":true,"fielddata_frequency_filter":{"min":2}}`
	s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [a, b], allowed_actions: [\"*\"], dls: '{\"term\":{\"dept\":\"eng\"}}'}\n    - {index_patterns: [free], allowed_actions: [\"*\"]}\n",
		[]indexresolver.Index{
			{Name: "a", Mapping: []byte(`{"properties":{"word":` + thinned + `,"also":{"type":"alias","path":"word"},"k":{"type":"keyword","fields":{"words":` + thinned + `}}}}`)},
			{Name: "b", Mapping: []byte(`{"properties":{"word":{"type":"text","fielddata":true},"k":{"type":"keyword"}}}`)},
			{Name: "free", Mapping: []byte(`{"properties":{"word":` + thinned + `}}`)},
		})
	f := func(target, body string, refused bool) {
		t.Helper()
		got := gist(t, planFor(t, s, "POST", target, body))
		if is := strings.HasPrefix(got, "reject 403 restricted") && strings.Contains(got, "how many documents"); is != refused {
			t.Errorf("%s %s: %s; want it refused: %v", target, body, got, refused)
		}
	}
	for _, field := range []string{"word", "also", "k.words"} {
		for _, body := range []string{
			`{"aggs":{"x":{"terms":{"field":"@"}}}}`, `{"aggs":{"x":{"filter":{"match_all":{}},"aggs":{"y":{"cardinality":{"field":"@"}}}}}}`, `{"aggs":{"x":{"missing":{"field":"@"}}}}`,
			`{"aggs":{"x":{"multi_terms":{"terms":[{"field":"@"},{"field":"k"}]}}}}`, `{"aggs":{"x":{"composite":{"sources":[{"a":{"terms":{"field":"@"}}}]}}}}`,
			`{"sort":["@"]}`, `{"sort":[{"@":"desc"}]}`, `{"collapse":{"field":"@"}}`, `{"docvalue_fields":["@"]}`, `{"docvalue_fields":[{"field":"*"}]}`, `{"slice":{"field":"@","id":0,"max":2}}`,
			`{"query":{"function_score":{"random_score":{"seed":1,"field":"@"}}}}`, `{"aggs":{"x":{"top_hits":{"sort":["@"]}}}}`,
			`{"query":{"terms_set":{"k":{"terms":["x"],"minimum_should_match_field":"@"}}}}`,
		} {
			body = strings.ReplaceAll(body, "@", field)
			f("/a/_search", body, true)
			f("/a,b/_search", body, true)
			f("/b/_search", body, false)
			f("/free/_search", body, false)
		}
	}
	for _, body := range []string{`{"query":{"match":{"word":"x"}}}`, `{"query":{"exists":{"field":"word"}}}`, `{"aggs":{"x":{"terms":{"field":"k"}}}}`, `{"highlight":{"fields":{"word":{}}}}`, `{"_source":["word"]}`} {
		f("/a/_search", body, false)
	}
	if got := gist(t, planFor(t, s, "GET", "/a/_search?sort=word", "")); !strings.HasPrefix(got, "reject 403 restricted") {
		t.Errorf("a sort in the URL: %s", got)
	}
}

// TestHiddenAsAbsent: of a hidden field nobody is told under both rules that a document rule
// refuses it, be it by a name or a pattern: it is answered as a name that no index has.
func TestHiddenAsAbsent(t *testing.T) {
	const thinned = `{"type":"text","fielddata":true,"fielddata_frequency_filter":{"min":2}}`
	const computed = `{"type":"keyword","script":{"source":"x"}}`
	s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [a, b], allowed_actions: [\"*\"], dls: '{\"term\":{\"dept\":\"eng\"}}', fls: [\"~hid*\"]}\n",
		[]indexresolver.Index{
			{Name: "a", Mapping: []byte(`{"derived":{"hidc":` + computed + `},"properties":{"hidt":` + thinned + `,"text":{"type":"text"}}}`)},
			{Name: "b", Mapping: []byte(`{"derived":{"seec":` + computed + `},"properties":{"seet":` + thinned + `,"text":{"type":"text"}}}`)},
		})
	f := func(body string, hidden bool) {
		t.Helper()
		if got := gist(t, planFor(t, s, "POST", "/a/_search", strings.ReplaceAll(body, "@", "hid"))); strings.HasPrefix(got, "reject") {
			t.Errorf("%s tells of a hidden field: %s", body, got)
		}
		if got := gist(t, planFor(t, s, "POST", "/b/_search", strings.ReplaceAll(body, "@", "see"))); strings.HasPrefix(got, "reject 403 restricted") != hidden {
			t.Errorf("%s: %s; want it refused: %v", body, got, hidden)
		}
	}
	// A field rule hides all that scripts compute: what they read is not known.
	for _, body := range []string{
		`{"query":{"term":{"@c":"x"}}}`, `{"query":{"exists":{"field":"@c"}}}`, `{"query":{"exists":{"field":"@*"}}}`, `{"query":{"multi_match":{"query":"x","fields":["@*","text"]}}}`,
		`{"query":{"query_string":{"query":"@c:x"}}}`, `{"query":{"query_string":{"query":"@\\*:x","fields":["text"]}}}`, `{"query":{"multi_match":{"query":"x"}}}`,
		`{"query":{"match":{"@t":"x"}}}`, `{"docvalue_fields":["*.n"]}`,
	} {
		f(body, false)
	}
	for _, body := range []string{
		`{"aggs":{"x":{"terms":{"field":"@t"}}}}`, `{"sort":["@t"]}`, `{"docvalue_fields":["@t"]}`, `{"docvalue_fields":["@*"]}`, `{"query":{"function_score":{"random_score":{"seed":1,"field":"@t"}}}}`,
	} {
		f(body, true)
	}
}
