package gate

import (
	"testing"

	"guard/internal/query"
)

// TestIDSearches holds what the searches of a batch ask: the first the versions
// alone, as a walker without rules would write it; the second what the client wants,
// as the walker lets it.
func TestIDSearches(t *testing.T) {
	f := func(b batch, versions, documents string) {
		t.Helper()
		b.first.b = boundTo("hr")
		for _, c := range []struct {
			what idSearch
			want string
		}{{ofVersions, versions}, {ofDocuments, documents}} {
			got, err := appendIDSearch([]byte("before "), b, c.what)
			if err != nil || string(got) != "before "+c.want {
				t.Errorf("search %d: %s, %v\nwant %s", c.what, got, err, c.want)
			}
		}
		walked, err := query.AppendSearch(nil, parsed(t, versions), nil, &query.Rules{Filter: query.Free})
		if err != nil || string(walked) != versions {
			t.Errorf("%s is not as a walker writes it: %s, %v", versions, walked, err)
		}
	}
	const head = `"version":true,"seq_no_primary_term":true`
	bound := func(ids string) string {
		return `"query":{"bool":{"must":[{"ids":{"values":[` + ids + `]}}],"filter":[{"term":{"dept":"eng"}}]}}}`
	}
	f(batch{first: &docItem{}, ids: []string{"1"}}, `{"size":10,`+head+`,"_source":false,"query":{"ids":{"values":["1"]}}}`, `{"size":10,`+head+`,`+bound(`"1"`))
	f(batch{first: &docItem{source: []byte(`["a","b"]`), stored: []byte(`["c"]`)}, ids: []string{`"`, "\u00e9\n"}},
		`{"size":20,`+head+`,"_source":false,"query":{"ids":{"values":["\"","é\n"]}}}`,
		`{"size":20,`+head+`,"_source":["a","b"],"stored_fields":["c"],`+bound(`"\"","é\n"`))

	visible, err := appendIDSearch(nil, batch{first: &docItem{stored: []byte(`["c"]`), b: boundTo("hr")}, ids: []string{"1"}}, ofVisible)
	if want := `{"size":10,` + head + `,"_source":false,` + bound(`"1"`); err != nil || string(visible) != want {
		t.Errorf("the search for what is visible: %s, %v; want %s", visible, err, want)
	}

	// A read by id takes _none_ for the name of a field; a search would leave out the id.
	for stored, want := range map[string]string{`"_none_"`: `[]`, `["_none_"]`: `[]`, `["a","_none_","_routing"]`: `["a","_routing"]`, `"a_none_"`: `["a_none_"]`, `"a"`: `"a"`} {
		f(batch{first: &docItem{stored: []byte(stored)}, ids: []string{"1"}}, `{"size":10,`+head+`,"_source":false,"query":{"ids":{"values":["1"]}}}`,
			`{"size":10,`+head+`,"stored_fields":`+want+`,`+bound(`"1"`))
	}
	for _, refused := range []string{`{"excludes":1}`, `{"script":"x"}`} {
		b := batch{first: &docItem{source: []byte(refused), b: boundTo("hr")}, ids: []string{"1"}}
		if got, err := appendIDSearch(nil, b, ofDocuments); err == nil {
			t.Errorf("_source %s became %s; want a refusal", refused, got)
		}
	}
}
