package esjson

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// AppendValue appends v without white space, token by token: numbers as they
// were written, strings in their shortest spelling, but for those with halves of
// surrogate pairs, which keep theirs. Parsing the result gives v again, and printing
// that gives the same bytes.
func AppendValue(dst []byte, v Value) []byte {
	tok := v.token()
	switch tok.kind {
	case Object:
		dst = append(dst, '{')
		first := true
		for k, m := range v.Pairs() {
			dst = AppendValue(append(AppendValue(comma(dst, first), k), ':'), m)
			first = false
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		for n, e := range v.Elements() {
			dst = AppendValue(comma(dst, n == 0), e)
		}
		return append(dst, ']')
	case String:
		if tok.escaped && !tok.half {
			return AppendString(dst, v.String())
		}
	}
	return append(dst, v.Raw()...) // a string without escapes is already in its shortest spelling
}

func comma(dst []byte, first bool) []byte {
	if first {
		return dst
	}
	return append(dst, ',')
}

// AppendCanonical appends the form that all texts of equal meaning share: keys
// sorted by their bytes, no white space, strings in their shortest spelling.
// Numbers keep their lexemes: 1 and 1.0 are not equal to every field type.
func AppendCanonical(dst []byte, v Value) []byte {
	switch v.Kind() {
	case Object:
		type member struct {
			key string
			val Value
		}
		members := make([]member, 0, v.Len())
		for k, m := range v.Members() {
			members = append(members, member{k, m})
		}
		slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
		dst = append(dst, '{')
		for i, m := range members {
			dst = AppendCanonical(append(AppendString(comma(dst, i == 0), m.key), ':'), m.val)
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		for n, e := range v.Elements() {
			dst = AppendCanonical(comma(dst, n == 0), e)
		}
		return append(dst, ']')
	default:
		return AppendValue(dst, v)
	}
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string in its shortest spelling: only what
// must be escaped is. A byte that is not UTF-8 becomes U+FFFD, since the result
// must be a text that Parse accepts.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0 // s[plain:i] is still to be copied as it is
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if !isPlain(c) {
				dst = appendEscape(append(dst, s[plain:i]...), c)
				plain = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[plain:i]...), "\uFFFD"...)
			plain = i + 1
		}
		i += size
	}
	return append(append(dst, s[plain:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}
