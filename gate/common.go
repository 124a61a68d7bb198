package gate

import (
	"slices"
	"strings"

	"guard/internal/ask"
	"guard/internal/names"
)

// commonNames returns patterns in the place of the client's wildcards that match what of
// them is granted and can't come to match anything else: index_a* where index_* was asked
// and no more is granted (law 3). They must mean exactly what was decided.
func (pl *plan) commonNames(j *judged) ([]names.Expr, bool) {
	if !j.part.Opts.AllowNoIndices || len(j.Groups) != 1 || len(j.Remote)+len(j.resolved.Unknown)+len(j.resolved.Excluded) > 0 {
		return nil, false
	}
	exprs := j.part.Exprs
	if len(exprs) == 0 {
		exprs = []names.Expr{"*"}
	}
	var common []names.Expr
	for _, e := range exprs {
		list, ok := pl.commonOf(j, e)
		if !ok {
			return nil, false
		}
		common = append(common, list...)
	}
	slices.Sort(common)
	common = slices.Compact(common)
	return common, len(common) > 0 && pl.meansAllowed(j, common)
}

// commonOf is commonNames for one expression.
func (pl *plan) commonOf(j *judged, e names.Expr) ([]names.Expr, bool) {
	if _, not := e.Excluded(); not || !hasWildcard([]names.Expr{e}) {
		return nil, false
	}
	asked, ok := e.Pattern()
	if !ok {
		return nil, false
	}
	list, id := pl.s.policy.Common(pl.who, j.part.Privileges, asked, pl.r.Now)
	if len(list) > 0 && id != j.Groups[0].Restriction {
		return nil, false
	}
	exprs := make([]names.Expr, 0, len(list))
	for _, p := range list {
		text := p.String()
		_, exact := p.IsExact()
		switch {
		case exact || strings.Contains(text, "?"):
			return nil, false // a name that was not written out may be gone; no cluster knows '?'
		case strings.HasPrefix(text, ".") && !strings.HasPrefix(string(e), "."):
			return nil, false // it would find hidden names, which the client's did not
		}
		exprs = append(exprs, names.Expr(text))
	}
	return exprs, true
}

// meansAllowed reports whether exprs mean what j allows, no more and no less.
func (pl *plan) meansAllowed(j *judged, exprs []names.Expr) bool {
	res, err := pl.s.state.Resolve(exprs, j.part.Opts, pl.r.Now)
	return err == nil && !res.All && slices.EqualFunc(res.Targets, j.Allowed, func(a, b ask.Target) bool {
		return a.Name == b.Name && a.Kind == b.Kind && a.Wildcard == b.Wildcard && slices.Equal(a.Via, b.Via) && slices.Equal(a.Members, b.Members)
	})
}
