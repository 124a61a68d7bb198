package indexresolver

import (
	"slices"
	"strings"

	"guard/internal/ask"
)

// InOrder answers as its State does, and fastest about names that come in their order, as
// the targets of a wildcard do: of 100,000 entries a map finds each far from the one before.
// It is for one goroutine.
type InOrder struct {
	s  *State
	at int // the entry in sorted that was found last
}

// InOrder returns one that stands before the first name.
func (s *State) InOrder() *InOrder { return &InOrder{s: s} }

// Aliases returns the aliases of the concrete index called name. It is read-only.
func (o *InOrder) Aliases(name string) []string {
	if e := o.entry(name); e != nil && e.kind == ask.Index {
		return e.aliases
	}
	return nil
}

// Stream returns the data stream that the index called name belongs to, or "".
func (o *InOrder) Stream(name string) string {
	if e := o.entry(name); e != nil && e.stream != nil {
		return e.stream.name
	}
	return ""
}

// entry returns the entry called name, or nil. It looks from the last one on, in steps that
// double.
func (o *InOrder) entry(name string) *entry {
	rest := o.s.sorted[o.at:]
	for i := range min(2, len(rest)) { // fast path: the same again, or the next one
		if rest[i].name == name {
			o.at += i
			return rest[i]
		}
	}
	if len(rest) == 0 || rest[0].name > name {
		return o.s.entries[name]
	}
	step := 1
	for step < len(rest) && rest[step].name <= name {
		step *= 2
	}
	from := step / 2
	i, found := slices.BinarySearchFunc(rest[from:min(step, len(rest))], name, func(e *entry, name string) int { return strings.Compare(e.name, name) })
	if !found {
		return nil
	}
	o.at += from + i
	return rest[from+i]
}
