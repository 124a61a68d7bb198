package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"guard/authz"
	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/internal/query"
)

// plan is one call of Plan: the request, and what was found out about it so far.
type plan struct {
	s     *Snapshot
	who   *ask.Principal
	r     *ask.Request
	known Known
	m     endpoint.Match

	q     endpoint.Query
	asked endpoint.Asked
	first judged   // the part that every route asks first: the request itself
	items []judged // the other parts

	expanded int          // what was judged so far means so many names
	compared int          // with so many names were its wildcards compared
	searched *query.Spent // by its searches so far; nil where there is one
}

// judged is a part with what it resolved to and what was decided.
type judged struct {
	part     ask.Part
	resolved ask.Resolved
	// narrowed tells that the expressions mean something else to the cluster than what is
	// resolved: there all names have a say.
	narrowed bool
	authz.Decision
	// rejection is set on a refused part: of the request, or of its slot alone.
	rejection *ask.Rejection
	// lacking are the names that were allowed and do not exist.
	lacking []string
	// hides tells that the one target of the part may hold hidden documents.
	hides bool
	// mayAddFields tells that the write may bring fields that the mapping lacks.
	mayAddFields bool
	ruledBy      *query.Named // see plan.ruledBy; made when it is first asked
	failed       *failedWrite // see plan.failedWrite; likewise
	kept         *verdict     // nil where what follows has to be found each time
}

// without returns a copy of j of which other targets are left.
func (j *judged) without(allowed []ask.Target) *judged {
	c := *j
	c.Allowed, c.kept = allowed, nil
	return &c
}

// decide resolves and decides every part. It reports whether that settles the
// request: a part of the whole request is refused, or newer state is needed.
func (pl *plan) decide() (Outcome, bool) {
	if n := len(pl.asked.Parts); n > 1 {
		pl.items = make([]judged, 0, n-1)
	}
	for i, part := range pl.asked.Parts {
		j, err := pl.judge(part)
		switch {
		case errors.Is(err, errNeedState):
			return Outcome{Kind: Need, NeedState: true}, true
		case errors.Is(err, errTooManyTargets):
			return rejectError(err), true
		case err != nil:
			j.rejection = asRejection(err)
		}
		if i == 0 {
			pl.first = j
		} else {
			pl.items = append(pl.items, j)
		}
		if j.rejection != nil && part.Slot == ask.WholeRequest {
			return reject(j.rejection), true
		}
	}
	return Outcome{}, false
}

// maxTargets bounds what the parts of one request are expanded to together: a thousand
// searches over a thousand indices each.
const maxTargets = 1_000_000

// maxCompared bounds with how many names the wildcards of one request are compared: most
// may match nothing, and a small body can hold many.
const maxCompared = 50_000_000

// errTooManyTargets ends the request, whichever part passes the bound.
var errTooManyTargets error = &ask.Rejection{
	Status: 413, Type: "illegal_argument_exception", Reason: ask.ReasonTooLarge, Limit: ask.LimitItems,
	Public: fmt.Sprintf("the parts of this request mean more than %d names together, or its patterns may mean too many; send fewer, or narrow the patterns", maxTargets),
}

// errNeedState says that a name is unknown and the state was not refreshed for it.
var errNeedState = errors.New("newer state needed")

// mayHaveCome reports whether names that the state lacks, if it lacks any, may have come to
// be since it was read.
func (pl *plan) mayHaveCome(lacking bool) bool { return lacking && !pl.known.Fresh }

// judge resolves and decides one part, of the request or of what follows from it. The
// error is errNeedState, errTooManyTargets, or a refusal of the part.
func (pl *plan) judge(part ask.Part) (judged, error) {
	key, keeps := pl.verdictKey(&part)
	if keeps {
		if j, ok, err := pl.recall(key, &part); ok {
			return j, err
		}
		part.Exprs = cloneExprs(part.Exprs) // what is kept outlives the request
		key.exprs = keyText(part.Exprs)
	}
	j := judged{part: part}
	compared := pl.compared
	var err error
	if j.resolved, j.narrowed, err = pl.resolve(part); err != nil {
		return j, err
	}
	if err := pl.count(0, len(j.resolved.Targets)); err != nil {
		return j, err
	}
	pl.ask(&j)
	if keeps {
		pl.remember(key, &j, pl.compared-compared)
	}
	// A name that is not granted is refused at once, whether it exists or not.
	lacking := slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Kind == ask.Missing }) ||
		slices.ContainsFunc(j.resolved.Faults, func(f ask.Fault) bool { return f.Excluded && !f.Wildcard })
	if j.rejection == nil && pl.mayHaveCome(lacking) {
		return j, errNeedState
	}
	return j, nil
}

// count notes with how many names the wildcards of a part are compared and to how many it
// is expanded. The bounds hold for all parts of a request together, and whether its
// verdicts are known or not.
func (pl *plan) count(compared, expanded int) error {
	pl.compared += compared
	pl.expanded += expanded
	if pl.compared > maxCompared || pl.expanded > maxTargets {
		return errTooManyTargets
	}
	return nil
}

