package authz

import (
	"slices"
	"strings"

	"guard/internal/ask"
)

// outcome collects targets while a decision is made. As long as nothing is taken
// away it copies nothing.
type outcome struct {
	all       []ask.Target // what was asked
	allowed   []ask.Target // what is left of it, once something was taken away
	taken     bool
	forbidden bool // something was taken away that the client may not have
}

// keep notes that target i is allowed as it is.
func (o *outcome) keep(i int) {
	if o.taken {
		o.allowed = append(o.allowed, o.all[i])
	}
}

// drop notes that target i is not allowed as it is. If hidden it does not count as
// forbidden: a wildcard never meant it.
func (o *outcome) drop(i int, hidden bool, instead ...ask.Target) {
	if !o.taken {
		o.taken = true
		o.allowed = append(make([]ask.Target, 0, len(o.all)), o.all[:i]...)
	}
	o.forbidden = o.forbidden || !hidden
	o.allowed = append(o.allowed, instead...)
}

// targets returns what is allowed, sorted and without repeats.
func (o *outcome) targets() []ask.Target {
	if !o.taken {
		return o.all
	}
	slices.SortStableFunc(o.allowed, func(a, b ask.Target) int { return strings.Compare(a.Name, b.Name) })
	merged := o.allowed[:0]
	for _, t := range o.allowed {
		if last := len(merged) - 1; last >= 0 && merged[last].Name == t.Name {
			merged[last] = mergeWays(merged[last], t)
		} else {
			merged = append(merged, t)
		}
	}
	bindWhole(merged)
	return merged
}

// mergeWays joins two targets of one name. As on the cluster, one way without a
// filter shows every document, and each filter lets its own through.
func mergeWays(a, b ask.Target) ask.Target {
	if a.Kind == ask.Index && b.Kind == ask.DataStream {
		a, b = b, a // the member of an alias that is a stream, and the stream, whose indices it shows too
	}
	a.Wildcard = a.Wildcard && b.Wildcard
	if len(a.Via) == 0 || len(b.Via) == 0 {
		a.Via, a.Filtered = nil, false
		return a
	}
	a.Via = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Via, b.Via))))
	return a
}

// bindWhole counts the aliases and streams that stay whole among the ways to the
// indices that also stand by their own names: forwarded beside an alias such a name
// would otherwise hide, or show, something else than the alias does.
func bindWhole(targets []ask.Target) {
	if !slices.ContainsFunc(targets, func(t ask.Target) bool { return len(t.Via) > 0 }) {
		return
	}
	ways := make(map[string]ask.Target) // by member: the joined ways through whole names
	for _, whole := range targets {
		if whole.Kind != ask.Alias && whole.Kind != ask.DataStream {
			continue
		}
		way := ask.Target{Wildcard: true}
		if whole.Filtered {
			way.Via = []string{whole.Name}
		}
		for _, m := range whole.Members {
			if other, ok := ways[m]; ok {
				ways[m] = mergeWays(other, way)
			} else {
				ways[m] = way
			}
		}
	}
	for i := range targets {
		if way, ok := ways[targets[i].Name]; ok && len(targets[i].Via) > 0 {
			way.Wildcard = targets[i].Wildcard
			targets[i] = mergeWays(targets[i], way)
		}
	}
}

// mustBeWhole reports whether something was taken away from a part that can't be
// forwarded without it, or a part that names one thing names none.
func (q *query) mustBeWhole(out *outcome) bool {
	return out.taken && (q.part.Single || q.part.Fixed) || q.part.Single && len(out.all) == 0
}
