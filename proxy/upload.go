package proxy

import (
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// upload is the writing of a call's body beside the reading of its answer.
type upload struct {
	done   chan struct{}
	source error // what call.body said about its source, if it failed
	err    error // any failure

	abort   func() // ends a read that the source waits in
	stopped atomic.Bool
	drained atomic.Bool // see sourceDone
	ending  atomic.Bool // the last write has begun: from now on the node may have all of the call
	headed  atomic.Bool // the head of the answer is there
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

// grace is how long an upload whose last write has begun may take to end: its goroutine may
// only wait to be scheduled.
const grace = 20 * time.Millisecond

// settle waits that long. It reports whether the upload is over.
func (u *upload) settle() bool {
	if u.over() || !u.ending.Load() {
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
// That is so before the last byte of the call is sent, and long before for a body that guard
// holds.
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

// sourceWriter tells failures of the node's side from those of the client's.
type sourceWriter struct {
	io.Writer
	failed bool
}

func (s *sourceWriter) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.failed = s.failed || err != nil
	return n, err
}

// answerDue gives the answer its time, now that the call is out: before, it was the client
// who was waited for, and the node only had to take what came. One that did not for as long
// as it may, and has not begun to answer, gets no more.
func (w *wire) answerDue(u *upload, err error) {
	if isTimeout(err) && !u.headed.Load() {
		_ = w.Conn.SetReadDeadline(time.Unix(1, 0)) // long past; fails only on a closed connection
		return
	}
	w.renew()
}

// writeBody runs in the goroutine of the upload. A panic of the source ends the call and
// not the process.
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
		body = inParts(c.fixed, func() { u.ending.Store(true) })
	}
	cw := chunkWriter{w.dst}
	to := &sourceWriter{Writer: w.dst}
	defer func() { w.answerDue(u, err) }()
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
	u.ending.Store(true)
	if chunked {
		return cw.Close()
	}
	return w.dst.Flush()
}

// inParts writes b so that each part shows progress, and calls last before the last of them.
// That one is no larger than what is written inline, of which nobody can tell either whether
// an answer came before its end.
func inParts(b []byte, last func()) func(io.Writer) error {
	return func(w io.Writer) error {
		for len(b) > 0 {
			if len(b) <= writeInline {
				last()
			}
			n, err := w.Write(b[:min(len(b), writeInline)])
			if err != nil {
				return err
			}
			b = b[n:]
		}
		return nil
	}
}
