package esjson

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"
)

// Limits bound a text before work is put into it. The zero value admits nothing.
type Limits struct {
	MaxDepth  int // of nested objects and arrays; more than 1,024 counts as 1,024
	MaxTokens int // keys and values
	// HalfPairs lets values hold halves of surrogate pairs as escapes: clusters write such
	// where a value is no text. Keys never may.
	HalfPairs bool
}

// RequestLimits suit what clients send: a query of 64 nested clauses has some
// 200 levels, a terms query of 65,536 values has about as many tokens.
func RequestLimits() Limits { return Limits{MaxDepth: 256, MaxTokens: 1 << 20} }

// Tape is the parsed form of one text: its tokens in order. The zero value is
// ready for Parse; parsing again reuses the memory.
type Tape struct {
	src    []byte
	tokens []token
	lim    Limits
	set    []uint32 // open-addressed set of key tokens, for objects of many keys
	bufA   []byte   // decoded keys under comparison
	bufB   []byte
}

// token is a value or a key. An object is followed by its keys and values in
// turn, an array by its elements.
type token struct {
	start, end uint32 // the lexeme is src[start:end]
	next       uint32 // token after this value and everything inside it
	n          uint32 // members or elements
	kind       Kind
	escaped    bool // a string with at least one escape
	half       bool // a string with half of a surrogate pair; escaped as well
}

// tapes keeps tapes whose texts are done with.
var tapes = sync.Pool{New: func() any { return new(Tape) }}

// maxPooledTokens bounds a tape that is kept: one huge body must not pin memory.
const maxPooledTokens = 8192 // 160 KiB

// BorrowTape returns a tape for the values of one short while. Who borrows it gives it
// back with Release.
func BorrowTape() *Tape { return tapes.Get().(*Tape) } //nolint:forcetypeassert // the pool holds nothing else

// Release gives a borrowed tape back. No value on it may be used afterwards: it is
// Invalid, and becomes another text's when the tape is borrowed again. Strings that
// values gave stay good: they belong to the text.
func (t *Tape) Release() {
	if cap(t.tokens) > maxPooledTokens || cap(t.set) > maxPooledTokens || cap(t.bufA)+cap(t.bufB) > maxPooledTokens {
		t.src, t.tokens = nil, nil // its values are Invalid as well
		return
	}
	*t = Tape{tokens: t.tokens[:0], set: t.set[:0], bufA: t.bufA[:0], bufB: t.bufB[:0]}
	tapes.Put(t)
}

// firstTokens bounds what a new tape holds before it is known what the text is.
const firstTokens = 1024 // 20 KiB

// Parse reads src, which must be one JSON text and nothing else, onto dst and
// returns its root. It refuses what parsers disagree about: duplicate keys
// (compared by meaning: "\u0061" is "a"), comments, trailing data, a byte order
// mark, invalid UTF-8, lone surrogates but for what lim says, raw control characters.
// The error is a *SyntaxError or one of the limits. dst refers to src until the next Parse.
func Parse(dst *Tape, src []byte, lim Limits) (Value, error) {
	dst.src, dst.tokens, dst.lim = src, dst.tokens[:0], lim
	if uint64(len(src)) > math.MaxUint32 {
		return Value{}, fmt.Errorf("cannot parse JSON: %w: %d bytes; want at most %d", ErrTooLong, len(src), uint32(math.MaxUint32))
	}
	if cap(dst.tokens) == 0 {
		// A body of clauses has a token each 8 to 12 bytes: grown once, not five times.
		dst.tokens = make([]token, 0, firstRoom(len(src)))
	}
	end, err := dst.value(0, min(lim.MaxDepth, maxScanDepth))
	if err == nil {
		if end = skipSpace(src, end); end < len(src) {
			err = fail(src, end, wantEnd)
		}
	}
	if err != nil {
		dst.tokens = dst.tokens[:0] // no half-read text can be looked at
		return Value{}, err
	}
	return Value{t: dst}, nil
}

// push records the token src[start:end] and returns its index.
func (t *Tape) push(kind Kind, start, end int) (int, error) {
	at := len(t.tokens)
	if at >= t.lim.MaxTokens {
		return 0, t.tooMany(start)
	}
	if at == cap(t.tokens) {
		t.tokens = slices.Grow(t.tokens, 1)
	}
	t.tokens = t.tokens[:at+1]
	tok := &t.tokens[at] // written in its place: a token that is appended is copied
	tok.start, tok.end, tok.next, tok.n = uint32(start), uint32(end), uint32(at+1), 0
	tok.kind, tok.escaped, tok.half = kind, false, false
	return at, nil
}

func (t *Tape) tooMany(start int) error {
	return fmt.Errorf("cannot parse JSON: %w at offset %d; want at most %d", ErrTooMany, start, t.lim.MaxTokens)
}

func (t *Tape) value(i, depth int) (int, error) {
	i = skipSpace(t.src, i)
	if i >= len(t.src) {
		return i, fail(t.src, i, wantValue)
	}
	switch c := t.src[i]; c {
	case '"':
		if t.lim.HalfPairs {
			return t.halves(i)
		}
		return t.str(i)
	case '{':
		return t.object(i, depth-1)
	case '[':
		return t.array(i, depth-1)
	case 't':
		return t.literal(i, Bool, "true")
	case 'f':
		return t.literal(i, Bool, "false")
	case 'n':
		return t.literal(i, Null, "null")
	default:
		if c != '-' && !isDigit(c) {
			return i, fail(t.src, i, wantValue)
		}
		return t.number(i)
	}
}

func (t *Tape) str(i int) (int, error) {
	end, escaped, want := scanString(t.src, i+1)
	if want != "" {
		return end, fail(t.src, end, want)
	}
	at, err := t.push(String, i, end)
	if err == nil && escaped {
		t.tokens[at].escaped = true
	}
	return end, err
}

