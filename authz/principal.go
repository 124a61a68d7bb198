package authz

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"guard/config"
	"guard/internal/ask"
)

// Principal maps an identity to its roles. The result belongs to p and is shared
// by all who are the same in every respect: name, domain, roles and attributes. Of
// where they are only the roles count that it gives.
func (p *Policy) Principal(id ask.Identity) *ask.Principal {
	here := p.rolesAt(id.Address)
	key := identityKey(id, here)
	if who, ok := p.principals.Get(key); ok {
		return who
	}
	who := &ask.Principal{Identity: cloneIdentity(id), Roles: p.rolesOf(id)}
	who.Unrestricted = p.unrestricted(p.subject(who))
	p.principals.Add(key, who)
	return who
}

// unrestricted reports whether s may do everything to every name (law 1). Where
// system indices are protected, that takes the explicit permission for them.
func (p *Policy) unrestricted(s *subject) bool {
	if len(p.protected.List()) > 0 && !s.protector {
		return false
	}
	for _, system := range p.system.List() {
		if !s.explicit.set.covers(system) {
			return false
		}
	}
	return s.unrestricted()
}

// rolesAt returns the roles that mappings give to all who come from an address.
func (p *Policy) rolesAt(from netip.Addr) (roles []string) {
	if len(p.located) == 0 || p.resolution == config.BackendRolesOnly {
		return nil
	}
	text := hostText(from)
	for i := range p.located {
		if m := &p.located[i]; m.at(text) {
			roles = append(roles, m.role)
		}
	}
	return roles
}

func cloneIdentity(id ask.Identity) ask.Identity {
	id.BackendRoles = slices.Clone(id.BackendRoles)
	id.SecurityRoles = slices.Clone(id.SecurityRoles)
	id.Attributes = maps.Clone(id.Attributes)
	id.Address = netip.Addr{}
	return id
}

// identityKey writes the whole identity with the length of each part in front, so
// that two identities never have one key. In the place of its address, of which there
// are many, stand the roles that are given there.
func identityKey(id ask.Identity, here []string) string {
	var room [256]byte
	key := appendText(room[:0], id.Domain)
	key = appendText(key, id.Name)
	key = appendTexts(key, id.BackendRoles)
	key = appendTexts(key, id.SecurityRoles)
	key = appendTexts(key, here)
	key = strconv.AppendBool(appendText(key, id.By), id.Admin)
	if len(id.Attributes) > 0 {
		for _, name := range slices.Sorted(maps.Keys(id.Attributes)) {
			key = appendText(appendText(key, name), id.Attributes[name])
		}
	}
	return string(key)
}

func appendText(dst []byte, s string) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(s)), 10), ':'), s...)
}

func appendTexts(dst []byte, list []string) []byte {
	dst = append(strconv.AppendInt(dst, int64(len(list)), 10), ';')
	for _, s := range list {
		dst = appendText(dst, s)
	}
	return dst
}
