package authn

import (
	"errors"
	"testing"

	"guard/config"
	"guard/internal/ask"
)

// TestInName: whom the setting lets ask gets the identity of the account, apart from its own;
// everybody else is told nothing but that he may not.
func TestInName(t *testing.T) {
	ben := user(cheapHash)
	ben.BackendRoles, ben.Attributes = []string{"staff"}, map[string]string{"team": "red"}
	off := user(cheapHash)
	off.Enabled = false
	sec := securityOf(map[string]config.User{"imp": user(cheapHash), "ben": ben, "bert": user(cheapHash), "boff": off, "*": user(cheapHash), "CN=boss": user(cheapHash)})
	c, _, err := New(sec, config.Policy{Admins: []string{"CN=Boss"}, Impersonation: map[string][]string{"imp": {"ben", "bo*", "/gh.st/", "cn=*"}, "any": {"*"}}}, newVerifier(t, VerifierOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	f := func(original ask.Identity, target, want string) {
		t.Helper()
		got, err := c.InName(original, target)
		var rej *ask.Rejection
		switch {
		case want != "" && (!errors.As(err, &rej) || rej.Public != want || rej.Status.Code() != 403 || got.Name != ""):
			t.Errorf("%+v as %q: %+v, %v; want a refusal: %s", original, target, got, err, want)
		case want == "" && (err != nil || got.Name != target || got.By != original.Name || got.Admin || got.Address != original.Address):
			t.Errorf("%+v as %q: %+v, %v; want it", original, target, got, err)
		}
	}
	imp := ask.Identity{Name: "imp", BackendRoles: []string{"own"}}
	f(imp, "ben", "")
	f(imp, "bert", "'imp' is not allowed to impersonate as 'bert'")
	f(imp, "nosuch", "'imp' is not allowed to impersonate as 'nosuch'")
	f(imp, "*", "'imp' is not allowed to impersonate as '*'") // a name is no pattern
	f(imp, "imp", "'imp' is not allowed to impersonate as 'imp'")
	f(imp, "boff", "No such user:boff") // may not log in
	f(imp, "ghost", "No such user:ghost")
	f(ask.Identity{Name: "any"}, "*", "")
	f(ask.Identity{Name: "any"}, "bert", "")
	f(ask.Identity{Name: "any"}, "CN=boss", "'any' is not allowed to impersonate as 'CN=boss'")
	f(imp, "cn=BOSS", "'imp' is not allowed to impersonate as 'cn=BOSS'")
	f(ask.Identity{Name: "ben"}, "imp", "'ben' is not allowed to impersonate as 'imp'")
	f(ask.Identity{Name: "imp", By: "any"}, "ben", "'imp' is not allowed to impersonate as 'ben'") // one step alone
	f(ask.Identity{Name: "imp", Admin: true}, "ben", "'imp' is not allowed to impersonate as 'ben'")
	f(ask.Identity{}, "ben", "'' is not allowed to impersonate as 'ben'")
	got, _ := c.InName(imp, "ben")
	if len(got.BackendRoles) != 1 || got.BackendRoles[0] != "staff" || got.Attributes["attr.internal.team"] != "red" {
		t.Errorf("got %+v; want the roles and attributes of the account alone", got)
	}
	if _, err := new(Chain).InName(imp, "ben"); err == nil {
		t.Error("without a setting somebody may ask in another's name")
	}
}

// TestAdminName: the name of an administrator is nobody's who logs in otherwise, and it makes
// an administrator only where a certificate proves it.
func TestAdminName(t *testing.T) {
	sec := securityOf(map[string]config.User{"cn=Boss,ou=x": user(cheapHash), "ben": user(cheapHash)})
	c, _, err := New(sec, config.Policy{Admins: []string{"CN=boss,OU=x"}}, newVerifier(t, VerifierOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	f := func(name, password string, want error) {
		t.Helper()
		id, err := c.Identify(t.Context(), with(basicHeader(name, password)))
		if !errors.Is(err, want) || id.Admin || err != nil && id.Name != "" {
			t.Errorf("%s: %+v, %v; want %v", name, id, err, want)
		}
	}
	f("ben", rightPassword, nil)
	f("cn=Boss,ou=x", rightPassword, ErrAdminName)
	f("cn=Boss,ou=x", "wrong", ErrRejected)
	if a := c.Answer(ErrAdminName); a.Status != 403 || a.Body != "Cannot authenticate user because admin user is not permitted to login via HTTP" {
		t.Errorf("got %+v", a)
	}
	if id, ok := c.Admin("cn=BOSS,ou=x"); !ok || !id.Admin || id.By != "" {
		t.Errorf("got %+v, %v; want an administrator", id, ok)
	}
	if _, ok := c.Admin("ben"); ok {
		t.Error("somebody is an administrator without being named")
	}
	if _, ok := new(Chain).Admin(""); ok {
		t.Error("the zero chain has an administrator")
	}
}
