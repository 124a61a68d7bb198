package leaks

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Answer is what came back. Status 0 means that the connection was closed without one.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // decompressed; all that was received for raw requests

	parsed any
	tried  bool
}

// JSON returns the body as JSON, nil if it is none.
func (a *Answer) JSON() any {
	if !a.tried {
		a.tried = true
		if decode(a.Body, &a.parsed) != nil {
			a.parsed = nil
		}
	}
	return a.parsed
}

const (
	answerTimeout = 30 * time.Second
	idleTimeout   = 500 * time.Millisecond // after which a raw answer is taken as whole
)

// Send writes the request to host exactly as it is written down, over a connection of
// its own. auth is the value of Authorization; empty means none.
func Send(host, auth string, r *Request) (*Answer, error) {
	conn, err := net.DialTimeout("tcp", host, answerTimeout)
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s: %w", host, err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, fmt.Errorf("cannot set a deadline: %w", err)
	}
	if r.Raw != "" {
		_, _ = io.WriteString(conn, r.Raw) // a peer that has closed may still have answered
		return receiveRaw(conn), nil
	}
	text, err := render(host, auth, r)
	if err != nil {
		return nil, err
	}
	_, failed := conn.Write(text)
	answer, err := receive(conn, r.Method)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, errors.Join(err, failed))
	}
	return answer, nil
}

// render makes the bytes of a request. Only what HTTP cannot do without is added.
func render(host, auth string, r *Request) ([]byte, error) {
	body, err := r.Bytes()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", r.Method, r.Path)
	given := func(name string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(r.Headers)), func(have string) bool { return strings.EqualFold(have, name) })
	}
	add := func(name, value string) {
		if !given(name) {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	add("Host", host)
	if auth != "" {
		add("Authorization", auth)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		fmt.Fprintf(&b, "%s: %s\r\n", name, r.Headers[name])
	}
	if body != nil || !slices.Contains([]string{"GET", "HEAD", "OPTIONS", "TRACE", "DELETE"}, r.Method) {
		if !given("Transfer-Encoding") {
			add("Content-Length", strconv.Itoa(len(body)))
		}
	}
	add("Connection", "close")
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes(), nil
}

// receive reads one answer. A connection that ends before the head has ended is status 0.
func receive(conn net.Conn, method string) (*Answer, error) {
	r := bufio.NewReader(conn)
	if _, err := r.Peek(1); err != nil {
		if errors.Is(err, io.EOF) || isReset(err) {
			return &Answer{}, nil
		}
		return nil, fmt.Errorf("no answer: %w", err)
	}
	res, err := http.ReadResponse(r, &http.Request{Method: strings.ToUpper(method)})
	if err != nil {
		return nil, fmt.Errorf("cannot read the answer: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // a cut body is judged by what came
		return nil, fmt.Errorf("cannot read the answer: %w", err)
	}
	return &Answer{Status: res.StatusCode, Header: res.Header, Body: inflate(res.Header.Get("Content-Encoding"), body)}, nil
}

// isReset reports whether the peer threw the connection away.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !op.Timeout()
}

// inflate returns the body decompressed, or as it is where that fails.
func inflate(encoding string, body []byte) []byte {
	var r io.Reader
	var err error
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return body
	}
	if err != nil {
		return body
	}
	plain, err := io.ReadAll(r)
	if err != nil && len(plain) == 0 {
		return body
	}
	return plain
}

// receiveRaw reads all that comes until the peer closes or falls silent.
func receiveRaw(conn net.Conn) *Answer {
	var all bytes.Buffer
	chunk := make([]byte, 32<<10)
	for {
		n, err := conn.Read(chunk)
		all.Write(chunk[:n])
		if err != nil {
			break
		}
		if conn.SetReadDeadline(time.Now().Add(idleTimeout)) != nil {
			break
		}
	}
	a := &Answer{Body: all.Bytes()}
	if fields := strings.Fields(all.String()); len(fields) > 1 && strings.HasPrefix(fields[0], "HTTP/") {
		a.Status, _ = strconv.Atoi(fields[1]) // what is no number is no answer
	}
	return a
}
