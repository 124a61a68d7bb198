//go:build unix

package proxy

import (
	"errors"
	"syscall"
)

// lookAt notes what waits in the socket of w, without taking it.
func (w *wire) lookAt(fd uintptr) {
	n, _, err := syscall.Recvfrom(int(fd), w.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	switch {
	case errors.Is(err, syscall.EAGAIN):
		w.found = silent
	case err == nil && n > 0:
		w.found = spoken
	default:
		w.found = ended
	}
}
