package proxy

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guard/gate"
	"guard/internal/ask"
)

// TestMixedTraffic mixes clients that cancel, drip and pipeline with a node that cuts,
// stalls and answers early. Whoever gets a whole answer gets his own; when all is over
// nothing is held, nothing runs, and the pool is not exhausted.
func TestMixedTraffic(t *testing.T) {
	before := runtime.NumGoroutine()
	node := newFake(t)
	node.takes(moodyNode)
	conf := testConfig(node.url())
	conf.Timeouts.Upstream = 300 * time.Millisecond
	conf.Timeouts.Read = 300 * time.Millisecond
	conf.Timeouts.Connect = 5 * time.Second
	conf.Upstream.MaxConns = 8
	pass := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	treated := startGuard(t, readPlan(asIs{}, true), conf)
	planned := bulkGate(func() *fakeLines { return &fakeLines{} }, asIs{})
	plan := planned.plan
	planned.plan = func(p *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome {
		o := plan(p, r, k)
		o.Forward.Target = r.RawTarget
		return o
	}
	bulk := startGuard(t, planned, conf)

	var wg sync.WaitGroup
	var whole atomic.Int64
	end := time.Now().Add(3 * time.Second)
	for i, g := range []*guarded{pass, pass, treated, treated, bulk, bulk} {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 7))
			for n := 0; time.Now().Before(end); n++ {
				moodyClient(t, g, rnd, fmt.Sprintf("c%d-%d", i, n), &whole)
			}
		})
	}
	wg.Wait()
	if whole.Load() < 10 {
		t.Errorf("%d whole answers; the test shows little", whole.Load())
	}
	for _, g := range []*guarded{pass, treated, bulk} {
		eventually(t, "all requests have ended", func() bool {
			return int64(inFlight(t, g)) == 0 && g.srv.budget.left.Load() == conf.Limits.MaxInFlight
		})
		g.srv.cluster.(*Transport).Close()
		eventually(t, "all connections to the node are given back", func() bool { return g.srv.cluster.(*Transport).Open() == 0 })
		if n := g.logs.FilterMessage("request ended in a panic").Len(); n > 0 {
			t.Errorf("%d panics: %v", n, g.logs.FilterMessage("request ended in a panic").All()[0].ContextMap())
		}
	}
	node.closeConns()
	eventually(t, "goroutines have ended", func() bool { return runtime.NumGoroutine() < before+40 }) // idle workers of fasthttp
}

// moodyNode echoes the id of each request and does what it wants besides.
func moodyNode(c net.Conn, br *bufio.Reader) {
	for {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		id := r.URL.Query().Get("id")
		mood := rand.IntN(12)
		if mood == 0 {
			writeAnswer(c, 429, `"`+id+`"`) // early
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		body := `"` + id + strings.Repeat(".", rand.IntN(100<<10)) + `"`
		switch mood {
		case 0:
		case 1:
			return
		case 2:
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\""+id)
			return
		case 3:
			time.Sleep(400 * time.Millisecond) // longer than guard waits
			return
		case 4:
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+hexOf(len(body))+"\r\n"+body+"\r\n0\r\n\r\n")
		case 5:
			_, _ = io.WriteString(c, "rubbish\r\n\r\n")
			return
		default:
			writeAnswer(c, 200, body)
		}
	}
}

// moodyClient sends one request, or most of one, and checks what comes back.
func moodyClient(t *testing.T, g *guarded, rnd *rand.Rand, id string, whole *atomic.Int64) {
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(15 * time.Second))
	body := strings.Repeat("{\"index\":{}}\n{\"a\":1}\n", rnd.IntN(20000))
	raw := request("POST", "/_bulk?id="+id, ndjsonLine, body)
	if rnd.IntN(2) == 0 {
		raw = chunkedRequest("/_bulk?id="+id, ndjsonLine, body)
	}
	if rnd.IntN(6) == 0 {
		raw = raw[:rnd.IntN(len(raw))] // the rest never comes
	}
	go func() { _, _ = io.WriteString(c, raw) }()
	if rnd.IntN(8) == 0 {
		time.Sleep(time.Duration(rnd.IntN(50)) * time.Millisecond)
		return // gone
	}
	a := readGot(t, c, bufio.NewReader(c), "POST")
	if a.status == 200 && !a.cut && a.body != `{"all":"refused"}` {
		whole.Add(1)
		if !strings.HasPrefix(a.body, `"`+id) || !strings.HasSuffix(a.body, `"`) {
			t.Errorf("client %s got %.60q", id, a.body)
		}
	}
	if a.status == 500 {
		t.Errorf("client %s got %+v", id, a)
	}
}
