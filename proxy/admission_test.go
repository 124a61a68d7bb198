package proxy

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"

	"guard/gate"
)

// TestSilentBodiesTakeNoPlace: a request whose body does not begin to come holds a connection,
// and no place that others need; once it has begun there is work to do, and it takes one.
func TestSilentBodiesTakeNoPlace(t *testing.T) {
	node := newFake(t)
	kinds := map[string]*fakeGate{
		"lines": bulkGate(func() *fakeLines { return &fakeLines{} }, asIs{}),
		"bytes": {intake: gate.IntakeStream},
	}
	for name, fg := range kinds {
		t.Run(name, func(t *testing.T) {
			conf := testConfig(node.url())
			conf.Limits.MaxConcurrent, conf.Limits.MaxUserConcurrent = 2, 2
			g := startGuard(t, fg, conf)
			item := "{\"index\":{}}\n{\"a\":1}\n"
			head := "POST /_bulk HTTP/1.1\r\nHost: a\r\n" + authLine + ndjsonLine + "Content-Length: " + itoa(len(item)) + "\r\n\r\n"
			var silent []net.Conn
			for range 4 {
				c := g.dial()
				_, _ = io.WriteString(c, head+item[:3])
				silent = append(silent, c)
			}
			eventually(t, "all wait for their bodies", func() bool { return inFlight(t, g) == 4 })
			if n := g.atWork(); n != 0 {
				t.Errorf("%d silent requests are at work", n)
			}
			if a := g.send(request("POST", "/_bulk", ndjsonLine, strings.Repeat(item, 10))); a.status != 200 {
				t.Errorf("beside silent ones: got %+v; want 200", a)
			}
			for _, c := range silent {
				_, _ = io.WriteString(c, item[3:])
				if a := readGot(t, c, bufio.NewReader(c), "POST"); a.status != 200 {
					t.Errorf("a body that came late: got %+v; want 200", a)
				}
			}
			eventually(t, "no place is held", func() bool { return g.atWork() == 0 })
		})
	}
}
