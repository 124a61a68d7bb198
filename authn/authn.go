// Package authn answers one question: who sends this request? A chain of domains
// is asked in the order that config.yml gives; the first that finds credentials of
// its own decides. Whoever is not known by one of them is nobody.
package authn

import (
	"context"
	"crypto/x509"
	"errors"
	"net/netip"

	"guard/config"
	"guard/internal/ask"
)

// Credentials is all of a request that may tell who sends it, as the proxy found
// it on the connection and in the headers.
type Credentials struct {
	Authorization []string          // the values of all Authorization headers
	Peer          netip.Addr        // of the client, or of who stands for it: failed logins count there; zero if it came by a Unix socket
	Address       netip.Addr        // of the client, as far as it is known: some roles are given for it; zero if it is not
	Certificate   *x509.Certificate // of the client, verified; nil without one
}

var (
	// ErrNoCredentials says that a request carries none of a provider's credentials:
	// the next one is asked.
	ErrNoCredentials = errors.New("no credentials")

	// ErrRejected says that credentials are wrong. It does not say what is wrong with
	// them: an unknown user, a disabled one and a wrong password look the same.
	ErrRejected = errors.New("credentials are wrong")

	// ErrAmbiguous says that a request carries more than one Authorization header, so
	// that two readers could see two users.
	ErrAmbiguous = errors.New("more than one Authorization header")

	// ErrBusy says that too many passwords wait to be checked.
	ErrBusy = errors.New("too many passwords to check at once")
)

// Provider finds out who asks, by one kind of credentials.
type Provider interface {
	// Identify returns ErrNoCredentials if c carries none of this provider's
	// credentials. Any other error ends the chain: the request is refused.
	Identify(ctx context.Context, c Credentials) (ask.Identity, error)
}

// Chain asks its domains one after the other. It belongs to one policy and is
// immutable. The zero value knows nobody.
type Chain struct {
	domains   []Provider
	challenge Challenge
	delegates delegates
}

var _ Provider = (*Chain)(nil)

// Identify returns the identity that the first domain with credentials of its own
// gives, with the address of the client, ErrNoCredentials if there is no such domain,
// and the domain's error if it refuses.
func (c *Chain) Identify(ctx context.Context, creds Credentials) (ask.Identity, error) {
	if len(creds.Authorization) > 1 {
		return ask.Identity{}, ErrAmbiguous
	}
	for _, domain := range c.domains {
		id, err := domain.Identify(ctx, creds)
		if errors.Is(err, ErrNoCredentials) {
			continue
		}
		if err != nil {
			return ask.Identity{}, err
		}
		id.Address = creds.Address
		if err := c.delegates.admit(id); err != nil {
			return ask.Identity{}, err
		}
		return id, nil
	}
	return ask.Identity{}, ErrNoCredentials
}

// Account returns the identity that an account called name gets when it logs in, and
// reports whether there is one that may.
func (c *Chain) Account(name string) (ask.Identity, bool) {
	for _, domain := range c.domains {
		if b, ok := domain.(*Basic); ok && b.accounts[name] != nil {
			return b.accounts[name].identity, true
		}
	}
	return ask.Identity{}, false
}

// New returns the chain of the enabled domains of s that are built, with who may ask in
// whose name by p; config has warned of the others. Faults name each user whose stored hash
// cannot be checked.
func New(s *config.Security, p config.Policy, v *Verifier) (*Chain, []config.Warning, error) {
	c := &Chain{}
	var warnings []config.Warning
	var faults config.Faults
	if c.delegates, faults = newDelegates(p); len(faults) > 0 {
		return nil, nil, faults.Err()
	}
	for _, domain := range s.Dynamic.Domains() {
		if !domain.Usable() {
			continue
		}
		if len(c.domains) > 0 {
			// The first one decides on every password.
			warnings = append(warnings, domain.Pos.Fault("the domain is never asked: another one of lower order knows the same users", ""))
			continue
		}
		basic, w, faults := newBasic(domain.Name, s.Users, v)
		if err := faults.Err(); err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, w...)
		c.domains = append(c.domains, basic)
		c.challenge = plainRefusal
		if domain.Authenticator.Challenge {
			c.challenge = basicChallenge
		}
	}
	if len(c.domains) == 0 {
		return nil, nil, errors.New("cannot authenticate anybody: no domain is enabled and built")
	}
	return c, warnings, nil
}
