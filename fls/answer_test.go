package fls

import (
	"errors"
	"strings"
	"testing"

	"guard/internal/esjson"
	"guard/internal/mapping"
)

// twoIndices shows hr without ssn, pub as a whole, and nothing else.
func twoIndices(t testing.TB) *Answer {
	t.Helper()
	hr, pub := projection(t, "~ssn ~dependents.ssn"), ShowEverything()
	return &Answer{KeepEmpty: true, Visible: func(index []byte) *Projection {
		switch string(index) {
		case "hr":
			return hr
		case "pub":
			return pub
		}
		return nil
	}}
}

type method func(a *Answer, dst, src []byte) ([]byte, error)

func checkFilter(t testing.TB, a *Answer, m method, src, want string) {
	t.Helper()
	for _, s := range []string{src, want} { // the result is its own result
		got, err := m(a, nil, []byte(s))
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if string(got) != want {
			t.Fatalf("%s\n got %s\nwant %s", s, got, want)
		}
		if !isAnswer(got) {
			t.Fatalf("%s is no JSON", got)
		}
	}
}

// isAnswer reports whether src is one JSON text that an answer can be.
func isAnswer(src []byte) bool {
	end, err := esjson.Skip(src, 0)
	return err == nil && esjson.SkipSpace(src, end) == len(src)
}

// answerLimits are those of requests, with what answers may hold beyond.
func answerLimits() esjson.Limits {
	lim := esjson.RequestLimits()
	lim.HalfPairs = true
	return lim
}

func checkFault(t testing.TB, a *Answer, m method, src, want string) {
	t.Helper()
	got, err := m(a, nil, []byte(src))
	if err == nil || !strings.Contains(err.Error(), want) || got != nil {
		t.Fatalf("%s: %s, %v; want an error with %q", src, got, err, want)
	}
	var ae *AnswerError
	if !errors.As(err, &ae) {
		t.Fatalf("%s: %T; want an *AnswerError", src, err)
	}
}

// TestEmptied holds that the filter leaves nothing empty that was not, as clusters do with
// filter_path: what held hidden parts alone looks like what held none (each answer but for
// those is what the nodes give where the field was never mapped).
func TestEmptied(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		a := twoIndices(t)
		a.Default = a.Visible([]byte("hr"))
		checkFilter(t, a, (*Answer).AppendSearch, src, want)
	}
	f(`{"hits":{"hits":[{"_ignored":["ssn"]}]}}`, `{}`)
	f(`{"hits":{"hits":[{"ignored_field_values":{"ssn":["x"]}},{"_ignored":["ssn"]}]}}`, `{}`)
	f(`{"hits":{"hits":[{"_ignored":["ssn"]},{"_ignored":["ssn","name"]}]}}`, `{"hits":{"hits":[{"_ignored":["name"]}]}}`)
	f(`{"took":1,"hits":{"max_score":1.0,"hits":[{"_ignored":["ssn"]}]}}`, `{"took":1,"hits":{"max_score":1.0}}`)
	f(`{"hits":{"hits":[{"_id":"1"},{"_ignored":["ssn"]}]}}`, `{"hits":{"hits":[{"_id":"1"}]}}`)
	f(`{"hits":{"hits":[{"fields":{"ssn":["x"]}}]}}`, `{}`)
	f(`{"hits":{"hits":[{"highlight":{"ssn":["x"]}}]}}`, `{}`)
	f(`{"hits":{"hits":[{"inner_hits":{"x":{"hits":{"hits":[{"_ignored":["ssn"]}]}}}}]}}`, `{}`)
	f(`{"hits":{"hits":[{"inner_hits":{"x":{"hits":{"hits":[{"_ignored":["ssn"]}]}},"y":{"hits":{"hits":[{"_id":"1"}]}}}}]}}`,
		`{"hits":{"hits":[{"inner_hits":{"y":{"hits":{"hits":[{"_id":"1"}]}}}}]}}`)
	f(`{"aggregations":{"t":{"hits":{"hits":[{"_ignored":["ssn"]}]}}}}`, `{}`)
	f(`{"aggregations":{"t":{"buckets":[{"t":{"hits":{"hits":[{"_ignored":["ssn"]}]}}},{"key":"a","t":{"hits":{"hits":[{"_ignored":["ssn"]}]}}}]}}}`,
		`{"aggregations":{"t":{"buckets":[{"key":"a"}]}}}`)
	f(`{"suggest":{"s":[{"options":[{"_ignored":["ssn"]}]}]}}`, `{}`)
	// What was empty before is a part of the answer.
	f(`{"hits":{"hits":[]},"aggregations":{"a":{"buckets":[]},"b":{"buckets":{}}},"suggest":{"s":[]}}`,
		`{"hits":{"hits":[]},"aggregations":{"a":{"buckets":[]},"b":{"buckets":{}}},"suggest":{"s":[]}}`)
}