// resolve says what the names of a part mean to the principal. Where more names have a
// say than the decision sees, those that are not granted must have none: it is resolved
// again as if they did not exist, and narrowed tells whether that makes a difference.
func (pl *plan) resolve(part ask.Part) (res ask.Resolved, narrowed bool, err error) {
	res, err = pl.resolveSeen(part, nil)
	if err != nil || !res.Beyond {
		return res, false, err
	}
	seen := pl.s.policy.Seen(pl.who, cluster{pl.s.state}, part, pl.r.Now)
	if seen == nil {
		return res, false, nil
	}
	own, err := pl.resolveSeen(part, seen)
	same := slices.EqualFunc(res.Targets, own.Targets, func(a, b ask.Target) bool { return a.Name == b.Name && slices.Equal(a.Via, b.Via) })
	return own, !same, err
}

func (pl *plan) resolveSeen(part ask.Part, seen func(*ask.Target) bool) (ask.Resolved, error) {
	if err := pl.count(pl.s.state.Compared(part.Exprs), 0); err != nil {
		return ask.Resolved{}, err
	}
	if pl.lists() {
		return pl.s.state.ResolveListing(part.Exprs, part.Opts, pl.r.Now, seen)
	}
	return pl.s.state.ResolveSeen(part.Exprs, part.Opts, pl.r.Now, seen)
}

// ask decides a part that is resolved. What is asked only of a document with a new
// field is decided apart: most documents have none.
func (pl *plan) ask(j *judged) {
	whole := j.part
	asksFields := slices.ContainsFunc(whole.Privileges, ofNewField)
	if asksFields {
		j.part.Privileges = withoutNewField(whole.Privileges)
	}
	j.Decision = pl.decideOn(j)
	if j.Effect != authz.Allow {
		j.rejection = pl.refusal(j)
		return
	}
	for i := range j.Allowed {
		if j.Allowed[i].Kind == ask.Missing {
			j.lacking = append(j.lacking, j.Allowed[i].Name)
		}
	}
	if j.rejection = pl.dropImpossible(j); j.rejection != nil {
		return
	}
	j.hides = j.part.Single && pl.hidesDocuments(j)
	j.mayAddFields = !asksFields ||
		pl.s.policy.Decide(pl.who, cluster{pl.s.state}, whole, j.resolved, pl.r.Now).Effect == authz.Allow
}

// decideOn decides on what j is resolved to.
func (pl *plan) decideOn(j *judged) authz.Decision {
	const many = 64
	if len(j.resolved.Targets) < many {
		return pl.s.policy.Decide(pl.who, cluster{pl.s.state}, j.part, j.resolved, pl.r.Now)
	}
	d := pl.s.policy.Decide(pl.who, pl.s.state.InOrder(), j.part, j.resolved, pl.r.Now)
	return pl.s.policy.Again(d, pl.who, cluster{pl.s.state}, j.part, j.resolved, pl.r.Now) // which may be asked later, by whomever
}

// withoutNewField returns those of list that are not asked of new fields alone. These stand
// last, as a rule.
func withoutNewField(list []ask.Privilege) []ask.Privilege {
	i := slices.IndexFunc(list, ofNewField)
	if slices.ContainsFunc(list[i:], func(p ask.Privilege) bool { return !ofNewField(p) }) {
		return slices.DeleteFunc(slices.Clone(list), ofNewField)
	}
	return list[:i:i]
}

// ofNewField reports whether p is asked only of a document with a new field.
func ofNewField(p ask.Privilege) bool { return p.When == ask.NewField }

// refusal says what was missing. The names are those that the client wrote.
func (pl *plan) refusal(j *judged) *ask.Rejection {
	written := make([]string, len(j.part.Exprs))
	for i, e := range j.part.Exprs {
		written[i] = string(e)
	}
	actions := j.Decision.MissingActions()
	if r := &j.resolved; len(actions) == 0 && len(r.NoMatch) > 0 && len(r.Remote)+len(r.Targets)+len(r.Unknown) == 0 {
		return pl.missing(j, writtenText(j.part.Exprs)) // a wildcard where one name is wanted
	}
	r := forbidden(pl.who, actions, written)
	r.Missing = missingCells{j.Decision}.list
	return r
}

// asRejection finds the Rejection in err. An error that holds none is guard's own
// fault: the client learns nothing of it.
func asRejection(err error) *ask.Rejection {
	var r *ask.Rejection
	if errors.As(err, &r) {
		return r
	}
	return &ask.Rejection{Status: 500, Type: "exception", Public: "internal error", Reason: ask.ReasonInternal, Cause: err}
}

// whole returns the decision on the request itself, which every route asks first.
func (pl *plan) whole() *judged { return &pl.first }

// judgedPart returns the decision on part i of the request.
func (pl *plan) judgedPart(i int) *judged {
	if i == 0 {
		return &pl.first
	}
	return &pl.items[i-1]
}

