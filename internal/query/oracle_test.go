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
	f(`{"match":{"a":{"query":"b","fuzziness":"AUTO","boost":2}}}`, `{"constant_score":{"filter":{"match":{"a":{"query":"b","fuzziness":"AUTO","boost":2,"fuzzy_rewrite":"constant_score"}}},"boost":2}}`)
	f(`{"span_or":{"clauses":[{"span_term":{"a":"b"}},{"span_first":{"match":{"span_term":{"a":"c"}},"end":1}}],"boost":3}}`,
		`{"constant_score":{"filter":{"span_or":{"clauses":[{"span_term":{"a":"b"}},{"span_first":{"match":{"span_term":{"a":"c"}},"end":1}}],"boost":3}},"boost":3}}`)
	f(`{"bool":{"should":[{"span_term":{"a":"b"}},{"term":{"a":"b"}}]}}`, `{"bool":{"should":[{"constant_score":{"filter":{"span_term":{"a":"b"}}}},{"term":{"a":"b"}}]}}`)
	f(`{"simple_query_string":{"query":"\"b c\"~1","fields":["a"]}}`, `{"constant_score":{"filter":{"simple_query_string":{"query":"\"b c\"~1","fields":["a"]}}}}`)
}

// TestNoChoiceOfWords holds that no clause takes some of the words that fit: words of
// hidden documents would take places.
func TestNoChoiceOfWords(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		got, err := searchUnder(t, `{"query":`+query+`}`, `{"term":{"d":"x"}}`)
		var r *Refusal
		switch {
		case want == "" && !errors.As(err, &r):
			t.Errorf("%s became %s, %v; want a refusal", query, got, err)
		case want != "" && !strings.Contains(got, `{"constant_score":{"filter":`+want+`}`):
			t.Errorf("%s became %s, %v; want %s", query, got, err, want)
		}
	}
	f(`{"fuzzy":{"a":"b"}}`, `{"fuzzy":{"a":{"value":"b","rewrite":"constant_score"}}}`)
	f(`{"fuzzy":{"a":{"value":"b","rewrite":"constant_score_blended"}}}`, `{"fuzzy":{"a":{"value":"b","rewrite":"constant_score_blended"}}}`)
	f(`{"fuzzy":{"a":{"value":"b","max_expansions":49}}}`, "")
	f(`{"match_bool_prefix":{"a":{"query":"b c","fuzziness":1}}}`, `{"match_bool_prefix":{"a":{"query":"b c","fuzziness":1,"fuzzy_rewrite":"constant_score"}}}`)
	f(`{"multi_match":{"query":"b","fields":["a"],"fuzziness":1}}`, `{"multi_match":{"query":"b","fields":["a"],"fuzziness":1,"fuzzy_rewrite":"constant_score"}}`)
	f(`{"query_string":{"query":"b~ OR c","fields":["a"]}}`, "")
	f(`{"query_string":{"query":"\"b c\"~2","fields":["a"]}}`, `{"query_string":{"query":"\"b c\"~2","fields":["a"]}}`)
	f(`{"simple_query_string":{"query":"b~1","fields":["a"]}}`, "")
	f(`{"simple_query_string":{"query":"~","fields":["a"]}}`, "")

	f(`{"match_phrase_prefix":{"a":"b"}}`, `{"match_bool_prefix":{"a":"b"}}`)
	f(`{"match_phrase_prefix":{"a":{"query":"Ab1","slop":2,"max_expansions":99,"zero_terms_query":"none","analyzer":"simple"}}}`, `{"match_bool_prefix":{"a":{"query":"Ab1","analyzer":"simple"}}}`)
	f(`{"match_phrase_prefix":{"a":"b c"}}`, "")
	f(`{"match_phrase_prefix":{"a":"b-c"}}`, "")
	f(`{"match_phrase_prefix":{"a":"日本"}}`, "")
	f(`{"match_phrase_prefix":{"a":{"query":"b","zero_terms_query":"all"}}}`, "")
	f(`{"multi_match":{"query":"b","fields":["a"],"type":"phrase_prefix","slop":1}}`, `{"multi_match":{"query":"b","fields":["a"],"type":"bool_prefix"}}`)
	f(`{"multi_match":{"query":"b c","fields":["a"],"type":"phrase_prefix"}}`, "")
	f(`{"multi_match":{"query":"b c","fields":["a"],"type":"phrasePrefix"}}`, "")
	f(`{"query_string":{"query":"b","fields":["a"],"type":"phrase_prefix"}}`, "")
}

