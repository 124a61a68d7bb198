package gate

import (
	"maps"
	"slices"

	"guard/authz"
	"guard/dls"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/query"
)

// The cluster applies the filter of an alias beside the query, where a range in it can end
// a shard before anything of the query can fail: by the dates that the shard holds, in
// hidden documents too. So under a document rule nothing is left to the cluster's own
// filter: the indices are asked by their own names, and the filter stands in the query,
// written by the same walker as the rule. (Where no rule applies the alias keeps its name:
// no document is hidden from someone who may read its indices.)

// unaliased returns j with the indices of filtered aliases in their place, if a document
// rule applies to any of its indices.
func (pl *plan) unaliased(j *judged) (*judged, *ask.Rejection) {
	if j.kept != nil && !j.kept.aliased || !isRuled(j) || !slices.ContainsFunc(j.Allowed, isFilteredAlias) {
		return j, nil
	}
	bound := pl.s.state.Bindings(ask.Resolved{Targets: j.Allowed})
	if len(bound) == 0 {
		return j, nil // other names lead to the indices as well
	}
	for _, b := range bound {
		switch {
		case len(b.Routing) == 0:
		case pl.s.standAsWritten(bound): // a routing is brought by the name alone
			return j, nil
		default:
			return nil, notBuilt("an alias with a routing, and a range in a filter, under a document rule")
		}
	}
	return j.without(behindAliases(j.Allowed, bound)), nil
}

// isRuled reports whether a document rule applies to any index of j.
func isRuled(j *judged) bool {
	return slices.ContainsFunc(j.Groups, func(g authz.Group) bool { return g.Rules.HidesDocuments() })
}

func isFilteredAlias(t ask.Target) bool { return t.Kind == ask.Alias && t.Filtered }

// behindAliases lists the indices of filtered aliases in the place of these, sorted. Those
// that are bound say through which aliases they were reached.
func behindAliases(targets []ask.Target, bound map[string]indexresolver.Binding) []ask.Target {
	found := map[string]ask.Target{}
	add := func(t ask.Target) {
		if other, ok := found[t.Name]; ok {
			t.Wildcard = t.Wildcard && other.Wildcard
			t.Via = sortedUnion(t.Via, other.Via)
		}
		found[t.Name] = t
	}
	for _, t := range targets {
		if !isFilteredAlias(t) {
			add(t)
			continue
		}
		for _, m := range t.Members {
			add(ask.Target{Name: m, Kind: ask.Index, Members: []string{m}, Wildcard: t.Wildcard, Via: []string{t.Name}})
		}
	}
	list := make([]ask.Target, 0, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t := found[name]
		if _, t.Filtered = bound[name]; !t.Filtered {
			t.Via = nil // another name shows all of it
		}
		list = append(list, t)
	}
	return list
}

func sortedUnion(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// anyFilter shows what any filter of some aliases shows. One that guard does not understand
// is taken as it is, but under a document rule.
func (s *Snapshot) anyFilter(aliases [][]byte, ruled bool) (query.Filter, *ask.Rejection) {
	filters := make([]query.Filter, len(aliases))
	for i, raw := range aliases {
		f, _, err := s.aliasFilter(raw)
		switch {
		case err != nil && ruled:
			return query.None, notBuilt("the filter of an alias that this request goes through, under a document rule,")
		case err != nil && !isObject(raw):
			return query.None, notBuilt("an alias of a data stream whose filter the cluster does not tell, but by its own name,")
		case err != nil:
			f = query.Filter(raw)
		}
		filters[i] = f
	}
	return dls.Or(filters...), nil
}

// readFilter is what is remembered of the filter of an alias.
type readFilter struct {
	filter    query.Filter
	asWritten bool
	err       error
}

func (s *Snapshot) aliasFilter(raw []byte) (f query.Filter, asWritten bool, err error) {
	r, ok := s.memo.aliases.Get(string(raw))
	if !ok {
		r.filter, r.asWritten, r.err = dls.Alias(raw)
		s.memo.aliases.Add(string(raw), r)
	}
	return r.filter, r.asWritten, r.err
}

// standAsWritten reports whether the filters of aliases are the same beside a query.
func (s *Snapshot) standAsWritten(bound map[string]indexresolver.Binding) bool {
	for _, b := range bound {
		for _, raw := range b.Filters {
			if _, same, err := s.aliasFilter(raw); err != nil || !same {
				return false
			}
		}
	}
	return true
}