func TestAppendSearch(t *testing.T) {
	f := func(src, want string) { t.Helper(); checkFilter(t, twoIndices(t), (*Answer).AppendSearch, src, want) }
	// around puts hits into the answer of a search.
	around := func(hits string) string {
		return `{"took":1,"timed_out":false,"_shards":{"total":1},"hits":{"total":{"value":2,"relation":"eq"},"max_score":1.0,"hits":[` + hits + `]}}`
	}
	hits := func(src, want string) { t.Helper(); f(around(src), around(want)) }

	hits(``, ``)
	hits(`{"_index":"hr","_id":"1","_score":1.0,"_source":{"ssn":"x","name":"n"}}`,
		`{"_index":"hr","_id":"1","_score":1.0,"_source":{"name":"n"}}`)
	hits(`{"_index":"hr","_source":{"ssn":"x"}},{"_index":"pub","_source":{"ssn":"y"}},{"_index":"hr","_source":{"ssn":"z"}}`, // by its own index
		`{"_index":"hr","_source":{}},{"_index":"pub","_source":{"ssn":"y"}},{"_index":"hr","_source":{}}`)
	hits(`{"_index":"\u0068r","_source":{"ssn":"x"}}`, `{"_index":"\u0068r","_source":{}}`)
	hits(`{"_index":"hr","_type":"_doc","_id":"1","_version":2,"_seq_no":3,"_primary_term":1,"_score":null,"_routing":"r","sort":[1,"a"],"matched_queries":["q"]}`,
		`{"_index":"hr","_type":"_doc","_id":"1","_version":2,"_seq_no":3,"_primary_term":1,"_score":null,"_routing":"r","sort":[1,"a"],"matched_queries":["q"]}`)
	hits(`{"_index":"hr","fields":{"ssn":["x"],"ssn.keyword":["x"],"name":["n"],"_routing":["r"]},"highlight":{"ssn":["<em>x</em>"],"name":["<em>n</em>"]}}`,
		`{"_index":"hr","fields":{"_routing":["r"],"name":["n"]},"highlight":{"name":["<em>n</em>"]}}`)
	hits(`{"_index":"hr","fields":{"dependents":[{"ssn":["x"],"age":[5]},{"ssn":["y"]}],"dependents.ssn":["z"],"at":[{"type":"Point","coordinates":[1,2]}]}}`, // nested fields are grouped
		`{"_index":"hr","fields":{"at":[{"type":"Point","coordinates":[1,2]}],"dependents":[{"age":[5]}]}}`)
	hits(`{"_index":"hr","_ignored":["ssn","name"],"ignored_field_values":{"ssn":["x"],"name":["n"]}}`,
		`{"_index":"hr","_ignored":["name"],"ignored_field_values":{"name":["n"]}}`)
	hits(`{"_index":"hr","_ignored":"ssn","_id":"1"}`, `{"_index":"hr","_id":"1"}`)
	hits(`{"_index":"hr","_source":{"a":1},"fields":{"b":[{"ssn":1}]}}`, `{"_index":"hr","_source":{"a":1},"fields":{"b":[{"ssn":1}]}}`)

	// Inner hits: of a nested object, whose source starts there; of other indices.
	hits(`{"_index":"hr","_source":{"ssn":1,"dependents":[{"ssn":2,"n":3}]},"inner_hits":{"dependents":{"hits":{"total":{"value":1},"max_score":1,"hits":[`+
		`{"_index":"hr","_id":"1","_nested":{"field":"dependents","offset":0},"_score":1,"_source":{"ssn":4,"n":5},"fields":{"dependents.ssn":[6],"ssn":[7]}}]}}},"sort":[1]}`,
		`{"_index":"hr","_source":{"dependents":[{"n":3}]},"inner_hits":{"dependents":{"hits":{"total":{"value":1},"max_score":1,"hits":[`+
			`{"_index":"hr","_id":"1","_nested":{"field":"dependents","offset":0},"_score":1,"_source":{"n":5}}]}}},"sort":[1]}`)
	hits(`{"_index":"hr","inner_hits":{"c":{"hits":{"hits":[{"_index":"pub","_source":{"ssn":1}},{"_index":"hr","_source":{"ssn":2}}]}}},"_source":{"ssn":3,"k":4}}`,
		`{"_index":"hr","inner_hits":{"c":{"hits":{"hits":[{"_index":"pub","_source":{"ssn":1}},{"_index":"hr","_source":{}}]}}},"_source":{"k":4}}`)
	hits(`{"_index":"pub","_nested":{"field":"dependents","offset":0},"inner_hits":{"deep":{"hits":{"hits":[{"_index":"hr","_nested":{"field":"a","offset":1,"_nested":{"field":"b.c","offset":2}},"_source":{"ssn":1}}]}}},"_source":{"ssn":1}}`,
		`{"_index":"pub","_nested":{"field":"dependents","offset":0},"inner_hits":{"deep":{"hits":{"hits":[{"_index":"hr","_nested":{"field":"a","offset":1,"_nested":{"field":"b.c","offset":2}},"_source":{"ssn":1}}]}}},"_source":{"ssn":1}}`)

	// An empty meta, which hidden documents decide, at any depth.
	f(`{"aggregations":{"a":{"meta":{},"doc_count":0},"b":{"doc_count":1,"meta" : { },"c":{"buckets":[{"d":{"meta":{},"doc_count":2,"e":{"meta":{"x":{}}}}}]}}}}`,
		`{"aggregations":{"a":{"doc_count":0},"b":{"doc_count":1,"c":{"buckets":[{"d":{"doc_count":2,"e":{"meta":{"x":{}}}}}]}}}}`)
	f(`{"aggregations":{"a":{"meta":{}}}}`, `{}`) // what filter_path leaves
	f(`{"aggregations":{"meta":{"value":1}}}`, `{"aggregations":{"meta":{"value":1}}}`)

	// Top hits at any depth, whatever the aggregations are called.
	f(`{"aggregations":{"hits":{"buckets":[{"key":"k","doc_count":1,"hits":{"hits":{"total":1,"max_score":1,"hits":[{"_index":"hr","_source":{"ssn":1,"n":2}}]}}}]}}}`,
		`{"aggregations":{"hits":{"buckets":[{"key":"k","doc_count":1,"hits":{"hits":{"total":1,"max_score":1,"hits":[{"_index":"hr","_source":{"n":2}}]}}}]}}}`)
	f(`{"aggregations":{"a":{"doc_count":3,"b":{"buckets":{"x":{"t":{"\u0068its":{"hits":[{"_index":"hr","_source":{"ssn":1}}]}}}}},"avg":{"value":null,"meta":{"x":[1]}}}}}`,
		`{"aggregations":{"a":{"doc_count":3,"b":{"buckets":{"x":{"t":{"\u0068its":{"hits":[{"_index":"hr","_source":{}}]}}}}},"avg":{"value":null,"meta":{"x":[1]}}}}}`)

	// Suggestions of a completer hold documents.
	f(`{"suggest":{"s":[{"text":"a","offset":0,"length":1,"options":[{"text":"anna","_index":"hr","_id":"1","_score":1,"_source":{"ssn":1,"n":2}},{"text":"b","score":1,"freq":2}]}]}}`,
		`{"suggest":{"s":[{"text":"a","offset":0,"length":1,"options":[{"text":"anna","_index":"hr","_id":"1","_score":1,"_source":{"n":2}},{"text":"b","score":1,"freq":2}]}]}}`)

	// Halves of surrogate pairs keep their bytes, wherever a value is kept.
	hits(`{"_index":"hr","_id":"\uD83D","_source":{"ssn":"\ud83d","name":["\ude00",{"n":"x\ud83d"}]},"sort":["\ud83dx",1]}`,
		`{"_index":"hr","_id":"\uD83D","_source":{"name":["\ude00",{"n":"x\ud83d"}]},"sort":["\ud83dx",1]}`)
	hits(`{"_index":"hr","fields":{"ssn":["\ud83d"],"name":["\ud83d"]},"highlight":{"name":["\ude00"]},"_ignored":["\ud83d","name"]}`,
		`{"_index":"hr","fields":{"name":["\ud83d"]},"highlight":{"name":["\ude00"]},"_ignored":["name"]}`) // such a name is judged by nothing
	hits(`{"_index":"hr","_ignored":"ss\ud83d"}`, `{"_index":"hr"}`)
	f(`{"aggregations":{"t":{"buckets":[{"key":"\ud83d","doc_count":1}]}}}`, `{"aggregations":{"t":{"buckets":[{"key":"\ud83d","doc_count":1}]}}}`)

	// Errors and scrolls pass.
	f(`{"error":{"type":"x","reason":"y"},"status":400}`, `{"error":{"type":"x","reason":"y"},"status":400}`)
	f(`{"_scroll_id":"abc","took":1,"hits":{"total":0,"hits":[]}}`, `{"_scroll_id":"abc","took":1,"hits":{"total":0,"hits":[]}}`)
}

