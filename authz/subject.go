package authz

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// subject is a principal with the rules of its roles, its variables put in. It is
// immutable but for what it remembers.
type subject struct {
	who        *ask.Principal
	evaluation config.Evaluation
	cluster    names.Patterns
	entries    []boundEntry
	ruled      bool        // some entry carries a rule
	index      *entryIndex // of entries

	grants   atomic.Pointer[map[string]*grant] // by action, copied on write
	explicit *grant                            // where system indices are open
	mu       sync.Mutex                        // held while grants is replaced

	memo  sync.RWMutex            // guards rules
	rules map[string]*Restriction // by the set of entries that cover an index
}

// boundEntry is an entry with the patterns of one principal.
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

// maxGrants bounds what one subject remembers. Actions come from the catalogue of
// endpoints, which is shorter; past the bound grants are made anew each time.
const maxGrants = 2048

// subject returns what is known of who; it is made from nothing but who and p.
func (p *Policy) subject(who *ask.Principal) *subject {
	if s, ok := p.subjects.Get(who); ok {
		return s
	}
	p.building.Lock()
	defer p.building.Unlock()
	if s, ok := p.subjects.Get(who); ok {
		return s
	}
	s := p.bind(who)
	p.subjects.Add(who, s)
	return s
}

func (p *Policy) bind(who *ask.Principal) *subject {
	s := &subject{who: who, evaluation: p.evaluation, rules: make(map[string]*Restriction)}
	var cluster []names.Pattern
	for _, name := range who.Roles {
		r := p.roles[name]
		if r == nil {
			continue // a name that only a mapping knows
		}
		cluster = append(cluster, r.cluster.List()...)
		for _, e := range r.entries {
			s.entries = append(s.entries, e.bind(who))
			s.ruled = s.ruled || e.restricts()
		}
	}
	s.cluster = names.NewPatterns(cluster...)
	s.index = newEntryIndex(s.entries)
	s.explicit = s.newGrant(func(actions names.Patterns) bool { return explicitly(actions, systemPermission) })
	s.grants.Store(&map[string]*grant{})
	return s
}

// explicitly reports whether action is matched otherwise than by a bare "*".
func explicitly(actions names.Patterns, action string) bool {
	return slices.ContainsFunc(actions.List(), func(p names.Pattern) bool { return !p.IsAll() && p.Match(action) })
}

// unrestricted reports whether every action is granted on every name that can
// exist and no rule binds (law 1). A service account never is: it has no cluster
// actions.
func (s *subject) unrestricted() bool {
	if s.ruled || !s.cluster.IsAll() || s.service() {
		return false
	}
	return slices.ContainsFunc(s.entries, func(e boundEntry) bool {
		return e.actions.IsAll() && slices.ContainsFunc(e.patterns, func(p boundPattern) bool {
			return !p.unknown && p.pattern.IsAll()
		})
	})
}

// service reports whether who is a service account.
func (s *subject) service() bool {
	return s.who.Attributes["attr.internal.service"] == "true"
}

// grant returns where an action is granted.
func (s *subject) grant(action string) *grant {
	if g, ok := (*s.grants.Load())[action]; ok {
		return g
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := *s.grants.Load()
	if g, ok := known[action]; ok {
		return g
	}
	g := s.newGrant(func(actions names.Patterns) bool { return actions.Match(action) })
	g.onCluster = !s.service() && s.cluster.Match(action)
	g.clusterAction = ClusterAction(s.evaluation, action)
	g.reducible = legacyReducible.Match(action)
	g.denied = legacyDenied.Match(action)
	if len(known) < maxGrants {
		next := maps.Clone(known)
		next[strings.Clone(action)] = g
		s.grants.Store(&next)
	}
	return g
}

// newGrant collects the patterns of all entries whose actions are wanted.
func (s *subject) newGrant(wanted func(names.Patterns) bool) *grant {
	g := &grant{}
	var list []names.Pattern
	for i := range s.entries {
		if !wanted(s.entries[i].actions) {
			continue
		}
		for _, p := range s.entries[i].patterns {
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
