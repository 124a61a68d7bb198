package gate

import (
	"slices"

	"guard/indexresolver"
	"guard/internal/query"
)

// orderTold returns what the order in which the indices of b keep their documents tells of
// what b hides: the values of a hidden field, or which segment has the newest document, if
// that may be a hidden one.
func (s *Snapshot) orderTold(b *binding) query.Order {
	hides := b.rules.Filter != query.Free && !b.rules.NamesOnly
	if !hides && b.views == nil {
		return query.Untold
	}
	told := query.Untold
	for _, index := range b.alike {
		order, view := s.state.Order(index), b.views[index]
		switch {
		case view != nil && slices.ContainsFunc(order.Fields, func(field string) bool { return !view.Shows(field) }):
			return query.OfDocuments
		case order.Newest && (hides || view != nil && !view.Shows(indexresolver.Time)):
			if told = query.OfSegments; b.views == nil {
				return told
			}
		}
	}
	return told
}