func TestAppendSearchRefuses(t *testing.T) {
	f := func(src, want string) { t.Helper(); checkFault(t, twoIndices(t), (*Answer).AppendSearch, src, want) }
	hits := func(hit, want string) { t.Helper(); f(`{"hits":{"hits":[`+hit+`]}}`, want) }

	f(``, `found no '{'`)
	f(`{"profile":{}}`, `unknown key "profile" in a search answer at offset 11`)
	f(`{"ext":{}}`, `unknown key "ext" in a search answer`)
	f(`{"hits":{"docs":[]}}`, `unknown key "docs" around hits`)
	f(`{"hits":[]}`, `found no '{'`)
	f(`{"hits":{"hits":{}}}`, `found no '['`)
	f(`{"took":1} x`, `found data behind the end`)
	f(`{"took":1,"hits":{"hits":[{"_index":"hr","_source":{"a":1}}`, `found no ','`)
	f(`{"aggregations":{"a":{"hits":[1]}}}`, `found no '{'`)
	f(`{"suggest":{"s":[{"options":[{"extra":1}]}]}}`, `unknown key "extra" in a hit`)
	f(`{"suggest":{"s":[{"extra":1}]}}`, `unknown key "extra" in a suggestion`)

	hits(`1`, `found no '{'`)
	hits(`{"_index":"other","_id":"1"}`, `found a hit of index "other", which was not asked for`)
	hits(`{"_index":1}`, `want a key in '"'`)
	hits(`{"_index":"hr","_new":1}`, `unknown key "_new" in a hit`)
	hits(`{"_index":"hr","`+strings.Repeat("k", 100)+`":1}`, `unknown key "`+strings.Repeat("k", 64)+`"... in a hit`)
	hits(`{"_index":"hr","_explanation":{}}`, `unknown key "_explanation" in a hit`)
	hits(`{"_source":{"a":1}}`, `found fields of a hit before its index`)
	hits(`{"fields":{"a":1}}`, `found fields of a hit before its index`)
	hits(`{"_ignored":["a"]}`, `found fields of a hit before its index`)
	hits(`{"_index":"pub","_source":{},"_index":"hr"}`, `found the index of a hit behind its fields`)
	hits(`{"_index":"hr","_source":{},"_nested":{"field":"dependents"}}`, `found the nested path of a hit behind its fields`)
	hits(`{"_index":"hr","_nested":{"field":"a","path":"b"}}`, `unknown key "path" in a nested path`)
	hits(`{"_index":"hr","_nested":{"_nested":{"field":"a"},"field":"b"}}`, `found a nested path behind an inner one`)
	hits(`{"_index":"hr","_source":"text"}`, `found no '{'`)
	hits(`{"_index":"hr","inner_hits":{"a":{"total":1}}}`, `unknown key "total" around hits`)
	hits(`{"_index":"hr","inner_hits":{"a":{"hits":{"hits":[{"_source":{}}]}}}}`, `before its index`) // the outer index is not the inner one
	hits(`{"_index":"hr","_ignored":[1]}`, `want a key in '"'`)

	// Half of a surrogate pair in what decides, and bytes that are no UTF-8 anywhere.
	hits(`{"_index":"hr\ud83d","_source":{}}`, `want surrogates in pairs`)
	hits(`{"_index":"hr","_nested":{"field":"\ud83d","offset":0},"_source":{}}`, `want surrogates in pairs`)
	hits(`{"_index":"hr","_source":{"\ud83d":1}}`, `want surrogates in pairs`)
	hits(`{"_index":"pub","_source":{"a":{"\ud83d":1}}}`, `want surrogates in pairs`)
	hits("{\"_index\":\"hr\",\"sort\":[\"\\ud83d\xff\"]}", `want valid UTF-8`)
	hits("{\"_index\":\"pub\",\"_source\":{\"a\":\"\xff\"}}", `want valid UTF-8`)
}

