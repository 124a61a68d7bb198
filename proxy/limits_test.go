package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"guard/authn"
	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// limitCase meets one limit: the setting that binds, the label that counts it, and what
// the client is told. A status of 0 says that the connection ends without a word.
type limitCase struct {
	setting string // as in guard.yml; empty for a bound that is fixed
	label   ask.Limit
	set     func(*config.Config)
	gate    *fakeGate
	node    func(c net.Conn, r *http.Request, body []byte)
	meet    func(g *guarded) got
	status  int
	text    string
}

// once sends one request.
func once(raw string) func(*guarded) got { return func(g *guarded) got { return g.send(raw) } }

// beside sends a request while another one waits at the node.
func beside(raw string) func(*guarded) got {
	return func(g *guarded) got {
		c := g.dial()
		_, _ = io.WriteString(c, request("GET", "/hold", "", ""))
		eventually(g.t.(*testing.T), "the other request is at work", func() bool { return g.atWork() == 1 })
		return g.send(raw)
	}
}

// leavesUnread sends a request and does not read its answer until that is given up.
func leavesUnread(met ask.Limit) func(*guarded) got {
	return func(g *guarded) got {
		c := g.dial()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, _ = io.WriteString(c, request("GET", "/", "", ""))
		eventually(g.t.(*testing.T), "the answer that nobody reads is given up", func() bool { return g.hits(met) > 0 })
		return got{}
	}
}

// besideIdle sends a request while another connection is open.
func besideIdle(raw string) func(*guarded) got {
	return func(g *guarded) got {
		g.dial()
		eventually(g.t.(*testing.T), "the other connection is open", func() bool { return g.clients() == 1 })
		return g.send(raw)
	}
}

// atWork returns how many requests are counted as being at work.
func (g *guarded) atWork() int {
	g.srv.admission.mu.Lock()
	defer g.srv.admission.mu.Unlock()
	return g.srv.admission.total
}

// clients returns how many connections of clients are open.
func (g *guarded) clients() int {
	g.srv.door.mu.Lock()
	defer g.srv.door.mu.Unlock()
	return g.srv.door.open
}

// hold answers everything but /hold.
func hold(c net.Conn, r *http.Request, _ []byte) {
	if r.RequestURI != "/hold" {
		writeAnswer(c, 200, "{}")
	}
}

// failsOnce lets one login a minute fail.
func failsOnce() Authenticator {
	v, err := authn.NewVerifier(authn.VerifierOptions{Concurrency: 1, Queue: 1, CacheSize: 1, FailedPerMinute: 1})
	if err != nil {
		panic(err)
	}
	sec := &config.Security{Users: map[string]config.User{"anna": {Enabled: true, Hash: config.NewSecret(cheapHash)}}}
	sec.Dynamic.Authc = map[string]config.AuthcDomain{"d": {
		HTTPEnabled: true, Authenticator: config.Authenticator{Type: config.AuthenticatorBasic, Challenge: true}, Backend: config.Backend{Type: config.BackendInternal},
	}}
	chain, _, err := authn.New(sec, config.Policy{}, v)
	if err != nil {
		panic(err)
	}
	return chain
}

// cheapHash is that of "pw".
const cheapHash = "$2a$04$4eWSwVCujIz/WK1WIMCp9u2CMgBl.WE8XgOiBaR0idDrqbbqcxik6"

// refusing is a gate that refuses by a limit of its own; that it does is shown there.
func refusing(r ask.Rejection) *fakeGate {
	return &fakeGate{plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Reject, Rejection: r}
	}}
}

// fromGate is a limit that the gate holds.
func fromGate(setting string, l ask.Limit) limitCase {
	return limitCase{
		setting: setting, label: l, gate: refusing(ask.Rejection{Status: 413, Public: "said by the gate", Limit: l}),
		meet: once(request("GET", "/", "", "")), status: 413, text: "said by the gate",
	}
}

var limitCases = slices.Concat(bodyLimitCases, concurrencyLimitCases, timeLimitCases)

