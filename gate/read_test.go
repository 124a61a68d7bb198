package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/indexresolver"
)

// readerRole reads fielded without ssn, nested without p.ssn by a regular expression,
// hr under a document rule, and logs freely.
const readerRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [hr], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: [fielded, "later*"], fls: [name, age], allowed_actions: ["*"]}
    - {index_patterns: [nested], fls: ['~/p\\.s.n/'], allowed_actions: ["*"]}
    - {index_patterns: ["logs-a*"], allowed_actions: ["*"]}
`

func readable() []indexresolver.Index {
	return append(staff(), indexresolver.Index{Name: "fielded", Mapping: []byte(staffMapping), Aliases: []indexresolver.Membership{{Alias: "routed", IndexRouting: "r"}, {Alias: "some", Filter: []byte(`{"term":{"age":3}}`)}}},
		indexresolver.Index{Name: "nested", Mapping: []byte(`{"properties":{"p":{"type":"nested","properties":{"ssn":{"type":"keyword"},"nick":{"type":"keyword"}}}}}`)})
}

// expects runs requests of one method; a wish that starts with "refused " is found in
// the text of the refusal.
func expects(t *testing.T, s *Snapshot, method string) func(target, body, want string) {
	return func(target, body, want string) {
		t.Helper()
		got := gist(t, planFor(t, s, method, target, body))
		if text, refusal := strings.CutPrefix(want, "refused "); refusal {
			if !strings.HasPrefix(got, "reject ") || !strings.Contains(got, text) {
				t.Errorf("%s %s %s: %s; want a refusal with %q", method, target, body, got, text)
			}
		} else if got != want {
			t.Errorf("%s %s %s:\ngot  %s\nwant %s", method, target, body, got, want)
		}
	}
}

// TestHeadUnderFields holds that the length of an answer without a body tells nothing:
// a node gives the length that the whole document would have.
func TestHeadUnderFields(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	f := expects(t, s, "HEAD")
	f("/fielded/_doc/1", "", "HEAD /fielded/_doc/1?_source=false")
	f("/fielded/_doc/1?_source_includes=ssn&routing=r", "", "HEAD /fielded/_doc/1?routing=r&_source=false")
	f("/fielded/_doc/1?_source=ssn&_source_excludes=name&stored_fields=ssn", "", "HEAD /fielded/_doc/1?_source=false")
	f("/fielded/_source/1", "", "GET /fielded/_doc/1?_source_includes=age,name")
	f("/nested/_source/1?_source_includes=p.ssn", "", "GET /nested/_doc/1?_source_includes=p.ssn")
	f("/fielded/_source/1?_source=false", "", "refused fetching source can not be disabled")
	f("/logs-a-1/_source/1?_source=false", "", "HEAD /logs-a-1/_source/1?_source=false")
	f("/logs-a-1/_doc/1?_source_includes=ssn", "", "HEAD /logs-a-1/_doc/1?_source_includes=ssn")

	answer := Answer{Status: 200, ContentType: jsonType, Header: []Field{{"X-Opaque-Id", "1"}}, Body: []byte(`{"_index":"nested","_id":"1","found":true,"_source":{"p":{"ssn":1}}}`)}
	want := answer
	want.Body = nil
	for _, target := range []string{"/fielded/_doc/1", "/nested/_source/1", "/fielded", "/nested/_alias"} {
		out := planFor(t, s, "HEAD", target, "")
		if out.Forward.Treat == nil {
			t.Errorf("HEAD %s: %s, and the length of the answer is told", target, gist(t, out))
			continue
		}
		got, err := out.Forward.Treat.Treat(answer)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("HEAD %s: answer (-want +got):\n%s%v", target, diff, err)
		}
	}
	for _, target := range []string{"/logs-a-1/_doc/1", "/logs-a-1/_source/1", "/logs-a-1"} {
		if out := planFor(t, s, "HEAD", target, ""); out.Kind != Forward || out.Forward.Treat != nil {
			t.Errorf("HEAD %s: %s, and without a rule its answer is changed", target, gist(t, out))
		}
	}
	out := planFor(t, s, "HEAD", "/nested/_source/1", "")
	got, err := out.Forward.Treat.Treat(Answer{Status: 200, ContentType: jsonType, Body: []byte(`{"_index":"nested","_id":"1","found":true}`)})
	if err != nil || got.Status != 404 || len(got.Body) > 0 {
		t.Errorf("answer %+v, %v for a document without a source; want the status 404 alone", got, err)
	}
}

// TestGetUnderFields holds what a get of a document becomes under a field rule.
func TestGetUnderFields(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	f := expects(t, s, "GET")
	f("/fielded/_doc/1", "", "GET /fielded/_doc/1?_source_includes=age,name")
	f("/fielded/_doc/1?_source=name,ssn&_source_excludes=b", "", "GET /fielded/_doc/1?_source_includes=name&_source_excludes=b")
	f("/fielded/_doc/1?_source=ssn&_source_includes=ssn.raw", "", "GET /fielded/_doc/1?_source_includes=guard-no-such-field")
	f("/fielded/_doc/1?_source=*", "", "GET /fielded/_doc/1?_source_includes=age,name")
	f("/fielded/_doc/1?_source=true&stored_fields=name", "", "GET /fielded/_doc/1?_source_includes=age,name&stored_fields=name")
	f("/fielded/_source/1?_source=ssn", "", "GET /fielded/_doc/1?_source_includes=guard-no-such-field")
	f("/fielded/_source/1?filter_path=-ssn&pretty", "", "GET /fielded/_doc/1?pretty&_source_includes=age,name")
	f("/nested/_doc/1?_source=p.ssn", "", "GET /nested/_doc/1?_source_includes=p.ssn") // see fls.Answer.KeepEmpty
	f("/nested/_doc/1?filter_path=_source", "", "refused [filter_path]")
	f("/fielded/_doc/1?_source=false", "", "GET /fielded/_doc/1?_source=false")
	f("/fielded/_doc/1?stored_fields=name,ssn,_routing", "", "GET /fielded/_doc/1?stored_fields=name,guard-no-such-field,_routing")
	f("/fielded/_doc/1?stored_fields=s*", "", "GET /fielded/_doc/1?stored_fields=guard-no-such-field")
	f("/fielded/_doc/1?version=3&version_type=external", "", "GET /fielded/_doc/1?version=3&version_type=external&_source_includes=age,name")
	f("/fielded/_doc/1?format=yaml", "", "refused [format]")
	f("/fielded/_doc/1?force_synthetic_source=true", "", "refused [force_synthetic_source]")
	f("/later/_doc/1", "", "refused no such index [later]") // it could come to hold anything until then
	f("/routed/_doc/1", "", "GET /routed/_doc/1?_source_includes=age,name")
	f("/logs-a/_doc/1", "", "refused more than one index")

	out := planFor(t, s, "GET", "/fielded/_doc/1", "")
	got, err := out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(`{"_index":"fielded","_id":"1","found":true,"_source":{"name":"a","ssn":"1"}}`)})
	if want := `{"_index":"fielded","_id":"1","found":true,"_source":{"name":"a"}}`; err != nil || string(got.Body) != want {
		t.Errorf("answer %s, %v; want %s", got.Body, err, want)
	}
	if _, err = out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(`{"_index":"other","_id":"1","found":true,"_source":{"name":"a"}}`)}); !Moved(err) {
		t.Errorf("a document of an index that was not asked for: %v; want an error that tells so", err)
	}
	missing := `{"_index":"fielded","_id":"1","found":false}`
	if got, err = out.Forward.Treat.Treat(Answer{Status: 404, Body: []byte(missing)}); err != nil || got.Status != 404 || string(got.Body) != missing {
		t.Errorf("answer %d %s, %v; want %s", got.Status, got.Body, err, missing)
	}
	out = planFor(t, s, "GET", "/fielded/_source/1", "")
	source := func(status int, body string, wantStatus int, want string) {
		t.Helper()
		got, err := out.Forward.Treat.Treat(Answer{Status: status, Body: []byte(body)})
		if err != nil || got.Status != wantStatus || !strings.Contains(string(got.Body), want) {
			t.Errorf("%s became %d %s, %v; want %d %s", body, got.Status, got.Body, err, wantStatus, want)
		}
	}
	source(200, `{"_index":"fielded","_id":"1","found":true,"_source":{"ssn":"1","age":2}}`, 200, `{"age":2}`)
	source(200, `{"_index":"fielded","_id":"1","found":true,"_source":{"ssn":"1"}}`, 200, `{}`)
	source(200, `{"_index":"fielded","_id":"1","found":true}`, 404, `"reason":"Source not found [fielded]/[1]"`)
	source(404, `{"_index":"fielded","_id":"1","found":false}`, 404, `"reason":"Document not found [fielded]/[1]"`)
	source(404, `{"_index":"fielded","_type":"_doc","_id":"1","found":false}`, 404, `"reason":"Document not found [fielded]/[_doc]/[1]"`)
	source(404, `{"error":{"type":"index_not_found_exception"},"status":404}`, 404, `{"error":{"type":"index_not_found_exception"},"status":404}`)
}

// TestFilterPath holds that nobody takes out of an answer what says whose fields they
// are.
func TestFilterPath(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	f := expects(t, s, "GET")
	f("/logs-a-1/_search?filter_path=hits.hits._source", "", "GET /logs-a-1/_search?filter_path=hits.hits._source")
	f("/nested/_search?filter_path=hits.hits.inner_hits.p.hits.hits._source", `{"query":{"match_all":{}}}`, "refused [filter_path]")
	f("/nested/_search?filter_path=hits.hits._source.p.ssn", "", "refused [filter_path]")
	f("/nested,fielded/_search?filter_path=hits.hits._source", "", "refused [filter_path]")
	f("/hr/_doc/1?filter_path=_source", "", "refused [filter_path]")
	f("/fielded/_mapping?filter_path=**.type", "", "refused [filter_path]")
	f("/_mget?filter_path=docs._source", `{"docs":[{"_index":"logs-a-1","_id":"1"}]}`, `GET /_mget?filter_path=docs._source | {"docs":[{"_index":"logs-a-1","_id":"1"}]}`)
	f("/_mget?filter_path=docs._source", `{"docs":[{"_index":"logs-a-1","_id":"1"},{"_index":"secret","_id":"1"}]}`, `GET /_mget | {"docs":[{"_index":"logs-a-1","_id":"1"}]}`)
	one := `{"index":["logs-a-1"],"ignore_unavailable":false,"allow_no_indices":true,"expand_wildcards":"open"} | {}`
	f("/_msearch?filter_path=responses.took", "{\"index\":\"logs-a-1\"}\n{}\n", `GET /_msearch?filter_path=responses.took | `+one)
	f("/_msearch?filter_path=responses.took", "{\"index\":\"logs-a-1\"}\n{}\n{\"index\":\"secret\"}\n{}\n", `GET /_msearch | `+one)
}

// TestMultiSearch holds what becomes of the header lines, and that one refused search
// costs itself alone.
func TestMultiSearch(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	f := expects(t, s, "POST")
	head := func(index, rest string) string {
		return `{"index":[` + index + `],"ignore_unavailable":false,"allow_no_indices":true,"expand_wildcards":"open"` + rest + `}`
	}
	f("/_msearch", "{\"index\":\"logs-a-1\",\"preference\":\"p\",\"routing\":\"r\",\"search_type\":\"dfs_query_then_fetch\"}\n{\"size\":1}\n",
		`POST /_msearch | `+head(`"logs-a-1"`, `,"preference":"p","routing":"r","search_type":"dfs_query_then_fetch"`)+` | {"size":1}`)
	f("/_msearch", "{\"index\":\"hr\"}\n{}\n", `POST /_msearch?pre_filter_shard_size=1000000 | `+head(`"hr"`, "")+` | {"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"term":{"dept":"eng"}}]}}}`)
	f("/logs-a-1/_msearch?max_concurrent_searches=2", "{}\n{}\n", `POST /_msearch?max_concurrent_searches=2 | `+head(`"logs-a-1"`, "")+` | {}`)
	f("/_msearch?expand_wildcards=all", "{\"index\":\"logs-a-1\",\"ignore_unavailable\":true}\n{}\n",
		`POST /_msearch | {"index":["logs-a-1"],"ignore_unavailable":true,"allow_no_indices":true,"expand_wildcards":"open,closed,hidden"} | {}`)
	f("/_msearch", "{\"index\":\"none*\"}\n{}\n", `POST /_msearch | `+head(`".none*","-*"`, "")+` | {}`)
	f("/_msearch", "{\"index\":\"logs-a-1\",\"scroll\":\"1m\"}\n{}\n", "refused unknown key [scroll]")
	f("/_msearch?search_pipeline=p", "{\"index\":\"logs-a-1\"}\n{}\n", "refused search_pipeline")

	out := planFor(t, s, "POST", "/_msearch", "{\"index\":\"secret\"}\n{}\n{\"index\":\"hr\"}\n{}\n{\"index\":\"hr\"}\n{\"suggest\":{\"s\":{\"text\":\"a\",\"term\":{\"field\":\"a\"}}}}\n{\"index\":\"logs-a-1\"}\n{}\n")
	if n := strings.Count(string(out.Forward.Body), "\n"); n != 4 {
		t.Fatalf("sent %s; want two searches", out.Forward.Body)
	}
	free := `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":1,"failed":0},"hits":{"hits":[]},"status":200}`
	bound := `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":1,"failed":0},"hits":{"hits":[{"_index":"hr","_id":"1"}]},"status":200}`
	got, err := out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(`{"took":1,"responses":[` + bound + `,` + free + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	responses, _ := parsed(t, string(got.Body)).Lookup("responses")
	for i, r := range responses.Elements() {
		want := []string{"no permissions for [indices:data/read/search]", strings.Replace(bound, `"skipped":1`, `"skipped":0`, 1), "suggest", free}[i]
		if !strings.Contains(string(r.Raw()), want) {
			t.Errorf("response %d is %s; want %s", i, r.Raw(), want)
		}
	}
	// A hit of an index that was not asked for ends the whole answer.
	other := strings.Replace(bound, `"hr"`, `"secret"`, 1)
	if got, err := out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(`{"responses":[` + other + `,` + free + `]}`)}); err == nil {
		t.Errorf("answer %s; want an error", got.Body)
	}
}

