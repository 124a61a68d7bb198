package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
)

// quiet reports whether a pooled connection is open with nothing to read. One that the
// node closed meanwhile would lose a write, and guard must not repeat writes.
func (w *wire) quiet() bool {
	raw, ok := rawConn(w.Conn)
	if !ok {
		return true
	}
	alive := false
	err := raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		alive = errors.Is(err, syscall.EAGAIN)
	})
	return err == nil && alive
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
