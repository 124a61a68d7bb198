package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxAnswerHead = 64 << 10 // bytes of the head of an answer
	maxInterim    = 8        // 1xx answers before the real one
	writeInline   = 32 << 10 // a body up to this fits into the socket: no goroutine is needed
)

// wire is one connection to a node of the cluster. It carries one call at a time.
type wire struct {
	paced
	host *host
	src  *bufio.Reader
	dst  *bufio.Writer
	idle time.Time // since when it lies in the pool
	body bodyReader
	buf  []byte
	dead atomic.Bool
	raw  syscall.RawConn // to look whether it is quiet; nil if it can't be told
}

func newWire(c net.Conn, h *host, timeout time.Duration) *wire {
	w := &wire{paced: paced{Conn: c}, host: h}
	w.writeTimeout = timeout
	w.raw, _ = rawConn(c)
	w.src = bufio.NewReaderSize(&w.paced, 16<<10)
	w.dst = bufio.NewWriterSize(&w.paced, 16<<10)
	return w
}

// rawConn returns the socket below a connection.
func rawConn(c net.Conn) (syscall.RawConn, bool) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := sc.SyscallConn()
	return raw, err == nil
}

// kill ends the connection, and whatever reads or writes on it.
func (w *wire) kill() {
	if !w.dead.Swap(true) {
		_ = w.Conn.Close()
		w.host.drop()
	}
}

// renew gives the answer its full time again. It may be called beside a Read.
func (w *wire) renew() {
	if t := w.host.timeout; t > 0 {
		_ = w.Conn.SetReadDeadline(time.Now().Add(t)) // fails only on a closed connection
	}
}

// upload is the writing of a call's body beside the reading of its answer.
type upload struct {
	done   chan struct{}
	source error // what call.body said about its source, if it failed
	err    error // any failure

	abort   func() // ends a read that the source waits in
	stopped atomic.Bool
	drained atomic.Bool // see sourceDone
}

// finish ends the upload if it is still going, and waits for its goroutine. It reports
// whether all was sent.
func (u *upload) finish() bool {
	if u == nil {
		return true
	}
	if !u.over() {
		u.stopped.Store(true)
		if u.abort != nil {
			u.abort()
		}
		<-u.done
	}
	return u.err == nil
}

// grace is how long an upload whose source is through may take to end after the answer:
// its goroutine may only wait to be scheduled.
const grace = 20 * time.Millisecond

// settle waits that long. It reports whether the upload is over.
func (u *upload) settle() bool {
	if u.over() || !u.drained.Load() {
		return u.over()
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-u.done:
		return true
	case <-timer.C:
		return false
	}
}

// sourceDone reports whether the source is read to its end and not touched any more.
// That is so before the last byte of the call is sent: an answer for which it is not so
// came early.
func (u *upload) sourceDone() bool { return u == nil || u.drained.Load() }

// over reports whether the upload has ended, well or not.
func (u *upload) over() bool {
	if u == nil {
		return true
	}
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

// sourceWriter tells failures of the node's side from those of the client's, and gives
// the answer more time with each window that was sent.
type sourceWriter struct {
	io.Writer
	wire   *wire
	sent   int
	failed bool
}

func (s *sourceWriter) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.failed = s.failed || err != nil
	if s.sent += n; s.sent >= window {
		s.sent = 0
		s.wire.renew()
	}
	return n, err
}

// send writes head and body. A large or streamed body is written by a goroutine that
// upload.done waits for, since the node may answer before it has read it.
func (w *wire) send(c *call) (*upload, error) {
	w.buf = w.appendHead(w.buf[:0], c)
	if _, err := w.dst.Write(w.buf); err != nil {
		return nil, err
	}
	if c.body == nil && len(c.fixed) <= writeInline {
		if _, err := w.dst.Write(c.fixed); err != nil {
			return nil, err
		}
		return nil, w.dst.Flush()
	}
	u := &upload{done: make(chan struct{}), abort: c.abort}
	go func() {
		defer close(u.done)
		u.err = w.writeBody(c, u)
		if u.source != nil {
			w.kill() // the body ends before its last byte: the cluster executes nothing
		}
	}()
	return u, nil
}

