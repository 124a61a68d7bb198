package proxy

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/gate"
)

// corsConfig is a configuration with CORS for some origins.
func corsConfig(url string, change func(*config.CORS), origins ...string) *config.Config {
	c := testConfig(url)
	c.CORS.SetDefaults()
	c.CORS.Enabled, c.CORS.AllowOrigins = true, origins
	if change != nil {
		change(&c.CORS)
	}
	return c
}

// corsOf returns the headers of an answer that CORS is about.
func corsOf(h http.Header) http.Header {
	out := http.Header{}
	for name, values := range h {
		if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
			out[name] = values
		}
	}
	return out
}

const acrm = "Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: x-a, content-type\r\n"

// TestPreflight: guard answers it itself, to nobody in particular, and never asks the
// cluster.
func TestPreflight(t *testing.T) {
	node := newFake(t)
	f := func(conf *config.Config, origin string, status int, want http.Header) {
		t.Helper()
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
		c := g.dial()
		br := bufio.NewReader(c)
		raw := "OPTIONS /i/_doc/1 HTTP/1.1\r\nHost: es:9200\r\nOrigin: " + origin + "\r\n" + acrm + "\r\n"
		for range 2 { // the connection stays
			if _, err := c.Write([]byte(raw)); err != nil {
				t.Fatal(err)
			}
			a := readGot(t, c, br, "OPTIONS")
			if a.status != status || a.closed || status == 200 && a.body != "" {
				t.Errorf("%s: got %+v; want %d", origin, a, status)
			}
			if d := cmp.Diff(want, corsOf(a.header)); d != "" {
				t.Errorf("%s: headers (-want +got):\n%s", origin, d)
			}
		}
	}
	full := http.Header{
		"Access-Control-Allow-Methods":  {"OPTIONS, HEAD, GET, POST, PUT, DELETE"},
		"Access-Control-Allow-Headers":  {"X-Requested-With, Content-Type, Content-Length, Authorization, Accept, User-Agent, X-Elastic-Client-Meta"},
		"Access-Control-Max-Age":        {"1728000"},
		"Access-Control-Expose-Headers": {"X-Elastic-Product"},
	}
	allowed := func(origin string, more ...string) http.Header {
		h := full.Clone()
		h["Access-Control-Allow-Origin"] = []string{origin}
		if origin != "*" {
			h["Vary"] = []string{"Origin"}
		}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = []string{more[i+1]}
		}
		return h
	}
	refused := http.Header{"Vary": {"Origin"}}
	some := corsConfig(node.url(), nil, "https://app.example", "https://*.team.example", `/http://localhost(:[0-9]+)?/`, "null")
	for _, origin := range []string{"https://app.example", "https://a.team.example", "http://localhost", "http://localhost:3000", "null"} {
		f(some, origin, 200, allowed(origin))
	}
	for _, origin := range []string{
		"https://evil.example", "http://app.example", "https://app.example:8443", "https://app.example.evil.example", "https://team.example", "HTTPS://APP.EXAMPLE",
		"http://localhost:3000.evil.example", "http://es:9200", "x", "https://" + strings.Repeat("a.", 200) + "team.example",
	} {
		f(some, origin, 403, refused)
	}
	f(corsConfig(node.url(), nil, "*"), "https://any.example", 200, allowed("*"))
	own := func(c *config.CORS) {
		c.AllowCredentials, c.AllowMethods, c.AllowHeaders, c.ExposeHeaders, c.MaxAge = true, []string{"GET"}, []string{"X-A"}, nil, 0
	}
	want := http.Header{
		"Access-Control-Allow-Origin": {"https://app.example"}, "Vary": {"Origin"}, "Access-Control-Allow-Credentials": {"true"},
		"Access-Control-Allow-Methods": {"GET"}, "Access-Control-Allow-Headers": {"X-A"}, "Access-Control-Max-Age": {"0"},
	}
	f(corsConfig(node.url(), own, "https://app.example"), "https://app.example", 200, want)
	if n := len(node.requests()); n != 0 {
		t.Errorf("%d requests came to the node", n)
	}
}

