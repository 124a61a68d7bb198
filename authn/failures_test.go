package authn

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"guard/config"
)

// client tries logins from one address and looks at what they cost.
type client struct {
	t     *testing.T
	v     *Verifier
	chain *Chain
	peer  netip.Addr
}

// login tries a password; hashed tells whether one was computed.
func (c client) login(name, password string) (hashed bool, err error) {
	before := c.v.stats().Hashes
	_, err = c.chain.Identify(c.t.Context(), Credentials{Authorization: []string{basicHeader(name, password)}, Peer: c.peer})
	return c.v.stats().Hashes > before, err
}

// wants holds what becomes of a login. tooMany stands for any *TooManyFailures.
func (c client) wants(why, name, password string, wantErr error, wantHashed bool) {
	c.t.Helper()
	hashed, err := c.login(name, password)
	var failed *TooManyFailures
	same := errors.Is(err, wantErr)
	if wantErr == errTooMany { //nolint:errorlint // a stand-in of this test
		same = errors.As(err, &failed)
	}
	if !same || hashed != wantHashed {
		c.t.Errorf("%s: error %v, hashed %v; want %v, %v", why, err, hashed, wantErr, wantHashed)
	}
}

var errTooMany = errors.New("too many failures")

// fakeClock is moved by hand.
type fakeClock struct{ at time.Time }

func (f *fakeClock) now() time.Time { return f.at }

// clients returns clients of one verifier by address, its clock, and the chain's users:
// anna and bob with the right password, and a disabled one.
func clients(t *testing.T, o VerifierOptions) (at func(peer string) client, clock *fakeClock) {
	t.Helper()
	clock = &fakeClock{time.Unix(1000, 0)}
	o.Now = clock.now
	v := newVerifier(t, o)
	disabled := user(cheapHash)
	disabled.Enabled = false
	chain := newChain(t, map[string]config.User{"anna": user(cheapHash), "bob": user(pluginHashes["bcrypt a"]), "disabled": disabled}, v)
	return func(peer string) client {
		c := client{t: t, v: v, chain: chain}
		if peer != "" {
			c.peer = netip.MustParseAddr(peer)
		}
		return c
	}, clock
}

// TestWrongIsRemembered: the same wrong credentials cost one hash in a while, for whoever
// they name, and only for who has tried them: others learn nothing from the time it takes.
func TestWrongIsRemembered(t *testing.T) {
	at, clock := clients(t, VerifierOptions{FailedTTL: time.Minute, CacheTTL: time.Hour, CacheSize: 4})
	here, there := at("192.0.2.1"), at("192.0.2.2")
	for _, name := range []string{"anna", "nobody", "disabled"} {
		here.wants(name, name, "wrong", ErrRejected, true)
		here.wants(name+" again", name, "wrong", ErrRejected, false)
		here.wants(name+" with another password", name, "other", ErrRejected, true)
		there.wants(name+" from elsewhere", name, "wrong", ErrRejected, true)
		here.wants(name+" still", name, "wrong", ErrRejected, false)
		clock.at = clock.at.Add(time.Minute)
		here.wants(name+" later", name, "wrong", ErrRejected, true)
		here.v.ForgetFailures()
		here.wants(name+" under a new policy", name, "wrong", ErrRejected, true)
	}
	here.wants("the right password", "anna", rightPassword, nil, true)
	for i := range 8 { // bounded: those before are pushed out, and a right one is not
		here.wants("one of many", "bob", fmt.Sprint("wrong", i), ErrRejected, true)
	}
	here.wants("the first of many", "bob", "wrong0", ErrRejected, true)
	here.wants("the right password, after many wrong ones", "anna", rightPassword, nil, false)
	if got := here.v.stats(); got.WrongHits != 6 || got.CacheHits != 1 {
		t.Errorf("got %+v; want 6 passwords remembered as wrong, 1 as right", got)
	}
}

// TestFailedLogins: who has failed too often has no password checked for a while, whoever
// is named, and learns nothing of what others have logged in with; who has logged in from there
// goes on, and others elsewhere never notice.
func TestFailedLogins(t *testing.T) {
	at, clock := clients(t, VerifierOptions{CacheTTL: time.Hour, FailedPerMinute: 6})
	office, home, socket := at("192.0.2.1"), at("2001:db8::1"), at("")
	office.wants("a login", "anna", rightPassword, nil, true)
	home.wants("a login", "bob", rightPassword, nil, true)
	for i, name := range []string{"anna", "nobody", "disabled", "anna", "bob", "nobody"} {
		office.wants("a failure", name, fmt.Sprint(i), ErrRejected, true)
	}
	for _, name := range []string{"anna", "bob", "nobody", "disabled"} {
		office.wants("one too many", name, "wrong", errTooMany, false)
	}
	office.wants("logged in here before", "anna", rightPassword, nil, false)
	office.wants("logged in elsewhere", "bob", rightPassword, errTooMany, false)
	home.wants("elsewhere", "anna", "wrong", ErrRejected, true)
	at("2001:db8::ffff:2").wants("logged in from the same network", "bob", rightPassword, nil, false)

	clock.at = clock.at.Add(10 * time.Second) // a token
	office.wants("one more is checked", "bob", rightPassword, nil, false)
	office.wants("a success costs nothing", "disabled", "wrong", ErrRejected, true)
	office.wants("that was the one", "disabled", "other", errTooMany, false)
	clock.at = clock.at.Add(time.Hour)
	for i := range 6 {
		office.wants("all is forgiven", "nobody", fmt.Sprint(i), ErrRejected, true)
	}
	office.wants("and counted anew", "nobody", "x", errTooMany, false)
	office.wants("logged in here before, and forgotten meanwhile", "anna", rightPassword, nil, true)

	for i := range 20 {
		socket.wants("a socket without an address", "nobody", fmt.Sprint(i), ErrRejected, true)
	}
	if got := office.v.stats().TooMany; got != 7 {
		t.Errorf("%d refused; want 7", got)
	}
}

