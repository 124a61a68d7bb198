package gate

import (
	"errors"
	"slices"
	"strings"

	"guard/endpoint"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
	"guard/internal/query"
)

// planManage forwards what makes, changes or removes names. A rule follows the
// concrete index, so whoever is bound by one may not give it another name.
func (pl *plan) planManage() Outcome {
	if out, final := pl.checkNewAliases(); final {
		return out
	}
	if rej := pl.checkRemovedAliases(); rej != nil {
		return reject(rej)
	}
	switch pl.m.Route.Targets {
	case endpoint.CreateIndexBody:
		return pl.planCreate()
	case endpoint.AliasActions:
		return pl.planAliases()
	case endpoint.AliasBody:
		return pl.planPutAlias()
	case endpoint.AliasNamed:
		return pl.planDeleteAlias()
	case endpoint.PathIndex:
		return pl.planDelete()
	default:
		return reject(notBuilt("endpoint [" + pl.m.Route.ID + "]"))
	}
}

// planDelete forwards the deletion of indices. An alias or stream never stands for its
// indices here.
func (pl *plan) planDelete() Outcome {
	for _, t := range pl.whole().Allowed {
		if t.Kind == ask.Alias || t.Kind == ask.DataStream {
			return reject(badRequest("The provided expression [%s] matches an alias or a data stream, specify the corresponding concrete indices instead.", t.Name))
		}
	}
	if pl.ruled() { // what is hidden would go with it
		return reject(restricted("an index under a document or field rule may not be deleted"))
	}
	f, rej := pl.forwardNames(pl.whole())
	if rej != nil {
		return reject(rej)
	}
	return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), nil)
}

// unruled refuses a change by someone whom a rule binds on what is changed.
func (pl *plan) unruled() *ask.Rejection {
	if pl.ruled() {
		return restricted("aliases of an index under a document or field rule may not be changed")
	}
	return nil
}

// ruled reports whether a rule binds an index of the request that is there.
func (pl *plan) ruled() bool {
	for j := range pl.all {
		if j.ruled() {
			return true
		}
	}
	return false
}

// ruled reports whether a rule binds an index that is there, among those that the part's
// names stand for.
func (j *judged) ruled() bool {
	return j.exists() && j.bound()
}

// exists reports whether any name of the part is there already.
func (j *judged) exists() bool {
	return slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Kind != ask.Missing })
}

// checkNewAliases refuses to make an alias under a name that stands for indices which
// are not all granted. If it is an alias, what others read through it would change; if
// it is an index or a stream, the error of the cluster would tell of it. Nor may whom a rule
// binds on one of them add his own index: what others write to the alias could come to him
// without the rule. A new index gets no alias by whose name a rule will bind him: he would
// choose with the index what the rule means. By the newer evaluator the names of aliases are
// parts of the request already. It reports whether that settles the request.
func (pl *plan) checkNewAliases() (Outcome, bool) {
	for _, alias := range pl.newAliases() {
		j, err := pl.judgeAlias(alias)
		switch {
		case errors.Is(err, errNeedState) || pl.mayHaveCome(len(j.resolved.Unknown) > 0):
			return Outcome{Kind: Need, NeedState: true}, true
		case err != nil:
			return rejectError(err), true
		case len(j.resolved.Targets) > 0 && j.rejection != nil:
			return reject(j.rejection), true
		case j.ruled():
			return reject(restricted("an alias of an index under a document or field rule may not be changed")), true
		case j.bound() && (pl.m.Route.Targets == endpoint.CreateIndexBody || pl.m.Route.Targets == endpoint.NewIndex):
			return reject(boundCreation("[aliases]")), true
		}
	}
	return Outcome{}, false
}

// newAliases lists the aliases that the request makes or adds indices to.
func (pl *plan) newAliases() []names.Expr {
	var list []names.Expr
	switch pl.m.Route.Targets {
	case endpoint.AliasActions:
		for _, a := range pl.asked.Actions {
			if a.Op == endpoint.AliasAdd {
				list = append(list, a.Aliases...)
			}
		}
	case endpoint.AliasBody:
		list = append(list, pl.asked.Alias.Alias)
	case endpoint.CreateIndexBody, endpoint.NewIndex:
		for alias := range pl.asked.Index.Aliases.Members() {
			list = append(list, names.Expr(alias))
		}
	}
	return list
}

// checkRemovedAliases asks what is removed by a pattern: the aliases of the indices that
// are named. Other names are not looked at, since a refusal would tell of them. By the
// older evaluator the names of aliases are not asked.
func (pl *plan) checkRemovedAliases() *ask.Rejection {
	if !pl.s.asksAliasNames() {
		return nil
	}
	if name, ok := pl.m.Name(); ok && pl.m.Route.Targets == endpoint.AliasNamed {
		return pl.checkRemoval(pl.whole(), names.Split(name))
	}
	for _, a := range pl.asked.Actions {
		if a.Op != endpoint.AliasRemove {
			continue
		}
		if rej := pl.checkRemoval(pl.judgedPart(a.Part), a.Aliases); rej != nil {
			return rej
		}
	}
	return nil
}

// checkRemoval refuses to remove aliases from the indices of on unless each one that
// patterns among exprs mean is granted.
func (pl *plan) checkRemoval(on *judged, exprs []names.Expr) *ask.Rejection {
	for _, index := range indexresolver.Indices(ask.Resolved{Targets: on.Allowed}) {
		x, _ := pl.s.state.Index(index)
		if err := pl.count(comparing*len(exprs)*len(x.Aliases), 0); err != nil {
			return asRejection(err)
		}
		for _, a := range x.Aliases {
			if !means(exprs, a.Alias) {
				continue
			}
			j, err := pl.judgeAlias(names.Expr(a.Alias))
			switch {
			case err != nil:
				return asRejection(err)
			case j.rejection != nil:
				return forbiddenAction(pl.who, makesAliases[0].Action, exprTexts(exprs))
			}
		}
	}
	return nil
}

