package gate

import (
	"fmt"
	"strings"
	"testing"

	"guard/fls"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/query"
)

// TestSearchTreatment holds how the answer of a search is treated by what binds it.
func TestSearchTreatment(t *testing.T) {
	ruled := &binding{bound: true, rules: query.Rules{Filter: hiding}, indices: []string{"hr"}}
	f := func(b *binding, form searchForm, status int, body, want string) {
		t.Helper()
		got, err := b.treatSearch(form).Treat(Answer{Status: status, Body: []byte(body)})
		switch {
		case want == "":
			if err == nil {
				t.Errorf("%s became %s; want an error", body, got.Body)
			}
		case err != nil || got.Status != status || string(got.Body) != want:
			t.Errorf("%s\nbecame %d %s, %v\nwant   %s", body, got.Status, got.Body, err, want)
		}
	}
	same := func(b *binding, form searchForm, body string) { t.Helper(); f(b, form, 200, body, body) }

	same(ruled, asSearch, `{"took":1,"hits":{"total":{"value":1},"hits":[{"_index":"hr","_id":"1","_source":{"a":1}}]}}`)
	f(ruled, asSearch, 200, `{"hits":{"hits":[{"_index":"secret","_id":"1","_source":{"a":1}}]}}`, "")
	f(ruled, asSearch, 200, `{"hits":{"hits":[]},"profile":{"shards":[]}}`, "")
	f(ruled, asSearch, 200, `{"hits":{"hits":[{"_index":"hr","_explanation":{"description":"classified"}}]}}`, "")
	f(ruled, asSearch, 200, `{"hits":`, "")
	f(ruled, asSearch, 400, `{"error":{"type":"x","reason":"[classified]","failed_shards":[{}]},"status":400}`, `{"error":{"type":"x","reason":"the query failed"},"status":400}`)
	f(ruled, asSearch, 200, `{"_shards":{"total":2,"skipped":1,"failed":1,"failures":[{"node":"n","reason":{"reason":"classified"}}]},"hits":{"hits":[]}}`,
		`{"_shards":{"total":2,"skipped":0,"failed":1,"failures":[{"reason":{"reason":"the query failed"}}]},"hits":{"hits":[]}}`)

	same(ruled, asCount, `{"count":3,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0}}`)
	f(ruled, asCount, 200, `{"count":3,"_shards":{"failed":1,"failures":[{"reason":{"reason":"4711"}}]}}`, `{"count":3,"_shards":{"failed":1,"failures":[{"reason":{"reason":"the query failed"}}]}}`)
	f(ruled, asCount, 503, `{"error":{"reason":"4711 {"},"status":503}`, `{"error":{"reason":"the query failed"},"status":503}`)

	// What the client gave is not changed: others could hold it.
	body := []byte(`{"count":3,"_shards":{"total":9,"skipped":7}}`)
	before := string(body)
	if _, err := ruled.treatSearch(asCount).Treat(Answer{Status: 200, Body: body}); err != nil || string(body) != before {
		t.Errorf("the answer became %s in place, %v", body, err)
	}
	free := &binding{rules: query.Rules{Filter: query.Free}, indices: []string{"hr"}}
	if free.treatSearch(asSearch) != nil || free.treatSearch(asCount) != nil {
		t.Error("the answer to a search that nothing binds is treated")
	}
}

