package gate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"guard/internal/query"
)

// hiding is a rule whose texts no client may read.
const hiding = query.Filter(`{"bool":{"filter":[{"term":{"dept":"classified"}},{"range":{"age":{"gt":4711}}},{"terms":{"_index":["hr"]}}]}}`)

// TestCleanError holds what of an error stays: its form, its types, and reasons that
// print neither the query nor a value of the rule.
func TestCleanError(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		got, err := cleanErrorUnder(Answer{Status: 400, Body: []byte(body)}, hiding)
		if err != nil || string(got.Body) != want || got.Status != 400 {
			t.Errorf("%s\nbecame %d %s, %v\nwant   %s", body, got.Status, got.Body, err, want)
		}
	}
	reason := func(in, want string) {
		t.Helper()
		f(`{"error":{"type":"x","reason":`+in+`},"status":400}`, `{"error":{"type":"x","reason":`+want+`},"status":400}`)
	}
	reason(`"no mapping found for [a] in order to sort on"`, `"no mapping found for [a] in order to sort on"`)
	reason(`"failed to create query: {\"term\":{}}"`, `"failed to create query"`)
	reason(`"failed to parse query [\nbool"`, `"failed to parse query"`)
	reason(`"For input string: \"classified\""`, `"For input string"`)
	reason(`"value [4711] is out of range"`, `"value"`)
	reason(`"classified is no number"`, `"the query failed"`)
	reason(`""`, `""`)
	// The client may know the index.
	reason(`"no such index [hr]"`, `"no such index [hr]"`)

	f(`{"error":{"root_cause":[{"type":"a","reason":"classified"}],"type":"b","reason":"c","caused_by":{"type":"d","reason":"x classified y"}},"status":400}`,
		`{"error":{"root_cause":[{"type":"a","reason":"the query failed"}],"type":"b","reason":"c","caused_by":{"type":"d","reason":"the query failed"}},"status":400}`)
	// The inside of the cluster and of its scripts goes.
	f(`{"error":{"type":"a","reason":"b","stack_trace":"s","node":"n","failed_shards":[{"shard":0}],"suppressed":[],"script":"p","script_stack":["q"]},"status":400}`,
		`{"error":{"type":"a","reason":"b"},"status":400}`)
}

