package authn

import (
	"context"
	"encoding/base64"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guard/config"
	"guard/internal/ask"
)

// Hashes of "correct hörse" in three classes.
var (
	cheapHash = pluginHashes["bcrypt y"]
	argonHash = pluginHashes["argon2id"]
	pbkdfHash = pluginHashes["pbkdf2 sha256"]
)

const rightPassword = "correct hörse"

func basicHeader(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

func with(headers ...string) Credentials { return Credentials{Authorization: headers} }

func newVerifier(t testing.TB, o VerifierOptions) *Verifier {
	t.Helper()
	if o.Concurrency == 0 {
		o.Concurrency = 2
	}
	if o.Queue == 0 {
		o.Queue = 4
	}
	if o.CacheSize == 0 {
		o.CacheSize = 16
	}
	v, err := NewVerifier(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// securityOf returns a security folder's content with one domain, "passwords".
func securityOf(users map[string]config.User) *config.Security {
	d := config.AuthcDomain{HTTPEnabled: true}
	d.Authenticator = config.Authenticator{Type: config.AuthenticatorBasic, Challenge: true}
	d.Backend.Type = config.BackendInternal
	s := &config.Security{Users: users}
	s.Dynamic.Authc = map[string]config.AuthcDomain{"passwords": d}
	return s
}

func user(hash string) config.User { return config.User{Hash: config.NewSecret(hash), Enabled: true} }

func newChain(t testing.TB, users map[string]config.User, v *Verifier) *Chain {
	t.Helper()
	c, _, err := New(securityOf(users), config.Policy{}, v)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestIdentify(t *testing.T) {
	anna := user(cheapHash)
	anna.BackendRoles = []string{"analysts"}
	anna.SecurityRoles = []string{"support"}
	anna.Attributes = map[string]string{"region": "eu", "a.b": "c"}
	disabled := user(cheapHash)
	disabled.Enabled = false
	service := user(cheapHash)
	service.Attributes = map[string]string{"service": "true"}
	c := newChain(t, map[string]config.User{
		"anna": anna, "disabled": disabled, "service": service, "nohash": {Enabled: true},
		"argon": user(argonHash), "pbkdf2": user(pbkdfHash), "änne": user(cheapHash),
	}, newVerifier(t, VerifierOptions{}))

	f := func(header, want string, wantErr error) {
		t.Helper()
		id, err := c.Identify(t.Context(), with(header))
		if id.Name != want || !errors.Is(err, wantErr) {
			t.Errorf("%q is %q, error %v; want %q, %v", header, id.Name, err, want, wantErr)
		}
	}
	f(basicHeader("anna", rightPassword), "anna", nil)
	f(basicHeader("argon", rightPassword), "argon", nil)
	f(basicHeader("pbkdf2", rightPassword), "pbkdf2", nil)
	f(basicHeader("änne", rightPassword), "änne", nil)
	raw := base64.RawStdEncoding.EncodeToString([]byte("anna:" + rightPassword))
	f("basic "+raw, "anna", nil)       // the scheme in any case, base64 without padding
	f("BASIC \t"+raw+" ", "anna", nil) // space around
	f(basicHeader("anna", "wrong"), "", ErrRejected)
	f(basicHeader("Anna", rightPassword), "", ErrRejected) // names are case-sensitive
	f(basicHeader("anna ", rightPassword), "", ErrRejected)
	f(basicHeader("nobody", rightPassword), "", ErrRejected)
	f(basicHeader("disabled", rightPassword), "", ErrRejected)
	f(basicHeader("service", rightPassword), "", ErrRejected)
	f(basicHeader("nohash", ""), "", ErrRejected)
	f(basicHeader("nohash", "x"), "", ErrRejected)
	f(basicHeader("anna", ""), "", ErrRejected)
	f(basicHeader("", rightPassword), "", ErrRejected)
	f(basicHeader("*", rightPassword), "", ErrRejected)
	f(basicHeader("anna:", rightPassword), "", ErrRejected) // the first ':' divides
	f(basicHeader("anna", "\xff"), "", ErrRejected)
	f(basicHeader("\xff", rightPassword), "", ErrRejected)
	f("Basic", "", ErrRejected)
	f("Basic ", "", ErrRejected)
	f("Basic ?", "", ErrRejected)
	f("Basic "+raw[:8]+"\n"+raw[8:], "", ErrRejected)
	f("Basic "+base64.StdEncoding.EncodeToString([]byte("anna")), "", ErrRejected)
	f("Bearer "+raw, "", ErrNoCredentials)
	f("Basically "+raw, "", ErrNoCredentials)
	f("", "", ErrNoCredentials)

	if _, err := c.Identify(t.Context(), Credentials{}); !errors.Is(err, ErrNoCredentials) {
		t.Errorf("no header: %v; want %v", err, ErrNoCredentials)
	}
	if _, err := c.Identify(t.Context(), with(basicHeader("anna", rightPassword), "Bearer x")); !errors.Is(err, ErrAmbiguous) {
		t.Errorf("two headers: %v; want %v", err, ErrAmbiguous)
	}

	creds := with(basicHeader("anna", rightPassword))
	creds.Peer, creds.Address = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.1.2.3")
	got, err := c.Identify(t.Context(), creds)
	if err != nil {
		t.Fatal(err)
	}
	want := ask.Identity{
		Name: "anna", Domain: "passwords", Address: creds.Address,
		BackendRoles:  []string{"analysts"},
		SecurityRoles: []string{"support"},
		Attributes:    map[string]string{"attr.internal.region": "eu", "attr.internal.a.b": "c"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

type providerFunc func(Credentials) (ask.Identity, error)

func (f providerFunc) Identify(_ context.Context, c Credentials) (ask.Identity, error) { return f(c) }

// TestChainOrder holds the contract of Provider: ErrNoCredentials asks the next
// one, any other error ends the chain, and nobody's identity survives an error.
func TestChainOrder(t *testing.T) {
	gives := func(name string, err error) Provider {
		return providerFunc(func(Credentials) (ask.Identity, error) { return ask.Identity{Name: name}, err })
	}
	other := errors.New("directory is down")
	f := func(want string, wantErr error, domains ...Provider) {
		t.Helper()
		c := &Chain{domains: domains}
		id, err := c.Identify(t.Context(), Credentials{})
		if id.Name != want || !errors.Is(err, wantErr) {
			t.Errorf("%q, %v; want %q, %v", id.Name, err, want, wantErr)
		}
	}
	f("", ErrNoCredentials)
	f("a", nil, gives("a", nil), gives("b", nil))
	f("b", nil, gives("x", ErrNoCredentials), gives("b", nil))
	f("", ErrRejected, gives("x", ErrRejected), gives("b", nil))
	f("", other, gives("x", other), gives("b", nil))
	f("", ErrNoCredentials, gives("x", ErrNoCredentials), gives("y", ErrNoCredentials))
}

func TestAnswer(t *testing.T) {
	c := newChain(t, nil, newVerifier(t, VerifierOptions{}))
	f := func(c *Chain, err error, wantStatus int, wantBody, wantChallenge, wantRetry string) {
		t.Helper()
		a := c.Answer(err)
		if a.Status != wantStatus || a.Body != wantBody || a.Authenticate != wantChallenge || a.RetryAfter != wantRetry || a.ContentType == "" {
			t.Errorf("answer to %v: %+v", err, a)
		}
	}
	f(c, ErrNoCredentials, 401, "Unauthorized", `Basic realm="OpenSearch Security"`, "")
	f(c, ErrRejected, 401, "Unauthorized", `Basic realm="OpenSearch Security"`, "")
	f(c, errors.New("anything else"), 401, "Unauthorized", `Basic realm="OpenSearch Security"`, "")
	f(&Chain{}, ErrRejected, 401, "Authentication finally failed", "", "")
	f(c, ErrAmbiguous, 400, `{"error":{"root_cause":[{"type":"security_exception","reason":"more than one Authorization header"}],"type":"security_exception","reason":"more than one Authorization header"},"status":400}`, "", "")
	f(c, ErrBusy, 429, `{"error":{"root_cause":[{"type":"security_exception","reason":"too many logins at once"}],"type":"security_exception","reason":"too many logins at once"},"status":429}`, "", "1")
	f(c, context.Canceled, 503, `{"error":{"root_cause":[{"type":"security_exception","reason":"login took too long"}],"type":"security_exception","reason":"login took too long"},"status":503}`, "", "1")
	if got := c.Answer(ErrRejected).ContentType; got != "text/plain; charset=UTF-8" {
		t.Errorf("content type %q", got)
	}
}

func TestNew(t *testing.T) {
	v := newVerifier(t, VerifierOptions{})
	quiet := securityOf(nil)
	d := quiet.Dynamic.Authc["passwords"]
	d.Authenticator.Challenge = false
	quiet.Dynamic.Authc["passwords"] = d
	c, _, err := New(quiet, config.Policy{}, v)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Answer(ErrRejected).Authenticate; got != "" {
		t.Errorf("challenge %q; want none, since the domain does not challenge", got)
	}

	d.Order = 1
	quiet.Dynamic.Authc["again"] = d
	_, warnings, err := New(quiet, config.Policy{}, v)
	if err != nil || len(warnings) != 1 {
		t.Errorf("two domains of the same users: warnings %v, error %v; want one warning", warnings, err)
	}

	_, _, err = New(&config.Security{}, config.Policy{}, v)
	if err == nil || err.Error() != "cannot authenticate anybody: no domain is enabled and built" {
		t.Errorf("no domain: %v", err)
	}

	broken := user("secret-that-must-not-show")
	broken.Pos = config.Pos{File: "internal_users.yml", Line: 7, Path: "anna"}
	worse := user("$2y$31$Cm.cke.HpMzvXW1DBepna.AP0TrH3hlAsW2tQmV3bo/tVRsZtFAPa")
	worse.Pos = config.Pos{File: "internal_users.yml", Line: 5, Path: "bob"}
	_, _, err = New(securityOf(map[string]config.User{"anna": broken, "bob": worse}), config.Policy{}, v)
	const want = `config: 2 faults:
  internal_users.yml:5: bob.hash: bcrypt cost "31" is out of range; want 4 to 15; want a hash as guard hash prints it
  internal_users.yml:7: anna.hash: unknown form of password hash; want a hash as guard hash prints it`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}

	service := user(cheapHash)
	service.Attributes = map[string]string{"service": "true"}
	_, warnings, err = New(securityOf(map[string]config.User{"s": service}), config.Policy{}, v)
	if err != nil || len(warnings) != 1 || warnings[0].Msg != "service accounts are not built yet: the user cannot log in" {
		t.Errorf("service account: warnings %v, error %v", warnings, err)
	}
}

// TestManyClasses holds that the price of mixed hashes is told, once.
func TestManyClasses(t *testing.T) {
	users := map[string]config.User{}
	for name, text := range pluginHashes {
		users[name] = user(text)
	}
	_, warnings, err := New(securityOf(users), config.Policy{}, newVerifier(t, VerifierOptions{}))
	if err != nil || len(warnings) != 1 || warnings[0].Msg != "many kinds of stored hashes: each failed login costs one of every kind" {
		t.Errorf("warnings %v, error %v; want one warning", warnings, err)
	}
}

// counted replaces the hashing of v by a count of calls by class.
func counted(v *Verifier) (calls map[class]int, reset func()) {
	var mu sync.Mutex
	calls = map[class]int{}
	hash := v.matches
	v.matches = func(s *stored, password []byte) bool {
		mu.Lock()
		calls[s.class]++
		mu.Unlock()
		return hash(s, password)
	}
	return calls, func() { clear(calls) }
}

// TestEqualCost holds that each failure costs the same hashes: one of each class
// that is stored, whoever is named.
func TestEqualCost(t *testing.T) {
	disabled := user(pbkdfHash)
	disabled.Enabled = false
	v := newVerifier(t, VerifierOptions{})
	c := newChain(t, map[string]config.User{
		"bcrypt": user(cheapHash), "bcrypt2": user(pluginHashes["bcrypt a"]),
		"argon": user(argonHash), "disabled": disabled, "nohash": {Enabled: true},
	}, v)
	calls, reset := counted(v)
	want := map[class]int{}
	for _, text := range []string{cheapHash, argonHash, pbkdfHash} {
		s, err := parseHash(text)
		if err != nil {
			t.Fatal(err)
		}
		want[s.class] = 1
	}
	f := func(name, password string) {
		t.Helper()
		reset()
		if _, err := c.Identify(t.Context(), with(basicHeader(name, password))); !errors.Is(err, ErrRejected) {
			t.Errorf("%s: %v; want %v", name, err, ErrRejected)
		}
		if diff := cmp.Diff(want, calls, cmp.AllowUnexported(class{})); diff != "" {
			t.Errorf("%s: hashes by class (-want +got):\n%s", name, diff)
		}
	}
	f("nobody", "wrong")
	f("bcrypt", "wrong")
	f("bcrypt2", "wrong")
	f("argon", "wrong")
	f("nohash", "wrong")
	f("disabled", "wrong")
	f("disabled", rightPassword)
	f("nobody", rightPassword)
}

// TestNobodyStored holds that even without any user a login costs a hash.
func TestNobodyStored(t *testing.T) {
	v := newVerifier(t, VerifierOptions{})
	c := newChain(t, nil, v)
	v.matches = func(s *stored, _ []byte) bool {
		if s.class != (class{family: familyBcrypt, work: bcryptCost}) {
			t.Errorf("hashed class %+v; want that of a new hash", s.class)
		}
		return false
	}
	if _, err := c.Identify(t.Context(), with(basicHeader("a", "b"))); !errors.Is(err, ErrRejected) {
		t.Errorf("%v; want %v", err, ErrRejected)
	}
	if n := v.stats().Hashes; n != 1 {
		t.Errorf("%d hashes; want 1", n)
	}
}

func TestCache(t *testing.T) {
	now := time.Unix(1000, 0)
	v := newVerifier(t, VerifierOptions{CacheTTL: time.Minute, CacheSize: 2, Now: func() time.Time { return now }})
	users := map[string]config.User{"anna": user(cheapHash), "bob": user(pluginHashes["bcrypt a"]), "cara": user(argonHash)}
	c := newChain(t, users, v)
	f := func(why, name, password string, wantErr error, wantHashed bool) {
		t.Helper()
		before := v.stats().Hashes
		_, err := c.Identify(t.Context(), with(basicHeader(name, password)))
		if hashed := v.stats().Hashes > before; !errors.Is(err, wantErr) || hashed != wantHashed {
			t.Errorf("%s: error %v, hashed %v; want %v, %v", why, err, hashed, wantErr, wantHashed)
		}
	}
	f("first", "anna", rightPassword, nil, true)
	f("remembered", "anna", rightPassword, nil, false)
	f("a wrong password is not", "anna", "wrong", ErrRejected, true)
	f("nor is it the second time", "anna", "wrong", ErrRejected, true)
	f("another name with that password", "bob", rightPassword, nil, true)
	now = now.Add(time.Minute - 1)
	f("just before the end", "anna", rightPassword, nil, false)
	now = now.Add(1)
	f("at the end", "anna", rightPassword, nil, true)
	f("bob", "bob", rightPassword, nil, true)
	f("a third in a cache of two", "cara", rightPassword, nil, true)
	f("drops the oldest", "anna", rightPassword, nil, true)

	f("remembered before a new policy", "anna", rightPassword, nil, false)
	c = newChain(t, users, v)
	f("and after it", "anna", rightPassword, nil, false)
	users["anna"] = user(pluginHashes["bcrypt b"])
	c = newChain(t, users, v)
	f("a new hash of the same password", "anna", rightPassword, nil, true)
	users["anna"] = user("$2y$04$Ad9XzMExukxAL8tSZF4W4.E2wK42kPKKdhWiLUFK/eH..8tpnyqOS")
	c = newChain(t, users, v)
	f("a new password", "anna", rightPassword, ErrRejected, true)
	disabled := user(cheapHash)
	disabled.Enabled = false
	users["anna"] = disabled
	c = newChain(t, users, v)
	f("a disabled user whose password was remembered", "anna", rightPassword, ErrRejected, true)
	delete(users, "anna")
	c = newChain(t, users, v)
	f("a deleted one", "anna", rightPassword, ErrRejected, true)
}

func TestNoCache(t *testing.T) {
	v := newVerifier(t, VerifierOptions{CacheTTL: 0})
	c := newChain(t, map[string]config.User{"anna": user(cheapHash)}, v)
	for range 2 {
		if _, err := c.Identify(t.Context(), with(basicHeader("anna", rightPassword))); err != nil {
			t.Fatal(err)
		}
	}
	if s := v.stats(); s.Hashes != 2 || s.CacheHits != 0 {
		t.Errorf("%+v; want two hashes and no hit", s)
	}
}

// TestFingerprint holds that no two attempts look alike because their parts are
// divided differently, and that two processes share nothing.
func TestFingerprint(t *testing.T) {
	v := newVerifier(t, VerifierOptions{})
	seen := map[fingerprint]string{}
	f := func(domain, hash, name, password string) {
		t.Helper()
		p := v.fingerprint(attempt{domain: domain, hashText: hash, name: []byte(name), password: []byte(password)})
		what := domain + "|" + hash + "|" + name + "|" + password
		if other, ok := seen[p]; ok {
			t.Errorf("%q looks like %q", what, other)
		}
		seen[p] = what
	}
	f("d", "h", "ab", "c")
	f("d", "h", "a", "bc")
	f("d", "ha", "b", "c")
	f("dh", "a", "b", "c")
	f("", "", "", "")
	a := attempt{name: []byte("a"), password: []byte("b")}
	if first := v.fingerprint(a); v.fingerprint(a) != first {
		t.Error("one attempt has two fingerprints")
	}
	if v.fingerprint(a) == newVerifier(t, VerifierOptions{}).fingerprint(a) {
		t.Error("two verifiers give the same fingerprint")
	}
}

// TestTurns holds the bounds: so many hashes at a time, so many waiting, and more
// are refused.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifier(t, VerifierOptions{Concurrency: 2, Queue: 3})
		c := newChain(t, map[string]config.User{"anna": user(cheapHash)}, v)
		var working, most atomic.Int64
		finish := make(chan struct{})
		v.matches = func(*stored, []byte) bool {
			most.Store(max(most.Load(), working.Add(1)))
			<-finish
			working.Add(-1)
			return false
		}
		var rejected, busy atomic.Int64
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				_, err := c.Identify(t.Context(), with(basicHeader("anna", string(rune('a'+i)))))
				switch {
				case errors.Is(err, ErrRejected):
					rejected.Add(1)
				case errors.Is(err, ErrBusy):
					busy.Add(1)
				default:
					t.Errorf("error %v", err)
				}
			})
		}
		synctest.Wait()
		if working.Load() != 2 || busy.Load() != 5 {
			t.Errorf("%d at work, %d refused; want 2 and 5", working.Load(), busy.Load())
		}
		close(finish)
		wg.Wait()
		if most.Load() != 2 || rejected.Load() != 5 || v.stats().Busy != 5 {
			t.Errorf("at most %d at work, %d rejected, %d busy; want 2, 5, 5", most.Load(), rejected.Load(), v.stats().Busy)
		}
		if len(v.running) != 0 || len(v.queue.slots) != 0 || v.queue.waiting != 0 {
			t.Errorf("left behind: %d running, %d slots, %d waiting", len(v.running), len(v.queue.slots), v.queue.waiting)
		}
	})
}

