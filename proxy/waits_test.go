//go:build linux

package proxy

import (
	"context"
	"io"
	"testing"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
)

// waitingAuth checks a password for as long as the client is there.
type waitingAuth struct {
	fakeAuth
	wait func(context.Context) error
}

func (a waitingAuth) Identify(ctx context.Context, _ authn.Credentials) (ask.Identity, error) {
	return ask.Identity{}, a.wait(ctx)
}

// TestWhoLeftWaitsForNothing: a client that leaves waits no more for its password to be
// checked, nor for newer state, and is not counted as one that was refused for it.
func TestWhoLeftWaitsForNothing(t *testing.T) {
	f := func(name string, gateOf func(wait func(context.Context) error) *fakeGate) {
		t.Run(name, func(t *testing.T) {
			waiting := make(chan struct{})
			g := startGuard(t, gateOf(func(ctx context.Context) error {
				close(waiting)
				<-ctx.Done()
				return ctx.Err()
			}), testConfig(newFake(t).url()))
			c := g.dial()
			if _, err := io.WriteString(c, request("GET", "/", "", "")); err != nil {
				t.Fatal(err)
			}
			<-waiting
			if n := g.metric("guard_requests_in_flight", ""); n != 1 {
				t.Errorf("%v requests under way; want the one that waits", n)
			}
			_ = c.Close()
			eventually(t, "it waits no more", func() bool { return g.metric("guard_requests_in_flight", "") == 0 })
			if n := g.metric("guard_denials_total", "upstream"); n != 1 {
				t.Errorf("%v are counted as calls that were given up; want the one", n)
			}
		})
	}
	f("password", func(wait func(context.Context) error) *fakeGate {
		return &fakeGate{auth: waitingAuth{wait: wait}}
	})
	f("state", func(wait func(context.Context) error) *fakeGate {
		return &fakeGate{freshen: wait, plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
			return gate.Outcome{Kind: gate.Need, NeedState: true}
		}}
	})
}
