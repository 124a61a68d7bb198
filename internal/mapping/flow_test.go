package mapping

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/esjson"
)

// family is Carries the other way round, found by itself: every path that can show the
// value of path or of something below it (the field, its multi-fields, aliases and
// copies, theirs in turn, the scripted fields of the index) and the objects around
// each of these.
func family(m *Mapping, path string) []string {
	if f, ok := m.Lookup(path); ok {
		switch {
		case f.SubKey != "":
			path = f.Path
		case f.Kind == Alias:
			path = f.AliasOf
		}
	}
	to := map[string][]string{}
	for b, sources := range m.flow.from {
		for _, a := range sources {
			to[a] = append(to[a], b)
		}
	}
	start := append([]string{path}, m.flow.scripted...)
	for f := range m.Below(path) {
		start = append(start, f.Path)
	}
	return sorted(spread(start, func(p string, visit func(string)) {
		each(to[p], visit)
		for i := strings.LastIndexByte(p, '.'); i > 0; i = strings.LastIndexByte(p[:i], '.') {
			if _, ok := m.index[p[:i]]; ok {
				visit(p[:i])
			}
		}
	}))
}

func TestFamily(t *testing.T) {
	f := func(src, path string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, family(parse(t, src), path)); diff != "" {
			t.Fatalf("family of %q (-want +got):\n%s", path, diff)
		}
	}
	// Everything that shows a social security number.
	f(hr, "ssn", "all_text", "all_text.raw", "person_copy", "person_copy.ids", "ssn", "ssn.txt", "ssn_alias", "twice")
	f(hr, "ssn_alias", "all_text", "all_text.raw", "person_copy", "person_copy.ids", "ssn", "ssn.txt", "ssn_alias", "twice")
	f(hr, "ssn.txt", "all_text", "all_text.raw", "person_copy", "person_copy.ids", "ssn", "ssn.txt", "ssn_alias", "twice") // the value of its field
	f(hr, "person.passport", "person", "person.passport")
	f(hr, "person", "person", "person.city", "person.passport", "twice")
	f(hr, "labels", "labels", "labels_alias")
	f(hr, "labels.secret", "labels", "labels_alias") // a key is shown by the whole
	f(hr, "blob.token", "blob")
	f(hr, "dependents.school.mark", "dependents", "dependents.school", "dependents.school.mark")
	f(hr, "not.mapped", "not.mapped")
	f(hr, "twice", "twice") // values do not flow back

	// Scripts may show anything.
	f(`{"properties":{"a":{"type":"long"},"b":{"type":"long"}},"runtime":{"r":{"type":"long","script":{"source":"emit(doc['a'].value)"}},"plain":{"type":"keyword"}}}`, "a", "a", "r")
	f(`{"properties":{"a":{"type":"long"}},"derived":{"d":{"type":"keyword","script":{"source":"x"}},"o":{"type":"object","properties":{"x":"keyword"}}}}`, "a", "a", "d", "o")
	f(`{"properties":{"a":{"type":"long"},"s":{"type":"long","script":"emit(1)","copy_to":"c"}}}`, "a", "a", "c", "s")
	f(`{"properties":{"a":{"type":"long"},"b":{"type":"long"}},"runtime":{"b":{"type":"long","script":"emit(1)"}}}`, "a", "a", "b") // the script shadows b
	f(`{"runtime":{"b":{"type":"long","script":"emit(1)"}},"properties":{"a":{"type":"long"},"b":{"type":"long"}}}`, "a", "a", "b")
	f(`{"properties":{"a":{"type":"long"}},"runtime":{"l":{"type":"lookup","target_index":"hr"}}}`, "a", "a", "l")

	// A completion keeps the values of its contexts.
	suggest := `{"properties":{"a":{"type":"keyword","copy_to":"b"},"b":{"type":"keyword"},"o":{"type":"flat_object"},"one":{"type":"completion","contexts":{"name":"x","type":"category","path":"a"}},
		"s":{"type":"completion","contexts":[{"name":"x","type":"category"},{"name":"y","type":"category","path":"b"},{"name":"z","type":"geo","path":"o.k"}]}}}`
	f(suggest, "a", "a", "b", "one", "s")
	f(suggest, "o.k", "o", "s")
	f(suggest, "s", "s")

	// A copy to a field that no document has created yet.
	f(`{"properties":{"a":{"type":"text","copy_to":"later"}}}`, "a", "a", "later")

	// A copy to a key of an opaque object, and an alias of one.
	keys := `{"properties":{"a":{"type":"text","copy_to":"o.k"},"o":{"type":"flat_object"},"x":{"type":"alias","path":"o.k"}}}`
	f(keys, "a", "a", "o", "o.k", "x")
	f(keys, "o", "o", "x")

	// A field below an object that a script computes as well.
	f(`{"properties":{"a":{"type":"long"},"o":{"properties":{"b":{"type":"long"}}}},"derived":{"o":{"type":"object","script":"x"}}}`, "a", "a", "o", "o.b")

	// Passthrough objects: names without prefix; the higher priority wins.
	pass := `{"properties":{"attributes":{"type":"passthrough","priority":10,"properties":{"token":{"type":"keyword"},"n":{"type":"long"}}},
		"other":{"type":"passthrough","priority":20,"properties":{"token":{"type":"keyword"}}},"n":{"type":"long"}}}`
	f(pass, "other.token", "other", "other.token", "token")
	f(pass, "attributes.token", "attributes", "attributes.token")
	f(pass, "attributes.n", "attributes", "attributes.n")

	// Circles end.
	f(`{"properties":{"a":{"type":"text","copy_to":"b"},"b":{"type":"text","copy_to":"a"}}}`, "a", "a", "b")
	f(`{"properties":{"a":{"type":"alias","path":"b"},"b":{"type":"alias","path":"a"}}}`, "a", "a", "b")
}