// TestOneHashForMany holds that a client with many connections costs one hash, and
// that the others do not fail when the one that leads goes away.
func TestOneHashForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifier(t, VerifierOptions{Concurrency: 1, Queue: 2, CacheTTL: time.Minute})
		c := newChain(t, map[string]config.User{"anna": user(cheapHash), "bob": user(cheapHash)}, v)
		finish := make(chan struct{})
		hash := v.matches
		v.matches = func(s *stored, password []byte) bool {
			<-finish
			return hash(s, password)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = c.Identify(t.Context(), with(basicHeader("bob", "x"))) }) // takes the only slot
		synctest.Wait()
		leading, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := c.Identify(leading, with(basicHeader("anna", rightPassword))); !errors.Is(err, context.Canceled) {
				t.Errorf("who left: %v; want %v", err, context.Canceled)
			}
		})
		synctest.Wait()
		for range 20 {
			wg.Go(func() {
				if _, err := c.Identify(t.Context(), with(basicHeader("anna", rightPassword))); err != nil {
					t.Errorf("who stayed: %v", err)
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(finish)
		wg.Wait()
		if n := v.stats().Hashes; n != 2 {
			t.Errorf("%d hashes; want bob's and one of anna", n)
		}
	})
}

// TestPanicInHash holds that a panic ends one check: its slot is free again, and
// who waited is refused.
func TestPanicInHash(t *testing.T) {
	v := newVerifier(t, VerifierOptions{Concurrency: 1})
	c := newChain(t, map[string]config.User{"anna": user(cheapHash)}, v)
	hash := v.matches
	v.matches = func(*stored, []byte) bool { panic("broken") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = c.Identify(t.Context(), with(basicHeader("anna", rightPassword)))
	}()
	v.matches = hash
	if _, err := c.Identify(t.Context(), with(basicHeader("anna", rightPassword))); err != nil {
		t.Errorf("after a panic: %v", err)
	}
}

func TestVerifierOptions(t *testing.T) {
	_, err := NewVerifier(VerifierOptions{Concurrency: 0, Queue: 1, CacheSize: 1})
	const want = "cannot check passwords with 0 hashes at a time, 1 waiting, cache of 1 for 0s; want positive numbers"
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
	for _, o := range []VerifierOptions{{FailedTTL: -1}, {FailedPerMinute: -1}} {
		o.Concurrency, o.Queue, o.CacheSize = 1, 1, 1
		if _, err := NewVerifier(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestConcurrentUse is for the race detector: many clients, a small cache, a policy
// that changes.
func TestConcurrentUse(t *testing.T) {
	v := newVerifier(t, VerifierOptions{Concurrency: 4, Queue: 1000, CacheTTL: time.Millisecond, CacheSize: 2})
	users := map[string]config.User{"anna": user(cheapHash), "bob": user(pluginHashes["bcrypt a"]), "cara": user(pluginHashes["bcrypt b"])}
	chains := []*Chain{newChain(t, users, v), newChain(t, users, v)}
	names := []string{"anna", "bob", "cara", "nobody"}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				name := names[(i+j)%len(names)]
				password, want := rightPassword, error(nil)
				if name == "nobody" || j%5 == 0 {
					password, want = "wrong", ErrRejected
				}
				id, err := chains[j%2].Identify(t.Context(), with(basicHeader(name, password)))
				if !errors.Is(err, want) || (err == nil) != (id.Name == name) {
					t.Errorf("%s is %q, %v; want %v", name, id.Name, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkIdentify(b *testing.B) {
	v := newVerifier(b, VerifierOptions{CacheTTL: time.Hour})
	c := newChain(b, map[string]config.User{"anna": user(cheapHash)}, v)
	creds := with(basicHeader("anna", rightPassword))
	b.Run("remembered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Identify(b.Context(), creds); err != nil {
				b.Fatal(err)
			}
		}
	})
}
