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
	f(`{"match_phrase":{"a":"b c"}}`, `{"constant_score":{"filter":{"match_phrase":{"a":"b c"}}}}`) // an analyser can put several words in one place
	f(`{"multi_match":{"query":"b c","fields":["a"],"type":"phrase"}}`, `{"constant_score":{"filter":{"multi_match":{"query":"b c","fields":["a"],"type":"phrase"}}}}`)
	f(`{"query_string":{"query":"\"b c\" d"}}`, `{"constant_score":{"filter":{"query_string":{"query":"\"b c\" d"}}}}`)
	f(`{"query_string":{"query":"b d"}}`, `{"query_string":{"query":"b d"}}`)
	f(`{"span_or":{"clauses":[{"span_term":{"a":"b"}},{"span_first":{"match":{"span_term":{"a":"c"}},"end":1}}],"boost":3}}`,
		`{"constant_score":{"filter":{"span_or":{"clauses":[{"span_term":{"a":"b"}},{"span_first":{"match":{"span_term":{"a":"c"}},"end":1}}],"boost":3}},"boost":3}}`)
	f(`{"bool":{"should":[{"span_term":{"a":"b"}},{"term":{"a":"b"}}]}}`, `{"bool":{"should":[{"constant_score":{"filter":{"span_term":{"a":"b"}}}},{"term":{"a":"b"}}]}}`)
	for _, blended := range []string{
		`{"combined_fields":{"query":"b","fields":["a","c"]}}`, `{"multi_match":{"query":"b","fields":["a","c"],"type":"cross_fields"}}`,
		`{"multi_match":{"query":"b","fields":["a","c"],"type":"CROSSFIELDS"}}`, `{"query_string":{"query":"b","fields":["a","c"],"type":"cross_fields"}}`,
	} { // a word of one field weighs what it does in another
		f(blended, `{"constant_score":{"filter":`+blended+`}}`)
	}
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
	f(`{"simple_query_string":{"query":"\" al\"~2","fields":["a"],"flags":"FUZZY|WHITESPACE"}}`, "") // without PHRASE it is one as well
	f(`{"simple_query_string":{"query":"al\\\"~2","fields":["a"]}}`, "")                             // the quotation mark is a letter
	f(`{"query_string":{"query":"al\\\"~2","fields":["a"]}}`, "")
	f(`{"query_string":{"query":"\"a b\" al\"~2","fields":["a"]}}`, "")
	f(`{"query_string":{"query":"\"a b\"~2~1","fields":["a"]}}`, "")

	f(`{"match_phrase_prefix":{"a":"b"}}`, `{"match_bool_prefix":{"a":"b"}}`)
	f(`{"match_phrase_prefix":{"a":{"query":"Ab1","slop":2,"max_expansions":99,"zero_terms_query":"none","analyzer":"standard"}}}`, `{"match_bool_prefix":{"a":{"query":"Ab1","analyzer":"standard"}}}`)
	f(`{"match_phrase_prefix":{"a":{"query":"b","analyzer":"simple"}}}`, "")
	f(`{"match_phrase_prefix":{"a":{"query":"b","max_expansions":-1}}}`, "")
	f(`{"match_phrase_prefix":{"any":"b"}}`, "")
	f(`{"match_phrase_prefix":{"a":"b c"}}`, "")
	f(`{"match_phrase_prefix":{"a":"b-c"}}`, "")
	f(`{"match_phrase_prefix":{"a":"日本"}}`, "")
	f(`{"match_phrase_prefix":{"a":{"query":"b","zero_terms_query":"all"}}}`, "")
	f(`{"multi_match":{"query":"b","fields":["a"],"type":"phrase_prefix","slop":1}}`, `{"multi_match":{"query":"b","fields":["a"],"type":"bool_prefix"}}`)
	f(`{"multi_match":{"query":"b c","fields":["a"],"type":"phrase_prefix"}}`, "")
	f(`{"multi_match":{"query":"b","fields":["a","gone"],"type":"phrase_prefix"}}`, `{"multi_match":{"query":"b","fields":["a","gone"],"type":"bool_prefix"}}`)
	for _, fields := range []string{`"a","tag"`, `"a","num"`, `"a*"`, `"any"`, ``} {
		f(`{"multi_match":{"query":"b","fields":[`+fields+`],"type":"phrase_prefix"}}`, "")
	}
	f(`{"multi_match":{"query":"b c","fields":["a"],"type":"phrasePrefix"}}`, "")
	f(`{"query_string":{"query":"b","fields":["a"],"type":"phrase_prefix"}}`, "")
}

