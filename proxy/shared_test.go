package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap/zapcore"

	"guard/gate"
	"guard/internal/ask"
)

// TestSharedCall holds that a call is made once for all who wait for it, that it begins
// after each of them asked, and that calls keep their pause.
func TestSharedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		var calls atomic.Int32
		run := func(context.Context) (gate.Answer, error) {
			n := calls.Add(1)
			time.Sleep(time.Second)
			return gate.Answer{Status: 200 + int(n)}, nil
		}
		var all sync.WaitGroup
		ask := func(want int) {
			all.Go(func() {
				a, err := s.do(t.Context(), t.Context(), "POST /hr/_refresh", run)
				if err != nil || a.Status != want {
					t.Errorf("status %d, error %v; want %d", a.Status, err, want)
				}
			})
		}
		start := time.Now()
		ask(201)
		time.Sleep(500 * time.Millisecond) // the first call runs
		for range 20 {
			ask(202) // must not get the answer of a call that began before
		}
		all.Wait()
		if n := calls.Load(); n != 2 {
			t.Errorf("%d calls; want 2", n)
		}
		if took := time.Since(start); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("two calls of a second took %v", took)
		}
		if len(s.lines) != 0 {
			t.Errorf("%d lines are left; want none", len(s.lines))
		}
	})
}

// TestSharedCallOfOneWhoLeft holds that a waiting request can leave, and that a failure
// is everybody's.
func TestSharedCallOfOneWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		failed := errors.New("no such node")
		var all sync.WaitGroup
		all.Go(func() {
			_, err := s.do(t.Context(), t.Context(), "x", func(context.Context) (gate.Answer, error) {
				time.Sleep(time.Second)
				return gate.Answer{}, failed
			})
			if !errors.Is(err, failed) {
				t.Errorf("error %v; want %v", err, failed)
			}
		})
		synctest.Wait()
		all.Go(func() { // makes the next call
			_, err := s.do(t.Context(), t.Context(), "x", func(context.Context) (gate.Answer, error) { return gate.Answer{Status: 200}, nil })
			if err != nil {
				t.Errorf("error %v; want the next call", err)
			}
		})
		synctest.Wait()
		gone, leave := context.WithCancelCause(t.Context())
		all.Go(func() {
			if _, err := s.do(gone, t.Context(), "x", nil); !errors.Is(err, errClientGone) {
				t.Errorf("error %v; want %v", err, errClientGone)
			}
		})
		synctest.Wait()
		leave(errClientGone)
		all.Wait()
	})
}

// TestLeavingIsNoFault: a client that leaves while guard waits for a call which others want as
// well is no fault of guard's.
func TestLeavingIsNoFault(t *testing.T) {
	const clients = 5
	node := newFake(t)
	hold := make(chan struct{})
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) {
		<-hold
		writeAnswer(c, 200, "{}")
	})
	g := startGuard(t, &fakeGate{plan: func(_ *ask.Principal, _ *ask.Request, k gate.Known) gate.Outcome {
		if len(k.Answers) == 0 {
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{{Method: "POST", Target: "/hr/_refresh", OwnAccount: true, Repeatable: true, Shared: true}}}
		}
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200}}
	}}, testConfig(node.url()))
	waiting := func() (n int) {
		g.srv.shared.mu.Lock()
		defer g.srv.shared.mu.Unlock()
		for _, line := range g.srv.shared.lines {
			n += line.users
		}
		return n
	}
	var all []net.Conn
	for i := range clients {
		c := g.dial()
		_, _ = io.WriteString(c, request("GET", "/hr/_doc/1", "", ""))
		eventually(t, "it waits", func() bool { return waiting() == i+1 })
		if i == 0 {
			eventually(t, "the first call is made", func() bool { return len(node.requests()) == 1 })
		}
		all = append(all, c)
	}
	for _, c := range all {
		_ = c.Close()
	}
	eventually(t, "those have left who make no call", func() bool { return waiting() == 2 })
	close(hold)
	eventually(t, "all have ended", func() bool { return g.metric("guard_requests_in_flight", "") == 0 })
	if n := g.logs.FilterLevelExact(zapcore.ErrorLevel).Len(); n > 0 {
		t.Errorf("%d faults are logged, as %+v", n, g.logs.FilterLevelExact(zapcore.ErrorLevel).All()[0])
	}
	if n := g.metric("guard_denials_total", string(ask.ReasonUpstream)); n != clients-2 {
		t.Errorf("%v requests were given up; want %d", n, clients-2)
	}
}

// TestSharedCallIsNobodys holds that nothing of the request that makes a shared call goes
// into it: what its user holds or sends can't make it fail for the others.
func TestSharedCallIsNobodys(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) {
		writeAnswer(c, 200, strings.Repeat("not JSON", 10<<10), "Content-Encoding: unheard-of")
	})
	conf := testConfig(node.url())
	conf.Limits.MaxUserInFlight = 1 // all users have used up theirs
	g := startGuard(t, &fakeGate{plan: func(_ *ask.Principal, _ *ask.Request, k gate.Known) gate.Outcome {
		if len(k.Answers) == 0 {
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{{Method: "POST", Target: "/hr/_refresh", OwnAccount: true, Repeatable: true, Shared: true}}}
		}
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: k.Answers[0].Status}}
	}}, conf)
	for range 2 {
		if a := g.send(request("GET", "/hr/_doc/1?refresh=true", "X-Opaque-Id: anna's\r\nX-Forwarded-For: 192.0.2.1\r\n", "")); a.status != 200 {
			t.Errorf("got %+v; want 200", a)
		}
	}
	for _, seen := range node.requests() {
		if seen.header.Get("X-Opaque-Id") != "" || seen.header.Get("X-Forwarded-For") != "" {
			t.Errorf("the node got %v; want nothing of the client's", seen.header)
		}
	}
	if n := node.accepted(); n != 1 {
		t.Errorf("%d connections to the node; want one that is kept", n)
	}
}
