package esjson

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
)

// Stream reads one long text as it comes, and holds no more of it than the value that it
// was asked for last. It is for answers of clusters, which are larger than what is used of
// them. Its caller walks the text by its outer objects and arrays, in their order.
//
// Keys of the objects that it walks through come once each, as in Parse. What Raw gives is
// only cut out: who uses it parses it.
type Stream struct {
	src    io.Reader
	buf    []byte // what was read and is still to come, from at on
	at     int
	before int64 // bytes of the text that stood before buf
	most   int
	over   error // what src ended with
	depth  int
	keys   []string          // of the objects under way, the inner ones last
	known  map[string]string // keys that came before: most come in each of many objects
}

const (
	streamRoom = 64 << 10
	maxKnown   = 256 // keys
	listedKeys = 16  // up to which they are compared one by one
)

// NewStream returns a Stream on src, in which no string, number or Raw value is longer
// than most bytes.
func NewStream(src io.Reader, most int) *Stream {
	return &Stream{src: src, most: most, buf: make([]byte, 0, min(streamRoom, most)), known: map[string]string{}}
}

// more reads more of the text and drops what stands before at.
func (s *Stream) more() error {
	if s.over != nil {
		return s.over
	}
	s.before += int64(s.at)
	s.buf = append(s.buf[:0], s.buf[s.at:]...)
	s.at = 0
	if len(s.buf) == cap(s.buf) {
		if len(s.buf) >= s.most {
			return fmt.Errorf("cannot parse JSON: %w: a value at offset %d has more than %d bytes", ErrTooLong, s.before, s.most)
		}
		s.buf = slices.Grow(s.buf, min(len(s.buf), s.most-len(s.buf)))
	}
	for range 100 { // readings without a byte, as in io and bufio
		n, err := s.src.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if s.over = err; n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// next returns the first byte that is no white space, which is at s.at then; 0 at the end
// of the text.
func (s *Stream) next() (byte, error) {
	for {
		if s.at = skipSpace(s.buf, s.at); s.at < len(s.buf) {
			return s.buf[s.at], nil
		}
		switch err := s.more(); {
		case err == io.EOF: //nolint:errorlint // one that is wrapped is a fault
			return 0, nil
		case err != nil:
			return 0, err
		}
	}
}

// fail is the error for what stands at s.at.
func (s *Stream) fail(want string) error {
	off := s.before + int64(s.at)
	return &SyntaxError{Offset: int(off), Msg: fmt.Sprintf("unexpected %s at offset %d; want %s", found(s.buf, s.at), off, want)}
}

// Peek returns the kind of the value that comes next, by its first byte.
func (s *Stream) Peek() (Kind, error) {
	c, err := s.next()
	switch {
	case err != nil:
		return Invalid, err
	case c == '{':
		return Object, nil
	case c == '[':
		return Array, nil
	case c == '"':
		return String, nil
	case c == 't', c == 'f':
		return Bool, nil
	case c == 'n':
		return Null, nil
	case c == '-', isDigit(c):
		return Number, nil
	}
	return Invalid, s.fail(wantValue)
}

// Object reads an object. It calls f with each key, and f reads the value.
func (s *Stream) Object(f func(key string) error) error {
	if err := s.open('{', wantObject); err != nil {
		return err
	}
	first := len(s.keys)
	defer func() { s.keys = s.keys[:first] }()
	var many map[string]struct{}
	want := wantKeyOrEnd
	for {
		c, err := s.next()
		if err != nil {
			return err
		}
		if c == '}' && want == wantKeyOrEnd {
			break
		}
		if c != '"' {
			return s.fail(want)
		}
		if many, err = s.member(first, many, f); err != nil {
			return err
		}
		if c, err = s.next(); err != nil {
			return err
		}
		if c == '}' {
			break
		}
		if c != ',' {
			return s.fail(wantMember)
		}
		s.at++
		want = wantKey
	}
	s.at++
	s.depth--
	return nil
}

// member reads a key that none of those from first on is, and has f read its value.
func (s *Stream) member(first int, many map[string]struct{}, f func(string) error) (map[string]struct{}, error) {
	off := s.before + int64(s.at)
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	twice := false
	switch list := s.keys[first:]; {
	case many != nil:
		_, twice = many[key]
		many[key] = struct{}{}
	case len(list) < listedKeys:
		twice = slices.Contains(list, key)
		s.keys = append(s.keys, key)
	default:
		many = make(map[string]struct{}, 2*listedKeys)
		for _, k := range append(list, key) {
			many[k] = struct{}{}
		}
		twice = len(many) == len(list)
	}
	if twice {
		return nil, duplicate([]byte(key), int(off))
	}
	switch c, err := s.next(); {
	case err != nil:
		return nil, err
	case c != ':':
		return nil, s.fail(wantColon)
	}
	s.at++
	return many, f(key)
}

// Array reads an array. It calls f once for each element, which f reads.
func (s *Stream) Array(f func() error) error {
	if err := s.open('[', Array.String()); err != nil {
		return err
	}
	c, err := s.next()
	if err != nil {
		return err
	}
	for c != ']' {
		if err := f(); err != nil {
			return err
		}
		if c, err = s.next(); err != nil {
			return err
		}
		if c == ',' {
			s.at++
		} else if c != ']' {
			return s.fail(wantElement)
		}
	}
	s.at++
	s.depth--
	return nil
}

// open goes into an object or array.
func (s *Stream) open(bracket byte, want string) error {
	c, err := s.next()
	if err != nil {
		return err
	}
	if c != bracket {
		return s.fail(want)
	}
	if s.depth++; s.depth > maxScanDepth {
		return fail(s.buf, s.at, wantShallower)
	}
	s.at++
	return nil
}

// key reads a string whose quote is at s.at. One that comes often takes no memory anew.
func (s *Stream) key() (string, error) {
	lexeme, escaped, err := s.str()
	if err != nil {
		return "", err
	}
	b := lexeme[1 : len(lexeme)-1]
	if escaped {
		b = appendUnescaped(nil, b)
	}
	if k, ok := s.known[string(b)]; ok {
		return k, nil
	}
	k := string(b)
	if len(s.known) < maxKnown {
		s.known[k] = k
	}
	return k, nil
}

// str reads a string whose quote is at s.at and returns it with its quotes.
func (s *Stream) str() (lexeme []byte, escaped bool, err error) {
	lexeme, err = s.Raw()
	if err != nil {
		return nil, false, err
	}
	end, escaped, want := scanString(lexeme, 1)
	if want != "" {
		s.at -= len(lexeme) - end
		return nil, false, s.fail(want)
	}
	return lexeme, escaped, nil
}

// Text reads a string.
func (s *Stream) Text() (string, error) {
	c, err := s.next()
	if err != nil {
		return "", err
	}
	if c != '"' {
		return "", s.fail(String.String())
	}
	lexeme, escaped, err := s.str()
	if err != nil {
		return "", err
	}
	if b := lexeme[1 : len(lexeme)-1]; !escaped {
		return string(b), nil
	}
	return string(AppendUnescaped(nil, lexeme)), nil
}

// Skip reads any value and checks that it is one, but for its keys.
func (s *Stream) Skip() error {
	start := s.before + int64(s.at)
	raw, err := s.Raw()
	if err != nil {
		return err
	}
	if !json.Valid(raw) { // which takes what clusters write, halves of surrogate pairs in keys as well
		return &SyntaxError{Offset: int(start), Msg: fmt.Sprintf("no JSON value at offset %d; want %s", start, wantValue)}
	}
	return nil
}

// Raw reads any value and returns it as it stands in the text. What is inside is not
// checked, but for its brackets. It holds until the next call.
func (s *Stream) Raw() ([]byte, error) {
	if _, err := s.Peek(); err != nil {
		return nil, err
	}
	var x extent
	n := 0
	for {
		k, done := x.scan(s.buf[s.at+n:])
		if n += k; done {
			break
		}
		err := s.more()
		if err == io.EOF && x.atom { //nolint:errorlint // one that is wrapped is a fault
			break
		}
		if err == io.EOF { //nolint:errorlint // as above
			s.at = len(s.buf)
			return nil, s.fail(`what closes the value`)
		}
		if err != nil {
			return nil, err
		}
	}
	raw := s.buf[s.at : s.at+n : s.at+n]
	s.at += n
	return raw, nil
}

// End reads the end of the text.
func (s *Stream) End() error {
	c, err := s.next()
	if err != nil {
		return err
	}
	if c != 0 || s.at < len(s.buf) {
		return s.fail(wantEnd)
	}
	return nil
}

// extent finds the end of a value in pieces of it.
type extent struct {
	depth   int
	text    bool // within a string
	escaped bool // behind its backslash
	atom    bool // a number or a word: it ends before what follows
}

// scan goes on in b and returns how much of it belongs to the value, and whether that ends.
func (x *extent) scan(b []byte) (n int, done bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case x.escaped:
			x.escaped = false
		case x.text && c == '\\':
			x.escaped = true
		case x.text && c == '"':
			if x.text = false; x.depth == 0 {
				return i + 1, true
			}
		case x.text:
			i += plain(b[i:]) - 1
		case c == '"' && !x.atom:
			x.text = true
		case (c == '{' || c == '[') && !x.atom:
			x.depth++
		case (c == '}' || c == ']') && !x.atom:
			if x.depth--; x.depth == 0 {
				return i + 1, true
			}
		case x.depth == 0 && strings.IndexByte(" \t\r\n,:{}[]\"", c) >= 0:
			return i, true
		case x.depth == 0:
			x.atom = true
		}
	}
	return len(b), false
}

// plain returns how many bytes of a string come before its end or a backslash. The first
// is neither.
func plain(b []byte) int {
	i := 1
	for i+8 <= len(b) {
		m := stringStops(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(m) >> 3; b[i] == '"' || b[i] == '\\' {
			return i
		}
		i++ // a control character: it is for who reads the string
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}
