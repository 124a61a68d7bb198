package proxy

import (
	"io/fs"
	"syscall"
)

// narrowSocket bounds the mode of the file that a socket will be bound to.
func narrowSocket(raw syscall.RawConn, mode fs.FileMode) error {
	var err error
	ctlErr := raw.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), uint32(mode.Perm())) })
	return firstError(ctlErr, err)
}
