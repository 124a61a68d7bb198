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

// quiet can't be told without Linux's non-blocking peek: a write on a connection that
// the node has just closed ends as unknown.
func (w *wire) quiet() bool { return true }

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
