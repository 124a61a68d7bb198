package testbed_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/test/testbed"
)

// modules are those that every kind must have loaded.
var modules = []string{
	"aggs-matrix-stats", "analysis-common", "ingest-common", "lang-expression", "lang-mustache", "lang-painless", "mapper-extras",
	"parent-join", "percolator", "rank-eval", "reindex", "transport-netty4",
}

// The shared node is of the kind that most tests want; it ends with the test binary.
func TestCluster(t *testing.T) {
	node := testbed.Cluster(t, testbed.OpenSearch)
	if again := testbed.Cluster(t, testbed.OpenSearch); again != node {
		t.Errorf("two nodes for one kind: %s and %s", node.URL, again.URL)
	}
	check(t, node, "2.19.4", "geo")
}

// Each kind is stopped before the next one starts, and shows an option on the way: nodes are what costs here.
func TestKinds(t *testing.T) {
	f := func(o testbed.Options, version string, also func(*testing.T, *testbed.Node), plus ...string) {
		t.Helper()
		t.Run(string(o.Kind), func(t *testing.T) {
			node := testbed.Own(t, o)
			check(t, node, version, plus...)
			also(t, node)
		})
	}
	port := freePort(t)
	f(testbed.Options{
		Kind: testbed.ES710, Port: port, Heap: "400m", FullSpeed: true,
		Settings: map[string]string{"node.attr.testattr": "test", "cluster.name": "mine"},
	}, "7.10.2", func(t *testing.T, node *testbed.Node) {
		checkOptions(t, node, port)
		checkStop(t, node)
	})
	f(testbed.Options{Kind: testbed.OpenSearch3}, "3.4.0", checkStop, "geo")
	f(testbed.Options{Kind: testbed.Secured, SecurityConfig: writeFolder(t, nil)}, "2.19.4", checkPolicy, "geo", "opensearch-security")
	f(testbed.Options{Kind: testbed.Secured3}, "3.4.0", checkDenies, "geo", "opensearch-security")
}

// check checks what is wanted of every kind.
func check(t *testing.T, node *testbed.Node, version string, plus ...string) {
	t.Helper()
	checkVersion(t, node, version)
	checkModules(t, node, append(plus, modules...))
	checkLanguages(t, node)
	checkReset(t, node)
}

func checkVersion(t *testing.T, node *testbed.Node, want string) {
	t.Helper()
	var root struct{ Version struct{ Number string } }
	decode(t, node.Must(t, "GET", "/", ""), &root)
	if root.Version.Number != want || node.Version != want {
		t.Errorf("version %q, told as %q; want %q", root.Version.Number, node.Version, want)
	}
}

