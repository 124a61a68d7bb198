package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
)

// maxRounds bounds how often a plan may need calls on one snapshot.
const maxRounds = 4

// turn is one request from its head to the end of its answer.
type turn struct {
	srv    *Server
	conn   *conn
	origin origin
	site   site
	req    ask.Request
	who    *ask.Principal // nil until somebody vouched for the caller
	route  string

	cluster string // of the snapshot that decides

	share share
	start time.Time

	compat compatible

	watched bool // the client's leaving ends what is done for it

	intake gate.Intake
	taken  bool   // the body was read, or is being read by a forwarded call
	room   string // the user whose request is counted
	inside bool   // it is counted
	ended  bool
}

// run is the life of a request: frame, limits, caller, body, plan.
func (t *turn) run() reply {
	s, h := t.srv, &t.conn.head
	t.compat = translated(s.compat, h)
	t.site = s.cors.siteOf(h)
	if t.conn.refusal != nil {
		return t.refuse(t.conn.refusal)
	}
	if h.value(lookHeader) != "" {
		return t.refuse(badRequest("guard is no node of a cluster"))
	}
	if t.conn.trusted() {
		t.origin = s.front.proxies.originOf(t.conn.peer, h)
	}
	path, params, unfair := splitTarget(h.target)
	t.req = ask.Request{
		ID: s.requestID(), Method: h.method, Path: path, Params: params, RawTarget: h.target,
		Header: h.askHeader(), Peer: t.origin.client, Secure: t.conn.tls != nil, Now: s.now(),
	}
	if r, done := t.screen(); done {
		return r
	}
	internal, inName := h.forgery()
	if internal {
		return t.forged("Illegal parameter in http or transport request found.")
	}
	planner := s.snaps.Load()
	if planner == nil {
		return t.refuse(&ask.Rejection{
			Status: 503, Public: "guard has not seen the state of the cluster yet", Reason: ask.ReasonStateStale,
		})
	}
	t.attend() // a password may wait for its turn
	id, err := planner.Identify(t.conn.ctx, t.credentials())
	if err != nil {
		return t.unknownCaller(planner, err)
	}
	t.share.user = id.Name
	switch len(inName) {
	case 0:
	case 1:
		if id, err = planner.InName(id, inName[0]); err != nil {
			return t.notInName(err)
		}
	default:
		return t.refuse(badRequest("more than one header " + impersonation))
	}
	t.share.user = id.Name
	return t.plan(planner, id, unfair)
}

// attend lets the client's leaving end all that is done for it, from now on: it waits
// nowhere for what nobody will read.
func (t *turn) attend() {
	t.watched = true
	t.srv.watch.add(&t.conn.watch)
}

// left reports whether the client has gone.
func (t *turn) left() bool { return errors.Is(context.Cause(t.conn.ctx), errClientGone) }

// gone is the reply to a client that left. Nobody is refused by it, and nobody hears it.
func (t *turn) gone() reply { return t.fail(&wireError{faultGone, errClientGone}) }

func (t *turn) credentials() authn.Credentials {
	c := authn.Credentials{Peer: t.origin.client, Address: t.srv.front.proxies.known(t.origin.client)}
	for _, f := range t.conn.head.fields {
		if f.key == "authorization" {
			c.Authorization = append(c.Authorization, f.value)
		}
	}
	if t.conn.tls != nil {
		// Certificates that nobody verified are not in VerifiedChains.
		if chains := t.conn.tls.ConnectionState().VerifiedChains; len(chains) > 0 {
			c.Certificate = chains[0][0]
		}
	}
	return c
}

// unknownCaller answers before anything about the catalogue is looked at (law 12). The
// name that was claimed is not logged: now and then it is a password.
func (t *turn) unknownCaller(asked Authenticator, err error) reply {
	if t.left() {
		return t.gone()
	}
	a := asked.Answer(err)
	reason := loginReason(a.Limit)
	t.srv.metrics.denied(reason)
	t.srv.metrics.met(a.Limit)
	if t.srv.denyLog.Allow() {
		t.srv.log.Warn("login refused", zap.String("id", t.req.ID), zap.String("reason", string(reason)), zap.Error(err), t.peer())
	}
	whole := gate.Answer{Status: a.Status, ContentType: a.ContentType, Body: []byte(a.Body)}
	if a.Authenticate != "" {
		whole.Header = append(whole.Header, gate.Field{Name: "WWW-Authenticate", Value: a.Authenticate})
	}
	if a.RetryAfter != "" {
		whole.Header = append(whole.Header, gate.Field{Name: "Retry-After", Value: a.RetryAfter})
	}
	return reply{whole: whole}
}

// loginReason says why a caller is unknown.
func loginReason(met ask.Limit) ask.Reason {
	switch met {
	case ask.LimitHashQueue:
		return "hashing_busy"
	case ask.LimitFailedLogins:
		return "failed_logins"
	default:
		return "unauthenticated"
	}
}

