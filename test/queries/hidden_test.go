package queries_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/query"
	"guard/test/testbed"
)

// places are searches that name a field, F, wherever one can stand.
var places = []string{
	// Clauses.
	`{"query":{"term":{"F":"red"}}}`,
	`{"query":{"terms":{"F":["red"]}}}`,
	`{"query":{"terms_set":{"F":{"terms":["a"],"minimum_should_match_field":"n"}}}}`,
	`{"query":{"terms_set":{"tag":{"terms":["a"],"minimum_should_match_field":"F"}}}}`,
	`{"query":{"range":{"F":{"gt":1}}}}`,
	`{"query":{"range":{"F":{"gt":"now-1d","format":"yyyy"}}}}`,
	`{"query":{"exists":{"field":"F"}}}`,
	`{"query":{"prefix":{"F":"r"}}}`,
	`{"query":{"wildcard":{"F":"r*"}}}`,
	`{"query":{"regexp":{"F":"r.*"}}}`,
	`{"query":{"fuzzy":{"F":"rad"}}}`,
	`{"query":{"match":{"F":"red fox"}}}`,
	`{"query":{"match_phrase":{"F":"red fox"}}}`,
	`{"query":{"match_phrase_prefix":{"F":"red f"}}}`,
	`{"query":{"match_bool_prefix":{"F":"red f"}}}`,
	`{"query":{"multi_match":{"query":"red","fields":["F","title^2"]}}}`,
	`{"query":{"multi_match":{"query":"red","fields":["F"],"type":"cross_fields"}}}`,
	`{"query":{"query_string":{"query":"red","fields":["F"]}}}`,
	`{"query":{"query_string":{"query":"red","default_field":"F"}}}`,
	`{"query":{"query_string":{"query":">1","default_field":"F"}}}`,
	`{"query":{"query_string":{"query":"F:red OR tag:a"}}}`,
	`{"query":{"query_string":{"query":"F:[","fields":["tag"]}}}`,
	`{"query":{"simple_query_string":{"query":"red","fields":["F"]}}}`,
	`{"query":{"intervals":{"F":{"match":{"query":"red fox"}}}}}`,
	`{"query":{"intervals":{"title":{"match":{"query":"red fox","use_field":"F"}}}}}`,
	`{"query":{"span_term":{"F":"red"}}}`,
	`{"query":{"span_multi":{"match":{"prefix":{"F":"r"}}}}}`,
	`{"query":{"span_multi":{"match":{"fuzzy":{"F":"r"}}}}}`,
	`{"query":{"span_near":{"clauses":[{"span_term":{"F":"red"}},{"span_term":{"title":"fox"}}],"slop":1}}}`,
	`{"query":{"span_near":{"clauses":[{"span_term":{"F":"red"}},{"span_gap":{"F":2}},{"span_term":{"F":"fox"}}],"slop":1}}}`,
	`{"query":{"field_masking_span":{"query":{"span_term":{"title":"red"}},"field":"F"}}}`,
	`{"query":{"nested":{"path":"F","query":{"match_all":{}}}}}`,
	`{"query":{"nested":{"path":"F","ignore_unmapped":true,"query":{"match_all":{}}}}}`,
	`{"query":{"nested":{"path":"kids","query":{"term":{"F":"x"}},"inner_hits":{}}}}`,
	`{"query":{"more_like_this":{"fields":["F"],"like":"red fox","min_term_freq":1,"min_doc_freq":1}}}`,
	`{"query":{"distance_feature":{"field":"F","origin":"now","pivot":"1d"}}}`,
	`{"query":{"distance_feature":{"field":"F","origin":[1,1],"pivot":"1km"}}}`,
	`{"query":{"rank_feature":{"field":"F"}}}`,
	`{"query":{"geo_bounding_box":{"F":{"top_left":"2,0","bottom_right":"0,2"}}}}`,
	`{"query":{"geo_bounding_box":{"F":{"top_left":"2,0","bottom_right":"0,2"},"ignore_unmapped":true}}}`,
	`{"query":{"geo_distance":{"distance":"1km","F":"1,1"}}}`,
	`{"query":{"geo_polygon":{"F":{"points":["0,0","0,2","2,0"]}}}}`,
	`{"query":{"geo_shape":{"F":{"shape":{"type":"point","coordinates":[1,1]}}}}}`,
	`{"query":{"function_score":{"field_value_factor":{"field":"F"}}}}`,
	`{"query":{"function_score":{"field_value_factor":{"field":"F","missing":1}}}}`,
	`{"query":{"function_score":{"random_score":{"seed":1,"field":"F"}}}}`,
	`{"query":{"function_score":{"gauss":{"F":{"origin":1,"scale":1}}}}}`,
	`{"query":{"function_score":{"exp":{"F":{"origin":"1,1","scale":"1km"}}}}}`,
	`{"query":{"bool":{"must":[{"term":{"F":"a"}},{"term":{"F.b":"c"}}],"should":[{"rank_feature":{"field":"F.b"}}]}}}`,
	`{"query":{"common":{"F":{"query":"red","cutoff_frequency":0.1}}}}`,
	// Sorts, and what stands beside the query.
	`{"sort":["F"]}`,
	`{"sort":[{"F":"asc"},{"F.x":"desc"}]}`,
	`{"sort":[{"tag":"asc"},{"F":{"order":"asc"}}]}`,
	`{"sort":[{"F":{"order":"asc","unmapped_type":"long"}}]}`,
	`{"sort":[{"_geo_distance":{"F":[1,1]}}]}`,
	`{"sort":[{"_geo_distance":{"F":[1,1],"ignore_unmapped":true}}]}`,
	`{"sort":[{"kids.k":{"order":"asc","nested":{"path":"F"}}}]}`,
	`{"sort":[{"kids.k":{"order":"asc","nested":{"path":"kids","filter":{"term":{"F":"x"}}}}}]}`,
	`{"collapse":{"field":"F"}}`,
	`{"collapse":{"field":"tag","inner_hits":{"name":"i","sort":["F"]}}}`,
	`{"slice":{"field":"F","id":0,"max":2}}`,
	`{"docvalue_fields":["F"],"stored_fields":["F"]}`,
	`{"docvalue_fields":[{"field":"F","format":"yyyy"}]}`,
	`{"query":{"match":{"title":"red"}},"highlight":{"fields":{"F":{},"title":{"matched_fields":["F","title"],"type":"fvh"}}}}`,
	`{"query":{"match":{"title":"red"}},"highlight":{"fields":{"F":{"type":"fvh"}}}}`,
	`{"rescore":{"window_size":10,"query":{"rescore_query":{"rank_feature":{"field":"F"}}}},"query":{"match":{"title":"red"}}}`,
	`{"post_filter":{"distance_feature":{"field":"F","origin":"now","pivot":"1d"}}}`,
	// Aggregations.
	`{"aggs":{"x":{"matrix_stats":{"fields":["F","n"]}}}}`,
	`{"aggs":{"x":{"top_hits":{"sort":["F"]}}}}`,
	`{"aggs":{"x":{"weighted_avg":{"value":{"field":"F"},"weight":{"field":"n"}}}}}`,
	`{"aggs":{"x":{"multi_terms":{"terms":[{"field":"F"},{"field":"tag"}]}}}}`,
	`{"aggs":{"x":{"significant_text":{"field":"F"}}}}`,
	`{"aggs":{"x":{"significant_text":{"field":"title","source_fields":["F"]}}}}`,
	`{"aggs":{"x":{"significant_terms":{"field":"F"}}}}`,
	`{"aggs":{"x":{"terms":{"field":"F","missing":"a"}}}}`,
	`{"aggs":{"x":{"terms":{"field":"F","include":"a.*"}}}}`,
	`{"aggs":{"x":{"terms":{"field":"tag"},"aggs":{"y":{"avg":{"field":"F"}}}}}}`,
	`{"aggs":{"x":{"histogram":{"field":"F","interval":5}}}}`,
	`{"aggs":{"x":{"date_histogram":{"field":"F","calendar_interval":"1d"}}}}`,
	`{"aggs":{"x":{"auto_date_histogram":{"field":"F","buckets":5}}}}`,
	`{"aggs":{"x":{"variable_width_histogram":{"field":"F","buckets":5}}}}`,
	`{"aggs":{"x":{"range":{"field":"F","ranges":[{"from":1}]}}}}`,
	`{"aggs":{"x":{"date_range":{"field":"F","ranges":[{"from":"now-1d/d"}]}}}}`,
	`{"aggs":{"x":{"ip_range":{"field":"F","ranges":[{"mask":"10.0.0.0/8"}]}}}}`,
	`{"aggs":{"x":{"geo_distance":{"field":"F","origin":"1,1","ranges":[{"to":5}]}}}}`,
	`{"aggs":{"x":{"geohash_grid":{"field":"F","precision":3}}}}`,
	`{"aggs":{"x":{"geotile_grid":{"field":"F","precision":3}}}}`,
	`{"aggs":{"x":{"missing":{"field":"F"}}}}`,
	`{"aggs":{"x":{"nested":{"path":"F"}}}}`,
	`{"aggs":{"x":{"nested":{"path":"kids"},"aggs":{"y":{"reverse_nested":{"path":"F"}}}}}}`,
	`{"aggs":{"x":{"diversified_sampler":{"field":"F"}}}}`,
	`{"aggs":{"x":{"rare_terms":{"field":"F"}}}}`,
	`{"aggs":{"x":{"composite":{"sources":[{"a":{"terms":{"field":"F"}}}]}}}}`,
	`{"aggs":{"x":{"composite":{"sources":[{"a":{"terms":{"field":"F","missing_bucket":true}}},{"b":{"histogram":{"field":"n","interval":5}}}]}}}}`,
	`{"aggs":{"x":{"composite":{"sources":[{"a":{"date_histogram":{"field":"F","calendar_interval":"1d"}}}]}}}}`,
}