var bodyLimitCases = []limitCase{{
	setting: "limits.max_header", label: ask.LimitHeader, gate: &fakeGate{},
	meet: once(request("GET", "/", "X-Long: "+strings.Repeat("a", 16<<10)+"\r\n", "")), status: 431, text: "a request head of more than 16384 bytes",
}, {
	label: ask.LimitHeader, gate: &fakeGate{},
	meet: once(request("GET", "/", strings.Repeat("A: b\r\n", maxFields), "")), status: 431, text: "more than 128 header lines",
}, {
	setting: "limits.max_body", label: ask.LimitBody, gate: echo(), set: func(c *config.Config) { c.Limits.MaxBody = 10 },
	meet: once(request("POST", "/", jsonLine, "[1,2,3,4,5,6]")), status: 413, text: "the body is larger than 10 bytes",
}, {
	setting: "limits.max_bulk_body", label: ask.LimitBulkBody, gate: bulkGate(func() *fakeLines { return &fakeLines{} }, nil),
	set:  func(c *config.Config) { c.Limits.MaxBulkBody = 10 },
	meet: once(chunkedRequest("/_bulk", ndjsonLine, "{\"index\":{}}\n{}\n")), status: 413, text: "the body is larger than 10 bytes",
}, {
	setting: "limits.max_bulk_line", label: ask.LimitBulkLine, gate: bulkGate(func() *fakeLines { return &fakeLines{} }, nil),
	set:  func(c *config.Config) { c.Limits.MaxBulkLine = 10 },
	meet: once(request("POST", "/_bulk", ndjsonLine, "{\"index\":{}}\n{}\n")), status: 413, text: "a line of the bulk body is longer than 10 bytes",
}, {
	label: ask.LimitInflateRatio, gate: echo(), set: func(c *config.Config) { c.Limits.MaxBody = 256 << 20 },
	meet: func(g *guarded) got {
		return g.send(request("POST", "/", jsonLine+"Content-Encoding: gzip\r\n", zipBomb()))
	},
	status: 413, text: "more than 250 times its size",
}, {
	setting: "limits.max_in_flight", label: ask.LimitInFlight, gate: echo(), set: func(c *config.Config) { c.Limits.MaxInFlight = 1 << 20 },
	meet: once(request("POST", "/", jsonLine, strings.Repeat("a", 2<<20))), status: 429, text: "too many bytes are held for requests under way",
}, {
	setting: "limits.max_user_in_flight", label: ask.LimitUserInFlight, gate: echo(), set: func(c *config.Config) { c.Limits.MaxUserInFlight = 1 << 20 },
	meet: once(request("POST", "/", jsonLine, strings.Repeat("a", 2<<20))), status: 429, text: "too many bytes are held for requests of this user",
}, {
	setting: "limits.max_filtered_answer", label: ask.LimitFilteredAnswer, gate: readPlan(upper{}, true),
	set:  func(c *config.Config) { c.Limits.MaxFilteredAnswer = 1 },
	meet: once(request("GET", "/", "", "")), status: 502, text: "the answer is too large to filter: more than 1 bytes",
},
	{
		setting: "limits.max_upstream_header", label: ask.LimitUpstreamHeader, gate: readPlan(nil, true),
		set:  func(c *config.Config) { c.Limits.MaxUpstreamHeader = 1000 },
		meet: once(request("GET", "/", "User-Agent: "+strings.Repeat("a", 1000)+"\r\n", "")), status: 431, text: "bytes for the cluster, which takes 1000",
	},
	fromGate("limits.max_depth", ask.LimitDepth),
	fromGate("limits.max_upstream_uri", ask.LimitUpstreamURI),
	fromGate("limits.max_expression_names", ask.LimitExpressionNames),
	fromGate("", ask.LimitItems),
}