// TestCrossOrigin: whatever the answer is, an allowed page may see it, and what the
// cluster itself says of pages is dropped; a page that is not allowed gets no answer.
func TestCrossOrigin(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		writeAnswer(c, 200, "{}", "Access-Control-Allow-Origin: *", "access-control-allow-credentials: true", "Vary: Accept-Encoding", "X-Elastic-Product: Elasticsearch")
	})
	pass := startGuard(t, &fakeGate{intake: gate.IntakeStream}, corsConfig(node.url(), nil, "https://app.example"))
	read := startGuard(t, readPlan(asIs{}, true), corsConfig(node.url(), nil, "https://app.example"))
	denied := startGuard(t, &fakeGate{intake: gate.IntakeStream, plan: denyAll}, corsConfig(node.url(), nil, "https://app.example"))
	f := func(g *guarded, raw string, status int, allowed bool, vary ...string) {
		t.Helper()
		a := g.send(raw)
		want := http.Header{"Vary": vary}
		if allowed {
			want["Access-Control-Allow-Origin"], want["Access-Control-Expose-Headers"] = []string{"https://app.example"}, []string{"X-Elastic-Product"}
		}
		if d := cmp.Diff(want, corsOf(a.header)); d != "" || a.status != status {
			t.Errorf("%.60q: got %d; want %d; headers (-want +got):\n%s", raw, a.status, status, d)
		}
	}
	const origin, foreign = "Origin: https://app.example\r\n", "Origin: https://evil.example\r\n"
	for _, g := range []*guarded{pass, read} {
		f(g, request("GET", "/", origin, ""), 200, true, "Origin", "Accept-Encoding")
		f(g, request("GET", "/", "", ""), 200, false, "Origin", "Accept-Encoding")
		f(g, request("GET", "/", "Origin: http://es:9200\r\n", ""), 200, false, "Origin", "Accept-Encoding") // a page of the host itself
		f(g, request("HEAD", "/", origin, ""), 200, true, "Origin", "Accept-Encoding")
		f(g, request("OPTIONS", "/", origin, ""), 200, true, "Origin", "Accept-Encoding") // no preflight
	}
	f(denied, request("GET", "/", origin, ""), 403, true, "Origin")
	f(pass, "GET / HTTP/1.1\r\nHost: a\r\n"+origin+"\r\n", 401, true, "Origin")
	f(pass, "GET / HTTP/1.1\r\nHost: a\r\n"+origin+"X Y: 1\r\n\r\n", 400, true, "Origin")
	f(pass, request("GET", "/", origin+"_opendistro_security_user: root\r\n", ""), 403, true, "Origin")

	before := len(node.requests())
	f(pass, request("GET", "/", foreign, ""), 403, false, "Origin")
	f(pass, request("POST", "/_bulk", foreign+"Content-Type: text/plain\r\n", "x"), 403, false, "Origin")
	f(pass, "GET / HTTP/1.1\r\nHost: a\r\n"+foreign+"\r\n", 403, false, "Origin")
	f(pass, request("GET", "/", "Origin:\r\n", ""), 200, false, "Origin", "Accept-Encoding")
	if n := len(node.requests()); n != before+1 {
		t.Errorf("%d requests of foreign pages came to the node", n-before-1)
	}
	for _, seen := range node.requests() {
		for name := range seen.header {
			if corsRequest[strings.ToLower(name)] {
				t.Errorf("the node got %s", name)
			}
		}
	}
}

// TestCrossOriginDated: an answer that brings a Date, or one that guard can't read, says
// as much to browsers as any other.
func TestCrossOriginDated(t *testing.T) {
	node := newFake(t)
	const origin = "Origin: https://app.example\r\n"
	for _, fake := range []*fakeGate{{intake: gate.IntakeStream}, readPlan(asIs{}, true)} {
		g := startGuard(t, fake, corsConfig(node.url(), nil, "https://app.example"))
		for _, date := range []string{"Mon, 30 Nov 2026 10:00:00 GMT", "x", ""} {
			node.answers(func(c net.Conn, _ *http.Request, _ []byte) {
				writeAnswer(c, 200, `{"a":1}`, "X-A: 1", "Date: "+date, "X-B: 2")
			})
			for _, raw := range []string{request("GET", "/", origin, ""), request("HEAD", "/", origin, "")} {
				a := g.send(raw)
				want := http.Header{
					"Vary": {"Origin"}, "Access-Control-Allow-Origin": {"https://app.example"}, "Access-Control-Expose-Headers": {"X-Elastic-Product"},
				}
				if d := cmp.Diff(want, corsOf(a.header)); d != "" || a.status != 200 || a.header.Get("X-A") != "1" || a.header.Get("X-B") != "2" {
					t.Errorf("%.9q with Date %q: got %+v; headers (-want +got):\n%s", raw, date, a, d)
				}
				if date != "x" && a.header.Get("Date") != date {
					t.Errorf("Date %q; want %q", a.header.Get("Date"), date)
				}
			}
		}
	}
}

// TestCORSOff: without the setting browsers are the cluster's affair, as they were.
func TestCORSOff(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		writeAnswer(c, 200, "{}", "Access-Control-Allow-Origin: https://app.example")
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	const lines = "Origin: https://evil.example\r\n" + acrm
	if a := g.send(request("OPTIONS", "/", lines, "")); a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" || a.header.Get("Vary") != "" {
		t.Errorf("got %+v", a)
	}
	if a := g.send("OPTIONS / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n"); a.status != 401 {
		t.Errorf("got %+v; want 401", a)
	}
	if seen := node.requests(); len(seen) != 1 || seen[0].header.Get("Origin") != "https://evil.example" || seen[0].header.Get("Access-Control-Request-Method") != "PUT" {
		t.Errorf("the node got %+v", seen)
	}
}