// TestHitsByIndex holds that each hit is filtered by the view of its own index.
func TestHitsByIndex(t *testing.T) {
	b := viewsOf(t, staffMapping, "~ssn")
	b.views["logs"], b.indices = fls.NewView(fls.Everything(), mappingFrom(t, `{"properties":{"ssn":{"type":"long"}}}`)), append(b.indices, "logs")
	hits := func(list ...string) string { return `{"hits":{"hits":[` + strings.Join(list, ",") + `]}}` }
	f := func(body, want string) {
		t.Helper()
		got, err := b.treatSearch(asSearch).Treat(Answer{Status: 200, Body: []byte(body)})
		switch {
		case want == "" && err == nil:
			t.Errorf("%s became %s; want an error", body, got.Body)
		case want != "" && (err != nil || string(got.Body) != want):
			t.Errorf("%s\nbecame %s, %v\nwant   %s", body, got.Body, err, want)
		}
	}
	f(hits(`{"_index":"hr","_source":{"ssn":1,"name":"a"}}`, `{"_index":"logs","_source":{"ssn":1}}`), hits(`{"_index":"hr","_source":{"name":"a"}}`, `{"_index":"logs","_source":{"ssn":1}}`))
	f(hits(`{"_index":"hr","fields":{"ssn":[1],"folded":["x"],"age":[2]}}`), hits(`{"_index":"hr","fields":{"age":[2]}}`))
	f(hits(`{"_index":"hr","highlight":{"ssn":["x"],"name":["y"]}}`), hits(`{"_index":"hr","highlight":{"name":["y"]}}`))
	f(hits(`{"_index":"other","_source":{"name":1}}`), "")
	f(hits(`{"_source":{"ssn":1}}`), "") // whose fields these are is not said
	f(hits(`{"_source":{"ssn":1},"_index":"logs"}`), "")

	// Where all indices share a view, a hit need not say its index.
	one := viewsOf(t, staffMapping, "~ssn")
	got, err := one.treatSearch(asSearch).Treat(Answer{Status: 200, Body: []byte(hits(`{"_source":{"ssn":1,"name":"a"}}`))})
	if want := hits(`{"_source":{"name":"a"}}`); err != nil || string(got.Body) != want {
		t.Errorf("a hit without index became %s, %v; want %s", got.Body, err, want)
	}
}

// TestVisibleDenies holds that an index without a view shows nothing where others
// have one (law 9).
func TestVisibleDenies(t *testing.T) {
	b := viewsOf(t, staffMapping, "~ssn")
	b.indices = append(b.indices, "unseen")
	if b.visible([]byte("unseen")) != nil || b.visible([]byte("other")) != nil || b.visible([]byte("hr")) == nil {
		t.Error("an index without a view is shown, or one with a view is not")
	}
	var zero binding
	if zero.visible([]byte("hr")) != nil || zero.single() != nil {
		t.Error("the zero binding shows something")
	}
}

// TestErrorsInTheClientsWords holds that an error of the cluster names the fields that
// the client named, and not what was sent in place of hidden ones; wherever a field can
// be named, whatever the status. A hidden field and one that no index has read alike.
func TestErrorsInTheClientsWords(t *testing.T) {
	const role = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [hr, "logs-*", "long-*"], fls: ["~ssn"], allowed_actions: ["*"]}
    - {index_patterns: [nested], dls: '{"term":{"p.nick":"x"}}', fls: ["~p.ssn"], allowed_actions: ["*"]}
