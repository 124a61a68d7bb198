package authz

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/internal/ask"
)

const mappingPolicy = `
roles: {r1: {}, r2: {}, r3: {}, own: {}, secret: {}}
mappings:
  r1: {users: ["an*", "bob"]}
  r2: {backend_roles: ["dev*", "ops"]}
  r3: {and_backend_roles: ["hr", "lead-?"]}
  unheard: {users: ["bob"]}
  secret: {hidden: true, users: ["carl"]}
`

func TestPrincipal(t *testing.T) {
	policies := map[config.RoleResolution]*Policy{}
	for _, r := range []config.RoleResolution{"", config.MappingOnly, config.BackendRolesOnly, config.RolesBoth} {
		policies[r] = compile(t, parseSecurity(t, mappingPolicy), config.Policy{RolesMappingResolution: r})
	}
	f := func(resolution config.RoleResolution, id ask.Identity, want ...string) {
		t.Helper()
		got := policies[resolution].Principal(id)
		if diff := cmp.Diff(want, got.Roles); diff != "" {
			t.Errorf("%s: roles of %+v (-want +got):\n%s", resolution, id, diff)
		}
		if got.Unrestricted {
			t.Errorf("%+v is unrestricted", id)
		}
	}
	user := func(name string, backend ...string) ask.Identity {
		return ask.Identity{Name: name, BackendRoles: backend}
	}
	own := func(roles ...string) ask.Identity { return ask.Identity{Name: "x", SecurityRoles: roles} }

	f("", user("anna"), "r1")
	f("", user("bob"), "r1", "unheard") // a name without a role grants nothing
	f("", user("Anna"))                 // case matters
	f("", user("*"))                    // an account called like a pattern is nobody else
	f("", user("x", "developer"), "r2")
	f("", user("x", "ops", "developer"), "r2")
	f("", user("x", "hr"))
	f("", user("x", "hr", "lead-1"), "r3")
	f("", user("x", "r1")) // a backend role is no role
	f("", own("own", "unheard"), "own")
	f("", own("own", "own", "r1"), "own", "r1")
	f("", own("secret"))          // its mapping is hidden
	f("", user("carl"), "secret") // what it maps counts
	f(config.MappingOnly, user("x", "r1"))
	f(config.BackendRolesOnly, user("anna", "r2", "x"), "r2", "x")
	f(config.RolesBoth, user("anna", "ops"), "ops", "r1", "r2")
}

// TestHosts: roles come with the address of the caller, by its shortest form. Who is
// nowhere has none of them, and those who have the same roles are one principal.
func TestHosts(t *testing.T) {
	sec := parseSecurity(t, `
roles: {four: {}, six: {}, exact: {}, all: {}, re: {}, either: {}}
mappings:
  four:   {hosts: ["10.1.*"]}
  six:    {hosts: ["2001:db8:*"]}
  exact:  {hosts: ["192.0.2.7", "::1"]}
  all:    {hosts: ["*"]}
  re:     {hosts: ['/10\.[23]\..*/']}
  either: {users: ["anna"], hosts: ["10.9.9.9"]}
`)
	p := compile(t, sec, config.Policy{})
	f := func(name, address string, want ...string) {
		t.Helper()
		id := ask.Identity{Name: name}
		if address != "" {
			id.Address = netip.MustParseAddr(address)
		}
		who := p.Principal(id)
		if diff := cmp.Diff(want, who.Roles); diff != "" {
			t.Errorf("roles of %s at %q (-want +got):\n%s", name, address, diff)
		}
		if who.Address.IsValid() {
			t.Errorf("the principal of %s is bound to %v", name, who.Address)
		}
	}
	f("bob", "10.1.2.3", "all", "four")
	f("bob", "10.10.1.1", "all")
	f("bob", "::ffff:10.1.2.3", "all", "four") // the same address
	f("bob", "10.2.0.1", "all", "re")
	f("bob", "110.2.0.1", "all") // the whole of it
	f("bob", "192.0.2.7", "all", "exact")
	f("bob", "192.0.2.70", "all")
	f("bob", "2001:DB8:0:0::1", "all", "six")
	f("bob", "0:0::1%lo", "all", "exact")
	f("bob", "10.9.9.9", "all", "either")
	f("anna", "10.1.2.3", "all", "either", "four")
	f("bob", "")
	f("anna", "", "either")

	at := func(address string) *ask.Principal {
		return p.Principal(ask.Identity{Name: "carl", Address: netip.MustParseAddr(address)})
	}
	if at("10.1.0.1") != at("10.1.0.2") || at("10.1.0.1") == at("10.5.0.1") {
		t.Error("principals differ by addresses and not by roles")
	}
	only := compile(t, sec, config.Policy{RolesMappingResolution: config.BackendRolesOnly})
	if who := only.Principal(ask.Identity{Name: "x", Address: netip.MustParseAddr("10.1.2.3")}); len(who.Roles) > 0 {
		t.Errorf("%s gives %q", config.BackendRolesOnly, who.Roles)
	}
}

