package names

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// namedFormats are the formats with a name whose results can be part of an index
// name, as patterns.
var namedFormats = map[string]string{
	"basic_date":            "uuuuMMdd",
	"strict_date":           "uuuu-MM-dd",
	"date":                  "uuuu-MM-dd",
	"strict_year":           "uuuu",
	"year":                  "uuuu",
	"strict_year_month":     "uuuu-MM",
	"year_month":            "uuuu-MM",
	"strict_year_month_day": "uuuu-MM-dd",
	"year_month_day":        "uuuu-MM-dd",
	"basic_ordinal_date":    "uuuuDDD",
	"ordinal_date":          "uuuu-DDD",
	"strict_ordinal_date":   "uuuu-DDD",
	"strict_weekyear":       "YYYY",
	"weekyear":              "YYYY",
	"strict_weekyear_week":  "YYYY-'W'ww",
	"weekyear_week":         "YYYY-'W'ww",
	"basic_week_date":       "YYYY'W'wwe",
	"strict_week_date":      "YYYY-'W'ww-e",
	"week_date":             "YYYY-'W'ww-e",
}

// formatDate prints t with a pattern of java.time.format.DateTimeFormatter, as far
// as its result can be part of a name: numbers and literal text. Month and day
// names, halves of the day and zones give capitals or colons, so they are refused
// like every letter that is not known. Weeks are those of ISO 8601, as on nodes
// that run with the JVM options of their distribution.
func formatDate(t time.Time, pattern string) (string, error) {
	if p, ok := namedFormats[pattern]; ok {
		pattern = p
	}
	if year := t.Year(); year < 0 || year > 9999 {
		return "", fmt.Errorf("year %d cannot be part of a name; want four digits", year)
	}
	if pattern == "" {
		return "", errors.New("No date pattern provided") //nolint:staticcheck // the clusters' words
	}
	// An "8" in front once chose java.time; it is the only engine now.
	rest := strings.TrimPrefix(pattern, "8")
	var out []byte
	for rest != "" {
		c := rest[0]
		switch {
		case c == '\'':
			text, n, err := quoted(rest)
			if err != nil {
				return "", fmt.Errorf("date format %q: %w", pattern, err)
			}
			out, rest = append(out, text...), rest[n:]
		case isLetter(c):
			n := len(rest) - len(strings.TrimLeft(rest, string(c)))
			var err error
			if out, err = appendField(out, t, c, n); err != nil {
				return "", fmt.Errorf("date format %q: %w", pattern, err)
			}
			rest = rest[n:]
		case strings.IndexByte("[]{}#", c) >= 0:
			return "", fmt.Errorf("date format %q: reserved character %q", pattern, c)
		default:
			out, rest = append(out, c), rest[1:]
		}
	}
	return string(out), nil
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// quoted reads 'text', in which two quotes mean one, and two quotes alone.
func quoted(text string) (string, int, error) {
	if strings.HasPrefix(text, "''") {
		return "'", 2, nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '\'':
			b.WriteByte(text[i])
		case strings.HasPrefix(text[i:], "''"):
			b.WriteByte('\'')
			i++
		default:
			return b.String(), i + 1, nil
		}
	}
	return "", 0, fmt.Errorf("unclosed quote in %q", text)
}

// appendField prints the field that n letters c stand for.
func appendField(dst []byte, t time.Time, c byte, n int) ([]byte, error) {
	weekYear, week := t.ISOWeek()
	switch c {
	case 'y', 'u':
		return appendYear(dst, t.Year(), n), nil
	case 'Y':
		return appendYear(dst, weekYear, n), nil
	case 'S':
		if n > 9 {
			return nil, fmt.Errorf("too many letters %q", c)
		}
		return append(dst, fmt.Sprintf("%09d", t.Nanosecond())[:n]...), nil
	}
	value, widest := 0, 2
	switch c {
	case 'M', 'L':
		value = int(t.Month())
	case 'Q', 'q':
		value = (int(t.Month()) + 2) / 3
	case 'd':
		value = t.Day()
	case 'D':
		value, widest = t.YearDay(), 3
	case 'w':
		value = week
	case 'e':
		value, widest = (int(t.Weekday())+6)%7+1, 1
	case 'H':
		value = t.Hour()
	case 'k':
		value = (t.Hour()+23)%24 + 1
	case 'K':
		value = t.Hour() % 12
	case 'h':
		value = (t.Hour()+11)%12 + 1
	case 'm':
		value = t.Minute()
	case 's':
		value = t.Second()
	default:
		return nil, fmt.Errorf("letter %q is not supported in a name", c)
	}
	if n > widest {
		return nil, fmt.Errorf("%q gives text or is not defined; want at most %d letters", strings.Repeat(string(c), n), widest)
	}
	return appendPadded(dst, value, n), nil
}

// appendYear prints two letters as two digits, else at least n digits.
func appendYear(dst []byte, year, n int) []byte {
	if n == 2 {
		return appendPadded(dst, ((year%100)+100)%100, 2)
	}
	return appendPadded(dst, year, n)
}

func appendPadded(dst []byte, value, width int) []byte {
	digits := strconv.Itoa(value)
	for range max(0, width-len(digits)) {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
