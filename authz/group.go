package authz

import (
	"bytes"
	"slices"

	"guard/internal/ask"
)

// groups sorts the concrete names behind targets by their restriction.
func (q *query) groups(targets []ask.Target) []Group {
	if !q.subject.ruled {
		return q.freeGroup(targets)
	}
	byID := make(map[ask.RestrictionID]*Group)
	for i := range targets {
		for _, name := range concrete(&targets[i]) {
			rules := q.restriction(name)
			if byID[rules.ID] == nil {
				byID[rules.ID] = &Group{Restriction: rules.ID, Rules: rules}
			}
			byID[rules.ID].Indices = append(byID[rules.ID].Indices, name)
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

// freeGroup is the one group of a principal whose roles carry no rule: what is
// granted is covered by an entry, so it is free.
func (q *query) freeGroup(targets []ask.Target) []Group {
	switch len(targets) {
	case 0:
		return nil
	case 1:
		return []Group{{Restriction: ask.Free, Rules: free, Indices: concrete(&targets[0])}}
	}
	var list []string
	for i := range targets {
		list = append(list, concrete(&targets[i])...)
	}
	slices.Sort(list)
	return []Group{{Restriction: ask.Free, Rules: free, Indices: slices.Compact(list)}}
}

// concrete returns the names behind a target whose documents could be touched.
func concrete(t *ask.Target) []string {
	if len(t.Members) > 0 {
		return t.Members
	}
	return []string{t.Name}
}