// TestNothingIsSkipped holds that neither a clause nor a shard goes by what hidden
// documents hold.
func TestNothingIsSkipped(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got, err := searchUnder(t, body, `{"term":{"d":"x"}}`); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s became %s, %v; want %s", body, got, err, want)
		}
	}
	const inMax = `{"dis_max":{"queries":[{"range":{"at":{"gte":1}}}]}}`
	const ranged = `{"range":{"at":{"gte":1}}}`
	f(`{"query":`+ranged+`}`, `"must":[`+inMax+`]`)
	f(`{"query":{"bool":{"must_not":[`+ranged+`]}}}`, `"must_not":[`+inMax+`]`)
	f(`{"post_filter":`+ranged+`}`, `"post_filter":`+inMax)
	f(`{"aggs":{"a":{"filter":`+ranged+`}}}`, `"filter":`+inMax)
	f(`{"aggs":{"a":{"filters":{"filters":{"x":`+ranged+`}}}}}`, `"x":`+inMax)
	f(`{"rescore":{"query":{"rescore_query":`+ranged+`}}}`, `"rescore_query":`+inMax)
	f(`{"highlight":{"fields":{"a":{}},"highlight_query":`+ranged+`}}`, inMax)
	f(`{"sort":[{"a":{"nested":{"path":"p","filter":`+ranged+`}}}]}`, `"filter":`+inMax)
	f(`{"terminate_after":1,"size":0}`, `{"size":0,"query":`)

	rule, err := roleQuery(ranged)
	if err != nil || rule != inMax {
		t.Errorf("the rule %s became %s, %v; want %s", ranged, rule, err, inMax)
	}
}

