package conformance

import (
	"fmt"
	"regexp"
	"strings"
)

// literal returns the pattern of a text that is written as /pattern/.
func literal(v any) (string, bool) {
	s, _ := v.(string)
	s = strings.TrimSpace(s)
	if len(s) < 2 || s[0] != '/' || s[len(s)-1] != '/' {
		return "", false
	}
	return s[1 : len(s)-1], true
}

// matches returns an error unless the pattern, in Java's words, is found in s.
func matches(pattern, s string) error {
	re, err := regexp.Compile(fromJava(pattern))
	if err != nil {
		return fmt.Errorf("cannot read the pattern %.200q: %w", pattern, err)
	}
	if !re.MatchString(s) {
		return fmt.Errorf("%.200q does not match %.200q", s, pattern)
	}
	return nil
}

// fromJava translates what the suites use of Java's patterns: escapes of signs that
// have no meaning, quantifiers that give nothing back, and a last $ that also stands before
// a line's end.
func fromJava(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			if !strings.ContainsRune(`_/"' `, rune(pattern[i])) {
				out.WriteByte(c)
			}
			out.WriteByte(pattern[i])
		case c == '+' && i > 0 && (pattern[i-1] == '*' || pattern[i-1] == '+') && (i < 2 || pattern[i-2] != '\\'):
		case c == '$' && i == len(pattern)-1:
			out.WriteString(`\n?$`)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// withoutSpace drops white space and comments, which mean nothing in the pattern of a
// match: the suites lay patterns for whole tables out.
func withoutSpace(pattern string) string {
	var out strings.Builder
	comment := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case comment:
			comment = c != '\n'
		case c == '\\' && i+1 < len(pattern):
			out.WriteString(pattern[i : i+2])
			i++
		case c == '#':
			comment = true
		case !strings.ContainsRune(" \t\r\n\f\v", rune(c)):
			out.WriteByte(c)
		}
	}
	return out.String()
}
