package authz

import (
	"guard/internal/ask"
	"guard/internal/names"
)

// The rules of "v4" are those of the plugin's newer evaluator: aliases and streams
// stay whole and are granted by their own names, and names are taken away from any
// request that names them by a wildcard or ignores unavailable ones.

func (q *query) v4() Decision {
	out := outcome{all: q.asked()}
	for i := range out.all {
		q.v4Target(&out, i)
	}
	remote, allRemote := q.splitRemote()
	switch {
	case q.mustBeWhole(&out):
		return q.deny()
	case len(out.all) == 0 && len(q.res.Remote) == 0:
		return q.v4Empty(false)
	case !out.forbidden && allRemote:
		return q.v4Allow(out.targets(), remote, out.taken)
	case !q.v4Reducible():
		return q.deny()
	}
	return q.v4Allow(out.targets(), remote, true)
}

// v4Target judges target i by its name. An alias or stream that holds a closed
// index is not granted.
func (q *query) v4Target(out *outcome, i int) {
	t := &out.all[i]
	closed := q.anyClosed(t)
	granted := false
	switch t.Kind {
	case ask.Index, ask.DataStream:
		granted = !closed && q.mayIndex(t.Name)
	case ask.Alias:
		granted = !closed && q.mayName(t.Name, false)
	case ask.Missing:
		granted = !closed && q.mayName(t.Name, true)
	}
	if granted {
		out.keep(i)
		return
	}
	out.drop(i, closed && t.Wildcard)
}

// v4Allow allows what is left, which may be nothing.
func (q *query) v4Allow(targets []ask.Target, remote []names.Expr, reduced bool) Decision {
	if len(targets) == 0 && len(remote) == 0 {
		return q.v4Empty(reduced)
	}
	return q.allow(targets, remote, reduced)
}

// v4Empty decides on no names at all: nothing may happen to nothing only if the
// actions are granted somewhere, and nothing may come of something only if the
// client allows no indices.
func (q *query) v4Empty(reduced bool) Decision {
	if reduced && !q.part.Opts.AllowNoIndices {
		return q.deny()
	}
	if !q.every(false, func(g *grant) bool { return !g.nothing() }) {
		return q.deny()
	}
	return q.allow(nil, nil, reduced)
}

// v4Reducible reports whether names may be taken away from this part.
func (q *query) v4Reducible() bool {
	if !q.policy.reduce || q.part.Single || q.part.Fixed {
		return false
	}
	opts := q.part.Opts
	return opts.IgnoreUnavailable || (q.wild() && opts.Expand&names.ExpandOpen != 0)
}
