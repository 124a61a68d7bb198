package gate

import (
	"strings"
	"testing"

	"guard/indexresolver"
	"guard/internal/ask"
)

// someRole grants reads on logs-a* and hr, and everything on x*.
const someRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["logs-a*", hr, stream], allowed_actions: [read, "indices:admin/get", "indices:admin/mappings/get", "indices:admin/aliases/get", "indices:admin/resolve/index", "indices:admin/refresh*", "indices:monitor/*"]}
    - {index_patterns: ["x*"], allowed_actions: ["*"]}
`

func withStream() ([]indexresolver.Index, indexresolver.DataStream) {
	return append(staff(), indexresolver.Index{Name: ".ds-stream-1", Hidden: true, Mapping: []byte(`{"properties":{"m":{"type":"text"}}}`)}),
		indexresolver.DataStream{Name: "stream", Indices: []string{".ds-stream-1"}}
}

// TestOddGrants holds that no pattern of a role goes to the cluster in the place of a wildcard
// that means something else there than here: other clusters, exclusions, or several names.
func TestOddGrants(t *testing.T) {
	indices := []indexresolver.Index{{Name: "logs-a-1"}, {Name: "logs-b-1"}, {Name: "secret"}}
	for _, odd := range []string{"*:logs-*", "far:*", "-logs-b*", "x,logs-b*", "<logs-*", "a b*", "_x*", "a/b*"} {
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions: [{index_patterns: [\"logs-a*\", \""+odd+"\"], allowed_actions: [\"*\"]}]\n", indices)
		for _, target := range []string{"/*/_search", "/_search", "/l*/_search", "/*/_delete_by_query"} {
			method, body := "GET", ""
			if strings.HasSuffix(target, "_delete_by_query") {
				method, body = "POST", `{"query":{"match_all":{}}}`
			}
			out := planFor(t, s, method, target, body)
			if out.Kind == Forward && !strings.HasPrefix(out.Forward.Target, "/logs-a*/") {
				t.Errorf("%s under %q: %s; want logs-a*", target, odd, gist(t, out))
			}
		}
	}
	// Nor does a user's name become that of a cluster.
	s := worldWith(t, "  cluster_permissions: ['*']\n  index_permissions: [{index_patterns: ['${user.name}*'], allowed_actions: ['*']}]\n", indices)
	who := &ask.Principal{Identity: ask.Identity{Name: "far:"}, Roles: []string{"u"}}
	if out := s.Plan(who, requestFor(t, "GET", "/far:logs-a/_search", ""), Known{Fresh: true}); out.Kind == Forward {
		t.Errorf("the user [far:] reads another cluster: %s", gist(t, out))
	}
}

// TestForwardedNames holds in which form names reach the cluster (law 3).
func TestForwardedNames(t *testing.T) {
	indices, stream := withStream()
	s := worldWith(t, someRole, indices, stream)
	f := func(target, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "GET", target, "")); got != want {
			t.Errorf("GET %s: %s; want %s", target, got, want)
		}
	}
	denied := func(target string) {
		t.Helper()
		if out := planFor(t, s, "GET", target, ""); out.Kind != Reject || out.Rejection.Status.Code() != 403 {
			t.Errorf("GET %s: %s; want a refusal", target, gist(t, out))
		}
	}
	// Literal names, whether they exist or not.
	f("/hr/_search", "GET /hr/_search")
	f("/xnew/_search", "GET /xnew/_search")
	f("/hr,xnew/_search?ignore_unavailable=true", "GET /hr,xnew/_search?ignore_unavailable=true")
	denied("/secret/_search")
	denied("/nosuch/_search")
	f("/hr,secret/_search", "GET /hr/_search")

	// Wildcards: as they are where everything that they could match is granted.
	f("/logs-a*/_search", "GET /logs-a*/_search")
	f("/x*/_search", "GET /.none*,-*/_search")
	// Else as what of them is granted, if a pattern says that and nothing else.
	f("/logs-*/_search", "GET /logs-a*/_search")
	f("/l*,x*-1/_search", "GET /logs-a*,x*-1/_search")
	f("/*a-*/_search", "GET /logs-a-1,logs-a-2/_search?ignore_unavailable=true") // what two such have in common is no pattern
	f("/logs-*/_search?allow_no_indices=false", "GET /logs-a-1,logs-a-2/_search?allow_no_indices=false&ignore_unavailable=true")
	f("/logs-*,hr/_search", "GET /hr,logs-a-1,logs-a-2/_search")
	f("/_all/_search", "GET /.ds-stream-1,hr,logs-a-1,logs-a-2/_search?ignore_unavailable=true")
	f("/s*/_search", "GET /hr,stream/_search?ignore_unavailable=true")
	f("/nosuch*/_search", "GET /.none*,-*/_search")
	f("/b*/_search?expand_wildcards=all", "GET /.none*,-*/_search?expand_wildcards=open")

	// An exclusion only narrows.
	f("/logs-a*,-logs-a-1/_search", "GET /logs-a-2/_search?ignore_unavailable=true")
	f("/logs-a*,-secret/_search", "GET /logs-a-1,logs-a-2/_search?ignore_unavailable=true")

	// Aliases are their indices, but for those with a filter.
	f("/staff/_search", "GET /hr/_search")
	// Its filter hides documents. Not its name is granted but its index, so it is bound to that.
	f("/eng/_search", `GET /eng/_search?pre_filter_shard_size=1000000 | {"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["hr"]}}]}}]}}}`)
	f("/logs-a/_search", "GET /logs-a-1,logs-a-2/_search")
	f("/e*,-eng/_search", "GET /hr/_search?ignore_unavailable=true") // with the name goes the filter, as in the clusters
	f("/e*,h*,-eng/_search", "GET /hr/_search?ignore_unavailable=true")
	f("/stream/_search", "GET /stream/_search")
	f("/.ds-stream-1/_search", "GET /.ds-stream-1/_search")

	// Date math is computed once, by guard.
	f("/%3Cx-%7Bnow%2Fd%7D%3E/_search", "GET /x-2026.11.30/_search")

	// Words of the URL that say how names are read stay as they were, or say what is forwarded.
	f("/hr/_search?expand_wildcards=all&allow_no_indices=false", "GET /hr/_search?expand_wildcards=all&allow_no_indices=false")
	f("/logs-*/_search?ignore_unavailable=false", "GET /logs-a*/_search?ignore_unavailable=false")
	f("/l*1/_search", "GET /logs-a*1/_search")
	f("/nosuch*/_search?expand_wildcards=none", "GET /.none*,-*/_search?expand_wildcards=open")
}

