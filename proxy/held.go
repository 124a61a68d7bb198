package proxy

import (
	"io"
	"sync"
)

// mostHeld is up to which length an answer is read whole before its first byte is sent:
// fasthttp keeps head and body of so small a one together, so of one that is cut the
// client would not see a byte. It would take the connection for a stale one, and send what
// may have been executed once more.
const mostHeld = 16 << 10 // 16 KiB

// heldBody is a small body that was read whole.
type heldBody struct {
	answerSource
	buf    *[]byte
	rest   []byte // of buf, what is not read yet
	closed sync.Once
}

var heldBuffers = sync.Pool{New: func() any { b := make([]byte, mostHeld); return &b }}

// hold reads the body of a small answer whole. If that fails nothing was passed on, and the
// call has ended.
func (a *answer) hold() error {
	if a.bodiless || a.length <= 0 || a.length > mostHeld {
		return nil
	}
	h := &heldBody{answerSource: a.body, buf: heldBuffers.Get().(*[]byte)} //nolint:forcetypeassert // the pool holds nothing else
	h.rest = (*h.buf)[:a.length]
	whole := false
	defer func() {
		if !whole {
			h.Close()
		}
	}()
	if _, err := io.ReadFull(a.body, h.rest); err != nil {
		return err
	}
	whole, a.body = true, h
	if h.SourceDone() {
		h.answerSource.Close() // a client that does not read holds no connection of the cluster
	}
	return nil
}

// Read gives what was read.
func (h *heldBody) Read(p []byte) (int, error) {
	if len(h.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

// Close ends the call.
func (h *heldBody) Close() {
	h.closed.Do(func() {
		h.answerSource.Close()
		h.rest = nil
		heldBuffers.Put(h.buf)
	})
}
