package proxy

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"guard/gate"
)

const large = 64 << 20

// pattern is a reader of the last n of 64 MiB, cut from a text whose period no buffer size divides.
type pattern struct{ n int64 }

var patternText = func() []byte {
	b := make([]byte, 251*1021)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}()

func (p *pattern) Read(b []byte) (int, error) {
	if p.n == 0 {
		return 0, io.EOF
	}
	if int64(len(b)) > p.n {
		b = b[:p.n]
	}
	n := copy(b, patternText[(large-p.n)%251:])
	p.n -= int64(n)
	return n, nil
}

func sumOf(r io.Reader) (uint32, int64) {
	h := crc32.NewIEEE()
	n, _ := io.Copy(h, r)
	return h.Sum32(), n
}

// peakHeap watches the live heap until stop.
func peakHeap() (stop func() uint64) {
	runtime.GC()
	var base runtime.MemStats
	runtime.ReadMemStats(&base)
	var peak atomic.Uint64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(10 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapAlloc > peak.Load() {
					peak.Store(m.HeapAlloc)
				}
			}
		}
	}()
	return func() uint64 {
		close(quit)
		<-done
		return peak.Load() - min(base.HeapAlloc, peak.Load())
	}
}

// TestLargeBodies moves 64 MiB each way, with a length and in chunks, in little memory.
func TestLargeBodies(t *testing.T) {
	want, _ := sumOf(&pattern{large})
	for _, chunked := range []bool{false, true} {
		t.Run(fmt.Sprintf("chunked=%v", chunked), func(t *testing.T) {
			node := newFake(t)
			node.takes(func(c net.Conn, br *bufio.Reader) {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				if sum, n := sumOf(r.Body); sum != want || n != large {
					t.Errorf("the node got %d bytes with sum %x; want %d and %x", n, sum, large, want)
				}
				w := bufio.NewWriterSize(c, 64<<10)
				if chunked {
					_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
					cw := chunkWriter{w}
					_, _ = io.CopyBuffer(struct{ io.Writer }{cw}, struct{ io.Reader }{&pattern{large}}, make([]byte, 30000))
					_ = cw.Close()
				} else {
					_, _ = fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", large)
					_, _ = io.Copy(w, &pattern{large})
					_ = w.Flush()
				}
			})
			g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
			stop := peakHeap()
			c := g.dial()
			go func() {
				w := bufio.NewWriterSize(c, 64<<10)
				_, _ = io.WriteString(w, "POST /_bulk HTTP/1.1\r\nHost: a\r\n"+authLine)
				if chunked {
					_, _ = io.WriteString(w, "Transfer-Encoding: chunked\r\n\r\n")
					cw := chunkWriter{w}
					_, _ = io.CopyBuffer(struct{ io.Writer }{cw}, struct{ io.Reader }{&pattern{large}}, make([]byte, 50000))
					_ = cw.Close()
				} else {
					_, _ = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n", large)
					_, _ = io.Copy(w, &pattern{large})
					_ = w.Flush()
				}
			}()
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if sum, n := sumOf(r.Body); sum != want || n != large {
				t.Errorf("the client got %d bytes with sum %x; want %d and %x", n, sum, large, want)
			}
			if peak := stop(); peak > 8<<20 {
				t.Errorf("the heap grew by %d MiB; want at most 8", peak>>20)
			} else {
				t.Logf("heap +%d KiB", peak>>10)
			}
		})
	}
}

// TestBackpressure holds that guard takes little ahead of a client that does not read.
func TestBackpressure(t *testing.T) {
	node := newFake(t)
	var sent atomic.Int64
	node.takes(func(c net.Conn, br *bufio.Reader) {
		_, _ = http.ReadRequest(br)
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", large)
		for p, b := (&pattern{large}), make([]byte, 16<<10); ; {
			n, err := p.Read(b)
			if err != nil {
				return
			}
			if _, err := c.Write(b[:n]); err != nil {
				return
			}
			sent.Add(int64(n))
		}
	})
	g := startGuard(t, readPlan(nil, true), testConfig(node.url()))
	c := g.dial()
	_, _ = io.WriteString(c, request("GET", "/i", "", ""))
	time.Sleep(500 * time.Millisecond)
	if n := sent.Load(); n > 24<<20 {
		t.Errorf("the node has sent %d MiB to a client that reads nothing", n>>20)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, n := sumOf(r.Body); n != large {
		t.Errorf("the client got %d bytes in the end; want %d", n, large)
	}
}