// halves is str for a value that may hold halves of surrogate pairs.
func (t *Tape) halves(i int) (int, error) {
	end, escaped, half, want := scanHalves(t.src, i+1)
	end, err := t.scalar(String, i, end, want)
	if err == nil {
		tok := &t.tokens[len(t.tokens)-1]
		tok.escaped, tok.half = escaped, half
	}
	return end, err
}

func (t *Tape) number(i int) (int, error) {
	end, want := scanNumber(t.src, i)
	return t.scalar(Number, i, end, want)
}

func (t *Tape) literal(i int, kind Kind, word string) (int, error) {
	end, want := scanLiteral(t.src, i, word)
	return t.scalar(kind, i, end, want)
}

func (t *Tape) scalar(kind Kind, i, end int, want string) (int, error) {
	if want != "" {
		return end, fail(t.src, end, want)
	}
	_, err := t.push(kind, i, end)
	return end, err
}

func (t *Tape) object(i, depth int) (int, error) {
	at, err := t.open(Object, i, depth)
	if err != nil {
		return i, err
	}
	want := wantKeyOrEnd
	i = skipSpace(t.src, i+1)
	if i < len(t.src) && t.src[i] == '}' {
		return t.close(at, i, 0), nil
	}
	for n := uint32(1); ; n++ {
		if i >= len(t.src) || t.src[i] != '"' {
			return i, fail(t.src, i, want)
		}
		if i, err = t.str(i); err != nil {
			return i, err
		}
		i = skipSpace(t.src, i)
		if i >= len(t.src) || t.src[i] != ':' {
			return i, fail(t.src, i, wantColon)
		}
		if i, err = t.value(i+1, depth); err != nil {
			return i, err
		}
		i = skipSpace(t.src, i)
		if i < len(t.src) && t.src[i] == ',' {
			i, want = skipSpace(t.src, i+1), wantKey
			continue
		}
		if i >= len(t.src) || t.src[i] != '}' {
			return i, fail(t.src, i, wantMember)
		}
		return t.close(at, i, n), t.checkKeys(at)
	}
}

func (t *Tape) array(i, depth int) (int, error) {
	at, err := t.open(Array, i, depth)
	if err != nil {
		return i, err
	}
	i = skipSpace(t.src, i+1)
	if i < len(t.src) && t.src[i] == ']' {
		return t.close(at, i, 0), nil
	}
	for n := uint32(1); ; n++ {
		if i, err = t.value(i, depth); err != nil {
			return i, err
		}
		i = skipSpace(t.src, i)
		if i < len(t.src) && t.src[i] == ',' {
			i++
			continue
		}
		if i >= len(t.src) || t.src[i] != ']' {
			return i, fail(t.src, i, wantElement)
		}
		return t.close(at, i, n), nil
	}
}

func (t *Tape) open(kind Kind, i, depth int) (int, error) {
	if depth < 0 {
		return 0, fail(t.src, i, wantShallower)
	}
	return t.push(kind, i, i)
}

// close completes the container at token at, whose last byte is src[i].
func (t *Tape) close(at, i int, n uint32) int {
	tok := &t.tokens[at]
	tok.end, tok.next, tok.n = uint32(i+1), uint32(len(t.tokens)), n
	return i + 1
}

// fewKeys is up to where comparing each key with each beats hashing them.
const fewKeys = 8

// keySeed makes collisions unpredictable: a client must not be able to choose
// keys that make the set slow.
var keySeed = maphash.MakeSeed()

// checkKeys refuses the object at token obj if two of its keys mean the same.
func (t *Tape) checkKeys(obj int) error {
	if t.tokens[obj].n > fewKeys {
		return t.checkManyKeys(obj)
	}
	end := int(t.tokens[obj].next)
	for i := obj + 1; i < end; i = int(t.tokens[i+1].next) {
		for j := obj + 1; j < i; j = int(t.tokens[j+1].next) {
			if t.sameKey(i, j) {
				return t.duplicate(i)
			}
		}
	}
	return nil
}

func (t *Tape) checkManyKeys(obj int) error {
	size := 1
	for size < 2*int(t.tokens[obj].n) {
		size *= 2
	}
	if cap(t.set) < size {
		t.set = make([]uint32, size)
	}
	set, mask := t.set[:size], uint64(size-1)
	clear(set)
	end := int(t.tokens[obj].next)
	for i := obj + 1; i < end; i = int(t.tokens[i+1].next) {
		key := t.key(&t.bufA, i)
		at := maphash.Bytes(keySeed, key) & mask
		for ; set[at] != 0; at = (at + 1) & mask {
			if t.sameKey(i, int(set[at])) {
				return t.duplicate(i)
			}
		}
		set[at] = uint32(i) // never 0: the object itself stands before its keys
	}
	return nil
}

func (t *Tape) sameKey(i, j int) bool {
	a, b := &t.tokens[i], &t.tokens[j]
	if a.escaped || b.escaped {
		return bytes.Equal(t.key(&t.bufA, i), t.key(&t.bufB, j))
	}
	return a.end-a.start == b.end-b.start && bytes.Equal(t.src[a.start:a.end], t.src[b.start:b.end])
}

// key returns what the string token i means, in buf if it has escapes.
func (t *Tape) key(buf *[]byte, i int) []byte {
	tok := &t.tokens[i]
	in := t.src[tok.start+1 : tok.end-1]
	if !tok.escaped {
		return in
	}
	*buf = appendUnescaped((*buf)[:0], in)
	return *buf
}

func (t *Tape) duplicate(i int) error {
	return duplicate(t.key(&t.bufA, i), int(t.tokens[i].start))
}
