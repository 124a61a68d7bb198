package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"guard/gate"
	"guard/internal/ask"
)

// TestUnsent: what is held of an answer stays counted until the client has read it, so
// one user's clients that do not read hold no more than the user may, and are no matter
// of others; it is given back when it is sent, and when the connection ends.
func TestUnsent(t *testing.T) {
	const size = 12 << 20 // more than any socket takes
	node := newFake(t)
	body := `"` + strings.Repeat("a", size-2) + `"`
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, body) })
	local := func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Local, Route: "any", Local: gate.Answer{Status: 200, ContentType: jsonType, Body: []byte(body)}}
	}
	f := func(name string, fake *fakeGate, version string) {
		t.Helper()
		conf := testConfig(node.url())
		conf.Limits.MaxInFlight, conf.Limits.MaxUserInFlight = 128<<20, 40<<20
		g := startGuard(t, fake, conf)
		raw := strings.Replace(request("GET", "/", "Connection: keep-alive\r\n", ""), "HTTP/1.1", version, 1)
		held := func() float64 { return g.metric("guard_held_bytes", "") }
		c := g.dial()
		_, _ = io.WriteString(c, raw)
		br := bufio.NewReaderSize(c, 16)
		if line, _ := br.ReadString('\n'); !strings.Contains(line, " 200 ") {
			t.Fatalf("%s: got %q", name, line)
		}
		if n := held(); n < size || n > 2*size {
			t.Errorf("%s: %v bytes are held; want those of the answer", name, n)
		}
		for range 2 {
			if a := g.send(raw); a.status != 200 {
				t.Errorf("%s: with room for another: %d; want 200", name, a.status)
			}
		}
		var left []net.Conn
		refused := false
		for range 4 {
			other := g.dial()
			left = append(left, other)
			_, _ = io.WriteString(other, raw)
			line, _ := bufio.NewReaderSize(other, 16).ReadString('\n')
			refused = refused || strings.Contains(line, " 429 ")
		}
		if n := held(); !refused || n > 40<<20 {
			t.Errorf("%s: refused %v, %v bytes are held; want no more than the user may", name, refused, n)
		}
		for _, other := range left {
			_ = other.Close()
		}
		eventually(t, name+": what those who left did not read is given back", func() bool { return held() <= 2*size })
		if _, err := io.CopyN(io.Discard, br, size); err != nil {
			t.Errorf("%s: the answer ends in %v", name, err)
		}
		eventually(t, name+": what was sent is given back", func() bool { return held() == 0 })
	}
	f("treated", readPlan(asIs{}, true), "HTTP/1.1")
	f("treated for HTTP/1.0", readPlan(asIs{}, true), "HTTP/1.0")
	f("local", &fakeGate{intake: gate.IntakeStream, plan: local}, "HTTP/1.1")
}
