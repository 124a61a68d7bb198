// Package dls turns role queries into filters. A rule's text is checked when it is
// loaded, filled with the caller's values so that each stays one value, and kept as
// canonical bytes: same rule and same caller, same filter. What cannot be filled or
// checked is an error, which grants nothing.
//
// dls imports only internal/query and internal/esjson beside the standard library:
// the walker over queries, and the tables, are there.
package dls

import (
	"fmt"
	"slices"
	"strings"

	"guard/internal/esjson"
	"guard/internal/query"
)

// Filter is a document rule in canonical bytes; see query.Filter.
type Filter = query.Filter

// MatchNone shows no document; it is the zero Filter.
const MatchNone = query.None

// Free is the absence of a document rule.
const Free = query.Free

// Or shows what any of filters shows: of nothing nothing, and everything if one is
// Free. Order and repeats do not matter to the result.
func Or(filters ...Filter) Filter {
	if slices.Contains(filters, Free) {
		return Free
	}
	parts := slices.DeleteFunc(slices.Clone(filters), func(f Filter) bool { return f == MatchNone })
	slices.Sort(parts)
	parts = slices.Compact(parts)
	switch len(parts) {
	case 0:
		return MatchNone
	case 1:
		return parts[0]
	}
	return anyOf(parts)
}

// anyOf is the disjunction of at least one query.
func anyOf(parts []Filter) Filter {
	var b strings.Builder
	b.WriteString(`{"bool":{"minimum_should_match":1,"should":[`)
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(p))
	}
	b.WriteString(`]}}`)
	return Filter(b.String())
}

// Group is a set of concrete indices under one filter.
type Group struct {
	Indices []string
	Filter  Filter
}

// maxNames is what clusters take in one terms clause.
const maxNames = 65536

// Groups binds each group's filter to its indices: a document is shown if its index
// is listed and the filter listed with it shows the document. An index that no
// group lists shows nothing. One group alone needs no binding, since the request
// names nothing else; it is the caller who holds that (law 3).
func Groups(groups ...Group) (Filter, error) {
	if len(groups) == 1 {
		return groups[0].Filter, nil
	}
	byFilter := map[Filter][]string{}
	names := 0
	for _, g := range groups {
		byFilter[g.Filter] = append(byFilter[g.Filter], g.Indices...)
		names += len(g.Indices)
	}
	if names > maxNames {
		return MatchNone, fmt.Errorf("cannot bind filters to %d indices; want at most %d: narrow the pattern", names, maxNames)
	}
	delete(byFilter, MatchNone)
	parts := make([]Filter, 0, len(byFilter))
	for f, indices := range byFilter {
		if len(indices) == 0 {
			continue
		}
		part := onIndices(indices)
		if f != Free {
			part = `{"bool":{"filter":[` + part + `,` + f + `]}}`
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return MatchNone, nil
	}
	slices.Sort(parts)
	return anyOf(parts), nil
}

// onIndices is the query for all documents of indices.
func onIndices(indices []string) Filter {
	indices = slices.Compact(slices.Sorted(slices.Values(indices)))
	b := []byte(`{"terms":{"_index":[`)
	for i, name := range indices {
		if i > 0 {
			b = append(b, ',')
		}
		b = esjson.AppendString(b, name)
	}
	return Filter(append(b, `]}}`...))
}