func TestAppendGet(t *testing.T) {
	f := func(src, want string) { t.Helper(); checkFilter(t, twoIndices(t), (*Answer).AppendGet, src, want) }
	f(`{"_index":"hr","_id":"1","_version":1,"_seq_no":0,"_primary_term":1,"found":true,"_source":{"ssn":1,"n":2},"fields":{"ssn":[1]}}`,
		`{"_index":"hr","_id":"1","_version":1,"_seq_no":0,"_primary_term":1,"found":true,"_source":{"n":2}}`)
	f(`{"_index":"hr","_id":"1","found":false}`, `{"_index":"hr","_id":"1","found":false}`)
	f(`{"error":{"reason":"x"},"status":404}`, `{"error":{"reason":"x"},"status":404}`)
	checkFault(t, twoIndices(t), (*Answer).AppendGet, `{"_index":"hr","get":{}}`, `unknown key "get" in a hit`)
	checkFault(t, twoIndices(t), (*Answer).AppendGet, `{"_index":"secret","found":false}`, `found a hit of index "secret"`)
}

func TestDefaultProjection(t *testing.T) {
	a := &Answer{KeepEmpty: true, Default: projection(t, "~ssn"), Visible: func([]byte) *Projection { return nil }}
	checkFilter(t, a, (*Answer).AppendSearch, `{"hits":{"hits":[{"_source":{"ssn":1,"n":2}}]}}`, `{"hits":{"hits":[{"_source":{"n":2}}]}}`)
	checkFault(t, a, (*Answer).AppendSearch, `{"hits":{"hits":[{"_index":"x","_source":{}}]}}`, `which was not asked for`)
}

