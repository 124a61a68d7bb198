package proxy

import (
	"bufio"
	"errors"
	"io"
	"strconv"
)

var (
	errCutBody   = errors.New("the connection ended inside the body")
	errBadChunk  = errors.New("malformed chunk; want a size in hex, CRLF, that many bytes, CRLF")
	errBadFooter = errors.New("malformed or too long trailer")
)

const (
	maxChunkLine = 256     // bytes of a chunk-size line with its extension
	maxTrailer   = 4 << 10 // bytes of all trailers; they are dropped
	maxChunkHex  = 8       // digits: a chunk has less than 4 GiB
)

// bodyReader reads the body of one message and not a byte behind it. Chunk extensions
// and trailers are checked for their shape and dropped.
type bodyReader struct {
	src     *bufio.Reader
	left    int64 // bytes until the end of the body, or of the chunk
	chunked bool
	open    bool  // a chunk has begun whose CRLF is still to come
	err     error // sticky; io.EOF at the proper end
}

func (b *bodyReader) reset(src *bufio.Reader, f framing) {
	*b = bodyReader{src: src, chunked: f.chunked}
	if f.chunked {
		return
	}
	if b.left = f.length; b.left == 0 {
		b.err = io.EOF
	}
}

// ended reports whether the whole body was read, so that the next byte of the
// connection belongs to the next message.
func (b *bodyReader) ended() bool { return b.err == io.EOF } //nolint:errorlint // our own sticky value

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.err == nil && b.chunked && b.left == 0 {
		b.err = b.nextChunk()
	}
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.src.Read(p)
	b.left -= int64(n)
	switch {
	case err != nil:
		b.err = sourceError(err)
	case b.left == 0 && !b.chunked:
		b.err = io.EOF
	}
	if n > 0 && b.err != io.EOF { //nolint:errorlint // our own sticky value
		return n, nil // an error is told by the next call
	}
	return n, b.err
}

// nextChunk reads up to the data of the next chunk; io.EOF after the last one.
func (b *bodyReader) nextChunk() error {
	if b.open {
		if line, err := b.line(2); err != nil || len(line) != 0 {
			return firstError(err, errBadChunk)
		}
	}
	line, err := b.line(maxChunkLine)
	if err != nil {
		return err
	}
	n, err := parseChunkSize(line)
	if err != nil {
		return err
	}
	if n == 0 {
		return b.trailer()
	}
	b.open, b.left = true, n
	return nil
}

// trailer reads and drops trailers: they never become headers.
func (b *bodyReader) trailer() error {
	for room := maxTrailer; room > 0; {
		line, err := b.line(room)
		if err != nil {
			return errBadFooter
		}
		if len(line) == 0 {
			return io.EOF
		}
		if _, err := parseField(string(line)); err != nil {
			return errBadFooter
		}
		room -= len(line) + 2
	}
	return errBadFooter
}

// line reads a line that ends in CRLF and has at most limit bytes with it.
func (b *bodyReader) line(limit int) ([]byte, error) {
	line, err := b.src.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errBadChunk
	case err != nil:
		return nil, sourceError(err)
	}
	if n := len(line); n >= 2 && n <= limit && line[n-2] == '\r' {
		return line[:n-2], nil
	}
	return nil, errBadChunk
}

// sourceError is what a failed read means: a connection that was reset inside a body
// ended there like one that was closed. What comes too late is a fault of its own.
func sourceError(err error) error {
	if isTimeout(err) {
		return err
	}
	return errCutBody
}

// parseChunkSize reads "1a2b" or "1a2b;extension". More digits than maxChunkHex are
// refused even if they are zeros: OpenSearch cuts long sizes silently.
func parseChunkSize(line []byte) (int64, error) {
	digits := 0
	for digits < len(line) && isHex(line[digits]) {
		digits++
	}
	if digits == 0 || digits > maxChunkHex {
		return 0, errBadChunk
	}
	if ext := line[digits:]; len(ext) > 0 && (ext[0] != ';' || !isText(ext)) {
		return 0, errBadChunk
	}
	n, err := strconv.ParseUint(string(line[:digits]), 16, 32)
	if err != nil {
		return 0, errBadChunk
	}
	return int64(n), nil
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// firstError returns err, or fallback if err is nil.
func firstError(err, fallback error) error {
	if err != nil {
		return err
	}
	return fallback
}

// chunkWriter writes a body in chunks. Close writes the last one; a body that is not
// closed is cut, and whoever reads it knows.
type chunkWriter struct{ w *bufio.Writer }

func (c chunkWriter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil // an empty chunk would be the last one
	}
	var size [18]byte
	line := append(strconv.AppendUint(size[:0], uint64(len(p)), 16), '\r', '\n')
	if _, err := c.w.Write(line); err != nil {
		return 0, err
	}
	n, err := c.w.Write(p)
	if err != nil {
		return n, err
	}
	_, err = c.w.WriteString("\r\n")
	return n, err
}

func (c chunkWriter) Close() error {
	if _, err := c.w.WriteString("0\r\n\r\n"); err != nil {
		return err
	}
	return c.w.Flush()
}
