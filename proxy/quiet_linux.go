package proxy

import (
	"errors"
	"syscall"
)

// quiet reports whether a pooled connection is open with nothing to read. One that the
// node closed meanwhile would lose a write, and guard must not repeat writes.
func (w *wire) quiet() bool {
	if w.raw == nil {
		return true
	}
	alive := false
	err := w.raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		alive = errors.Is(err, syscall.EAGAIN)
	})
	return err == nil && alive
}
