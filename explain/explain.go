package explain

import (
	"guard/authz"
	"guard/config"
	"guard/gate"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/proxy"
)

// Input is a request and who sends it.
type Input struct {
	Identity ask.Identity
	// NotInName says why nobody may ask in this identity's name who wants to; nil if it asks
	// itself, or somebody may.
	NotInName *ask.Rejection
	Request   *ask.Request // its Body is the whole body
	// Unfair is what two readers could read differently in the target; nil if nothing is.
	Unfair error
	// MaxCells bounds the cells that are listed of each part; the default is 200.
	MaxCells int
}

// Ask plans in on snap, and tells what was found out. Nothing is asked of the cluster: what
// names mean is what the snapshot knows.
func Ask(snap *gate.Snapshot, in Input, limits config.Limits) Report {
	if in.MaxCells == 0 {
		in.MaxCells = maxCells
	}
	a := asker{snap: snap, who: snap.Principal(in.Identity), in: in, limits: limits}
	a.report = Report{
		User:    a.user(),
		Request: Request{Method: in.Request.Method, Target: in.Request.RawTarget},
		Cluster: clusterOf(snap.State()),
		Parts:   []Part{},
	}
	a.report.Request.Endpoint, a.report.Request.Template = snap.Endpoint(in.Request)
	if rej := a.screen(); rej != nil {
		a.refuse(rej)
		return a.report
	}
	a.plan()
	return a.report
}

// asker is one request on its way to its report.
type asker struct {
	snap   *gate.Snapshot
	who    *ask.Principal
	in     Input
	limits config.Limits
	report Report
}

// screen refuses what never comes to a plan.
func (a *asker) screen() *ask.Rejection {
	if a.in.NotInName != nil {
		return a.in.NotInName
	}
	if rej := proxy.CheckTarget(a.in.Request.RawTarget); rej != nil {
		return rej
	}
	if a.in.Unfair != nil && !a.who.Unrestricted {
		return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: a.in.Unfair.Error(), Reason: ask.ReasonBadRequest}
	}
	kind, err := a.snap.Intake(a.who, a.in.Request)
	if err != nil {
		return gate.RejectionOf(err)
	}
	return proxy.CheckBody(kind, a.in.Request, a.limits)
}

func (a *asker) plan() {
	// A name that nothing carries is taken as one that does not exist.
	e := a.snap.Explain(a.who, a.in.Request, gate.Known{Fresh: true})
	for i := range e.Parts {
		a.report.Parts = append(a.report.Parts, a.partOf(&e.Parts[i]))
	}
	switch e.Kind {
	case gate.Reject:
		a.refuse(&e.Rejection)
	case gate.Local:
		a.answer(&e.Local)
	case gate.Need:
		a.report.Verdict = Verdict{Effect: Asks}
		for i := range e.Needs {
			a.report.Calls = append(a.report.Calls, a.call(&e.Needs[i]))
		}
	case gate.Forward:
		a.forward(&e.Forward)
	}
}

func (a *asker) refuse(r *ask.Rejection) {
	v := Verdict{Effect: Refused, Status: r.Status.Code(), Reason: string(r.Reason), Text: r.Text(), Body: string(gate.ErrorBody(r))}
	if r.Cause != nil {
		v.Cause = r.Cause.Error()
	}
	a.report.Verdict = v
}

func (a *asker) answer(l *gate.Answer) {
	a.report.Verdict = Verdict{Effect: Answered, Status: l.Status, Body: string(l.Body)}
}

func (a *asker) forward(f *gate.Forwarding) {
	call := a.call(&f.Call)
	if f.Source == gate.PlannedBody {
		lines := &recordedLines{Lines: f.Lines}
		sent, local, rej := proxy.PlanLines(a.in.Request.Body, lines, a.limits)
		for i := range lines.items {
			a.report.Parts = append(a.report.Parts, a.partOf(&lines.items[i]))
		}
		switch {
		case rej != nil:
			a.refuse(rej)
			return
		case local != nil:
			a.answer(local)
			return
		}
		call.Body = string(sent)
	}
	a.report.Verdict = Verdict{Effect: Forwarded}
	a.report.Forward = &call
}

