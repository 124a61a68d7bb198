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
	byID := make(map[ask.RestrictionID][]string)
	for i := range targets {
		for _, name := range concrete(&targets[i]) {
			id := q.restriction(name).ID
			byID[id] = append(byID[id], name)
		}
	}
	groups := make([]Group, 0, len(byID))
	for id, list := range byID {
		slices.Sort(list)
		groups = append(groups, Group{Restriction: id, Indices: slices.Compact(list)})
	}
	slices.SortFunc(groups, func(a, b Group) int { return bytes.Compare(a.Restriction[:], b.Restriction[:]) })
	return groups
}

// freeGroup is the one group of a principal whose roles carry no rule: what is
// granted is covered by an entry, so it is free.
func (q *query) freeGroup(targets []ask.Target) []Group {
	switch len(targets) {
	case 0:
		return nil
	case 1:
		return []Group{{Restriction: ask.Free, Indices: concrete(&targets[0])}}
	}
	var list []string
	for i := range targets {
		list = append(list, concrete(&targets[i])...)
	}
	slices.Sort(list)
	return []Group{{Restriction: ask.Free, Indices: slices.Compact(list)}}
}

// concrete returns the names behind a target whose documents could be touched.
func concrete(t *ask.Target) []string {
	if len(t.Members) > 0 {
		return t.Members
	}
	return []string{t.Name}
}