// TestNothingLeft holds that no name at all is never an empty list: the endpoint's own
// empty answer, or its own 404.
func TestNothingLeft(t *testing.T) {
	indices, stream := withStream()
	s := worldWith(t, someRole, indices, stream)
	f := func(method, target, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, "")); got != want {
			t.Errorf("%s %s: %s; want %s", method, target, got, want)
		}
	}
	f("GET", "/none*/_search", "GET /.none*,-*/_search")
	f("GET", "/none*/_count", "GET /.none*,-*/_count")
	f("GET", "/sec*/_search", "reject 403 no_privilege: "+none("indices:data/read/search", "sec*"))
	f("GET", "/sec*/_mapping", "reject 403 no_privilege: "+none("indices:admin/mappings/get", "sec*"))
	f("GET", "/none*/_mapping", "GET /.none*,-*/_mapping")
	f("GET", "/none*/_alias", "GET /.none*,-*/_alias?expand_wildcards=open")
	f("GET", "/_cat/indices/none*", "GET /_cat/indices/.none*,-*?expand_wildcards=open")
	f("GET", "/_resolve/index/none*", "GET /_resolve/index/.none*,-*")
	f("HEAD", "/none*", "HEAD /.none*,-*")
	f("DELETE", "/none*", "DELETE /.none*,-*?expand_wildcards=open")
	f("GET", "/none*/_search?allow_no_indices=false", "reject 404 not_found: no such index [none*]")
	f("GET", "/_cluster/health/none*", "reject 404 not_found: no such index [none*]")
}

func none(action, on string) string {
	return "no permissions for [" + action + "] and User [name=u, backend_roles=[], requestedTenant=null] on [" + on + "]"
}

