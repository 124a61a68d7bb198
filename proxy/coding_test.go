package proxy

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"guard/gate"
	"guard/internal/ask"
)

// compressors make what a client sends in each coding; deflate goes by two forms.
var compressors = []struct {
	name, header string
	coding       coding
	compress     func(string) string
}{
	{"gzip", "gzip", gzipped, zip},
	{"x-gzip", "X-GZip", gzipped, zip},
	{"zlib", "deflate", deflated, func(s string) string {
		return written(s, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
	}},
	{"bare deflate", "x-deflate", deflated, func(s string) string {
		return written(s, func(w io.Writer) io.WriteCloser {
			d, _ := flate.NewWriter(w, 6)
			return d
		})
	}},
	{"zstd", "zstd", zstandard, zstdOf()},
	{"zstd without sum", "ZSTD", zstandard, zstdOf(zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedFastest))},
	{"zstd in one segment", "zstd", zstandard, zstdOf(zstd.WithSingleSegment(true))},
}

func written(s string, to func(io.Writer) io.WriteCloser) string {
	var b bytes.Buffer
	w := to(&b)
	_, _ = io.WriteString(w, s) // a buffer takes all
	_ = w.Close()
	return b.String()
}

func zstdOf(options ...zstd.EOption) func(string) string {
	options = append([]zstd.EOption{zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1 << 20)}, options...)
	return func(s string) string {
		e, err := zstd.NewWriter(nil, options...)
		if err != nil {
			panic(err)
		}
		return string(e.EncodeAll([]byte(s), nil))
	}
}

// plentyOf is a share of a budget that is not used up.
func plentyOf(n int64) *share {
	b := &budget{each: n}
	b.left.Store(n)
	return &share{from: b}
}

// inflate reads a whole body; the source gives a few bytes at a time.
func inflate(body string, c coding) (string, error) {
	s := plentyOf(1 << 30)
	defer s.release()
	f, err := newInflater(struct{ io.Reader }{strings.NewReader(body)}, c, s)
	if err != nil {
		return "", err
	}
	defer f.release()
	out, err := io.ReadAll(io.LimitReader(f, 64<<20))
	return string(out), err
}

func TestInflate(t *testing.T) {
	fails := func(name, body string, c coding, want error) {
		t.Helper()
		if out, err := inflate(body, c); !errors.Is(err, want) {
			t.Errorf("%s: got %.40q, %v; want %v", name, out, err, want)
		}
	}
	texts := []string{"", "a", `{"a":1}`, strings.Repeat(`{"a":1}`, 100000), string(patternText) + noise(1<<20)}
	for _, k := range compressors {
		if parseCoding(k.header) != k.coding {
			t.Errorf("%s is taken for %d", k.header, parseCoding(k.header))
		}
		for _, text := range texts {
			if out, err := inflate(k.compress(text), k.coding); out != text || err != nil {
				t.Errorf("%s of %.20q: got %.20q, %v", k.name, text, out, err)
			}
		}
		whole := k.compress(`{"a":1}`)
		for n := range len(whole) {
			fails(k.name+", cut", whole[:n], k.coding, errBadCoding)
		}
		fails(k.name+", longer", whole+"x", k.coding, errTrailing)
		fails(k.name+", twice", whole+whole, k.coding, errTrailing)
		fails(k.name+", plain", `{"a":1}`, k.coding, errBadCoding)
		fails(k.name+", bomb", k.compress(strings.Repeat("\x00", 4<<20)), k.coding, errBomb)
	}
	sound := compressors[2].compress("abc")
	fails("a wrong sum", sound[:len(sound)-1]+"x", deflated, errBadCoding)
	fails("a dictionary", "\x78\xbb"+sound[2:], deflated, errBadCoding)
	sound = zstdOf()("abc")
	fails("a wrong sum", sound[:len(sound)-1]+"x", zstandard, errBadCoding)
	fails("a frame without content", "\x50\x2a\x4d\x18\x01\x00\x00\x00x"+sound, zstandard, errBadCoding)
	fails("a dictionary", "\x28\xb5\x2f\xfd\x01\x00\x07"+sound[5:], zstandard, errBadCoding)
	fails("a large window", zstdWindow(16<<20), zstandard, errBadCoding)
	fails("a large single segment", zstdSegment(16<<20), zstandard, errBadCoding)
	for _, s := range []string{"br", "gzip, gzip", "gzip, identity", "identity,gzip", "gzip ", "compress", "snappy", "x"} {
		if c := parseCoding(s); c != unknownCoding {
			t.Errorf("coding %q is taken for %d", s, c)
		}
	}
}

// zstdWindow is the beginning of a frame with that window and one byte of content.
func zstdWindow(size int) string {
	log := byte(0)
	for 1<<(10+log) < size {
		log++
	}
	return "\x28\xb5\x2f\xfd\x00" + string([]byte{log << 3}) + "\x09\x00\x00a"
}

// zstdSegment is the beginning of a frame that is one segment of that size.
func zstdSegment(size uint32) string {
	return "\x28\xb5\x2f\xfd\xa0" + string(binary.LittleEndian.AppendUint32(nil, size)) + "\x09\x00\x00a"
}