// TestNothingIsSkipped holds that neither a clause nor a shard goes by what hidden
// documents hold.
func TestNothingIsSkipped(t *testing.T) {
	f := func(body, want string, untold bool) {
		t.Helper()
		var tape esjson.Tape
		v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
		if err != nil {
			t.Fatal(err)
		}
		r := &Rules{Filter: `{"term":{"d":"x"}}`}
		got, err := AppendSearch(nil, v, nil, r)
		if err != nil || !strings.Contains(string(got), want) || r.TotalUntold != untold {
			t.Errorf("%s became %s, total untold %v, %v; want %s", body, got, r.TotalUntold, err, want)
		}
	}
	const inMax = `{"dis_max":{"queries":[{"range":{"at":{"gte":1}}}]}}`
	const ranged = `{"range":{"at":{"gte":1}}}`
	f(`{"query":`+ranged+`}`, `"must":[`+inMax+`]`, false)
	f(`{"query":{"bool":{"must_not":[`+ranged+`]}}}`, `"must_not":[`+inMax+`]`, false)
	f(`{"post_filter":`+ranged+`}`, `"post_filter":`+inMax, false)
	f(`{"aggs":{"a":{"filter":`+ranged+`}}}`, `"filter":`+inMax, false)
	f(`{"aggs":{"a":{"filters":{"filters":{"x":`+ranged+`}}}}}`, `"x":`+inMax, false)
	f(`{"rescore":{"query":{"rescore_query":`+ranged+`}}}`, `"rescore_query":`+inMax, false)
	f(`{"highlight":{"fields":{"a":{}},"highlight_query":`+ranged+`}}`, inMax, false)
	f(`{"sort":[{"a":{"nested":{"path":"p","filter":`+ranged+`}}}]}`, `"filter":`+inMax, false)

	f(`{"track_total_hits":false}`, `"track_total_hits":1`, true)
	f(`{"track_total_hits":"false"}`, `"track_total_hits":1`, true)
	f(`{"track_total_hits":-1}`, `"track_total_hits":1`, true)
	f(`{"track_total_hits":-1.0}`, `"track_total_hits":1`, true)
	f(`{"track_total_hits":true}`, `"track_total_hits":true`, false)
	f(`{"track_total_hits":0}`, `"track_total_hits":0`, false)

	rule, err := ValidateRoleQuery([]byte(ranged))
	if err != nil || string(rule) != inMax {
		t.Errorf("the rule %s became %s, %v; want %s", ranged, rule, err, inMax)
	}
}

// TestTotalOfTheURL holds that the URL's word on the total counts, as for the cluster.
func TestTotalOfTheURL(t *testing.T) {
	f := func(url, body, want string, untold bool) {
		t.Helper()
		var tape esjson.Tape
		v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
		if err != nil {
			t.Fatal(err)
		}
		r := &Rules{Filter: `{"term":{"d":"x"}}`}
		p, err := CheckParams(Search, []Param{{Name: "track_total_hits", Value: url, HasValue: true}, {Name: "batched_reduce_size", Value: "2", HasValue: true}}, r)
		if err != nil || len(p.Keep) > 0 {
			t.Fatalf("%s: kept %v, %v", url, p, err)
		}
		got, err := AppendSearch(nil, v, p, r)
		if err != nil || !strings.Contains(string(got), want) || r.TotalUntold != untold {
			t.Errorf("%s and %s became %s, total untold %v, %v; want %s", url, body, got, r.TotalUntold, err, want)
		}
	}
	f("false", `{}`, `"track_total_hits":1`, true)
	f("false", `{"track_total_hits":true}`, `"track_total_hits":1`, true)
	f("true", `{"track_total_hits":false}`, `"track_total_hits":"true"`, false)
	f("100", `{"track_total_hits":false}`, `"track_total_hits":"100"`, false)
	f("-1", `{}`, `"track_total_hits":1`, true)
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