// slots returns the decisions on the items.
func (pl *plan) slots() []judged { return pl.items }

// all yields the decisions on every part.
func (pl *plan) all(yield func(*judged) bool) {
	if !yield(&pl.first) {
		return
	}
	for i := range pl.items {
		if !yield(&pl.items[i]) {
			return
		}
	}
}

// isComparable reports whether an expression can be compared with patterns as it is written.
func isComparable(text string) bool {
	return !strings.ContainsAny(text, "?<>:/") && !strings.HasPrefix(text, "-")
}

// hasWildcard reports whether exprs mean more than the names they spell.
func hasWildcard(exprs []names.Expr) bool {
	return len(exprs) == 0 || slices.ContainsFunc(exprs, func(e names.Expr) bool {
		return e == "_all" || strings.Contains(string(e), "*")
	})
}

// cloneExprs returns expressions that share no memory with the request.
func cloneExprs(exprs []names.Expr) []names.Expr {
	own := make([]names.Expr, len(exprs))
	for i, e := range exprs {
		own[i] = names.Expr(strings.Clone(string(e)))
	}
	return own
}

func exprTexts(exprs []names.Expr) []string {
	if len(exprs) == 0 {
		return []string{"*"}
	}
	texts := make([]string, len(exprs))
	for i, e := range exprs {
		texts[i] = string(e)
	}
	return texts
}

func writtenText(exprs []names.Expr) string {
	if len(exprs) == 0 {
		return "_all"
	}
	return strings.Join(exprTexts(exprs), ",")
}

// dropImpossible answers what was allowed under a name that no index can have, as the
// cluster would: such a name is never sent, since whatever stands in between could read
// it as something else. Where missing names are ignored it is left out instead.
func (pl *plan) dropImpossible(j *judged) *ask.Rejection {
	if j.part.Aliases {
		return nil
	}
	impossible := func(t ask.Target) bool { return t.Kind == ask.Missing && names.CheckName(t.Name) != nil }
	i := slices.IndexFunc(j.Allowed, impossible)
	switch {
	case i < 0:
		return nil
	case !pl.ignoresMissing(j):
		if f := pl.fault(j); f != nil && !j.part.Single {
			return f.Rejection()
		}
		return pl.missing(j, j.Allowed[i].Name)
	}
	j.Allowed = slices.DeleteFunc(slices.Clone(j.Allowed), impossible)
	groups := make([]authz.Group, 0, len(j.Groups))
	for _, g := range j.Groups {
		g.Indices = slices.DeleteFunc(slices.Clone(g.Indices), func(name string) bool { return names.CheckName(name) != nil })
		if len(g.Indices) > 0 {
			groups = append(groups, g)
		}
	}
	j.Groups = groups
	return nil
}

// ignoresMissing reports whether names of j that do not exist are no error. The health of
// such a name is red, whatever the options say.
func (pl *plan) ignoresMissing(j *judged) bool {
	switch pl.m.Route.Answer {
	case endpoint.Health:
		return false
	case endpoint.ResolvedNames:
		return true
	default:
		o := &j.part.Opts
		if o.Expand.Nothing() && len(j.part.Exprs) == 1 {
			return o.AllowNoIndices && !j.part.Single // of one name alone they ask this instead
		}
		return o.IgnoreUnavailable && !j.part.Single
	}
}

// creates reports whether the part makes the index that it names, if it is missing.
func creates(part ask.Part) bool {
	return slices.ContainsFunc(part.Privileges, func(p ask.Privilege) bool { return p.Action == "indices:admin/create" })
}

// missing is what the cluster says of a name of j that it does not have, and cannot have
// if it would be created.
func (pl *plan) missing(j *judged, name string) *ask.Rejection {
	if err := names.CheckName(name); err != nil && creates(j.part) {
		return ask.InvalidIndexName(name, err.Error())
	}
	switch {
	case j.part.Single:
		return ask.NoSuchIndex(name, ask.IndexExpression)
	case pl.m.Route.Answer == endpoint.ResolvedNames:
		return ask.NoSuchIndex(name, ask.NoResource)
	default:
		return ask.NoSuchIndex(name, ask.IndexOrAlias)
	}
}

// call makes a call of the route's own method, checked against the length of a
// request line that the cluster takes: a list of names is never cut.
func (pl *plan) call(target string) (Call, *ask.Rejection) {
	const rest = len(" HTTP/1.1")
	if len(pl.r.Method)+1+len(target)+rest > pl.s.settings.MaxUpstreamURI {
		return Call{}, tooLong()
	}
	return Call{Method: pl.r.Method, Target: target, Repeatable: pl.m.Route.Repeatable}, nil
}

func tooLong() *ask.Rejection {
	return &ask.Rejection{
		Status: 400, Type: "too_long_http_line_exception", Reason: ask.ReasonTooLarge, Limit: ask.LimitUpstreamURI,
		Public: "the names behind this request do not fit into one request line of the cluster; narrow the pattern",
	}
}
