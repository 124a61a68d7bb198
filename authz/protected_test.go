package authz

import (
	"testing"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// TestProtectedIndices holds that privileges are not enough for a protected index: it takes
// one of the roles that are named for it.
func TestProtectedIndices(t *testing.T) {
	everything := config.Role{ClusterPermissions: []string{"*"}, IndexPermissions: []config.IndexPermission{{IndexPatterns: []string{"*"}, AllowedActions: []string{"*"}}}}
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		sec := &config.Security{Roles: map[string]config.Role{"all": everything, "keeper": {}}}
		sec.Dynamic.SetDefaults()
		sec.Dynamic.PrivilegesEvaluationType, sec.Dynamic.DoNotFailOnForbidden = by, true
		p := compile(t, sec, config.Policy{ProtectedIndices: config.ProtectedIndices{Enabled: true, Indices: []string{"vault*"}, Roles: []string{"keep*"}}})
		c := none{}
		f := func(who *ask.Principal, want Effect, left int, targets ...ask.Target) {
			t.Helper()
			d := p.Decide(who, c, ask.Part{Privileges: on("indices:data/read/search"), Exprs: exprs("x"), Opts: names.Options{AllowNoIndices: true}}, ask.Resolved{Targets: targets}, noon)
			if d.Effect != want || len(d.Allowed) != left {
				t.Errorf("%s: %v of %v: effect %v, %v; want effect %v and %d names", by, who.Roles, targets, d.Effect, d.Allowed, want, left)
			}
		}
		index := func(name string, wildcard bool) ask.Target {
			return ask.Target{Name: name, Kind: ask.Index, Members: []string{name}, Wildcard: wildcard}
		}
		some, keeper, mapped := as("anna", "all"), as("ben", "all", "keeper"), as("cat", "all", "keeps")
		f(some, Deny, 0, index("vault-1", false))
		f(some, Allow, 1, index("pub", true), index("vault-1", true))
		f(some, Allow, 1, index("pub", false))
		f(keeper, Allow, 1, index("vault-1", false))
		f(mapped, Allow, 1, index("vault-1", false)) // a name that only a mapping gives
		f(keeper, Allow, 2, index("pub", true), index("vault-1", true))
		f(some, Deny, 0, ask.Target{Name: "al", Kind: ask.Alias, Members: []string{"vault-1"}})
		for pattern, covered := range map[string]bool{"pub*": true, "*": false, "v*": false, "vault-1": false} {
			if _, ok := p.Covers(some, on("indices:data/read/search"), names.MustParsePattern(pattern), noon); ok != covered {
				t.Errorf("%s: %s is covered: %v; want %v", by, pattern, ok, covered)
			}
			if _, ok := p.Covers(keeper, on("indices:data/read/search"), names.MustParsePattern(pattern), noon); !ok && pattern != "*" { // that one may reach the security index
				t.Errorf("%s: %s is not covered for who may touch protected indices", by, pattern)
			}
		}
		for roles, want := range map[string]bool{"all": false, "all keeper": true} {
			id := ask.Identity{Name: "u", SecurityRoles: []string{"all"}}
			if roles != "all" {
				id.SecurityRoles = append(id.SecurityRoles, "keeper")
			}
			if got := p.Principal(id).Unrestricted; got != want {
				t.Errorf("%s: with %s unrestricted is %v; want %v", by, roles, got, want)
			}
		}
	}
}
