package proxy

import (
	"context"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
)

// Planner is one snapshot: who asks and what may happen is asked of one and the same, so
// that no identity of an older policy meets the rules of a newer one.
type Planner interface {
	Authenticator
	// Cluster is the cluster_uuid of the state that it decides by; empty if it has none.
	Cluster() string
	// Principal maps the roles of an identity.
	Principal(id ask.Identity) *ask.Principal
	// Intake says how the body is to be read. An error that is an *ask.Rejection is
	// sent; any other is a 500.
	Intake(p *ask.Principal, r *ask.Request) (gate.Intake, error)
	// Plan says what happens to the request.
	Plan(p *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome
}

// Snapshots hands out the current snapshot.
type Snapshots interface {
	// Load returns the current one, or nil if there is none yet.
	Load() Planner
	// Fresher looks at the cluster once more and returns a snapshot of now.
	Fresher(ctx context.Context) (Planner, error)
}

// Authenticator finds out who asks; an *authn.Chain is one.
type Authenticator interface {
	Identify(ctx context.Context, c authn.Credentials) (ask.Identity, error)
	// InName returns the identity in whose name original asks; an error that is an
	// *ask.Rejection says why it may not.
	InName(original ask.Identity, target string) (ask.Identity, error)
	// Answer is what a request gets for an error of Identify.
	Answer(err error) authn.Challenge
}

var _ Authenticator = (*authn.Chain)(nil)
