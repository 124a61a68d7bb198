package queries_test

import (
	"strings"
	"testing"

	"guard/internal/query"
	"guard/test/testbed"
)

// numbered are searches with a number, #, at keys of every kind.
var numbered = []string{
	`{"size":#}`, `{"from":#}`, `{"terminate_after":#}`, `{"min_score":#}`, `{"track_total_hits":#}`, `{"timeout":#}`,
	`{"query":{"match":{"title":{"query":"red","boost":#,"prefix_length":0}}}}`, `{"query":{"match":{"title":{"query":"red","prefix_length":#}}}}`,
	`{"query":{"match":{"title":{"query":"red","max_expansions":#}}}}`, `{"query":{"match_phrase":{"title":{"query":"red fox","slop":#}}}}`,
	`{"query":{"fuzzy":{"tag":{"value":"a","fuzziness":#}}}}`, `{"query":{"bool":{"should":[{"match_all":{}}],"minimum_should_match":#}}}`,
	`{"query":{"intervals":{"title":{"match":{"query":"red fox","max_gaps":#}}}}}`, `{"query":{"term":{"n":#}}}`, `{"query":{"terms":{"n":[#]}}}`,
	`{"query":{"ids":{"values":[#]}}}`, `{"query":{"function_score":{"functions":[{"weight":#}]}}}`, `{"query":{"span_first":{"match":{"span_term":{"title":"red"}},"end":#}}}`,
	`{"rescore":{"window_size":#,"query":{"rescore_query":{"match_all":{}}}}}`, `{"highlight":{"fields":{"title":{"number_of_fragments":#}}}}`,
	`{"aggs":{"x":{"terms":{"field":"n","size":#}}}}`, `{"aggs":{"x":{"terms":{"field":"n","min_doc_count":#}}}}`, `{"aggs":{"x":{"terms":{"field":"n","missing":#}}}}`,
	`{"aggs":{"x":{"cardinality":{"field":"n","precision_threshold":#}}}}`, `{"aggs":{"x":{"auto_date_histogram":{"field":"d","buckets":#}}}}`,
	`{"aggs":{"x":{"rare_terms":{"field":"tag","max_doc_count":#}}}}`, `{"aggs":{"x":{"range":{"field":"n","ranges":[{"from":#}]}}}}`, `{"search_after":[#],"sort":["n"]}`,
}

// TestNumbers: a number that guard forwards, however odd, is no failure of the cluster.
func TestNumbers(t *testing.T) {
	lexemes := strings.Fields(`0 -0 -1 1 1.0 1.5 1e0 1e3 1e-3 1e18 1e39 1e400 -1e400 2147483647 2147483648 -2147483649 9223372036854775807 9223372036854775808
		99999999999999999999 "1" "1.5" "-1" "NaN" "Infinity" "1e3" "x" "" true null`)
	onEach(t, func(t *testing.T, node *testbed.Node) {
		sentTo := 0
		for _, place := range numbered {
			for _, lexeme := range lexemes {
				if strings.Contains(place, "buckets") && len(lexeme) > 4 || strings.Contains(place, "search_after") && lexeme == "null" {
					continue // so many buckets are a matter of memory; and clusters fail on null after a number
				}
				sent, err := rewrite(strings.ReplaceAll(place, "#", lexeme), &query.Rules{Filter: query.Free})
				if err != nil {
					continue
				}
				sentTo++
				if got := answer(t, node, "lacks", sent, &query.Names{}); got[0] == '5' {
					t.Errorf("%s fails: %s", sent, got)
				}
			}
		}
		t.Logf("%d of %d searches were forwarded", sentTo, len(numbered)*len(lexemes))
	})
}