// TestOnlyErrorsAreErrors holds that an answer with the status of an error passes only if
// it is one: no status makes hits of what nothing has filtered (law 1).
func TestOnlyErrorsAreErrors(t *testing.T) {
	ruled := &binding{bound: true, rules: query.Rules{Filter: hiding}, indices: []string{"hr"}}
	const hits = `{"hits":[{"_index":"hr","_id":"1","_source":{"dept":"x"}}]}`
	const failed = `{"type":"x","reason":"y"}`
	item := func(body string) string { return `{"responses":[` + body + `]}` }
	doc := mgetTreatment{&docItem{name: "hr", id: "1", b: ruled}}
	for name, by := range map[string]Treatment{
		"search": ruled.treatSearch(asSearch), "count": ruled.treatSearch(asCount), "field caps": fieldCapsTreatment{}, "resolve": resolvedTreatment{},
		"carried": unwrap{ruled.treatSearch(asSearch)}, "get": getTreatment{answer: ruled.answer()}, "document": doc, "names": indicesTreatment{ruled},
		"searches": &slotted{key: "responses", slots: []slot{{treat: ruled.treatSearch(asSearch)}}}, "documents": &slotted{key: "docs", slots: []slot{{treat: doc}}},
	} {
		f := func(status int, body string, passes bool) {
			t.Helper()
			got, err := by.Treat(Answer{Status: status, Body: []byte(body)})
			if (err == nil) != passes || passes && string(got.Body) != body {
				t.Errorf("%s: %d %s became %d %s, %v; want it passed: %v", name, status, body, got.Status, got.Body, err, passes)
			}
		}
		for _, status := range []int{400, 403, 429, 500, 503} {
			f(status, `{"error":`+failed+`,"status":400}`, true)
			f(status, `{"error":"no such method","status":405}`, true)
			for _, bad := range []string{
				`{"took":1,"hits":` + hits + `}`, `{"error":` + failed + `,"hits":` + hits + `}`, `{"error":` + failed + `,"status":400,"aggregations":{"a":1}}`,
				`{"error":{"type":"x","hits":` + hits + `},"status":400}`, `{"error":{"root_cause":[{"caused_by":{"_source":{"dept":"x"}}}]}}`, `{"error":{"suppressed":[{"docs":[1]}]}}`,
				`{"error":null,"hits":` + hits + `}`, `{"error":[` + hits + `]}`, item(`{"error":` + failed + `,"status":400}`), item(`{"hits":` + hits + `}`),
				`{"docs":[` + hits + `]}`, `{"_index":"hr","_source":{"dept":"x"}}`,
			} {
				f(status, bad, false)
			}
			// Of what somebody between says, the status is told.
			for _, other := range []string{`{}`, `{"error":true}`, `{"message":"dept x"}`, `{"statusCode":503,"error":"x","message":"dept x"}`, `{"error":"x","message":"dept x"}`} {
				got, err := by.Treat(Answer{Status: status, Body: []byte(other)})
				if err != nil || got.Status != status || bytes.Contains(got.Body, []byte("dept x")) || !bytes.Contains(got.Body, []byte("the cluster failed")) {
					t.Errorf("%s: %d %s became %d %s, %v; want its status and nothing else", name, status, other, got.Status, got.Body, err)
				}
			}
		}
	}
	// The same for a part of an answer.
	for _, body := range []string{`{"error":` + failed + `,"hits":` + hits + `,"status":400}`, `{"hits":` + hits + `,"status":400}`, `{"error":{"hits":` + hits + `}}`} {
		for _, by := range []Treatment{unwrap{ruled.treatSearch(asSearch)}, &slotted{key: "responses", slots: []slot{{treat: ruled.treatSearch(asSearch)}}}} {
			if got, err := by.Treat(Answer{Status: 200, Body: []byte(item(body))}); err == nil {
				t.Errorf("%T: %s became %s; want it withheld", by, body, got.Body)
			}
		}
	}
	// What is found of several names stands beside the error that others are missing.
	got, err := indicesTreatment{ruled}.Treat(Answer{Status: 404, Body: []byte(`{"error":"alias [x] missing","status":404,"hr":{"aliases":{}},"secret":{"aliases":{}}}`)})
	if want := `{"error":"alias [x] missing","status":404,"hr":{"aliases":{}}}`; err != nil || string(got.Body) != want {
		t.Errorf("got %s, %v; want %s", got.Body, err, want)
	}
	if got, err := (indicesTreatment{ruled}).Treat(Answer{Status: 404, Body: []byte(`{"error":{"hits":` + hits + `},"status":404}`)}); err == nil {
		t.Errorf("an error with hits became %s", got.Body)
	}
}

// TestCleanErrorEverywhere holds that the place of a text in an error does not matter,
// nor how short it is or where it would be cut.
func TestCleanErrorEverywhere(t *testing.T) {
	short := query.Filter(`{"bool":{"filter":[{"term":{"clearance":"eu"}},{"term":{"note":"curly{brace"}},{"range":{"age":{"lt":7}}}]}}`)
	f := func(body, want string) {
		t.Helper()
		got, err := cleanErrorUnder(Answer{Status: 400, Body: []byte(body)}, short)
		if err != nil || string(got.Body) != want {
			t.Errorf("%s\nbecame %s, %v\nwant   %s", body, got.Body, err, want)
		}
	}
	f(`{"error":"failed on \"eu\"","status":400}`, `{"error":"failed on","status":400}`)
	f(`{"error":"alias [x] missing","status":404}`, `{"error":"alias [x] missing","status":404}`)
	f(`{"error":{"type":"x","details":["a","[eu]"],"deep":{"er":"clearance"}}}`, `{"error":{"type":"x","details":["a","the query failed"],"deep":{"er":"the query failed"}}}`)
	f(`{"error":{"reason":"For input string: \"7\""}}`, `{"error":{"reason":"For input string"}}`)
	f(`{"error":{"reason":"field [clearance] is no number"}}`, `{"error":{"reason":"field"}}`)
	f(`{"error":{"reason":"cannot parse [curly{brace]"}}`, `{"error":{"reason":"cannot parse"}}`)
	f(`{"error":{"reason":"a museum of 17 eunuchs"}}`, `{"error":{"reason":"a museum of"}}`)
	f(`{"error":{"reason":"[bool] needs a query","type":"eu","index":"eu"}}`, `{"error":{"reason":"[bool] needs a query","type":"eu","index":"eu"}}`)
}

