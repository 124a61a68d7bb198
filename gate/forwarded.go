package gate

import (
	"fmt"
	"slices"
	"sync"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// nothing is an expression that matches no index on any engine (measured): the
// endpoint then gives its own empty answer. An empty list would mean every index.
var nothing = []string{".none*", "-*"}

// forwarded is how the names of a part are written in the request to the cluster.
type forwarded struct {
	names []string
	opts  names.Options
	// open tells that the names are not all concrete indices: what they mean can
	// change until they are used, so documents must be bound by _index as well.
	open bool
	// alike tells that all that the names can come to mean is granted with the restriction
	// that was decided (law 3): no document has to be bound, but for views of fields, which
	// need the mapping.
	alike bool
	// covered tells that this is the client's own expression.
	covered bool
	listed  *listed // nil where the names are not kept
}

// listed is a list of names that is kept, as it stands in the header of a multi-search and in
// the target of a search without parameters, or with those of askEveryShard alone.
type listed struct {
	once    sync.Once
	text    []byte
	targets [2]struct {
		once sync.Once
		text string
	}
}

// appendHeader appends the header of a search over the names of f.
func (f *forwarded) appendHeader(dst []byte, s endpoint.Search) []byte {
	if f.listed == nil {
		return s.AppendHeader(dst, f.names)
	}
	f.listed.once.Do(func() { f.listed.text = esjson.AppendTexts(nil, f.names) })
	return s.AppendHeaderOf(dst, f.listed.text)
}

// fits reports whether the names of f may fit into a request line of so many bytes.
func (f *forwarded) fits(line int) bool {
	for _, name := range f.names {
		if line -= len(name) + 1; line < 0 {
			return false
		}
	}
	return true
}

// forwardNames writes what was allowed of j: the client's own expression if every
// name that it could ever match is granted alike, else the names one by one (law 3).
func (pl *plan) forwardNames(j *judged) (forwarded, *ask.Rejection) {
	if j.kept != nil {
		return j.kept.forwardNames(pl, j)
	}
	return pl.writeNames(j)
}

func (pl *plan) writeNames(j *judged) (forwarded, *ask.Rejection) {
	f := forwarded{opts: j.part.Opts}
	if rej := pl.notFound(j); rej != nil {
		return f, rej
	}
	if len(j.Allowed)+len(j.Remote) == 0 {
		f.names, f.opts.Expand = nothing, names.ExpandOpen
		if pl.lists() && !f.opts.AllowNoIndices {
			f.opts.Expand = names.ExpandNone // names that are not there are passed over, wildcards may not be
		}
		return f, nil
	}
	if pl.coversWhole(j) {
		f.names, f.open, f.alike, f.covered = exprTexts(j.part.Exprs), true, true, true
		return f, nil
	}
	if common, ok := pl.commonNames(j); ok {
		f.names, f.open, f.alike = exprTexts(common), true, true
		return f, nil
	}
	return pl.listNames(j, false), nil
}

// notFound is the cluster's 404 for the names of j: for the first that is missing and has
// to be there, or if nothing is left of them and something has to be.
func (pl *plan) notFound(j *judged) *ask.Rejection {
	if f := pl.fault(j); f != nil {
		if pl.told(j, f) {
			return nil
		}
		return f.Rejection()
	}
	if j.part.Opts.AllowNoIndices || len(j.Remote) > 0 || pl.anyUsable(j) {
		return nil
	}
	if pl.lists() {
		return nil // an empty list
	}
	var list []string
	if len(j.part.Exprs) > 0 {
		list = exprTexts(j.part.Exprs)
	}
	return ask.NothingLeft(list, ask.IndexExpression)
}

// fault returns the first expression of j that means nothing though it has to. Of a name
// that is not granted nothing is said, whether it exists or not.
func (pl *plan) fault(j *judged) *ask.Fault {
	for i := range j.resolved.Faults {
		if f := &j.resolved.Faults[i]; pl.tells(j, f) {
			return f
		}
	}
	return nil
}

// told reports whether the cluster itself says f of the names as they are forwarded. It is
// asked where it does: it knows best.
func (pl *plan) told(j *judged, f *ask.Fault) bool {
	written := len(f.List) == 0 && !f.Wildcard && !f.Excluded && names.CheckName(f.Name) == nil
	return written && len(j.lacking) == 1 && (len(j.part.Exprs) == 1 || !j.part.Opts.Expand.Nothing()) && !pl.lists()
}

func (pl *plan) tells(j *judged, f *ask.Fault) bool {
	switch {
	case len(f.List) > 0 || f.Wildcard:
		return true
	case f.Excluded:
		_, granted := pl.covers(j, names.Expr(f.Name))
		return granted || names.CheckName(f.Name) != nil
	default:
		return slices.Contains(j.lacking, f.Name)
	}
}

// lists reports whether the endpoint lists names, by rules of its own.
func (pl *plan) lists() bool {
	return pl.m.Route != nil && pl.m.Route.Answer == endpoint.ResolvedNames
}

// anyUsable reports whether the endpoint has a use for any name that was allowed of j, or
// has another error than 404 for it.
func (pl *plan) anyUsable(j *judged) bool {
	skipsClosed := j.part.Opts.IgnoreUnavailable && !pl.takesClosed()
	return slices.ContainsFunc(j.Allowed, func(t ask.Target) bool {
		if t.Kind == ask.Missing {
			return !j.part.Opts.IgnoreUnavailable
		}
		return !skipsClosed || slices.ContainsFunc(t.Members, func(name string) bool {
			x, ok := pl.s.state.Index(name)
			return ok && !x.Closed
		})
	})
}

// listNames writes what was allowed of j one by one, each target as add has it or by its
// indices.
func (pl *plan) listNames(j *judged, byIndex bool) forwarded {
	f := forwarded{opts: j.part.Opts}
	expanded := true
	for i := range j.Allowed {
		t := &j.Allowed[i]
		expanded = expanded && t.Wildcard
		if byIndex {
			f.addIndices(t)
		} else {
			pl.add(&f, j, t)
		}
	}
	for _, e := range j.Remote {
		f.names = append(f.names, string(e))
	}
	slices.Sort(f.names)
	f.names = slices.Compact(f.names)
	// A name that a wildcard found may be gone by now: that is no error. Closed indices
	// are one, unless they are skipped.
	if expanded && len(j.Remote) == 0 && (f.opts.Expand&names.ExpandClosed == 0 || pl.takesClosed()) {
		f.opts.IgnoreUnavailable = true
	}
	return f
}

// takesClosed reports whether a closed index is no error for the endpoint.
func (pl *plan) takesClosed() bool {
	switch pl.m.Route.Answer {
	case endpoint.AliasByIndex, endpoint.CatIndices, endpoint.Changed, endpoint.IndexByName, endpoint.MappingByIndex, endpoint.ResolvedNames:
		return true
	default:
		return false
	}
}

// add writes one target of j: an alias by its members, so that it cannot be moved in the
// meantime, unless it carries a filter that only its name brings. Where whatever is behind
// its name is granted by that and under no rule, and a member's name alone does not grant
// it, the alias is safer: a member's name could come to be that of others' indices.
func (pl *plan) add(f *forwarded, j *judged, t *ask.Target) {
	if t.Kind == ask.Alias && !t.Filtered && !pl.safeByAlias(j, t) {
		f.names = append(f.names, t.Members...)
		return
	}
	f.open = f.open || t.Kind != ask.Index
	if f.names == nil && t.Kind == ask.Index && len(t.Members) == 1 && t.Members[0] == t.Name {
		f.names = t.Members[:1:1] // the list of one name that is there already
		return
	}
	f.names = append(f.names, t.Name)
}

func (pl *plan) safeByAlias(j *judged, t *ask.Target) bool {
	return !pl.s.policy.Ruled(pl.who) && pl.grantsByName(j, t.Name) &&
		slices.ContainsFunc(t.Members, func(m string) bool { return !pl.grantsByName(j, m) })
}

// grantsByName reports whether j is granted on whatever name may come to mean.
func (pl *plan) grantsByName(j *judged, name string) bool {
	_, granted := pl.covers(j, names.Expr(name))
	return granted
}

// addIndices writes one target by its indices, where no alias binds any of them.
func (f *forwarded) addIndices(t *ask.Target) {
	if t.Kind == ask.Alias || t.Kind == ask.DataStream {
		f.names = append(f.names, t.Members...)
		return
	}
	f.names = append(f.names, t.Name)
}

// coversWhole reports whether the part may be forwarded as the client wrote it.
func (pl *plan) coversWhole(j *judged) bool {
	if j.Reduced || j.narrowed || len(j.resolved.Unknown)+len(j.resolved.Excluded)+len(j.Remote) > 0 || len(j.Groups) > 1 || !hasWildcard(j.part.Exprs) {
		return false
	}
	if isRuled(j) && slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return len(t.Via) > 0 }) {
		return false // see unaliased
	}
	exprs := j.part.Exprs
	if len(exprs) == 0 {
		exprs = []names.Expr{"*"}
	}
	for i, e := range exprs {
		excluded, not := e.Excluded()
		if not = not && i > 0; !not {
			excluded = e
		}
		id, ok := pl.covers(j, excluded)
		// An exclusion only narrows. But an alias that is not granted takes its indices out.
		if !ok || !not && len(j.Groups) == 1 && id != j.Groups[0].Restriction {
			return false
		}
	}
	return true
}

// covers reports whether all that e can match is granted for what j asks, and with which
// restriction.
func (pl *plan) covers(j *judged, e names.Expr) (ask.RestrictionID, bool) {
	text := string(e)
	if text == "_all" {
		text = "*"
	}
	if !isComparable(text) {
		return ask.RestrictionID{}, false
	}
	p, err := names.ParsePattern(text)
	if err != nil {
		return ask.RestrictionID{}, false
	}
	return pl.s.policy.Covers(pl.who, j.part.Privileges, p, pl.r.Now)
}

// indexParams returns params with the index options as they are forwarded.
func (pl *plan) indexParams(params []ask.Param, f forwarded) []ask.Param {
	if f.opts.IgnoreUnavailable != pl.q.Opts.IgnoreUnavailable {
		params = endpoint.SetParam(params, "ignore_unavailable", fmt.Sprint(f.opts.IgnoreUnavailable))
	}
	if f.opts.Expand != pl.q.Opts.Expand {
		params = endpoint.SetParam(params, "expand_wildcards", f.opts.Expand.String())
	}
	return params
}
