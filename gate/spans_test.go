package gate

import (
	"strings"
	"testing"

	"guard/indexresolver"
)

// TestSpansUnderADocumentRule: a span is answered on a text with the places of its words in
// every index that has the field, by whatever name, and refused on all else.
func TestSpansUnderADocumentRule(t *testing.T) {
	index := func(name, more string) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(`{"properties":{"dept":{"type":"keyword"},"text":{"type":"text","fields":{"raw":{"type":"keyword"},"en":{"type":"text"}}},` +
			`"other":{"type":"alias","path":"text"},"code":{"type":"alias","path":"dept"}` + more + `}}`)}
	}
	s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [\"*\"], allowed_actions: [\"*\"], dls: '{\"term\":{\"dept\":\"eng\"}}'}\n", []indexresolver.Index{
		index("a", `,"docs":{"type":"text","index_options":"docs"},"freqs":{"type":"text","index_options":"freqs"},"off":{"type":"text","index":false},"offsets":{"type":"text","index_options":"offsets"},`+
			`"pre":{"type":"text","index_prefixes":{}},"like":{"type":"search_as_you_type"},"flag":{"type":"boolean"},"mixed":{"type":"text"}`),
		index("b", `,"mixed":{"type":"keyword"}`),
	})
	f := func(target, field string, answered bool) {
		t.Helper()
		out := planFor(t, s, "POST", target, `{"query":{"span_term":{"`+field+`":"x"}}}`)
		if got := out.Kind == Forward; got != answered {
			t.Errorf("%s, %s: %s; want it answered: %v", target, field, gist(t, out), answered)
		}
	}
	for _, field := range []string{"text", "text.en", "other", "offsets", "pre", "mixed", "nosuch"} {
		f("/a/_search", field, true)
		f("/a/_count", field, true)
	}
	for _, field := range []string{"dept", "text.raw", "code", "docs", "freqs", "off", "pre._index_prefix", "like", "like._2gram", "flag", "_id", "_routing", "_index"} {
		f("/a/_search", field, false)
		f("/a/_count", field, false)
	}
	f("/b/_search", "mixed", false)
	f("/a,b/_search", "mixed", false)
	f("/a,b/_search", "text", true)
	out := planFor(t, s, "POST", "/_msearch", "{\"index\":\"a\"}\n{\"query\":{\"span_term\":{\"dept\":\"x\"}}}\n")
	if out.Kind != Local || !strings.Contains(string(out.Local.Body), "span_term") {
		t.Errorf("multi-search: %s; want it refused", gist(t, out))
	}
}
