package naive

import (
	"slices"
	"strings"

	"guard/internal/names"
)

// kind is what a name is.
type kind int

const (
	missing kind = iota
	anIndex
	anAlias
	aStream
)

// target is a name that was asked for.
type target struct {
	name    string
	kind    kind
	members []string // indices
	wild    bool     // found by a wildcard and not written
	ways    []string // of an index that stands alone: the filtered aliases that alone lead to it
}

// lookup says what a name is.
func (w *World) lookup(name string) (t target, hidden bool) {
	t = target{name: name}
	for _, x := range w.Indices {
		if x.Name == name {
			return target{name: name, kind: anIndex, members: []string{name}}, x.Hidden
		}
		for _, a := range x.Aliases {
			if a.Name == name {
				t.kind, t.members = anAlias, append(t.members, x.Name)
				hidden = hidden || a.Hidden
			}
		}
	}
	for _, s := range w.Streams {
		if s.Name == name {
			return target{name: name, kind: aStream, members: s.Indices}, s.Hidden
		}
	}
	return t, hidden
}

// everyName lists indices, aliases and streams.
func (w *World) everyName() []string {
	var list []string
	for _, x := range w.Indices {
		list = append(list, x.Name)
		for _, a := range x.Aliases {
			list = append(list, a.Name)
		}
	}
	for _, s := range w.Streams {
		list = append(list, s.Name)
	}
	return sorted(list)
}

func (w *World) index(name string) Index {
	for _, x := range w.Indices {
		if x.Name == name {
			return x
		}
	}
	return Index{}
}

// aliasesOf lists the aliases of an index.
func (w *World) aliasesOf(index string) []string {
	var list []string
	for _, a := range w.index(index).Aliases {
		list = append(list, a.Name)
	}
	return list
}

// streamOf returns the stream of an index, or "".
func (w *World) streamOf(index string) string {
	for _, s := range w.Streams {
		if slices.Contains(s.Indices, index) {
			return s.Name
		}
	}
	return ""
}

// filtered reports whether a name is an alias that carries a filter or a routing, on any
// of its indices.
func (w *World) filtered(name string) bool {
	for _, x := range w.Indices {
		for _, a := range x.Aliases {
			if a.Name == name && (a.Filter != "" || a.Routing != "") {
				return true
			}
		}
	}
	return false
}

// bound says what aliases put on an index to which they alone lead: each filter and each
// routing counts only if all of them have one.
func (w *World) bound(index string, aliases []string) Bound {
	var b Bound
	unfiltered, unrouted := len(aliases) == 0, len(aliases) == 0
	for _, a := range w.index(index).Aliases {
		if !slices.Contains(aliases, a.Name) {
			continue
		}
		unfiltered = unfiltered || a.Filter == ""
		unrouted = unrouted || a.Routing == ""
		b.Filters = append(b.Filters, a.Filter)
		b.Routing = append(b.Routing, a.Routing)
	}
	if unfiltered {
		b.Filters = nil
	}
	if unrouted {
		b.Routing = nil
	}
	return Bound{sorted(b.Filters), sorted(b.Routing)}
}

// boundBy says for each index behind targets what aliases put on it.
func (w *World) boundBy(targets []target) map[string]Bound {
	ways := map[string][]string{} // the filtered aliases that lead to an index
	free := map[string]bool{}     // what something else leads to
	for _, t := range targets {
		through := t.ways
		if w.filtered(t.name) {
			through = []string{t.name}
		}
		for _, x := range t.members {
			ways[x] = append(ways[x], through...)
			free[x] = free[x] || len(through) == 0
		}
	}
	out := map[string]Bound{}
	for x, through := range ways {
		if free[x] {
			through = nil
		}
		out[x] = w.bound(x, through)
	}
	return out
}

// wanted reports whether wildcards mean indices in the state of this one.
func (w *World) wanted(index string, opts names.Options) bool {
	if w.index(index).Closed {
		return opts.Expand&names.ExpandClosed != 0
	}
	return opts.Expand&names.ExpandOpen != 0
}

// shows reports whether a wildcard means a name that is hidden or not.
func shows(wildcard, name string, hidden bool, opts names.Options) bool {
	dots := strings.HasPrefix(name, ".") && strings.HasPrefix(wildcard, ".")
	return !hidden || dots || opts.Expand&names.ExpandHidden != 0
}

// sorted returns the texts of a list, each once.
func sorted(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