func TestCarries(t *testing.T) {
	f := func(src, path string, wantAll bool, want ...string) {
		t.Helper()
		got, all := parse(t, src).Carries(path)
		if diff := cmp.Diff(want, got); diff != "" || all != wantAll {
			t.Fatalf("Carries(%q), all %v (-want +got):\n%s", path, all, diff)
		}
	}
	f(hr, "ssn", false, "ssn")
	f(hr, "ssn.txt", false, "ssn", "ssn.txt")
	f(hr, "ssn_alias", false, "ssn", "ssn_alias")
	f(hr, "all_text.raw", false, "all_text", "all_text.raw", "name", "ssn")
	f(hr, "twice", false, "all_text", "name", "person.city", "ssn", "twice")
	f(hr, "person_copy", false, "person_copy", "person_copy.ids", "person_copy.other", "ssn")
	f(hr, "labels.key", false, "labels")
	f(hr, "labels_alias.key", false, "labels", "labels_alias")
	f(hr, "nope", false, "nope")
	script := `{"properties":{"a":{"type":"alias","path":"r"}},"runtime":{"r":{"type":"long","script":"x"}}}`
	f(script, "r", true, "r")
	f(script, "a", true, "a", "r")
}

// FuzzMapping holds the law that joins the two questions: if q carries p, then q is
// in the family of p. And whatever is accepted answers for each of its own paths.
func FuzzMapping(f *testing.F) {
	f.Add(hr)
	f.Add(`{"properties":{"a":{"type":"alias","path":"b"},"b":{"properties":{"c":{"copy_to":["a","d.e"]}}}},"runtime":{"r":{"script":"x"}}}`)
	f.Add(`{"properties":{"p":{"type":"passthrough","priority":1,"properties":{"t":{"type":"keyword","fields":{"x":{"type":"text"}}}}}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		v, err := esjson.Parse(new(esjson.Tape), []byte(src), esjson.Limits{MaxDepth: 30, MaxTokens: 300})
		if err != nil {
			return
		}
		m, err := Parse(v)
		if err != nil {
			return
		}
		for q := range m.All() {
			if got, ok := m.Lookup(q.Path); !ok || got.Path != q.Path {
				t.Fatalf("%s: Lookup(%q) = %+v, %v", src, q.Path, got, ok)
			}
			sources, all := m.Carries(q.Path)
			for _, p := range sources {
				if !slices.Contains(family(m, p), q.Path) {
					t.Fatalf("%s: %q carries %q and is not in its family %q", src, q.Path, p, family(m, p))
				}
			}
			for p := range m.All() {
				if all && !slices.Contains(family(m, p.Path), q.Path) {
					t.Fatalf("%s: %q may carry anything and is not in the family of %q", src, q.Path, p.Path)
				}
			}
		}
	})
}
