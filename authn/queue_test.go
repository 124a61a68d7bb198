package authn

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestSiteOf: an IPv4 address, or 48 bits of an IPv6 one.
func TestSiteOf(t *testing.T) {
	f := func(address, want string) {
		t.Helper()
		if got := siteOf(Network(netip.MustParseAddr(address))); got != netip.MustParseAddr(want) {
			t.Errorf("%s: %v; want %s", address, got, want)
		}
	}
	f("192.0.2.1", "192.0.2.1")
	f("::ffff:192.0.2.1", "192.0.2.1")
	f("2001:db8:1:2:3::4", "2001:db8:1::")
	if siteOf(Network(netip.Addr{})).IsValid() {
		t.Error("no address has a site")
	}
}

// TestQueueIsShared: one site has at most half of the queue, whatever it sends and from how
// many of its networks; the others find the rest free, and nobody learns from it whether a
// password is right. Clients without an address have the queue as a whole.
func TestQueueIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, _ := clients(t, VerifierOptions{Concurrency: 1, Queue: 6, CacheTTL: time.Hour, FailedPerMinute: 60})
		known := at("192.0.2.9")
		known.wants("a login", "anna", rightPassword, nil, true)
		finish := make(chan struct{})
		known.v.matches = func(*stored, []byte) bool { <-finish; return false }
		var all sync.WaitGroup
		var busy atomic.Int64
		send := func(from string, n int) {
			t.Helper()
			for i := range n {
				c := at(fmt.Sprintf(from, i))
				all.Go(func() {
					if _, err := c.login("nobody", fmt.Sprint(from, i)); errors.Is(err, ErrBusy) {
						busy.Add(1)
					} else if !errors.Is(err, ErrRejected) {
						t.Errorf("error %v", err)
					}
				})
			}
			synctest.Wait()
		}
		f := func(from string, n int, wantBusy int64) {
			t.Helper()
			busy.Store(0)
			send(from, n)
			if busy.Load() != wantBusy {
				t.Errorf("%d of %d from %s are refused; want %d", busy.Load(), n, from, wantBusy)
			}
		}
		f("2001:db8:1:%d::1", 10, 6) // one at work, three wait
		inside, outside := at("2001:db8:1:ff::1"), at("2001:db8:2::1")
		inside.wants("a wrong password, where no more may wait", "anna", "wrong", ErrBusy, false)
		inside.wants("the right one there", "anna", rightPassword, ErrBusy, false)
		outside.wants("the right one elsewhere", "anna", rightPassword, nil, false)
		f("192.0.2.%d", 2, 0)
		f("198.51.100.%d", 2, 1) // the queue is full
		close(finish)
		all.Wait()
		if q := known.v.queue; q.waiting != 0 || len(q.bySite) != 0 || len(q.slots) != 0 {
			t.Errorf("left behind: %d waiting, %v, %d slots", q.waiting, q.bySite, len(q.slots))
		}
	})
}

// TestWhoLeftIsNotHashed: a client that leaves while it waits gives its place back, costs no
// hash, and counts no failure; nor does it cost who sends the same from elsewhere the answer.
func TestWhoLeftIsNotHashed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, _ := clients(t, VerifierOptions{Concurrency: 1, Queue: 4, FailedPerMinute: 3})
		c, other := at("192.0.2.1"), at("192.0.2.2")
		finish := make(chan struct{})
		c.v.matches = func(*stored, []byte) bool { <-finish; return false }
		var all sync.WaitGroup
		all.Go(func() { _, _ = other.login("nobody", "at work") })
		synctest.Wait()
		for range 20 {
			ctx, leave := context.WithCancel(t.Context())
			for i := range 2 {
				all.Go(func() {
					_, err := c.chain.Identify(ctx, Credentials{Authorization: []string{basicHeader("nobody", fmt.Sprint(i))}, Peer: c.peer})
					if !errors.Is(err, context.Canceled) {
						t.Errorf("who left: %v; want %v", err, context.Canceled)
					}
				})
			}
			synctest.Wait()
			leave()
			synctest.Wait()
		}
		if n := c.v.queue.waiting; n != 0 {
			t.Errorf("%d wait; want none: all have left", n)
		}
		close(finish)
		all.Wait()
		if n := c.v.stats().Hashes; n > 2 { // of one login: one of each kind of hash
			t.Errorf("%d hashes; want those of the one who stayed", n)
		}
		for i := range 3 {
			c.wants("a failure", "nobody", fmt.Sprint("new", i), ErrRejected, true)
		}
	})
}

// TestBusyIsOnesOwn: that the site of who was first has no room does not refuse others who
// send the same.
func TestBusyIsOnesOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifier(t, VerifierOptions{Concurrency: 1, Queue: 2})
		here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		mark := v.fingerprint(attempt{})
		f := func(site netip.Addr, want error) {
			t.Helper()
			first := &check{site: site, done: make(chan struct{}), err: ErrBusy}
			v.running[mark] = first
			result := make(chan error, 1)
			go func() {
				_, err := v.once(t.Context(), mark, attempt{from: here})
				result <- err
			}()
			synctest.Wait()
			delete(v.running, mark)
			close(first.done)
			if err := <-result; !errors.Is(err, want) {
				t.Errorf("error %v; want %v", err, want)
			}
		}
		f(there, nil) // a check of its own
		f(here, ErrBusy)
	})
}
