package authz

import (
	"bytes"
	"slices"

	"guard/internal/ask"
)

// groups sorts the concrete names behind targets by their restriction.
func (q *question) groups(targets []ask.Target) []Group {
	switch {
	case len(targets) == 0:
		return nil
	case len(targets) == 1 && len(targets[0].Members) <= 1: // fast path: one index
		list := concrete(&targets[0])
		rules := q.rulesOn(list[0])
		return []Group{{Restriction: rules.ID, Rules: rules, Indices: list}}
	case !q.subject.ruled:
		return []Group{{Restriction: ask.Free, Rules: free, Indices: allConcrete(targets)}}
	}
	byID := make(map[ask.RestrictionID]*Group)
	g := &Group{}
	for i := range targets {
		for _, name := range concrete(&targets[i]) {
			rules := q.restriction(name)
			if g.Rules == nil || g.Restriction != rules.ID { // most have that of the name before
				if g = byID[rules.ID]; g == nil {
					g = &Group{Restriction: rules.ID, Rules: rules}
					if len(byID) == 0 {
						g.Indices = make([]string, 0, len(targets)) // most often it is the only one
					}
					byID[rules.ID] = g
				}
			}
			g.Indices = append(g.Indices, name)
		}
	}
	groups := make([]Group, 0, len(byID))
	for _, g := range byID {
		slices.Sort(g.Indices)
		g.Indices = slices.Compact(g.Indices)
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b Group) int { return bytes.Compare(a.Restriction[:], b.Restriction[:]) })
	return groups
}

// free is the restriction of what nothing binds.
var free = &Restriction{ID: ask.Free}

// rulesOn returns the restriction of a name that is granted: it is covered by an
// entry, so where no role carries a rule it is free.
func (q *question) rulesOn(name string) *Restriction {
	if !q.subject.ruled {
		return free
	}
	return q.restriction(name)
}

// allConcrete returns the names behind targets, sorted, each once.
func allConcrete(targets []ask.Target) []string {
	list := make([]string, 0, len(targets))
	for i := range targets {
		list = append(list, concrete(&targets[i])...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// concrete returns the names behind a target whose documents could be touched.
func concrete(t *ask.Target) []string {
	if len(t.Members) > 0 {
		return t.Members
	}
	return []string{t.Name}
}