func TestExplanation(t *testing.T) {
	src := `{"hits":{"hits":[{"_shard":"[hr][0]","_node":"n","_index":"hr","_source":{},"_explanation":{"value":1}}]}}`
	checkFault(t, twoIndices(t), (*Answer).AppendSearch, src, `unknown key "_explanation" in a hit`)
}

// TestNamedFields: what the mapping says of a name counts where names are used.
func TestNamedFields(t *testing.T) {
	v, err := esjson.Parse(new(esjson.Tape), []byte(`{"properties":{"ssn":{"type":"keyword","copy_to":"all"},"nick":{"type":"alias","path":"ssn"},"all":{"type":"text"},
		"name":{"type":"keyword"},"dep":{"type":"nested","properties":{"ssn":{"type":"keyword"},"age":{"type":"long"}}}}}`), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Parse(v)
	if err != nil {
		t.Fatal(err)
	}
	f := func(entries, src, want string) {
		t.Helper()
		r, err := Compile(strings.Fields(entries))
		if err != nil {
			t.Fatal(err)
		}
		p := NewView(r, m).Projection()
		a := &Answer{KeepEmpty: true, Visible: func([]byte) *Projection { return p }}
		checkFilter(t, a, (*Answer).AppendGet, `{"_index":"hr",`+src+`}`, `{"_index":"hr",`+want+`}`)
	}
	f("~ssn ~dep.ssn", `"fields":{"nick":[1],"all":[1],"name":[2],"dep":[{"ssn":[1],"age":[3]}]}`, `"fields":{"dep":[{"age":[3]}],"name":[2]}`)
	f("~ssn", `"highlight":{"all":["x"],"name":["y"]}`, `"highlight":{"name":["y"]}`)
	f("name dep.age", `"fields":{"nick":[1],"name":[2],"dep":[{"ssn":[1],"age":[3]}]},"_source":{"name":1,"dep":[{"ssn":1,"age":3}],"all":1}`,
		`"fields":{"dep":[{"age":[3]}],"name":[2]},"_source":{"dep":[{"age":3}],"name":1}`)
	f("*", `"fields":{"nick":[1]},"_source":{"ssn":1}`, `"fields":{"nick":[1]},"_source":{"ssn":1}`)
}
