package authn

import (
	"fmt"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// TooManyFailures says that so many logins from one network have failed that no password
// of it is checked for a while.
type TooManyFailures struct{ Wait time.Duration }

func (e *TooManyFailures) Error() string {
	return fmt.Sprintf("too many failed logins from one address; the next is checked in %v", e.Wait.Round(time.Millisecond))
}

// maxNetworks bounds the networks that are watched; of more, the one that failed longest
// ago is forgotten.
const maxNetworks = 16384 // about 3 MiB

// failures remembers logins that failed, so that they are cheap to repeat and dear to
// guess with. Both are told by network: one client learns nothing of what another one has tried.
type failures struct {
	ttl     time.Duration
	refused *lru.Cache[failure, time.Time]        // until when; nil: none is remembered
	limit   rate.Limit                            // failures a second
	burst   int                                   // failures at once
	buckets *lru.Cache[netip.Addr, *rate.Limiter] // nil: failures are not counted
}

// failure is a wrong password as one network has tried it.
type failure struct {
	mark fingerprint
	from netip.Addr
}

func newFailures(ttl time.Duration, size, perMinute int) (*failures, error) {
	f := &failures{ttl: ttl, limit: rate.Limit(float64(perMinute) / 60), burst: perMinute}
	var err error
	if ttl > 0 {
		if f.refused, err = lru.New[failure, time.Time](size); err != nil {
			return nil, fmt.Errorf("cannot make the cache of failed logins: %w", err)
		}
	}
	if perMinute > 0 {
		if f.buckets, err = lru.New[netip.Addr, *rate.Limiter](maxNetworks); err != nil {
			return nil, fmt.Errorf("cannot make the table of failed logins: %w", err)
		}
	}
	return f, nil
}

// known reports whether the password was found wrong for this network a short while ago.
func (f *failures) known(it failure, now time.Time) bool {
	if f.refused == nil {
		return false
	}
	until, ok := f.refused.Get(it)
	return ok && now.Before(until)
}

// remember notes that a password is wrong.
func (f *failures) remember(it failure, now time.Time) {
	if f.refused != nil {
		f.refused.Add(it, now.Add(f.ttl))
	}
}

// forget drops what was found wrong, under an older policy.
func (f *failures) forget() {
	if f.refused != nil {
		f.refused.Purge()
	}
}

// wait returns how long no password of a network is checked; 0 is the usual case. A peer
// without an address is never made to wait: all that come by one Unix socket would.
func (f *failures) wait(from netip.Addr, now time.Time) time.Duration {
	if f.buckets == nil || !from.IsValid() {
		return 0
	}
	bucket, ok := f.buckets.Peek(from)
	if !ok {
		return 0
	}
	missing := 1 - bucket.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(f.limit) * float64(time.Second))
}

// count takes a hash that was spent on a wrong password from what its network may spend.
// Those at work when the last one is spent are counted too, below nothing.
func (f *failures) count(from netip.Addr, now time.Time) {
	if f.buckets == nil || !from.IsValid() {
		return
	}
	bucket, ok := f.buckets.Get(from)
	if !ok {
		bucket = rate.NewLimiter(f.limit, f.burst)
		if other, had, _ := f.buckets.PeekOrAdd(from, bucket); had {
			bucket = other
		}
	}
	bucket.ReserveN(now, 1)
}
