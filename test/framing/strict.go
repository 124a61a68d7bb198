package framing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Field is one header line, without the blanks around its value.
type Field struct{ Name, Value string }

// Request is one request as the strict parser reads it.
type Request struct {
	Method, Target string
	HTTP10         bool
	Fields         []Field
	Chunked        bool // framed by chunks
	HasLength      bool // framed by a length, which may be 0
	Length         int64
	Body           string
	Dropped        []string // chunk extensions and trailers: they mean nothing
}

// Value returns the values of a header, of any case, joined by a comma as RFC 9110
// reads several lines.
func (r *Request) Value(name string) string {
	var values []string
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, ", ")
}

// has reports whether there is a line of this name.
func (r *Request) has(name string) bool {
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			return true
		}
	}
	return false
}

// errCut tells that the stream ended inside a request: nobody executes it.
var errCut = errors.New("the stream ended inside a request")

// A Fault says why bytes are no request that all readers read alike.
type Fault struct {
	What    string
	Framing bool // readers can differ in where the request ends
}

func (f *Fault) Error() string { return f.What }

func fault(format string, args ...any) error { return &Fault{fmt.Sprintf(format, args...), false} }

func framingFault(format string, args ...any) error {
	return &Fault{fmt.Sprintf(format, args...), true}
}

const (
	tchar = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	text  = "[\t !-~\u0080-\u00ff]" // of a value; bytes are read as Latin-1
	solid = "[!-~\u0080-\u00ff]"
)

// The grammar (RFC 9112: 3, 5, 7.1), narrowed where readers differ: a target in origin
// form without a fragment, versions 1.0 and 1.1, no folded lines, no blanks in a chunk size.
var (
	requestLine = regexp.MustCompile("^(" + tchar + ") (/[!-\"$-~]*) HTTP/1\\.([01])$")
	fieldLine   = regexp.MustCompile("^(" + tchar + "):[ \t]*(|" + solid + "|" + solid + text + "*" + solid + ")[ \t]*$")
	token       = regexp.MustCompile("^" + tchar + "$")
	length      = regexp.MustCompile("^[0-9]{1,18}$")
	chunkLine   = regexp.MustCompile("^([0-9A-Fa-f]{1,8})(|;" + text + "*)$")
	hostValue   = regexp.MustCompile(`^[0-9A-Za-z._~:%\[\]-]+$`)
)

// ReadRequest reads one request, and not a byte behind it. io.EOF tells that the stream
// ended before its first byte.
func ReadRequest(r *bufio.Reader) (Request, error) {
	q, err := ReadHead(r)
	if err != nil {
		return q, err
	}
	return q, q.readBody(r)
}

// ReadHead reads a request up to its body.
func ReadHead(r *bufio.Reader) (Request, error) {
	var q Request
	line, err := readLine(r)
	if err != nil {
		return q, err
	}
	m := requestLine.FindStringSubmatch(line)
	if m == nil {
		return q, fault("a request line of %s", shown(bytesOf(line)))
	}
	q.Method, q.Target, q.HTTP10 = m[1], m[2], m[3] == "0"
	for {
		line, err := readLine(r)
		switch {
		case errors.Is(err, io.EOF):
			return q, errCut
		case err != nil:
			return q, err
		case line == "":
			return q, q.frame()
		}
		m := fieldLine.FindStringSubmatch(line)
		if m == nil {
			return q, fault("a header line of %s", shown(bytesOf(line)))
		}
		q.Fields = append(q.Fields, Field{bytesOf(m[1]), bytesOf(m[2])})
	}
}

// frame settles where the body ends. A list of values stands for two lines.
func (q *Request) frame() error {
	host, coding, size := q.Value("Host"), q.Value("Transfer-Encoding"), q.Value("Content-Length")
	q.Chunked, q.HasLength = q.has("Transfer-Encoding"), q.has("Content-Length")
	switch {
	case q.has("Host") && !hostValue.MatchString(host), !q.has("Host") && !q.HTTP10:
		return fault("a host of %s", shown(host))
	case q.Chunked && q.HasLength:
		return framingFault("two lengths: %s beside %s", shown(size), shown(coding))
	case q.Chunked && (coding != "chunked" || q.HTTP10):
		return framingFault("a transfer encoding of %s", shown(coding))
	case q.HasLength && !length.MatchString(size):
		return framingFault("a length of %s", shown(size))
	}
	if q.HasLength {
		q.Length, _ = strconv.ParseInt(size, 10, 64) // 18 digits fit
	}
	return nil
}

func (q *Request) readBody(r *bufio.Reader) error {
	if q.Chunked {
		return q.readChunks(r)
	}
	var b strings.Builder // grows with what comes, not with what was announced
	if n, err := io.CopyN(&b, r, q.Length); n != q.Length {
		return cutBy(err)
	}
	q.Body = b.String()
	return nil
}

func (q *Request) readChunks(r *bufio.Reader) error {
	var body strings.Builder
	for {
		line, err := readLine(r)
		if err != nil {
			return cutBy(err)
		}
		m := chunkLine.FindStringSubmatch(line)
		if m == nil {
			return framingFault("a chunk size of %s", shown(bytesOf(line)))
		}
		if m[2] != "" {
			q.Dropped = append(q.Dropped, bytesOf(m[2]))
		}
		n, err := strconv.ParseInt(m[1], 16, 64)
		if err != nil {
			return framingFault("a chunk size of %s", shown(bytesOf(line)))
		}
		if n == 0 {
			q.Body = body.String()
			return q.readTrailers(r)
		}
		if _, err := io.CopyN(&body, r, n); err != nil {
			return cutBy(err)
		}
		if end, err := readLine(r); err != nil || end != "" {
			return firstError(cutBy(err), framingFault("a chunk that is followed by %s", shown(bytesOf(end))))
		}
	}
}

func (q *Request) readTrailers(r *bufio.Reader) error {
	for {
		line, err := readLine(r)
		switch {
		case err != nil:
			return cutBy(err)
		case line == "":
			return nil
		case !fieldLine.MatchString(line):
			return fault("a trailer of %s", shown(bytesOf(line)))
		}
		q.Dropped = append(q.Dropped, bytesOf(line))
	}
}

// cutBy names the end of the stream inside a request.
func cutBy(err error) error {
	if errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// readLine reads up to CRLF; each byte becomes one character of Latin-1. A line feed
// ends a line for some readers and a carriage return for others, so both stand there
// together or not at all.
func readLine(r *bufio.Reader) (string, error) {
	const most = 1 << 20 // 1 MiB: longer lines than any proxy sends
	var line []rune
	for len(line) < most {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && len(line) > 0:
			return "", errCut
		case err != nil:
			return "", err
		case b == '\n':
			n := len(line)
			if n == 0 || line[n-1] != '\r' {
				return "", framingFault("a bare line feed behind %s", shown(bytesOf(string(line))))
			}
			return string(line[:n-1]), nil
		}
		line = append(line, rune(b))
	}
	return "", fault("a line of more than %d bytes", most)
}

// bytesOf is the way back from Latin-1.
func bytesOf(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r)) //nolint:gosec // G115: readLine made the runes of bytes
	}
	return string(b)
}

// shown quotes bytes that may be many.
func shown(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}
