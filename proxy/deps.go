package proxy

import (
	"context"
	"crypto/tls"
	"net/netip"

	"guard/gate"
	"guard/internal/ask"
)

// Planner is one snapshot: everything that a request asks the gate is asked of one.
type Planner interface {
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

// Credentials are what a request shows of who sends it.
type Credentials struct {
	Authorization string
	Peer          netip.Addr
	TLS           *tls.ConnectionState // nil on plain connections
}

// Authenticator finds out who asks.
type Authenticator interface {
	// Identify returns an error if nobody vouches for the credentials. One that is an
	// *ask.Rejection is sent as it is (too many hashes at a time: 429); any other is
	// answered by Challenge.
	Identify(ctx context.Context, c Credentials) (ask.Identity, error)
	// Challenge is the 401 for err.
	Challenge(err error) gate.Answer
}
