package proxy

import (
	"time"

	"guard/internal/ask"
)

// pace is how fast a client has to send, or to take while a connection to the cluster waits
// for it: rate bytes a second, and it may fall behind that by stall.
type pace struct {
	rate  int64
	stall time.Duration
	met   ask.Limit // of which setting it is
}

// paceOf returns the pace of a client who keeps others waiting. The timeout of each
// window holds as well: whichever has less patience.
func paceOf(rate int64, stall, timeout time.Duration, met ask.Limit) pace {
	if rate > 0 && stall <= timeout {
		return pace{rate, stall, ask.LimitMinRate}
	}
	return pace{max(int64(window/timeout.Seconds()), 1), timeout, met}
}

// tooSlow is what ends a transfer that did not keep its pace.
type tooSlow struct{ pace }

func (tooSlow) Error() string   { return "it moved too slowly for too long" }
func (tooSlow) Timeout() bool   { return true }
func (tooSlow) Temporary() bool { return false }

// looks is how often a transfer that does not move is looked at before it ends. What came
// since the last look counts together, so one look may be too kind.
const looks = 4

// tempo holds one direction of a connection to a pace. Only that time counts in which guard
// has waited for the client: the cluster may be as slow as it likes. The zero value holds
// it to none.
type tempo struct {
	pace
	moved  int64         // bytes until the last look
	behind time.Duration // at the last look
	waited time.Duration // since then
}

func (t *tempo) on() bool { return t.stall > 0 }

// patience is how long guard waits until it looks again.
func (t *tempo) patience() time.Duration {
	return min(t.stall/looks, t.stall-t.behind) - t.waited
}

// waits counts a wait. It reports whether it is time for a look.
func (t *tempo) waits(d time.Duration) bool {
	t.waited += d
	return t.patience() <= 0
}

// look weighs what has moved in all against the time waited for it. What moves faster than
// it has to makes up for what was lost, and earns nothing beyond. It reports whether the
// client keeps the pace.
func (t *tempo) look(moved int64) bool {
	worth := float64(max(moved-t.moved, 0)) / float64(t.rate) * float64(time.Second)
	t.behind = time.Duration(max(float64(t.behind+t.waited)-worth, 0))
	t.moved, t.waited = moved, 0
	return t.behind < t.stall
}
