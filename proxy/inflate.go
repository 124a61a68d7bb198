package proxy

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	maxRatio  = 250     // inflated bytes for each compressed byte; deflate can reach 1,032
	ratioFrom = 1 << 20 // below this size no ratio is asked for
)

var (
	errBomb     = fmt.Errorf("the compressed body inflates to more than %d times its size", maxRatio)
	errBadGzip  = errors.New("malformed gzip body")
	errTrailing = errors.New("bytes behind the end of the gzip body")
)

// encoding is a content coding that guard reads.
type encoding uint8

const (
	encodingUnknown encoding = iota
	identity
	gzipped
)

func parseEncoding(s string) encoding {
	switch strings.ToLower(s) {
	case "", "identity":
		return identity
	case "gzip", "x-gzip":
		return gzipped
	}
	return encodingUnknown
}

// inflater reads one gzip member and nothing behind it: a second member is read by
// some and not by others.
type inflater struct {
	src   *bufio.Reader
	count countingReader
	zip   *gzip.Reader
	out   int64
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

var inflaters = sync.Pool{New: func() any { return &inflater{zip: new(gzip.Reader), src: bufio.NewReaderSize(nil, 4<<10)} }}

// newInflater returns a reader of the inflated form of r. It must be released.
func newInflater(r io.Reader) (*inflater, error) {
	f := inflaters.Get().(*inflater) //nolint:forcetypeassert // the pool holds nothing else
	f.count, f.out = countingReader{r: r}, 0
	f.src.Reset(&f.count)
	if err := f.zip.Reset(f.src); err != nil {
		f.release()
		return nil, gzipError(err)
	}
	f.zip.Multistream(false)
	return f, nil
}

func (f *inflater) release() {
	f.count.r = nil
	f.src.Reset(nil)
	inflaters.Put(f)
}

func (f *inflater) Read(p []byte) (int, error) {
	n, err := f.zip.Read(p)
	f.out += int64(n)
	switch {
	case f.out > ratioFrom && f.out > maxRatio*f.count.n:
		return 0, errBomb
	case err == nil:
		return n, nil
	case !errors.Is(err, io.EOF):
		return n, gzipError(err)
	}
	switch _, end := f.src.ReadByte(); {
	case end == nil:
		return n, errTrailing
	case !errors.Is(end, io.EOF):
		return n, end
	}
	return n, io.EOF
}

// gzipError keeps faults of the connection and names those of the format.
func gzipError(err error) error {
	if errors.Is(err, errCutBody) || errors.Is(err, errCutAnswer) || isTimeout(err) {
		return err
	}
	var wire *wireError
	if errors.As(err, &wire) {
		return err
	}
	return fmt.Errorf("%w: %w", errBadGzip, err)
}
