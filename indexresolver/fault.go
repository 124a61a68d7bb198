package indexresolver

import (
	"slices"

	"guard/internal/ask"
	"guard/internal/names"
)

// A search is answered with 404 by two steps of the cluster. The first expands wildcards,
// unless they may expand to nothing at all: it wants each name to exist and each wildcard
// to match. The second looks up what is left: it has no use for names that are missing,
// and says so in other words.

// lack notes that nothing is called e, which was written out.
func (w *walk) lack(e names.Expr) {
	nothing := w.opts.Expand.Nothing()
	if !nothing && !w.opts.IgnoreUnavailable {
		w.fault(ask.Fault{Name: string(e), As: ask.IndexOrAlias})
		return
	}
	w.kept[string(e)] = true
	if w.alone && !w.opts.AllowNoIndices || nothing && !w.alone && !w.opts.IgnoreUnavailable {
		w.fault(ask.Fault{Name: string(e), As: ask.IndexExpression, Wildcard: e.IsWildcard()})
	}
}

// lackMatch notes that nothing matches the wildcard e.
func (w *walk) lackMatch(e names.Expr, excluded bool) {
	if !w.opts.AllowNoIndices {
		w.fault(ask.Fault{Name: string(e), As: ask.IndexOrAlias, Wildcard: true, Excluded: excluded})
	}
}

// lackExcluded notes that nothing is called e, which was to be taken out.
func (w *walk) lackExcluded(e names.Expr) {
	if !w.opts.IgnoreUnavailable {
		w.fault(ask.Fault{Name: string(e), As: ask.IndexOrAlias, Excluded: true})
	}
}

func (w *walk) fault(f ask.Fault) {
	if !w.stopped {
		w.out.Faults = append(w.out.Faults, f)
	}
}

// leftFaults says what is wrong with a list of which the first step leaves so many names.
func (w *walk) leftFaults(exprs []names.Expr, left int) []ask.Fault {
	if left > 0 || w.opts.AllowNoIndices || w.opts.Expand.Nothing() || w.state.Engine.leavesEmpty() {
		return nil
	}
	return []ask.Fault{{List: texts(exprs), As: ask.IndexOrAlias}}
}

// allFaults says what is wrong with every index, written as exprs, if none may be meant.
func (w *walk) allFaults(exprs []names.Expr) []ask.Fault {
	if w.opts.AllowNoIndices || !w.opts.Expand.Nothing() {
		return nil
	}
	name := "_all"
	if len(exprs) > 0 {
		name = string(exprs[0])
	}
	return []ask.Fault{{Name: name, As: ask.IndexExpression, Wildcard: true}}
}

func texts(exprs []names.Expr) []string {
	out := make([]string, len(exprs))
	for i, e := range exprs {
		out[i] = string(e)
	}
	return out
}

// anyClosed reports whether an index of e is closed.
func (e *entry) anyClosed() bool {
	return slices.ContainsFunc(e.members, func(m *entry) bool { return m.index.Closed })
}

// leavesEmpty reports whether the first step of the cluster takes an empty list for no
// error, so that the second says so: OpenSearch 3 does (measured on 3.4, and 2.19 does not).
func (e Engine) leavesEmpty() bool { return e.Distribution == OpenSearch && e.Major >= 3 }
