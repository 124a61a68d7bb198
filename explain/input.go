package explain

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"guard/internal/ask"
	"guard/proxy"
)

// Accounts knows the identities that accounts get when they log in.
type Accounts interface {
	Account(name string) (ask.Identity, bool)
	// Admin returns the administrator who has a name in his certificate.
	Admin(dn string) (ask.Identity, bool)
	// InName returns the identity in whose name original asks; an *ask.Rejection says why it
	// may not.
	InName(original ask.Identity, target string) (ask.Identity, error)
}

// Somebody is who sends a request: an account of the policy if he has only a name, or
// somebody made up.
type Somebody struct {
	Name         string
	BackendRoles []string
	Attributes   map[string]string // "attr.internal.dept": "sales"
	Address      string            // "10.1.2.3"; nowhere if it is empty
	By           string            // the account that asks in his name; empty for himself
	Admin        bool              // he is an administrator, by the name in a certificate
}

// Identity returns the identity of s. The error is an *ask.Rejection if By may not ask in
// his name.
func (s Somebody) Identity(known Accounts) (ask.Identity, error) {
	id, err := s.unplaced(known)
	if err != nil || s.Address == "" {
		return id, err
	}
	if id.Address, err = netip.ParseAddr(s.Address); err != nil {
		return id, fmt.Errorf("address %q; want one such as 10.1.2.3", s.Address)
	}
	return id, nil
}

// unplaced returns the identity of s, wherever it is.
func (s Somebody) unplaced(known Accounts) (ask.Identity, error) {
	madeUp := len(s.BackendRoles) > 0 || len(s.Attributes) > 0
	var id ask.Identity
	switch {
	case s.Name == "":
		return id, errors.New("nobody sends the request; want the name of a user")
	case madeUp && (s.Admin || s.By != ""):
		return id, fmt.Errorf("%q is made up; want an account where somebody asks in its name, or the name alone of an administrator", s.Name)
	case s.Admin && s.By != "":
		return id, fmt.Errorf("%q asks in the name of an administrator, which nobody may", s.By)
	case s.Admin:
		var ok bool
		if id, ok = known.Admin(s.Name); !ok {
			return id, fmt.Errorf("no administrator %q; want a name of policy.admin_dn", s.Name)
		}
	case s.By != "":
		original, ok := known.Account(s.By)
		if !ok {
			return id, noAccount(s.By)
		}
		id, err := known.InName(original, s.Name)
		if err != nil {
			id = ask.Identity{Name: s.Name, By: s.By}
		}
		return id, err
	case !madeUp:
		var ok bool
		if id, ok = known.Account(s.Name); !ok {
			return id, noAccount(s.Name)
		}
	default:
		id = ask.Identity{Name: s.Name, BackendRoles: s.BackendRoles, Attributes: s.Attributes, Domain: "made up"}
		for _, key := range slices.Sorted(maps.Keys(s.Attributes)) {
			if !strings.HasPrefix(key, "attr.") && !strings.HasPrefix(key, "ldap.") {
				return id, fmt.Errorf("attribute %q; want its name as rules write it, such as attr.internal.%s", key, key)
			}
		}
	}
	return id, nil
}

func noAccount(name string) error {
	return fmt.Errorf("no account %q may log in; want one of internal_users.yml, or backend roles or attributes of somebody made up", name)
}

// Sends is a request of s as a client would send it: see NewInput.
func (s Somebody) Sends(known Accounts, method, target, contentType string, body []byte, now time.Time) (Input, error) {
	id, err := s.Identity(known)
	var rej *ask.Rejection
	if err != nil && !errors.As(err, &rej) {
		return Input{}, err
	}
	in := NewInput(id, method, target, contentType, body, now)
	in.NotInName = rej
	return in, nil
}

// NewInput is a request as a client would send it. Where no content type is given it is
// JSON, or lines of it where the endpoint takes lines.
func NewInput(who ask.Identity, method, target, contentType string, body []byte, now time.Time) Input {
	path, params, unfair := proxy.ParseTarget(target)
	r := &ask.Request{ID: "explain", Method: strings.ToUpper(method), Path: path, Params: params, RawTarget: target, Peer: who.Address, Now: now}
	if len(body) > 0 {
		if contentType == "" {
			contentType = usualType(path)
		}
		r.Body, r.Header.ContentType = body, contentType
	}
	return Input{Identity: who, Request: r, Unfair: unfair}
}

func usualType(path []string) string {
	if n := len(path); n > 0 && (path[n-1] == "_bulk" || path[n-1] == "_msearch") {
		return "application/x-ndjson"
	}
	return "application/json"
}
