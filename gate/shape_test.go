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

// documentAnswers tells what becomes of answers to calls for one document.
type documentAnswers struct {
	t *testing.T
	s *Snapshot
}

func newDocumentAnswers(t *testing.T) documentAnswers {
	t.Helper()
	indices, stream := withStream()
	indices = append(indices, indexresolver.Index{Name: "other", Aliases: []indexresolver.Membership{{Alias: "staff2"}}})
	return documentAnswers{t, worldWith(t, shapeRole, indices, stream)}
}

func (a documentAnswers) treat(method, target string, status int, body string) (Answer, error) {
	a.t.Helper()
	doc := ""
	if method == "PUT" || method == "POST" {
		doc = `{}`
	}
	out := planFor(a.t, a.s, method, target, doc)
	if out.Kind != Forward || out.Forward.Treat == nil {
		a.t.Fatalf("%s %s: %s; want a treated call", method, target, gist(a.t, out))
	}
	return out.Forward.Treat.Treat(Answer{Status: status, ContentType: jsonType, Body: []byte(body)})
}

// passes holds that an answer comes back as it came.
func (a documentAnswers) passes(method, target string, status int, body string) {
	a.t.Helper()
	if got, err := a.treat(method, target, status, body); err != nil || got.Status != status || string(got.Body) != body {
		a.t.Errorf("%s %s: %s became %d %s, %v; want it as it came", method, target, body, got.Status, got.Body, err)
	}
}

// withheld holds that nothing of an answer comes back but 502.
func (a documentAnswers) withheld(method, target string, status int, body string) {
	a.t.Helper()
	got, err := a.treat(method, target, status, body)
	var rej *ask.Rejection
	if !errors.As(err, &rej) || rej.Status != 502 || rej.Reason != ask.ReasonUpstream || len(got.Body) > 0 {
		a.t.Errorf("%s %s: %s became %d %s, %v; want 502", method, target, body, got.Status, got.Body, err)
	}
	if rej != nil && method != "GET" != strings.Contains(rej.Public, "whether the document was written is not known") {
		a.t.Errorf("%s %s: %s; want it to say what is known of a write, and of no read", method, target, rej.Public)
	}
}

// put is the target of most of these calls.
const put = "/logs-b-1/_doc/1"

// TestAnswerAboutTheDocument: it comes back as it came, whatever else it says.
func TestAnswerAboutTheDocument(t *testing.T) {
	a := newDocumentAnswers(t)
	const shards = `"_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1}`
	a.passes("PUT", put, 201, `{"_index":"logs-b-1","_id":"1","_version":1,"result":"created",`+shards)
	a.passes("PUT", put, 200, `{"_index":"logs-b-1","_type":"_doc","_id":"1","_version":2,"result":"updated","forced_refresh":true,`+shards)
	a.passes("PUT", put, 200, "{\n  \"_index\" : \"logs-b-1\",\n  \"_id\" : \"1\",\n  \"result\" : \"created\"\n}\n")
	a.passes("PUT", put, 200, `{"_index":"logs-b-1","_id":"1","result":"created","of_a_later_version":1}`)
	a.passes("POST", "/logs-b-1/_doc", 201, `{"_index":"logs-b-1","_id":"Ab-1_","_version":1,"result":"created",`+shards)
	a.passes("DELETE", put, 404, `{"_index":"logs-b-1","_id":"1","_version":1,"result":"not_found",`+shards)
	a.passes("POST", "/logs-b-1/_update/1", 200, `{"_index":"logs-b-1","_id":"1","result":"noop","get":{"found":true,"_source":{"a":1}},`+shards)
	a.passes("PUT", "/logs-b-1/_create/%5Fx%2F%20%22y%C3%A9", 201, `{"_index":"logs-b-1","_id":"_x/ \"yé","result":"created"}`)
	a.passes("PUT", "/logs-b-1/_doc/%F0%9F%98%80", 201, `{"_index":"logs-b-1","_id":"\uD83D\uDE00","result":"created"}`)
	a.passes("GET", put, 200, `{"_index":"logs-b-1","_id":"1","_version":1,"_seq_no":1,"_primary_term":1,"found":true,"_source":{"hits":{"total":1},"took":2}}`)
	a.passes("GET", put, 404, `{"_index":"logs-b-1","_type":"_doc","_id":"1","found":false}`)
}

