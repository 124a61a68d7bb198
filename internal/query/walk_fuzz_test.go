package query

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"guard/internal/esjson"
)

// goldenBodies returns the bodies of the golden files, as seeds.
func goldenBodies(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/search/*.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var bodies []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.HasPrefix(line, "{") {
				bodies = append(bodies, line)
			}
		}
	}
	return bodies
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(text), esjson.RequestLimits())
	if err != nil {
		t.Fatalf("%s is no JSON: %v", text, err)
	}
	return string(esjson.AppendCanonical(nil, v))
}

// FuzzSearch: a body is refused or keeps its meaning. Without rules it comes out
// equal; under a document rule it differs by nothing but the filter; under a field
// rule walking it again changes nothing, for what was hidden is gone.
func FuzzSearch(f *testing.F) {
	for _, body := range goldenBodies(f) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var tape esjson.Tape
		v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
		if err != nil {
			return
		}
		walk := func(v esjson.Value, r Rules) (string, bool) {
			out, err := AppendSearch(nil, v, nil, &r)
			var refusal *Refusal
			if err != nil && !errors.As(err, &refusal) {
				t.Fatalf("%s: %T %v is no refusal", body, err, err)
			}
			return string(out), err == nil
		}
		again := func(out string, r Rules) (string, bool) {
			var tape esjson.Tape
			v, err := esjson.Parse(&tape, []byte(out), esjson.RequestLimits())
			if err != nil {
				t.Fatalf("%s became %s: %v", body, out, err)
			}
			return walk(v, r)
		}

		free, ok := walk(v, Rules{Filter: Free})
		if ok && v.Len() > 0 && canonical(t, free) != canonical(t, body) {
			t.Fatalf("%s became %s without rules", body, free)
		}
		if filtered, ok := walk(v, Rules{Filter: `{"the":"filter"}`}); ok && !changesMore.MatchString(body) {
			checkFiltered(t, v, filtered)
		}
		r := Rules{Filter: Free, Fields: hr}
		if seen, ok := walk(v, r); ok {
			if twice, ok := again(seen, r); !ok || twice != seen {
				t.Fatalf("%s\nbecame %s\nand then %s", body, seen, twice)
			}
		}
	})
}

// changesMore finds bodies of which a document rule changes more than checkFiltered knows:
// a highlight gets a query of its own, a function_score the filter, a sort by _doc another name, and so on.
var changesMore = regexp.MustCompile(`highlight|function_score|_doc|phrase|track_total_hits|terminate_after|random_score|combined_fields|cross_fields|span_term|sort|\\`)

// checkFiltered reports whether out is the body of v with its query under a filter.
func checkFiltered(t *testing.T, v esjson.Value, out string) {
	t.Helper()
	query := `{"match_all":{}}`
	var w esjson.Writer
	w.BeginObject()
	for key, m := range v.Members() {
		if key == "query" {
			query = string(m.Raw())
			continue
		}
		w.Key(key)
		w.Value(m)
	}
	w.Key("query")
	w.Raw([]byte(`{"bool":{"must":[` + query + `],"filter":[{"the":"filter"}]}}`))
	w.EndObject()
	got, want := canonical(t, out), canonical(t, string(w.Bytes()))
	for range 2 { // a client's own constant_score may be around
		got, want = weighed(t, got), weighed(t, want)
	}
	if got != want {
		t.Fatalf("%s\n got %s\nwant %s", v.Raw(), got, want)
	}
}

// weighed takes out of a search what keeps scores and errors from telling of hidden
// documents: it changes no hit.
func weighed(t *testing.T, text string) string {
	t.Helper()
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(text), esjson.RequestLimits())
	if err != nil {
		t.Fatalf("%s is no JSON: %v", text, err)
	}
	var w esjson.Writer
	writeWeighed(&w, v)
	return string(w.Bytes())
}

func writeWeighed(w *esjson.Writer, v esjson.Value) {
	v = unwrapped(v)
	switch v.Kind() {
	case esjson.Object:
		w.BeginObject()
		for key, m := range v.Members() {
			if (key == "rewrite" || key == "fuzzy_rewrite") && m.String() == allWords {
				continue
			}
			w.Key(key)
			writeWeighed(w, m)
		}
		w.EndObject()
	case esjson.Array:
		w.BeginArray()
		for _, e := range v.Elements() {
			writeWeighed(w, e)
		}
		w.EndArray()
	default:
		w.Value(v)
	}
}

// unwrapped returns the clause that a constant_score or a dis_max of one is around, and
// the word of a fuzzy clause that says nothing else.
func unwrapped(v esjson.Value) esjson.Value {
	for name, m := range v.Members() {
		inner, _ := m.Lookup("filter")
		if queries, _ := m.Lookup("queries"); name == "dis_max" && queries.Len() == 1 && m.Len() == 1 {
			for _, inner = range queries.Elements() {
			}
		}
		for clause, c := range inner.Members() {
			if clauses[clause] != nil && inner.Len() == 1 && v.Len() == 1 && bound(clause, c) {
				return inner
			}
		}
		if word, ok := v.Lookup("value"); ok && onlyWord(v) {
			return word
		}
	}
	return v
}

func bound(name string, v esjson.Value) bool {
	return name == "range" || strings.HasPrefix(name, "span_") || name == "field_masking_span" || nearSpellings(clauses[name], v) || isPhrase(clauses[name], v)
}

// onlyWord reports whether an object holds a value, and the way to rewrite it at most.
func onlyWord(v esjson.Value) bool {
	_, rewrite := v.Lookup("rewrite")
	return v.Len() == 1 || v.Len() == 2 && rewrite
}

// FuzzParams: parameters are refused, kept, or placed in a body that parses.
func FuzzParams(f *testing.F) {
	f.Add("q", "ssn:1 OR a", "df", "ssn")
	f.Add("_source", "ssn,a*", "sort", "ssn:asc,_score")
	f.Add("q", "\xff", "lenient", "")
	f.Fuzz(func(t *testing.T, a, av, b, bv string) {
		for _, r := range []Rules{{Filter: Free}, {}, {Filter: Free, Fields: hr}} {
			p, err := CheckParams(Search, []Param{{a, av, true}, {b, bv, true}}, &r)
			if err != nil {
				continue
			}
			out, err := AppendSearch(nil, esjson.Value{}, p, &r)
			if err != nil {
				continue
			}
			if len(out) > 0 {
				canonical(t, string(out))
			}
			for _, k := range p.Keep {
				if k.Name == "q" && (r.Filter != Free || r.Fields != nil) {
					t.Fatalf("q stays in the URL under %+v", r)
				}
			}
		}
	})
}
