package gate

import (
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// TestSplitAliasOfSystemIndex holds that a pattern is not forwarded where it means more to
// the cluster than to the principal: an alias of which a system index alone is open.
func TestSplitAliasOfSystemIndex(t *testing.T) {
	in := []indexresolver.Membership{{Alias: "aconf"}}
	s := worldBy(t, config.EvaluationV4, `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["a*"], allowed_actions: ["*"]}
`, []indexresolver.Index{{Name: "a1"}, {Name: "b1", Closed: true, Aliases: in}, {Name: ".opendistro_security", Aliases: in}})
	const want = "GET /a1/_search?ignore_unavailable=true" // once: GET /a*/_search
	if got := gist(t, planFor(t, s, "GET", "/a*/_search", "")); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestMissingNameUnderRule holds that a name that is missing finds nothing if it comes to
// be an alias: which rules would bind its indices is not known.
func TestMissingNameUnderRule(t *testing.T) {
	const role = `  cluster_permissions: ["cluster:monitor/*"]
  index_permissions:
    - {index_patterns: ["*"], allowed_actions: ["*"]}
`
	f := func(role, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, worldWith(t, role, staff()), "GET", target, body)); got != want {
			t.Errorf("%s %s:\n%s\nwant\n%s", target, body, got, want)
		}
	}
	const ruled = role + `    - {index_patterns: ["hr"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
`
	const fielded = role + `    - {index_patterns: ["hr"], fls: ["dept"], allowed_actions: ["*"]}
`
	const nothing = `{"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"match_none":{}}]}}}`
	const secretAlone = `{"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["secret"]}}]}}]}}}`
	f(role, "/nosuch/_search", "", "GET /nosuch/_search")
	f(ruled, "/secret/_search", "", "GET /secret/_search")
	f(ruled, "/nosuch/_search", "", "GET /nosuch/_search | "+nothing)
	f(fielded, "/nosuch,secret/_search", "", "GET /nosuch,secret/_search | "+secretAlone)

	// A document is not looked for there.
	f(role, "/nosuch/_doc/1", "", "GET /nosuch/_doc/1")
	f(ruled, "/secret/_source/1", "", "GET /secret/_source/1")
	f(ruled, "/nosuch/_doc/1", "", "reject 404 not_found: no such index [nosuch]")
	f(fielded, "/nosuch/_source/1", "", "reject 404 not_found: no such index [nosuch]")

	// What no filter binds is asked of names that exist.
	const global = `{"aggs":{"g":{"global":{}}}}`
	f(ruled, "/secret/_search", global, "GET /secret/_search | "+global)
	f(ruled, "/nosuch/_search", global, "reject 404 not_found: no such index [nosuch]")
	f(ruled, "/nosuch/_search?ignore_unavailable=true", global, "GET /.none*,-*/_search?ignore_unavailable=true | "+global)
	f(ruled, "/nosuch,secret/_search?ignore_unavailable=true", global, "GET /secret/_search?ignore_unavailable=true | "+global)
}

// TestSystemIndexBehindAlias holds that an alias of a system index stays refused where an
// exclusion makes what is not granted count as not there: it is no name that is missing.
func TestSystemIndexBehindAlias(t *testing.T) {
	s := worldBy(t, config.EvaluationV4, `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["a*"], allowed_actions: ["*"]}
`, []indexresolver.Index{
		{Name: "a1"}, {Name: ".opendistro_security", Aliases: []indexresolver.Membership{{Alias: "aconf"}}},
	})
	f := func(target, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "GET", target, "")); got != want {
			t.Errorf("%s: %s; want %s", target, got, want)
		}
	}
	f("/aconf/_search", "reject 403 no_privilege: no permissions for [system:admin/system_index] and User [name=u, backend_roles=[], requestedTenant=null] on [aconf]")
	f("/aconf,a*/_search", "GET /a1/_search?ignore_unavailable=true")
	f("/aconf,b*,-b1/_search", "GET /.none*,-*/_search")
	f("/aconf,a*,-a2/_search", "reject 404 not_found: no such index [a2]")
	f("/aconf,a*,-a2/_search?ignore_unavailable=true", "GET /a1/_search?ignore_unavailable=true")
}
