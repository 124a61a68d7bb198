package indexresolver

import (
	"slices"
	"strings"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

// ResolveListing says what exprs name for an endpoint that lists names, _resolve/index.
// The clusters have other rules for it than for a search: an alias or a stream is listed
// by its own name, whatever the state of its indices; exclusions take names away, and
// nothing else; and a name that does not exist is passed over, unless date math made it.
// Otherwise it is ResolveSeen.
func (s *State) ResolveListing(exprs []names.Expr, opts names.Options, now time.Time, seen func(*ask.Target) bool) (ask.Resolved, error) {
	if s.Empty() {
		return s.ResolveSeen(exprs, opts, now, seen)
	}
	l := listing{walk: walk{state: s, opts: opts, seen: seen}, listed: map[*entry]int{}, literal: map[*entry]bool{}}
	switch {
	case len(exprs) == 0 || len(exprs) == 1 && exprs[0] == "*":
		l.out.All = true
		exprs = []names.Expr{"*"}
	case len(exprs) == 1 && exprs[0] == "_all":
		return ask.Resolved{}, nil // here it is a name that nothing can have
	}
	for _, e := range exprs {
		if err := l.step(e, now); err != nil {
			return ask.Resolved{}, err
		}
	}
	for m := range l.listed {
		l.out.Targets = append(l.out.Targets, m.target(!l.literal[m]))
	}
	slices.SortFunc(l.out.Targets, func(a, b ask.Target) int { return strings.Compare(a.Name, b.Name) })
	l.out.Unknown = sortedSet(l.out.Unknown)
	return l.out, nil
}

// listing goes through the expressions of one list.
type listing struct {
	walk
	listed  map[*entry]int  // how often: an exclusion takes one away
	literal map[*entry]bool // of those, the ones that were written out
}

func (l *listing) step(written names.Expr, now time.Time) error {
	e, excluded := written, false
	if rest, ok := written.Excluded(); ok && l.wildcardSeen {
		e, excluded = rest, true
	}
	computed, remote, err := compute(e, now)
	switch {
	case err != nil:
		return err
	case remote:
		l.out.Remote = append(l.out.Remote, e)
		return nil
	case e == "" && !excluded:
		return ask.NoSuchIndex("", ask.NoResource)
	case computed.IsWildcard() && !l.opts.Expand.Nothing():
		l.expand(computed, excluded)
		l.wildcardSeen = true
		return nil
	case !excluded && e[0] == '_':
		return badExpression(e, "must not start with '_'")
	}
	l.name(computed, excluded, e.IsDateMath())
	return nil
}

// expand lists what the wildcard e matches and the options show, or takes it away.
func (l *listing) expand(e names.Expr, excluded bool) {
	l.out.Beyond = l.out.Beyond || excluded || !l.opts.AllowNoIndices
	found := false
	for m := range l.matches(e) {
		if !l.shows(m, e, false) {
			continue
		}
		found = true
		if excluded {
			delete(l.listed, m)
		} else {
			l.listed[m]++
		}
	}
	if !found {
		if !excluded {
			l.out.NoMatch = append(l.out.NoMatch, e)
		}
		if !l.opts.AllowNoIndices {
			l.out.Faults = append(l.out.Faults, ask.Fault{Name: string(e), As: ask.NoResource, Wildcard: true, Excluded: excluded})
		}
	}
	if excluded {
		l.out.Excluded = append(l.out.Excluded, string(e))
	}
}

// name lists one name, or takes it away. One that was computed has to exist, and to be
// shown as if a wildcard had found it.
func (l *listing) name(e names.Expr, excluded, computed bool) {
	l.out.Beyond = l.out.Beyond || excluded
	if excluded {
		l.out.Excluded = append(l.out.Excluded, string(e))
	}
	m, ok := l.entry(e)
	if computed && !(ok && l.shows(m, e, true)) {
		if !l.opts.IgnoreUnavailable {
			l.out.Faults = append(l.out.Faults, ask.Fault{Name: string(e), As: ask.NoResource, Excluded: excluded, Wildcard: e.IsWildcard()})
		}
		if !excluded {
			l.miss(e)
		}
		return
	}
	switch {
	case !ok && !excluded:
		l.miss(e)
	case !ok:
	case !excluded:
		l.listed[m]++
		l.literal[m] = true
	case l.listed[m] > 1:
		l.listed[m]--
	default:
		delete(l.listed, m)
	}
}

func (l *listing) miss(e names.Expr) {
	if e.IsWildcard() {
		l.out.NoMatch = append(l.out.NoMatch, e)
		return
	}
	l.out.Unknown = append(l.out.Unknown, string(e))
}

// shows reports whether the options show m, which e matched or, if named is set, date
// math gave. Streams always are.
func (l *listing) shows(m *entry, e names.Expr, named bool) bool {
	visible := l.visible(m, e)
	if named {
		visible = !m.hidden || l.opts.Expand&names.ExpandHidden != 0
	}
	return m.kind == ask.DataStream || visible && (named || m.kind != ask.Index || l.wanted(m))
}