// TestCleanErrorFreely holds that without a rule only the insides go.
func TestCleanErrorFreely(t *testing.T) {
	got, err := cleanError(Answer{Status: 404, Body: []byte(`{"error":{"type":"a","reason":"classified","node":"n"},"status":404}`)})
	if want := `{"error":{"type":"a","reason":"classified"},"status":404}`; err != nil || string(got.Body) != want {
		t.Errorf("got %s, %v; want %s", got.Body, err, want)
	}
}

// TestCleanErrorOfAnything holds that an error always ends as an answer, with the
// status that it had.
func TestCleanErrorOfAnything(t *testing.T) {
	f := func(body string, want bool) {
		t.Helper()
		got, err := cleanErrorUnder(Answer{Status: 502, ContentType: "text/html", Body: []byte(body)}, hiding)
		if err != nil || got.Status != 502 {
			t.Fatalf("%s: %d, %v", body, got.Status, err)
		}
		if failed := strings.Contains(string(got.Body), "the cluster failed"); failed != want {
			t.Errorf("%s became %s", body, got.Body)
		}
		if want && got.ContentType != jsonType {
			t.Errorf("%s: content type %q", body, got.ContentType)
		}
	}
	f(`<html>classified</html>`, true)
	f(`{"error":`, true)
	f(`{"error":{"reason":"a"},"error":{"reason":"b"}}`, true)
	f(strings.Repeat("[", 2000), true)
	f(`["classified"]`, true)
	f(`"classified"`, true)
	f("", false) // the answer to a HEAD
}

// TestCleanFailures holds that the failed shards of an answer are cleaned as errors
// are, and that an answer without any is not touched.
func TestCleanFailures(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		got, err := told{filter: hiding}.failures(Answer{Status: 200, Body: []byte(body)})
		if err != nil || string(got.Body) != want {
			t.Errorf("%s became %s, %v; want %s", body, got.Body, err, want)
		}
	}
	f(`{"_shards":{"total":1,"failed":0},"hits":{}}`, `{"_shards":{"total":1,"failed":0},"hits":{}}`)
	f(`{"_shards":{"failed":0},"hits":{"hits":[{"_source":{"failures":[{"reason":"classified"}]}}]}}`, `{"_shards":{"failed":0},"hits":{"hits":[{"_source":{"failures":[{"reason":"classified"}]}}]}}`)
	f(`{"_shards":{"failed":0},"hits":{"error":"[classified]"},"aggregations":{"error":{"reason":"[classified]"}}}`, `{"_shards":{"failed":0},"hits":{"error":"[classified]"},"aggregations":{"error":{"reason":"[classified]"}}}`)
	f(`{"_shards":{"failed":1,"failures":[{"shard":0,"index":"hr","node":"n","reason":{"type":"x","reason":"classified","caused_by":{"reason":"a {"}}}]},"hits":{"hits":[{"_source":{"reason":"classified","node":1}}]}}`,
		`{"_shards":{"failed":1,"failures":[{"shard":0,"index":"hr","reason":{"type":"x","reason":"the query failed","caused_by":{"reason":"a"}}}]},"hits":{"hits":[{"_source":{"reason":"classified","node":1}}]}}`)
}

