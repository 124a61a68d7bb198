package names

import (
	"iter"
	"maps"
	"slices"
)

// Ordinal is the number of a name in a Table.
type Ordinal uint32

// Table numbers names. It is immutable; Apply returns the next one, in which every
// name that stays keeps its ordinal, so that sets made with the old table hold in
// the new one. The ordinal of a name that went away is not given out again. The zero
// value is an empty table.
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