// TestMultiGet holds what becomes of the items.
func TestMultiGet(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	f := expects(t, s, "POST")
	f("/logs-a-1/_mget?_source=msg&routing=r", `{"ids":["1",2]}`, `POST /_mget | {"docs":[{"_index":"logs-a-1","_id":"1","routing":"r","_source":{"includes":["msg"]}},{"_index":"logs-a-1","_id":"2","routing":"r","_source":{"includes":["msg"]}}]}`)
	f("/_mget", `{"docs":[{"_index":"fielded","_id":"1","_source":["ssn","name"],"stored_fields":"ssn","version":3}]}`,
		`POST /_mget | {"docs":[{"_index":"fielded","_id":"1","version":3,"_source":{"includes":["name"]},"stored_fields":"guard-no-such-field"}]}`)
	f("/_mget", `{"docs":[{"_index":"logs-a-1","_id":"1"},{"_index":"logs-b-1","_id":"1"},{"_index":"logs-a","_id":"1"}]}`, `POST /_mget | {"docs":[{"_index":"logs-a-1","_id":"1"}]}`)
	f("/_mget", `{"docs":[{"_index":"hr","_id":"1","version":1}]}`, `local 200 {"docs":[{"_index":"hr","_id":"1","error":{"root_cause":[{"type":"security_exception","reason":"[version] of an item under a document rule is not supported yet for users who do not hold every privilege"}],"type":"security_exception","reason":"[version] of an item under a document rule is not supported yet for users who do not hold every privilege"}}]}`)
}
