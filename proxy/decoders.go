package proxy

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"io"

	"github.com/klauspost/compress/zstd"
)

// deflateMemory is what reading a deflate stream takes: 32 KiB of window, and tables.
const deflateMemory = 64 << 10

// gzipMember reads one member of RFC 1952.
type gzipMember struct{ gzip.Reader }

func (g *gzipMember) start(src *bufio.Reader) (int64, error) {
	if err := g.Reset(src); err != nil {
		return 0, err
	}
	g.Multistream(false)
	return deflateMemory, nil
}

func (g *gzipMember) reset() bool {
	_ = g.Reset(noBytes{}) // fails, for there is no member in it
	return true
}

// noBytes is the source of a decoder that waits for one.
type noBytes struct{}

func (noBytes) Read([]byte) (int, error) { return 0, io.EOF }
func (noBytes) ReadByte() (byte, error)  { return 0, io.EOF }

// deflateStream reads what goes by the name of deflate: a zlib stream (RFC 1950), or a
// bare deflate stream (RFC 1951), which some clients send and the nodes take as well.
type deflateStream struct {
	src   *bufio.Reader
	flate interface {
		io.Reader
		flate.Resetter
	}
	zlib bool
	sum  hash.Hash32 // of what was read, if it is zlib
}

func newDeflateStream() *deflateStream {
	d := &deflateStream{sum: adler32.New()}
	d.flate = flate.NewReader(noBytes{}).(interface { //nolint:forcetypeassert // documented
		io.Reader
		flate.Resetter
	})
	return d
}

var errDictionary = errors.New("it wants a dictionary")

// isZlib reports whether a stream starts with the header of zlib: method 8, a window of at
// most 32 KiB, a multiple of 31. No encoder begins a bare stream so: it would be a stored
// block whose padding is not zero.
func isZlib(head uint16) bool { return head&0x0f00 == 0x0800 && head>>12 <= 7 && head%31 == 0 }

func (d *deflateStream) start(src *bufio.Reader) (int64, error) {
	head, err := src.Peek(2)
	if err != nil {
		return 0, err
	}
	d.src, d.zlib = src, isZlib(binary.BigEndian.Uint16(head))
	if d.zlib {
		if head[1]&0x20 != 0 {
			return 0, errDictionary
		}
		_, _ = src.Discard(2) // they were there
		d.sum.Reset()
	}
	return deflateMemory, d.flate.Reset(src, nil)
}

func (d *deflateStream) Read(p []byte) (int, error) {
	n, err := d.flate.Read(p)
	if !d.zlib {
		return n, err
	}
	_, _ = d.sum.Write(p[:n]) // never fails
	if errors.Is(err, io.EOF) {
		return n, firstError(d.check(), io.EOF)
	}
	return n, err
}

// check reads the sum behind the stream.
func (d *deflateStream) check() error {
	var sum [4]byte
	if _, err := io.ReadFull(d.src, sum[:]); err != nil {
		return io.ErrUnexpectedEOF
	}
	if binary.BigEndian.Uint32(sum[:]) != d.sum.Sum32() {
		return errors.New("its sum is wrong")
	}
	return nil
}

func (d *deflateStream) reset() bool {
	d.src = nil
	_ = d.flate.Reset(noBytes{}, nil) // only reading fails
	return true
}

const (
	maxWindow  = 8 << 20   // of zstd; RFC 9659 allows no more over HTTP
	keptWindow = 2 << 20   // a decoder with a larger one is not kept; it is that of zstd's default level
	zstdBlocks = 512 << 10 // what a decoder holds beside its window
)

// zstdFrame reads one frame of RFC 8878. It finds the end of the frame itself: the library
// goes on with the next one.
type zstdFrame struct {
	src      *bufio.Reader
	dec      *zstd.Decoder
	left     int64 // bytes of the header, of this block or of the checksum still to be read
	last     bool  // this is the last block
	checksum bool  // a checksum is still to come
	largest  int64 // window that the decoder has had
}

func newZstdFrame() *zstdFrame {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), // no goroutines
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		panic("BUG: options of the zstd decoder: " + err.Error())
	}
	return &zstdFrame{dec: dec}
}

func (z *zstdFrame) start(src *bufio.Reader) (int64, error) {
	begin, err := src.Peek(zstd.HeaderMaxSize)
	if err != nil && !errors.Is(err, io.EOF) { // a short frame ends before
		return 0, err
	}
	var h zstd.Header
	if err := h.Decode(begin); err != nil {
		return 0, err
	}
	window := h.WindowSize
	if h.SingleSegment {
		window = h.FrameContentSize
	}
	switch {
	case h.Skippable:
		return 0, errors.New("it begins with a frame without content")
	case h.DictionaryID != 0:
		return 0, errDictionary
	case window > maxWindow:
		return 0, fmt.Errorf("a window of %d bytes; want at most %d", window, maxWindow)
	}
	z.src, z.left, z.last, z.checksum = src, int64(h.HeaderSize), false, h.HasCheckSum
	z.largest = max(z.largest, int64(window))
	return int64(window) + zstdBlocks, z.dec.Reset((*zstdSource)(z))
}

func (z *zstdFrame) Read(p []byte) (int, error) { return z.dec.Read(p) }

func (z *zstdFrame) reset() bool {
	z.src = nil
	_ = z.dec.Reset(nil) // as documented, it does not fail
	return z.largest <= keptWindow
}

// zstdSource gives the bytes of the frame to the decoder, and none behind it.
type zstdSource zstdFrame

func (z *zstdSource) Read(p []byte) (int, error) {
	if z.left == 0 {
		if err := z.next(); err != nil {
			return 0, err
		}
	}
	n, err := z.src.Read(p[:min(int64(len(p)), z.left)])
	z.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// The types of a block, and the length of its header.
const (
	rleBlock        = 1
	blockHeaderSize = 3
)

// next looks at what follows the header or a block; io.EOF at the end of the frame.
func (z *zstdSource) next() error {
	switch {
	case !z.last:
		head, err := z.src.Peek(blockHeaderSize)
		if err != nil {
			return io.ErrUnexpectedEOF
		}
		bits := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
		size := bits >> 3
		if bits>>1&3 == rleBlock {
			size = 1 // one byte, repeated
		}
		z.last, z.left = bits&1 != 0, blockHeaderSize+size
	case z.checksum:
		z.checksum, z.left = false, 4
	default:
		return io.EOF
	}
	return nil
}