// TestLongLists holds that a list of names is never cut: a search travels as a
// multi-search, whatever cannot is refused.
func TestLongLists(t *testing.T) {
	var many []indexresolver.Index
	for _, c := range "abcdefghijklmnop" {
		many = append(many, indexresolver.Index{Name: "logs-a-with-quite-a-long-name-" + string(c) + strings.Repeat("x", 20)})
	}
	many = append(many, indexresolver.Index{Name: "logs-b"})
	s := worldWith(t, strings.Replace(someRole, `"logs-a*"`, `"/logs-a.*/"`, 1), many) // an expression is never forwarded
	f := func(target, body string, want ...string) {
		t.Helper()
		got := gist(t, planFor(t, s, "GET", target, body))
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("GET %s: %s; want %s in it", target, got, w)
			}
		}
	}
	last := `"` + many[15].Name + `"]`
	f("/logs-*/_search", "", "POST /_msearch | ", last+`,"ignore_unavailable":true,"allow_no_indices":true,"expand_wildcards":"open"} | {}`)
	f("/logs-*/_search?preference=p&routing=r&typed_keys=true&rest_total_hits_as_int=true", `{"size":1}`,
		"POST /_msearch?typed_keys=true&rest_total_hits_as_int=true | ", `"preference":"p","routing":"r"} | {"size":1}`)
	f("/logs-*/_search?allow_no_indices=false", "", `"allow_no_indices":false`)
	const tooLong = "reject 400 too_large: the names behind this request do not fit"
	f("/logs-*/_search?size=1", "", tooLong)
	f("/logs-*/_count", "", tooLong)
	f("/logs-*/_field_caps?fields=a", "", tooLong)
	f("/_cat/indices/logs-*", "", tooLong)
	// The treatment knows that the answer is wrapped.
	if out := planFor(t, s, "GET", "/logs-*/_search", ""); out.Forward.Treat == nil {
		t.Error("a carried search without a treatment; want its answer unwrapped")
	}
}

// TestHealthOfNames holds that the health of an index is told to those who may see it.
func TestHealthOfNames(t *testing.T) {
	s := worldWith(t, someRole, staff())
	f := func(target, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "GET", target, "")); got != want {
			t.Errorf("GET %s: %s; want %s", target, got, want)
		}
	}
	f("/_cluster/health", "GET /_cluster/health")
	f("/_cluster/health?wait_for_status=green", "GET /_cluster/health?wait_for_status=green")
	f("/_cluster/health/hr", "GET /_cluster/health/hr")
	f("/_cluster/health/staff", "GET /_cluster/health/hr")
	f("/_cluster/health/hr,secret", "GET /_cluster/health/hr")
	f("/_cluster/health/*", "GET /_cluster/health/hr,logs-a-1,logs-a-2")
	f("/_cluster/health/secret", "reject 403 no_privilege: "+none("indices:monitor/stats", "secret"))
	f("/_cluster/health?level=shards", "reject 403 not_built: parameter [level] with a value other than cluster is not supported yet for users who do not hold every privilege")
}

// TestNeedsNewerState holds that a name which the state lacks is looked for once, by
// every kind of request that waits for it.
func TestNeedsNewerState(t *testing.T) {
	s := worldWith(t, someRole, staff())
	who := s.Principal(ask.Identity{Name: "u"})
	f := func(method, target, body string, want bool) {
		t.Helper()
		out := s.Plan(who, requestFor(t, method, target, body), Known{})
		if got := out.Kind == Need && out.NeedState; got != want {
			t.Errorf("%s %s: kind %d, needs newer state %v; want %v", method, target, out.Kind, got, want)
		}
	}
	f("GET", "/xnew/_search", "", true)
	// What is not granted is refused at once: neither verdict nor time depend on what exists.
	f("GET", "/secret,nosuch/_search", "", false)
	f("GET", "/nosuch/_search", "", false)
	f("GET", "/secret/_search", "", false)
	f("GET", "/hr/_search", "", false)
	f("GET", "/new*/_search", "", false)
	f("PUT", "/xnew/_doc/1", `{"a":1}`, true)
	f("GET", "/_mget", `{"docs":[{"_index":"xnew","_id":"1"}]}`, true)
	f("GET", "/_msearch", "{\"index\":\"xnew\"}\n{}\n", true)
	f("GET", "/_cluster/health/xnew", "", true)
}

