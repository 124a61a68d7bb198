package proxy

import (
	"net"

	"golang.org/x/sys/unix"
)

// unsent returns how many bytes lie in a socket that the far end has not taken.
func unsent(c net.Conn) int64 {
	n := 0
	if raw, ok := rawConn(c); ok {
		_ = raw.Control(func(fd uintptr) {
			if q, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
				n = q
			}
		})
	}
	return int64(n)
}
