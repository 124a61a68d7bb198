package indexresolver

import (
	"guard/internal/ask"
	"guard/internal/names"
)

// Listed returns what a listing of all names shows: indices in the wanted states,
// aliases and data streams, hidden ones only if states has them. A search for
// everything means something else: its targets are concrete indices.
func (s *State) Listed(states names.Expand) []ask.Target {
	if s.Empty() {
		return nil
	}
	var out []ask.Target
	for _, e := range s.sorted {
		if e.hidden && states&names.ExpandHidden == 0 || e.kind == ask.Index && !inState(e, states) {
			continue
		}
		out = append(out, e.target(true))
	}
	return out
}
