package proxy

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"guard/authn"
	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

func itoa(n int) string { return strconv.Itoa(n) }

// fakeGate is a planner whose answers a test sets; by default everybody is
// unrestricted and everything is forwarded as it came.
type fakeGate struct {
	fakeAuth
	name       string        // the domain of those that it knows
	nobody     bool          // it knows nobody
	cluster    string        // of the state that it decides by
	auth       Authenticator // instead of fakeAuth
	restricted bool
	intake     gate.Intake
	intakeErr  error
	plan       func(p *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome
	fresher    *fakeGate
	fresherErr error
	freshened  atomic.Int64
	freshen    func(context.Context) error // what Fresher waits for; nil: nothing
}

func (g *fakeGate) Load() Planner { return g }

func (g *fakeGate) Fresher(ctx context.Context) (Planner, error) {
	g.freshened.Add(1)
	if g.freshen != nil {
		if err := g.freshen(ctx); err != nil {
			return nil, err
		}
	}
	if g.fresherErr != nil {
		return nil, g.fresherErr
	}
	if g.fresher != nil {
		return g.fresher, nil
	}
	return g, nil
}

func (g *fakeGate) Identify(ctx context.Context, c authn.Credentials) (ask.Identity, error) {
	if g.nobody {
		return ask.Identity{}, errNotAnna
	}
	id, err := g.knows().Identify(ctx, c)
	if g.name != "" {
		id.Domain = g.name
	}
	return id, err
}

func (g *fakeGate) Answer(err error) authn.Challenge {
	return g.knows().Answer(err)
}

func (g *fakeGate) InName(original ask.Identity, target string) (ask.Identity, error) {
	return g.knows().InName(original, target)
}

func (g *fakeGate) knows() Authenticator {
	if g.auth == nil {
		return g.fakeAuth
	}
	return g.auth
}

func (g *fakeGate) Cluster() string { return g.cluster }

func (g *fakeGate) Principal(id ask.Identity) *ask.Principal {
	return &ask.Principal{Identity: id, Unrestricted: !g.restricted}
}

func (g *fakeGate) Intake(*ask.Principal, *ask.Request) (gate.Intake, error) {
	return g.intake, g.intakeErr
}

func (g *fakeGate) Plan(p *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome {
	if g.plan != nil {
		return g.plan(p, r, k)
	}
	return passAll(r)
}

// passAll forwards a request as it came.
func passAll(r *ask.Request) gate.Outcome {
	return gate.Outcome{Kind: gate.Forward, Route: "any", Forward: gate.Forwarding{Call: gate.Call{
		Method: r.Method, Target: r.RawTarget, Source: gate.ClientBody, Repeatable: r.Method == "GET",
	}}}
}

// denyAll is the zero outcome.
func denyAll(*ask.Principal, *ask.Request, gate.Known) gate.Outcome { return gate.Outcome{} }

// fakeAuth knows anna with the password "pw".
type fakeAuth struct{}

var errNotAnna = errors.New("not anna")

func (fakeAuth) Identify(_ context.Context, c authn.Credentials) (ask.Identity, error) {
	if c.Certificate != nil {
		return ask.Identity{Name: c.Certificate.Subject.CommonName}, nil
	}
	if len(c.Authorization) != 1 {
		return ask.Identity{}, authn.ErrNoCredentials
	}
	switch c.Authorization[0] {
	case basic("anna", "pw"):
		return ask.Identity{Name: "anna"}, nil
	case basic("busy", "pw"):
		return ask.Identity{}, authn.ErrBusy
	case basic("panic", "pw"):
		panic("a fault in authentication")
	}
	return ask.Identity{}, errNotAnna
}

func (fakeAuth) Answer(err error) authn.Challenge {
	if errors.Is(err, authn.ErrBusy) {
		return authn.Challenge{Status: 429, ContentType: jsonType, Body: `"busy"`, RetryAfter: "1", Limit: ask.LimitHashQueue}
	}
	return authn.Challenge{Status: 401, ContentType: "text/plain; charset=UTF-8", Body: "Unauthorized", Authenticate: `Basic realm="OpenSearch Security"`}
}

// InName lets anna ask in the name of ben.
func (fakeAuth) InName(original ask.Identity, target string) (ask.Identity, error) {
	if original.Name != "anna" || target != "ben" {
		return ask.Identity{}, &ask.Rejection{Status: 403, Public: fmt.Sprintf("'%s' is not allowed to impersonate as '%s'", original.Name, target)}
	}
	return ask.Identity{Name: target, By: original.Name, Address: original.Address}, nil
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// authLine is the header line of the user that fakeAuth knows.
var authLine = "Authorization: " + basic("anna", "pw") + "\r\n"

// guarded is a running server in front of a node.
type guarded struct {
	t             testing.TB
	srv           *Server
	network, addr string
	gate          *fakeGate
	logs          *observer.ObservedLogs
	reg           *prometheus.Registry
}

// testConfig has the defaults with timeouts that a test can wait for.
func testConfig(urls ...string) *config.Config {
	c := &config.Config{}
	c.SetDefaults()
	c.Upstream.SetDefaults()
	c.Limits.SetDefaults()
	c.Timeouts.SetDefaults()
	c.Upstream.URLs = urls
	return c
}

func startGuard(t testing.TB, g *fakeGate, c *config.Config) *guarded {
	t.Helper()
	return startGuardAs(t, g, c, fakeAuth{})
}

// startGuardAs is startGuard with another way to find out who asks.
func startGuardAs(t testing.TB, g *fakeGate, c *config.Config, auth Authenticator) *guarded {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startGuardOn(t, g, c, auth, ln)
}

// startGuardOn is startGuardAs for a listener of the test's own.
func startGuardOn(t testing.TB, g *fakeGate, c *config.Config, auth Authenticator, ln net.Listener) *guarded {
	t.Helper()
	tr, err := NewTransport(c.Upstream, c.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zapcore.InfoLevel)
	reg := prometheus.NewRegistry()
	if g.auth == nil {
		g.auth = auth
	}
	srv, err := New(Options{Config: c, Transport: tr, Snapshots: g, Log: zap.New(core), Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = srv.Shutdown(ctx) // connections that a test left open are cut
		tr.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &guarded{t: t, srv: srv, network: ln.Addr().Network(), addr: ln.Addr().String(), gate: g, logs: logs, reg: reg}
}

// dial opens a connection that fails the test rather than hang.
func (g *guarded) dial() net.Conn {
	g.t.Helper()
	c, err := net.Dial(g.network, g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	g.t.Cleanup(func() { _ = c.Close() })
	return c
}

// got is an answer as a client sees it.
type got struct {
	status int
	header http.Header
	body   string
	cut    bool // the body ended before its end
	closed bool // the connection was closed behind it
}

// send writes raw bytes on a new connection and reads one answer.
func (g *guarded) send(raw string) got {
	g.t.Helper()
	c := g.dial()
	go func() { _, _ = io.WriteString(c, raw) }()
	method, _, _ := strings.Cut(raw, " ")
	return readGot(g.t, c, bufio.NewReader(c), method)
}

func readGot(t testing.TB, c net.Conn, br *bufio.Reader, method string) got {
	t.Helper()
	if method != "HEAD" {
		method = "GET"
	}
	r, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		return got{closed: true}
	}
	body, err := io.ReadAll(r.Body)
	a := got{status: r.StatusCode, header: r.Header, body: string(body), cut: err != nil}
	if r.Close {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, err := br.ReadByte()
		a.closed = errors.Is(err, io.EOF)
	}
	return a
}

// request is a plain request of the known user.
func request(method, target, headers, body string) string {
	s := method + " " + target + " HTTP/1.1\r\nHost: es:9200\r\n" + authLine + headers
	if body != "" {
		s += "Content-Length: " + itoa(len(body)) + "\r\n"
	}
	return s + "\r\n" + body
}

func hexOf(n int) string { return strconv.FormatInt(int64(n), 16) }