func checkModules(t *testing.T, node *testbed.Node, want []string) {
	t.Helper()
	type named struct{ Name string }
	var info struct {
		Nodes map[string]struct{ Modules, Plugins []named }
	}
	decode(t, node.Must(t, "GET", "/_nodes/plugins", ""), &info)
	var got []string
	for _, n := range info.Nodes {
		for _, m := range append(n.Modules, n.Plugins...) {
			got = append(got, m.Name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("module %s is not loaded; loaded are %v", name, got)
		}
	}
}

// checkLanguages runs each script language and an analyzer of analysis-common once.
func checkLanguages(t *testing.T, node *testbed.Node) {
	t.Helper()
	node.Must(t, "PUT", "/languages/_doc/1?refresh=true", `{"n":20,"text":"running foxes"}`)
	f := func(request, body, want string) {
		t.Helper()
		method, path, _ := strings.Cut(request, " ")
		res := node.Must(t, method, path, body)
		if !strings.Contains(string(res.Body), want) {
			t.Errorf("%s answers %s; want %s in it", request, res.Body, want)
		}
	}
	f("POST /languages/_search", `{"script_fields":{"f":{"script":{"lang":"painless","source":"doc['n'].value + params.m","params":{"m":22}}}}}`, `"f":[42]`)
	f("POST /languages/_search", `{"script_fields":{"f":{"script":{"lang":"expression","source":"doc['n'].value * 2"}}}}`, `"f":[40.0]`)
	f("POST /_render/template", `{"source":{"size":"{{size}}"},"params":{"size":7}}`, `"size":"7"`)
	f("POST /_analyze", `{"tokenizer":"standard","filter":["porter_stem"],"text":"running"}`, `"token":"run"`)
	f("POST /_reindex?refresh=true", `{"source":{"index":"languages"},"dest":{"index":"copied"}}`, `"created":1`)
	f("PUT /joined", `{"mappings":{"properties":{"j":{"type":"join","relations":{"q":"a"}},"p":{"type":"percolator"}}}}`, `"acknowledged":true`)
}

// checkReset leaves one of everything behind and wants nothing of it back.
func checkReset(t *testing.T, node *testbed.Node) {
	t.Helper()
	put := func(path, body string) {
		t.Helper()
		node.Must(t, "PUT", path, body)
	}
	put("/_component_template/part", `{"template":{"settings":{"number_of_replicas":0}}}`)
	put("/_index_template/composed", `{"index_patterns":["composed-*"],"composed_of":["part"]}`)
	put("/_template/old", `{"index_patterns":["old-*"]}`)
	put("/some-index", `{"aliases":{"some-alias":{}}}`)
	put("/.hidden", `{"settings":{"index.hidden":true}}`)
	put("/%3Cdated-%7Bnow%2Fd%7D%3E", "")
	node.Must(t, "POST", "/some-index/_close", "")
	put("/_ingest/pipeline/in", `{"processors":[{"set":{"field":"a","value":1}}]}`)
	put("/_scripts/half", `{"script":{"lang":"painless","source":"1"}}`)
	put("/_snapshot/store", `{"type":"fs","settings":{"location":"store"}}`)
	put("/_cluster/settings", `{"persistent":{"search.max_buckets":1000}}`)
	if node.Kind != testbed.ES710 { // its data streams are no part of the Apache-2.0 build
		put("/_index_template/streams", `{"index_patterns":["stream-*"],"data_stream":{}}`)
		put("/_data_stream/stream-1", "")
		put("/_search/pipeline/out", `{"request_processors":[]}`)
	}
	if err := node.Reset(); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, node)
	if err := node.Reset(); err != nil {
		t.Errorf("reset of an empty cluster: %v", err)
	}
}

// checkEmpty compares what the cluster's own lists show with nothing.
func checkEmpty(t *testing.T, node *testbed.Node) {
	t.Helper()
	f := func(path, want string) {
		t.Helper()
		res, err := node.Do("GET", path, "") // 404 is how some lists say that they are empty
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, strings.TrimSpace(string(res.Body))); diff != "" {
			t.Errorf("GET %s after reset (-want +got):\n%s", path, diff)
		}
	}
	indices := ""
	if node.User != "" {
		indices = ".opendistro_security"
	}
	f("/_cat/indices?h=index&expand_wildcards=all", indices)
	f("/_cat/aliases?h=alias&expand_wildcards=all", "")
	f("/_index_template", `{"index_templates":[]}`)
	f("/_component_template", `{"component_templates":[]}`)
	f("/_template", `{}`)
	f("/_ingest/pipeline", `{}`)
	f("/_snapshot/_all", `{}`)
	f("/_cluster/settings", `{"persistent":{},"transient":{}}`)
	f("/_scripts/half", `{"_id":"half","found":false}`)
	if node.Kind != testbed.ES710 {
		f("/_data_stream", `{"data_streams":[]}`)
		f("/_search/pipeline", `{}`)
	}
}

func checkDenies(t *testing.T, node *testbed.Node) {
	t.Helper()
	f := func(user, password string, want int) {
		t.Helper()
		res, err := node.As(user, password).Do("GET", "/_search", "")
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != want {
			t.Errorf("search as %q: status %d; want %d: %s", user, res.Status, want, res.Body)
		}
	}
	f("", "", http.StatusUnauthorized)
	f(testbed.AdminUser, "wrong", http.StatusUnauthorized)
	f(testbed.AdminUser, testbed.AdminPassword, http.StatusOK)
}

func decode(t *testing.T, res testbed.Response, into any) {
	t.Helper()
	if err := json.Unmarshal(res.Body, into); err != nil {
		t.Fatalf("cannot read %s: %v", res.Body, err)
	}
}