// TestFailedLoginsOff: 0 switches both off.
func TestFailedLoginsOff(t *testing.T) {
	at, _ := clients(t, VerifierOptions{})
	for range 200 {
		at("192.0.2.1").wants("a failure", "nobody", "wrong", ErrRejected, true)
	}
}

// TestFailuresTogether: those at work when the last token goes are counted, so that many
// at once buy no more than one after the other.
func TestFailuresTogether(t *testing.T) {
	at, clock := clients(t, VerifierOptions{Concurrency: 8, Queue: 8, FailedPerMinute: 3})
	c := at("192.0.2.1")
	started, finish := make(chan struct{}, 8), make(chan struct{})
	c.v.matches = func(*stored, []byte) bool {
		started <- struct{}{}
		<-finish
		return false
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() { _, _ = c.login("nobody", fmt.Sprint(i)) })
	}
	for range 6 {
		<-started
	}
	close(finish)
	all.Wait()
	clock.at = clock.at.Add(time.Minute) // three tokens: still none to spend
	c.wants("after six at once", "nobody", "x", errTooMany, false)
	clock.at = clock.at.Add(20 * time.Second)
	c.wants("later", "nobody", "y", ErrRejected, true)
}

// TestBusyTellsNothing: where a wrong password could not be checked, a right one that
// somebody else has logged in with is not let in.
func TestBusyTellsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, _ := clients(t, VerifierOptions{Concurrency: 1, Queue: 1, CacheTTL: time.Hour})
		here, there := at("192.0.2.1"), at("192.0.2.2")
		here.wants("a login", "anna", rightPassword, nil, true)
		finish := make(chan struct{})
		here.v.matches = func(*stored, []byte) bool { <-finish; return false }
		var all sync.WaitGroup
		for i := range 2 {
			all.Go(func() { _, _ = here.login("nobody", fmt.Sprint(i)) })
		}
		synctest.Wait()
		there.wants("a wrong password", "anna", "wrong", ErrBusy, false)
		there.wants("the right one", "anna", rightPassword, ErrBusy, false)
		here.wants("the right one where it was shown", "anna", rightPassword, nil, false)
		close(finish)
		all.Wait()
		there.wants("when there is room", "anna", rightPassword, nil, false)
	})
}

// TestLoginNetworks bounds where a login was shown; the newest are kept.
func TestLoginNetworks(t *testing.T) {
	var l *login
	if l.shownFrom(netip.Addr{}) {
		t.Error("no login was shown somewhere")
	}
	l = l.renewed(time.Time{})
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}) }
	var all sync.WaitGroup
	for i := range maxFrom {
		all.Go(func() { l.show(at(i)) })
	}
	all.Wait()
	for i := range maxFrom {
		if !l.shownFrom(at(i)) {
			t.Errorf("%v is lost", at(i))
		}
	}
	l = l.renewed(time.Time{})
	for i := range maxFrom {
		l.show(at(100 + i))
	}
	if l.shownFrom(at(0)) || !l.shownFrom(at(100)) {
		t.Errorf("kept %v; want the newest", *l.from.Load())
	}
}

// TestFailuresBounded: the table does not grow with the networks that fail.
func TestFailuresBounded(t *testing.T) {
	f, err := newFailures(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	for i := range maxNetworks + 100 {
		f.count(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	if n := f.buckets.Len(); n != maxNetworks {
		t.Errorf("%d networks are watched; want %d", n, maxNetworks)
	}
	if f.wait(netip.AddrFrom4([4]byte{10, 0, 0, 0}), now) != 0 || f.wait(netip.AddrFrom4([4]byte{10, 0, 64, 1}), now) == 0 {
		t.Error("the oldest should be forgotten and the newest watched")
	}
}

// TestTooManyAnswer tells when to come again, in whole seconds.
func TestTooManyAnswer(t *testing.T) {
	var c Chain
	f := func(wait time.Duration, want string) {
		t.Helper()
		a := c.Answer(fmt.Errorf("outer: %w", &TooManyFailures{wait}))
		if a.Status != 429 || a.RetryAfter != want || a.Authenticate != "" || a.Limit != "failed_logins" {
			t.Errorf("%v: got %+v; want 429 and %s", wait, a, want)
		}
	}
	f(time.Nanosecond, "1")
	f(time.Second, "1")
	f(61*time.Second+1, "62")
}

// TestFailuresRace is for the race detector: one network, many clients.
func TestFailuresRace(t *testing.T) {
	v := newVerifier(t, VerifierOptions{Concurrency: 4, Queue: 1000, CacheTTL: time.Millisecond, FailedTTL: time.Millisecond, FailedPerMinute: 100_000})
	c := newChain(t, map[string]config.User{"anna": user(cheapHash)}, v)
	var all sync.WaitGroup
	var right atomic.Int64
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				password := rightPassword
				if j%3 == 0 {
					password = fmt.Sprint(j % 6)
				}
				peer := netip.AddrFrom4([4]byte{192, 0, 2, byte(i % 2)})
				if _, err := c.Identify(t.Context(), Credentials{Authorization: []string{basicHeader("anna", password)}, Peer: peer}); err == nil {
					right.Add(1)
				}
				if j == 10 {
					v.ForgetFailures()
				}
			}
		})
	}
	all.Wait()
	if right.Load() != 8*13 {
		t.Errorf("%d logins; want %d", right.Load(), 8*13)
	}
}
