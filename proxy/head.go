package proxy

import (
	"fmt"
	"strings"

	"guard/internal/ask"
)

// field is one header line: the name as it came, the value without the blanks around
// it, and the name in lower case, by which it is known. Only newField makes one.
type field struct{ name, value, key string }

func newField(name, value string) field { return field{name, value, lower(name)} }

// head is the first line and the headers of a request that passed the frame check. Its
// strings share one copy of the block, so it may be kept as long as the request.
type head struct {
	method string
	target string // origin form, as the client wrote it
	http10 bool
	fields []field
	body   framing
	close  bool // the client wants the connection closed after the answer
	expect bool // it waits for a 100 before it sends its body
}

// framing says how the body of a message is delimited. The zero value is "no body".
type framing struct {
	length  int64 // bytes; counts only if chunked is false
	chunked bool
}

func (f framing) none() bool { return !f.chunked && f.length == 0 }

// methods are those that a cluster knows. TRACE and CONNECT are not among them.
var methods = map[string]bool{
	"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "OPTIONS": true, "PATCH": true,
}

// singletons are the headers of which a second line would give a request a second
// meaning: one side could read the first, the other the last.
var singletons = map[string]bool{
	"authorization": true, "content-encoding": true, "content-length": true, "content-range": true, "content-type": true,
	"expect": true, "host": true, "if-match": true, "if-modified-since": true, "if-none-match": true, "if-range": true,
	"if-unmodified-since": true, "origin": true, "proxy-authorization": true, "range": true, "transfer-encoding": true,
	"user-agent": true, "x-opaque-id": true, "traceparent": true,
}

// maxFields bounds the number of header lines.
const maxFields = 128

// parseHead reads a header block, from the request line to the empty line with both
// line ends. It accepts what RFC 9112 allows and no shape that any known parser reads
// in a second way; all else is refused, and the connection with it.
func parseHead(block string) (head, *ask.Rejection) {
	var h head
	line, rest, ok := cutLine(block)
	if !ok {
		return h, badFrame("the request line has no CRLF at its end")
	}
	if rej := h.parseRequestLine(line); rej != nil {
		return h, rej
	}
	h.fields = make([]field, 0, strings.Count(rest, "\n"))
	for rest != "\r\n" {
		if line, rest, ok = cutLine(rest); !ok {
			return h, badFrame("a header line has no CRLF at its end")
		}
		f, err := parseField(line)
		if err != nil {
			return h, badFrame(err.Error())
		}
		if len(h.fields) == maxFields {
			return h, limitFault(ask.LimitHeader, 431, "more than %d header lines", maxFields)
		}
		h.fields = append(h.fields, f)
	}
	return h, h.interpret()
}

func (h *head) parseRequestLine(line string) *ask.Rejection {
	method, rest, ok := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok || !ok2 {
		return badFrame("the request line is not made of method, target and version with one blank between them")
	}
	if !methods[method] {
		if !isToken(method) {
			return badFrame("the method is not a token")
		}
		return frameFault(501, "method %q is not known; want GET, HEAD, POST, PUT, DELETE, OPTIONS or PATCH", clip(method))
	}
	switch version {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.http10 = true
	default:
		return badFrame(fmt.Sprintf("version %q; want HTTP/1.1 or HTTP/1.0", clip(version)))
	}
	h.method, h.target = method, target
	return checkTarget(target)
}

func checkTarget(target string) *ask.Rejection {
	if target == "" || target[0] != '/' {
		return badFrame(fmt.Sprintf("target %q; want a path that starts with a slash", clip(target)))
	}
	for i := range len(target) {
		if c := target[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return badFrame(fmt.Sprintf("byte 0x%02x at offset %d of the target; want it percent-encoded", c, i))
		}
	}
	return nil
}

// interpret draws what the framing depends on from the fields.
func (h *head) interpret() *ask.Rejection {
	seen := make(map[string]bool, 8)
	hosts, te, length := 0, false, false
	for _, f := range h.fields {
		name := f.key
		if singletons[name] {
			if seen[name] {
				return badFrame(fmt.Sprintf("header %q comes twice", name))
			}
			seen[name] = true
		}
		switch name {
		case "host":
			hosts++
			if !isHost(f.value) {
				return badFrame(fmt.Sprintf("host %q is not a host name with an optional port", clip(f.value)))
			}
		case "content-length":
			n, err := parseLength(f.value)
			if err != nil {
				return badFrame(err.Error())
			}
			length, h.body.length = true, n
		case "transfer-encoding":
			if f.value != "chunked" {
				return frameFault(501, "transfer encoding %q; want chunked", clip(f.value))
			}
			te, h.body.chunked = true, true
		case "expect":
			if !strings.EqualFold(f.value, "100-continue") {
				return frameFault(417, "expectation %q; want 100-continue", clip(f.value))
			}
			h.expect = !h.http10
		case "connection":
			h.close = h.close || hasToken(f.value, "close")
			if name := namedForAll(f.value); name != "" {
				return badFrame(fmt.Sprintf("header %q is for all recipients; Connection must not name it", name))
			}
		}
	}
	switch {
	case te && length:
		return badFrame("Content-Length beside Transfer-Encoding")
	case te && h.http10:
		return badFrame("Transfer-Encoding in a request of HTTP/1.0")
	case hosts == 0 && !h.http10:
		return badFrame("no Host header")
	}
	if h.http10 {
		h.close = !h.keepsAlive()
	}
	return nil
}