var concurrencyLimitCases = []limitCase{{
	setting: "limits.max_concurrent", label: ask.LimitConcurrent, gate: readPlan(nil, true), node: hold,
	set:  func(c *config.Config) { c.Limits.MaxConcurrent = 1 },
	meet: beside(request("GET", "/", "", "")), status: 503, text: "too many requests at a time",
}, {
	setting: "limits.max_user_concurrent", label: ask.LimitUserConcurrent, gate: readPlan(nil, true), node: hold,
	set:  func(c *config.Config) { c.Limits.MaxUserConcurrent = 1 },
	meet: beside(request("GET", "/", "", "")), status: 429, text: "too many requests of this user at a time",
}, {
	setting: "limits.max_connections", label: ask.LimitConnections, gate: &fakeGate{}, set: func(c *config.Config) { c.Limits.MaxConnections = 1 },
	meet: besideIdle(request("GET", "/", "", "")), status: 503, text: "too many connections",
}, {
	setting: "limits.max_address_connections", label: ask.LimitAddressConnections, gate: &fakeGate{}, set: func(c *config.Config) { c.Limits.MaxAddressConns = 1 },
	meet: besideIdle(request("GET", "/", "", "")), status: 429, text: "too many connections from this address",
}, {
	setting: "limits.hash_queue", label: ask.LimitHashQueue, gate: &fakeGate{},
	meet: once("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic("busy", "pw") + "\r\n\r\n"), status: 429, text: "busy",
}, {
	setting: "auth.failed_logins_per_minute", label: ask.LimitFailedLogins, gate: &fakeGate{},
	meet: func(g *guarded) got {
		g.gate.auth = failsOnce()
		wrong := "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic("anna", "wrong") + "\r\n\r\n"
		if a := g.send(wrong); a.status != 401 {
			g.t.Errorf("the first failure: %+v; want 401", a)
		}
		a := g.send(wrong)
		if a.header.Get("Retry-After") != "60" {
			g.t.Errorf("come again after %q s; want 60", a.header.Get("Retry-After"))
		}
		return a
	}, status: 429, text: "too many failed logins from this address",
}, {
	setting: "upstream.max_queue", label: ask.LimitQueue, gate: readPlan(nil, true), node: hold,
	set:  func(c *config.Config) { c.Upstream.MaxConns, c.Upstream.MaxQueue = 1, 0 },
	meet: beside(request("GET", "/", "", "")), status: 429, text: "all connections to the cluster are in use",
}, {
	setting: "upstream.max_user_connections", label: ask.LimitUserConnections, gate: readPlan(nil, true), node: hold,
	set:  func(c *config.Config) { c.Upstream.MaxConns, c.Upstream.QueueTimeout = 2, short },
	meet: beside(request("GET", "/", "", "")), status: 429, text: "too many connections to the cluster are in use for this user; nothing was sent to it",
}, {
	setting: "upstream.queue_timeout", label: ask.LimitQueueTimeout, gate: readPlan(nil, true), node: hold,
	set:  func(c *config.Config) { c.Upstream.MaxConns, c.Upstream.QueueTimeout = 1, short },
	meet: beside(request("GET", "/", "", "")), status: 429, text: "all connections to the cluster are in use",
}}

var timeLimitCases = []limitCase{{
	setting: "timeouts.read_header", label: ask.LimitReadHeader, gate: &fakeGate{}, set: func(c *config.Config) { c.Timeouts.ReadHeader = short },
	meet: once("GET / HTTP/1.1\r\nHost: "), status: 408, text: "the request head did not come within",
}, {
	setting: "timeouts.read", label: ask.LimitRead, gate: echo(), set: func(c *config.Config) { c.Timeouts.Read = short },
	meet: once("POST / HTTP/1.1\r\nHost: a\r\n" + authLine + jsonLine + "Content-Length: 10\r\n\r\n{"), status: 408, text: "the request body did not come in time",
}, {
	setting: "timeouts.write", label: ask.LimitWrite, gate: readPlan(nil, true), set: func(c *config.Config) { c.Timeouts.Write = short },
	node: func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, strings.Repeat(" ", 16<<20)) },
	meet: leavesUnread(ask.LimitWrite),
}, {
	setting: "limits.min_rate", label: ask.LimitMinRate, gate: &fakeGate{intake: gate.IntakeStream},
	set:  func(c *config.Config) { c.Timeouts.Stall = short },
	meet: once("POST / HTTP/1.1\r\nHost: a\r\n" + authLine + "Content-Length: 1000000\r\n\r\n{"), status: 408,
	text: "the request body did not come in time: less than 512 bytes a second",
}, {
	setting: "limits.min_rate", label: ask.LimitMinRate, gate: bulkGate(func() *fakeLines { return &fakeLines{} }, nil),
	set:  func(c *config.Config) { c.Timeouts.Stall = short },
	meet: once("POST /_bulk HTTP/1.1\r\nHost: a\r\n" + authLine + ndjsonLine + "Content-Length: 1000000\r\n\r\n" + strings.Repeat("{\"index\":{}}\n{}\n", linesStart/8)), status: 408,
	text: "less than 512 bytes a second",
}, {
	setting: "limits.min_rate", label: ask.LimitMinRate, gate: echo(), set: func(c *config.Config) { c.Timeouts.Stall = short },
	meet: once("POST / HTTP/1.1\r\nHost: a\r\n" + authLine + jsonLine + "Content-Length: 10\r\n\r\n{"), status: 408,
	text: "the request body did not come in time: less than 512 bytes a second",
}, {
	setting: "limits.min_rate", label: ask.LimitMinRate, gate: bulkGate(func() *fakeLines { return &fakeLines{} }, nil),
	set:  func(c *config.Config) { c.Timeouts.Stall = short },
	meet: once("POST /_bulk HTTP/1.1\r\nHost: a\r\n" + authLine + ndjsonLine + "Content-Length: 10\r\n\r\n{"), status: 408,
	text: "less than 512 bytes a second",
}, {
	setting: "timeouts.stall", label: ask.LimitMinRate, gate: readPlan(nil, true), set: func(c *config.Config) { c.Timeouts.Stall = short },
	node: func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, strings.Repeat(" ", 16<<20)) },
	meet: leavesUnread(ask.LimitMinRate),
}, {
	setting: "timeouts.idle", label: ask.LimitIdle, gate: &fakeGate{}, set: func(c *config.Config) { c.Timeouts.Idle = short },
	meet: func(g *guarded) got {
		if n, err := g.dial().Read(make([]byte, 1)); err != io.EOF {
			g.t.Errorf("an idle connection read %d bytes, error %v; want it closed", n, err)
		}
		return got{}
	},
}, {
	setting: "timeouts.connect", label: ask.LimitConnect, gate: readPlan(nil, true),
	set: func(c *config.Config) {
		// A node that lets TCP connect and never answers the handshake of TLS.
		c.Upstream.URLs = []string{strings.Replace(c.Upstream.URLs[0], "http:", "https:", 1)}
		c.Timeouts.Connect = short
	},
	meet: once(request("GET", "/", "", "")), status: 503, text: "the cluster can't be reached; nothing was sent to it",
}, {
	setting: "timeouts.upstream", label: ask.LimitUpstream, gate: readPlan(nil, true), node: hold,
	set:  func(c *config.Config) { c.Timeouts.Upstream = short },
	meet: once(request("GET", "/hold", "", "")), status: 504, text: "the cluster did not answer in time",
}, {
	setting: "timeouts.drain", label: ask.LimitDrain, gate: readPlan(nil, true), node: hold,
	meet: func(g *guarded) got {
		c := g.dial()
		_, _ = io.WriteString(c, request("GET", "/hold", "", ""))
		eventually(g.t.(*testing.T), "the request is at work", func() bool { return g.atWork() == 1 })
		ctx, cancel := context.WithTimeout(context.Background(), short)
		defer cancel()
		_ = g.srv.Shutdown(ctx) // requests are cut, which it says
		return readGot(g.t, c, bufio.NewReader(c), "GET")
	}, status: 502, text: "is unknown",
}}

