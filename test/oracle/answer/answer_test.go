package answer_test

import (
	"testing"

	"guard/test/oracle/answer"
)

func TestFormOf(t *testing.T) {
	f := func(path string, want answer.Form) {
		t.Helper()
		if got := answer.FormOf(path); got != want {
			t.Errorf("%s: %d; want %d", path, got, want)
		}
	}
	f("/a/_search?q=x", answer.Search)
	f("/_msearch", answer.MultiSearch)
	f("/a/_mget", answer.MultiGet)
	f("/_bulk?refresh=true", answer.Bulk)
	f("/a/_mapping", answer.JSON)
	f("/a/_doc/_search1", answer.JSON)
}

func TestCanonical(t *testing.T) {
	f := func(form answer.Form, status int, body, want string) {
		t.Helper()
		if got := answer.Text(answer.Canonical(form, status, []byte(body))); got != want {
			t.Errorf("%s\n gives %s\n want  %s", body, got, want)
		}
	}
	// What changes from run to run is left out, and the order of hits with it.
	f(answer.Search, 200, `{"took":3,"timed_out":false,"_shards":{"total":1},"hits":{"total":{"value":2,"relation":"eq"},"max_score":1.0,
		"hits":[{"_index":"b","_id":"2","_score":1.0,"_source":{"x":1}},{"_index":"a","_id":"1","_score":0.5,"_source":{}}]}}`,
		`{"hits":{"a/1":{"_source":{}},"b/2":{"_source":{"x":1}}},"total":2}`)
	f(answer.Search, 200, `{"hits":{"total":7,"hits":[]},"aggregations":{"m":{"value":1,"hits":{"max_score":2}}}}`,
		`{"aggregations":{"m":{"hits":{},"value":1}},"hits":{},"total":7}`)
	// One document can come twice: by two routings.
	f(answer.Search, 200, `{"hits":{"hits":[{"_index":"a","_id":"1"},{"_index":"a","_id":"1"}]}}`, `{"hits":{"a/1":{},"a/1#2":{}},"total":null}`)
	f(answer.Search, 200, `{"hits":{"hits":[{"_index":"a","_id":"1","inner_hits":{"n":{"hits":{"total":1,"hits":[{"_index":"a","_id":"1","_nested":{"field":"n","offset":3}}]}}}}]}}`,
		`{"hits":{"a/1":{"inner_hits":{"n":{"hits":{"a/1/3":{"_nested":{"field":"n","offset":3}}},"total":1}}}},"total":null}`)

	f(answer.Search, 404, `{"error":{"root_cause":[{"type":"x"}],"type":"index_not_found_exception","reason":"no such index [n]"},"status":404}`,
		`{"error":["index_not_found_exception","no such index [n]"]}`)
	f(answer.Search, 400, `{"error":{"root_cause":[{"type":"parse","reason":"why"}],"type":"search_phase_execution_exception","reason":"all shards failed"},"status":400}`,
		`{"error":["search_phase_execution_exception/parse","why"]}`)
	f(answer.JSON, 404, `{"error":"alias [n] missing","status":404}`, `{"error":["text","alias [n] missing"]}`)
	f(answer.JSON, 401, `Unauthorized`, `{"error":["text","Unauthorized"]}`)
	f(answer.JSON, 200, "b  2\na 1\n", `["a 1","b 2"]`)
	f(answer.JSON, 200, ``, `{}`)
	f(answer.JSON, 200, `[{"index":"b"},{"index":"a"}]`, `[{"index":"a"},{"index":"b"}]`)
	f(answer.JSON, 200, `{"_index":"a","_id":"1","_version":3,"found":true}`, `{"_id":"1","_index":"a","found":true}`)

	f(answer.MultiSearch, 200, `{"responses":[{"status":200,"hits":{"total":0,"hits":[]}},{"error":{"type":"t","reason":"r"},"status":403}]}`,
		`{"responses":{"0":{"hits":{},"status":200,"total":0},"1":{"error":["t","r"],"status":403}}}`)
	f(answer.MultiGet, 200, `{"docs":[{"_index":"a","_id":"1","found":false},{"_index":"b","_id":"2","error":{"type":"t","reason":"r"}}]}`,
		`{"docs":{"0":{"_id":"1","_index":"a","found":false},"1":{"_id":"2","_index":"b","error":["t","r"]}}}`)
	f(answer.Bulk, 200, `{"took":1,"errors":true,"items":[{"index":{"_index":"a","_id":"1","status":403,"error":{"type":"t","reason":"r"}}}]}`,
		`{"errors":true,"items":{"0":{"index":{"_id":"1","_index":"a","error":["t","r"],"status":403}}}}`)
}
