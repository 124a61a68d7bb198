package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

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
		chain, _, err := authn.New(sec, config.Policy{}, v)
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
	f("a\nb\n", "cannot read the password: there is more than one line; want one", "hash")
	f("x\n", `unknown algorithm "md5"; want one of bcrypt, pbkdf2, argon2id`, "hash", "--algorithm", "md5")
	f("", "guard hash takes flags alone, and got 1 other argument; guard hash --help lists them", "hash", "secret") // a password is no argument
	f("", `unknown command "nosuch"; guard --help lists the commands`, "nosuch")
	f("", "unknown flag: --nosuch; guard check --help lists the flags", "check", "--nosuch")
	f("", "no URL", "check", "--security", t.TempDir())
	f("", "no URL", "serve", "--security", t.TempDir())
}

// TestHelp: the help of each command fits on a screen, and guard alone shows its own.
func TestHelp(t *testing.T) {
	f := func(args ...string) {
		t.Helper()
		out, err := command(t, "", args...)
		if err != nil || !strings.Contains(out, "Usage:") {
			t.Errorf("guard %q: %v, and %q; want its help", args, err, out)
		}
		for line := range strings.Lines(out) {
			if n := len(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("guard %q prints a line of %d columns; want at most 100: %s", args, n, line)
			}
		}
	}
	f()
	var all func(cmd *cobra.Command)
	all = func(cmd *cobra.Command) {
		f(append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		for _, below := range cmd.Commands() {
			all(below)
		}
	}
	all(rootCommand())
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
	conf := sampleConfig("../../deploy/sample/security")
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

// sampleConfig is guard.yml for a security folder.
func sampleConfig(folder string) *config.Config {
	c := &config.Config{Security: folder}
	c.State.MaxAge = time.Minute
	c.Limits.SetDefaults()
	c.Auth.SetDefaults()
	return c
}

// write writes a file of a security folder that is a copy of the sample.
func write(t *testing.T, folder, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// copySample returns a copy of the sample's security folder.
func copySample(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("../../deploy/sample/security")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// gauge returns the value of a metric.
func gauge(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// TestReload: each change of the folder is told once, also one that takes a fault back,
// and only a policy without a fault is put to work. The metric says whether the folder is
// at fault now. What was seen is what counts, though the folder holds something else by
// the time that it is loaded.
func TestReload(t *testing.T) {
	c := sampleConfig(copySample(t))
	v, err := newVerifier(c)
	if err != nil {
		t.Fatal(err)
	}
	cur := &current{}
	p, _, err := loadPolicy(c, v)
	if err != nil {
		t.Fatal(err)
	}
	cur.setPolicy(p)
	core, logs := observer.New(zap.InfoLevel)
	metrics := prometheus.NewRegistry()
	re := newReloads(metrics, c, v, cur, zap.New(core))
	seen := func(tenants string) config.Change {
		t.Helper()
		write(t, c.Security, "tenants.yml", tenants)
		folder, err := config.ReadFolder(c.Security)
		return config.Change{Folder: folder, Err: err}
	}
	const swapped, refused, back = "policy reloaded", "cannot use the changed security folder; the policy at work stays", "the security folder holds the policy at work again"
	f := func(change config.Change, want ...string) {
		t.Helper()
		before := cur.policyHash()
		re.policy(change)
		said := []string{}
		for _, record := range logs.TakeAll() {
			said = append(said, record.Message)
		}
		if !slices.Equal(said, want) {
			t.Errorf("got records %q; want %q", said, want)
		}
		if got := cur.policyHash() != before; got != slices.Contains(want, swapped) {
			t.Errorf("swapped is %v; want it where the records say so: %q", got, want)
		}
		if got := gauge(t, metrics, "guard_config_faulty"); (got == 1) != slices.Contains(want, refused) {
			t.Errorf("guard_config_faulty is %v after %q", got, want)
		}
	}
	const meta = "_meta: {type: tenants, config_version: 2}\n"
	f(seen(meta+"one: {description: x}\n"), swapped)
	f(seen(meta+"one: [\n"), refused)
	f(seen(meta+"one: [[\n"), refused)
	f(seen(meta+"one: {description: x}\n"), back)
	f(seen(meta + "one: {description: x}\n")) // a change that was taken back before it was loaded

	_, err = config.ReadFolder(filepath.Join(c.Security, "none"))
	f(config.Change{Err: err}, refused)
	good := seen(meta + "two: {}\n")
	seen(meta + "two: [\n") // meanwhile
	f(good, swapped)
}

// TestWarningsAreSaidOnce: packages that look at the same entry do not both warn of it.
func TestWarningsAreSaidOnce(t *testing.T) {
	c := sampleConfig(copySample(t))
	write(t, c.Security, "action_groups.yml", "_meta: {type: actiongroups, config_version: 2}\nreed: {allowed_actions: [raed, 'indices:data/nope', ' ', read]}\n")
	write(t, c.Security, "roles_mapping.yml", "_meta: {type: rolesmapping, config_version: 2}\nnosuch: {users: [anna, '']}\nmessy: {users: [anna]}\n")
	write(t, c.Security, "roles.yml", `_meta: {type: roles, config_version: 2}
messy:
  cluster_permissions: [reed, clutser_all, '']
  index_permissions:
    - {index_patterns: ['x-${nobody}', ''], dls: '{"term":{"a":"${nobody}"}}', fls: [a, ~b], masked_fields: [c], allowed_actions: [raed]}
    - {index_patterns: [y], dls: '{"script":{"script":{"source":"true"}}}', masked_fields: [c], allowed_actions: [read]}
    - {index_patterns: [], allowed_actions: []}
  tenant_permissions: [{tenant_patterns: [nope], allowed_actions: [kibana_all_raed]}]
`)
	v, err := newVerifier(c)
	if err != nil {
		t.Fatal(err)
	}
	_, warnings, err := loadPolicy(c, v)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, w := range warnings {
		if before, twice := said[w.Path]; twice {
			t.Errorf("%s: %q and %q", w.Path, before, w.Msg)
		}
		said[w.Path] = w.Msg
	}
	for _, path := range []string{"reed.allowed_actions[0]", "messy.cluster_permissions[1]", "messy.tenant_permissions[0].allowed_actions[0]"} {
		if !strings.HasPrefix(said[path], "unknown action or group ") {
			t.Errorf("%s: got the warning %q; want one of an unknown action", path, said[path])
		}
	}
}
