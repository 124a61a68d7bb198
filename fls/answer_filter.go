package fls

import (
	"bytes"
	"errors"
	"fmt"

	"guard/internal/esjson"
)

// filter is one pass over one answer. It copies in runs: what is kept is only
// looked at, and what is dropped ends a run. If nothing is dropped the answer is
// copied as a whole at the end.
type filter struct {
	*Answer
	src, dst []byte
	copied   int // src[:copied] is in dst or was cut
	depth    int
	shares   bool // if nothing is cut, src is the result
	failures bool // see Answer.Search

	hit      hit
	sparse   bool  // objects and arrays that show nothing go; see Answer.KeepEmpty
	verdicts *memo // of the part of the hit that the pass is in: its source, or lists by name

	order []member // what was kept of the object that the pass is in, and of those around it
	room  []byte   // see sort

	path   []byte // the path that is looked up
	key    []byte // the last key with escapes, decoded
	nested []byte // nested paths of the hit and of those around it, one behind the other

	index     []byte // the last index asked for, and its projection
	projected *Projection
}

// hit is what is known of the hit that the pass is in.
type hit struct {
	projection *Projection
	nested     []byte // path of the nested object that the hit is, in filter.nested
	judged     bool   // a part was judged by these: they may not change
	of         listOf // the list that the hit is in
}

// AnswerError says why an answer cannot be shown: it is no JSON, or holds something
// whose fields are not known. The client gets a 502.
type AnswerError struct {
	Offset int
	Msg    string
	Err    error // the syntax error, if it is one, or ErrOtherIndex
}

// ErrOtherIndex tells that an answer holds something of an index that was not asked for: a
// name has come to mean something else than was decided.
var ErrOtherIndex = errors.New("the answer is of an index that was not asked for")

// Error says what of the answer was not understood, and where.
func (e *AnswerError) Error() string {
	if e.Msg == "" {
		return fmt.Sprintf("cannot filter answer: %v", e.Err)
	}
	return fmt.Sprintf("cannot filter answer: %s at offset %d", e.Msg, e.Offset)
}

// Unwrap returns what can be asked for.
func (e *AnswerError) Unwrap() error { return e.Err }

