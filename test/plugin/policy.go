package plugin

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Accounts of every policy.
const (
	Password = "Orac1e!pass-2026"
	hash     = "$2b$04$abcdefghijklmnopqrstuu.wC5ZXXj4XvEmzFj79lQ57tESOWGPIK"
	// Chief may do everything: he makes the worlds, and changes the plugin's configuration.
	Chief = "chief"
)

// A Role is an entry of roles.yml.
type Role struct {
	Cluster []string `json:"cluster_permissions"`
	Index   []Entry  `json:"index_permissions"`
}

// An Entry is one of its index_permissions.
type Entry struct {
	Patterns []string `json:"index_patterns"`
	Actions  []string `json:"allowed_actions"`
	DLS      string   `json:"dls,omitempty"`
	FLS      []string `json:"fls,omitempty"`
}

// A User has roles of his own.
type User struct {
	Name       string
	Attributes map[string]string
	Backend    []string
	Roles      []Role
}

// Ruled reports whether any entry has a rule on documents or fields.
func (u User) Ruled() bool {
	for _, role := range u.Roles {
		for _, e := range role.Index {
			if e.DLS != "" || e.FLS != nil {
				return true
			}
		}
	}
	return false
}

// A Policy is what both sides run.
type Policy struct{ Users []User }

var (
	// groups are nested three deep, and one has a pattern in it.
	groups = map[string][]string{
		"look": {"look_more", "indices:data/read/get*"}, "look_more": {"look_most"}, "look_most": {"indices:data/read/search*", "indices:data/read/field_caps*"},
		"put":   {"indices:data/write/index", "indices:data/write/bulk*", "indices:admin/mapping/put"},
		"names": {"indices:admin/aliases*", "indices:admin/resolve/*", "indices:admin/get"},
	}
	patterns = []string{
		"a1", "a*", "a?", "b*", "*", "*-1", "log-*", "al-*", "al-ab", "al-a", "al-filter", "a-alias", "st-a", "st-*", ".ds-st-a*", "day-*",
		"/^(a|b)[12]$/", "/^(?!log).*/", "/^(?!a1$|b).*/", "/[abc]\\d/", "${user.name}-*", "${attr.internal.team}-*", "<day-{now/d}>", "c1", "nosuch*", "zz*", ".dot*", ".sys*",
	}
	actions = [][]string{
		{"read"}, {"read"}, {"look"}, {"look", "names"}, {"crud"}, {"crud", "names"}, {"crud", "create_index"}, {"read", "indices_monitor"}, {"search"}, {"get"}, {"put"}, {"manage"}, {"manage", "crud"},
		{"indices:data/read/*"}, {"indices:data/read/search", "indices:admin/mappings/get"}, {"*"}, {"indices:admin/*", "read"}, {"indices:data/write/delete", "write"}, {"manage_aliases", "read"}, {"delete", "read"}, {"nosuchgroup"},
	}
	clusters = [][]string{
		{"cluster_composite_ops", "cluster_monitor"}, {"cluster_composite_ops_ro", "cluster_monitor"}, {"cluster_composite_ops"}, {"cluster_composite_ops_ro"}, {"*"}, {"indices:data/write/bulk"}, {},
	}
	rules = []string{`{"term":{"team":"red"}}`, `{"range":{"n":{"gte":1}}}`, `{"term":{"team":"${attr.internal.team}"}}`, `{"match_all":{}}`}
	views = [][]string{{"~secret"}, {"team", "n"}, {"~s*"}, {"k"}}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// NewPolicy makes users by chance. Most have no rule on documents or fields: those
// are for other tests, and what guard refuses under them says little here.
func NewPolicy(r *rand.Rand, users int) Policy {
	var p Policy
	for n := range users {
		u := User{Name: fmt.Sprintf("u%d", n+1), Attributes: map[string]string{"team": pick(r, []string{"red", "blue"})}}
		for range 1 + r.IntN(2) {
			role := Role{Cluster: pick(r, clusters), Index: []Entry{}}
			for range 1 + r.IntN(3) {
				role.Index = append(role.Index, newEntry(r))
			}
			u.Roles = append(u.Roles, role)
		}
		if n%5 == 4 {
			e := &u.Roles[0].Index[0]
			if e.FLS = nil; r.IntN(2) == 0 {
				e.FLS = pick(r, views)
			} else {
				e.DLS = pick(r, rules)
			}
		}
		if n%3 == 0 {
			u.Backend = []string{"staff-" + u.Name}
		}
		p.Users = append(p.Users, u)
	}
	return p
}

func newEntry(r *rand.Rand) Entry {
	e := Entry{Actions: pick(r, actions)}
	for range 1 + r.IntN(2) {
		e.Patterns = append(e.Patterns, pick(r, patterns))
	}
	if r.IntN(40) == 0 {
		e.Actions = append([]string{"system:admin/system_index"}, e.Actions...)
	}
	return e
}

// Dynamic is the part of config.yml that both sides are told.
func Dynamic(dnfof bool) map[string]any {
	return map[string]any{
		"do_not_fail_on_forbidden": dnfof,
		"authc": map[string]any{"basic": map[string]any{
			"http_enabled": true, "order": 0,
			"http_authenticator":     map[string]any{"type": "basic", "challenge": true},
			"authentication_backend": map[string]any{"type": "internal"},
		}},
	}
}

// Files returns the policy as a security folder.
func (p Policy) Files(dnfof bool) map[string]string {
	users, roles, mapped := map[string]any{}, map[string]any{}, map[string]any{}
	users[Chief] = map[string]any{"hash": hash}
	mapped["all_access"] = map[string]any{"users": []string{Chief}}
	mapped["above_all"] = mapped["all_access"]
	roles["above_all"] = Role{Cluster: []string{"*"}, Index: []Entry{{Patterns: []string{"*"}, Actions: []string{"*", "system:admin/system_index"}}}}
	for _, u := range p.Users {
		users[u.Name] = map[string]any{"hash": hash, "attributes": u.Attributes, "backend_roles": u.Backend}
		for n, role := range u.Roles {
			name := fmt.Sprintf("%s-%d", u.Name, n)
			roles[name] = role
			if n == 0 && u.Backend != nil {
				mapped[name] = map[string]any{"backend_roles": []string{"staff-" + u.Name}}
				continue
			}
			mapped[name] = map[string]any{"users": []string{u.Name}}
		}
	}
	grouped := map[string]any{}
	for name, list := range groups {
		grouped[name] = map[string]any{"allowed_actions": list}
	}
	return map[string]string{
		"config.yml":         section("config", map[string]any{"config": map[string]any{"dynamic": Dynamic(dnfof)}}),
		"internal_users.yml": section("internalusers", users), "roles.yml": section("roles", roles),
		"roles_mapping.yml": section("rolesmapping", mapped), "action_groups.yml": section("actiongroups", grouped),
		"tenants.yml": section("tenants", nil),
	}
}

// section is one file in JSON, which YAML contains; an entry a line, as the test bed
// adds its own account behind.
func section(kind string, entries map[string]any) string {
	text := fmt.Sprintf("_meta: {type: %s, config_version: 2}\n", kind)
	for name, entry := range entries {
		line, err := json.Marshal(entry)
		if err != nil {
			panic(fmt.Sprintf("BUG: an entry is no JSON: %v", err))
		}
		text += fmt.Sprintf("%s: %s\n", name, line)
	}
	return text
}