// TestErrorForTheDocument: an error passes, whoever gives it, and brings nothing along.
func TestErrorForTheDocument(t *testing.T) {
	a := newDocumentAnswers(t)
	a.passes("PUT", put, 409, `{"error":{"type":"version_conflict_engine_exception","reason":"x"},"status":409}`)
	a.passes("GET", put, 404, `{"error":"alias [x] missing","status":404}`)
	a.passes("GET", put, 503, ``)
	got, err := a.treat("PUT", put, 502, `<html>bad gateway</html>`)
	if err != nil || got.Status != 502 || strings.Contains(string(got.Body), "gateway") {
		t.Errorf("an error that is no JSON became %d %s, %v", got.Status, got.Body, err)
	}
	a.withheld("PUT", put, 200, `{"error":{"type":"x"},"status":409}`)
	a.withheld("GET", put, 404, `{"error":{"type":"x"},"docs":[]}`)
	a.withheld("GET", put, 404, `{"error":{"type":"x"},"_index":"secret"}`)
}

// TestAnswerOfAnotherEndpoint: what is no answer about this document is withheld, whatever
// the path was taken for.
func TestAnswerOfAnotherEndpoint(t *testing.T) {
	a := newDocumentAnswers(t)
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
		a.withheld("PUT", put, 200, other)
		a.withheld("GET", put, 200, other)
	}
	a.withheld("GET", put, 200, `{"_index":"logs-b-1","_id":"1","result":"created"}`)
	a.withheld("PUT", put, 200, `{"_index":"logs-b-1","_id":"1","found":true}`)
	a.withheld("GET", "/hr/_source/1", 200, `{"hits":{"hits":[{"_source":{"ssn":"1"}}]}}`)
	a.withheld("GET", "/hr/_doc/1", 200, `{"_index":"hr","_id":"2","found":true,"_source":{}}`)
}

// TestFilteredAnswer: what filter_path leaves is of an answer about the document, or
// withheld.
func TestFilteredAnswer(t *testing.T) {
	a := newDocumentAnswers(t)
	const some = put + "?filter_path=x"
	for _, left := range []string{`{}`, `{"_version":3}`, `{"_id":"1","_seq_no":2}`, `{"status":404}`} {
		a.passes("PUT", some, 200, left)
		a.passes("GET", some, 200, left)
	}
	a.passes("PUT", some, 200, `{"result":"created","_shards":{"total":1}}`)
	a.passes("GET", some, 200, `{"_source":{"a":1}}`)
	for _, left := range []string{`{"hits":{}}`, `{"took":1}`, `{"_index":"secret"}`, `{"_id":"2"}`, `{"docs":[]}`, `{"_version":1,"items":[]}`} {
		a.withheld("PUT", some, 200, left)
		a.withheld("GET", some, 200, left)
	}
	a.withheld("PUT", some, 200, `{"_source":{"a":1}}`)
}

// TestPlaceOfTheDocument: behind an alias or a stream the document may be as far as that
// is granted.
func TestPlaceOfTheDocument(t *testing.T) {
	a := newDocumentAnswers(t)
	a.passes("PUT", "/logs-a/_doc/1", 201, `{"_index":"logs-a-1","_id":"1","result":"created"}`)
	a.passes("PUT", "/logs-a/_doc/1", 201, `{"_index":"logs-a-3","_id":"1","result":"created"}`) // was put behind it since
	a.passes("PUT", put, 201, `{"_index":"logs-c","_id":"1","result":"created"}`)                // a pipeline chose it
	a.withheld("PUT", put, 201, `{"_index":"secret","_id":"1","result":"created"}`)
	a.withheld("PUT", put, 201, `{"_index":"hr","_id":"1","result":"created"}`) // it is under a rule
	a.passes("PUT", "/staff2/_doc/1", 201, `{"_index":"other","_id":"1","result":"created"}`)
	a.withheld("PUT", "/staff2/_doc/1", 201, `{"_index":"another","_id":"1","result":"created"}`)
	a.passes("POST", "/stream/_doc?op_type=create", 201, `{"_index":".ds-stream-1","_id":"1","result":"created"}`)
	a.passes("POST", "/stream/_doc?op_type=create", 201, `{"_index":".ds-stream-2026.11.30-000002","_id":"1","result":"created"}`)
	a.withheld("POST", "/stream/_doc?op_type=create", 201, `{"_index":".ds-other-000001","_id":"1","result":"created"}`)
	a.passes("PUT", "/xa-new/_doc/1", 201, `{"_index":"xa-new","_id":"1","result":"created"}`)
	a.passes("GET", "/staff2/_doc/1", 200, `{"_index":"other","_id":"1","found":true}`)
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
