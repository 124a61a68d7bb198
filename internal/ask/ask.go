// Package ask holds the words that all levels of guard share: a request, who
// sends it, what it asks for part by part, and how a refusal looks. Types only:
// nothing here decides anything, and every zero value means "no access".
package ask

import (
	"net/netip"
	"time"
)

// Request is one HTTP request after the frame check. It is read-only for
// everything behind the proxy.
type Request struct {
	ID     string // for logs and audit
	Method string // upper case, one of the list that the frame check knows

	// Path is the target's path split at '/' first and percent-decoded once
	// afterwards, so a segment may hold a slash. "/" has no segments. A trailing
	// slash leaves no empty segment: the clusters ignore it.
	Path []string

	// Params are the URL parameters in their order; repeats are kept.
	Params []Param

	// RawTarget is the request target as the client wrote it. Only a request of an
	// unrestricted principal is forwarded with it.
	RawTarget string

	Header Header
	Peer   netip.Addr // of the client; zero if it has none
	Secure bool       // it came by TLS
	Now    time.Time  // the one clock of this request: date math, rules

	// Body is the whole body, inflated, or nil when Intake said that it is not read.
	Body []byte
}

// Param is one URL parameter, decoded once. HasValue tells "pretty" from "pretty=".
type Param struct {
	Name, Value string
	HasValue    bool
}

// Header holds what the decision may look at. Everything else passes or is
// stripped by the proxy's own list.
type Header struct {
	Host        string // by which the client called guard
	ContentType string
}

// Param returns the value of the last parameter called name, as the clusters read
// it, and reports whether there is one.
func (r *Request) Param(name string) (string, bool) {
	for i := len(r.Params) - 1; i >= 0; i-- {
		if r.Params[i].Name == name {
			return r.Params[i].Value, true
		}
	}
	return "", false
}

// Identity is who authentication says the caller is.
type Identity struct {
	Name         string
	BackendRoles []string
	// SecurityRoles are roles that the account itself carries
	// (opendistro_security_roles), before any mapping.
	SecurityRoles []string
	// Attributes are keyed with their prefix: "attr.internal.dept".
	Attributes map[string]string
	Domain     string // the authenticating domain's name in config.yml
	// Address is where the caller is, as far as it is known: some roles are given to all
	// who come from somewhere.
	Address netip.Addr
	// By is who authenticated, where they ask in the name of this identity: rights are those
	// of the identity, and records name both. It is empty for who asks as himself.
	By string
	// Admin tells that this is an administrator of the policy (admin_dn): past all roles and
	// rules, and with the security index open. Nothing but a client certificate proves it.
	Admin bool
}

// Principal is an identity with its mapped roles: the unit that decisions are
// cached for. It is immutable and belongs to one policy. It has no Address: it is the
// same wherever its roles are.
type Principal struct {
	Identity
	Roles []string // effective roles, sorted, without repeats

	// Unrestricted is computed: all actions on every name that can exist, and no
	// document, field or mask rule from any role (law 1).
	Unrestricted bool
}
