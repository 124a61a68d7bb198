package authz

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/internal/names"
)

// inFile gives the entries of a test's policy a place, as if read from a file.
func inFile(sec *config.Security) *config.Security {
	for name, r := range sec.Roles {
		r.Pos = config.Pos{File: "roles.yml", Line: 7, Path: name}
		for i := range r.IndexPermissions {
			r.IndexPermissions[i].Pos = config.Pos{File: "roles.yml", Line: 8 + i, Path: name + ".index_permissions[0]"}
		}
		for i := range r.TenantPermissions {
			r.TenantPermissions[i].Pos = config.Pos{File: "roles.yml", Line: 8 + i, Path: name + ".tenant_permissions[0]"}
		}
		sec.Roles[name] = r
	}
	for name, g := range sec.ActionGroups {
		g.Pos = config.Pos{File: "action_groups.yml", Line: 2, Path: name}
		sec.ActionGroups[name] = g
	}
	for name, m := range sec.Mappings {
		m.Pos = config.Pos{File: "roles_mapping.yml", Line: 3, Path: name}
		sec.Mappings[name] = m
	}
	return sec
}

func TestCompileFaults(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		p, _, err := Compile(inFile(parseSecurity(t, text)), config.Policy{})
		if err == nil || p != nil {
			t.Fatalf("%s: got no error; want %q", text, want)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got error %v; want %q in it", text, err, w)
			}
		}
	}
	f(`roles: {a: {index_permissions: [{index_patterns: ["/[/"]}]}}`, `roles.yml:8: a.index_permissions[0].index_patterns[0]`, "cannot parse pattern")
	f(`roles: {a: {cluster_permissions: ["/(/"]}}`, "roles.yml:7: a.cluster_permissions[0]")
	f(`roles: {a: {index_permissions: [{allowed_actions: ["x", "/(/"]}]}}`, "allowed_actions[1]")
	f(`roles: {a: {index_permissions: [{index_patterns: ["${user.name"]}]}}`, "unclosed variable")
	f(`roles: {a: {index_permissions: [{index_patterns: ["<a-{now>"]}, {dls: '{"x":"${user.roles}"}'}]}}`, "2 faults") // all at once
	f(`roles: {a: {index_permissions: [{dls: " "}]}}`, "blank dls")
	f(`roles: {a: {index_permissions: [{dls: '{"x":"${"}'}]}}`, "is a '}' missing?")
	f(`mappings: {a: {users: ["/(/"]}}`, "roles_mapping.yml:3: a.users[0]")
	f(`mappings: {a: {backend_roles: ["/(/"]}}`, "a.backend_roles[0]")
	f(`mappings: {a: {and_backend_roles: ["/(/"]}}`, "a.and_backend_roles[0]")
	f(`mappings: {a: {hosts: ["/(/"]}}`, "a.hosts[0]")
	f(`{roles: {a: {cluster_permissions: [g]}}, action_groups: {g: {allowed_actions: ["/(/"]}}}`, "cannot parse pattern")

	// What no role uses is read as well, and what many use is reported once.
	f(`action_groups: {g: {allowed_actions: ["/a[b&&[c]]/"]}}`, "g.allowed_actions[0]", "intersection")
	f(`roles: {a: {tenant_permissions: [{allowed_actions: ["/a[b&&[c]]/"]}]}}`, "a.tenant_permissions[0].allowed_actions[0]", "intersection")
	f(`{roles: {a: {cluster_permissions: [g]}, b: {cluster_permissions: [g]}}, action_groups: {g: {allowed_actions: ["/(/"]}}}`, "1 fault:")
}

func TestCompileSettings(t *testing.T) {
	f := func(change func(*config.Dynamic, *config.Policy), want string) {
		t.Helper()
		sec := parseSecurity(t, "{}")
		var set config.Policy
		change(&sec.Dynamic, &set)
		_, _, err := Compile(sec, set)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v; want one with %q", err, want)
		}
	}
	f(func(d *config.Dynamic, _ *config.Policy) { d.PrivilegesEvaluationType = "v5" }, `unknown value "v5"`)
	f(func(d *config.Dynamic, _ *config.Policy) { d.FilteredAliasMode = "disallow" }, "not built yet")
	f(func(_ *config.Dynamic, p *config.Policy) { p.RolesMappingResolution = "NONE" }, `unknown roles_mapping_resolution "NONE"`)
	f(func(_ *config.Dynamic, p *config.Policy) {
		p.SystemIndices = config.SystemIndices{Enabled: true, Indices: []string{"/(/"}}
	}, "cannot parse pattern")
}

