package authn

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// login is a password that was found right, and where it was shown.
type login struct {
	until time.Time
	// from are the networks that have shown it, the newest first. A network that has not
	// must not learn that it is right where it could not have it checked: else who may not
	// guess any more would go on guessing among the passwords that are remembered.
	from atomic.Pointer[[]netip.Addr]
}

// maxFrom bounds the networks of one login.
const maxFrom = 16

// shownFrom reports whether a network has shown the password before. Nil is no login.
func (l *login) shownFrom(from netip.Addr) bool {
	if l == nil {
		return false
	}
	seen := l.from.Load()
	return seen != nil && slices.Contains(*seen, from)
}

// show notes that a network has shown the password.
func (l *login) show(from netip.Addr) {
	for !l.shownFrom(from) {
		old := l.from.Load()
		networks := []netip.Addr{from}
		if old != nil {
			networks = append(networks, (*old)[:min(len(*old), maxFrom-1)]...)
		}
		if l.from.CompareAndSwap(old, &networks) {
			return
		}
	}
}

// renewed returns the login for a further while. l may be nil.
func (l *login) renewed(until time.Time) *login {
	next := &login{until: until}
	if l != nil {
		next.from.Store(l.from.Load())
	}
	return next
}
