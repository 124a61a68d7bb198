package proxy

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

const (
	readBuffer = 4 << 10
	keptBlock  = 16 << 10 // of a head; what has grown beyond is not used again
	restAfter  = time.Second
)

// reading is what a connection reads requests with. One that has waited for restAfter has
// none, since thousands may wait: those at work pay nothing for that, the others a read of
// one byte.
type reading struct {
	src   *bufio.Reader
	block []byte // the head being read
}

var readings = sync.Pool{New: func() any { return &reading{src: bufio.NewReaderSize(nil, readBuffer)} }}

// inlet is a connection as src reads from it: the byte that ended the wait, then the flow.
type inlet conn

func (i *inlet) Read(p []byte) (int, error) {
	if !i.woken || len(p) == 0 {
		return i.flow.Read(p)
	}
	i.woken = false
	return copy(p, i.first[:]), nil
}

// awaitFirst waits for the first byte of a request.
func (c *conn) awaitFirst(idle time.Duration) error {
	c.head, c.body.src = head{}, nil // of the last one
	if c.reading != nil {
		c.paceReads(min(idle, restAfter))
		_, err := c.src.Peek(1)
		if !errors.Is(err, os.ErrDeadlineExceeded) || idle <= restAfter {
			return err
		}
		c.rest()
		idle -= restAfter
	}
	c.paceReads(idle)
	if n, err := c.flow.Read(c.first[:]); n == 0 {
		return firstError(err, io.ErrNoProgress)
	}
	c.woken = true
	c.reading = readings.Get().(*reading) //nolint:forcetypeassert // the pool holds nothing else
	c.src.Reset((*inlet)(c))
	return nil
}

// rest gives back what is not needed until a request comes.
func (c *conn) rest() {
	r := c.reading
	c.reading = nil
	r.src.Reset(nil)
	if cap(r.block) > keptBlock {
		r.block = nil
	}
	readings.Put(r)
}
