package naive

import (
	"slices"
	"strings"
)

// verdict collects what is left of what was asked.
type verdict struct {
	*evaluation
	left      []target
	taken     bool // something is not left
	forbidden bool // and the client may know: it is no name that a wildcard just does not find
}

// take notes that a target is not left, and what is in its place.
func (v *verdict) take(harmless bool, instead ...target) {
	v.taken, v.forbidden = true, v.forbidden || !harmless
	v.left = append(v.left, instead...)
}

// legacy decides by the rules up to 3.4: aliases are what their indices are.
func (e *evaluation) legacy(m meaning) Answer {
	if m.all && !e.Who.Admin && slices.ContainsFunc(e.Ask.Privileges, e.refusedOnAll) {
		return Answer{}
	}
	v := verdict{evaluation: e}
	for _, t := range m.targets {
		v.judgeLegacy(t)
	}
	for _, name := range m.absent {
		if t := (target{name: name}); !e.closed(name) && e.may(true, name) {
			v.left = append(v.left, t)
		} else {
			v.take(false)
		}
	}
	remote, allRemote := e.remote(m.remote)
	switch {
	case v.taken && (e.Ask.Single || e.Ask.Fixed):
		return Answer{} // it can't be made shorter
	case e.Ask.Single && len(v.left) == 0:
		return Answer{} // it names nothing
	case !v.forbidden && allRemote:
		return v.allow(remote, v.taken)
	case !e.Policy.Reduces || e.Ask.Single || e.Ask.Fixed || !e.readsOnly():
		return Answer{}
	case len(v.left)+len(remote) == 0 && !e.Policy.ReducesToNil:
		return Answer{}
	default:
		return v.allow(remote, true)
	}
}

// refusedOnAll tells the actions that nobody may run on everything at once.
func (e *evaluation) refusedOnAll(p Privilege) bool {
	if p.Cluster || e.isClusterAction(p.Action) {
		return false
	}
	for _, denied := range []string{
		"indices:data/write*", "indices:admin/delete*", "indices:admin/mapping/delete*", "indices:admin/mapping/put*", "indices:admin/freeze*",
		"indices:admin/settings/update*", "indices:admin/aliases", "indices:admin/close*", "cluster:admin/snapshot/restore*",
	} {
		if glob(denied, p.Action) {
			return true
		}
	}
	return false
}

// readsOnly reports whether all that is asked on names is of those whose names may be taken
// away.
func (e *evaluation) readsOnly() bool {
	for _, p := range e.Ask.Privileges {
		reducible := anyMatches([]string{
			"indices:data/read/*", "indices:admin/mappings/fields/get*", "indices:admin/shards/search_shards", "indices:admin/resolve/index",
			"indices:monitor/settings/get", "indices:monitor/stats", "indices:admin/aliases/get",
		}, p.Action)
		if !p.Cluster && !e.isClusterAction(p.Action) && !reducible {
			return false
		}
	}
	return true
}

// judgeLegacy judges a name that exists. What is closed is, to a wildcard, not there.
func (v *verdict) judgeLegacy(t target) {
	var closed, refused bool
	var open []target
	for _, x := range t.members {
		switch {
		case v.closed(x):
			closed = true
		case !v.may(false, v.owners(x)...):
			refused = true
		default:
			way := target{name: x, kind: anIndex, members: []string{x}, wild: true}
			if v.World.filtered(t.name) {
				way.ways = []string{t.name}
			}
			open = append(open, way)
		}
	}
	if t.kind == aStream { // its own name counts as well
		closed = closed || v.closed(t.name)
		refused = refused || !v.closed(t.name) && !v.may(false, t.name)
	}
	switch {
	case !closed && !refused:
		v.left = append(v.left, t)
	case t.kind == anIndex:
		v.take(t.wild && closed)
	default:
		v.take(t.wild && !refused, open...)
	}
}

// v4 decides by the newer rules: names count as they stand.
func (e *evaluation) v4(m meaning) Answer {
	v := verdict{evaluation: e}
	for _, t := range m.targets {
		switch {
		case e.grantedByName(t):
			v.left = append(v.left, t)
		default:
			v.take(t.wild && (e.Policy.Reduces || e.anyClosed(t)))
		}
	}
	for _, name := range m.absent {
		// One that exists and is not seen is asked like any other.
		t, _ := e.World.lookup(name)
		if e.grantedByName(t) && e.may(t.kind == missing, name) {
			v.left = append(v.left, t)
		} else {
			v.take(false)
		}
	}
	remote, allRemote := e.remote(m.remote)
	forbidden := v.forbidden || !allRemote
	reducible := e.Policy.Reduces && !e.Ask.Single && !e.Ask.Fixed && (e.Ask.Opts.IgnoreUnavailable || m.wild)
	switch {
	case e.Ask.Single && (v.taken || len(v.left) == 0):
		return Answer{}
	case forbidden && !reducible:
		return Answer{}
	case len(v.left)+len(remote) > 0:
		return v.allow(remote, v.taken || !allRemote)
	case forbidden && !e.Ask.Opts.AllowNoIndices, !e.holdsSomewhere():
		return Answer{}
	default:
		return v.allow(nil, v.taken || !allRemote)
	}
}

// grantedByName reports whether a name is granted as it stands: an index or a stream also
// by its aliases and its stream, an alias by its own name alone.
func (e *evaluation) grantedByName(t target) bool {
	switch {
	case e.anyClosed(t):
		return false
	case t.kind == anIndex || t.kind == aStream:
		return e.may(false, e.owners(t.name)...)
	default:
		return e.may(t.kind == missing, t.name)
	}
}

func (e *evaluation) anyClosed(t target) bool {
	return e.closed(t.name) || slices.ContainsFunc(t.members, e.closed)
}

// holdsSomewhere reports whether all that is asked is granted on any name at all.
func (e *evaluation) holdsSomewhere() bool {
	for _, p := range e.Ask.Privileges {
		if p.Cluster || p.IfMissing || e.isClusterAction(p.Action) {
			continue
		}
		if !slices.ContainsFunc(e.entries(), func(entry Entry) bool {
			return e.permits(entry.Actions, p.Action) && slices.ContainsFunc(entry.Patterns, func(text string) bool {
				pattern, known := e.literalPattern(text)
				return known && strings.TrimSpace(pattern) != ""
			})
		}) {
			return false
		}
	}
	return true
}

// allow makes the answer.
func (v *verdict) allow(remote []string, reduced bool) Answer {
	a := Answer{Allow: true, Reduced: reduced, Remote: sorted(remote), Bound: v.World.boundBy(v.left), Rules: map[string]Rules{}}
	for _, t := range v.left {
		a.Names = append(a.Names, t.name)
		if t.kind == missing {
			a.Missing = append(a.Missing, t.name)
			a.Rules[t.name] = v.rules(t.name)
		}
	}
	for x := range a.Bound {
		a.Rules[x] = v.rules(x)
	}
	a.Names, a.Missing = sorted(a.Names), sorted(a.Missing)
	return a
}
