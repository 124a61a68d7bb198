package authz

import (
	"time"

	"guard/internal/names"
)

// resolveDate computes a date math pattern at a time, in UTC unless it says
// otherwise. The result is a pattern like any other.
func resolveDate(text string, now time.Time) (string, error) {
	e, err := names.Expr(text).DateMath(now)
	return string(e), err
}
