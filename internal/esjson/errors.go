package esjson

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// The limits that a text can exceed; errors.Is tells them from syntax errors.
var (
	ErrTooDeep = errors.New("nesting too deep")
	ErrTooMany = errors.New("too many values")
	ErrTooLong = errors.New("text too long")
)

// SyntaxError says why a text is not the JSON that this package accepts.
type SyntaxError struct {
	Offset int    // of the first byte that does not fit
	Msg    string // what was found there, and what was wanted
}

func (e *SyntaxError) Error() string { return "cannot parse JSON: " + e.Msg }

// What the scanners want at the place where they stop. They return one of these
// instead of an error, so that the fast path carries no pointer and the text of
// an error is only made when there is one.
const (
	wantValue      = "a value"
	wantObject     = "an object"
	wantKey        = `a key in '"'`
	wantKeyOrEnd   = `a key in '"' or '}'`
	wantColon      = "':'"
	wantMember     = "',' or '}'"
	wantElement    = "',' or ']'"
	wantEnd        = "the end of the text"
	wantQuote      = `a closing '"'`
	wantNoControl  = "control characters escaped"
	wantUTF8       = "valid UTF-8"
	wantEscape     = `one of "\/bfnrtu after a backslash`
	wantHex        = "four hexadecimal digits"
	wantSurrogate  = "surrogates in pairs"
	wantDigit      = "a digit"
	wantNoLeading0 = "no digit after a leading 0"
	wantLiteral    = "true, false or null"
	wantShallower  = "less nesting"
)

// fail makes the error for a scanner that stopped at off.
func fail(src []byte, off int, want string) error {
	if want == wantShallower {
		return fmt.Errorf("cannot parse JSON: %w at offset %d", ErrTooDeep, off)
	}
	return &SyntaxError{Offset: off, Msg: fmt.Sprintf("unexpected %s at offset %d; want %s", found(src, off), off, want)}
}

// found names what stands at off without quoting more than one character.
func found(src []byte, off int) string {
	if off >= len(src) {
		return "end of text"
	}
	r, size := utf8.DecodeRune(src[off:])
	if r == utf8.RuneError && size <= 1 {
		return fmt.Sprintf("byte 0x%02x", src[off])
	}
	return fmt.Sprintf("%q", r)
}

// maxQuoted bounds the part of a client's key that an error repeats.
const maxQuoted = 64

func duplicate(key []byte, off int) error {
	if len(key) > maxQuoted {
		key = append(key[:maxQuoted:maxQuoted], "..."...)
	}
	return &SyntaxError{Offset: off, Msg: fmt.Sprintf("duplicate key %q at offset %d; want each key of an object once", key, off)}
}