// TestTotal holds that a sorted search counts all hits, since no shard is skipped then,
// and that of the total is told what the client asked for, in the URL first.
func TestTotal(t *testing.T) {
	f := func(params []Param, body string, counted bool, want Total) {
		t.Helper()
		var tape esjson.Tape
		v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
		if err != nil {
			t.Fatal(err)
		}
		r := &Rules{Filter: `{"term":{"d":"x"}}`}
		p, err := CheckParams(Search, params, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := AppendSearch(nil, v, p, r)
		if err != nil || strings.HasPrefix(string(got), `{"track_total_hits":true,`) != counted || counted && strings.Count(string(got), "track_total_hits") != 1 || r.Total != want {
			t.Errorf("%v %s became %s, told of the total %+v, %v; want %+v", params, body, got, r.Total, err, want)
		}
	}
	url := func(name, value string) []Param { return []Param{{Name: name, Value: value, HasValue: true}} }
	const sorted = `{"sort":["a"]`
	f(nil, sorted+`}`, true, Total{Cut: true, Most: 10_000})
	f(nil, sorted+`,"track_total_hits":false}`, true, Total{Cut: true, Most: -1})
	f(nil, sorted+`,"track_total_hits":"false"}`, true, Total{Cut: true, Most: -1})
	f(nil, sorted+`,"track_total_hits":-1}`, true, Total{Cut: true, Most: -1})
	f(nil, sorted+`,"track_total_hits":7}`, true, Total{Cut: true, Most: 7})
	f(nil, sorted+`,"track_total_hits":"7"}`, true, Total{Cut: true, Most: 7})
	f(nil, sorted+`,"track_total_hits":true}`, true, Total{})
	f(url("sort", "a:asc"), `{}`, true, Total{Cut: true, Most: 10_000})
	f(url("track_total_hits", "false"), sorted+`}`, true, Total{Cut: true, Most: -1})
	f(url("track_total_hits", "true"), sorted+`,"track_total_hits":false}`, true, Total{})
	f(url("track_total_hits", "5"), sorted+`,"track_total_hits":false}`, true, Total{Cut: true, Most: 5})
	f(nil, `{"track_total_hits":false}`, false, Total{})
	f(nil, `{"size":0,"track_total_hits":1}`, true, Total{Cut: true, Most: 1}) // of just one hit a further segment would tell
	f(url("size", "0"), `{"track_total_hits":1}`, true, Total{Cut: true, Most: 1})
	f(url("track_total_hits", "3"), `{"size":0}`, true, Total{Cut: true, Most: 3})
	f(nil, `{"track_total_hits":1}`, false, Total{})
	f(nil, `{"size":0,"track_total_hits":false}`, false, Total{})
	f(nil, `{"size":0}`, false, Total{})
	f(nil, `{}`, false, Total{})

	for _, name := range []string{"terminate_after", "search_type", "batched_reduce_size"} {
		value := map[string]string{"search_type": "dfs_query_then_fetch"}[name]
		if p, err := CheckParams(Search, url(name, value), &Rules{Filter: `{"term":{"d":"x"}}`}); err != nil || len(p.Keep) > 0 {
			t.Errorf("%s is kept: %v, %v", name, p, err)
		}
		if p, err := CheckParams(Search, url(name, value), &Rules{Filter: Free}); err != nil || len(p.Keep) != 1 {
			t.Errorf("%s is not kept without a rule: %v, %v", name, p, err)
		}
	}
}

// TestEndsUnderAFieldRule holds that a field rule, too, lets no search end early: whether a
// shard could count its hits depends on hidden nested fields.
func TestEndsUnderAFieldRule(t *testing.T) {
	fls := ruleSets["fls"]
	p, err := CheckParams(Search, []Param{{Name: "terminate_after", Value: "1", HasValue: true}, {Name: "search_type", Value: "query_then_fetch", HasValue: true}}, &fls)
	if err != nil || len(p.Keep) != 1 || p.Keep[0].Name != "search_type" {
		t.Errorf("kept are %v, %v; want search_type", p, err)
	}
}

// TestPivot holds that no rank_feature is compared by the mean of all documents.
func TestPivot(t *testing.T) {
	f := func(options string, answered bool) {
		t.Helper()
		if _, err := searchUnder(t, `{"query":{"rank_feature":{"field":"p"`+options+`}}}`, `{"term":{"d":"x"}}`); (err == nil) != answered {
			t.Errorf("%s: %v; want it answered: %v", options, err, answered)
		}
	}
	f(``, false)
	f(`,"saturation":{}`, false)
	f(`,"saturation":{"pivot":8}`, true)
	f(`,"log":{"scaling_factor":1}`, true)
	f(`,"sigmoid":{"pivot":7,"exponent":0.6}`, true)
}

// searchUnder prints a search under a document rule.
func searchUnder(t *testing.T, body string, filter Filter) (string, error) {
	t.Helper()
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	out, err := AppendSearch(nil, v, nil, &Rules{Filter: filter, Mapped: placedTexts{}})
	return string(out), err
}

// TestLeftAsTheyAre: where no clause chooses words, the cluster's own answer is the right one.
func TestLeftAsTheyAre(t *testing.T) {
	f := func(clause string) {
		t.Helper()
		got, err := searchUnder(t, `{"query":`+clause+`}`, `{"term":{"d":"x"}}`)
		if err != nil || !strings.Contains(got, `"must":[`+clause+`]`) && !strings.Contains(got, `{"constant_score":{"filter":`+clause+`}}`) {
			t.Errorf("%s became %s, %v; want it as it is", clause, got, err)
		}
	}
	// Nothing but a text has prefixes of phrases: each cluster fails, or finds nothing.
	for _, field := range []string{"tag", "flag", "num", "gone"} {
		f(`{"match_phrase_prefix":{"` + field + `":"b c"}}`)
		f(`{"multi_match":{"query":"b","fields":["` + field + `"],"type":"phrase_prefix","lenient":true}}`)
	}
	f(`{"multi_match":{"query":"b","fields":["flag^2","num"],"type":"phrase_prefix"}}`)
	// They are no requests.
	f(`{"match_phrase_prefix":{"a":{"query":"b","slop":-1}}}`)
	f(`{"multi_match":{"query":"b","fields":["a"],"type":"phrase_prefix","fuzziness":1}}`)
	// Values have no near spellings, but for those of each document.
	f(`{"fuzzy":{"flag":{"value":"b"}}}`)
	f(`{"fuzzy":{"num":"1"}}`)
	f(`{"match":{"num":{"query":"1","fuzziness":1}}}`)
}

// TestFastVectorHighlighter holds that it is refused where it would choose words, and that
// nothing else takes its place.
func TestFastVectorHighlighter(t *testing.T) {
	f := func(answered bool, body string) {
		t.Helper()
		got, err := searchUnder(t, body, `{"term":{"d":"x"}}`)
		var r *Refusal
		if !answered && !errors.As(err, &r) || answered && (err != nil || !strings.Contains(got, `"type":"fvh"`)) {
			t.Errorf("%s became %s, %v; want it answered by the same highlighter: %v", body, got, err, answered)
		}
	}
	by := func(answered bool, query string) {
		t.Helper()
		f(answered, `{"query":`+query+`,"highlight":{"fields":{"a":{"type":"fvh"}}}}`)
		f(answered, `{"query":{"bool":{"should":[`+query+`]}},"highlight":{"type":"fvh","fields":[{"a":{}}]}}`)
		f(answered, `{"highlight":{"type":"fvh","fields":{"a":{}},"highlight_query":`+query+`}}`)
		f(answered, `{"query":{"prefix":{"a":"b"}},"highlight":{"type":"fvh","fields":{"a":{"highlight_query":`+query+`}}}}`)
		f(answered, `{"query":{"nested":{"path":"p","query":`+query+`,"inner_hits":{"highlight":{"fields":{"a":{"type":"fvh"}}}}}}}`)
		f(answered, `{"post_filter":{"nested":{"path":"p","query":`+query+`,"inner_hits":{"highlight":{"fields":{"a":{"type":"fvh"}}}}}}}`)
		f(answered, `{"query":`+query+`,"aggs":{"t":{"top_hits":{"highlight":{"fields":{"a":{"type":"fvh"}}}}}}}`)
	}
	for _, query := range []string{
		`{"match":{"a":"b c"}}`, `{"match_phrase":{"a":"b c"}}`, `{"term":{"tag":"b"}}`, `{"terms":{"a":["b","c"]}}`, `{"range":{"num":{"gte":1}}}`,
		`{"multi_match":{"query":"b","fields":["a"]}}`, `{"query_string":{"query":"a:b AND \"c d\"^2"}}`, `{"span_near":{"clauses":[{"span_term":{"a":"b"}}]}}`,
		`{"bool":{"filter":[{"exists":{"field":"a"}}]}}`,
	} {
		by(true, query)
	}
	f(true, `{"query":{"function_score":{"query":{"match":{"a":"b"}},"functions":[{"filter":{"term":{"a":"b"}},"weight":2}]}},"highlight":{"fields":{"a":{"type":"fvh"}}}}`)
	for _, query := range []string{
		`{"prefix":{"a":"b"}}`, `{"wildcard":{"a":"b*"}}`, `{"regexp":{"a":"b.*"}}`, `{"fuzzy":{"a":"b"}}`, `{"match":{"a":{"query":"b","fuzziness":1}}}`,
		`{"match_bool_prefix":{"a":"b"}}`, `{"match_phrase_prefix":{"a":"b"}}`, `{"multi_match":{"query":"b","fields":["a"],"type":"bool_prefix"}}`,
		`{"range":{"tag":{"gte":"b"}}}`, `{"term":{"tag":{"value":"b","case_insensitive":true}}}`, `{"query_string":{"query":"b*"}}`, `{"query_string":{"query":"a:[b TO c]"}}`,
		`{"simple_query_string":{"query":"b*","fields":["a"]}}`, `{"function_score":{"functions":[{"filter":{"prefix":{"a":"b"}},"weight":2}]}}`,
		`{"terms":{"a":[` + strings.Repeat(`"b",`, 1024) + `"c"]}}`,
	} {
		by(false, query)
	}
	f(true, `{"query":{"match":{"a":"b"}},"post_filter":{"prefix":{"a":"b"}},"highlight":{"type":"fvh","fields":{"a":{"highlight_query":{"term":{"a":"b"}}}}}}`)
}

// placedTexts are indices that have every field, those of one letter as texts with the
// places of their words.
type placedTexts struct{}

func (placedTexts) Mapped(string) (some, all bool) { return true, true }

func (placedTexts) Positions(name string) bool { return len(name) == 1 }

func (p placedTexts) Content(name, analyser string) Content {
	switch {
	case p.Positions(name) && (analyser == "" || analyser == "standard"):
		return Words
	case p.Positions(name):
		return Analysed
	}
	return contentByName[name]
}

// contentByName are what other fields of theirs keep.
var contentByName = map[string]Content{"tag": Terms, "flag": Values, "num": Points, "gone": Nothing}

// TestSpansWantPlaces: a span on a field without the places of words fails where any document
// of the shard holds the term, wherever in a query it stands.
func TestSpansWantPlaces(t *testing.T) {
	f := func(query string, answered bool) {
		t.Helper()
		_, err := searchUnder(t, `{"query":`+query+`}`, `{"term":{"d":"x"}}`)
		var r *Refusal
		if answered && err != nil || !answered && !errors.As(err, &r) {
			t.Errorf("%s: %v; want it answered: %v", query, err, answered)
		}
	}
	f(`{"span_term":{"a":"b"}}`, true)
	for _, field := range []string{"ssn", "_id", "_index", "flat.key", "a._index_prefix"} {
		span := `{"span_term":{"` + field + `":"b"}}`
		f(span, false)
		f(`{"span_term":{"boost":2,"`+field+`":{"value":"b"}}}`, false)
		f(`{"bool":{"must_not":[`+span+`]}}`, false)
		f(`{"constant_score":{"filter":`+span+`}}`, false)
		f(`{"span_or":{"clauses":[{"span_term":{"a":"b"}},`+span+`]}}`, false)
		f(`{"field_masking_span":{"query":`+span+`,"field":"a"}}`, false)
		f(`{"span_not":{"include":{"span_term":{"a":"b"}},"exclude":`+span+`}}`, false)
	}
	if _, err := AppendSearch(nil, parsedQuery(t, `{"query":{"span_term":{"a":"b"}}}`), nil, &Rules{Filter: `{"term":{"d":"x"}}`}); err == nil {
		t.Error("a span is answered where nothing is known of fields")
	}
}

func parsedQuery(t *testing.T, body string) esjson.Value {
	t.Helper()
	v, err := esjson.Parse(new(esjson.Tape), []byte(body), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	return v
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

// TestWeighed holds that a function_score weighs no document that the rule hides.
func TestWeighed(t *testing.T) {
	const rule = `{"term":{"d":"x"}}`
	f := func(want, query string) {
		t.Helper()
		got, err := searchUnder(t, `{"query":`+query+`}`, rule)
		if want == "" {
			var r *Refusal
			if !errors.As(err, &r) {
				t.Errorf("%s became %s, %v; want it refused", query, got, err)
			}
			return
		}
		if whole := `{"query":{"bool":{"must":[` + want + `],"filter":[` + rule + `]}}}`; err != nil || got != whole {
			t.Errorf("%s became\n     %s, %v\nwant %s", query, got, err, whole)
		}
	}
	const under = `{"bool":{"must":[{"term":{"a":"b"}}],"filter":[` + rule + `]}}`
	f(`{"function_score":{"query":`+under+`,"weight":2}}`, `{"function_score":{"weight":2,"query":{"term":{"a":"b"}}}}`)
	f(`{"function_score":{"query":{"bool":{"must":[{"match_all":{}}],"filter":[`+rule+`]}},"functions":[{"filter":{"term":{"a":"b"}},"weight":2}]}}`,
		`{"function_score":{"functions":[{"filter":{"term":{"a":"b"}},"weight":2}]}}`)
	f(`{"bool":{"should":[{"function_score":{"query":{"bool":{"must":[{"function_score":{"query":`+under+`,"weight":2}}],"filter":[`+rule+`]}},"weight":3}}]}}`,
		`{"bool":{"should":[{"function_score":{"query":{"function_score":{"query":{"term":{"a":"b"}},"weight":2}},"weight":3}}]}}`)
	f("", `{"nested":{"path":"p","query":{"function_score":{"query":{"term":{"p.a":"b"}},"weight":2}}}}`)
	f("", `{"nested":{"path":"p","query":{"bool":{"should":[{"function_score":{"weight":2}}]}}}}`)
	f(`{"bool":{"must":[{"nested":{"path":"p","query":{"term":{"p.a":"b"}}}},{"function_score":{"query":`+under+`,"weight":2}}]}}`,
		`{"bool":{"must":[{"nested":{"path":"p","query":{"term":{"p.a":"b"}}}},{"function_score":{"query":{"term":{"a":"b"}},"weight":2}}]}}`)
}
