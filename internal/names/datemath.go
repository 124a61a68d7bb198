package names

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, also where the machine has none
)

// defaultDateFormat is what a placeholder without a format prints.
const defaultDateFormat = "uuuu.MM.dd"

// DateMath computes "<static{now/d{format|zone}}>" at now. Other expressions are
// returned as they are. The result may be a wildcard or even "_all": the clusters
// compute first and expand afterwards.
func (e Expr) DateMath(now time.Time) (Expr, error) {
	if !e.IsDateMath() {
		return e, nil
	}
	if len(e) < len("<>")+1 {
		return "", e.fault(errors.New("nothing captured"))
	}
	r := dateReader{in: string(e[1 : len(e)-1]), now: now}
	if err := r.run(); err != nil {
		return "", e.fault(err)
	}
	return Expr(r.out.String()), nil
}

func (e Expr) fault(err error) error {
	return fmt.Errorf("invalid dynamic name expression %q: %w", Clip(string(e)), err)
}

// dateReader walks over the inner text of one date-math expression.
type dateReader struct {
	in  string
	now time.Time
	out strings.Builder
}

func (r *dateReader) run() error {
	for pos := 0; pos < len(r.in); {
		switch c := r.in[pos]; c {
		case '\\':
			if pos+1 == len(r.in) {
				return errors.New(`'\' at the end`)
			}
			r.out.WriteByte(r.in[pos+1])
			pos += 2
		case '{':
			n, err := r.placeholder(r.in[pos:])
			if err != nil {
				return err
			}
			pos += n
		case '}':
			return errors.New(`'}' outside a placeholder; write '\}'`)
		default:
			r.out.WriteByte(c)
			pos++
		}
	}
	if r.out.Len() == 0 {
		return errors.New("nothing captured")
	}
	return nil
}

// placeholder reads "{math}" or "{math{format}}" and returns its length.
func (r *dateReader) placeholder(text string) (int, error) {
	end := strings.IndexAny(text[1:], "{}\\")
	if end < 0 {
		return 0, errors.New("date math placeholder is open ended")
	}
	math, format, zone := text[1:1+end], defaultDateFormat, ""
	length := 1 + end + 1
	switch text[1+end] {
	case '\\':
		return 0, errors.New(`'\' inside a placeholder`)
	case '{':
		body := text[length:]
		closing := strings.IndexAny(body, "{}\\")
		if closing < 0 || body[closing] != '}' || !strings.HasPrefix(body[closing:], "}}") {
			return 0, errors.New("missing closing '}' for date math format")
		}
		var zoned bool
		format, zone, zoned = strings.Cut(body[:closing], "|")
		if format == "" || zoned && zone == "" {
			return 0, errors.New("missing date format or time zone")
		}
		length += closing + 2
	}
	text, err := renderDate(math, format, zone, r.now)
	if err != nil {
		return 0, err
	}
	r.out.WriteString(text)
	return length, nil
}

func renderDate(math, format, zone string, now time.Time) (string, error) {
	loc, err := parseZone(zone)
	if err != nil {
		return "", err
	}
	at, err := dateMath(math, now.In(loc))
	if err != nil {
		return "", err
	}
	return formatDate(at, format)
}

// dateMath applies "now+1d/M" to now, in now's zone.
func dateMath(math string, now time.Time) (time.Time, error) {
	ops, ok := strings.CutPrefix(math, "now")
	if !ok {
		return time.Time{}, fmt.Errorf("date math %q does not start with \"now\"", math)
	}
	at := now.Truncate(time.Millisecond)
	for ops != "" {
		op := ops[0]
		digits := len(ops[1:]) - len(strings.TrimLeft(ops[1:], "0123456789"))
		if op != '+' && op != '-' && op != '/' || 1+digits == len(ops) {
			return time.Time{}, fmt.Errorf("cannot read date math %q at %q; want +, - or /, a number and a unit", math, ops)
		}
		n, unit := 1, ops[1+digits]
		if digits > 0 {
			var err error
			if n, err = strconv.Atoi(ops[1 : 1+digits]); err != nil || n > maxDateSteps {
				return time.Time{}, fmt.Errorf("number in date math %q is too large; want at most %d", math, maxDateSteps)
			}
		}
		ops = ops[2+digits:]
		var known bool
		switch {
		case op == '/' && n != 1:
			return time.Time{}, fmt.Errorf("rounding in date math %q to %d units; want one", math, n)
		case op == '/':
			at, known = roundDate(at, unit)
		case op == '-':
			at, known = addDate(at, unit, -n)
		default:
			at, known = addDate(at, unit, n)
		}
		if !known {
			return time.Time{}, fmt.Errorf("unit %q of date math %q is unknown; want one of y M w d h H m s", unit, math)
		}
	}
	return at, nil
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
