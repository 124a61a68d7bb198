package attack_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// The writer owns mine*, of which some are protected or belong to the system, and is bound by
// a rule on hr. Whatever he sends, nothing else may change, and nothing of it may come into
// what is his.
const (
	writerGuard = `policy:
  protected_indices: {enabled: true, indices: ["mine-vault*"], roles: [keeper]}
  system_indices: {enabled: true, indices: ["mine-sys*"]}
`
	writerIndices = "secret-1,hr,mine-vault,mine-sys"
)

func writerPolicy(t testing.TB, evaluation string) map[string]string {
	t.Helper()
	all := []string{"*"}
	role := map[string]any{"cluster_permissions": all, "index_permissions": []any{
		map[string]any{"index_patterns": []string{"mine*"}, "allowed_actions": all},
		map[string]any{"index_patterns": []string{"hr"}, "allowed_actions": all, "dls": rowRule, "fls": []string{"~ssn"}},
	}}
	return map[string]string{
		"config.yml": "_meta: {type: config, config_version: 2}\nconfig:\n  dynamic:\n    do_not_fail_on_forbidden: true\n    privileges_evaluation_type: " + evaluation +
			"\n    authc:\n      basic: {http_enabled: true, order: 0, http_authenticator: {type: basic, challenge: true}, authentication_backend: {type: internal}}\n",
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{"writer": map[string]any{"hash": guardproc.Hash(t, password), "backend_roles": []string{"w"}}}),
		"roles.yml":          guardproc.Section(t, "roles", map[string]any{"writer": role}),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", map[string]any{"writer": map[string]any{"backend_roles": []string{"w"}}}),
	}
}

