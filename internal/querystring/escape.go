package querystring

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape returns what a token means: a backslash makes what follows it literal, and
// \u with four hexadecimal digits is a unit of UTF-16.
func unescape(t token) (string, error) {
	if !strings.Contains(t.text, `\`) {
		return t.text, nil
	}
	var units []uint16
	for s := t.text; s != ""; {
		if s[0] != '\\' {
			r, n := utf8.DecodeRuneInString(s)
			units = utf16.AppendRune(units, r)
			s = s[n:]
			continue
		}
		if len(s) == 1 {
			return "", fail(t.at, "found a backslash at the end of a term")
		}
		if s[1] == 'u' {
			if len(s) < 6 {
				return "", fail(t.at, `want four hexadecimal digits after \u`)
			}
			unit, err := strconv.ParseUint(s[2:6], 16, 16)
			if err != nil {
				return "", fail(t.at, `want four hexadecimal digits after \u`)
			}
			units = append(units, uint16(unit))
			s = s[6:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s[1:])
		units = utf16.AppendRune(units, r)
		s = s[1+n:]
	}
	return decode(units, t)
}

// decode refuses half a pair of UTF-16: no name of a field has one.
func decode(units []uint16, t token) (string, error) {
	runes := utf16.Decode(units)
	if !slices.Equal(utf16.Encode(runes), units) {
		return "", unsupported(t.at, "found half a character in a name")
	}
	return string(runes), nil
}

// escape returns name as the word that means it.
func escape(name string) string {
	if name == "AND" || name == "OR" || name == "NOT" {
		return `\` + name
	}
	if !strings.ContainsAny(name, special+wideSpace+"&|") {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		inWord := i > 0 && (r == '-' || r == '+')
		if !inWord && strings.ContainsRune(special+wideSpace+"&|", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
