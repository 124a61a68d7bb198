package esjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The lexer is a set of functions over (text, offset). Each returns the offset
// after what it read, or the offset of the fault and what was wanted there.

// skipSpace is small enough to be inlined: most values have no space before them.
func skipSpace(src []byte, i int) int {
	if i < len(src) && src[i] > ' ' {
		return i
	}
	return skipSpaces(src, i)
}

func skipSpaces(src []byte, i int) int {
	for i < len(src) {
		switch src[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops marks the bytes of w that end a run of plain ASCII: '"', '\\', control
// characters and everything above ASCII. Only the lowest mark is exact: a borrow
// can set false marks, but only above a true one.
func stops(w uint64) uint64 {
	quote := w ^ ('"' * lows)
	slash := w ^ ('\\' * lows)
	return ((quote - lows) | (slash - lows) | (w - ' '*lows) | w) & highs
}

// scanString reads the string whose opening quote stands before i, eight bytes in
// one step; most strings are ASCII without escapes and end here.
func scanString(src []byte, i int) (end int, escaped bool, want string) {
	start := i
	for i+8 <= len(src) {
		if m := stops(binary.LittleEndian.Uint64(src[i:])); m != 0 {
			i += bits.TrailingZeros64(m) >> 3
			if src[i] == '"' {
				return i + 1, false, ""
			}
			break
		}
		i += 8
	}
	return scanRest(src, start, i)
}

// stringStops is stops for text in any script: bytes above ASCII are plain.
func stringStops(w uint64) uint64 {
	quote := w ^ ('"' * lows)
	slash := w ^ ('\\' * lows)
	return ((quote-lows)&^quote | (slash-lows)&^slash | (w-' '*lows)&^w) & highs
}

// scanRest reads on where src[start:i] is plain ASCII. UTF-8 is checked once at the
// end, and only if a byte above ASCII was seen on the way.
func scanRest(src []byte, start, i int) (end int, escaped bool, want string) {
	var seen uint64 // all plain bytes, or-ed
	for {
		for i+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[i:])
			m := stringStops(w)
			if m != 0 {
				seen |= w & (m&-m - 1) // the bytes before the stop
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			seen |= w
			i += 8
		}
		for i < len(src) && isPlain(src[i]) { // the last seven bytes of the text
			seen |= uint64(src[i])
			i++
		}
		if i >= len(src) {
			return i, escaped, wantQuote
		}
		switch src[i] {
		case '"':
			if seen&highs != 0 && !validUTF8(src[start:i]) {
				return invalidUTF8(src, start), escaped, wantUTF8
			}
			return i + 1, escaped, ""
		case '\\':
			escaped = true
			if i, want = scanEscape(src, i); want != "" {
				return i, escaped, want
			}
		default:
			return i, escaped, wantNoControl
		}
	}
}

func isPlain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

// invalidUTF8 finds the first byte from i on that is not valid UTF-8.
func invalidUTF8(src []byte, i int) int {
	for i < len(src) {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return i
}

// scanHalves is scanString for a value that may hold halves of surrogate pairs.
func scanHalves(src []byte, i int) (end int, escaped, half bool, want string) {
	for {
		end, escaped, want = scanString(src, i)
		if want != wantSurrogate {
			return end, escaped || half, half, want
		}
		if !validUTF8(src[i:end]) {
			return invalidUTF8(src, i), true, true, wantUTF8
		}
		i, half = end+6, true
	}
}

// scanEscape reads the escape at i. A surrogate counts only with its other half:
// parsers disagree about what a lone one means.
func scanEscape(src []byte, i int) (end int, want string) {
	if i+1 >= len(src) {
		return i + 1, wantEscape
	}
	switch src[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, ""
	case 'u':
		unit, ok := hex4(src, i+2)
		if !ok {
			return i + 2, wantHex
		}
		if unit < 0xd800 || unit > 0xdfff {
			return i + 6, ""
		}
		if unit > 0xdbff || i+7 >= len(src) || src[i+6] != '\\' || src[i+7] != 'u' {
			return i, wantSurrogate
		}
		if low, ok := hex4(src, i+8); !ok || low < 0xdc00 || low > 0xdfff {
			return i, wantSurrogate
		}
		return i + 12, ""
	default:
		return i + 1, wantEscape
	}
}

func hex4(src []byte, i int) (rune, bool) {
	if i+4 > len(src) {
		return 0, false
	}
	var r rune
	for _, c := range src[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// scanNumber reads the number that starts at i: the grammar of RFC 8259, so no
// plus sign, no leading zero, no bare dot, no NaN.
func scanNumber(src []byte, i int) (end int, want string) {
	if src[i] == '-' {
		i++
	}
	if i < len(src) && src[i] == '0' {
		i++
		if i < len(src) && isDigit(src[i]) {
			return i, wantNoLeading0
		}
	} else if i, want = scanDigits(src, i); want != "" {
		return i, want
	}
	if i < len(src) && src[i] == '.' {
		if i, want = scanDigits(src, i+1); want != "" {
			return i, want
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		return scanDigits(src, i)
	}
	return i, ""
}

// scanDigits reads one digit or more.
func scanDigits(src []byte, i int) (end int, want string) {
	start := i
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	if i == start {
		return i, wantDigit
	}
	return i, ""
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// scanLiteral reads true, false or null; word is the one that src[i] begins.
func scanLiteral(src []byte, i int, word string) (end int, want string) {
	if len(src)-i < len(word) || string(src[i:i+len(word)]) != word {
		return i, wantLiteral
	}
	return i + len(word), ""
}

// appendUnescaped appends what the inside of a scanned string means.
func appendUnescaped(dst, in []byte) []byte {
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			dst = append(dst, in[i])
			i++
			continue
		}
		switch c := in[i+1]; c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, size := unescaped(in, i)
			if 0xd800 <= r && r <= 0xdfff { // a half: no UTF-8, so that it equals nothing else
				dst = append(dst, 0xed, 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += size
			continue
		default: // a quote, a backslash, a slash
			dst = append(dst, c)
		}
		i += 2
	}
	return dst
}

// unescaped returns what the \u escape at i means, two of them if they are a pair, and
// its length.
func unescaped(in []byte, i int) (r rune, size int) {
	r, _ = hex4(in, i+2)
	if r < 0xd800 || r > 0xdbff {
		return r, 6
	}
	low, ok := hex4(in, i+8)
	if !ok || in[i+6] != '\\' || in[i+7] != 'u' || low < 0xdc00 || low > 0xdfff {
		return r, 6
	}
	return (r-0xd800)<<10 + (low - 0xdc00) + 0x10000, 12
}
