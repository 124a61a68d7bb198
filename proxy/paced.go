package proxy

import (
	"errors"
	"net"
	"os"
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
	left         bool // another goroutine has the say over the deadline of reads
	reads        deadline
	writes       deadline
	inward       tempo // what came is held to it instead
	outward      tempo // and what goes out
	came, went   int64 // bytes in all
	aborted      atomic.Bool
	closing      atomic.Bool // whoever closes it has the say over its deadlines
}

// deadline is one that was set; the zero value is one that is not known.
type deadline struct{ at time.Time }

// renew sets a deadline anew, if the one in force is not as good.
func (d *deadline) renew(set func(time.Time) error, timeout time.Duration) {
	now := time.Now()
	if left := d.at.Sub(now); left <= timeout && left > timeout-timeout/slack {
		return
	}
	if d.at = (time.Time{}); timeout != 0 {
		d.at = now.Add(timeout)
	}
	_ = set(d.at) // fails only on a closed connection, and so will what follows
}

// abort ends a Read that waits on another goroutine, and all that follow.
func (p *paced) abort() {
	p.aborted.Store(true)
	_ = p.Conn.SetReadDeadline(time.Unix(1, 0)) // long past; fails only on a closed connection
}

// CloseWrite tells the far end that nothing more comes.
func (p *paced) CloseWrite() error {
	if half, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// paceReads lets a window start with the next read. What is buffered already needs no
// deadline.
func (p *paced) paceReads(timeout time.Duration) {
	p.readTimeout, p.got, p.due, p.left = timeout, 0, true, false
	p.inward = tempo{}
}

// leaveReads leaves the deadline of reads to another goroutine, until paceReads is called.
// There is none at first.
func (p *paced) leaveReads() {
	p.left, p.reads = true, deadline{}
	_ = p.Conn.SetReadDeadline(time.Time{}) // fails only on a closed connection, and so will what follows
}

// hurryReads holds what comes to a pace, until paceReads is called.
func (p *paced) hurryReads(to pace) { p.inward = tempo{pace: to, moved: p.came} }

// hurryWrites holds what goes out to a pace, until easeWrites is called.
func (p *paced) hurryWrites(to pace) { p.outward = tempo{pace: to, moved: p.went} }

func (p *paced) easeWrites() { p.outward = tempo{} }

func (p *paced) Read(b []byte) (int, error) {
	switch {
	case p.closing.Load(), p.left:
		return p.Conn.Read(b)
	case p.inward.on():
		return p.readInTempo(b)
	case p.due:
		p.due = false
		p.renewReads(p.readTimeout)
	}
	n, err := p.Conn.Read(b)
	p.came += int64(n)
	if p.got += n; p.got >= window {
		p.paceReads(p.readTimeout)
	}
	return n, err
}

func (p *paced) renewReads(timeout time.Duration) {
	p.reads.renew(p.Conn.SetReadDeadline, timeout)
	if p.aborted.Load() {
		p.abort() // whoever came second has the last word
	}
}

// readInTempo is Read for a client that keeps others waiting.
func (p *paced) readInTempo(b []byte) (int, error) {
	for {
		begun := time.Now()
		p.renewReads(p.inward.patience())
		n, err := p.Conn.Read(b)
		p.came += int64(n)
		switch {
		case p.inward.waits(time.Since(begun)) && !p.inward.look(p.came):
			return n, tooSlow{p.inward.pace}
		case n > 0, !errors.Is(err, os.ErrDeadlineExceeded), p.aborted.Load():
			return n, err
		}
	}
}

// Write gives each window its own deadline.
func (p *paced) Write(b []byte) (int, error) {
	switch {
	case p.closing.Load():
		return p.Conn.Write(b)
	case p.outward.on():
		return p.writeInTempo(b)
	}
	total := 0
	for {
		part := b[total:]
		if len(part) > window {
			part = part[:window]
		}
		p.writes.renew(p.Conn.SetWriteDeadline, p.writeTimeout)
		n, err := p.Conn.Write(part)
		p.went += int64(n)
		if total += n; err != nil || total == len(b) {
			return total, err
		}
	}
}

// writeInTempo is Write for a client that keeps the cluster waiting. What the kernel has
// taken, and wants more of by the megabyte, says little about how fast the client is: what
// counts has arrived there.
func (p *paced) writeInTempo(b []byte) (int, error) {
	total := 0
	for {
		begun := time.Now()
		p.writes.renew(p.Conn.SetWriteDeadline, p.outward.patience())
		n, err := p.Conn.Write(b[total:])
		p.went += int64(n)
		total += n
		switch {
		case p.outward.waits(time.Since(begun)) && !p.outward.look(p.went-unsent(p.Conn)):
			return total, tooSlow{p.outward.pace}
		case total == len(b), !errors.Is(err, os.ErrDeadlineExceeded), p.closing.Load():
			return total, err
		}
	}
}
