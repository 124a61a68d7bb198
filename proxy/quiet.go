package proxy

import (
	"crypto/tls"
	"time"
)

// rest is what is found in a connection that carries no call.
type rest int

const (
	ended  rest = iota // zero value: nothing can be sent on it any more, or nobody can tell
	silent             // it is open, with nothing to read
	spoken             // bytes that no call has asked for
)

// rest looks at a pooled connection before a call is given to it. The next answer that is
// read there goes to the caller, so there must be none yet: a node may have sent one too
// many, or the body that it left out before, or a 408 because it means to end the
// connection. And a write is lost on one that has ended. What comes once the first byte of the
// call is sent can't be told from an early answer: HTTP/1 gives answers no name. Against that
// stands that no call has two meanings (framing.md), and surplus.
func (w *wire) rest() rest {
	w.found = ended
	if w.raw == nil || w.raw.Control(w.look) != nil {
		return ended
	}
	if w.src.Buffered() > 0 {
		return spoken
	}
	secured, ok := w.Conn.(*tls.Conn)
	switch {
	case !ok:
		return w.found
	case w.found != silent:
		return ended // whatever the record says: mostly it is the end
	}
	return w.restOf(secured)
}

// restOf looks at what TLS has taken from the socket already. The deadline has passed, so
// nothing is taken in addition.
func (w *wire) restOf(c *tls.Conn) rest {
	w.reads = deadline{} // the next read sets its own
	_ = c.SetReadDeadline(time.Unix(1, 0))
	n, err := c.Read(w.one[:])
	switch {
	case n > 0:
		return spoken
	case isTimeout(err):
		return silent
	}
	return ended
}

// surplus notes that more came on a connection than the answers to its calls. None that
// was open until now carries a further call: where a request was taken for two, the second
// answer may still be under way on another one. It does not speak against the node as a
// fault does: who stands before it may end connections with a word of its own.
func (h *host) surplus() {
	n := h.nodes
	n.surplus.Add(1)
	h.era.Add(1)
	n.mu.Lock()
	idle := h.release()
	n.serve()
	n.mu.Unlock()
	shutAll(idle)
}
