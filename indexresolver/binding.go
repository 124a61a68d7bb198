package indexresolver

import (
	"maps"
	"slices"
	"strings"

	"guard/internal/ask"
)

// Binding is what the aliases of a request put on one index.
type Binding struct {
	// Filters are queries of which one must match; none means that all documents do.
	Filters [][]byte
	// Routing are the search routings, sorted; none means every shard.
	Routing []string
}

// Bindings returns what binds the indices of r, as the cluster would bind them: only
// where every way to an index leads through an alias with a filter (or a routing)
// does it apply. An index that is free is not in the map. A rewrite of aliases to
// their indices must keep these.
func (s *State) Bindings(r ask.Resolved) map[string]Binding {
	free := make(map[string]bool)
	ways := make(map[string][]string)
	for _, t := range r.Targets {
		switch {
		case t.Kind == ask.Index && len(t.Via) > 0:
			ways[t.Name] = append(ways[t.Name], t.Via...)
		case t.Kind == ask.Alias:
			for _, m := range t.Members {
				ways[m] = append(ways[m], t.Name)
			}
		default:
			for _, m := range t.Members {
				free[m] = true
			}
		}
	}
	out := make(map[string]Binding)
	for index, aliases := range ways {
		if free[index] {
			continue
		}
		if b := s.binding(index, aliases); len(b.Filters) > 0 || len(b.Routing) > 0 {
			out[index] = b
		}
	}
	return out
}

func (s *State) binding(index string, aliases []string) Binding {
	x, ok := s.Index(index)
	if !ok {
		return Binding{}
	}
	var b Binding
	filtered, routed := true, true
	routing := map[string]struct{}{}
	seen := map[string]bool{}
	for i := range x.Aliases {
		m := &x.Aliases[i]
		if !slices.Contains(aliases, m.Alias) {
			continue
		}
		if m.Filter == nil {
			filtered = false
		} else if !seen[string(m.Filter)] {
			seen[string(m.Filter)] = true
			b.Filters = append(b.Filters, m.Filter)
		}
		if m.SearchRouting == "" {
			routed = false
		}
		for part := range strings.SplitSeq(m.SearchRouting, ",") {
			routing[part] = struct{}{}
		}
	}
	if !filtered {
		b.Filters = nil
	}
	if routed {
		b.Routing = slices.Sorted(maps.Keys(routing))
	}
	return b
}
