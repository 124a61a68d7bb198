package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"guard/authz"
	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
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
