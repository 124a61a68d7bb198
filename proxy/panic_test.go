package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
)

// panicking is a seam of which each call may panic.
type panicking struct {
	*fakeGate
	at string
}

func (p panicking) Load() Planner {
	p.fall("Load")
	return p
}

func (p panicking) Fresher(context.Context) (Planner, error) {
	p.fall("Fresher")
	return p, nil
}

func (p panicking) Identify(ctx context.Context, c authn.Credentials) (ask.Identity, error) {
	p.fall("Identify")
	return p.fakeGate.Identify(ctx, c)
}

func (p panicking) InName(original ask.Identity, target string) (ask.Identity, error) {
	p.fall("InName")
	return p.fakeGate.InName(original, target)
}

func (p panicking) Answer(err error) authn.Challenge {
	p.fall("Answer")
	return p.fakeGate.Answer(err)
}

func (p panicking) Principal(id ask.Identity) *ask.Principal {
	p.fall("Principal")
	return p.fakeGate.Principal(id)
}

func (p panicking) Intake(who *ask.Principal, r *ask.Request) (gate.Intake, error) {
	p.fall("Intake")
	return p.fakeGate.Intake(who, r)
}

func (p panicking) fall(at string) {
	if p.at == at {
		panic("a fault in " + at)
	}
}

// brokenBody is an answer whose body panics when it is read, or closed.
type brokenBody struct{ atClose, read bool }

func (b *brokenBody) Read(p []byte) (int, error) {
	if !b.atClose {
		panic("a fault in the body of an answer")
	}
	if b.read {
		return 0, io.EOF
	}
	b.read = true
	return copy(p, "{}"), io.EOF
}

func (b *brokenBody) Close() {
	if b.atClose {
		panic("a fault in the end of an answer")
	}
}

func (*brokenBody) SourceDone() bool { return true }

// answering is a cluster that gives one answer.
type answering struct{ answer answer }

func (a answering) Do(context.Context, *call) (*answer, error) {
	got := a.answer
	return &got, nil
}

// TestPanicsEverywhere holds that a panic ends one request, with 500 where its answer had
// not begun, and gives back all that the request held; the next one is served.
func TestPanicsEverywhere(t *testing.T) {
	node := newFake(t)
	change := func(r *ask.Request) gate.Outcome {
		o := passAll(r)
		o.Forward.ChangesState = func() bool { panic("a fault in ChangesState") }
		return o
	}
	needs := func(o gate.Outcome) func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome { return o }
	}
	f := func(name string, at string, fg *fakeGate, raw string, cluster upstream, status int) {
		t.Helper()
		g := startGuard(t, fg, testConfig(node.url()))
		g.srv.snaps = panicking{fg, at}
		if cluster != nil {
			g.srv.cluster = cluster
		}
		c := g.dial()
		_, _ = io.WriteString(c, raw)
		br := bufio.NewReader(c)
		if a := readGot(t, c, br, "GET"); a.status != status || strings.Contains(a.body, "fault in") {
			t.Errorf("%s: got %+v; want %d and nothing of the panic", name, a, status)
		}
		if _, err := br.ReadByte(); err == nil || isTimeout(err) {
			t.Errorf("%s: the connection goes on: %v", name, err)
		}
		eventually(t, "the request has ended", func() bool { return inFlight(t, g) == 0 })
		if left := g.srv.budget.left.Load(); left != g.srv.limits.MaxInFlight || g.atWork() != 0 {
			t.Errorf("%s: %d bytes and %d requests are still held", name, g.srv.limits.MaxInFlight-left, g.atWork())
		}
		if n := g.logs.FilterMessage("request ended in a panic").Len(); n != 1 {
			t.Errorf("%s: %d panics logged; want 1", name, n)
		}
		g.srv.snaps, g.srv.cluster = &fakeGate{plan: denyAll}, nil
		if a := g.send(request("GET", "/", "", "")); a.status != 403 {
			t.Errorf("%s: the next request got %+v; want it served", name, a)
		}
	}
	get, post := request("GET", "/", "", ""), request("POST", "/", jsonLine, `{"a":1}`)
	for _, at := range []string{"Load", "Identify", "Principal", "Intake"} {
		f(at, at, &fakeGate{intake: gate.IntakeStream}, post, nil, 500)
	}
	f("InName", "InName", &fakeGate{}, request("GET", "/", "opendistro_security_impersonate_as: ben\r\n", ""), nil, 500)
	f("Answer", "Answer", &fakeGate{}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", nil, 500)
	f("Fresher", "Fresher", &fakeGate{plan: needs(gate.Outcome{Kind: gate.Need, NeedState: true})}, get, nil, 500)
	f("ChangesState", "", &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		return change(r)
	}}, post, nil, 500)
	f("the end of lines", "", bulkGate(func() *fakeLines { return &fakeLines{panicAtEnd: true} }, nil), request("POST", "/_bulk", ndjsonLine, "{\"index\":{}}\n{}\n"), nil, 500)

	stream := &fakeGate{intake: gate.IntakeStream}
	f("writing an answer", "", stream, get, answering{answer{status: 200}}, 500) // it has no body at all
	f("reading a small answer", "", stream, get, answering{answer{status: 200, length: 2, body: &brokenBody{}}}, 500)
	for _, length := range []int64{100 << 10, -1} {
		f("reading an answer", "", stream, get, answering{answer{status: 200, length: length, body: &brokenBody{}}}, 200)
	}
	f("the end of a small answer", "", stream, get, answering{answer{status: 200, length: 2, body: &brokenBody{atClose: true}}}, 500)
}

// TestPanicInConnection ends the connection alone where there is no request yet.
func TestPanicInConnection(t *testing.T) {
	conf := testConfig("http://127.0.0.1:1")
	g := startGuard(t, &fakeGate{plan: denyAll}, conf)
	ours, theirs := net.Pipe()
	defer func() { _ = theirs.Close() }()
	fell := make(chan *panicError, 1)
	c := newConn(context.Background(), ours, &connLimits{
		maxHead: 100, idle: time.Millisecond, met: func(ask.Limit) { panic("a fault in a connection") }, fell: func(p *panicError) { fell <- p }, stopped: new(atomic.Bool),
	}, &front{})
	c.place.door = newDoorway(1, 0, nil)
	if n, err := c.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v; want the end", n, err)
	}
	if p := <-fell; p.value != "a fault in a connection" {
		t.Errorf("told of %v", p.value)
	}
	if n, err := c.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v after the panic; want the end", n, err)
	}
	g.srv.connFell(&panicError{value: "x"})
	cl := g.dial()
	_, _ = io.WriteString(cl, request("GET", "/", "", ""))
	if a := readGot(t, cl, bufio.NewReader(cl), "GET"); a.status != 403 {
		t.Errorf("got %+v", a)
	}
	if g.logs.FilterMessage("connection ended in a panic").Len() != 1 {
		t.Error("the log says nothing of a panic in a connection")
	}
}
