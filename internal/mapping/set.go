package mapping

import (
	"fmt"

	"guard/internal/esjson"
)

// Set shares equal mappings: thousands of indices from one template have one
// object. It belongs to one state of the cluster while that is being built, and is
// read-only afterwards; the next state's set is made from it, so that what did not
// change is not parsed again and what is gone is forgotten.
type Set struct {
	old, now map[Hash]*Mapping
}

// NewSet returns an empty set that can reuse the mappings of prev, which may be nil.
func NewSet(prev *Set) *Set {
	s := &Set{now: map[Hash]*Mapping{}}
	if prev != nil {
		s.old = prev.now
	}
	return s
}

// Seal ends the building: what the former set had and this one did not ask for is
// forgotten.
func (s *Set) Seal() { s.old = nil }

// Len returns the number of different mappings.
func (s *Set) Len() int { return len(s.now) }

// Intern returns the mapping that v describes, parsed once per content.
func (s *Set) Intern(v esjson.Value) (*Mapping, error) {
	root, err := unwrap(v)
	if err != nil {
		return nil, err
	}
	h := contentHash(root)
	if m := s.now[h]; m != nil {
		return m, nil
	}
	m := s.old[h]
	if m == nil {
		if m, err = Parse(root); err != nil {
			return nil, err
		}
	}
	s.now[h] = m
	return m, nil
}

// InternAll reads the answer to a mapping request, {"index": {"mappings": …}, …},
// and calls keep for each index in it (whose name
// shares the answer's memory). An index whose mapping cannot be read is
// reported with its error: it alone is unusable.
func (s *Set) InternAll(answer esjson.Value, keep func(index string, m *Mapping, err error)) error {
	if !answer.Is(esjson.Object) {
		return fmt.Errorf("cannot read mappings: the answer is %s; want an object", answer.Kind())
	}
	for index, item := range answer.Members() {
		inner, ok := item.Lookup("mappings")
		if !ok {
			keep(index, nil, fmt.Errorf("cannot read mappings: index %q has no key \"mappings\"", index))
			continue
		}
		m, err := s.Intern(inner)
		keep(index, m, err)
	}
	return nil
}
