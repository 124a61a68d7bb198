package naive

import (
	"net/netip"
	"slices"
	"strings"
)

// securityIndex is nobody's but an administrator's.
const securityIndex = ".opendistro_security"

// rolesOf lists the roles of who asks.
func (e *evaluation) rolesOf() []string {
	var list []string
	for _, name := range e.Who.OwnRoles {
		if _, known := e.Policy.Roles[name]; known && !e.Policy.Mappings[name].Hidden {
			list = append(list, name)
		}
	}
	for name, m := range e.Policy.Mappings {
		if e.Policy.BackendRoles != "only" && e.maps(m) {
			list = append(list, name)
		}
	}
	if e.Policy.BackendRoles != "" {
		list = append(list, e.Who.BackendRoles...)
	}
	return sorted(list)
}

// maps reports whether a mapping gives its role to who asks.
func (e *evaluation) maps(m Mapping) bool {
	has := func(pattern string) bool {
		return slices.ContainsFunc(e.Who.BackendRoles, func(r string) bool { return matches(pattern, r) })
	}
	lacks := func(pattern string) bool { return !has(pattern) }
	host := ""
	if a, err := netip.ParseAddr(e.Who.Address); err == nil {
		host = a.String()
	}
	return anyMatches(m.Users, e.Who.Name) ||
		slices.ContainsFunc(m.BackendRoles, has) ||
		len(m.AndBackendRoles) > 0 && !slices.ContainsFunc(m.AndBackendRoles, lacks) ||
		host != "" && anyMatches(m.Hosts, host)
}

// entries lists the entries of all roles of who asks.
func (e *evaluation) entries() []Entry {
	var list []Entry
	for _, name := range e.roles {
		list = append(list, e.Policy.Roles[name].Entries...)
	}
	return list
}

// permits reports whether one of a list of actions and groups is or means action. A group
// also stands for its own name.
func (e *evaluation) permits(list []string, action string) bool {
	return anyMatches(e.spelledOut(list), action)
}

// spelledOut puts the members of groups beside their names, until nothing is added.
func (e *evaluation) spelledOut(list []string) []string {
	list = slices.Clone(list)
	for i := 0; i < len(list); i++ {
		for _, member := range e.Policy.Groups[list[i]] {
			if !slices.Contains(list, member) {
				list = append(list, member)
			}
		}
	}
	return list
}

// isClusterAction reports whether an action is asked without names.
func (e *evaluation) isClusterAction(action string) bool {
	rest, indices := strings.CutPrefix(action, "indices:")
	if !indices {
		return !e.Policy.V4 || strings.HasPrefix(action, "cluster:")
	}
	switch rest {
	case "data/write/bulk", "data/read/mget", "data/read/mtv", "data/write/reindex", "data/read/search/template/render":
		return true
	case "data/read/scroll", "data/read/scroll/clear", "data/read/msearch", "data/read/msearch/template":
		return true
	case "admin/render/template/search", "data/read/point_in_time/readall":
		return e.Policy.V4
	}
	for _, prefix := range []string{"admin/template/", "admin/index_template/"} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return !e.Policy.V4 && (strings.HasPrefix(rest, "data/read/scroll") || strings.HasPrefix(rest, "data/read/msearch"))
}

// grantsCluster reports whether an action is granted without names. A service account has
// none of these.
func (e *evaluation) grantsCluster(action string) bool {
	if e.Who.Attributes["attr.internal.service"] == "true" {
		return false
	}
	for _, name := range e.roles {
		if e.permits(e.Policy.Roles[name].Cluster, action) {
			return true
		}
	}
	return false
}

// owners lists by which names an index or a stream is granted: its own, its aliases, its
// stream.
func (e *evaluation) owners(name string) []string {
	list := append([]string{name}, e.World.aliasesOf(name)...)
	if s := e.World.streamOf(name); s != "" {
		list = append(list, s)
	}
	return list
}

// covers reports whether an entry covers one of some names, or may.
func (e *evaluation) covers(entry Entry, owners []string) (sure, perhaps bool) {
	for _, text := range entry.Patterns {
		pattern, known := e.literalPattern(text)
		for _, name := range owners {
			if matches(pattern, name) {
				sure, perhaps = sure || known, perhaps || !known
			}
		}
	}
	return sure, perhaps
}

// grants reports whether some entry grants an action on one of some names.
func (e *evaluation) grants(action string, owners ...string) bool {
	return slices.ContainsFunc(e.entries(), func(entry Entry) bool {
		sure, _ := e.covers(entry, owners)
		return sure && e.permits(entry.Actions, action)
	})
}

// opens reports whether some entry opens a system index: by the permission for it, and "*"
// alone is none.
func (e *evaluation) opens(owners []string) bool {
	return e.Policy.SystemOpens && slices.ContainsFunc(e.entries(), func(entry Entry) bool {
		list := slices.DeleteFunc(e.spelledOut(entry.Actions), func(a string) bool { return a != "" && strings.Trim(a, "*") == "" })
		sure, _ := e.covers(entry, owners)
		return sure && anyMatches(list, "system:admin/system_index")
	})
}

// closed reports whether a name is, or would be, a system or protected index that is not
// open, or a part of a stream that is one.
func (e *evaluation) closed(name string) bool {
	protector := slices.ContainsFunc(e.rolesOf(), func(role string) bool { return anyMatches(e.Policy.Protectors, role) })
	for _, owner := range []string{name, e.World.streamOf(name)} {
		switch {
		case owner == "":
		case owner == securityIndex && !e.Who.Admin, anyMatches(e.Policy.System, owner) && !e.opens(e.owners(owner)), anyMatches(e.Policy.Protected, owner) && !protector:
			return true
		}
	}
	return false
}

// may reports whether all that is asked on names is granted by one of owners.
func (e *evaluation) may(isMissing bool, owners ...string) bool {
	for _, p := range e.Ask.Privileges {
		counts := !p.Cluster && !e.isClusterAction(p.Action) && (isMissing || !p.IfMissing)
		if counts && !e.grants(p.Action, owners...) {
			return false
		}
	}
	return true
}

// remote splits the expressions for other clusters: they are granted by patterns that name
// clusters, and only to who is bound by no rule.
func (e *evaluation) remote(exprs []string) (granted []string, all bool) {
	for _, expr := range exprs {
		if e.mayRemote(expr) {
			granted = append(granted, expr)
		}
	}
	return granted, len(granted) == len(exprs)
}

func (e *evaluation) mayRemote(expr string) bool {
	for _, entry := range e.entries() {
		if entry.DLS != "" || len(entry.FLS) > 0 || len(entry.Masks) > 0 {
			return false
		}
	}
	for _, p := range e.Ask.Privileges {
		if p.Cluster || p.IfMissing || e.isClusterAction(p.Action) {
			continue
		}
		if !slices.ContainsFunc(e.entries(), func(entry Entry) bool {
			return e.permits(entry.Actions, p.Action) && slices.ContainsFunc(entry.Patterns, func(text string) bool {
				pattern, known := e.literalPattern(text)
				return known && strings.Contains(pattern, ":") && !isRegex(pattern) && contains(pattern, expr)
			})
		}) {
			return false
		}
	}
	return true
}
