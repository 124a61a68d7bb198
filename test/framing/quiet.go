package framing

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
)

// quietConn is a connection that can say whether all that was sent to it so far is
// dealt with. A flag beside an ordinary Read could not: between the kernel's handing
// over the bytes and the setting of the flag both would say "nothing to do".
type quietConn struct {
	net.Conn
	raw syscall.RawConn

	mu      sync.Mutex // guards what follows, and is held while bytes are taken from the kernel
	resting bool       // what serves it waits for bytes, or will soon
	ended   bool
}

func newQuietConn(c net.Conn) (*quietConn, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.New("a connection without a socket")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("cannot look at a socket: %w", err)
	}
	return &quietConn{Conn: c, raw: raw}, nil
}

// rest tells that all that was read so far is dealt with.
func (q *quietConn) rest() {
	q.mu.Lock()
	q.resting = true
	q.mu.Unlock()
}

func (q *quietConn) Read(p []byte) (int, error) {
	var n int
	var failed error
	err := q.raw.Read(func(fd uintptr) bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		n, _, failed = syscall.Recvfrom(int(fd), p, syscall.MSG_DONTWAIT)
		if errors.Is(failed, syscall.EAGAIN) {
			return false
		}
		q.resting = false
		q.ended = failed != nil || n <= 0
		return true
	})
	switch {
	case err != nil:
		return 0, err //nolint:wrapcheck // as Read of the connection would say
	case failed != nil:
		return 0, failed
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// quiet reports whether nothing waits in the socket and nothing is being dealt with.
func (q *quietConn) quiet() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.resting || q.ended {
		return false // one that ended leaves the cluster's list when it is dealt with
	}
	empty := false
	err := q.raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		empty = errors.Is(err, syscall.EAGAIN)
	})
	return err == nil && empty
}
