package query

import (
	"math"
	"strconv"
	"strings"

	"guard/internal/esjson"
)

// number prints a number that clusters read as one. They coerce what does not fit
// (1.5 becomes 1, "NaN" becomes 0) or fail on it with a 500, each in its own way, so
// that nothing passes but what means one number to all of them.
func (k *walker) number(v esjson.Value, key string, as kind) error {
	if k.fill != nil && v.Is(esjson.String) {
		return k.scalar(v, key, scalar) // what a variable stands for is not known here
	}
	switch {
	case as == decimal:
		if !isFinite(v) {
			return badValue(v, key, "want a number")
		}
	case as == hitCount && isFlag(v):
	case as == long:
		if !isWhole(v, math.MinInt64, math.MaxInt64) {
			return badValue(v, key, "want an integer of 64 bits")
		}
	case as == natural:
		if !isWhole(v, 0, math.MaxInt32) {
			return badValue(v, key, "want an integer of 32 bits that is not negative")
		}
	case !isWhole(v, math.MinInt32, math.MaxInt32):
		return badValue(v, key, "want an integer of 32 bits")
	}
	k.w.Value(v)
	return nil
}

// isWhole reports whether v is an integer from low to high: a number without a
// fraction, in whatever spelling, or a string of digits.
func isWhole(v esjson.Value, low, high int64) bool {
	s := v.String()
	if v.Is(esjson.String) && !isPlain(s) || !v.Is(esjson.Number) && !v.Is(esjson.String) {
		return false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return low <= n && n <= high
	}
	f, err := strconv.ParseFloat(s, 64)
	// A number of 2^63 and more has no exact neighbour in a float.
	return err == nil && v.Is(esjson.Number) && strings.ContainsAny(s, ".eE") &&
		f == math.Trunc(f) && math.Abs(f) < 1<<53 && float64(low) <= f && f <= float64(high)
}

// isFinite reports whether v is a number that 64 bits can hold, or a string of digits
// and at most one point that is.
func isFinite(v esjson.Value) bool {
	s := v.String()
	if v.Is(esjson.String) {
		before, after, point := strings.Cut(s, ".")
		if !isPlain(before) || point && (!isPlain(after) || after[0] == '-') {
			return false
		}
	} else if !v.Is(esjson.Number) {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// isPlain reports whether s is digits, maybe after a minus.
func isPlain(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func isFlag(v esjson.Value) bool {
	return v.Is(esjson.Bool) || v.Is(esjson.String) && (v.String() == "true" || v.String() == "false")
}

// isInfinite reports whether v is a number beyond what clusters can hold: some make
// infinity of it and some fail with a 500.
func isInfinite(v esjson.Value) bool {
	if !v.Is(esjson.Number) || len(v.Raw()) < len("1e309") {
		return false
	}
	_, err := v.Float()
	return err != nil
}
