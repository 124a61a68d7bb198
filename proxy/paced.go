package proxy

import (
	"net"
	"sync/atomic"
	"time"
)

// window is how many bytes must move within a timeout. Steady streams of any length
// live, those that stall or drip end.
const window = 64 << 10

// paced is a connection whose deadlines move on with its progress. The zero timeouts
// mean no deadline.
type paced struct {
	net.Conn
	readTimeout  time.Duration
	writeTimeout time.Duration
	got          int // bytes read in this window
	aborted      atomic.Bool
}

// abort ends a Read that waits on another goroutine, and all that follow.
func (p *paced) abort() {
	p.aborted.Store(true)
	_ = p.Conn.SetReadDeadline(time.Unix(1, 0)) // long past; fails only on a closed connection
}

// paceReads starts a window for reading now.
func (p *paced) paceReads(timeout time.Duration) {
	p.readTimeout, p.got = timeout, 0
	var t time.Time
	if timeout > 0 {
		t = time.Now().Add(timeout)
	}
	_ = p.Conn.SetReadDeadline(t) // fails only on a closed connection, and so will the read
	if p.aborted.Load() {
		p.abort() // whoever came second has the last word
	}
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if p.got += n; p.got >= window {
		p.paceReads(p.readTimeout)
	}
	return n, err
}

// Write gives each window its own deadline.
func (p *paced) Write(b []byte) (int, error) {
	total := 0
	for {
		part := b[total:]
		if len(part) > window {
			part = part[:window]
		}
		if p.writeTimeout > 0 {
			_ = p.Conn.SetWriteDeadline(time.Now().Add(p.writeTimeout))
		}
		n, err := p.Conn.Write(part)
		if total += n; err != nil || total == len(b) {
			return total, err
		}
	}
}