`
	indices := readable()
	for i := range 30 {
		indices = append(indices, indexresolver.Index{Name: fmt.Sprintf("long-name-of-an-index-%02d", i), Mapping: []byte(staffMapping)})
	}
	s := worldWith(t, role, indices)
	const said = `{"type":"exception","reason":"Unable to find a field mapper for field [guard-no-such-field]. No 'missing' value defined."}`
	failed := func(status int) string {
		return fmt.Sprintf(`{"error":{"root_cause":[%s],"type":"exception","reason":"all shards failed","caused_by":%s},"status":%d}`, said, said, status)
	}
	f := func(method, target, body string, status int, answer string) {
		t.Helper()
		for _, name := range []string{"ssn", "nosuch"} {
			out := planFor(t, s, method, strings.ReplaceAll(target, "@", name), strings.ReplaceAll(body, "@", name))
			if out.Kind != Forward || !strings.Contains(out.Forward.Target+string(out.Forward.Body), "guard-no-such-field") {
				t.Errorf("%s %s %s: %s; want a call with a stand-in", method, target, body, gist(t, out))
				return
			}
			got, err := out.Forward.Treat.Treat(Answer{Status: status, ContentType: jsonType, Body: []byte(answer)})
			if want := strings.ReplaceAll(answer, "guard-no-such-field", name); err != nil || string(got.Body) != want {
				t.Errorf("%s %s %s: %d %s, %v; want %s", method, target, body, got.Status, got.Body, err, want)
			}
		}
	}
	for _, status := range []int{400, 500} {
		for _, body := range []string{
			`{"query":{"function_score":{"field_value_factor":{"field":"@"}}}}`, `{"query":{"function_score":{"gauss":{"@":{"origin":1,"scale":1}}}}}`,
			`{"rescore":{"window_size":1,"query":{"rescore_query":{"function_score":{"field_value_factor":{"field":"@"}}}}}}`,
			`{"query":{"function_score":{"random_score":{"field":"@","seed":1}}}}`, `{"query":{"terms_set":{"dept":{"terms":["x"],"minimum_should_match_field":"@"}}}}`,
			`{"query":{"distance_feature":{"field":"@","origin":"now","pivot":"1d"}}}`, `{"query":{"rank_feature":{"field":"@"}}}`, `{"query":{"nested":{"path":"@","query":{"match_all":{}}}}}`,
			`{"query":{"geo_distance":{"distance":"1km","@":[1,2]}}}`, `{"query":{"geo_shape":{"@":{"shape":{"type":"point","coordinates":[1,2]}}}}}`,
			`{"sort":["@"]}`, `{"sort":[{"_geo_distance":{"@":[1,2]}}]}`, `{"sort":[{"dept":{"nested":{"path":"@"}}}]}`, `{"collapse":{"field":"@"}}`,
			`{"aggs":{"a":{"terms":{"field":"@"}}}}`, `{"aggs":{"a":{"nested":{"path":"@"}}}}`, `{"aggs":{"a":{"top_hits":{"sort":["@"]}}}}`,
		} {
			f("POST", "/hr/_search", body, status, failed(status))
			f("POST", "/long-*,logs-b-1/_search", body, status, failed(status)) // travels in a multi-search
			f("POST", "/_msearch", "{\"index\":\"logs-b-1\"}\n{}\n{\"index\":\"hr\"}\n"+body+"\n", status, failed(status))
		}
		f("POST", "/hr/_count", `{"query":{"geo_distance":{"distance":"1km","@":[1,2]}}}`, status, failed(status))
		f("POST", "/hr/_field_caps?fields=*", `{"index_filter":{"geo_distance":{"distance":"1km","@":[1,2]}}}`, status, failed(status))
		f("GET", "/hr/_doc/1?stored_fields=@", "", status, failed(status))
		f("POST", "/_mget", `{"docs":[{"_index":"hr","_id":"1","stored_fields":["@"]}]}`, status, failed(status))
	}
	// What failed is a part of an answer.
	const search = `{"sort":["@"]}`
	partly := `{"took":1,"_shards":{"total":2,"failed":1,"failures":[{"shard":0,"reason":` + said + `}]},"hits":{"hits":[]}}`
	f("POST", "/hr/_search", search, 200, partly)
	f("POST", "/_msearch", "{\"index\":\"hr\"}\n"+search+"\n", 200, `{"took":1,"responses":[`+failed(500)+`]}`)
	f("POST", "/_msearch", "{\"index\":\"hr\"}\n"+search+"\n", 200, `{"took":1,"responses":[`+partly+`]}`)
	f("POST", "/hr/_field_caps?fields=*", `{"index_filter":{"exists":{"field":"@"}}}`, 200, `{"indices":["hr"],"fields":{},"failures":[{"indices":["hr"],"failure":{"error":`+said+`}}]}`)
	f("POST", "/_mget", `{"docs":[{"_index":"hr","_id":"1","stored_fields":["@"]}]}`, 200, `{"docs":[{"_index":"hr","_id":"1","error":`+said+`}]}`)

	// A document that a rule binds is found by a search, which has the stand-in.
	known := Known{Fresh: true, Answers: []Answer{
		{Status: 200, Body: []byte(`{"responses":[{"took":1,"_shards":{"failed":0},"hits":{"hits":[]}},{"error":` + said + `,"status":500}]}`)},
		{Status: 200, Body: []byte(`{"docs":[{"_index":"nested","_id":"1","_seq_no":1,"_primary_term":1,"found":true}]}`)},
	}}
	who := s.Principal(ask.Identity{Name: "u"})
	out := s.Plan(who, requestFor(t, "GET", "/nested/_doc/1?stored_fields=p.ssn", ""), known)
	if want := "Unable to find a field mapper for field [p.ssn]. No 'missing' value defined."; out.Kind != Reject || out.Rejection.Status != 500 || out.Rejection.Public != want {
		t.Errorf("a bound read: %s; want %s", gist(t, out), want)
	}
	out = s.Plan(who, requestFor(t, "POST", "/_mget", `{"docs":[{"_index":"nested","_id":"1","stored_fields":["p.ssn"]}]}`), known)
	if out.Kind != Local || !strings.Contains(string(out.Local.Body), "field [p.ssn]") {
		t.Errorf("a bound read of several: %s; want the client's name", gist(t, out))
	}
}

// TestHalfPairsInAnswers holds that halves of surrogate pairs, which clusters write
// where a value is no text, come through every treatment as they were written; that a
// key with one is not understood, and neither are bytes that are no UTF-8.
func TestHalfPairsInAnswers(t *testing.T) {
	ruled := &binding{bound: true, rules: query.Rules{Filter: hiding}, indices: []string{"hr"}}
	fields := viewsOf(t, staffMapping, "~ssn")
	f := func(by Treatment, body, want string) {
		t.Helper()
		got, err := by.Treat(Answer{Status: 200, Body: []byte(body)})
		switch {
		case want == "":
			if err == nil {
				t.Errorf("%T: %s became %s; want an error", by, body, got.Body)
			}
		case err != nil || string(got.Body) != want:
			t.Errorf("%T: %s\nbecame %s, %v\nwant   %s", by, body, got.Body, err, want)
		}
	}
	const half = `"\uD83D x \udE00"`
	hits := `{"hits":{"hits":[{"_index":"hr","_id":"1","_source":{"name":` + half + `},"sort":[` + half + `]}]},"aggregations":{"a":{"buckets":[{"key":` + half + `}]}}}`
	failed := `{"_shards":{"failed":1,"failures":[{"reason":{"reason":` + half + `}}]},` + hits[1:]
	for _, b := range []*binding{ruled, fields} {
		search := b.treatSearch(asSearch)
		f(search, hits, hits)
		f(search, failed, failed)
		f(unwrap{search}, `{"responses":[`+hits+`]}`, hits)
		f(&slotted{key: "responses", slots: []slot{{refused: []byte(`{}`)}, {treat: search}, {}}}, `{"responses":[`+hits+`,`+hits+`]}`, `{"responses":[{},`+hits+`,`+hits+`]}`)
		f(search, strings.Replace(hits, `"name"`, half, 1), "")
		f(search, strings.Replace(hits, `\uD83D`, "\xff", 1), "")
		f(b.treatSearch(asCount), `{"count":1,"_shards":{"failures":[{"reason":"\xff"}]}}`, "")
	}
	doc := `{"_index":"hr","_id":"1","found":true,"_source":{"name":` + half + `}}`
	get := getTreatment{answer: fields.answer()}
	f(get, doc, doc)
	f(sourceTreatment{get: get}, doc, `{"name":`+half+`}`)
	f(&failedWrite{hides: true}, `{"error":{"type":`+half+`,"reason":"[1]: version conflict, document already exists (current version [3])","caused_by":{"reason":`+half+`}}}`,
		`{"error":{"type":`+half+`,"reason":"[1]: version conflict, document already exists"}}`)
	failure := `{"error":{"reason":"failed to parse field [a] of type [long] in document with id '` + half[1:len(half)-1] + `'. Preview of field's value: ''"}}`
	f(&failedWrite{}, failure, failure)
	f(indicesTreatment{fields}, `{"hr":{"mappings":{"properties":{"name":{"type":"keyword","null_value":`+half+`,"copy_to":["age",`+half+`]}}}}}`,
		`{"hr":{"mappings":{"properties":{"name":{"type":"keyword","null_value":`+half+`,"copy_to":["age"]}}}}}`)

	// The filter of an alias can hold one as well, and stays secret.
	got, err := cleanErrorUnder(Answer{Status: 400, Body: []byte(`{"error":{"reason":"cannot read [x\ud83d1]","type":"a"}}`)}, `{"term":{"dept":"x\ud83d1"}}`)
	if want := `{"error":{"reason":"cannot read","type":"a"}}`; err != nil || string(got.Body) != want {
		t.Errorf("got %s, %v; want %s", got.Body, err, want)
	}
}