func fault(at int, format string, args ...any) error {
	return &AnswerError{Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// maxQuoted bounds what an error repeats of an answer.
const maxQuoted = 64

func quote(b []byte) string {
	if len(b) > maxQuoted {
		return fmt.Sprintf("%q...", b[:maxQuoted])
	}
	return fmt.Sprintf("%q", b)
}

// at returns the byte at i, or 0 behind the end.
func (f *filter) at(i int) byte {
	if i < len(f.src) {
		return f.src[i]
	}
	return 0
}

// skip passes over the value at i.
func (f *filter) skip(i int) (int, error) {
	end, err := esjson.Skip(f.src, i)
	if err != nil {
		return end, &AnswerError{Offset: end, Err: err}
	}
	return end, nil
}

// keep passes over the value at i and keeps it.
func (f *filter) keep(i int) (end int, keep bool, err error) {
	end, err = f.skip(i)
	return end, true, err
}

// cut drops src[from:to]. What was copied already is left alone.
func (f *filter) cut(from, to int) {
	if f.dst == nil {
		f.dst = make([]byte, 0, len(f.src))
	}
	if from > f.copied {
		f.dst = append(f.dst, f.src[f.copied:from]...)
	}
	f.copied = to
}

// replace puts text in the place of src[from:to].
func (f *filter) replace(from, to int, text []byte) {
	f.cut(from, to)
	f.dst = append(f.dst, text...)
}

// maxDepth bounds the recursion; esjson has the same limit.
const maxDepth = 1024

// visit looks at a member or element whose value starts at i. It returns where the
// value ends, and whether it is kept. key holds until the next call of any visit.
type visit func(key []byte, i int) (end int, keep bool, err error)

// object passes over the object at i and cuts the members that v does not keep.
func (f *filter) object(i int, v visit) (end, kept int, err error) {
	return f.container(i, '{', '}', func(i int) (int, bool, error) {
		key, i, err := f.readKey(i)
		if err != nil {
			return i, false, err
		}
		return v(key, i)
	})
}

// array passes over the array at i and cuts the elements that v does not keep.
func (f *filter) array(i int, v func(i int) (end int, keep bool, err error)) (end, kept int, err error) {
	return f.container(i, '[', ']', v)
}

// container passes over the entries between opening and closing; v looks at one of
// them, key and all. A comma goes with the entry behind it, or, before the first
// kept entry, with the one before it.
func (f *filter) container(i int, opening, closing byte, v func(i int) (end int, keep bool, err error)) (end, kept int, err error) {
	if f.at(i) != opening {
		return i, 0, fault(i, "found no %q", opening)
	}
	if f.depth++; f.depth > maxDepth {
		return i, 0, &AnswerError{Offset: i, Err: esjson.ErrTooDeep}
	}
	i = esjson.SkipSpace(f.src, i+1)
	if f.at(i) == closing {
		f.depth--
		return i + 1, 0, nil
	}
	keptEnd := 0
	for {
		start := i
		dstLen, copied := len(f.dst), f.copied
		end, keep, err := v(i)
		if err != nil {
			return end, kept, err
		}
		next := esjson.SkipSpace(f.src, end)
		more := f.at(next) == ','
		if !more && f.at(next) != closing {
			return next, kept, fault(next, "found no ',' or %q", closing)
		}
		i = end
		if more {
			i = esjson.SkipSpace(f.src, next+1)
		}
		if keep {
			kept++
			keptEnd = end
		} else {
			f.dst, f.copied = f.dst[:dstLen], copied // what v may have begun to copy
			f.cutEntry(start, end, i, keptEnd)
		}
		if !more {
			f.depth--
			return next + 1, kept, nil
		}
	}
}

// cutEntry drops the entry src[start:end] of a container. next is where the next
// entry starts, or end; keptEnd is where the last kept one ended, or 0.
func (f *filter) cutEntry(start, end, next, keptEnd int) {
	if keptEnd > 0 {
		f.cut(keptEnd, end)
	} else {
		f.cut(start, next)
	}
}

// readKey reads a key and its colon; i is where the value starts.
func (f *filter) readKey(start int) (key []byte, i int, err error) {
	i, escaped, err := esjson.SkipString(f.src, start)
	if err != nil {
		return nil, i, &AnswerError{Offset: i, Err: err}
	}
	key = f.src[start+1 : i-1]
	if escaped {
		f.key = esjson.AppendUnescaped(f.key[:0], f.src[start:i])
		key = f.key
	}
	i = esjson.SkipSpace(f.src, i)
	if f.at(i) != ':' {
		return nil, i, fault(i, "found no ':'")
	}
	return key, esjson.SkipSpace(f.src, i+1), nil
}

// text reads the string at i, from which something follows: half of a surrogate pair in
// it is an error.
func (f *filter) text(i int) (s []byte, end int, err error) {
	end, escaped, err := esjson.SkipString(f.src, i)
	if err != nil {
		return nil, end, &AnswerError{Offset: end, Err: err}
	}
	if escaped {
		return esjson.AppendUnescaped(nil, f.src[i:end]), end, nil
	}
	return f.src[i+1 : end-1], end, nil
}

// value passes over the value at i, which stands at n.
func (f *filter) value(i int, n *node) (end int, keep bool, err error) {
	switch n.verdict {
	case Keep, Drop:
		end, err = f.skip(i)
		return end, n.verdict == Keep, err
	}
	switch f.at(i) {
	case '{':
		end, kept, err := f.members(i, n)
		return end, kept > 0 || !f.sparse && n.verdict != Probe, err
	case '[':
		empty := f.at(esjson.SkipSpace(f.src, i+1)) == ']'
		end, kept, err := f.array(i, func(i int) (int, bool, error) { return f.value(i, n) })
		// An array of nothing but hidden scalars must not show that they are there.
		return end, kept > 0 || !f.sparse && (n.verdict == Inner || n.verdict == Container && empty), err
	default:
		end, err = f.skip(i)
		return end, n.verdict == Inner, err
	}
}

// members passes over the object at i, which stands at n, and sorts what is left of it.
func (f *filter) members(i int, n *node) (end, kept int, err error) {
	var before *node
	first := len(f.order)
	end, kept, err = f.container(i, '{', '}', func(i int) (int, bool, error) {
		start, from := i, f.out(i)
		m := n.guess(before)
		if m != nil && bytes.HasPrefix(f.src[i:], m.lexeme) {
			i = esjson.SkipSpace(f.src, i+len(m.lexeme)) // fast path: the key is not even scanned
		} else {
			key, at, err := f.readKey(i)
			if err != nil {
				return at, false, err
			}
			i, m = at, f.member(n, key)
			n.remember(before, m)
		}
		before = m
		keyEnd := i
		end, keep, err := f.value(i, m)
		if keep {
			f.order = append(f.order, member{m, f.src[start:keyEnd], from, f.out(end)})
		}
		return end, keep, err
	})
	if err == nil {
		f.sort(n, end, f.order[first:])
	}
	f.order = f.order[:first]
	return end, kept, err
}

// member looks up the member of n called key.
func (f *filter) member(n *node, key []byte) *node {
	f.path = append(f.path[:0], n.path...)
	if n != &f.verdicts.root {
		f.path = append(f.path, '.')
	}
	f.path = append(f.path, key...)
	return f.verdicts.at(f.hit.projection, n, key, f.path)
}

// finish checks that nothing but space is left, and copies what was kept last.
func (f *filter) finish(end int, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if i := esjson.SkipSpace(f.src, end); i < len(f.src) {
		return nil, fault(i, "found data behind the end")
	}
	if f.shares && f.copied == 0 {
		return f.src, nil
	}
	return append(f.dst, f.src[f.copied:]...), nil
}
