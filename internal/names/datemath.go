package names

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, also where the machine has none
	"unicode/utf16"
	"unicode/utf8"
)

// defaultDateFormat is what a placeholder without a format prints.
const defaultDateFormat = "uuuu.MM.dd"

// DateMath computes "<static{now/d{format|zone}}>" at now. Other expressions are
// returned as they are. The result may be a wildcard or even "_all": the clusters
// compute first and expand afterwards.
//
// What the clusters say in words of their own the error says in the same.
func (e Expr) DateMath(now time.Time) (Expr, error) {
	if !e.IsDateMath() {
		return e, nil
	}
	r := dateReader{text: string(e), now: now}
	out, err := r.run()
	var said clusterError
	switch {
	case errors.As(err, &said):
		return "", said
	case err != nil:
		return "", fmt.Errorf("invalid dynamic name expression %q: %w", Clip(string(e)), err)
	}
	return Expr(out), nil
}

// clusterError is an error in the clusters' own words.
type clusterError string

// Error returns the words.
func (e clusterError) Error() string { return string(e) }

func saidf(format string, args ...any) error { return clusterError(fmt.Sprintf(format, args...)) }

// dateReader walks over one date-math expression, as the clusters do: character by
// character, a backslash before one takes its meaning away.
type dateReader struct {
	text        string // with its brackets
	now         time.Time
	out         strings.Builder
	placeholder strings.Builder
	inside      bool // of a placeholder
	inFormat    bool // of the format in a placeholder
}

func (r *dateReader) run() (string, error) {
	escaped := false
	for i := 1; i < len(r.text)-1; i++ {
		c := r.text[i]
		if c == '\\' {
			if escaped {
				r.out.WriteByte(c) // also inside a placeholder
			}
			escaped = !escaped
			continue
		}
		if err := r.step(i, c, escaped); err != nil {
			return "", err
		}
		escaped = false
	}
	switch {
	case r.inside:
		return "", saidf("invalid dynamic name expression [%s]. date math placeholder is open ended", r.shown())
	case r.out.Len() == 0:
		return "", saidf("nothing captured")
	}
	return r.out.String(), nil
}

func (r *dateReader) step(i int, c byte, escaped bool) error {
	switch {
	case !r.inside && c == '{' && !escaped:
		r.inside = true
	case !r.inside && c == '}' && !escaped:
		return saidf("invalid dynamic name expression [%s]. invalid character at position [%d]. `{` and `}` are reserved characters and should be escaped when used as part of the index name using `\\` (e.g. `\\{text\\}`)", r.shown(), r.position(i))
	case !r.inside:
		r.out.WriteByte(c)
	case c == '}' && !r.inFormat:
		return r.render()
	case c == '{' && r.inFormat && !escaped:
		return saidf("invalid dynamic name expression [%s]. invalid character in placeholder at position [%d]", r.shown(), r.position(i))
	default:
		if c == '{' || c == '}' && !escaped {
			r.inFormat = c == '{'
		}
		r.placeholder.WriteByte(c)
	}
	return nil
}

// render ends a placeholder: "math" or "math{format}" or "math{format|zone}".
func (r *dateReader) render() error {
	text := r.placeholder.String()
	r.placeholder.Reset()
	r.inside = false
	math, rest, formatted := strings.Cut(text, "{")
	format, zone, zoned := defaultDateFormat, "", false
	if formatted {
		if !strings.HasSuffix(rest, "}") {
			return saidf("invalid dynamic name expression [%s]. missing closing `}` for date math format", Clip(text))
		}
		if rest == "}" {
			return saidf("invalid dynamic name expression [%s]. missing date format", Clip(text))
		}
		format, zone, zoned = strings.Cut(rest[:len(rest)-1], "|")
	}
	if zoned && zone == "" {
		return errors.New("missing time zone")
	}
	out, err := renderDate(math, format, zone, r.now)
	r.out.WriteString(out)
	return err
}

// shown is the expression as the clusters repeat it: without its first bracket.
func (r *dateReader) shown() string { return Clip(r.text[1:]) }

// position counts as the clusters do, in UTF-16.
func (r *dateReader) position(i int) int { return len(utf16.Encode([]rune(r.text[:i]))) }

func renderDate(math, format, zone string, now time.Time) (string, error) {
	loc, err := parseZone(zone)
	if err != nil {
		return "", err
	}
	if _, err := formatDate(now.In(loc), format); err != nil {
		return "", err // they look at the format first
	}
	at, err := dateMath(math, now.In(loc))
	if err != nil {
		return "", err
	}
	return formatDate(at, format)
}

