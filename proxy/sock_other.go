//go:build !linux

package proxy

import "net"

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
