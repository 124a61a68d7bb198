package attack_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// TestCostlyRequests sends small requests that would make guard write or compare much: each is
// answered, by what it may take, and guard serves others afterwards.
func TestCostlyRequests(t *testing.T) {
	node := testbed.Cluster(t, testbed.OpenSearch)
	load(t, node)
	var fields strings.Builder
	for i := range 900 {
		fmt.Fprintf(&fields, `,"field_%d_%s":{"type":"keyword"}`, i, strings.Repeat("x", 60))
	}
	node.Must(t, "PUT", "/hr-wide", `{"settings":{"number_of_replicas":0},"mappings":{"properties":{"ssn":{"type":"keyword"}`+fields.String()+`}}}`)
	files := policy(t)
	files["roles.yml"] = strings.Replace(files["roles.yml"], `"index_patterns":["hr"]`, `"index_patterns":["hr","hr-wide"]`, -1)
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, files), Upstream: node.URL})
	for i := range 40 {
		if res := ask(t, guard, "owner", "PUT", fmt.Sprintf("/mine-%02d%s", i, strings.Repeat("a", 240)), `{"settings":{"number_of_replicas":0}}`); res.Status != 200 {
			t.Fatalf("an index of a long name: %d: %s", res.Status, res.Body)
		}
	}
	f := func(user, path, lines string, n, status int, want string) {
		t.Helper()
		var body strings.Builder
		for i := range n { // no two searches are of the same names
			body.WriteString(strings.Replace(lines, "NUMBER", fmt.Sprint(i), 1) + "\n")
		}
		res := ask(t, guard, user, "POST", path, body.String())
		if res.Status != status || !bytes.Contains(res.Body, []byte(want)) {
			t.Errorf("%d times %.80s as %s: %d, %.300s; want %d and %q", n, lines, user, res.Status, res.Body, status, want)
		}
		if res := ask(t, guard, "fields", "GET", "/hr/_search", ""); res.Status != 200 {
			t.Errorf("a search after that: %d, %s", res.Status, res.Body)
		}
	}
	stars := `{"size":0,"query":{"bool":{"must_not":[` + strings.Repeat(`{"query_string":{"query":"a","fields":["*"]}},`, 80) + `{"match_all":{}}]}}}`
	f("fields", "/_msearch", `{"index":"hr-wide"}`+"\n"+stars, 600, 200, "it makes the searches of this request too long")
	f("owner", "/_msearch", `{"index":"*`+strings.Repeat("a", 120)+`bNUMBER*"}`+"\n{}", 95000, 413, "its patterns may mean too many")
	f("owner", "/"+strings.TrimSuffix(strings.Repeat("q*,", 1000), ",")+"/_msearch", "{}\n{}", 50000, 413, "its patterns may mean too many")
}
