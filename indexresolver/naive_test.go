package indexresolver_test

import (
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"guard/indexresolver"
	"guard/internal/names"
	"guard/test/resolution"
)

// naive expands expressions in the plainest way: a set of texts, changed step by
// step, of which each is looked up at the end. It shares no code with Resolve.
type naive struct {
	indexresolver.Contents
	opts names.Options
}

// members returns the indices behind a name, and whether there is such a name.
func (n naive) members(name string) (indices []string, hidden, ok bool) {
	for _, x := range n.Indices {
		if x.Name == name {
			return []string{name}, x.Hidden, true
		}
		for _, m := range x.Aliases {
			if m.Alias == name {
				indices, hidden, ok = append(indices, x.Name), m.Hidden, true
			}
		}
	}
	for _, d := range n.DataStreams {
		if d.Name == name {
			return d.Indices, d.Hidden, true
		}
	}
	return indices, hidden, ok
}

func (n naive) allNames() []string {
	set := map[string]bool{}
	for _, x := range n.Indices {
		set[x.Name] = true
		for _, m := range x.Aliases {
			set[m.Alias] = true
		}
	}
	for _, d := range n.DataStreams {
		set[d.Name] = true
	}
	return slices.Sorted(maps.Keys(set))
}

func (n naive) closed(index string) bool {
	return slices.ContainsFunc(n.Indices, func(x indexresolver.Index) bool { return x.Name == index && x.Closed })
}

func (n naive) wanted(index string) bool {
	if n.closed(index) {
		return n.opts.Expand&names.ExpandClosed != 0
	}
	return n.opts.Expand&names.ExpandOpen != 0
}

// expand returns the names that wildcard matches at all, and those it expands to.
// With whole, aliases are not replaced by their indices.
func (n naive) expand(wildcard string, whole bool) (matched, expanded []string) {
	for _, name := range n.allNames() {
		if ok, _ := path.Match(strings.NewReplacer("?", `\?`, "[", `\[`).Replace(wildcard), name); !ok {
			continue
		}
		matched = append(matched, name)
		indices, hidden, _ := n.members(name)
		dots := strings.HasPrefix(name, ".") && strings.HasPrefix(wildcard, ".")
		if hidden && !dots && n.opts.Expand&names.ExpandHidden == 0 {
			continue
		}
		if whole {
			expanded = append(expanded, name)
			continue
		}
		for _, x := range indices {
			if n.wanted(x) {
				expanded = append(expanded, x)
			}
		}
	}
	return matched, expanded
}

// all is what "*" alone means.
func (n naive) all() []string {
	var out []string
	for _, x := range n.Indices {
		visible := !x.Hidden || n.opts.Expand&names.ExpandHidden != 0
		for _, d := range n.DataStreams {
			visible = visible || !d.Hidden && slices.Contains(d.Indices, x.Name)
		}
		if visible && n.wanted(x.Name) {
			out = append(out, x.Name)
		}
	}
	return out
}

// texts is the set after the last expression.
func (n naive) texts(exprs []string, whole bool) (set map[string]bool, status int) {
	set = map[string]bool{}
	seen := false
	for _, e := range exprs {
		if e == "" {
			return nil, http.StatusNotFound
		}
		if e[0] == '_' {
			return nil, http.StatusBadRequest
		}
		if _, _, ok := n.members(e); ok {
			set[e] = true
			continue
		}
		add := true
		if seen && e[0] == '-' {
			add, e = false, e[1:]
		}
		texts := []string{e}
		if strings.Contains(e, "*") {
			seen = true
			matched, expanded := n.expand(e, whole)
			if len(matched) == 0 && !n.opts.AllowNoIndices {
				return nil, http.StatusNotFound
			}
			texts = expanded
		} else if _, _, ok := n.members(e); !ok && !n.opts.IgnoreUnavailable {
			return nil, http.StatusNotFound
		}
		for _, text := range texts {
			if add {
				set[text] = true
			} else {
				delete(set, text)
			}
		}
	}
	return set, http.StatusOK
}

// answer is what a search for exprs does.
func (n naive) answer(exprs []string) resolution.Answer {
	trivial := len(exprs) == 0 || len(exprs) == 1 && (exprs[0] == "*" || exprs[0] == "_all")
	var set map[string]bool
	strict := !n.opts.IgnoreUnavailable
	switch {
	case n.opts.Expand.Nothing():
		set = map[string]bool{}
		for _, e := range exprs {
			if !trivial && e == "" {
				return resolution.Answer{Status: http.StatusNotFound}
			}
			if !trivial && e[0] == '_' {
				return resolution.Answer{Status: http.StatusBadRequest}
			}
			set[e] = true
		}
		if len(exprs) < 2 {
			strict = !n.opts.AllowNoIndices
		}
	case trivial:
		set = map[string]bool{}
		for _, name := range n.all() {
			set[name] = true
		}
	default:
		var status int
		if set, status = n.texts(exprs, false); status != http.StatusOK {
			return resolution.Answer{Status: status}
		}
	}
	return n.concrete(set, strict)
}

func (n naive) concrete(set map[string]bool, strict bool) resolution.Answer {
	open := map[string]bool{}
	closed := false
	for text := range set {
		indices, _, ok := n.members(text)
		if !ok && strict {
			return resolution.Answer{Status: http.StatusNotFound}
		}
		for _, x := range indices {
			if n.closed(x) {
				closed = true
			} else {
				open[x] = true
			}
		}
	}
	switch {
	case closed && !n.opts.IgnoreUnavailable:
		return resolution.Answer{Status: http.StatusBadRequest}
	case len(open) == 0 && !n.opts.AllowNoIndices:
		return resolution.Answer{Status: http.StatusNotFound}
	}
	return resolution.Answer{Status: http.StatusOK, Indices: strings.Join(slices.Sorted(maps.Keys(open)), ",")}
}

// filters returns, for each index of the answer, the filters that bind it; an index
// without one is not in the map.
func (n naive) filters(exprs []string) map[string][]string {
	set, status := n.texts(exprs, true)
	if status != http.StatusOK {
		return nil
	}
	out := map[string][]string{}
	for _, x := range n.Indices {
		if set[x.Name] || slices.ContainsFunc(n.DataStreams, func(d indexresolver.DataStream) bool { return set[d.Name] && slices.Contains(d.Indices, x.Name) }) {
			continue
		}
		var filters []string
		free := false
		for _, m := range x.Aliases {
			if set[m.Alias] {
				filters = append(filters, string(m.Filter))
				free = free || m.Filter == nil
			}
		}
		if len(filters) > 0 && !free {
			slices.Sort(filters)
			out[x.Name] = slices.Compact(filters)
		}
	}
	return out
}
