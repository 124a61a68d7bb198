package authz

import (
	"net/netip"
	"slices"
	"strings"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// MappedRole is a role of an identity, with all that gives it.
type MappedRole struct {
	Name    string
	Defined bool // some file, or what is built in, says what it grants; else it grants nothing
	By      []Grantor
}

// Grantor is one thing that gives a role.
type Grantor struct {
	// Key says what it is: "users", "backend_roles", "and_backend_roles" or "hosts" of a mapping,
	// "opendistro_security_roles" of the account, "roles_mapping_resolution" where
	// backend roles are roles.
	Key  string
	Text string     // the pattern that matched, or the name
	At   config.Pos // of the mapping; the zero value for others
}

// rolesOf returns the effective roles, sorted, each once.
func (p *Policy) rolesOf(id ask.Identity) []string {
	var roles []string
	for _, r := range p.MappedRoles(id) {
		roles = append(roles, r.Name)
	}
	return roles
}

// MappedRoles returns the effective roles of id, sorted: the account's own, if they
// exist and their mapping is not hidden, and those that mappings or backend roles give.
// A mapping also gives the name of a role that does not exist; it grants nothing.
// An administrator needs none.
func (p *Policy) MappedRoles(id ask.Identity) []MappedRole {
	if id.Admin {
		return nil
	}
	by := make(map[string][]Grantor)
	host := hostText(id.Address)
	for _, name := range id.SecurityRoles {
		if p.roles[name] != nil && !p.hidden[name] {
			by[name] = append(by[name], Grantor{Key: "opendistro_security_roles", Text: name})
		}
	}
	if p.resolution != config.BackendRolesOnly {
		for i := range p.mappings {
			m := &p.mappings[i]
			if given := m.grantors(id, host); len(given) > 0 {
				by[m.role] = append(by[m.role], given...)
			}
		}
	}
	if p.resolution != config.MappingOnly {
		for _, name := range id.BackendRoles {
			by[name] = append(by[name], Grantor{Key: "roles_mapping_resolution", Text: name})
		}
	}
	mapped := make([]MappedRole, 0, len(by))
	for name, given := range by {
		mapped = append(mapped, MappedRole{Name: name, Defined: p.roles[name] != nil, By: given})
	}
	slices.SortFunc(mapped, func(a, b MappedRole) int { return strings.Compare(a.Name, b.Name) })
	return mapped
}

// hostText returns an address as the hosts of mappings are written; empty for nowhere.
func hostText(from netip.Addr) string {
	if !from.IsValid() {
		return ""
	}
	return from.Unmap().WithZone("").String()
}

// at reports whether m gives its role to all who come from host. Nowhere is met by
// nothing, not even by "*".
func (m *mapping) at(host string) bool { return host != "" && m.hosts.Match(host) }

// grantors returns what of m gives its role to id, who comes from host. Wildcards count
// in the mapping's own text alone: a user called "*" is nobody else.
func (m *mapping) grantors(id ask.Identity, host string) []Grantor {
	var given []Grantor
	note := func(key string, p names.Pattern) { given = append(given, Grantor{key, p.String(), m.pos.At(key)}) }
	for _, p := range m.users.List() {
		if p.Match(id.Name) {
			note("users", p)
		}
	}
	for _, p := range m.backend.List() {
		if slices.ContainsFunc(id.BackendRoles, p.Match) {
			note("backend_roles", p)
		}
	}
	has := func(want names.Pattern) bool { return slices.ContainsFunc(id.BackendRoles, want.Match) }
	if len(m.backends) > 0 && !slices.ContainsFunc(m.backends, func(want names.Pattern) bool { return !has(want) }) {
		for _, p := range m.backends {
			note("and_backend_roles", p)
		}
	}
	if m.at(host) {
		for _, p := range m.hosts.List() {
			if p.Match(host) {
				note("hosts", p)
			}
		}
	}
	return given
}