// comparing is what means costs for one of exprs, in what [plan.count] counts.
const comparing = 8

// means reports whether the patterns among exprs mean alias. A pattern or name behind '-'
// takes out what others before it mean.
func means(exprs []names.Expr, alias string) bool {
	meant := false
	for i, e := range exprs {
		excluded, not := e.Excluded()
		if not && i > 0 {
			p, ok := excluded.Pattern()
			meant = meant && string(excluded) != alias && !(ok && p.Match(alias))
			continue
		}
		p, ok := e.Pattern()
		meant = meant || e == "_all" || e.IsWildcard() && ok && p.Match(alias)
	}
	return meant
}

var makesAliases = []ask.Privilege{{Action: "indices:admin/aliases"}}

// judgeAlias asks whether an alias of this name may be made or removed, and what the name
// stands for now.
func (pl *plan) judgeAlias(alias names.Expr) (judged, error) {
	return pl.judge(ask.Part{Slot: ask.WholeRequest, Privileges: makesAliases, Exprs: []names.Expr{alias}, Fixed: true, Aliases: true})
}

// checkAliasFilter walks the filter of an alias: it runs for whoever reads the alias,
// and may not read what its maker could not.
func checkAliasFilter(details esjson.Value) *ask.Rejection {
	filter, ok := details.Lookup("filter")
	if !ok {
		return nil
	}
	if _, err := query.AppendQuery(nil, filter, &query.Rules{Filter: query.Free}); err != nil {
		return refusedQuery(err)
	}
	return nil
}

// planAliases forwards alias actions with the names that were decided.
func (pl *plan) planAliases() Outcome {
	if rej := pl.unruled(); rej != nil {
		return reject(rej)
	}
	var w esjson.Writer
	w.BeginObject()
	w.Key("actions")
	w.BeginArray()
	for _, a := range pl.asked.Actions {
		if rej := pl.writeAction(&w, a); rej != nil {
			return reject(rej)
		}
	}
	w.EndArray()
	w.EndObject()
	return pl.sendChange(pl.r.Method, endpoint.Target([]string{"_aliases"}, pl.q.Params), w.Bytes())
}

func (pl *plan) sendChange(method, target string, body []byte) Outcome {
	call, rej := pl.call(target)
	if rej != nil {
		return reject(rej)
	}
	call.Method = method
	setBody(&call, body)
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, ChangesState: always}}
}

// writeAction writes one action with its indices one by one: a wildcard would mean
// what there is when the cluster reads it.
func (pl *plan) writeAction(w *esjson.Writer, a endpoint.AliasAction) *ask.Rejection {
	list, rej := pl.decidedNames(pl.judgedPart(a.Part))
	if rej != nil {
		return rej
	}
	for key, details := range a.Value.Members() {
		if rej := checkAliasFilter(details); rej != nil {
			return rej
		}
		w.BeginObject()
		w.Key(key)
		w.BeginObject()
		writeTexts(w, "indices", list)
		for k, v := range details.Members() {
			if k != "index" && k != "indices" {
				w.Key(k)
				w.Value(v)
			}
		}
		w.EndObject()
		w.EndObject()
	}
	return nil
}

// decidedNames lists the names of a part that were allowed.
func (pl *plan) decidedNames(j *judged) ([]string, *ask.Rejection) {
	if len(j.resolved.Remote) > 0 {
		return nil, badRequest("an alias cannot name an index of another cluster: [%s]", names.Clip(writtenText(j.part.Exprs)))
	}
	if f := pl.fault(j); f != nil {
		return nil, f.Rejection()
	}
	if len(j.Allowed) == 0 {
		return nil, ask.NoSuchIndex(writtenText(j.part.Exprs), ask.IndexOrAlias)
	}
	list := make([]string, len(j.Allowed))
	for i := range j.Allowed {
		list[i] = j.Allowed[i].Name
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// planPutAlias writes the alias with its indices in the path, wherever they stood.
func (pl *plan) planPutAlias() Outcome {
	if rej := pl.unruled(); rej != nil {
		return reject(rej)
	}
	put := pl.asked.Alias
	list, rej := pl.decidedNames(pl.whole())
	if rej != nil {
		return reject(rej)
	}
	var body []byte
	if len(pl.q.Body) > 0 {
		v, rej := pl.parse(pl.q.Body)
		if rej != nil {
			return reject(rej)
		}
		if rej := checkAliasFilter(v); rej != nil {
			return reject(rej)
		}
		body = aliasDetails(v)
	}
	path := []string{strings.Join(list, ","), "_alias", string(put.Alias)}
	return pl.sendChange("PUT", endpoint.Target(path, pl.q.Params), body)
}

// aliasDetails prints a body of PUT _alias without the names that went into the path.
func aliasDetails(v esjson.Value) []byte {
	var w esjson.Writer
	w.BeginObject()
	for key, m := range v.Members() {
		if key != "index" && key != "alias" {
			w.Key(key)
			w.Value(m)
		}
	}
	w.EndObject()
	return w.Bytes()
}

func (pl *plan) planDeleteAlias() Outcome {
	if rej := pl.unruled(); rej != nil {
		return reject(rej)
	}
	list, rej := pl.decidedNames(pl.whole())
	if rej != nil {
		return reject(rej)
	}
	return pl.forward(pl.m.Target(list, pl.q.Params), nil)
}
