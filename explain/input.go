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
}

// Somebody is who sends a request: an account of the policy if he has only a name, or
// somebody made up.
type Somebody struct {
	Name         string
	BackendRoles []string
	Attributes   map[string]string // "attr.internal.dept": "sales"
	Address      string            // "10.1.2.3"; nowhere if it is empty
}

// Identity returns the identity of s.
func (s Somebody) Identity(known Accounts) (ask.Identity, error) {
	var id ask.Identity
	if s.Name == "" {
		return id, errors.New("nobody sends the request; want the name of a user")
	}
	if len(s.BackendRoles) == 0 && len(s.Attributes) == 0 {
		var ok bool
		if id, ok = known.Account(s.Name); !ok {
			return id, fmt.Errorf("no account %q may log in; want one of internal_users.yml, or backend roles or attributes of somebody made up", s.Name)
		}
	} else {
		id = ask.Identity{Name: s.Name, BackendRoles: s.BackendRoles, Attributes: s.Attributes, Domain: "made up"}
		for _, key := range slices.Sorted(maps.Keys(s.Attributes)) {
			if !strings.HasPrefix(key, "attr.") && !strings.HasPrefix(key, "ldap.") {
				return id, fmt.Errorf("attribute %q; want its name as rules write it, such as attr.internal.%s", key, key)
			}
		}
	}
	if s.Address != "" {
		var err error
		if id.Address, err = netip.ParseAddr(s.Address); err != nil {
			return id, fmt.Errorf("address %q; want one such as 10.1.2.3", s.Address)
		}
	}
	return id, nil
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