// TestPrincipalCache holds that two who differ in anything are two, and that the
// same is found again.
func TestPrincipalCache(t *testing.T) {
	p := compile(t, parseSecurity(t, mappingPolicy), config.Policy{})
	list := []ask.Identity{
		{Name: "anna"},
		{Name: "anna", Domain: "ldap"},
		{Name: "anna", BackendRoles: []string{"ab"}},
		{Name: "anna", BackendRoles: []string{"a", "b"}},
		{Name: "anna", SecurityRoles: []string{"a", "b"}},
		{Name: "anna", Attributes: map[string]string{"a": "b"}},
		{Name: "anna", Attributes: map[string]string{"a": "b", "c": "d"}},
		{Name: "anna", Attributes: map[string]string{"a": "b1:c1:d"}},
		{Name: "anna1:a"},
	}
	seen := map[*ask.Principal]int{}
	for i, id := range list {
		who := p.Principal(id)
		if j, ok := seen[who]; ok {
			t.Errorf("%+v and %+v are one principal", list[j], id)
		}
		seen[who] = i
		if again := p.Principal(id); again != who {
			t.Errorf("%+v is not found again", id)
		}
	}
	id := ask.Identity{Name: "dora", BackendRoles: []string{"ops"}, Attributes: map[string]string{"a": "b"}}
	who := p.Principal(id)
	id.BackendRoles[0], id.Attributes["a"] = "hr", "c"
	if who.BackendRoles[0] != "ops" || who.Attributes["a"] != "b" {
		t.Error("the principal changes with the caller's identity")
	}
}

func TestUnrestricted(t *testing.T) {
	const roles = `
roles:
  all:     {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["x", "*"], allowed_actions: ["*"]}]}
  grouped: {cluster_permissions: [unlimited], index_permissions: [{index_patterns: ["*"], allowed_actions: [unlimited]}]}
  cluster: {cluster_permissions: ["*"]}
  indices: {index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}
  data:    {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["indices:*"]}]}
  named:   {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["a*"], allowed_actions: ["*"]}]}
  missing: {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["${attr.none}"], allowed_actions: ["*"]}]}
  rule:    {index_permissions: [{index_patterns: ["nosuch"], fls: ["a"]}]}
  mask:    {index_permissions: [{index_patterns: ["nosuch"], masked_fields: ["a"]}]}
  dls:     {index_permissions: [{index_patterns: ["nosuch"], dls: "{}"}]}
  system:  {index_permissions: [{index_patterns: [".sys*"], allowed_actions: ["system:admin/system_index"]}]}
action_groups: {unlimited: {allowed_actions: ["*"]}}
`
	open := compile(t, parseSecurity(t, roles), config.Policy{})
	guarded := compile(t, parseSecurity(t, roles), config.Policy{SystemIndices: config.SystemIndices{Enabled: true, PermissionEnabled: true, Indices: []string{".sys1*"}}})
	shut := compile(t, parseSecurity(t, roles), config.Policy{SystemIndices: config.SystemIndices{Enabled: true, Indices: []string{".sys1*"}}})
	f := func(p *Policy, want bool, roles ...string) {
		t.Helper()
		if got := p.Principal(ask.Identity{Name: "x", SecurityRoles: roles}).Unrestricted; got != want {
			t.Errorf("%v: got %v; want %v", roles, got, want)
		}
	}
	f(open, true, "all")
	f(open, true, "grouped")
	f(open, true, "cluster", "indices") // roles add up
	f(open, false, "cluster")
	f(open, false, "indices")
	f(open, false, "data")
	f(open, false, "named")
	f(open, false, "missing")
	f(open, false, "all", "rule") // a rule of any role
	f(open, false, "all", "mask")
	f(open, false, "all", "dls")
	f(open, false)
	f(guarded, false, "all")
	f(guarded, true, "all", "system")
	f(shut, false, "all", "system") // the permission opens nothing where it is off

	service := ask.Identity{Name: "s", SecurityRoles: []string{"all"}, Attributes: map[string]string{"attr.internal.service": "true"}}
	if open.Principal(service).Unrestricted {
		t.Error("a service account is unrestricted")
	}
}
