package esjson

import (
	"fmt"
	"iter"
	"strconv"
	"unsafe"
)

// Kind is the type of a JSON value.
type Kind uint8

// The zero Kind belongs to the zero Value, which no text contains.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}

// String names k with its article, for errors that say what was wanted.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Value is one value of a parsed text; it is cheap to copy. The zero Value is
// Invalid: it has no members, no elements and no text.
type Value struct {
	t *Tape
	i uint32
}

// noToken stands for what the zero Value points at; nobody writes to it.
var noToken token

func (v Value) token() *token {
	if v.t == nil || int(v.i) >= len(v.t.tokens) {
		return &noToken
	}
	return &v.t.tokens[v.i]
}

// Kind returns the type of v.
func (v Value) Kind() Kind { return v.token().kind }

// Is reports whether v is of kind k.
func (v Value) Is(k Kind) bool { return v.token().kind == k }

// Raw returns the bytes of v as they stand in the text.
func (v Value) Raw() []byte {
	tok := v.token()
	if tok.kind == Invalid {
		return nil
	}
	return v.t.src[tok.start:tok.end:tok.end]
}

// Offset returns where v starts in the text.
func (v Value) Offset() int { return int(v.token().start) }

// Len returns the number of members of an object or elements of an array.
func (v Value) Len() int { return int(v.token().n) }

// String returns the meaning of a string, and the lexeme of anything else: good
// for messages. What decides uses Text, which takes nothing for a string that
// is none. It allocates only if the string has escapes. Half of a surrogate pair
// becomes bytes that are no UTF-8.
func (v Value) String() string {
	tok := v.token()
	switch {
	case tok.kind == Invalid:
		return ""
	case tok.kind != String:
		return view(v.t.src[tok.start:tok.end])
	case tok.escaped:
		return string(appendUnescaped(nil, v.t.src[tok.start+1:tok.end-1]))
	}
	return view(v.t.src[tok.start+1 : tok.end-1])
}

// view gives b as a string without copying; see the package comment on memory.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // G103: b is not written while the tape is in use
}

// Text returns the meaning of v, which must be a string without halves of surrogate
// pairs: those mean nothing.
func (v Value) Text() (string, error) {
	if !v.Is(String) {
		return "", v.wrongKind(String)
	}
	if v.token().half {
		return "", fmt.Errorf("cannot use the string at %s; want surrogates in pairs", v.Path())
	}
	return v.String(), nil
}

// Bool returns v, which must be true or false; "true" in quotes is refused.
func (v Value) Bool() (bool, error) {
	if !v.Is(Bool) {
		return false, v.wrongKind(Bool)
	}
	return v.t.src[v.token().start] == 't', nil
}

// Int returns v, which must be a number without fraction or exponent that fits:
// what clusters coerce ("1", 1.0, 1e0) is refused, since they do not agree how.
func (v Value) Int() (int64, error) {
	if !v.Is(Number) {
		return 0, v.wrongKind(Number)
	}
	n, err := strconv.ParseInt(v.String(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("cannot use %s at %s; want an integer of at most 64 bits: %w", v.String(), v.Path(), err)
	}
	return n, nil
}

// Float returns v, which must be a number that is not out of range.
func (v Value) Float() (float64, error) {
	if !v.Is(Number) {
		return 0, v.wrongKind(Number)
	}
	f, err := strconv.ParseFloat(v.String(), 64)
	if err != nil {
		return 0, fmt.Errorf("cannot use %s at %s; want a number of at most 64 bits: %w", v.String(), v.Path(), err)
	}
	return f, nil
}

func (v Value) wrongKind(want Kind) error {
	return fmt.Errorf("cannot use %s at %s; want %s", v.Kind(), v.Path(), want)
}

// Members yields the keys, as they mean, and values of an object in order; it
// yields nothing for any other kind.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for k, m := range v.Pairs() {
			if !yield(k.String(), m) {
				return
			}
		}
	}
}

// Pairs is Members with each key as a Value, for its offset and its spelling.
func (v Value) Pairs() iter.Seq2[Value, Value] {
	return func(yield func(k, m Value) bool) {
		tok := v.token()
		if tok.kind != Object {
			return
		}
		for i := v.i + 1; i < tok.next; {
			m := Value{t: v.t, i: i + 1}
			if !yield(Value{t: v.t, i: i}, m) {
				return
			}
			i = m.token().next
		}
	}
}

// Elements yields the elements of an array with their positions; it yields
// nothing for any other kind.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		tok := v.token()
		if tok.kind != Array {
			return
		}
		for i, n := v.i+1, 0; i < tok.next; n++ {
			e := Value{t: v.t, i: i}
			if !yield(n, e) {
				return
			}
			i = e.token().next
		}
	}
}

// Lookup returns the member of an object whose key means key.
func (v Value) Lookup(key string) (Value, bool) {
	for k, m := range v.Pairs() {
		if k.means(key) {
			return m, true
		}
	}
	return Value{}, false
}

func (v Value) means(s string) bool {
	tok := v.token()
	if tok.escaped {
		return v.String() == s
	}
	return string(v.t.src[tok.start+1:tok.end-1]) == s
}

// Path says where v stands in its text, such as query.bool.must[2].term; the
// root is "the top level". It walks the text: it is for errors.
func (v Value) Path() string {
	if v.t == nil {
		return "nowhere"
	}
	path := appendPath(nil, Value{t: v.t}, v.i)
	if len(path) == 0 {
		return "the top level"
	}
	return string(path)
}

// appendPath appends the way from at to the token i in it; a key has the path of
// its member.
func appendPath(dst []byte, at Value, i uint32) []byte {
	if i <= at.i {
		return dst
	}
	for k, m := range at.Pairs() {
		if i < m.token().next {
			if len(dst) > 0 {
				dst = append(dst, '.')
			}
			return appendPath(append(dst, k.String()...), m, i)
		}
	}
	for n, e := range at.Elements() {
		if i < e.token().next {
			dst = strconv.AppendInt(append(dst, '['), int64(n), 10)
			return appendPath(append(dst, ']'), e, i)
		}
	}
	return dst
}