func TestCompileWarnings(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		_, warnings, err := Compile(inFile(parseSecurity(t, text)), config.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, w := range warnings {
			got = append(got, w.Path+": "+w.Msg)
		}
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", text, diff)
		}
	}
	f(`roles: {a: {cluster_permissions: ["*", "cluster:monitor/*", "cluster:monitor/health", "restapi:admin/roles"]}}`)
	f(`{roles: {a: {cluster_permissions: [g]}}, action_groups: {g: {allowed_actions: []}}}`)
	f(`roles: {a: {cluster_permissions: ["cluster:nonsense"]}}`, `a.cluster_permissions[0]: unknown action or group "cluster:nonsense"`)
	f(`roles: {a: {cluster_permissions: ["cluster:nonsense/*"]}}`, `a.cluster_permissions[0]: unknown action or group "cluster:nonsense/*"`)
	f(`roles: {a: {index_permissions: [{allowed_actions: [reed]}]}}`, `a.index_permissions[0].allowed_actions[0]: unknown action or group "reed"`)
	f(`roles: {a: {tenant_permissions: [{allowed_actions: [kibana_all_raed]}]}}`, `a.tenant_permissions[0].allowed_actions[0]: unknown action or group "kibana_all_raed"`)
	f(`{roles: {a: {cluster_permissions: [g]}, b: {cluster_permissions: [g]}}, action_groups: {g: {allowed_actions: [h, raed, "indices:*"]}, h: {allowed_actions: []}}}`,
		`g.allowed_actions[1]: unknown action or group "raed"`) // once, and not for each role that has the group
	f(`roles: {a: {index_permissions: [{index_patterns: ["${user}"]}]}}`, "a.index_permissions[0].index_patterns[0]: unknown variable ${user}")
	f(`roles: {a: {index_permissions: [{dls: '{"a":"${x}"}'}]}}`, "a.index_permissions[0].dls: unknown variable ${x}")
	const unread = "a.index_permissions[0].allowed_actions: indices:admin/aliases on indices that this role can't read"
	f(`roles: {a: {index_permissions: [{index_patterns: [x], allowed_actions: ["indices:admin/aliases*"]}]}}`, unread)
	f(`roles: {a: {index_permissions: [{index_patterns: [x, "y*"], allowed_actions: ["indices:admin/*"]}, {index_patterns: ["z*"], allowed_actions: ["*"]}]}}`, unread)
	f(`roles: {a: {index_permissions: [{index_patterns: [x], allowed_actions: ["indices:admin/*"]}, {index_patterns: ["x*"], allowed_actions: ["indices:data/read*"]}]}}`)
	f(`roles: {a: {index_permissions: [{index_patterns: [x, z], allowed_actions: ["indices:admin/*"]}, {index_patterns: ["x*"], allowed_actions: ["indices:data/read*"]}]}}`, unread)
	f(`roles: {a: {index_permissions: [{index_patterns: ["${user.name}"], allowed_actions: ["*"]}, {index_patterns: ["/x/"], allowed_actions: ["*"]}]}}`)
}

// TestActionGroups holds that groups are expanded through groups, also in circles,
// and that a group's own name stays a permission.
func TestActionGroups(t *testing.T) {
	p := compile(t, parseSecurity(t, `
action_groups:
  outer: {allowed_actions: [inner, "indices:admin/get"]}
  inner: {allowed_actions: [outer, "indices:data/read/*"]}
roles:
  a: {cluster_permissions: [outer]}
`), config.Policy{})
	f := func(action string, want bool) {
		t.Helper()
		if got := p.roles["a"].cluster.Match(action); got != want {
			t.Errorf("%s: got %v; want %v", action, got, want)
		}
	}
	f("indices:admin/get", true)
	f("indices:data/read/search", true)
	f("outer", true)
	f("inner", true)
	f("indices:admin/delete", false)
}

func TestClusterAction(t *testing.T) {
	f := func(action string, legacy, v4 bool) {
		t.Helper()
		if got := ClusterAction(config.EvaluationLegacy, action); got != legacy {
			t.Errorf("legacy %s: got %v; want %v", action, got, legacy)
		}
		if got := ClusterAction(config.EvaluationV4, action); got != v4 {
			t.Errorf("v4 %s: got %v; want %v", action, got, v4)
		}
	}
	f("cluster:monitor/health", true, true)
	f("indices:data/read/search", false, false)
	f("indices:data/read/scroll", true, true)
	f("indices:data/read/scroll/clear", true, true)
	f("indices:data/read/msearch/template", true, true)
	f("indices:data/write/bulk", true, true)
	f("indices:data/write/bulk[s]", false, false)
	f("indices:data/read/mget", true, true)
	f("indices:data/read/mget[shard]", false, false)
	f("indices:admin/index_template/put", true, true)
	f("indices:data/read/point_in_time/readall", false, true)
	f("restapi:admin/roles", true, false)
}

// TestVocabulary holds that the list of actions is what its comment says.
func TestVocabulary(t *testing.T) {
	for i, name := range knownActions {
		if i > 0 && name <= knownActions[i-1] {
			t.Errorf("%q stands behind %q: not sorted, or twice", name, knownActions[i-1])
		}
	}
	for _, name := range []string{"indices:data/read/search", "indices:data/write/bulk[s]", systemPermission} {
		if !known(name, names.MustParsePattern(name)) {
			t.Errorf("%q is not known", name)
		}
	}
}

func TestRules(t *testing.T) {
	p := compile(t, inFile(parseSecurity(t, `
roles:
  a: {index_permissions: [{index_patterns: ["x-*", "${user.name}"], dls: '{"term":{"o":"${user.name}"}}', fls: ["~a"]}]}
  b: {index_permissions: [{index_patterns: ["free"]}]}
  c: {index_permissions: [{index_patterns: ["y"], dls: '{"terms":{"o":[${user.roles}],"p":${attr.jwt.x}}}', masked_fields: ["m"]}]}
  d: {index_permissions: [{index_patterns: ["z"], masked_fields: ["m"]}]}
`)), config.Policy{})
	want := []Rule{
		{DLS: `{"term":{"o":"${user.name}"}}`, FLS: []string{"~a"}},
		{DLS: `{"terms":{"o":[${user.roles}],"p":${attr.jwt.x}}}`},
	}
	got := p.Rules()
	for i := range got {
		if got[i].Pos.Line != 8 {
			t.Errorf("rule %s is at %v", got[i].DLS, got[i].Pos)
		}
		got[i].Pos = config.Pos{}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(config.Pos{})); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}
