package gate

import (
	"slices"
	"strings"

	"guard/authz"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// planWrite forwards the write of one document. Under a rule only a new one may be
// made: what an id holds already could be hidden, as a whole or in part, and would be lost.
func (pl *plan) planWrite() Outcome {
	j := pl.whole()
	if rej := pl.mayWrite(j, pl.q.Creates, pl.m.Route.ID == "update"); rej != nil {
		return reject(rej)
	}
	if rej := pl.checkDocument(j); rej != nil {
		return reject(rej)
	}
	call, rej := pl.call(pl.m.Target([]string{writeName(j)}, pl.q.Params))
	if rej != nil {
		return reject(rej)
	}
	setBody(&call, pl.q.Body)
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: call, Treat: pl.checkWrite(j, pl.failedWrite(j))}}
	if j.Allowed[0].Kind == ask.Missing {
		out.Forward.ChangesState = always
	}
	return out
}

// hidesDocuments reports whether documents of a target may be hidden: by a rule, or by
// the filter of the alias that it is named by.
func (pl *plan) hidesDocuments(j *judged) bool {
	filtered := func(t ask.Target) bool {
		if !t.Filtered {
			return false
		}
		for _, b := range pl.s.state.Bindings(ask.Resolved{Targets: []ask.Target{t}}) {
			if len(b.Filters) > 0 {
				return true
			}
		}
		return false
	}
	return isRuled(j) || slices.ContainsFunc(j.Allowed, filtered)
}

// writeName is where a document is written: an alias keeps its name, because the
// cluster knows which of its indices takes it.
func writeName(j *judged) string { return j.Allowed[0].Name }

// mayWrite says why a write is refused under the restrictions of its index.
func (pl *plan) mayWrite(j *judged, creates, update bool) *ask.Rejection {
	if len(j.Allowed) != 1 {
		return pl.missing(j, writtenText(j.part.Exprs))
	}
	if slices.ContainsFunc(j.Allowed[0].Members, pl.s.storesQueries) {
		return notBuilt("a write to an index with stored queries (percolator)")
	}
	if j.hides && !creates {
		return restricted("under a document rule, or the filter of an alias, only new documents may be written: use op_type=create")
	}
	for _, g := range j.Groups {
		switch {
		case len(g.Rules.Masks) > 0:
			return notBuilt("a write to an index with masked fields")
		case update && g.Rules.HidesFields():
			return restricted("update is refused under a field rule")
		case !creates && g.Rules.HidesFields():
			return restricted("under a field rule only new documents may be written: use op_type=create")
		}
	}
	return nil
}

// checkDocument parses the body of a write and checks what only its content tells.
func (pl *plan) checkDocument(j *judged) *ask.Rejection {
	if len(pl.q.Body) == 0 {
		return nil
	}
	tape := esjson.BorrowTape()
	defer tape.Release()
	v, rej := pl.parseOn(tape, pl.q.Body)
	if rej != nil {
		return rej
	}
	if !v.Is(esjson.Object) {
		return badRequest("cannot use %s as a document; want an object", v.Kind())
	}
	if rej := pl.checkBending(j, v); rej != nil {
		return rej
	}
	update := pl.m.Route.ID == "update"
	switch {
	case update && pl.returnsDocument(v) && !pl.may(j, "indices:data/read/get"):
		return forbiddenAction(pl.who, "indices:data/read/get", exprTexts(j.part.Exprs))
	case j.mayAddFields:
		return nil
	case update:
		return pl.checkUpdate(j, v)
	case pl.addsField(j, v):
		return pl.newFieldRefusal(j)
	}
	return nil
}

func (pl *plan) newFieldRefusal(j *judged) *ask.Rejection {
	return forbiddenAction(pl.who, mappingPut, exprTexts(j.part.Exprs))
}

const mappingPut = "indices:admin/mapping/put"

// checkUpdate refuses an update that could add a field by someone who may not.
func (pl *plan) checkUpdate(j *judged, v esjson.Value) *ask.Rejection {
	for key, m := range v.Members() {
		switch key {
		case "script":
			return pl.newFieldRefusal(j)
		case "doc", "upsert":
			if pl.addsField(j, m) {
				return pl.newFieldRefusal(j)
			}
		}
	}
	return nil
}

// returnsDocument reports whether an update asks for the document.
func (pl *plan) returnsDocument(v esjson.Value) bool {
	for _, p := range pl.q.Params {
		if strings.HasPrefix(p.Name, "_source") && p.Value != "false" {
			return true
		}
	}
	s, ok := v.Lookup("_source")
	if !ok {
		return false
	}
	on, err := s.Bool()
	return err != nil || on
}

// may reports whether the principal holds action on all names of j.
func (pl *plan) may(j *judged, action string) bool {
	part := j.part
	part.Privileges = []ask.Privilege{{Action: action}}
	d := pl.s.policy.Decide(pl.who, cluster{pl.s.state}, part, j.resolved, pl.r.Now)
	return d.Effect == authz.Allow && !d.Reduced
}
