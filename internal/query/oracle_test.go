package query

import (
	"errors"
	"strings"
	"testing"

	"guard/internal/esjson"
)

// TestUnweighed holds that no score depends on terms that only hidden documents have.
func TestUnweighed(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		got, err := searchUnder(t, `{"query":`+query+`}`, `{"term":{"d":"x"}}`)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			return
		}
		must, _, _ := strings.Cut(strings.TrimPrefix(got, `{"query":{"bool":{"must":[`), `],"filter":`)
		if must != want {
			t.Errorf("%s became %s; want %s", query, must, want)
		}
	}
	f(`{"match":{"a":"b"}}`, `{"match":{"a":"b"}}`)
	f(`{"match":{"a":{"query":"b","fuzziness":"AUTO","boost":2}}}`, `{"constant_score":{"filter":{"match":{"a":{"query":"b","fuzziness":"AUTO","boost":2}}},"boost":2}}`)
	f(`{"fuzzy":{"a":"b"}}`, `{"constant_score":{"filter":{"fuzzy":{"a":"b"}}}}`)
	f(`{"match_phrase_prefix":{"a":"b c"}}`, `{"constant_score":{"filter":{"match_phrase_prefix":{"a":"b c"}}}}`)
	f(`{"multi_match":{"query":"b","fields":["a"],"type":"phrase_prefix"}}`, `{"constant_score":{"filter":{"multi_match":{"query":"b","fields":["a"],"type":"phrase_prefix"}}}}`)
	f(`{"span_or":{"clauses":[{"span_term":{"a":"b"}},{"span_first":{"match":{"span_term":{"a":"c"}},"end":1}}],"boost":3}}`,
		`{"constant_score":{"filter":{"span_or":{"clauses":[{"span_term":{"a":"b"}},{"span_first":{"match":{"span_term":{"a":"c"}},"end":1}}],"boost":3}},"boost":3}}`)
	f(`{"bool":{"should":[{"span_term":{"a":"b"}},{"term":{"a":"b"}}]}}`, `{"bool":{"should":[{"constant_score":{"filter":{"span_term":{"a":"b"}}}},{"term":{"a":"b"}}]}}`)
	f(`{"simple_query_string":{"query":"b~1","fields":["a"]}}`, `{"constant_score":{"filter":{"simple_query_string":{"query":"b~1","fields":["a"]}}}}`)
}

// searchUnder prints a search under a document rule.
func searchUnder(t *testing.T, body string, filter Filter) (string, error) {
	t.Helper()
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	out, err := AppendSearch(nil, v, nil, &Rules{Filter: filter})
	return string(out), err
}

// TestTooWide holds that near spellings stay away from the clusters' limit of clauses:
// an error there would tell how many terms a spelling is near to.
func TestTooWide(t *testing.T) {
	f := func(query string, refused bool) {
		t.Helper()
		_, err := searchUnder(t, `{"query":`+query+`}`, `{"term":{"d":"x"}}`)
		var r *Refusal
		if refused && (!errors.As(err, &r) || !strings.Contains(r.Why, "near spellings")) || !refused && err != nil {
			t.Errorf("%s: error %v; want a refusal: %v", query, err, refused)
		}
	}
	fillers := strings.Repeat(`{"term":{"a":"x"}},`, 400)
	f(`{"match":{"a":{"query":"one two three four","fuzziness":1}}}`, false)
	f(`{"match":{"a":{"query":"`+strings.Repeat("word ", 18)+`","fuzziness":1}}}`, true)
	f(`{"match":{"a":{"query":"aBcDeFgHiJkLmNoPqRsT","fuzziness":1}}}`, true) // some analysis splits at capitals
	f(`{"bool":{"should":[`+fillers+`{"term":{"a":"x"}}]}}`, false)
	f(`{"bool":{"should":[`+fillers+`{"fuzzy":{"a":"x"}}]}}`, true)
	f(`{"multi_match":{"query":"one two","fields":["a","b"],"fuzziness":"AUTO"}}`, false)
	f(`{"multi_match":{"query":"one","fields":["*"],"fuzziness":"AUTO"}}`, true)
	f(`{"query_string":{"query":"one~"}}`, true)
	f(`{"query_string":{"query":"one~","default_field":"a"}}`, false)
	f(`{"fuzzy":{"a":{"value":"x","max_expansions":1000}}}`, true)
	f(`{"bool":{"must":{"match":{"a":{"query":"hello wrold","fuzziness":"AUTO"}}},"filter":[{"term":{"status":"open"}},{"range":{"at":{"gte":"now-7d/d"}}},{"terms":{"team":["a","b","c"]}}]}}`, false)

	// Whatever is written counts, in any clause and by any analysis that can be named.
	near := `{"match":{"a":{"query":"dorb","fuzziness":2}}}`
	f(`{"bool":{"should":[`+near+`,{"match":{"bio":{"query":"`+strings.Repeat("!!# ", 900)+`","analyzer":"whitespace"}}}]}}`, true)
	f(`{"bool":{"should":[`+near+`,{"terms_set":{"d":{"terms":["x"`+strings.Repeat(`,"x"`, 900)+`],"minimum_should_match_field":"r"}}}]}}`, true)
	f(`{"bool":{"should":[`+near+`,{"match":{"bio":"`+strings.Repeat("🌀🌁", 450)+`"}}]}}`, true)
	f(`{"bool":{"should":[`+near+`,{"intervals":{"bio":{"match":{"query":"`+strings.Repeat("w ", 900)+`"}}}}]}}`, true)
	f(`{"bool":{"should":[`+near+`,{"terms":{"n":[1`+strings.Repeat(`,1`, 450)+`]}}]}}`, true)
}

// TestCountingRewrites holds that no clause becomes one clause for each term.
func TestCountingRewrites(t *testing.T) {
	f := func(query string) {
		t.Helper()
		var r *Refusal
		if _, err := searchUnder(t, `{"query":`+query+`}`, `{"term":{"d":"x"}}`); !errors.As(err, &r) {
			t.Errorf("%s: error %v; want a refusal", query, err)
		}
	}
	for _, rewrite := range []string{"scoring_boolean", "constant_score_boolean", "top_terms_5"} {
		f(`{"prefix":{"a":{"value":"x","rewrite":"` + rewrite + `"}}}`)
		f(`{"regexp":{"a":{"value":"x.*","rewrite":"` + rewrite + `"}}}`)
		f(`{"match":{"a":{"query":"x","fuzziness":1,"fuzzy_rewrite":"` + rewrite + `"}}}`)
	}
	f(`{"span_multi":{"match":{"prefix":{"a":"x"}}}}`)
}
