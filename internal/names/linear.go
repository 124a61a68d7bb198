package names

import (
	"regexp"
	"strings"
)

// compileLinear compiles an expression for Go's own engine, which takes a time
// proportional to the length of the name. It returns nil for whatever the two engines
// could read differently, or Go's not at all: look-around, back references, flags, most
// escapes.
func compileLinear(translated string) *regexp.Regexp {
	if !isLinear(translated) {
		return nil
	}
	re, err := regexp.Compile(`\A(?:` + translated + `)\z`)
	if err != nil {
		return nil // for example a possessive quantifier
	}
	return re
}

// isLinear reports whether s is made of what both engines take for the same.
func isLinear(s string) bool {
	class := false // between '[' and ']'
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
			if i == len(s) || isAlnum(s[i]) && strings.IndexByte("dDwW", s[i]) < 0 || s[i] >= 0x80 {
				return false
			}
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(' && strings.HasPrefix(s[i+1:], "?") && !strings.HasPrefix(s[i+1:], "?:"):
			return false
		case c == '{' && !isRepeat(s[i:]):
			return false
		case c == '$' && i < len(s)-1: // before a line feed at the end as well, or not
			return false
		}
	}
	return true
}

// isRepeat reports whether s begins with {n}, {n,} or {n,m}.
func isRepeat(s string) bool {
	inside, _, ok := strings.Cut(s[1:], "}")
	least, most, _ := strings.Cut(inside, ",")
	return ok && least != "" && strings.Trim(least+most, "0123456789") == ""
}
