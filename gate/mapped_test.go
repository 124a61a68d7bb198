package gate

import (
	"testing"

	"guard/indexresolver"
	"guard/internal/query"
)

// TestContent: what a field keeps is known where all indices that have it agree, by its type
// and by what reads a text that is looked for in it.
func TestContent(t *testing.T) {
	index := func(name, fields string, analysers ...string) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(`{"properties":{` + fields + `}}`), Analyzers: analysers}
	}
	s := worldWith(t, "  cluster_permissions: [\"*\"]\n", []indexresolver.Index{
		index("a", `"t":{"type":"text","fields":{"raw":{"type":"keyword"},"en":{"type":"text","analyzer":"english"}}},"also":{"type":"alias","path":"t"},
			"own":{"type":"text","analyzer":"mine"},"read":{"type":"text","analyzer":"mine","search_analyzer":"standard"},"quoted":{"type":"text","search_quote_analyzer":"keyword"},
			"off":{"type":"text","index":false},"docs":{"type":"text","index_options":"docs"},"pre":{"type":"text","index_prefixes":{}},"like":{"type":"search_as_you_type"},
			"k":{"type":"keyword"},"stored":{"type":"keyword","index":false},"n":{"type":"long","index":false},"flag":{"type":"boolean"},"flat":{"type":"flat_object"},
			"new":{"type":"nobody_knows"},"o":{"properties":{"x":{"type":"text"}}},"mixed":{"type":"text"}`),
		index("b", `"t":{"type":"text"},"mixed":{"type":"keyword"},"only":{"type":"text"}`),
		index("whole", `"t":{"type":"text"},"std":{"type":"text","analyzer":"standard"}`, "default"),
		index("twisted", `"t":{"type":"text"},"std":{"type":"text","analyzer":"standard"}`, "standard"),
		index("quotes", `"t":{"type":"text"}`, "default_search_quote"),
	})
	f := func(want query.Content, name, analyser string, indices ...string) {
		t.Helper()
		if got := (&mappedIn{s, indices}).Content(name, analyser); got != want {
			t.Errorf("%s of %v read by %q keeps %d; want %d", name, indices, analyser, got, want)
		}
	}
	for _, name := range []string{"t", "t.en", "also", "read", "docs", "pre", "like", "o.x"} {
		f(query.Words, name, "", "a")
	}
	for _, name := range []string{"own", "quoted"} {
		f(query.Analysed, name, "", "a")
	}
	f(query.Words, "own", "standard", "a")
	for _, analyser := range []string{"keyword", "simple", "mine"} {
		f(query.Analysed, "t", analyser, "a")
	}
	for name, want := range map[string]query.Content{
		"k": query.Terms, "t.raw": query.Terms, "flat": query.Terms, "flat.key": query.Terms, "stored": query.Values, "off": query.Values, "flag": query.Values,
		"n": query.Points, "nosuch": query.Nothing, "o": query.Nothing, "new": query.Unsure, "pre._index_prefix": query.Unsure, "like._2gram": query.Unsure,
	} {
		f(want, name, "", "a")
	}
	f(query.Words, "t", "", "a", "b")
	f(query.Words, "only", "", "a", "b")
	f(query.Unsure, "mixed", "", "a", "b")
	f(query.Analysed, "t", "", "whole")
	f(query.Words, "std", "", "whole")
	f(query.Words, "t", "", "twisted")
	f(query.Analysed, "std", "", "twisted")
	f(query.Analysed, "t", "standard", "twisted")
	f(query.Analysed, "t", "", "quotes")
	f(query.Nothing, "t", "", "gone")
}
