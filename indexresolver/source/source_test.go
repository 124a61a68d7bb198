package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"guard/indexresolver"
)

// run starts a Source on c and stops it when the test ends. It returns when the
// Source has come to rest.
func run(t *testing.T, c *cluster, config Config) *Source {
	t.Helper()
	s := New(c, config)
	start(t, s)
	return s
}

func start(t *testing.T, s *Source) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	time.Sleep(time.Second)
	synctest.Wait()
}

func namesOf(s *indexresolver.State) string {
	var out []string
	for target := range s.Targets() {
		out = append(out, target.Name)
	}
	return strings.Join(out, " ")
}

func checkNames(t *testing.T, s *Source, want string) {
	t.Helper()
	if got := namesOf(s.State()); got != want {
		t.Errorf("the state names %q; want %q", got, want)
	}
}

func TestChangesWakeTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := run(t, c, Config{})
		checkNames(t, s, "a")
		time.Sleep(40 * time.Second)
		c.change(func() { c.put("b", "al"); c.put(".ds-d-1"); c.streams["d"] = []string{".ds-d-1"} })
		time.Sleep(200 * time.Millisecond)
		checkNames(t, s, ".ds-d-1 a al b d")
		if got := s.State().Generation; got != 2 {
			t.Errorf("the generation is %d; want 2", got)
		}
		if got := s.State().Engine; got != (indexresolver.Engine{Distribution: indexresolver.OpenSearch, Version: "2.19.4", Major: 2, Minor: 19}) {
			t.Errorf("the engine is %+v", got)
		}
		// A wait that is over is no reason to read.
		if got := c.count("/_cluster/state/version,metadata"); got != 2 {
			t.Errorf("the state was read %d times; want twice", got)
		}
	})
}

// TestPanicsAreErrors: a panic over what the cluster answers, or in who is told of a state,
// is an error; the last good state stays, and a state that was not told of is read again.
func TestPanicsAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		var failed atomic.Int64
		s := New(c, Config{OnError: func(err error) {
			if strings.Contains(err.Error(), "BUG: panic: ") {
				failed.Add(1)
			}
		}})
		var told []string
		var falls atomic.Bool
		s.OnChange(func(state *indexresolver.State) {
			if falls.Load() {
				panic("a fault in who is told")
			}
			told = append(told, namesOf(state))
		})
		start(t, s)
		falls.Store(true)
		c.change(func() { c.put("b") })
		time.Sleep(20 * time.Second)
		checkNames(t, s, "a")
		if failed.Load() == 0 {
			t.Error("nobody was told of the panic")
		}
		falls.Store(false)
		time.Sleep(20 * time.Second)
		checkNames(t, s, "a b")
		if !slices.Equal(told, []string{"a", "a b"}) {
			t.Errorf("told of %q; want each state once", told)
		}
	})
}

func TestBeforeTheFirstState(t *testing.T) {
	s := New(newCluster(t), Config{})
	if !s.State().Empty() {
		t.Error("there is a state before any was read")
	}
	if _, err := s.State().Resolve(nil, namesOptions, time.Now()); err == nil {
		t.Error("no state resolves")
	}
}

func TestAgeStaysBelowTheWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t, newCluster(t), Config{Wait: 10 * time.Second})
		for range 300 {
			time.Sleep(time.Second)
			if age := s.State().Age(time.Now()); age > 12*time.Second {
				t.Fatalf("the age is %v while the cluster answers", age)
			}
		}
	})
}

func TestErrorsKeepTheOldState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		var told atomic.Int64
		s := run(t, c, Config{Wait: 10 * time.Second, OnError: func(error) { told.Add(1) }})
		down := errors.New("connection refused")
		c.change(func() { c.fail = down; c.put("b") })
		time.Sleep(2 * time.Minute)
		checkNames(t, s, "a")
		if age := s.State().Age(time.Now()); age < 2*time.Minute {
			t.Errorf("the age is %v after two minutes without an answer", age)
		}
		if n := told.Load(); n < 10 || n > 120 {
			t.Errorf("%d errors in two minutes; want some, with growing pauses", n)
		}
		if _, err := s.Refresh(t.Context()); !errors.Is(err, down) {
			t.Errorf("Refresh says %v; want the cause", err)
		}
		c.change(func() { c.fail = nil })
		time.Sleep(12 * time.Second)
		checkNames(t, s, "a b")
		if age := s.State().Age(time.Now()); age > 12*time.Second {
			t.Errorf("the age is %v after the cluster came back", age)
		}
	})
}

func TestRefreshSeesWhatWasDoneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := run(t, c, Config{})
		c.mu.Lock()
		c.delay = 300 * time.Millisecond // so that the watch has not seen it yet
		c.mu.Unlock()
		for _, name := range []string{"b", "c", "d"} {
			c.change(func() { c.put(name) })
			state, err := s.Refresh(t.Context())
			if err != nil || !strings.HasSuffix(namesOf(state), name) {
				t.Errorf("after %q was created the state names %q, %v", name, namesOf(state), err)
			}
		}
	})
}

func TestRefreshIsSharedAndPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := run(t, c, Config{Wait: time.Hour, MinPause: time.Second})
		before := c.count("/_cluster/state/version")
		began := time.Now()
		var wait sync.WaitGroup
		for range 100 {
			wait.Go(func() {
				for range 5 {
					if _, err := s.Refresh(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if n := c.count("/_cluster/state/version") - before; n > 7 {
			t.Errorf("500 refreshes asked %d times; want about 5", n)
		}
		if d := time.Since(began); d < 3*time.Second {
			t.Errorf("five rounds took %v; want a pause of about a second between them", d)
		}
		if n := c.count("/_cluster/state/version,metadata"); n != 1 {
			t.Errorf("the state was read %d times without a change", n)
		}
	})
}

func TestRefreshGivesUpWithItsContext(t *testing.T) {
	s := New(newCluster(t), Config{}) // nobody runs it
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Refresh says %v; want that its context ended", err)
	}
}

func TestRefreshAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(newCluster(t), Config{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()
		time.Sleep(time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
		state, err := s.Refresh(t.Context())
		if !errors.Is(err, context.Canceled) || state.Empty() {
			t.Errorf("Refresh after the end says %v; want an error and the last state", err)
		}
	})
}

func TestNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := run(t, c, Config{})
		f := func(what string, uuid string, term, version uint64, want string, wantErr error) {
			t.Helper()
			c.change(func() {
				c.uuid, c.term, c.version = uuid, term, version-1
				c.indices = map[string]*fakeIndex{}
				c.put(what)
			})
			_, err := s.Refresh(t.Context())
			if !errors.Is(err, wantErr) {
				t.Errorf("%s: %v; want %v", what, err, wantErr)
			}
			checkNames(t, s, want)
		}
		f("newer", "cluster-1", 1, 50, "newer", nil)
		f("behind", "cluster-1", 1, 49, "newer", errOlder)
		f("elected", "cluster-1", 2, 20, "elected", nil)
		f("former-master", "cluster-1", 1, 60, "elected", errOlder)
		f("other-cluster", "cluster-2", 1, 5, "other-cluster", nil)
	})
}

// TestAnswersThatAreBehindConfirmNothing: while a node that is behind answers, nobody knows
// what the cluster is like.
func TestAnswersThatAreBehindConfirmNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := run(t, c, Config{Wait: 10 * time.Second})
		c.mu.Lock()
		c.version -= 3
		c.mu.Unlock()
		time.Sleep(2 * time.Minute)
		checkNames(t, s, "a")
		if age := s.State().Age(time.Now()); age < time.Minute {
			t.Errorf("the age is %v; want it to grow", age)
		}
		if n := s.Stats().Older; n == 0 {
			t.Error("no answer was counted that was behind")
		}
		c.mu.Lock()
		c.version += 3
		c.mu.Unlock()
		time.Sleep(12 * time.Second)
		if age := s.State().Age(time.Now()); age > 12*time.Second {
			t.Errorf("the age is %v after a node answered that is not", age)
		}
	})
}

func TestCountingFromBelowIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := run(t, c, Config{Wait: 10 * time.Second})
		// The whole cluster restarted between two waits and nobody saw an error.
		c.mu.Lock()
		c.term, c.version, c.metadata = 2, 5, 3
		c.mu.Unlock()
		time.Sleep(25 * time.Second)
		c.change(func() { c.put("b") })
		time.Sleep(500 * time.Millisecond)
		checkNames(t, s, "a b")
	})
}

// TestWaitsThatAreNotMade: what says at once that a wait is over is asked no more often than
// where it is polled, and its state is never known for a time that is still to come.
func TestWaitsThatAreNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.answer = func(target string) (int, string, bool) {
			_, params, _ := strings.Cut(target, "wait_for_metadata_version=")
			wanted, _, _ := strings.Cut(params, "&")
			version, err := strconv.ParseUint(wanted, 10, 64)
			c.mu.Lock()
			defer c.mu.Unlock()
			return 500, nullPointer, err == nil && version > c.metadata
		}
		c.delay = time.Millisecond // of the network: without it no time would go by at all
		s := run(t, c, Config{Poll: time.Second})
		before := c.count("/")
		for range 60 {
			time.Sleep(time.Second)
			if age := s.State().Age(time.Now()); age < 0 || age > 2*time.Second {
				t.Fatalf("the age is %v while it is asked each second", age)
			}
		}
		if n := c.count("/") - before; n > 3*60 {
			t.Errorf("%d questions in a minute; want about two a second", n)
		}
		c.change(func() { c.put("b") })
		time.Sleep(1500 * time.Millisecond)
		checkNames(t, s, "a b")
	})
}

func TestPollsWhereLongPollsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(status int) {
			c := newCluster(t)
			c.answer = func(target string) (int, string, bool) {
				return status, `{"error":"contains unrecognized parameter"}`, strings.Contains(target, "wait_for")
			}
			s := run(t, c, Config{Poll: time.Second})
			c.change(func() { c.put("b") })
			time.Sleep(1500 * time.Millisecond)
			checkNames(t, s, "a b")
			time.Sleep(20 * time.Second)
			if age := s.State().Age(time.Now()); age > 1500*time.Millisecond {
				t.Errorf("status %d: the age is %v while polled each second", status, age)
			}
			if n := c.count("/_cluster/state/version,metadata"); n != 2 {
				t.Errorf("status %d: the state was read %d times; want twice", status, n)
			}
		}
		f(400)
		f(403)
		f(405)
	})
}

func TestMovingShardsChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		s := New(c, Config{})
		var told []uint64
		s.OnChange(func(state *indexresolver.State) { told = append(told, state.Generation) })
		start(t, s)
		for range 5 {
			c.move()
			if _, err := s.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.change(func() { c.put("b") })
		if _, err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, []uint64{1, 2}) {
			t.Errorf("OnChange was called for the generations %d; want 1 and 2", told)
		}
	})
}

// TestStateAndAliasesAreOfOneMoment changes the cluster between the two answers.
func TestStateAndAliasesAreOfOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.change(func() { c.put("a", "al") })
		filter := func(value string) string { return `{"filter":{"term":{"f":"` + value + `"}}}` }
		c.indices["a"].Aliases["al"] = filter("old")
		once := false
		c.before = func(target string) {
			if target == stateTarget && !once {
				once = true
				c.change(func() { c.put("a", "al"); c.indices["a"].Aliases["al"] = filter("new") })
			}
		}
		s := run(t, c, Config{})
		x, ok := s.State().Index("a")
		if !ok || len(x.Aliases) != 1 || string(x.Aliases[0].Filter) != `{"term":{"f":"new"}}` {
			t.Errorf("index a is %+v, %v; want the new filter", x, ok)
		}
	})
}

func TestMovingShardsDoNotDisturb(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.before = func(string) { c.move() }
		s := run(t, c, Config{})
		checkNames(t, s, "a")
	})
}

// TestUnsteadyCluster holds that whoever keeps something changing is alone in doubt: all
// else is known, and so is that too once there is a pause.
func TestUnsteadyCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		const old, next = `{"filter":{"term":{"f":"old"}},"search_routing":"1"}`, `{"filter":{"term":{"f":"new"}}}`
		c.change(func() {
			c.put("still", "al")
			c.indices["still"].Aliases["al"] = old
			c.put("gone", "al")
			c.put("bare")
		})
		n := 0
		changes := func(target string) {
			if target != stateTarget {
				return
			}
			n++
			c.change(func() {
				c.put("a", "al", fmt.Sprint("al-", n))
				c.indices["a"].Aliases["al"] = next
				c.put(fmt.Sprint("born-", n))
				delete(c.indices, fmt.Sprint("born-", n-1))
				c.put("gone", "al")
				if n%maxTries == 1 { // before the last state of a reading
					delete(c.indices, "gone")
				}
			})
		}
		s := run(t, c, Config{})
		changes(stateTarget)
		c.mu.Lock()
		c.before = changes
		c.mu.Unlock()
		known, began := s.State(), time.Now()
		for {
			state, err := s.Refresh(t.Context())
			if err == nil || time.Since(began) > 2*patience {
				break
			}
			if !errors.Is(err, errUnsteady) || state != known {
				t.Fatalf("Refresh says %v, another state: %v; want %v", err, state != known, errUnsteady)
			}
		}
		if waited := time.Since(began); waited < patience || waited > 2*patience {
			t.Errorf("it waited %v for a pause; want %v or somewhat more", waited, patience)
		}
		aliases := func(want string) {
			t.Helper()
			var got []string
			for _, name := range []string{"a", "bare", "gone", "still", fmt.Sprint("born-", n)} {
				x, ok := s.State().Index(name)
				if !ok {
					got = append(got, "no "+name)
					continue
				}
				for _, m := range x.Aliases {
					name += fmt.Sprintf(" %s=%s", m.Alias, m.Filter)
				}
				got = append(got, name)
			}
			if text := strings.Join(got, "; "); text != want {
				t.Errorf("%s; want %s", text, want)
			}
		}
		aliases(fmt.Sprintf(`a al="unreadable" al-%[1]d="unreadable"; bare; no gone; still al={"term":{"f":"old"}}; born-%[1]d`, n))
		c.mu.Lock()
		c.before = nil
		c.mu.Unlock()
		if _, err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		aliases(fmt.Sprintf(`a al={"term":{"f":"new"}} al-%[1]d=; bare; no gone; still al={"term":{"f":"old"}}; born-%[1]d`, n))
	})
}

// TestDoubtIsOfOneCluster: of what another cluster counts nothing follows.
func TestDoubtIsOfOneCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.before = func(target string) {
			if target == stateTarget {
				c.change(func() { c.put("a"); c.uuid += "x" })
			}
		}
		s := run(t, c, Config{})
		if _, err := s.Refresh(t.Context()); !errors.Is(err, errUnsteady) {
			t.Errorf("Refresh says %v; want %v", err, errUnsteady)
		}
		if !s.State().Empty() {
			t.Error("a mixture of two states was published")
		}
	})
}
