package proxy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"guard/gate"
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
