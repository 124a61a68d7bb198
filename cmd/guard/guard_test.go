package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"guard/authn"
	"guard/config"
	"guard/gate"
	"guard/indexresolver"
	"guard/indexresolver/source"
	"guard/internal/ask"
)

// command runs one command and returns what it printed.
func command(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := rootCommand()
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// TestHash: what hash prints lets its password in, and no other.
func TestHash(t *testing.T) {
	for _, algorithm := range authn.Algorithms() {
		text, err := command(t, "s3cret\r\n", "hash", "--algorithm", algorithm)
		if err != nil {
			t.Fatal(err)
		}
		sec := &config.Security{Users: map[string]config.User{"anna": {Hash: config.NewSecret(strings.TrimSuffix(text, "\n")), Enabled: true}}}
		sec.Dynamic.Authc = map[string]config.AuthcDomain{"d": {
			HTTPEnabled: true, Authenticator: config.Authenticator{Type: "basic"}, Backend: config.Backend{Type: "internal"},
		}}
		v, err := authn.NewVerifier(authn.VerifierOptions{Concurrency: 1, Queue: 1, CacheSize: 1})
		if err != nil {
			t.Fatal(err)
		}
		chain, _, err := authn.New(sec, v)
		if err != nil {
			t.Fatalf("%s: the hash %q is not taken: %v", algorithm, text, err)
		}
		// "anna:s3cret" and "anna:s3creT"
		if _, err := chain.Identify(t.Context(), authn.Credentials{Authorization: []string{"Basic YW5uYTpzM2NyZXQ="}}); err != nil {
			t.Errorf("%s: the right password: %v", algorithm, err)
		}
		if _, err := chain.Identify(t.Context(), authn.Credentials{Authorization: []string{"Basic YW5uYTpzM2NyZVQ="}}); err == nil {
			t.Errorf("%s: a wrong password is taken", algorithm)
		}
	}
}

func TestCommandsRefuse(t *testing.T) {
	f := func(stdin, want string, args ...string) {
		t.Helper()
		if out, err := command(t, stdin, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("guard %s: got %v, printed %q; want an error with %q", strings.Join(args, " "), err, out, want)
		}
	}
	f("", "cannot hash an empty password", "hash")
	f("x\n", `unknown algorithm "md5"; want one of bcrypt, pbkdf2, argon2id`, "hash", "--algorithm", "md5")
	f("", `unknown command "secret"`, "hash", "secret") // a password is no argument
	f("", `unknown command "nosuch"`, "nosuch")
	f("", "unknown flag: --nosuch", "check", "--nosuch")
	f("", "no URL", "check", "--security", t.TempDir())
	f("", "no URL", "serve", "--security", t.TempDir())
}

func TestVersion(t *testing.T) {
	if out, err := command(t, "", "version"); err != nil || !strings.HasPrefix(out, "guard dev (") {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestCurrent: there is no snapshot without a policy, one without a state decides for
// nobody who is restricted, and each swap gives a new one and leaves the old alone.
func TestCurrent(t *testing.T) {
	c := &current{source: source.New(nil, source.Config{})}
	if got := c.Load(); got != nil {
		t.Fatalf("got snapshot %v without a policy", got)
	}
	conf := &config.Config{Security: "../../deploy/sample/security"}
	conf.State.MaxAge = time.Minute
	conf.Limits.SetDefaults()
	conf.Auth.SetDefaults()
	v, err := newVerifier(conf)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := loadPolicy(conf, v)
	if err != nil {
		t.Fatal(err)
	}
	c.setPolicy(p)
	first := c.Load()
	nobody := first.Principal(ask.Identity{Name: "nobody"})
	request := &ask.Request{Method: "GET", RawTarget: "/", Now: time.Now()}
	if out := first.Plan(nobody, request, gate.Known{}); out.Kind != gate.Reject || out.Rejection.Reason != ask.ReasonStateStale {
		t.Errorf("without a state: got %v, %+v", out.Kind, out.Rejection)
	}
	state, err := indexresolver.New(indexresolver.Contents{FetchedAt: request.Now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.setState(state)
	if out := c.Load().Plan(nobody, request, gate.Known{}); out.Rejection.Reason != ask.ReasonNoPrivilege {
		t.Errorf("with a state: got %+v; want no privilege", out.Rejection)
	}
	if out := first.Plan(nobody, request, gate.Known{}); out.Rejection.Reason != ask.ReasonStateStale {
		t.Errorf("the first snapshot has changed: got %+v", out.Rejection)
	}
}
