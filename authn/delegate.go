package authn

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// ErrAdminName says that somebody has the name of an administrator and did not prove it by a
// certificate.
var ErrAdminName = errors.New("the name is that of an administrator, who logs in by a certificate alone")

// delegates are who may ask in whose name, and the names that nobody may be called by. The
// zero value lets nobody do so.
type delegates struct {
	admins map[string]bool            // in lower case
	may    map[string][]names.Pattern // by user
}

func newDelegates(p config.Policy) (delegates, config.Faults) {
	d := delegates{admins: map[string]bool{}, may: map[string][]names.Pattern{}}
	var faults config.Faults
	for _, dn := range p.Admins {
		d.admins[strings.ToLower(dn)] = true
	}
	for user, patterns := range p.Impersonation {
		for i, text := range patterns {
			pattern, err := names.ParsePattern(text)
			if err != nil {
				faults = append(faults, p.Pos.At("impersonation").Item(user, i).Fault(err.Error(), "a name, a glob with '*' and '?', or a /regular expression/"))
				continue
			}
			d.may[user] = append(d.may[user], pattern)
		}
	}
	return d, faults
}

// admit refuses an identity that has an administrator's name without being one.
func (d *delegates) admit(id ask.Identity) error {
	if !id.Admin && d.admins[strings.ToLower(id.Name)] {
		return ErrAdminName
	}
	return nil
}

// Admin returns the identity of the administrator whose certificate has this name, and
// reports whether there is one.
func (c *Chain) Admin(dn string) (ask.Identity, bool) {
	if !c.delegates.admins[strings.ToLower(dn)] {
		return ask.Identity{}, false
	}
	return ask.Identity{Name: dn, Domain: "admin_dn", Admin: true}, true
}

// InName returns the identity of target with the address of original, who asks in its name.
// The error is an *ask.Rejection in the words of the security plugin. Who may not ask in a
// name is not told whether there is such a user, or what he is.
func (c *Chain) InName(original ask.Identity, target string) (ask.Identity, error) {
	if !c.may(original, target) {
		return ask.Identity{}, forgery("'%s' is not allowed to impersonate as '%s'", original.Name, target)
	}
	id, ok := c.Account(target)
	if !ok {
		return ask.Identity{}, forgery("No such user:%s", target)
	}
	id.Address, id.By = original.Address, original.Name
	return id, nil
}

// may reports whether original may ask in the name of target, be there such a user or not. An
// administrator is himself alone, and nobody asks in his name.
func (c *Chain) may(original ask.Identity, target string) bool {
	if original.Admin || original.By != "" || c.delegates.admins[strings.ToLower(target)] {
		return false
	}
	for _, p := range c.delegates.may[original.Name] {
		if p.Match(target) {
			return true
		}
	}
	return false
}

func forgery(format string, args ...any) error {
	return &ask.Rejection{Status: http.StatusForbidden, Public: fmt.Sprintf(format, args...), Reason: ask.ReasonBadRequest}
}
