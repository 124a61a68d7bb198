package esjson

import (
	"fmt"
	"strconv"
)

// Writer builds one JSON text by appending to a buffer; it sets the commas and
// colons. Calls that cannot give a JSON text panic with BUG: the order of the
// calls is code, never input. The zero value is ready for use.
type Writer struct {
	buf   []byte
	depth int           // containers that are open
	open  [fewOpen]byte // of each the byte that opened it: '{' or '['
	deep  []byte        // of those beyond
	want  expect        // what may come next
}

// fewOpen is up to where open containers need no memory of their own.
const fewOpen = 16

type expect uint8

const (
	expectValue   expect = iota // at the start, and after a key
	expectFirst                 // after { or [
	expectMore                  // after a member or an element
	expectNothing               // the text is complete
)

// Reset makes w write a new text at the end of dst.
func (w *Writer) Reset(dst []byte) {
	w.buf, w.depth, w.deep, w.want = dst, 0, w.deep[:0], expectValue
}

// Bytes returns what was written, which must be complete.
func (w *Writer) Bytes() []byte {
	if w.want != expectNothing {
		panic(fmt.Sprintf("BUG: JSON text taken with %d containers open", w.depth))
	}
	return w.buf
}

// BeginObject opens an object.
func (w *Writer) BeginObject() { w.begin('{') }

// EndObject closes the innermost container, an object.
func (w *Writer) EndObject() { w.end('{', '}') }

// BeginArray opens an array.
func (w *Writer) BeginArray() { w.begin('[') }

// EndArray closes the innermost container, an array.
func (w *Writer) EndArray() { w.end('[', ']') }

// Key starts a member of the innermost container, an object.
func (w *Writer) Key(name string) {
	if !w.in('{') || w.want == expectValue {
		panic(fmt.Sprintf("BUG: JSON key %q where none can stand", name))
	}
	w.buf = AppendString(comma(w.buf, w.want == expectFirst), name)
	w.buf = append(w.buf, ':')
	w.want = expectValue
}

// Value writes v token by token.
func (w *Writer) Value(v Value) { w.before(); w.buf = AppendValue(w.buf, v); w.after() }

// Raw writes b, which must be one valid JSON value, as it is.
func (w *Writer) Raw(b []byte) { w.before(); w.buf = append(w.buf, b...); w.after() }

// Text writes s as a string.
func (w *Writer) Text(s string) { w.before(); w.buf = AppendString(w.buf, s); w.after() }

// Texts writes list as an array of strings.
func (w *Writer) Texts(list []string) {
	w.BeginArray()
	for _, s := range list {
		w.Text(s)
	}
	w.EndArray()
}

// AppendTexts appends a list of strings.
func AppendTexts(dst []byte, list []string) []byte {
	var w Writer
	w.Reset(dst)
	w.Texts(list)
	return w.Bytes()
}

// Int writes n as a number.
func (w *Writer) Int(n int64) { w.before(); w.buf = strconv.AppendInt(w.buf, n, 10); w.after() }

// Bool writes true or false.
func (w *Writer) Bool(b bool) { w.before(); w.buf = strconv.AppendBool(w.buf, b); w.after() }

// Null writes null.
func (w *Writer) Null() { w.before(); w.buf = append(w.buf, "null"...); w.after() }

func (w *Writer) begin(c byte) {
	w.before()
	w.buf = append(w.buf, c)
	if w.depth < fewOpen {
		w.open[w.depth] = c
	} else {
		w.deep = append(w.deep, c)
	}
	w.depth++
	w.want = expectFirst
}

func (w *Writer) end(open, c byte) {
	if !w.in(open) || w.want == expectValue {
		panic(fmt.Sprintf("BUG: JSON %q closes what is not open", c))
	}
	w.buf = append(w.buf, c)
	w.depth--
	if w.depth >= fewOpen {
		w.deep = w.deep[:w.depth-fewOpen]
	}
	w.after()
}

// before sets the comma in front of a value, where one is due.
func (w *Writer) before() {
	if w.want == expectNothing || w.in('{') && w.want != expectValue {
		panic("BUG: JSON value where none can stand")
	}
	if w.want == expectMore {
		w.buf = append(w.buf, ',')
	}
}

func (w *Writer) after() {
	w.want = expectMore
	if w.depth == 0 {
		w.want = expectNothing
	}
}

// in reports whether the innermost container was opened by c.
func (w *Writer) in(c byte) bool {
	switch {
	case w.depth == 0:
		return false
	case w.depth <= fewOpen:
		return w.open[w.depth-1] == c
	default:
		return w.deep[w.depth-1-fewOpen] == c
	}
}