// TestUnfiltered holds what a search becomes that leaves its query behind where no rule
// hides a document: the names of indices, which can come to mean no other, need no
// filter. An alias with a filter hides documents, and a document rule does anywhere.
func TestUnfiltered(t *testing.T) {
	const (
		global   = `{"aggs":{"g":{"global":{}}}}`
		few      = `{"aggs":{"m":{"terms":{"field":"msg","min_doc_count":0}}}}`
		like     = `{"query":{"more_like_this":{"fields":["msg"],"like":"x"}}}`
		children = `{"aggs":{"c":{"children":{"type":"x"}}}}`
		shown    = `"_source":{"excludes":["level"]}}`
	)
	indices, stream := withStream()
	f := func(entries, target, body, want string) {
		t.Helper()
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n"+entries, indices, stream)
		if got := gist(t, planFor(t, s, "POST", target, body)); !strings.HasPrefix(got, want) {
			t.Errorf("%s %s: %s; want %s", target, body, got, want)
		}
	}
	const logs = `    - {index_patterns: ["logs-*"], fls: ["~level"], allowed_actions: ["*"]}` + "\n"
	f(logs, "/logs-*/_search", global, `POST /logs-a-1,logs-a-2,logs-b-1/_search?ignore_unavailable=true | {"aggs":{"g":{"global":{}}},`+shown)
	f(logs, "/logs-b*/_search", few, `POST /logs-b-1/_search?ignore_unavailable=true | {"aggs":{"m":{"terms":{"field":"msg","min_doc_count":0}}},`+shown)
	f(logs, "/logs-*/_count", like, `POST /logs-a-1,logs-a-2,logs-b-1/_count?ignore_unavailable=true | `+like)
	f(logs, "/logs-*/_search?pre_filter_shard_size=1", "", `POST /logs-a-1,logs-a-2,logs-b-1/_search?pre_filter_shard_size=1&ignore_unavailable=true | {`)
	f(logs, "/logs-*/_field_caps?fields=*", `{"index_filter":`+like[len(`{"query":`):], `POST /logs-*/_field_caps?fields=* | {"index_filter":{"more_like_this":`)
	f(logs, "/_msearch", "{\"index\":\"logs-*\"}\n"+global+"\n{\"index\":\"logs-*\"}\n{}\n",
		`POST /_msearch | {"index":["logs-a-1","logs-a-2","logs-b-1"],"ignore_unavailable":true,"allow_no_indices":true,"expand_wildcards":"open"} | {"aggs":{"g":{"global":{}}},`+shown+` | {"index":["logs-*"],`)
	f(logs, "/logs-*/_search", `{"size":1}`, `POST /logs-*/_search | {"size":1,"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["logs-a-1","logs-a-2","logs-b-1"]}}]}}]}}`)
	f(logs, "/logs-*/_search", children, `reject 403 restricted: [children] at aggs.c.children is refused: the join field may be hidden; joins under a rule are not built yet (under a field rule)`)

	// A rule on other indices has the names bound as well.
	const other = `    - {index_patterns: [secret], dls: '{"term":{"x":"y"}}', allowed_actions: ["*"]}` + "\n"
	const free = `    - {index_patterns: [stream, eng], allowed_actions: ["*"]}` + "\n"
	f(free+other, "/stream/_search", `{"size":1}`, `POST /stream/_search | {"size":1,"query":`)
	f(free+other, "/stream/_search", global, `POST /.ds-stream-1/_search | `+global)
	f(free+other, "/eng/_search", global, `reject 403 restricted: [global]`)
	f(free+other, "/eng/_search", few, `reject 403 restricted: [min_doc_count]`)
	f(free+other, "/stream,eng/_search", few, `reject 403 restricted: [min_doc_count]`)
	f(strings.Replace(logs, "logs-*", "*", 1), "/e*,h*/_search", global, `POST /hr/_search?pre_filter_shard_size=1000000&ignore_unavailable=true | {"aggs":{"g":{"global":{}}}`) // the index has its own name too
	f(strings.Replace(logs, "logs-*", "*", 1), "/e*/_search", global, `reject 403 restricted: [global]`)
	f(free+other, "/stream,secret/_search", few, `reject 403 restricted: [min_doc_count]`)
	f(strings.Replace(logs, "fls: [\"~level\"]", `dls: '{"term":{"level":"a"}}'`, 1), "/logs-*/_search", global, `reject 403 restricted: [global]`)
}

// TestPatternsUnderARule holds that a pattern of which every name has the same document rule
// goes with the rule alone, however many indices there are: the clusters look up each name of
// a list for _index in each shard. Fields need the mapping, so there documents are bound.
func TestPatternsUnderARule(t *testing.T) {
	f := func(rule, target, want string) {
		t.Helper()
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions: [{index_patterns: [\"logs-a*\"], allowed_actions: [\"*\"], "+rule+"}]\n", staff())
		got := gist(t, planFor(t, s, "GET", target, ""))
		if _, query, _ := strings.Cut(got, `"filter":`); strings.Contains(got, `{"sort"`) || !strings.HasPrefix(query, want) {
			t.Errorf("%s under %s: %s; want %s", target, rule, got, want)
		}
	}
	const rows, fields = `dls: '{"term":{"level":"info"}}'`, `fls: ["~level"]`
	f(rows, "/logs-a*/_search", `[{"term":{"level":"info"}}]}}}`)
	f(rows, "/logs-*/_search", `[{"term":{"level":"info"}}]}}}`)
	f(rows, "/logs-a-1/_search", `[{"term":{"level":"info"}}]}}}`)
	f(fields, "/logs-a*/_search", `[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["logs-a-1","logs-a-2"]}}]}}]`)
}
