package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	maxRatio  = 250     // inflated bytes for each compressed byte; deflate can reach 1,032, zstd more
	ratioFrom = 1 << 20 // below this size no ratio is asked for
)

var (
	errBomb      = fmt.Errorf("the compressed body inflates to more than %d times its size", maxRatio)
	errBadCoding = errors.New("malformed compressed body")
	errTrailing  = errors.New("bytes behind the end of the compressed body")
)

// inflater reads one compressed body and nothing behind it: a second member or frame is
// read by some and not by others.
type inflater struct {
	pool   *sync.Pool // where it goes when it is released
	source countingReader
	src    *bufio.Reader
	dec    decoder
	out    int64
}

func inflaterOf(d decoder) *inflater { return &inflater{dec: d, src: bufio.NewReaderSize(nil, 4<<10)} }

// countingReader counts what it reads and keeps a fault of its source, which is then not
// one of the coding.
type countingReader struct {
	r   io.Reader
	n   int64
	err error
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// newInflater returns a reader of the inflated form of r, whose memory comes from the
// share. It must be released.
func newInflater(r io.Reader, c coding, s *share) (*inflater, error) {
	f := inflaters[c].Get().(*inflater) //nolint:forcetypeassert // the pools hold nothing else
	f.pool, f.source, f.out = inflaters[c], countingReader{r: r}, 0
	f.src.Reset(&f.source)
	memory, err := f.dec.start(f.src)
	if err != nil {
		err = f.fault(err)
	} else {
		err = s.take(memory)
	}
	if err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// release must be called once.
func (f *inflater) release() {
	f.source = countingReader{}
	f.src.Reset(nil)
	if f.dec.reset() {
		f.pool.Put(f)
	}
}

func (f *inflater) Read(p []byte) (int, error) {
	n, err := f.dec.Read(p)
	f.out += int64(n)
	switch {
	case f.out > ratioFrom && f.out > maxRatio*f.source.n:
		return 0, errBomb
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		return n, f.fault(err)
	}
	switch _, end := f.src.ReadByte(); {
	case end == nil:
		return n, errTrailing
	case !errors.Is(end, io.EOF):
		return n, end
	}
	return n, io.EOF
}

// fault tells what is wrong with the body from what is wrong with its source.
func (f *inflater) fault(err error) error {
	if f.source.err != nil {
		return f.source.err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // it ends before it began
	}
	return fmt.Errorf("%w: %w", errBadCoding, err)
}