// metrics name one field each, in the same way.
var metrics = strings.Fields("avg max min sum stats extended_stats median_absolute_deviation value_count cardinality percentiles geo_bounds geo_centroid terms")

// TestHidden: whatever names a hidden field is answered as by an index that lacks it,
// errors included; so is a name that no index has.
func TestHidden(t *testing.T) {
	bodies := places
	for _, m := range metrics {
		bodies = append(bodies, `{"aggs":{"x":{"`+m+`":{"field":"F"}}}}`, `{"size":0,"aggs":{"x":{"`+m+`":{"field":"F","missing":1}}}}`)
	}
	onEach(t, func(t *testing.T, node *testbed.Node) {
		r := rules(t, node)
		failed, compared := 0, 0
		for _, body := range bodies {
			for _, name := range []string{"ssn", "secret.value", "spot", "deep", "person.pass", "nosuch.field", `odd\"name`} {
				asked := strings.ReplaceAll(body, "F", name)
				var names query.Names
				r.Replaced = &names
				sent, err := rewrite(asked, &r)
				if err != nil {
					continue // refused: nothing to compare
				}
				compared++
				got, want := answer(t, node, "whole", sent, &names), answer(t, node, "lacks", asked, &query.Names{})
				got, want = withoutSource(got), withoutSource(want)
				if got != want {
					t.Errorf("%s\nsent as %s\n got %s\nwant %s", asked, sent, got, want)
				}
				if want[0] != '2' {
					failed++
					t.Logf("an error without the field: %s", asked)
				}
			}
		}
		t.Logf("%d answers compared, %d of them errors", compared, failed)
		if failed < 50 {
			t.Errorf("%d errors compared; want many", failed)
		}
	})
}

// TestIndexOrder: a sort by _doc gives the documents in the order of the index, and
// nothing that would count what is hidden.
func TestIndexOrder(t *testing.T) {
	onEach(t, func(t *testing.T, node *testbed.Node) {
		r := rules(t, node)
		for _, body := range []string{`{"sort":["_doc"]}`, `{"sort":[{"tag":"asc"},{"_doc":"asc"}]}`, `{"query":{"match":{"title":"red"}},"sort":[{"_doc":{"order":"asc"}}]}`} {
			sent, err := rewrite(body, &r)
			if err != nil {
				t.Fatal(err)
			}
			got, want := answer(t, node, "whole", sent, &query.Names{}), answer(t, node, "lacks", body, &query.Names{})
			if diff := cmp.Diff(ids.FindAllString(want, -1), ids.FindAllString(got, -1)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", body, diff)
			}
			if same := answer(t, node, "lacks", sent, &query.Names{}); withoutSource(same) != withoutSource(got) {
				t.Errorf("%s: the answer tells what is hidden:\n got %s\nwant %s", body, got, same)
			}
		}
	})
}

var ids = regexp.MustCompile(`"_id":"[^"]*"`)
