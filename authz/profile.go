package authz

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// profile is what a set of roles grants, with the variables of index patterns put
// in. Principals with the same roles share it, unless such a variable tells them
// apart. It is immutable but for what it remembers.
type profile struct {
	evaluation config.Evaluation
	service    bool // a service account: no cluster actions
	admin      bool // an administrator of the policy: the security index is open as well
	cluster    names.Patterns
	entries    []boundEntry
	index      *entryIndex // of entries
	ruled      bool        // some entry carries a rule
	protector  bool        // one of the roles opens protected indices
	personal   bool        // some document rule has a variable
	lasting    bool        // no pattern depends on the time
	explicit   *grant      // where system indices are open

	grants atomic.Pointer[map[string]*grant] // by action, copied on write
	mu     sync.Mutex                        // held while grants is replaced
}

// boundEntry is an entry with its patterns for some values of its variables.
type boundEntry struct {
	*entry
	patterns []boundPattern
}

func (e *entry) bind(who *ask.Principal) boundEntry {
	bound := boundEntry{entry: e, patterns: make([]boundPattern, 0, len(e.patterns))}
	for _, pattern := range e.patterns {
		bound.patterns = append(bound.patterns, pattern.bind(who))
	}
	return bound
}

// maxGrants bounds what one profile remembers. Actions come from the catalogue of
// endpoints, which is shorter; past the bound grants are made anew each time.
const maxGrants = 2048

// profile returns the profile of who. It is called with p.building held.
func (p *Policy) profile(who *ask.Principal) *profile {
	key := p.profileKey(who)
	if f, ok := p.profiles.Get(key); ok {
		return f
	}
	f := &profile{evaluation: p.evaluation, service: isService(who), admin: who.Admin, protector: who.Admin}
	var cluster []names.Pattern
	for _, name := range who.Roles { // also of those that nothing defines
		f.protector = f.protector || p.protectors.Match(name)
	}
	for _, r := range p.rolesFor(who) {
		cluster = append(cluster, r.cluster.List()...)
		for _, e := range r.entries {
			f.entries = append(f.entries, e.bind(who))
			f.ruled = f.ruled || e.restricts()
		}
	}
	f.lasting = true
	for i := range f.entries {
		f.personal = f.personal || f.entries[i].personal()
		f.lasting = f.lasting && f.entries[i].lasts()
	}
	f.cluster = names.NewPatterns(cluster...)
	f.index = newEntryIndex(f.entries)
	f.explicit = f.newGrant(func(actions names.Patterns) bool {
		return f.admin || p.openable && explicitly(actions, systemPermission)
	})
	f.grants.Store(&map[string]*grant{})
	p.profiles.Add(key, f)
	return f
}

// rolesFor returns the roles of who that grant anything. An administrator has the one that
// is nobody else's.
func (p *Policy) rolesFor(who *ask.Principal) []*role {
	if who.Admin {
		return []*role{p.super}
	}
	var list []*role
	for _, name := range who.Roles {
		if r := p.roles[name]; r != nil { // else only a mapping knows the name
			list = append(list, r)
		}
	}
	return list
}

// profileKey says all that a profile depends on: the roles, the values of the
// variables in their index patterns, and whether who is a service account or an administrator.
func (p *Policy) profileKey(who *ask.Principal) string {
	key := strconv.AppendBool(strconv.AppendBool(nil, isService(who)), who.Admin)
	key = appendTexts(key, who.Roles)
	for _, name := range who.Roles {
		if p.roles[name] == nil {
			continue
		}
		for _, s := range p.roles[name].variables {
			if v, ok := lookup(who, s); ok {
				key = appendTexts(strconv.AppendBool(key, v.List), v.Texts)
			} else {
				key = append(key, '-')
			}
		}
	}
	return string(key)
}

// isService reports whether who is a service account.
func isService(who *ask.Principal) bool {
	return !who.Admin && who.Attributes["attr.internal.service"] == "true"
}

// explicitly reports whether action is matched otherwise than by a bare "*".
func explicitly(actions names.Patterns, action string) bool {
	return slices.ContainsFunc(actions.List(), func(p names.Pattern) bool { return !p.IsAll() && p.Match(action) })
}

// unrestricted reports whether every action is granted on every name that can
// exist and no rule binds (law 1). A service account never is: it has no cluster
// actions.
func (f *profile) unrestricted() bool {
	if f.ruled || !f.cluster.IsAll() || f.service {
		return false
	}
	return slices.ContainsFunc(f.entries, func(e boundEntry) bool {
		return e.actions.IsAll() && slices.ContainsFunc(e.patterns, func(p boundPattern) bool {
			return !p.unknown && p.pattern.IsAll()
		})
	})
}

// grant returns where an action is granted.
func (f *profile) grant(action string) *grant {
	if g, ok := (*f.grants.Load())[action]; ok {
		return g
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known := *f.grants.Load()
	if g, ok := known[action]; ok {
		return g
	}
	g := f.newGrant(func(actions names.Patterns) bool { return actions.Match(action) })
	g.onCluster = !f.service && f.cluster.Match(action)
	g.clusterAction = ClusterAction(f.evaluation, action)
	g.reducible = legacyReducible.Match(action)
	g.denied = legacyDenied.Match(action)
	if len(known) < maxGrants {
		next := maps.Clone(known)
		next[strings.Clone(action)] = g
		f.grants.Store(&next)
	}
	return g
}

// newGrant collects the patterns of all entries whose actions are wanted.
func (f *profile) newGrant(wanted func(names.Patterns) bool) *grant {
	g := &grant{}
	var list []names.Pattern
	for i := range f.entries {
		if !wanted(f.entries[i].actions) {
			continue
		}
		for _, p := range f.entries[i].patterns {
			switch {
			case p.unknown:
			case p.date != nil:
				g.dates = append(g.dates, p.date)
			default:
				list = append(list, p.pattern)
			}
		}
	}
	g.set = newNameSet(list)
	return g
}

// grant is where one action is granted to one principal, and what the rules say of
// the action.
type grant struct {
	set   nameSet
	dates []*datePattern

	onCluster     bool // granted by cluster permissions
	clusterAction bool // always checked without names
	reducible     bool // legacy: its list of names may be shortened
	denied        bool // legacy: not on all indices at once
}

// nothing reports whether g grants no name whatever.
func (g *grant) nothing() bool { return g.set.empty() && len(g.dates) == 0 }

// name reports whether name itself is granted, apart from what it belongs to.
func (g *grant) name(name string, now time.Time) bool {
	if g.set.match(name) {
		return true
	}
	for _, d := range g.dates {
		if p := d.at(now); p.Match(name) {
			return true
		}
	}
	return false
}

// index reports whether an index or data stream is granted: by its own name, by an
// alias, or by the stream that it is a generation of and the stream's aliases.
func (g *grant) index(c Cluster, name string, now time.Time) bool {
	if g.set.all || g.name(name, now) {
		return true
	}
	for _, alias := range c.Aliases(name) {
		if g.name(alias, now) {
			return true
		}
	}
	stream := c.Stream(name)
	return stream != "" && stream != name && g.index(c, stream, now)
}
