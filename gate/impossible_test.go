package gate

import (
	"net/url"
	"strings"
	"testing"

	"guard/internal/ask"
)

// TestImpossibleNames holds that a name that no index can have is answered as the cluster
// answers it, and never sent there. Who does not hold it is told so, as of any name.
func TestImpossibleNames(t *testing.T) {
	s := worldWith(t, someRole, staff())
	f := func(method, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, body)); got != want && !(strings.HasSuffix(want, "…") && strings.HasPrefix(got, strings.TrimSuffix(want, "…"))) {
			t.Errorf("%s %s %s:\ngot  %s\nwant %s", method, target, body, got, want)
		}
	}
	for _, name := range []string{"x/..", `x\`, "x?", `x"`, "x<y", "x>", "x|", "x y", "x#", "x/../logs-b-1", "x/_doc/1", "x" + strings.Repeat("x", 255)} {
		gone := "reject 404 not_found: no such index [" + name + "]"
		in := url.PathEscape(name)
		for _, target := range []string{"/%s/_search", "/logs-a-1,%s/_count", "/%s/_mapping", "/%s/_alias", "/%s/_field_caps", "/_cat/indices/%s", "/_cluster/health/%s", "/_cluster/health/logs-a-1,%s?ignore_unavailable=true", "/%s/_doc/1", "/%s/_source/1"} {
			f("GET", strings.Replace(target, "%s", in, 1), "", gone)
		}
		f("HEAD", "/"+in, "", gone)
		f("HEAD", "/"+in+"/_doc/1", "", gone)
		f("DELETE", "/"+in, "", gone)
		f("DELETE", "/"+in+"/_doc/1", "", gone)

		f("GET", "/logs-a-1,"+in+"/_search?ignore_unavailable=true", "", "GET /logs-a-1/_search?ignore_unavailable=true")
		f("GET", "/"+in+"/_search?ignore_unavailable=true", "", "GET /.none*,-*/_search?ignore_unavailable=true")
		f("GET", "/_resolve/index/"+in+",logs-a-1", "", "GET /_resolve/index/logs-a-1")

		f("PUT", "/"+in, "", "reject 400 bad_request: Invalid index name ["+name+"], …")
		f("PUT", "/"+in+"/_doc/1", "{}", "reject 400 bad_request: Invalid index name ["+name+"], …")
		f("POST", "/"+in+"/_update/1", `{"doc":{}}`, "reject 400 bad_request: Invalid index name ["+name+"], …")

		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
		f("POST", "/_mget", `{"docs":[{"_index":"`+quoted+`","_id":"1"}]}`, `local 200 {"docs":[{"_index":"`+quoted+`","_id":"1","error":{"root_cause":[{"type":"index_not_found_exception"…`)
		f("POST", "/_msearch", `{"index":"`+quoted+"\"}\n{}\n", `local 200 {"took":0,"responses":[{"error":{"root_cause":[{"type":"index_not_found_exception"…`)
		f("POST", "/_msearch", `{"index":["logs-a-1","`+quoted+"\"],\"ignore_unavailable\":true}\n{}\n", `POST /_msearch | {"index":["logs-a-1"],"ignore_unavailable":true…`)
		f("POST", "/_aliases", `{"actions":[{"add":{"index":"`+quoted+`","alias":"xs"}}]}`, gone)
	}
	f("GET", "/%3Cx%7C%7Bnow%2Fd%7D%3E/_search", "", "reject 404 not_found: no such index [x|2026.11.30]")
	f("GET", "/_cluster/health/logs-b%7C", "", "reject 403 no_privilege: "+none("indices:monitor/stats", "logs-b|"))
	f("PUT", "/x*/_doc/1", "{}", "reject 400 bad_request: Invalid index name [x*], must not contain the following…")

	// An alias may have such names.
	for _, name := range []string{"xUpper", "x\x00", "x\t", "x\u00a0y"} {
		in := url.PathEscape(name)
		f("GET", "/"+in+"/_search", "", "GET /"+in+"/_search")
	}
}

// TestImpossibleBulk is TestImpossibleNames for the items of a bulk.
func TestImpossibleBulk(t *testing.T) {
	s := worldWith(t, managerRole, staff())
	f := func(line, want string) {
		t.Helper()
		lines := linesFor(t, s, "/_bulk").Lines
		if _, err := lines.Action([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if sent, err := lines.Item(nil, []byte(`{}`)); err != nil || len(sent) > 0 {
			t.Errorf("%s: %s is sent, %v; want nothing", line, sent, err)
		}
		local, err := lines.End()
		if err != nil || local == nil || !strings.Contains(string(local.Body), want) {
			t.Errorf("%s: %+v, %v; want %s in it", line, local, err, want)
		}
	}
	f(`{"delete":{"_index":"x/y","_id":"1"}}`, `"status":404,"error":{"type":"index_not_found_exception","reason":"no such index [x/y]","index":"x/y","resource.id":"x/y","resource.type":"`+ask.IndexExpression.String()+`","index_uuid":"_na_"}`)
	for _, op := range []string{"index", "create", "update"} {
		f(`{"`+op+`":{"_index":"x/y","_id":"1"}}`, `"status":400,"error":{"type":"invalid_index_name_exception","reason":"Invalid index name [x/y], must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]","index":"x/y","index_uuid":"_na_"}`)
	}
}
