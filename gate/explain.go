package gate

import (
	"guard/authz"
	"guard/internal/ask"
	"guard/internal/names"
)

// Explanation is what a plan found out on its way to its outcome.
type Explanation struct {
	Outcome
	Parts []Judged // in the order in which they were asked, up to the one that settled the request
}

// Judged is one part of a request: what it asks, what its names mean, and what was
// decided about them.
type Judged struct {
	Slot      int // the position of an item; ask.WholeRequest for what is asked of the request itself
	Exprs     []names.Expr
	Resolved  ask.Resolved
	Decision  authz.Decision
	Rejection *ask.Rejection // why the part is refused; nil if it is not
}

// Explain is Plan, with what it found out. Of an unrestricted principal, for whom Plan
// asks nothing, it says what the catalogue would ask, if it has the endpoint.
func (s *Snapshot) Explain(who *ask.Principal, r *ask.Request, known Known) Explanation {
	pl := &plan{s: s, who: who, r: r, known: known}
	e := Explanation{Outcome: s.planOn(pl)}
	if who.Unrestricted {
		pl.look()
	}
	if pl.m.Route == nil {
		return e
	}
	for j := range pl.all {
		if j.part.Privileges != nil {
			e.Parts = append(e.Parts, pl.explained(j))
		}
	}
	return e
}

// look decides the parts of a request as far as they can be read. Nothing depends on it.
func (pl *plan) look() {
	var err error
	if pl.m, err = pl.s.router.MatchRequest(pl.r); err != nil || pl.m.Route.NotBuilt || pl.s.state.Empty() {
		return
	}
	if err = pl.readAsked(); err == nil {
		pl.decide()
	}
}

// explained shows a part with all names that it means, also those that were as if they
// did not exist.
func (pl *plan) explained(j *judged) Judged {
	e := j.explained()
	if j.resolved.Beyond {
		if res, err := pl.s.state.Resolve(j.part.Exprs, j.part.Opts, pl.r.Now); err == nil {
			e.Resolved, e.Decision = res, e.Decision.On(res)
		}
	}
	return e
}

// Endpoint returns the row of the catalogue that has r, and its path, such as
// "/{index}/_search"; nothing if none has it.
func (s *Snapshot) Endpoint(r *ask.Request) (id, template string) {
	m, err := s.router.MatchRequest(r)
	if err != nil {
		return "", ""
	}
	return m.Route.ID, m.Template()
}

func (j *judged) explained() Judged {
	return Judged{Slot: j.part.Slot, Exprs: j.part.Exprs, Resolved: j.resolved, Decision: j.Decision, Rejection: j.rejection}
}

// LastItem is what was decided about the last item that lines, of a bulk, planned. The
// document is that item's.
func LastItem(lines Lines, document []byte) Judged {
	b, ok := lines.(*bulkLines)
	if !ok {
		panic("BUG: the lines are not those of a bulk")
	}
	e := b.item.explained()
	e.Slot = b.treat.count() - 1
	e.Rejection = b.refusal(document)
	return e
}

// RejectionOf returns the refusal that err is. What is none is guard's own fault.
func RejectionOf(err error) *ask.Rejection { return asRejection(err) }

// MappedRoles returns the roles of an identity in the snapshot's policy, and why it has
// them.
func (s *Snapshot) MappedRoles(id ask.Identity) []authz.MappedRole { return s.policy.MappedRoles(id) }

// Grants returns all that roles of the snapshot's policy grant, but for what is built in.
func (s *Snapshot) Grants() []authz.Grant { return s.policy.Grants() }
