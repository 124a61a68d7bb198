package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
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
	claim
	host *host
	made *generation // what it was opened with; no newer password goes out under CAs that were replaced
	era  int64       // of the node, when it was opened
	src  *bufio.Reader
	dst  *bufio.Writer
	idle time.Time // since when it lies in the pool
	body bodyReader
	buf  []byte
	dead atomic.Bool

	cluster string // that it has proved to lead to; see node_look.go
	bare    bool   // it has no slot to give back

	sent    bool          // the socket was given something of the call
	opening chan struct{} // of a call with an upload: closed when it is

	raw   syscall.RawConn // the socket, for rest; nil if there is none to look at
	look  func(uintptr)   // lookAt, bound once
	found rest            // what it saw last
	one   [1]byte         // what it read
}

func newWire(c net.Conn, h *host, made *generation) *wire {
	w := &wire{paced: paced{Conn: c}, host: h, made: made, era: h.era.Load()}
	w.writeTimeout = h.timeout
	w.raw, _ = rawConn(c)
	w.look = w.lookAt
	w.src = bufio.NewReaderSize(&w.paced, 16<<10)
	w.dst = bufio.NewWriterSize((*outlet)(w), 16<<10)
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

// current reports whether it is as good as a new connection: one would be opened with the
// same, and nothing has made those of its time doubtful.
func (w *wire) current() bool { return w.made == w.host.shown.load() && w.era == w.host.era.Load() }

// kill ends the connection, and whatever reads or writes on it, and frees its slot. It is
// reset, for what was under way on it is given up: a connection that guard closes first
// would hold its port for a minute, and there are not many of them.
func (w *wire) kill() {
	w.resetOnClose()
	if w.shut() && !w.bare {
		w.host.drop(w.claim)
	}
}

func (w *wire) resetOnClose() {
	c := w.Conn
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // fails only on a closed connection
	}
}

// shut ends the connection alone. It reports whether it was open.
func (w *wire) shut() bool {
	if w.dead.Swap(true) {
		return false
	}
	_ = w.Conn.Close()
	return true
}

// renew gives the answer its full time again. It may be called beside a Read.
func (w *wire) renew() {
	if t := w.host.timeout; t > 0 {
		_ = w.Conn.SetReadDeadline(time.Now().Add(t)) // fails only on a closed connection
	}
}

// outlet is a connection as dst writes to it.
type outlet wire

// Write looks once more whether the connection is at rest before the first byte of a call
// that may have waited for its client: what came before that byte is no answer to it.
// From then on the answer may come, and has time until the call is out.
func (o *outlet) Write(p []byte) (int, error) {
	w := (*wire)(o)
	if w.opening == nil || w.sent {
		w.sent = true
		return w.paced.Write(p)
	}
	if w.unrest() {
		return 0, errUnrest
	}
	w.leaveReads()
	w.sent = true
	close(w.opening)
	return w.paced.Write(p)
}

// errUnrest ends a call of which nothing was sent.
var errUnrest = errors.New("the connection ended, or bytes came on it, before the call was sent")

// unrest reports whether the connection is of no use for a call that was given to it.
func (w *wire) unrest() bool {
	switch w.rest() {
	case silent:
		return false
	case spoken:
		w.host.surplus()
		return true
	default:
		return !w.idle.IsZero() // of a new one nobody may be able to tell
	}
}

// send writes head and body. A large or streamed body is written by a goroutine that
// upload.done waits for, since the node may answer before it has read it.
func (w *wire) send(c *call) (*upload, error) {
	w.sent, w.opening = false, nil
	large := c.body != nil || len(c.fixed) > writeInline
	if large {
		w.opening = make(chan struct{})
	}
	w.buf = w.appendHead(w.buf[:0], c)
	if _, err := w.dst.Write(w.buf); err != nil {
		return nil, err
	}
	if !large {
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

func (w *wire) appendHead(b []byte, c *call) []byte {
	b = append(b, c.method...)
	b = append(b, ' ')
	b = append(b, c.target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, w.host.name...)
	b = append(b, "\r\n"...)
	if !c.anonymous {
		b = append(b, w.made.account...)
	}
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

// awaitAnswer receives the head of the answer, once the call has begun to go out: until
// then there can be none.
func (w *wire) awaitAnswer(ctx context.Context, c *call, up *upload) (a *answer, keep, started bool, err error) {
	if up != nil {
		select {
		case <-w.opening:
		case <-up.done:
			if !w.sent {
				return nil, false, false, up.err
			}
		case <-ctx.Done():
			return nil, false, false, ctx.Err()
		}
	}
	return w.receive(c.method)
}

// paceAnswer holds what is left of an answer to progress. Only the time counts in which
// guard waits for the node: the client may take a long answer as slowly as it is let.
func (w *wire) paceAnswer(a *answer, up *upload) {
	if up != nil {
		up.headed.Store(true)
		w.paceReads(w.host.timeout)
	}
	if t := w.host.timeout; t > 0 && (a.length < 0 || a.length > window) {
		w.hurryReads(pace{rate: max(int64(window/t.Seconds()), 1), stall: t})
	}
}

// exchange runs one call on this connection.
func (w *wire) exchange(ctx context.Context, c *call) (*answer, error) {
	stop := context.AfterFunc(ctx, w.kill)
	w.paceReads(w.host.timeout)
	up, err := w.send(c)
	if err != nil && (isTimeout(err) || errors.Is(err, errUnrest)) {
		stop()
		w.kill()
		return nil, w.fault(ctx, err)
	}
	// A node that refuses early stops reading: its answer may be there although the
	// writing failed.
	sendErr := err
	if sendErr != nil {
		w.renew()
	}
	a, keep, started, err := w.awaitAnswer(ctx, c, up)
	if err != nil {
		stop()
		w.kill()
		if !up.finish() && up.source != nil {
			return nil, up.source
		}
		if sendErr != nil && !started {
			err = sendErr
		}
		return nil, w.fault(ctx, err)
	}
	w.paceAnswer(a, up)
	// What still follows of a request that was answered early, a node may take for the next one.
	keep = keep && sendErr == nil && !a.early() && up.settle()
	a.body = &answerBody{wire: w, up: up, stop: stop, keep: keep, ctx: ctx}
	return a, nil
}

// fault names what went wrong on the wire.
func (w *wire) fault(ctx context.Context, err error) error {
	var we *wireError
	switch {
	case errors.As(err, &we):
		return err
	case ctx.Err() != nil && !w.sent:
		return givenUp(ctx)
	case ctx.Err() != nil:
		return &wireError{faultGone, context.Cause(ctx)}
	case errors.Is(err, errUnrest):
		return &wireError{faultConnect, fmt.Errorf("node %s: %w", w.host.name, err)}
	case isTimeout(err) && !errors.Is(err, syscall.ETIMEDOUT): // that one is the kernel's: the node is gone
		return &wireError{faultStall, fmt.Errorf("node %s made no progress for %v: %w", w.host.name, w.host.timeout, err)}
	}
	return &wireError{faultCut, fmt.Errorf("node %s: %w", w.host.name, err)}
}
