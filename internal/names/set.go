package names

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// Ordinal is the number of a name in a Table.
type Ordinal uint32

// Table numbers names. It is immutable; Apply returns the next one, in which every
// name that stays keeps its ordinal, so that sets made with the old table hold in
// the new one. The ordinal of a name that went away is not given out again until
// Compact. The zero value is an empty table.
type Table struct {
	base  map[string]Ordinal // shared by the tables of one line
	delta map[string]Ordinal // added since base was made; copied by each Apply
	gone  map[string]struct{}
	names []string // by ordinal; append-only and shared, len is this table's end
}

// NewTable numbers list in its order; repeats count once.
func NewTable(list []string) *Table {
	t := &Table{base: make(map[string]Ordinal, len(list))}
	for _, name := range list {
		if _, ok := t.base[name]; !ok {
			t.base[name] = Ordinal(len(t.names)) //nolint:gosec // G115: far below 2^32 names
			t.names = append(t.names, name)
		}
	}
	t.names = slices.Clip(t.names)
	return t
}

// maxDelta is how many changes a table carries before they are merged: copying them
// is the cost of an Apply.
const maxDelta = 1024

// Apply returns the table without the names of remove and with those of add.
func (t *Table) Apply(add, remove []string) *Table {
	// The names are clipped, so that two tables that follow from one never share places.
	next := &Table{base: t.base, delta: maps.Clone(t.delta), gone: maps.Clone(t.gone), names: slices.Clip(t.names)}
	for _, name := range remove {
		next.remove(name)
	}
	for _, name := range add {
		next.add(name)
	}
	if len(next.delta)+len(next.gone) > maxDelta {
		next.merge()
	}
	return next
}

func (t *Table) remove(name string) {
	if _, ok := t.delta[name]; ok {
		delete(t.delta, name)
		return
	}
	if _, ok := t.base[name]; ok {
		if t.gone == nil {
			t.gone = make(map[string]struct{})
		}
		t.gone[name] = struct{}{}
	}
}

// add gives name a new ordinal unless it has one. A name that comes back gets
// another than it had: it is another index.
func (t *Table) add(name string) {
	if _, ok := t.Lookup(name); ok {
		return
	}
	if t.delta == nil {
		t.delta = make(map[string]Ordinal)
	}
	t.delta[name] = Ordinal(len(t.names)) //nolint:gosec // G115: far below 2^32 names
	t.names = append(t.names, name)
}

func (t *Table) merge() {
	base := maps.Clone(t.base)
	for name := range t.gone {
		delete(base, name)
	}
	maps.Copy(base, t.delta)
	t.base, t.delta, t.gone = base, nil, nil
}

// Compact numbers the names that are left anew, in the order of their ordinals, and
// says which ordinal each old one became. Sets must be translated or rebuilt.
func (t *Table) Compact() (next *Table, moved map[Ordinal]Ordinal) {
	var list []string
	moved = make(map[Ordinal]Ordinal)
	for old, name := range t.All() {
		moved[old] = Ordinal(len(list)) //nolint:gosec // G115: far below 2^32 names
		list = append(list, name)
	}
	return NewTable(list), moved
}

// Lookup returns the ordinal of name.
func (t *Table) Lookup(name string) (Ordinal, bool) {
	if o, ok := t.delta[name]; ok {
		return o, true
	}
	o, ok := t.base[name]
	if ok && len(t.gone) > 0 {
		_, gone := t.gone[name]
		ok = !gone
	}
	return o, ok
}

// Name returns the name that o had when it was given out.
func (t *Table) Name(o Ordinal) string { return t.names[o] }

// End is one more than the highest ordinal that was given out.
func (t *Table) End() Ordinal { return Ordinal(len(t.names)) } //nolint:gosec // G115: far below 2^32 names

// Len is the number of names.
func (t *Table) Len() int { return len(t.base) - len(t.gone) + len(t.delta) }

// All yields the names that are left, by rising ordinal.
func (t *Table) All() iter.Seq2[Ordinal, string] {
	return func(yield func(Ordinal, string) bool) {
		for i, name := range t.names {
			o, ok := t.Lookup(name)
			if ok && int(o) == i && !yield(o, name) {
				return
			}
		}
	}
}

// Match returns the ordinals of the names that p matches.
func (t *Table) Match(p Pattern) Set {
	var s Set
	if name, ok := p.IsExact(); ok {
		if o, ok := t.Lookup(name); ok {
			s.Add(o)
		}
		return s
	}
	for o, name := range t.All() {
		if p.Match(name) {
			s.Add(o)
		}
	}
	return s
}

// Set is a set of ordinals. The zero value is empty. Copies share memory: Clone
// before changing one that others read.
type Set struct {
	words []uint64
}

// NewSet returns the set of list.
func NewSet(list ...Ordinal) Set {
	var s Set
	for _, o := range list {
		s.Add(o)
	}
	return s
}

// Add puts o into s.
func (s *Set) Add(o Ordinal) {
	s.grow(int(o>>6) + 1)
	s.words[o>>6] |= 1 << (o & 63)
}

// Remove takes o out of s.
func (s *Set) Remove(o Ordinal) {
	if int(o>>6) < len(s.words) {
		s.words[o>>6] &^= 1 << (o & 63)
	}
}

func (s *Set) grow(words int) {
	if n := words - len(s.words); n > 0 {
		s.words = append(s.words, make([]uint64, n)...)
	}
}

// Has reports whether o is in s.
func (s Set) Has(o Ordinal) bool {
	return int(o>>6) < len(s.words) && s.words[o>>6]&(1<<(o&63)) != 0
}

// Len is the number of members.
func (s Set) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// IsEmpty reports whether s has no member.
func (s Set) IsEmpty() bool {
	return !slices.ContainsFunc(s.words, func(w uint64) bool { return w != 0 })
}

// Clone returns a copy that shares nothing with s.
func (s Set) Clone() Set { return Set{slices.Clone(s.words)} }

// Union adds the members of other to s.
func (s *Set) Union(other Set) {
	s.grow(len(other.words))
	for i, w := range other.words {
		s.words[i] |= w
	}
}

// Intersect keeps the members that other has as well.
func (s *Set) Intersect(other Set) {
	for i := range s.words {
		if i < len(other.words) {
			s.words[i] &= other.words[i]
		} else {
			s.words[i] = 0
		}
	}
}

// Minus takes the members of other out of s.
func (s *Set) Minus(other Set) {
	for i := range min(len(s.words), len(other.words)) {
		s.words[i] &^= other.words[i]
	}
}

// Contains reports whether s has every member of other.
func (s Set) Contains(other Set) bool {
	for i, w := range other.words {
		if i < len(s.words) {
			w &^= s.words[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Intersects reports whether s and other share a member.
func (s Set) Intersects(other Set) bool {
	for i := range min(len(s.words), len(other.words)) {
		if s.words[i]&other.words[i] != 0 {
			return true
		}
	}
	return false
}

// Equal reports whether s and other have the same members.
func (s Set) Equal(other Set) bool { return s.Contains(other) && other.Contains(s) }

// All yields the members in rising order.
func (s Set) All() iter.Seq[Ordinal] {
	return func(yield func(Ordinal) bool) {
		for i, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(Ordinal(i<<6 + bits.TrailingZeros64(w))) { //nolint:gosec // G115: from ordinals
					return
				}
			}
		}
	}
}
