package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func TestBodyReader(t *testing.T) {
	f := func(raw string, fr framing, want string, wantErr error) {
		t.Helper()
		for _, src := range []io.Reader{strings.NewReader(raw), iotest.OneByteReader(strings.NewReader(raw))} {
			var b bodyReader
			br := bufio.NewReader(src)
			b.reset(br, fr)
			got, err := io.ReadAll(&b)
			if string(got) != want || !errors.Is(err, wantErr) {
				t.Errorf("%q: got %q, %v; want %q, %v", raw, got, err, want, wantErr)
			}
			rest, _ := io.ReadAll(br)
			if wantErr == nil && string(rest) != "NEXT" {
				t.Errorf("%q: %q is left; want NEXT", raw, rest)
			}
		}
	}
	ch := framing{chunked: true}
	f("NEXT", framing{}, "", nil)
	f("helloNEXT", framing{length: 5}, "hello", nil)
	f("hell", framing{length: 5}, "hell", errCutBody)
	f("0\r\n\r\nNEXT", ch, "", nil)
	f("5\r\nhello\r\n1;x=y\r\n!\r\n000\r\nA: b\r\nC: d\r\n\r\nNEXT", ch, "hello!", nil)
	f("A\r\n0123456789\r\n0\r\n\r\nNEXT", ch, "0123456789", nil)
	f("5\r\nhel", ch, "hel", errCutBody)
	f("5\r\nhello\r\n", ch, "hello", errCutBody)
	f("5\r\nhello\r\n0\r\n", ch, "hello", errBadFooter)
	f("5\r\nhelloX\r\n", ch, "hello", errBadChunk)
	f("5\nhello", ch, "", errBadChunk)
	f("g\r\n", ch, "", errBadChunk)
	f("\r\n", ch, "", errBadChunk)
	f("000000005\r\nhello", ch, "", errBadChunk)
	f("5;"+strings.Repeat("x", 300)+"\r\nhello", ch, "", errBadChunk)
	f("0\r\n"+strings.Repeat("A: b\r\n", 2000)+"\r\n", ch, "", errBadFooter)
	f("0\r\nno colon\r\n\r\n", ch, "", errBadFooter)
}

// TestBodyReaderReset holds that a reset inside a body is the end of the connection, as a
// FIN there is, and that a deadline stays one.
func TestBodyReaderReset(t *testing.T) {
	f := func(cause, want error) {
		t.Helper()
		for raw, fr := range map[string]framing{"hel": {length: 5}, "5\r\nhel": {chunked: true}, "5\r": {chunked: true}} {
			var b bodyReader
			b.reset(bufio.NewReader(io.MultiReader(strings.NewReader(raw), iotest.ErrReader(cause))), fr)
			if _, err := io.ReadAll(&b); !errors.Is(err, want) {
				t.Errorf("%q and then %v: got %v; want %v", raw, cause, err, want)
			}
		}
	}
	f(syscall.ECONNRESET, errCutBody)
	f(os.ErrDeadlineExceeded, os.ErrDeadlineExceeded)
}

// FuzzChunks holds two laws: what the reader accepts, the standard library reads as the
// same bytes; and what the writer writes, the reader reads.
func FuzzChunks(f *testing.F) {
	f.Add([]byte("5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"))
	f.Add([]byte("5\r\nhello\r\n00\r\n\r\n"))
	f.Add([]byte("100000000000000005\r\nhello\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b bodyReader
		b.reset(bufio.NewReader(bytes.NewReader(raw)), framing{chunked: true})
		if got, err := io.ReadAll(&b); err == nil {
			want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(raw)))
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q: got %q; the standard library says %q, %v", raw, got, want, err)
			}
		}
		var wire bytes.Buffer
		cw := chunkWriter{bufio.NewWriter(&wire)}
		for part := range bytes.SplitSeq(raw, []byte("\n")) {
			_, _ = cw.Write(part) // a buffer takes all
		}
		_ = cw.Close()
		b.reset(bufio.NewReader(&wire), framing{chunked: true})
		got, err := io.ReadAll(&b)
		if want := bytes.ReplaceAll(raw, []byte("\n"), nil); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q was written and read as %q, %v", want, got, err)
		}
	})
}
