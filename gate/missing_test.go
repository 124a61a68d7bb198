package gate

import (
	"testing"

	"guard/internal/ask"
)

// TestMissing holds what a name that the cluster does not have is called in the error
// (resource.type). It depends on the endpoint; measured on every engine.
func TestMissing(t *testing.T) {
	s := worldWith(t, `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["*"], allowed_actions: ["*"], dls: '{"match_all":{}}'}
`, staff())
	f := func(method, target, index string, want ask.Resource) {
		t.Helper()
		out := planFor(t, s, method, target, "")
		r := out.Rejection
		if out.Kind != Reject || r.Status != 404 || r.Type != "index_not_found_exception" || r.Index == nil || r.Index.Name != index || r.Index.As != want {
			t.Errorf("%s %s is %s, names %+v; want 404, %q, %q", method, target, gist(t, out), r.Index, index, want)
		}
	}
	for _, path := range []string{"_doc", "_source"} {
		f("GET", "/none/"+path+"/1", "none", ask.IndexExpression)
		f("HEAD", "/none/"+path+"/1", "none", ask.IndexExpression)
		f("GET", "/none-*/"+path+"/1", "none-*", ask.IndexExpression)
		f("GET", "/hr*/"+path+"/1", "hr*", ask.IndexExpression) // no wildcard is expanded here
	}
	f("DELETE", "/none-*/_doc/1", "none-*", ask.IndexExpression)
	for _, target := range []string{"/none-*/_search", "/none-*/_count", "/none-*/_mapping", "/none-*", "/_cat/indices/none-*", "/none-*/_field_caps"} {
		f("GET", target+"?allow_no_indices=false", "none-*", ask.IndexOrAlias)
	}
	f("DELETE", "/none-*?allow_no_indices=false", "none-*", ask.IndexOrAlias)
	f("GET", "/_resolve/index/none-*?allow_no_indices=false", "none-*", ask.NoResource)

	slot := func(target, body, key, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "POST", target, body)); got != `local 200 {`+key+`[`+want+`]}` {
			t.Errorf("POST %s is %s; want %s", target, got, want)
		}
	}
	cause := func(index, resource string) string {
		return `"type":"index_not_found_exception","reason":"no such index [` + index + `]","index":"` + index + `","resource.id":"` + index + `","resource.type":"` + resource + `","index_uuid":"_na_"`
	}
	one, list := cause("none", "index_expression"), cause("none-*", "index_or_alias")
	slot("/_mget", `{"docs":[{"_index":"none","_id":"1"}]}`, `"docs":`, `{"_index":"none","_id":"1","error":{"root_cause":[{`+one+`}],`+one+`}}`)
	slot("/_msearch", "{\"index\":\"none-*\",\"allow_no_indices\":false}\n{}\n", `"took":0,"responses":`, `{"error":{"root_cause":[{`+list+`}],`+list+`},"status":404}`)
}

// TestMissingOfAList: of a list the first name is told that the cluster would tell, in its
// words. Names that are not granted are not spoken of, whether they exist or not.
func TestMissingOfAList(t *testing.T) {
	s := worldWith(t, `  cluster_permissions: ["indices:data/read/*"]
  index_permissions:
    - {index_patterns: ["logs-*", "x*"], allowed_actions: ["*"]}
`, staff())
	f := func(target, want string) {
		t.Helper()
		out := planFor(t, s, "GET", target, "")
		if got := gist(t, out); got != want {
			t.Errorf("GET %s: %s; want %s", target, got, want)
		}
	}
	f("/xz,xa,logs-a-1/_search", "reject 404 not_found: no such index [xz]")
	f("/logs-*,-xz/_search", "reject 404 not_found: no such index [xz]")
	f("/logs-*,-x*/_search?allow_no_indices=false", "reject 404 not_found: no such index [x*]")
	f("/logs-*,-logs-*/_search?allow_no_indices=false", "reject 404 not_found: no such index [null]")
	f("/x-*/_search?allow_no_indices=false&expand_wildcards=none", "reject 404 not_found: no such index [x-*]")
	f("/logs-*,xz*/_search?expand_wildcards=none", "reject 404 not_found: no such index [logs-*]")

	with, without := planFor(t, s, "GET", "/logs-*,-hr/_search", ""), planFor(t, s, "GET", "/logs-*,-no-hr/_search", "")
	if got, want := gist(t, without), gist(t, with); got != want || with.Kind != Forward {
		t.Errorf("without a forbidden name: %s; with it: %s", got, want)
	}

	body := string(ErrorBody(ask.NothingLeft([]string{"a*", "-a*"}, ask.IndexOrAlias)))
	const want = `{"type":"index_not_found_exception","reason":"no such index [null]","resource.id":["a*","-a*"],"resource.type":"index_or_alias"}`
	if body != `{"error":{"root_cause":[`+want+`],`+want[1:]+`,"status":404}` {
		t.Errorf("the body is %s", body)
	}
}
