//go:build !linux

package proxy

import (
	"io/fs"
	"net"
	"syscall"
)

// narrowSocket does nothing where the mode of a socket says nothing about its file:
// until it is set, the umask bounds it.
func narrowSocket(syscall.RawConn, fs.FileMode) error { return nil }

// watcher notices nothing where poll(2) does not tell of a far end that left: the
// cluster works on until its answer can't be sent.
type (
	watcher struct{}
	watched struct{}
)

func watchable(net.Conn, func()) watched { return watched{} }

func (*watcher) add(*watched)    {}
func (*watcher) remove(*watched) {}
func (*watcher) stop()           {}

// unsent takes what the kernel has for taken.
func unsent(net.Conn) int64 { return 0 }