func (w *wire) writeBody(c *call, u *upload) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r, debug.Stack()}
			u.source = err
		}
	}()
	body := c.body
	if body == nil {
		u.drained.Store(true)
		body = inWindows(c.fixed)
	}
	cw := chunkWriter{w.dst}
	to := &sourceWriter{Writer: w.dst, wire: w}
	defer w.renew()
	chunked := c.body != nil && c.framing.chunked
	if chunked {
		to.Writer = cw
	}
	if err := body(to); err != nil {
		if !to.failed && !u.stopped.Load() {
			u.source = err
		}
		return err
	}
	u.drained.Store(true)
	if chunked {
		return cw.Close()
	}
	return w.dst.Flush()
}

// inWindows writes b so that each window shows progress.
func inWindows(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for len(b) > 0 {
			n, err := w.Write(b[:min(len(b), window)])
			if err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
}

func (w *wire) appendHead(b []byte, c *call) []byte {
	b = append(b, c.method...)
	b = append(b, ' ')
	b = append(b, c.target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, w.host.name...)
	b = append(b, "\r\n"...)
	b = append(b, w.host.account...)
	for _, f := range c.fields {
		b = append(b, f.name...)
		b = append(b, ": "...)
		b = append(b, f.value...)
		b = append(b, "\r\n"...)
	}
	switch {
	case c.body != nil && c.framing.chunked:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	case c.body != nil:
		b = appendLength(b, c.framing.length)
	case c.hasBody || len(c.fixed) > 0:
		b = appendLength(b, int64(len(c.fixed)))
	}
	return append(b, "\r\n"...)
}

func appendLength(b []byte, n int64) []byte {
	b = append(b, "Content-Length: "...)
	return append(strconv.AppendInt(b, n, 10), "\r\n"...)
}

// receive reads the head of the answer. started reports whether any byte of it came.
func (w *wire) receive(method string) (a *answer, keep, started bool, err error) {
	for range maxInterim {
		block, err := w.readHead()
		if err != nil {
			return nil, false, started || len(block) > 0, err
		}
		started = true
		a, f, keep, err := parseAnswer(block, method)
		if err != nil {
			return nil, false, true, err
		}
		if a.status/100 == 1 {
			continue
		}
		w.body.reset(w.src, f)
		return a, keep, true, nil
	}
	return nil, false, true, garbage("more than %d interim answers", maxInterim)
}

// readHead returns the block with its empty line, or what came of it.
func (w *wire) readHead() ([]byte, error) {
	w.buf = w.buf[:0]
	for {
		part, err := w.src.ReadSlice('\n')
		w.buf = append(w.buf, part...)
		if len(w.buf) > maxAnswerHead {
			return w.buf, garbage("an answer head of more than %d bytes", maxAnswerHead)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return w.buf, err
		}
		n := len(w.buf)
		if n < 2 || w.buf[n-2] != '\r' {
			return w.buf, garbage("a line of the answer head ends in a bare line feed")
		}
		if len(part) == 2 && n > 2 {
			return w.buf, nil
		}
	}
}

// parseAnswer reads the head of an answer as strictly as that of a request: an answer
// with two lengths could be cut in two by whoever reads it.
func parseAnswer(block []byte, method string) (*answer, framing, bool, error) {
	text := string(block)
	line, rest, _ := cutLine(text)
	a := &answer{}
	http10, err := a.parseStatus(line)
	if err != nil {
		return nil, framing{}, false, err
	}
	a.fields = make([]field, 0, strings.Count(rest, "\n"))
	var (
		f         framing
		hasLength bool
		hops      string
		keep      = !http10
	)
	for rest != "\r\n" {
		var ok bool
		if line, rest, ok = cutLine(rest); !ok {
			return nil, f, false, garbage("an answer head with a broken line end")
		}
		h, err := parseField(line)
		if err != nil {
			return nil, f, false, &wireError{faultGarbage, err}
		}
		if len(a.fields) == maxFields {
			return nil, f, false, garbage("an answer with more than %d header lines", maxFields)
		}
		switch name := lower(h.name); name {
		case "content-length":
			n, err := parseLength(h.value)
			if err != nil || hasLength {
				return nil, f, false, garbage("an answer with content length %q, or with two", clip(h.value))
			}
			hasLength, f.length = true, n
		case "transfer-encoding":
			if !strings.EqualFold(h.value, "chunked") || f.chunked {
				return nil, f, false, garbage("an answer with transfer encoding %q", clip(h.value))
			}
			f.chunked = true
		case "connection":
			hops += "," + h.value
			keep = keep && !hasToken(h.value, "close")
		default:
			if !hopByHop[name] {
				a.fields = append(a.fields, h)
			}
		}
	}
	if hops != "" {
		a.fields = withoutNamed(a.fields, hops)
	}
	f, err = a.frame(f, hasLength, method)
	return a, f, keep, err
}

// frame settles how the body of the answer ends.
func (a *answer) frame(f framing, hasLength bool, method string) (framing, error) {
	switch {
	case f.chunked && hasLength:
		return f, garbage("an answer with a length beside chunks")
	case a.status/100 == 1, a.status == 204:
		a.length = 0
		return framing{}, nil
	case method == "HEAD", a.status == 304:
		if a.length = f.length; !hasLength {
			a.length = -1
		}
		return framing{}, nil
	case f.chunked:
		a.length = -1
		return f, nil
	case !hasLength:
		// Its end could not be told from a cut.
		return f, garbage("an answer without a length")
	}
	a.length = f.length
	return f, nil
}

func (a *answer) parseStatus(line string) (http10 bool, err error) {
	version, rest, ok := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(rest, " ")
	if !ok || version != "HTTP/1.1" && version != "HTTP/1.0" || len(code) != 3 {
		return false, garbage("status line %q", clip(line))
	}
	n, err := strconv.Atoi(code)
	if err != nil || n < 100 || n > 599 || n == 101 || !isText([]byte(reason)) {
		return false, garbage("status line %q", clip(line))
	}
	a.status, a.reason = n, reason
	return version == "HTTP/1.0", nil
}

// exchange runs one call on this connection. started reports whether a byte of the
// answer had come when it failed.
func (w *wire) exchange(ctx context.Context, c *call) (a *answer, started bool, err error) {
	stop := context.AfterFunc(ctx, w.kill)
	w.paceReads(w.host.timeout)
	up, err := w.send(c)
	if err != nil && isTimeout(err) {
		stop()
		w.kill()
		return nil, false, w.fault(ctx, err)
	}
	// A node that refuses early stops reading: its answer may be there although the
	// writing failed.
	sendErr := err
	a, keep, started, err := w.receive(c.method)
	if err != nil {
		stop()
		w.kill()
		if !up.finish() && up.source != nil {
			return nil, started, up.source
		}
		if sendErr != nil && !started {
			err = sendErr
		}
		return nil, started, w.fault(ctx, err)
	}
	body := &answerBody{wire: w, up: up, stop: stop, keep: keep && sendErr == nil, ctx: ctx}
	a.body = body
	return a, true, nil
}

// fault names what went wrong on the wire.
func (w *wire) fault(ctx context.Context, err error) error {
	var we *wireError
	switch {
	case errors.As(err, &we):
		return err
	case ctx.Err() != nil:
		return &wireError{faultGone, context.Cause(ctx)}
	case isTimeout(err):
		return &wireError{faultStall, fmt.Errorf("node %s made no progress for %v: %w", w.host.name, w.host.timeout, err)}
	}
	return &wireError{faultCut, fmt.Errorf("node %s: %w", w.host.name, err)}
}

// answerBody reads the body of an answer and settles what becomes of the connection.
type answerBody struct {
	wire *wire
	up   *upload
	stop func() bool
	keep bool
	ctx  context.Context //nolint:containedctx // the body lives no longer than the call that it answers
	once sync.Once
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.wire.body.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // the sticky value of bodyReader
		if errors.Is(err, errCutBody) {
			err = errCutAnswer
		}
		err = b.wire.fault(b.ctx, err)
	}
	return n, err
}

// SourceDone reports whether nothing reads the source of the call any more.
func (b *answerBody) SourceDone() bool { return b.up.sourceDone() }

// Close gives the connection back if both bodies are through, and ends it otherwise:
// the cluster then knows that nobody waits for the rest.
func (b *answerBody) Close() {
	b.once.Do(func() {
		alive := b.stop()
		if !b.up.settle() {
			b.wire.kill()
		}
		b.keep = b.up.finish() && b.keep
		if !alive || !b.keep || !b.wire.body.ended() || b.wire.src.Buffered() > 0 {
			b.wire.kill()
			return
		}
		b.wire.host.put(b.wire)
	})
}