// TestInflateMemory takes what a window needs from the budget before it is there, and
// gives it back.
func TestInflateMemory(t *testing.T) {
	s := plentyOf(4 << 20)
	frame := zstdWindow(8 << 20)
	var rej *ask.Rejection
	if _, err := newInflater(strings.NewReader(frame), zstandard, s); !errors.As(err, &rej) || rej.Status != 429 {
		t.Errorf("a window of 8 MiB in a budget of 4: %v", err)
	}
	if s.held != 0 {
		t.Errorf("%d bytes are held", s.held)
	}
	f, err := newInflater(strings.NewReader(zstdWindow(1<<20)), zstandard, s)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(f); string(out) != "a" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	f.release()
	if held := s.held; held < 1<<20 || held > 2<<20 {
		t.Errorf("%d bytes are held for a window of 1 MiB", held)
	}
}

// TestInflateFaults keeps the faults of a connection apart from those of a coding, and
// leaves no goroutine.
func TestInflateFaults(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, k := range compressors {
		body := k.compress(noise(100 << 10))
		f, err := newInflater(io.MultiReader(strings.NewReader(body[:50000]), faultyReader{errCutBody}), k.coding, plentyOf(16<<20))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, f)
		f.release()
		if !errors.Is(err, errCutBody) || errors.Is(err, errBadCoding) {
			t.Errorf("%s: got %v; want %v", k.name, err, errCutBody)
		}
		if _, err := newInflater(faultyReader{errCutBody}, k.coding, plentyOf(16<<20)); !errors.Is(err, errCutBody) {
			t.Errorf("%s: got %v; want %v", k.name, err, errCutBody)
		}
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines; %d before", n, before)
	}
}

type faultyReader struct{ err error }

func (f faultyReader) Read([]byte) (int, error) { return 0, f.err }

// TestCodedBodies sends bodies in each coding to where they are read: whole and by lines.
func TestCodedBodies(t *testing.T) {
	node := newFake(t)
	whole := startGuard(t, echo(), testConfig(node.url()))
	lines := startGuard(t, bulkGate(func() *fakeLines { return &fakeLines{} }, asIs{}), testConfig(node.url()))
	bulk := strings.Repeat("{\"index\":{}}\n{\"a\":1}\n", 20000)
	for _, k := range compressors {
		header := "Content-Encoding: " + k.header + "\r\n"
		for _, raw := range []string{
			request("POST", "/i/_search", jsonLine+header, k.compress(`{"a":1}`)),
			chunkedRequest("/i/_search", jsonLine+header, k.compress(`{"a":1}`)),
		} {
			if a := whole.send(raw); a.status != 200 || a.body != `{"a":1}` {
				t.Errorf("%s: got %d %.100q", k.name, a.status, a.body)
			}
		}
		if a := whole.send(request("POST", "/i/_search", jsonLine+header, k.compress(`{}`)+"x")); a.status != 400 {
			t.Errorf("%s with more behind it: got %d %.100q", k.name, a.status, a.body)
		}
		if a := whole.send(chunkedRequest("/i/_search", jsonLine+header, "")); a.status != 400 {
			t.Errorf("%s without a byte: got %d %.100q", k.name, a.status, a.body)
		}
		if a := lines.send(request("POST", "/_bulk", ndjsonLine+header, k.compress(bulk))); a.status != 200 {
			t.Errorf("%s bulk: got %d %.100q", k.name, a.status, a.body)
		}
		seen := node.requests()
		if last := seen[len(seen)-1]; last.body != bulk || last.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: the node got %d bytes of %d, with %v", k.name, len(last.body), len(bulk), last.header)
		}
	}
	for _, g := range []*guarded{whole, lines} {
		eventually(t, "all is given back", func() bool { return g.srv.budget.left.Load() == testConfig().Limits.MaxInFlight })
	}
}

// TestCodedPass leaves a body and its coding alone where nobody has to read it, also one
// that guard could not read.
func TestCodedPass(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		writeAnswer(c, 200, string(body), "Content-Encoding: "+r.Header.Get("Content-Encoding"))
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	for _, coding := range []string{"gzip", "deflate", "zstd", "br", "gzip, br"} {
		a := g.send(request("POST", "/", "Accept-Encoding: br\r\nContent-Encoding: "+coding+"\r\n", "\x1f\x8b\x00"))
		if a.body != "\x1f\x8b\x00" || a.header.Get("Content-Encoding") != coding {
			t.Errorf("%s: got %+v", coding, a)
		}
	}
	for _, r := range node.requests() {
		if r.header.Get("Accept-Encoding") != "br" {
			t.Errorf("the node was asked for %q", r.header.Get("Accept-Encoding"))
		}
	}
}

// TestCodedAnswers inflates what a node compressed unasked, and says so to nobody.
func TestCodedAnswers(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, readPlan(upper{}, true), testConfig(node.url()))
	for _, k := range compressors {
		for _, body := range []string{k.compress(`{"a":"b"}`), k.compress(`{"a":"b"}`) + "x", k.compress(strings.Repeat("\x00", 4<<20))} {
			node.answers(func(c net.Conn, r *http.Request, _ []byte) { writeAnswer(c, 200, body, "Content-Encoding: "+k.header) })
			a := g.send(request("GET", "/i", "", ""))
			if sound := body == k.compress(`{"a":"b"}`); sound && a.body != `{"A":"B"}` || !sound && a.status != 502 || a.header.Get("Content-Encoding") != "" {
				t.Errorf("%s: got %d %.100q %v", k.name, a.status, a.body, a.header)
			}
		}
		node.answers(func(c net.Conn, r *http.Request, _ []byte) {
			_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Encoding: "+k.header+"\r\nContent-Length: 0\r\n\r\n")
		})
		if a := g.send(request("GET", "/i", "", "")); a.status != 404 {
			t.Errorf("%s, nothing: got %+v", k.name, a)
		}
	}
}
