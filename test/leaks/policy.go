package leaks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"guard/test/guardproc"
)

const password = "correct horse"

// Accounts that each policy has besides the attackers.
const (
	adminName  = "leaks-admin"
	proberName = "leaks-prober" // may search what never exists, which has guard look at the cluster anew
	probed     = "leaks-probe-"
)

// A Policy has one role and one user for each distinct attacker of the cases.
type Policy struct {
	Files map[string]string
	Bad   map[string]string // why a role cannot be loaded, by who
	names map[string]string // of users, by who
}

// who is a key for a role and the user who has it.
func who(role json.RawMessage, u *User) string {
	var b bytes.Buffer
	if err := json.Compact(&b, role); err != nil {
		panic(fmt.Sprintf("BUG: a role that was read is no JSON: %v", err))
	}
	if u != nil {
		text, err := json.Marshal(u)
		if err != nil {
			panic(fmt.Sprintf("BUG: a user that was read is no JSON: %v", err))
		}
		b.Write(text)
	}
	return b.String()
}

// builder collects the sections of a policy.
type builder struct {
	hash                   string
	roles, users, mappings map[string]any
	names                  map[string]string
}

// NewPolicy makes the policy of all cases. A role that guard refuses to load is
// left out and told.
func NewPolicy(t testing.TB, cases []*Case) *Policy {
	t.Helper()
	p := &Policy{Bad: map[string]string{}}
	p.build(t, cases)
	dir := guardproc.WriteSecurity(t, p.Files)
	if guardproc.Check(t, dir) == nil {
		return p
	}
	for _, c := range cases {
		for _, role := range c.roles() {
			one := &Policy{Bad: map[string]string{}}
			one.build(t, []*Case{{Role: role.Role, User: role.User}})
			if err := guardproc.Check(t, guardproc.WriteSecurity(t, one.Files)); err != nil {
				p.Bad[who(role.Role, role.User)] = err.Error()
			}
		}
	}
	p.build(t, cases)
	return p
}

// Fault tells why the case cannot be played: one of its roles is refused. "" if none is.
func (p *Policy) Fault(c *Case) string {
	for _, a := range c.roles() {
		if fault := p.Bad[who(a.Role, a.User)]; fault != "" {
			return fault
		}
	}
	return ""
}

// attacker is a role with its user.
type attacker struct {
	Role json.RawMessage
	User *User
}

// roles returns those that the case needs: the attacker's and the victims'.
func (c *Case) roles() []attacker {
	all := []attacker{{c.Role, c.User}}
	for _, step := range append(append([]Step{}, c.Pre...), c.Verify...) {
		if step.As == "victim" {
			all = append(all, attacker{Role: step.Role})
		}
	}
	return all
}

func (p *Policy) build(t testing.TB, cases []*Case) {
	t.Helper()
	b := &builder{
		hash: guardproc.Hash(t, password), names: map[string]string{},
		roles: map[string]any{"prober": json.RawMessage(`{"index_permissions":[{"index_patterns":["` + probed + `*"],"allowed_actions":["read"]}]}`)},
		users: map[string]any{}, mappings: map[string]any{},
	}
	b.user(adminName, "admin", nil)
	b.mappings["all_access"] = backend("admin")
	b.user(proberName, "prober", nil)
	b.mappings["prober"] = backend("prober")
	for _, c := range cases {
		for _, a := range c.roles() {
			key := who(a.Role, a.User)
			if b.names[key] == "" && p.Bad[key] == "" {
				b.add(key, a)
			}
		}
	}
	p.names = b.names
	p.Files = map[string]string{
		"roles.yml":          guardproc.Section(t, "roles", b.roles),
		"internal_users.yml": guardproc.Section(t, "internalusers", b.users),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", b.mappings),
	}
}

func backend(role string) any { return map[string]any{"backend_roles": []string{role}} }

// add makes the role, its mapping and its user. The role is mapped by a backend role
// of its own, since a user name in a mapping is a pattern.
func (b *builder) add(key string, a attacker) {
	role := fmt.Sprintf("attacker-%d", len(b.names))
	b.roles[role] = a.Role
	b.mappings[role] = backend(role)
	name := role
	if a.User != nil && a.User.Name != "" && a.User.Name != "mallory" {
		name = a.User.Name
	}
	b.names[key] = name
	b.user(name, role, a.User)
}

// userEntry is an entry of internal_users.yml.
type userEntry struct {
	Hash         string            `json:"hash"`
	BackendRoles []string          `json:"backend_roles"`
	Attributes   map[string]string `json:"attributes,omitempty"`
}

// user adds a user, or a further backend role to one: two attackers of one name are one user.
func (b *builder) user(name, role string, u *User) {
	entry, ok := b.users[name].(userEntry)
	if !ok {
		entry = userEntry{Hash: b.hash}
	}
	entry.BackendRoles = append(entry.BackendRoles, role)
	if u != nil {
		entry.BackendRoles = append(entry.BackendRoles, u.BackendRoles...)
		entry.Attributes = u.Attributes
	}
	b.users[name] = entry
}

// basic returns the value of Authorization.
func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}
