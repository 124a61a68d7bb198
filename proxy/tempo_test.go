package proxy

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"guard/gate"
	"guard/internal/ask"
)

// stretch is how a client behaves for a while: it moves so many bytes at each beat, of which
// there are so many.
type stretch struct {
	bytes int
	beat  time.Duration
	beats int
}

// tempoCase is one client of a guard that wants 512 bytes a second and bears a minute.
type tempoCase struct {
	name string
	does []stretch
	ends bool
}

var tempoCases = []tempoCase{
	{"50 MB by a slow radio", []stretch{{3 << 10, time.Second, 17000}}, false},
	{"just as fast as it has to be, for hours", []stretch{{512, time.Second, 10000}}, false},
	{"slow bursts", []stretch{{32 << 10, 59 * time.Second, 500}}, false},
	{"a pause when all was well", []stretch{{3 << 10, time.Second, 100}, {3 << 10, 58 * time.Second, 1}, {3 << 10, time.Second, 100}}, false},
	{"pauses that it makes up for", []stretch{
		{3 << 10, 50 * time.Second, 1}, {3 << 10, time.Second, 10}, {3 << 10, 50 * time.Second, 1}, {3 << 10, time.Second, 10}, {3 << 10, 50 * time.Second, 1},
	}, false},
	{"silence", []stretch{{1, 61 * time.Second, 1}}, true},
	{"silence after much", []stretch{{1 << 20, time.Second, 10}, {1, 76 * time.Second, 1}}, true}, // it may end as late as the next look
	{"drops", []stretch{{1, time.Second, 61}}, true},
	{"too slow, though never silent for long", []stretch{{8 << 10, 30 * time.Second, 20}}, true},
	{"pauses that it does not make up for", []stretch{
		{3 << 10, 50 * time.Second, 1}, {3 << 10, time.Second, 2}, {3 << 10, 50 * time.Second, 1},
	}, true},
}

var testPace = pace{512, time.Minute, ask.LimitMinRate}

// TestTempo: a client that is fast enough over a minute lives, however it divides its bytes
// and as long as it takes; one that is not ends, whichever way the bytes go.
func TestTempo(t *testing.T) {
	for _, c := range tempoCases {
		total := 0
		for _, s := range c.does {
			total += s.bytes * s.beats
		}
		for way, run := range map[string]func(p *paced, far net.Conn) error{
			"upload": func(p *paced, far net.Conn) error {
				go c.play(func(b []byte) error { _, err := far.Write(b); return err })
				p.hurryReads(testPace)
				_, err := io.ReadFull(p, make([]byte, total))
				return err
			},
			"answer": func(p *paced, far net.Conn) error {
				go c.play(func(b []byte) error { _, err := io.ReadFull(far, b); return err })
				p.hurryWrites(testPace)
				_, err := p.Write(make([]byte, total))
				return err
			},
		} {
			t.Run(c.name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					near, far := net.Pipe()
					begun := time.Now()
					err := run(&paced{Conn: near}, far)
					var slow tooSlow
					if ended := errors.As(err, &slow); ended != c.ends || err != nil && !ended {
						t.Errorf("after %v: %v; want it to end: %v", time.Since(begun), err, c.ends)
					}
					_ = near.Close()
					_ = far.Close()
					time.Sleep(time.Hour) // until the client has noticed
				})
			})
		}
	}
}

func (c tempoCase) play(move func([]byte) error) {
	for _, s := range c.does {
		for range s.beats {
			time.Sleep(s.beat)
			if move(make([]byte, s.bytes)) != nil {
				return
			}
		}
	}
}

// TestTempoOfOthers: the time in which guard does not wait for the client is not the
// client's.
func TestTempoOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(far, far) }() // an echo that is always there
		p := &paced{Conn: near}
		p.hurryReads(testPace)
		p.hurryWrites(testPace)
		for range 100 {
			if _, err := p.Write([]byte("a")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // the cluster's
			if _, err := p.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		_ = near.Close()
		synctest.Wait()
	})
}

// TestTempoEnds: one that is aborted or closed while it waits says so at once, and what
// comes after goes by windows again.
func TestTempoEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		p := &paced{Conn: near, writeTimeout: time.Hour}
		p.hurryReads(testPace)
		time.AfterFunc(time.Second, p.abort)
		begun := time.Now()
		if _, err := p.Read(make([]byte, 1)); !isTimeout(err) || time.Since(begun) > time.Second {
			t.Errorf("a read that was aborted ended after %v: %v", time.Since(begun), err)
		}
		p.hurryWrites(testPace)
		p.easeWrites()
		begun = time.Now()
		if _, err := p.Write([]byte("a")); !isTimeout(err) || time.Since(begun) != time.Hour {
			t.Errorf("a write at ease ended after %v: %v; want its own timeout", time.Since(begun), err)
		}
		p.hurryWrites(testPace)
		p.closing.Store(true)
		_ = p.SetWriteDeadline(time.Now().Add(time.Second))
		begun = time.Now()
		if _, err := p.Write([]byte("a")); !isTimeout(err) || time.Since(begun) != time.Second {
			t.Errorf("a write of who closes ended after %v: %v; want the deadline that was set", time.Since(begun), err)
		}
		_ = far.Close()
		_ = near.Close()
	})
}

// TestPaceOf: the bound with less patience is the one that holds.
func TestPaceOf(t *testing.T) {
	f := func(rate int64, stall, timeout time.Duration, want pace) {
		t.Helper()
		if got := paceOf(rate, stall, timeout, ask.LimitRead); got != want {
			t.Errorf("a rate of %d, %v, and %v a window: %v; want %v", rate, stall, timeout, got, want)
		}
	}
	f(512, time.Minute, 5*time.Minute, pace{512, time.Minute, ask.LimitMinRate})
	f(512, time.Minute, 30*time.Second, pace{2184, 30 * time.Second, ask.LimitRead})
	f(0, time.Minute, 5*time.Minute, pace{218, 5 * time.Minute, ask.LimitRead})
	f(0, time.Minute, 1000*time.Hour, pace{1, 1000 * time.Hour, ask.LimitRead})
}

// TestStallsByTLS: a client by TLS is told why its upload was ended, and one that reads
// nothing holds nothing any more.
func TestStallsByTLS(t *testing.T) {
	a := newAuthority(t)
	node := newFake(t)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, strings.Repeat(" ", 16<<20)) })
	conf := testConfig(node.url())
	conf.TLS.Certificate, conf.TLS.Key = a.issue("guard", []string{"127.0.0.1"})
	conf.Timeouts.Stall = short
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	f := func(raw string) (net.Conn, *bufio.Reader) {
		t.Helper()
		socket := g.dial()
		_ = socket.(*net.TCPConn).SetReadBuffer(4 << 10)
		c := tls.Client(socket, &tls.Config{RootCAs: a.pool(), ServerName: "127.0.0.1"})
		before := g.hits(ask.LimitMinRate)
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the transfer is ended", func() bool { return g.hits(ask.LimitMinRate) > before && g.atWork() == 0 })
		return c, bufio.NewReader(c)
	}
	c, br := f("POST / HTTP/1.1\r\nHost: a\r\n" + authLine + "Content-Length: 1000000\r\n\r\n{")
	if got := readGot(t, c, br, "POST"); got.status != 408 || !got.closed {
		t.Errorf("a stalled upload got %+v; want 408 and the end", got)
	}
	_, _ = f(request("GET", "/", "", ""))
	eventually(t, "no connection is held", func() bool { return g.clients() == 0 && node.open() == 0 })
}
