// Package gate answers one question: what happens to this request? It is pure: no
// sockets, no clock. Plan reads one Snapshot and returns exactly one Outcome; serve,
// explain, tests and benchmarks all call it, and none has a second way to decide.
package gate

import (
	"bytes"
	"encoding/json"

	"guard/endpoint"
	"guard/internal/ask"
)

// Intake says how the body of r is to be read before Plan may be called. A request
// that Plan would refuse whatever its body says is refused here, before a byte of
// the body is read.
func (s *Snapshot) Intake(who *ask.Principal, r *ask.Request) (Intake, error) {
	if who.Unrestricted {
		return IntakeStream, nil
	}
	m, err := s.router.MatchRequest(r)
	if err != nil {
		return IntakeNone, err
	}
	if m.Route.NotBuilt {
		_, err := m.Query(r)
		return IntakeNone, err
	}
	switch m.Route.Body {
	case endpoint.NoBody:
		return IntakeNone, nil
	case endpoint.NDJSONBulk:
		return IntakeLines, nil
	default:
		return IntakeWhole, nil
	}
}

// Plan says what happens to a request of who. It may be called several times for one
// request: known holds the answers to what earlier calls needed.
func (s *Snapshot) Plan(who *ask.Principal, r *ask.Request, known Known) Outcome {
	return s.planOn(&plan{s: s, who: who, r: r, known: known})
}

// planOn makes the plan pl, which keeps what was found out.
func (s *Snapshot) planOn(pl *plan) Outcome {
	r := pl.r
	if pl.who.Unrestricted {
		return s.planUnrestricted(r)
	}
	if err := s.usable(r.Now); err != nil {
		return reject(staleState(err))
	}
	var err error
	if pl.m, err = s.router.MatchRequest(r); err != nil {
		return rejectError(err)
	}
	out := pl.run()
	out.Route = pl.m.Route.ID
	if out.Kind == Local {
		out.Local.Body = indented(r, out.Local.Body)
	}
	return out
}

// indented prints a body of guard's own for people who asked for that.
func indented(r *ask.Request, body []byte) []byte {
	if v, ok := r.Param("pretty"); !ok || v == "false" || len(body) == 0 {
		return body
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		return body // a bare document is what it is
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// run reads the request, decides each of its parts and builds what is forwarded.
func (pl *plan) run() Outcome {
	if err := pl.readAsked(); err != nil {
		return rejectError(err)
	}
	if out, final := pl.decide(); final {
		return out
	}
	return pl.build()
}

// readAsked finds out what the request asks, part by part.
func (pl *plan) readAsked() (err error) {
	if pl.q, err = pl.m.Query(pl.r); err != nil {
		return err
	}
	if err = pl.checkParams(); err != nil {
		return err
	}
	pl.asked, err = pl.m.Ask(pl.q, endpoint.Rules{AliasNames: pl.s.asksAliasNames()})
	return err
}

// build turns the decisions into what is forwarded, by what the endpoint's answer is.
func (pl *plan) build() Outcome {
	switch pl.m.Route.Answer {
	case endpoint.Pass, endpoint.Health:
		return pl.planPass()
	case endpoint.Hits:
		return pl.planSearch()
	case endpoint.Count:
		return pl.planCount()
	case endpoint.Responses:
		return pl.planMsearch()
	case endpoint.Doc, endpoint.Source, endpoint.Exists:
		return pl.planGet()
	case endpoint.MgetDocsAnswer:
		return pl.planMget()
	case endpoint.Written:
		return pl.planWrite()
	case endpoint.BulkItems:
		return pl.planBulk()
	case endpoint.ByQuery:
		return pl.planByQuery()
	case endpoint.Acknowledged:
		return pl.planManage()
	case endpoint.Changed:
		return pl.planChange()
	case endpoint.Restored:
		return pl.planRestore()
	case endpoint.MappingByIndex, endpoint.IndexByName, endpoint.AliasByIndex, endpoint.FoundName,
		endpoint.ResolvedNames, endpoint.CatIndices, endpoint.FieldCaps:
		return pl.planNames()
	default:
		return reject(notBuilt("endpoint [" + pl.m.Route.ID + "]"))
	}
}

// planUnrestricted forwards as it came: nothing binds this principal, not even the
// catalogue.
func (s *Snapshot) planUnrestricted(r *ask.Request) Outcome {
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: Call{Method: r.Method, Target: r.RawTarget, Source: ClientBody}}}
	m, err := s.router.MatchRequest(r)
	if err != nil {
		return out
	}
	out.Route, out.Forward.Repeatable = m.Route.ID, m.Route.Repeatable
	if out.Route == endpoint.NodesInfo {
		out.Forward.Treat = s.publish(r)
		out.Forward.AsAsked = out.Forward.Treat != nil
	}
	if m.Route.NotBuilt {
		return out // what it changes is seen by the next look at the cluster
	}
	if tellsOfChange(m.Route) {
		out.Forward.ChangesState = always
	}
	return out
}
