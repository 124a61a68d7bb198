package gate

import (
	"testing"

	"guard/config"
	"guard/indexresolver"
)

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
	f("/aconf,a*,-a2/_search", "GET /a1/_search?ignore_unavailable=true")
}