// forAll are headers without which a request would mean something else: who takes them
// away because Connection names them reads another request than who does not.
var forAll = []string{"host", "content-length", "content-type", "content-encoding", "authorization"}

// namedForAll returns one of these that a Connection header names.
func namedForAll(connection string) string {
	for _, name := range forAll {
		if hasToken(connection, name) {
			return name
		}
	}
	return ""
}

// keepsAlive reports whether a client of HTTP/1.0 asked to keep its connection.
func (h *head) keepsAlive() bool {
	for _, f := range h.fields {
		if f.key == "connection" && hasToken(f.value, "keep-alive") {
			return !h.close
		}
	}
	return false
}

// value returns the first value of a header; name is in lower case.
func (h *head) value(name string) string {
	for _, f := range h.fields {
		if f.key == name {
			return f.value
		}
	}
	return ""
}

// cutLine cuts off a line that ends in CRLF and holds no other CR or LF.
func cutLine(s string) (line, rest string, ok bool) {
	n := strings.IndexByte(s, '\n')
	if n < 1 || s[n-1] != '\r' {
		return "", "", false
	}
	return s[:n-1], s[n+1:], true
}

// parseField reads one header line. A blank at its start would be a folded line, one
// before the colon a name that some read without it.
func parseField(line string) (field, error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return field{}, fmt.Errorf("header line %q has no colon", clip(line))
	}
	if !isToken(name) {
		return field{}, fmt.Errorf("header name %q is not a token", clip(name))
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return field{}, fmt.Errorf("byte 0x%02x in the value of header %q", c, name)
		}
	}
	return newField(name, strings.Trim(value, " \t")), nil
}

// parseLength reads a Content-Length: digits alone, no sign, no list, no blank.
func parseLength(s string) (int64, error) {
	if s == "" || len(s) > 18 { // 18 digits fit into an int64
		return 0, fmt.Errorf("content length %q; want up to 18 digits", clip(s))
	}
	var n int64
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, fmt.Errorf("content length %q; want digits alone", clip(s))
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, nil
}

// tokenBytes are the bytes of a field name or method (RFC 9110, section 5.6.2).
var tokenBytes = func() (t [256]bool) {
	for c := '0'; c <= 'z'; c++ {
		t[c] = c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a'
	}
	for _, c := range "!#$%&'*+-.^_`|~" {
		t[c] = true
	}
	return t
}()

func isToken(s string) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

// isHost reports whether s could be a host with a port. Guard does not route by it;
// what is checked is that nobody can read a second thing into it.
func isHost(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~:[]%", c) >= 0) {
			return false
		}
	}
	return s != ""
}

// hasToken reports whether a comma-separated list holds a token, in any case.
func hasToken(list, token string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(item, " \t"), token) {
			return true
		}
	}
	return false
}

// lower returns s in lower case; for the usual spellings without an allocation.
func lower(s string) string {
	if l, ok := commonNames[s]; ok {
		return l
	}
	return strings.ToLower(s)
}

// commonNames holds the spellings that clients use, so that lower need not copy.
var commonNames = map[string]string{
	"Host": "host", "User-Agent": "user-agent", "Accept": "accept", "Accept-Encoding": "accept-encoding",
	"Authorization": "authorization", "Connection": "connection", "Content-Type": "content-type",
	"Content-Length": "content-length", "Transfer-Encoding": "transfer-encoding", "X-Opaque-Id": "x-opaque-id",
	"Expect": "expect", "Content-Encoding": "content-encoding",
}

// clip bounds what a message quotes of a client's bytes.
func clip(s string) string {
	const most = 64
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// badFrame refuses a request whose shape could be read in two ways.
func badFrame(public string) *ask.Rejection {
	return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: public, Reason: ask.ReasonBadRequest}
}

func frameFault(status int, format string, args ...any) *ask.Rejection {
	r := badFrame(fmt.Sprintf(format, args...))
	r.Status = ask.Status(status)
	return r
}

// limitFault is frameFault for a request that met a limit.
func limitFault(met ask.Limit, status int, format string, args ...any) *ask.Rejection {
	r := frameFault(status, format, args...)
	r.Limit, r.Reason = met, ask.ReasonTooLarge
	return r
}
