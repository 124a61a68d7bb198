package indexresolver

import (
	"slices"
	"strings"
)

// likeness is all that what an index answers depends on, beside its documents.
type likeness struct {
	mapping         MappingID
	sort, analyzers string
}

// Alike returns one of all indices that have the same mapping, order and analysers, in the
// order of the list, and the names of it that are no index.
func (s *State) Alike(indices []string) []string {
	if len(indices) < 2 {
		return indices
	}
	seen := make(map[likeness]struct{})
	var last *entry
	var list []string
	o := s.InOrder()
	for _, name := range indices {
		e := o.entry(name)
		if e == nil || e.index == nil {
			list = append(list, name)
			continue
		}
		if last != nil && e.like(last) { // fast path: most are
			continue
		}
		last = e
		l := likeness{e.mapping, strings.Join(e.index.Sort, "\x00"), strings.Join(e.index.Analyzers, "\x00")}
		if _, ok := seen[l]; !ok {
			seen[l] = struct{}{}
			list = append(list, name)
		}
	}
	return list
}

func (e *entry) like(o *entry) bool {
	if e.mapping != o.mapping || e.tuned != o.tuned { // which is zero only where there is no mapping
		return false
	}
	return !e.tuned || slices.Equal(e.index.Sort, o.index.Sort) && slices.Equal(e.index.Analyzers, o.index.Analyzers)
}