// writerWorld fills the node.
func writerWorld(t *testing.T, node *testbed.Node) {
	t.Helper()
	if err := node.Reset(); err != nil {
		t.Fatal(err)
	}
	const settings = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{"dept":{"type":"keyword"},"ssn":{"type":"keyword"},"list":{"type":"keyword"}}}}`
	for _, index := range strings.Split(writerIndices, ",") {
		node.Must(t, "PUT", "/"+index, settings)
		for i, dept := range []string{"eng", "legal"} {
			node.Must(t, "PUT", fmt.Sprintf("/%s/_doc/%d", index, i), fmt.Sprintf(`{"dept":%q,"ssn":"TOKEN-%s","list":["own"]}`, dept, index))
		}
	}
	restoreWriter(t, node)
	node.Must(t, "POST", "/_aliases", `{"actions":[{"add":{"index":"secret-1","alias":"mixed"}},{"add":{"index":"secret-1","alias":"sec-al"}},{"add":{"index":"hr","alias":"hr_eng","filter":`+rowRule+`}},
		{"add":{"index":"mine-vault","alias":"mine-to-vault"}},{"add":{"index":"mine-sys","alias":"mine-to-sys"}}]}`)
}

// restoreWriter puts back what the writer may have changed, and removes what he has made.
func restoreWriter(t *testing.T, node *testbed.Node) {
	t.Helper()
	for name := range strings.FieldsSeq(string(node.Must(t, "GET", "/_cat/indices/mine*?h=index&expand_wildcards=all", "").Body)) {
		if name != "mine-1" && name != "mine-2" && name != "mine-vault" && name != "mine-sys" {
			node.Must(t, "DELETE", "/"+name, "")
		}
	}
	var bulk strings.Builder
	for _, index := range []string{"mine-1", "mine-2"} {
		for i, dept := range []string{"eng", "legal"} {
			fmt.Fprintf(&bulk, "{\"index\":{\"_index\":%q,\"_id\":\"%d\"}}\n{\"dept\":%q,\"ssn\":\"own\"}\n", index, i, dept)
		}
	}
	node.Must(t, "POST", "/_bulk?refresh=true", bulk.String())
	node.Must(t, "POST", "/_aliases", `{"actions":[{"add":{"index":"mine-1","alias":"mine-al"}},{"add":{"index":"mine-2","alias":"mine-part","filter":{"term":{"dept":"eng"}}}},{"add":{"index":"mine-1","alias":"mixed"}}]}`)
}

// foreign is all that the writer may not change.
func foreign(t *testing.T, node *testbed.Node) string {
	t.Helper()
	var found struct {
		Hits struct{ Hits []map[string]any }
	}
	if err := json.Unmarshal(node.Must(t, "GET", "/"+writerIndices+"/_search?size=100&sort=dept&seq_no_primary_term=true&version=true", "").Body, &found); err != nil {
		t.Fatal(err)
	}
	var facts any
	if err := json.Unmarshal(node.Must(t, "GET", "/"+writerIndices, "").Body, &facts); err != nil {
		t.Fatal(err)
	}
	var others []string
	for name := range strings.FieldsSeq(string(node.Must(t, "GET", "/_cat/indices?h=index&s=index&expand_wildcards=all", "").Body)) {
		if !strings.HasPrefix(name, "mine") || strings.HasPrefix(name, "mine-vault") || strings.HasPrefix(name, "mine-sys") {
			others = append(others, name)
		}
	}
	text, err := json.Marshal([]any{found, facts, others})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type attempt struct{ method, path, body string }

// writerAttempts combines places with all ways to write, copy and name.
func writerAttempts() (list []attempt) {
	add := func(method, path, format string, args ...any) {
		list = append(list, attempt{method, path, fmt.Sprintf(format, args...)})
	}
	const all = `{"query":{"match_all":{}}}`
	reading := []string{
		"secret-1", "secret*", "*", "_all", "mine*", "mine-*,-mine-1", "mixed", "mi*", "mixed,-secret-1", "mixed,-mine-1", "sec-al", "s*", "hr", "hr_eng", "h*", "mine-vault", "mine-v*", "mine-to-vault",
		"mine-sys", "mine-to-*", "mine-1,secret-1", "<secret-1>", "-secret-1", "mine-1,-secret-1", "other:secret-1", "mine-1", "mine-part", "mine-*,hr",
	}
	writing := []string{
		"mine-new", "mine-1", "secret-1", "secret-new", "sec-al", "mixed", "mine-al", "mine-part", "mine-vault", "mine-vault-new", "mine-to-vault", "mine-sys-new", "mine-to-sys", "hr", "hr_eng",
		"<secret-1>", "<mine-vault>", "<secret-{now/d}>", "other:secret-1", "mine-1,secret-1", "*",
	}
	for _, from := range reading {
		for _, options := range []string{"?conflicts=proceed", "?conflicts=proceed&expand_wildcards=all&ignore_unavailable=true&q=*"} {
			add("POST", "/"+from+"/_delete_by_query"+options, all)
			add("POST", "/"+from+"/_update_by_query"+options, all)
		}
		for _, to := range writing {
			if to == "mine-new" || from == "mine-1" || from == "mixed" {
				add("POST", "/_reindex", `{"conflicts":"proceed","source":{"index":%q},"dest":{"index":%q}}`, from, to)
			}
		}
		add("POST", "/_reindex", `{"source":{"index":["mine-1",%q],"_source":["ssn","TOKEN"]},"dest":{"index":"mine-new","op_type":"create"}}`, from)
		add("POST", "/_aliases", `{"actions":[{"add":{"index":%q,"alias":"mine-x"}}]}`, from)
		add("POST", "/_aliases", `{"actions":[{"add":{"indices":["mine-1",%q],"alias":"mine-x","filter":{"match_all":{}}}}]}`, from)
		add("POST", "/_aliases", `{"actions":[{"remove":{"index":%q,"alias":"*"}}]}`, from)
		add("POST", "/_aliases", `{"actions":[{"remove_index":{"index":%q}}]}`, from)
		add("PUT", "/"+from+"/_alias/mine-y", "")
		add("DELETE", "/"+from+"/_alias/*", "")
		add("DELETE", "/"+from+"?expand_wildcards=all", "")
		add("POST", "/_msearch", "{\"index\":%q}\n{}\n{\"index\":[\"mine-1\",%[1]q],\"expand_wildcards\":\"all\"}\n{\"sort\":\"_doc\"}\n", from)
		add("POST", "/_mget", `{"docs":[{"_index":%q,"_id":"1"},{"_index":"mine-1","_id":"1"}]}`, from)
	}
	for _, to := range writing {
		add("PUT", "/"+to+"/_doc/1", `{"dept":"x"}`)
		add("POST", "/"+to+"/_update/1", `{"doc":{"dept":"x"},"_source":true}`)
		add("DELETE", "/"+to+"/_doc/1", "")
		add("PUT", "/"+to, `{"aliases":{"mine-z":{}}}`)
		add("PUT", "/mine-made", `{"aliases":{%q:{}}}`, to)
		add("POST", "/_aliases", `{"actions":[{"add":{"index":"mine-1","alias":%q}},{"remove":{"index":"mine-1","alias":%[1]q}}]}`, to)
		for _, op := range []string{"index", "create", "update", "delete"} {
			doc := map[string]string{"update": "{\"doc\":{\"dept\":\"x\"}}\n", "delete": ""}[op]
			if op == "index" || op == "create" {
				doc = "{\"dept\":\"x\"}\n"
			}
			add("POST", "/_bulk", "{%q:{\"_index\":%q,\"_id\":\"1\"}}\n%s{\"index\":{\"_index\":\"mine-1\",\"_id\":\"5\"}}\n{}\n", op, to, doc)
		}
	}
	for _, q := range []string{
		`{"terms":{"list":{"index":"secret-1","id":"0","path":"list"}}}`, `{"more_like_this":{"fields":["ssn"],"like":[{"_index":"secret-1","_id":"0"}],"min_term_freq":1,"min_doc_freq":1}}`,
		`{"percolate":{"field":"q","index":"secret-1","id":"0"}}`, `{"bool":{"must_not":{"terms":{"_index":["mine-1"]}}}}`, `{"script":{"script":"true"}}`, `{"wrapper":{"query":"eyJtYXRjaF9hbGwiOnt9fQ=="}}`,
	} {
		for _, from := range []string{"mine-1", "mine-part", "mixed", "hr", "mine*"} {
			add("POST", "/"+from+"/_delete_by_query", `{"query":%s}`, q)
			add("POST", "/_reindex", `{"source":{"index":%q,"query":%s},"dest":{"index":"mine-new"}}`, from, q)
		}
	}
	for _, body := range []string{
		`{"source":{"index":"mine-1"},"dest":{"index":"mine-new","index":"secret-1"}}`, `{"source":{"index":"mine-1","index":"secret-1"},"dest":{"index":"mine-new"}}`,
		`{"source":{"index":"mine-1"},"source":{"index":"secret-1"},"dest":{"index":"mine-new"}}`, `{"source":{"index":"mine-1","remote":{"host":"http://127.0.0.1:9200"}},"dest":{"index":"mine-new"}}`,
		`{"source":{"index":"mine-1"},"dest":{"index":"mine-new"},"script":{"source":"ctx._index='secret-1'"}}`, `{"source":{"\u0069ndex":"secret-1","index":"mine-1"},"dest":{"index":"mine-new"}}`,
		`{"source":{"index":"mine-1"},"dest":{"index":"mine-new","pipeline":"p"}}`, `{"source":{"index":"mine-1","type":"_doc"},"dest":{"index":"mine-new"}}`,
	} {
		add("POST", "/_reindex", "%s", body)
	}
	for _, path := range []string{
		"/mine-1/_doc/_delete_by_query", "/mine-1/_doc/_update_by_query", "/mine-1/_doc/_search", "/mine-1/_doc/..%2f..%2fsecret-1", "/mine-1%2c%73ecret-1/_delete_by_query", "/mine-1%2Fsecret-1/_delete_by_query",
		"/mine-1/_delete_by_query?wait_for_completion=false", "/mine-1/_delete_by_query?index=secret-1", "/mine-1/_delete_by_query?source=%7B%7D&source_content_type=application/json", "/_delete_by_query", "//_delete_by_query",
		"/mine-1/_delete_by_query/_rethrottle", "/_delete_by_query/x:1/_rethrottle?requests_per_second=1", "/_tasks/_cancel", "/mine-1/_update_by_query?pipeline=p", "/mine-1/_update_by_query?slices=auto&max_docs=1",
		"/mine-1/_clone/mine-c", "/secret-1/_clone/mine-c", "/mine-vault/_split/mine-c", "/mine-al/_rollover/secret-2", "/secret-1/_close", "/mine-vault/_close",
	} {
		add("POST", path, all)
	}
	return list
}

// TestWritesStayInside plays all of them: no attempt changes what is of others, shows it, or
// brings any of it into what is the writer's.
func TestWritesStayInside(t *testing.T) {
	for _, w := range []struct {
		kind testbed.Kind
		by   string
	}{{testbed.OpenSearch, "v4"}, {testbed.ES710, "legacy"}} {
		t.Run(fmt.Sprint(w.kind, w.by), func(t *testing.T) {
			node := testbed.Cluster(t, w.kind)
			writerWorld(t, node)
			guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, writerPolicy(t, w.by)), Upstream: node.URL, Config: writerGuard})
			playWriter(t, node, guard)
		})
	}
}

func playWriter(t *testing.T, node *testbed.Node, guard *guardproc.Proc) {
	node.Must(t, "POST", "/_refresh", "")
	before, done := foreign(t, node), map[int]int{}
	for _, a := range writerAttempts() {
		res := ask(t, guard, "writer", a.method, a.path, a.body)
		done[res.Status]++
		what := fmt.Sprintf("%s %s %s (%d)", a.method, a.path, a.body, res.Status)
		if strings.Contains(string(res.Body), "TOKEN-") && !strings.Contains(a.body, "TOKEN-") {
			t.Errorf("%s shows what is hidden: %.300s", what, res.Body)
		}
		if res.Status >= 500 && res.Status != 501 {
			t.Errorf("%s: %.300s", what, res.Body)
		}
		if a.method == "GET" || res.Status >= 300 && res.Status != 409 {
			continue // seen with the next one that does something
		}
		node.Must(t, "POST", "/_refresh", "")
		own := node.Must(t, "GET", "/mine*,-mine-vault,-mine-sys,-mine-to-*/_search?size=100", "")
		if strings.Contains(string(own.Body), "TOKEN-") {
			t.Fatalf("%s brought what is hidden into an index of the writer: %s", what, own.Body)
		}
		if after := foreign(t, node); after != before {
			t.Fatalf("%s, or what was refused before it, changed what is of others:\n%s\n%s", what, before, after)
		}
		restoreWriter(t, node)
	}
	if done[200] < 100 || done[403] < 100 {
		t.Errorf("the attempts ended with %v; want many that were made, and many that were refused", done)
	}
}