// dateMath applies "now+1d/M" to now, in now's zone.
func dateMath(math string, now time.Time) (time.Time, error) {
	all, ok := strings.CutPrefix(math, "now")
	if !ok {
		if math == "" {
			return time.Time{}, saidf("cannot parse empty date")
		}
		return time.Time{}, fmt.Errorf("date math %q does not start with \"now\"", math)
	}
	at := now.Truncate(time.Millisecond)
	for ops := all; ops != ""; {
		op := ops[0]
		digits := len(ops[1:]) - len(strings.TrimLeft(ops[1:], "0123456789"))
		switch {
		case op != '+' && op != '-' && op != '/':
			return time.Time{}, saidf("operator not supported for date math [%s]", Clip(all))
		case 1+digits == len(ops):
			return time.Time{}, saidf("truncated date math [%s]", Clip(all))
		}
		n := 1
		if digits > 0 {
			var err error
			if n, err = strconv.Atoi(ops[1 : 1+digits]); err != nil || n > maxDateSteps {
				return time.Time{}, fmt.Errorf("number in date math %q is too large; want at most %d", math, maxDateSteps)
			}
		}
		if op == '/' && n != 1 {
			return time.Time{}, saidf("rounding `/` can only be used on single unit types [%s]", Clip(all))
		}
		unit, size := utf8.DecodeRuneInString(ops[1+digits:])
		if at, ok = step(at, op, n, unit); !ok {
			return time.Time{}, saidf("unit [%c] not supported for date math [%s]", unit, Clip(all))
		}
		ops = ops[1+digits+size:]
	}
	return at, nil
}

// step applies one operation of date math, and reports whether the unit is known.
func step(at time.Time, op byte, n int, unit rune) (time.Time, bool) {
	switch {
	case unit >= utf8.RuneSelf:
		return at, false
	case op == '/':
		return roundDate(at, byte(unit))
	case op == '-':
		return addDate(at, byte(unit), -n)
	default:
		return addDate(at, byte(unit), n)
	}
}

// maxDateSteps keeps every result inside four-digit years or near them.
const maxDateSteps = 1_000_000

func addDate(t time.Time, unit byte, n int) (time.Time, bool) {
	switch unit {
	case 'y':
		return addMonths(t, 12*n), true
	case 'M':
		return addMonths(t, n), true
	case 'w':
		return t.AddDate(0, 0, 7*n), true
	case 'd':
		return t.AddDate(0, 0, n), true
	case 'h', 'H':
		return t.Add(time.Duration(n) * time.Hour), true
	case 'm':
		return t.Add(time.Duration(n) * time.Minute), true
	case 's':
		return t.Add(time.Duration(n) * time.Second), true
	}
	return t, false
}

// addMonths keeps the day where the month has it, and takes the month's last where
// not: 31 January plus a month is the end of February, not a day in March.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func roundDate(t time.Time, unit byte) (time.Time, bool) {
	year, month, day := t.Date()
	switch unit {
	case 'y':
		month, day = time.January, 1
	case 'M':
		day = 1
	case 'w':
		day -= (int(t.Weekday()) + 6) % 7 // weeks begin on Monday
	case 'd':
	case 'h', 'H':
		return t.Add(-time.Duration(t.Minute())*time.Minute - time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond())), true
	case 'm':
		return t.Add(-time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond())), true
	case 's':
		return t.Add(-time.Duration(t.Nanosecond())), true
	default:
		return t, false
	}
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location()), true
}

// parseZone reads a zone as Java's ZoneId.of does: an offset, UTC or GMT with or
// without one, or a region.
func parseZone(text string) (*time.Location, error) {
	rest := text
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if r, ok := strings.CutPrefix(text, prefix); ok && (r == "" || r[0] == '+' || r[0] == '-') {
			rest = r
			break
		}
	}
	switch {
	case rest == "" || rest == "Z":
		return time.UTC, nil
	case rest[0] == '+' || rest[0] == '-':
		return parseOffset(text, rest)
	}
	loc, err := time.LoadLocation(text)
	if err != nil || text == "Local" {
		return nil, fmt.Errorf("unknown time zone %q", text)
	}
	return loc, nil
}

// parseOffset reads ±h, ±hh, ±hhmm, ±hh:mm and ±hh:mm:ss, up to 18 hours.
func parseOffset(text, offset string) (*time.Location, error) {
	digits := strings.ReplaceAll(offset[1:], ":", "")
	shape := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '9'
		}
		return r
	}, offset[1:])
	switch shape {
	case "9":
		digits = "0" + digits
	case "99", "9999", "99:99", "999999", "99:99:99":
	default:
		return nil, fmt.Errorf("cannot read time zone %q; want an offset such as +02:00", text)
	}
	digits += "000000"[len(digits):]
	h, _ := strconv.Atoi(digits[:2])
	m, _ := strconv.Atoi(digits[2:4])
	s, _ := strconv.Atoi(digits[4:])
	seconds := h*3600 + m*60 + s
	if m > 59 || s > 59 || seconds > 18*3600 {
		return nil, fmt.Errorf("time zone %q is out of range; want at most 18 hours", text)
	}
	if offset[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone(text, seconds), nil
}