// short is a timeout that a test waits for.
const short = 200 * time.Millisecond

// hits returns how often a limit was met.
func (g *guarded) hits(l ask.Limit) float64 {
	g.t.Helper()
	return counters(g.t, g.reg, "guard_limit_hits_total")[string(l)]
}

// counters returns the values of a metric with one label, by the label.
func counters(t testing.TB, reg *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				values[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return values
}

// TestLimits meets each limit: the client is told which, the metric counts it under its
// own label and no other, and nothing stays held.
func TestLimits(t *testing.T) {
	for _, l := range limitCases {
		t.Run(string(l.label), func(t *testing.T) {
			t.Parallel()
			node := newFake(t)
			if l.node != nil {
				node.answers(l.node)
			}
			if l.label == ask.LimitConnect {
				node.takes(func(_ net.Conn, br *bufio.Reader) { _, _ = io.Copy(io.Discard, br) })
			}
			conf := testConfig(node.url())
			if l.set != nil {
				l.set(conf)
			}
			g := startGuard(t, l.gate, conf)
			if a := l.meet(g); a.status != l.status || !strings.Contains(a.body, l.text) {
				t.Errorf("got %d %.200s; want %d %q", a.status, a.body, l.status, l.text)
			}
			for label, n := range counters(t, g.reg, "guard_limit_hits_total") {
				if want := label == string(l.label); (n > 0) != want {
					t.Errorf("limit %s was met %v times; want that of %s alone", label, n, l.label)
				}
			}
		})
	}
}

// TestEachLimitIsShown holds that no setting that bounds something lacks its case above,
// and no label its.
func TestEachLimitIsShown(t *testing.T) {
	shown := map[string]bool{
		"limits.hash_concurrency":   true, // bounds what runs; who comes beyond it waits
		"timeouts.drain_delay":      true, // bounds nothing
		"limits.max_kept_decisions": true, // past it decisions are made anew
	}
	labels := map[ask.Limit]bool{}
	for _, l := range limitCases {
		shown[l.setting], labels[l.label] = true, true
	}
	for section, v := range map[string]any{"limits": config.Limits{}, "timeouts": config.Timeouts{}} {
		for f := range reflect.TypeOf(v).Fields() {
			key := section + "." + f.Tag.Get("yaml")
			if key != section+".-" && !shown[key] {
				t.Errorf("no case shows that %s binds", key)
			}
		}
	}
	for _, l := range ask.Limits() {
		if !labels[l] {
			t.Errorf("no case shows limit %s", l)
		}
	}
	if n := len(ask.Limits()); len(labels) != n {
		t.Errorf("%d limits are met and %d are known", len(labels), n)
	}
}
