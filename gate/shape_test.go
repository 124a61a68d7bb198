package gate

import (
	"errors"
	"strings"
	"testing"

	"guard/indexresolver"
	"guard/internal/ask"
)

// shapeRole may write and read by patterns and by the names of an alias and a stream;
// hr under a field rule.
const shapeRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["logs-*", stream, "xa*", staff2], allowed_actions: ["*"]}
    - {index_patterns: [hr], fls: ["~ssn"], allowed_actions: ["*"]}
`

// TestDocumentShape holds that nothing comes back from a call for one document but an
// answer about this document, or an error: whatever the path was taken for.
func TestDocumentShape(t *testing.T) {
	indices, stream := withStream()
	indices = append(indices, indexresolver.Index{Name: "other", Aliases: []indexresolver.Membership{{Alias: "staff2"}}})
	s := worldWith(t, shapeRole, indices, stream)
	treat := func(method, target string, status int, body string) (Answer, error) {
		t.Helper()
		doc := ""
		if method == "PUT" || method == "POST" {
			doc = `{}`
		}
		out := planFor(t, s, method, target, doc)
		if out.Kind != Forward || out.Forward.Treat == nil {
			t.Fatalf("%s %s: %s; want a treated call", method, target, gist(t, out))
		}
		return out.Forward.Treat.Treat(Answer{Status: status, ContentType: jsonType, Body: []byte(body)})
	}
	f := func(method, target string, status int, body string) {
		t.Helper()
		if got, err := treat(method, target, status, body); err != nil || got.Status != status || string(got.Body) != body {
			t.Errorf("%s %s: %s became %d %s, %v; want it as it came", method, target, body, got.Status, got.Body, err)
		}
	}
	withheld := func(method, target string, status int, body string) {
		t.Helper()
		got, err := treat(method, target, status, body)
		var rej *ask.Rejection
		if !errors.As(err, &rej) || rej.Status != 502 || rej.Reason != ask.ReasonUpstream || len(got.Body) > 0 {
			t.Errorf("%s %s: %s became %d %s, %v; want 502", method, target, body, got.Status, got.Body, err)
		}
		if rej != nil && method != "GET" != strings.Contains(rej.Public, "whether the document was written is not known") {
			t.Errorf("%s %s: %s; want it to say what is known of a write, and of no read", method, target, rej.Public)
		}
	}
	const shards = `"_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1}`
	const put = "/logs-b-1/_doc/1"
	f("PUT", put, 201, `{"_index":"logs-b-1","_id":"1","_version":1,"result":"created",`+shards)
	f("PUT", put, 200, `{"_index":"logs-b-1","_type":"_doc","_id":"1","_version":2,"result":"updated","forced_refresh":true,`+shards)
	f("PUT", put, 200, "{\n  \"_index\" : \"logs-b-1\",\n  \"_id\" : \"1\",\n  \"result\" : \"created\"\n}\n")
	f("PUT", put, 200, `{"_index":"logs-b-1","_id":"1","result":"created","of_a_later_version":1}`)
	f("POST", "/logs-b-1/_doc", 201, `{"_index":"logs-b-1","_id":"Ab-1_","_version":1,"result":"created",`+shards)
	f("DELETE", put, 404, `{"_index":"logs-b-1","_id":"1","_version":1,"result":"not_found",`+shards)
	f("POST", "/logs-b-1/_update/1", 200, `{"_index":"logs-b-1","_id":"1","result":"noop","get":{"found":true,"_source":{"a":1}},`+shards)
	f("PUT", "/logs-b-1/_create/%5Fx%2F%20%22y%C3%A9", 201, `{"_index":"logs-b-1","_id":"_x/ \"yé","result":"created"}`)
	f("PUT", "/logs-b-1/_doc/%F0%9F%98%80", 201, `{"_index":"logs-b-1","_id":"\uD83D\uDE00","result":"created"}`)
	f("GET", put, 200, `{"_index":"logs-b-1","_id":"1","_version":1,"_seq_no":1,"_primary_term":1,"found":true,"_source":{"hits":{"total":1},"took":2}}`)
	f("GET", put, 404, `{"_index":"logs-b-1","_type":"_doc","_id":"1","found":false}`)

	// Errors, whoever gives them.
	f("PUT", put, 409, `{"error":{"type":"version_conflict_engine_exception","reason":"x"},"status":409}`)
	f("GET", put, 404, `{"error":"alias [x] missing","status":404}`)
	f("GET", put, 503, ``)
	got, err := treat("PUT", put, 502, `<html>bad gateway</html>`)
	if err != nil || got.Status != 502 || strings.Contains(string(got.Body), "gateway") {
		t.Errorf("an error that is no JSON became %d %s, %v", got.Status, got.Body, err)
	}
	withheld("PUT", put, 200, `{"error":{"type":"x"},"status":409}`)
	withheld("GET", put, 404, `{"error":{"type":"x"},"docs":[]}`)
	withheld("GET", put, 404, `{"error":{"type":"x"},"_index":"secret"}`)

	// Answers of other endpoints.
	for _, other := range []string{
		`{"took":1,"timed_out":false,"_shards":{"total":1},"hits":{"total":{"value":1},"hits":[{"_index":"logs-b-1","_id":"1","_source":{"a":1}}]}}`,
		`{"docs":[{"_index":"logs-b-1","_id":"1","found":true,"result":"created"}]}`,
		`{"took":1,"errors":false,"items":[{"index":{"_index":"logs-b-1","_id":"1","result":"created"}}]}`,
		`{"acknowledged":true}`, `{"count":1,"_shards":{"total":1}}`, `{"logs-b-1":{"mappings":{}}}`, `{}`, `[]`, `"x"`, ``, `green open logs`,
		`{"_index":"logs-b-1","_id":"1","result":"created"} {}`, `{"_index":"logs-b-1","_id":"1","result":"created","found":true`,
		`{"_index":"logs-b-1","_id":"1"}`, `{"_index":"logs-b-1","result":"created","found":true}`, `{"_id":"1","result":"created","found":true}`,
		`{"_index":"logs-b-1","_id":"2","result":"created","found":true}`, `{"_index":"logs-b-1","_id":1,"result":"created","found":true}`,
		`{"_index":"secret","_id":"1","result":"created","found":true}`, `{"_index":["logs-b-1"],"_id":"1","result":"created","found":true}`,
		`{"_index":"logs-b-1","_id":"1","result":"exploded","found":"yes"}`, `{"_index":"logs-b-1","_id":"1","_id":"2","result":"created","found":true}`,
		`{"_index":"logs-b-1","_id":"1\ud83d","result":"created","found":true}`, `{"_index":"l*","_id":"1","result":"created","found":true}`,
	} {
		withheld("PUT", put, 200, other)
		withheld("GET", put, 200, other)
	}
	withheld("GET", put, 200, `{"_index":"logs-b-1","_id":"1","result":"created"}`)
	withheld("PUT", put, 200, `{"_index":"logs-b-1","_id":"1","found":true}`)
	withheld("GET", "/hr/_source/1", 200, `{"hits":{"hits":[{"_source":{"ssn":"1"}}]}}`)
	withheld("GET", "/hr/_doc/1", 200, `{"_index":"hr","_id":"2","found":true,"_source":{}}`)

	// What filter_path leaves is of such an answer alone.
	const some = put + "?filter_path=x"
	for _, left := range []string{`{}`, `{"_version":3}`, `{"_id":"1","_seq_no":2}`, `{"status":404}`} {
		f("PUT", some, 200, left)
		f("GET", some, 200, left)
	}
	f("PUT", some, 200, `{"result":"created","_shards":{"total":1}}`)
	f("GET", some, 200, `{"_source":{"a":1}}`)
	for _, left := range []string{`{"hits":{}}`, `{"took":1}`, `{"_index":"secret"}`, `{"_id":"2"}`, `{"docs":[]}`, `{"_version":1,"items":[]}`} {
		withheld("PUT", some, 200, left)
		withheld("GET", some, 200, left)
	}
	withheld("PUT", some, 200, `{"_source":{"a":1}}`)

	// Where the document may be: behind an alias or a stream, as far as it is granted.
	f("PUT", "/logs-a/_doc/1", 201, `{"_index":"logs-a-1","_id":"1","result":"created"}`)
	f("PUT", "/logs-a/_doc/1", 201, `{"_index":"logs-a-3","_id":"1","result":"created"}`) // was put behind it since
	f("PUT", put, 201, `{"_index":"logs-c","_id":"1","result":"created"}`)                // a pipeline chose it
	withheld("PUT", put, 201, `{"_index":"secret","_id":"1","result":"created"}`)
	withheld("PUT", put, 201, `{"_index":"hr","_id":"1","result":"created"}`) // it is under a rule
	f("PUT", "/staff2/_doc/1", 201, `{"_index":"other","_id":"1","result":"created"}`)
	withheld("PUT", "/staff2/_doc/1", 201, `{"_index":"another","_id":"1","result":"created"}`)
	f("POST", "/stream/_doc?op_type=create", 201, `{"_index":".ds-stream-1","_id":"1","result":"created"}`)
	f("POST", "/stream/_doc?op_type=create", 201, `{"_index":".ds-stream-2026.11.30-000002","_id":"1","result":"created"}`)
	withheld("POST", "/stream/_doc?op_type=create", 201, `{"_index":".ds-other-000001","_id":"1","result":"created"}`)
	f("PUT", "/xa-new/_doc/1", 201, `{"_index":"xa-new","_id":"1","result":"created"}`)
	f("GET", "/staff2/_doc/1", 200, `{"_index":"other","_id":"1","found":true}`)
}

// TestDocumentCheckAllocations holds that an answer is looked at without a copy.
func TestDocumentCheckAllocations(t *testing.T) {
	s := worldWith(t, shapeRole, staff())
	out := planFor(t, s, "PUT", "/logs-b-1/_doc/1", `{}`)
	a := Answer{Status: 201, Body: []byte(`{"_index":"logs-b-1","_id":"1","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1}`)}
	if n := testing.AllocsPerRun(100, func() { _, _ = out.Forward.Treat.Treat(a) }); n != 0 {
		t.Errorf("the check allocates %v times; want 0", n)
	}
}