// TestCleanErrorNumbers holds that no error numbers a document as its shard does: the
// number counts hidden ones. What else an error says stays as it is.
func TestCleanErrorNumbers(t *testing.T) {
	f := func(in, free, ruled string) {
		t.Helper()
		for filter, want := range map[query.Filter]string{query.Free: free, hiding: ruled} { // a field rule hides nested objects, and has no filter
			got, err := cleanErrorUnder(Answer{Status: 500, Body: []byte(`{"error":{"reason":"` + in + `"}}`)}, filter)
			if full := `{"error":{"reason":"` + want + `"}}`; err != nil || string(got.Body) != full {
				t.Errorf("%s\nbecame %s, %v\nwant   %s", in, got.Body, err, full)
			}
			got, err = told{filter: filter}.failures(Answer{Status: 200, Body: []byte(`{"_shards":{"failures":[{"reason":{"reason":"` + in + `"}}]}}`)})
			if full := `{"_shards":{"failures":[{"reason":{"reason":"` + want + `"}}]}}`; err != nil || string(got.Body) != full {
				t.Errorf("%s\nbecame %s, %v\nwant   %s", in, got.Body, err, full)
			}
		}
	}
	same := func(in, want string) { t.Helper(); f(in, want, want) }
	same("failed to collapse 14, the collapse field must be single valued", "failed to collapse, the collapse field must be single valued")
	same("function score query returned an invalid score: NaN for doc: 14", "function score query returned an invalid score: NaN for doc")
	f("script_score script returned an invalid score [-1.0] for doc [14]. Must be a non-negative score!", "script_score script returned an invalid score [-1.0] for doc. Must be a non-negative score!",
		"script_score script returned an invalid score")
	same("The length of [t] field of [14] doc of [hr] index has exceeded [5]", "The length of [t] field of doc of [hr] index has exceeded [5]")
	same("Error running fetch phase for doc [14]", "Error running fetch phase for doc")
	same("Index 2 out of bounds for length 1", "Index out of bounds for length")
	same("Term [61 5f 66] exists in doc values but not in the terms index", "Term exists in doc values but not in the terms index")
	same("Failed to fetch doc id [14]", "Failed to fetch doc id")
	f("find a problem doc. docId=14, class X", "find a problem doc. docId, class X", "find a problem doc. docId, class X")

	for _, other := range []string{
		"Result window is too large, from + size must be less than or equal to: [10000] but was [100000]", "no such index [doc-14]", "maxClauseCount is set to 1024",
	} {
		same(other, other)
	}
	f("[doc] is no field of 14", "[doc] is no field of 14", untoldReason)
	f("[_doc][14]: document missing", "[_doc][14]: document missing", untoldReason)
	f("failed to collapse on [14]", "failed to collapse on [14]", "failed to collapse on")
}

// TestReasonsTellNoWordOfARule states the law of reasons under a rule: they do not depend on
// whether what the client wrote is a word of the rule.
func TestReasonsTellNoWordOfARule(t *testing.T) {
	reason := func(form, word string) string {
		t.Helper()
		text, err := json.Marshal(strings.ReplaceAll(form, "W", word))
		if err != nil {
			t.Fatal(err)
		}
		got, err := cleanErrorUnder(Answer{Status: 400, Body: []byte(`{"error":{"reason":` + string(text) + `}}`)}, hiding)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(got.Body), word, "W")
	}
	for form, want := range map[string]string{
		`failed to create query: For input string: "W"`:       `failed to create query: For input string`,
		`For input string: "x W y"`:                           `For input string`,
		`failed to parse date field [W] with format [yyyy]`:   `failed to parse date field`,
		`'W' is not an IP string literal.`:                    untoldReason,
		`Cannot parse 'a:"W': Lexical error at line 1`:        `Cannot parse`,
		`Cannot parse 'a' W': Lexical error at line 1`:        `Cannot parse`,
		`[range] query does not support [W]`:                  `[range] query does not support`,
		`[W] query malformed, no start_object`:                untoldReason,
		`Value [W] is out of range for a long`:                `Value`,
		`No mapping found for [W] in order to sort on`:        `No mapping found for [W] in order to sort on`,
		`no such index [W]`:                                   `no such index [W]`,
		`No enum constant org.opensearch.search.sort.Order.W`: untoldReason,
		"failed on `W`": "failed on",
		`failed on <W>`: `failed on`,
	} {
		for _, word := range []string{"classified", "4711", "dept", "age", "zzz", "9", "x'y", "unclassified-x"} {
			if got := reason(form, word); got != `{"error":{"reason":"`+want+`"}}` {
				t.Errorf("%s of %q: %s; want %s", form, word, got, want)
			}
		}
	}
}

