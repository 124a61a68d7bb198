package proxy

import (
	"net"
	"sync/atomic"
	"time"
)

// window is how many bytes must move within a timeout. Steady streams of any length
// live, those that stall or drip end.
const window = 64 << 10

// slack is the part of a timeout by which a deadline may be early: one that was set
// within it is kept, since setting it costs more than a short request can spare.
const slack = 8

// paced is a connection whose deadlines move on with its progress. The zero timeouts
// mean no deadline.
type paced struct {
	net.Conn
	readTimeout  time.Duration
	writeTimeout time.Duration
	got          int  // bytes read in this window
	due          bool // a window starts with the next read from the socket
	reads        deadline
	writes       deadline
	aborted      atomic.Bool
}

// deadline is one that was set.
type deadline struct {
	at     time.Time // when
	length time.Duration
}

// renew sets a deadline anew, if the one in force is not as good.
func (d *deadline) renew(set func(time.Time) error, timeout time.Duration) {
	now := time.Now()
	if d.length == timeout && now.Sub(d.at) < timeout/slack {
		return
	}
	d.at, d.length = now, timeout
	var t time.Time
	if timeout > 0 {
		t = now.Add(timeout)
	}
	_ = set(t) // fails only on a closed connection, and so will what follows
}

// abort ends a Read that waits on another goroutine, and all that follow.
func (p *paced) abort() {
	p.aborted.Store(true)
	_ = p.Conn.SetReadDeadline(time.Unix(1, 0)) // long past; fails only on a closed connection
}

// paceReads lets a window start with the next read. What is buffered already needs no
// deadline.
func (p *paced) paceReads(timeout time.Duration) {
	p.readTimeout, p.got, p.due = timeout, 0, true
}

func (p *paced) Read(b []byte) (int, error) {
	if p.due {
		p.due = false
		p.reads.renew(p.Conn.SetReadDeadline, p.readTimeout)
		if p.aborted.Load() {
			p.abort() // whoever came second has the last word
		}
	}
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
		p.writes.renew(p.Conn.SetWriteDeadline, p.writeTimeout)
		n, err := p.Conn.Write(part)
		if total += n; err != nil || total == len(b) {
			return total, err
		}
	}
}