// call shows a call. A body that is streamed is the client's own.
func (a *asker) call(c *gate.Call) Call {
	call := Call{Method: c.Method, Target: c.Target, ContentType: c.ContentType, Body: string(c.Body), OwnAccount: c.OwnAccount}
	if c.Source == gate.ClientBody {
		call.Body = string(a.in.Request.Body)
	}
	if call.Body != "" && call.ContentType == "" {
		call.ContentType = a.in.Request.Header.ContentType
	}
	return call
}

// recordedLines keeps what was decided about each item of a bulk.
type recordedLines struct {
	gate.Lines
	items []gate.Judged
}

// Item plans an item and keeps what was decided.
func (r *recordedLines) Item(dst, document []byte) ([]byte, error) {
	out, err := r.Lines.Item(dst, document)
	if err == nil {
		r.items = append(r.items, gate.LastItem(r.Lines, document))
	}
	return out, err
}

func (a *asker) user() User {
	id := a.who.Identity
	u := User{
		Name: id.Name, Domain: id.Domain, BackendRoles: append([]string{}, id.BackendRoles...), Attributes: id.Attributes,
		By: id.By, Admin: id.Admin, Roles: []Role{}, Unrestricted: a.who.Unrestricted,
	}
	for _, m := range a.snap.MappedRoles(id) {
		r := Role{Name: m.Name, Defined: m.Defined, By: []string{}}
		for _, g := range m.By {
			r.By = append(r.By, grantorText(g))
		}
		u.Roles = append(u.Roles, r)
	}
	return u
}

func grantorText(g authz.Grantor) string {
	text := g.Key + " [" + g.Text + "]"
	if g.At.Line > 0 {
		text += " (" + g.At.String() + ")"
	}
	return text
}

func clusterOf(s *indexresolver.State) Cluster {
	if s.Empty() {
		return Cluster{}
	}
	return Cluster{Engine: s.Engine.Distribution.String() + " " + s.Engine.Version, UUID: s.ClusterUUID, Version: s.Version, Read: s.FetchedAt}
}

// maxCells is the default of Input.MaxCells.
const maxCells = 200

func (a *asker) partOf(j *gate.Judged) Part {
	p := Part{Names: []string{}, Targets: []Target{}, Unknown: j.Resolved.Unknown, Allowed: j.Rejection == nil, Cells: []Cell{}}
	if j.Slot != ask.WholeRequest {
		p.Item = &j.Slot
	}
	if j.Rejection != nil {
		p.Text = j.Rejection.Text()
	}
	for _, e := range j.Exprs {
		p.Names = append(p.Names, string(e))
	}
	for i := range j.Resolved.Targets {
		p.Targets = append(p.Targets, targetOf(&j.Resolved.Targets[i]))
	}
	matrix, more := j.Decision.Matrix(a.in.MaxCells)
	p.MoreCells = more
	for _, c := range matrix {
		p.Cells = append(p.Cells, cellOf(&c))
	}
	for _, g := range j.Decision.Groups {
		p.Groups = append(p.Groups, groupOf(&g))
	}
	return p
}

func cellOf(c *authz.Cell) Cell {
	out := Cell{Action: c.Action, Name: c.Target, Granted: c.Granted, Roles: append([]string{}, c.Roles()...), Entries: []Entry{}}
	for _, g := range c.Grants {
		out.Entries = append(out.Entries, EntryOf(g))
	}
	return out
}

// EntryOf names a grant.
func EntryOf(g authz.Grant) Entry {
	if g.At.File == "" { // what is built in has no place
		return Entry{Path: g.Role}
	}
	return Entry{Path: g.At.Path, At: g.At.String()}
}

func targetOf(t *ask.Target) Target {
	out := Target{Name: t.Name, Kind: "index"}
	switch t.Kind {
	case ask.Alias:
		out.Kind, out.Members = "alias", t.Members
	case ask.DataStream:
		out.Kind, out.Members = "data stream", t.Members
	case ask.Missing:
		out.Kind = "missing"
	case ask.Index:
	}
	return out
}

func groupOf(g *authz.Group) Group {
	out := Group{Indices: g.Indices, Nothing: g.Rules.None, Fields: g.Rules.FLS, Masks: g.Rules.Masks}
	for _, rule := range g.Rules.DLS {
		out.Documents = append(out.Documents, rule.Text)
	}
	return out
}