// TestFilterTexts holds which texts of a rule are looked for.
func TestFilterTexts(t *testing.T) {
	got := strings.Join(filterTexts(hiding), ",")
	for _, want := range []string{"classified", "4711", "dept", "age"} {
		if !strings.Contains(got, want) {
			t.Errorf("texts %s; want %s among them", got, want)
		}
	}
	for _, word := range []string{"hr", "term", "bool", "range"} {
		if strings.Contains(got, word) {
			t.Errorf("texts %s; want no name of an index, no word of queries", got)
		}
	}
	for _, f := range []query.Filter{query.Free, query.None} {
		if list := filterTexts(f); len(list) != 0 {
			t.Errorf("texts of %q: %v; want none", f, list)
		}
	}
}

// FuzzCleanError states the law of cleaned errors: whatever the cluster says, what
// comes out, if anything does, is an error of the same status and nothing more, no reason
// in it holds a text of the rule, and cleaning it again changes nothing.
func FuzzCleanError(f *testing.F) {
	f.Add(`{"error":{"root_cause":[{"type":"a","reason":"x classified"}],"reason":"For input string: \"4711\""},"status":400}`)
	f.Add(`{"error":{"reason":"a {\"term\":1}","caused_by":{"caused_by":{"reason":"class\u0069fied"}}}}`)
	f.Add(`{"_shards":{"failures":[{"reason":{"reason":"4711\n"}}]}}`)
	f.Add(`not json classified`)
	f.Fuzz(func(t *testing.T, body string) {
		once, err := cleanErrorUnder(Answer{Status: 400, Body: []byte(body)}, hiding)
		if err != nil || len(once.Body) == 0 && body == "" {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(once.Body, &members); err != nil || members["error"] == nil {
			t.Fatalf("%q became %q, which is no error: %v", body, once.Body, err)
		}
		delete(members, "error")
		delete(members, "status")
		if len(members) > 0 {
			t.Fatalf("%q became %q, which is more than an error", body, once.Body)
		}
		var v any
		if err := json.Unmarshal(once.Body, &v); err != nil {
			t.Fatalf("%q became %q: %v", body, once.Body, err)
		}
		if text := leaked(v, false); text != "" {
			t.Fatalf("%q became %q, which says %q", body, once.Body, text)
		}
		twice, err := cleanErrorUnder(once, hiding)
		if err != nil || string(twice.Body) != string(once.Body) {
			t.Fatalf("%q became %q, then %q", body, once.Body, twice.Body)
		}
	})
}

// leaked returns a reason inside an error that holds a text of hiding.
func leaked(v any, inside bool) string {
	switch v := v.(type) {
	case map[string]any:
		for key, m := range v {
			if s, ok := m.(string); ok && inside && key == "reason" && (strings.Contains(s, "classified") || strings.Contains(s, "4711")) {
				return s
			}
			if s := leaked(m, inside || key == "error" || key == "failures" || key == "_shards"); s != "" {
				return s
			}
		}
	case []any:
		for _, m := range v {
			if s := leaked(m, inside); inside && s != "" {
				return s
			}
		}
	}
	return ""
}

// TestCountsAreCounts holds that nothing passes as a count that is none.
func TestCountsAreCounts(t *testing.T) {
	f := func(body string, passes bool) {
		t.Helper()
		if got, err := (countTreatment{}).Treat(Answer{Status: 200, Body: []byte(body)}); (err == nil) != passes || passes && string(got.Body) != body {
			t.Errorf("%s became %s, %v; want it passed: %v", body, got.Body, err, passes)
		}
	}
	f(`{"count":3,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0}}`, true)
	f(`{"count":3,"terminated_early":false,"_shards":{"total":1}}`, true)
	f(`{"_shards":{"total":1}}`, true) // by filter_path
	f(`{"hits":{"hits":[{"_source":{"secret":1}}]}}`, false)
	f(`{"count":3,"hits":{"hits":[]}}`, false)
	f(`{"count":{"_source":{"secret":1}}}`, false)
	f(`<html>3</html>`, false)
	f(`[]`, false)
}