// plan asks the gate until it knows what happens. All of it is on one snapshot; only a
// need for newer state, and a read whose answer shows it, starts again, once, on a newer one
// (law 10).
func (t *turn) plan(planner Planner, id ask.Identity, unfair error) reply {
	for fresh := false; ; fresh = true {
		t.who, t.cluster = planner.Principal(id), planner.Cluster()
		if t.who == nil {
			return t.refuse(internalFault(errors.New("BUG: a snapshot without a principal for a known caller")))
		}
		if unfair != nil && !t.who.Unrestricted {
			return t.refuse(badTarget(unfair))
		}
		if err := t.takeBody(planner); err != nil {
			return t.fail(err)
		}
		if t.intake != gate.IntakeLines && t.intake != gate.IntakeStream { // whose body is to come: see forwardCall
			if err := t.admit(); err != nil {
				return t.fail(err)
			}
		}
		out, err := t.rounds(planner, fresh)
		switch {
		case err != nil:
			return t.fail(err)
		case out.Kind != gate.Need:
			r, err := t.act(&out)
			switch {
			case err == nil:
				return r
			case fresh || !out.Reads() || !gate.Moved(err):
				return t.fail(err)
			}
		case fresh:
			return t.refuse(&ask.Rejection{
				Status: 503, Public: "the state of the cluster keeps changing; try again", Reason: ask.ReasonStateStale,
			})
		}
		planner, err = t.srv.snaps.Fresher(t.conn.ctx)
		if t.left() {
			return t.gone()
		}
		if err != nil || planner == nil {
			return t.refuse(&ask.Rejection{
				Status: 503, Public: "the state of the cluster can't be refreshed; try again", Reason: ask.ReasonStateStale, Cause: err,
			})
		}
		if id, err = planner.Identify(t.conn.ctx, t.credentials()); err != nil {
			return t.unknownCaller(planner, err) // the newer snapshot knows the caller no more
		}
	}
}

// admit counts the request among those at work, once.
func (t *turn) admit() error {
	if t.inside {
		return nil
	}
	if err := t.srv.admission.enter(t.who.Name); err != nil {
		return err
	}
	t.inside, t.room = true, t.who.Name
	return nil
}

// rounds runs plan and needs on one snapshot. An outcome that still needs something
// needs newer state.
func (t *turn) rounds(planner Planner, fresh bool) (gate.Outcome, error) {
	known := gate.Known{Fresh: fresh}
	for range maxRounds {
		out := planner.Plan(t.who, &t.req, known)
		t.route = out.Route
		if out.Kind != gate.Need || out.NeedState {
			return out, nil
		}
		for i := range out.Needs {
			a, err := t.fetch(&out.Needs[i])
			if err != nil {
				return out, err
			}
			known.Answers = append(known.Answers, a)
		}
	}
	return gate.Outcome{}, internalFault(fmt.Errorf("BUG: a plan of route %q has needs after %d rounds", t.route, maxRounds))
}

// act does what the outcome says.
func (t *turn) act(out *gate.Outcome) (reply, error) {
	switch out.Kind {
	case gate.Local:
		return reply{whole: out.Local, reads: true}, nil
	case gate.Forward:
		return t.forward(&out.Forward)
	default:
		return reply{}, &out.Rejection
	}
}

// fail makes the answer of an error.
func (t *turn) fail(err error) reply {
	var p *panicError
	if errors.As(err, &p) {
		return t.panicked(p)
	}
	return t.refuse(toRejection(err))
}

// badTarget refuses a target that could be read in two ways.
func badTarget(err error) *ask.Rejection {
	return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: err.Error(), Reason: ask.ReasonBadRequest}
}

// refuse makes the answer of a refusal and records it.
func (t *turn) refuse(r *ask.Rejection) reply {
	s := t.srv
	s.metrics.denied(r.Reason)
	s.metrics.met(r.Limit)
	if r.Reason == ask.ReasonInternal {
		s.log.Error("request failed", zap.String("id", t.req.ID), zap.Error(r.Cause))
	} else if s.denyLog.Allow() {
		t.logDenial(r)
	}
	return reply{whole: rejectionAnswer(r)}
}

// logDenial says who was denied what, and what was missing for it: so many actions with
// their names at most.
func (t *turn) logDenial(r *ask.Rejection) {
	const most = 20
	user, by := "", ""
	if t.who != nil {
		user, by = t.who.Name, t.who.By
	}
	var missing []string
	more := 0
	if r.Missing != nil {
		missing, more = r.Missing(most)
	}
	t.srv.log.Warn("request denied",
		zap.String("id", t.req.ID), zap.String("reason", string(r.Reason)), zap.Int("status", r.Status.Code()), zap.String("user", user), zap.String("by", by),
		zap.String("route", t.route), zap.String("action", r.Action), zap.Strings("missing", missing), zap.Int("missing_total", len(missing)+more),
		zap.String("public", clipLog(r.Public)), zap.Error(r.Cause), t.peer())
}

// peer names the client in the log.
func (t *turn) peer() zap.Field {
	if !t.origin.client.IsValid() {
		return zap.String("peer", "unix")
	}
	return zap.Stringer("peer", t.origin.client)
}

func clipLog(s string) string {
	const most = 500
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// finish gives back what the turn holds. It is called once the answer is written, or
// is whole in memory and a matter of the connection's share.
func (t *turn) finish(status int) {
	if t.ended {
		return
	}
	t.ended = true
	if t.watched {
		t.srv.watch.remove(&t.conn.watch)
	}
	t.share.release()
	s := t.srv
	if s.Draining() && errors.Is(context.Cause(t.conn.ctx), errDrainOver) {
		s.metrics.met(ask.LimitDrain)
	}
	if t.inside {
		s.admission.leave(t.room)
	}
	s.metrics.inFlight.Dec()
	s.metrics.answered(t.route, status)
	s.metrics.seconds.Observe(time.Since(t.start).Seconds())
}
