package proxy

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// echo answers with the body that the plan got.
func echo() *fakeGate {
	return &fakeGate{restricted: true, intake: gate.IntakeWhole, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		body := r.Body
		if body == nil {
			body = []byte("none")
		}
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, Body: body}}
	}}
}

func TestBodies(t *testing.T) {
	conf := testConfig("http://127.0.0.1:1")
	conf.Limits.MaxBody = 4 << 20
	g := startGuard(t, echo(), conf)
	f := func(headers, body string, status int, part string) {
		t.Helper()
		for _, raw := range []string{request("POST", "/i/_search", headers, body), chunkedRequest("/i/_search", headers, body)} {
			if a := g.send(raw); a.status != status || !strings.Contains(a.body, part) {
				t.Errorf("%s %.40q: got %d %.100q; want %d %q", headers, body, a.status, a.body, status, part)
			}
		}
	}
	const gz = jsonLine + "Content-Encoding: gzip\r\n"
	f(jsonLine, `{"a":1}`, 200, `{"a":1}`)
	f("content-type: application/json; charset=utf-8\r\n", `{}`, 200, `{}`)
	f("Content-Type: APPLICATION/X-NDJSON ;charset=\"UTF-8\"\r\n", "{}\n", 200, "{}\n")
	f("Content-Type: application/vnd.elasticsearch+json;compatible-with=8\r\n", `{}`, 200, `{}`)
	f(jsonLine+"Content-Encoding: identity\r\n", `{}`, 200, `{}`)
	f(gz, zip(`{"a":1}`), 200, `{"a":1}`)
	f(jsonLine+"Content-Encoding: GZIP\r\n", zip(`{"a":1}`), 200, `{"a":1}`)
	f(gz, zip(strings.Repeat(`{"a":1}`, 100000)), 200, strings.Repeat(`{"a":1}`, 100000))

	// Types that guard does not read.
	for _, ct := range []string{
		"", "application/yaml", "application/cbor", "application/smile", "text/plain", "application/x-www-form-urlencoded",
		"application/json; charset=utf-16", "application/json; x=y", "application/json, text/plain", "application/vnd.elasticsearch+cbor;compatible-with=8",
	} {
		line := ""
		if ct != "" {
			line = "Content-Type: " + ct + "\r\n"
		}
		f(line, `{}`, 406, "is not supported")
	}

	// Codings that guard does not read, and gzip that is none.
	for _, ce := range []string{"br", "gzip, gzip", "gzip, identity", "compress", "snappy", "x"} {
		f(jsonLine+"Content-Encoding: "+ce+"\r\n", zip(`{}`), 415, "want gzip, deflate, zstd or none")
	}
	const notGzip = "not what Content-Encoding says"
	f(gz, `{"a":1}`, 400, notGzip)
	f(gz, zip(`{}`)+zip(`{}`), 400, notGzip) // a second member is read by some and not by others
	f(gz, zip(`{}`)+"x", 400, notGzip)
	f(gz, zip(`{"a":1}`)[:20], 400, notGzip)
	f(gz, zip(zip(`{}`)), 200, "\x1f\x8b") // inflated once: the JSON parser will refuse the rest

	// Sizes.
	f(jsonLine, strings.Repeat("a", 4<<20), 200, "aaaa")
	f(jsonLine, strings.Repeat("a", 4<<20+1), 413, "the body is larger than 4194304 bytes")
	f(gz, zip(strings.Repeat("a", 8<<20)), 413, "")
	f(gz, zip(zipBomb()), 200, "\x1f\x8b")
	a := g.send("POST / HTTP/1.1\r\nHost: a\r\n" + authLine + jsonLine + "Content-Length: 99999999999\r\n\r\n")
	if a.status != 413 || !a.closed {
		t.Errorf("an announced body of 100 GB: %+v; want 413 at once", a)
	}
	if a := g.send(request("GET", "/", "", "")); a.body != "none" {
		t.Errorf("no body came as %q", a.body)
	}
	eventually(t, "nothing is held any more", func() bool { return conf.Limits.MaxInFlight == g.srv.budget.left.Load() })
}

// zipBomb inflates to a thousand times its size.
var zipBomb = sync.OnceValue(func() string { return zip(strings.Repeat("\x00", 8<<20)) })

// TestInflateRatio meets the ratio limit where the size limit would allow more.
func TestInflateRatio(t *testing.T) {
	conf := testConfig("http://127.0.0.1:1")
	conf.Limits.MaxBody = 256 << 20
	g := startGuard(t, echo(), conf)
	a := g.send(request("POST", "/", jsonLine+"Content-Encoding: gzip\r\n", zipBomb()))
	if a.status != 413 || !strings.Contains(a.body, "more than 250 times its size") {
		t.Errorf("got %d %.200q; want 413", a.status, a.body)
	}
}

func TestNoBodyWanted(t *testing.T) {
	fg := echo()
	fg.intake = gate.IntakeNone
	g := startGuard(t, fg, testConfig("http://127.0.0.1:1"))
	if a := g.send(request("GET", "/", jsonLine, "{}")); a.status != 400 || !strings.Contains(a.body, "takes no body") {
		t.Errorf("got %+v; want 400", a)
	}
	if a := g.send(request("GET", "/", "Content-Length: 0\r\n", "")); a.status != 200 {
		t.Errorf("an empty body: %+v", a)
	}
}

// TestBudget holds that what all requests hold together is bounded and given back.
func TestBudget(t *testing.T) {
	conf := testConfig("http://127.0.0.1:1")
	conf.Limits.MaxInFlight = 1 << 20
	g := startGuard(t, echo(), conf)
	if a := g.send(request("POST", "/", jsonLine, strings.Repeat("a", 2<<20))); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("got %+v; want 429 with Retry-After", a.status)
	}
	for range 10 {
		if a := g.send(request("POST", "/", jsonLine, strings.Repeat("a", 200<<10))); a.status != 200 {
			t.Errorf("got %d; want 200", a.status)
		}
	}
}

// TestTreat reads answers in every coding that may come, bounded, and sends what the
// treatment made of them.
func TestTreat(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Limits.MaxFilteredAnswer = 1 << 20
	g := startGuard(t, readPlan(upper{}, true), conf)
	f := func(headers, body string, status int, want string) {
		t.Helper()
		node.answers(func(c net.Conn, r *http.Request, _ []byte) {
			if r.Header.Get("Accept-Encoding") != "" {
				t.Errorf("the node was asked for %q", r.Header.Get("Accept-Encoding"))
			}
			writeAnswer(c, 200, body, append(strings.Split(headers, "\n"), "X-A: 1", "X-A: 2")...)
		})
		for _, method := range []string{"GET", "HEAD"} {
			a := g.send(request(method, "/i", "Accept-Encoding: gzip, br\r\n", ""))
			if method == "HEAD" {
				continue // the stub sends a body, which is none of this test
			}
			if a.status != status || !strings.Contains(a.body, want) || a.cut || a.header.Get("Content-Encoding") != "" {
				t.Errorf("%s: got %d %.100q %v; want %d %q", headers, a.status, a.body, a.header, status, want)
			}
			if status == 200 && len(a.header["X-A"]) != 2 {
				t.Errorf("headers %v", a.header)
			}
		}
	}
	f("X: y", `{"a":"b"}`, 200, `{"A":"B"}`)
	f("Content-Encoding: gzip", zip(`{"a":"b"}`), 200, `{"A":"B"}`)
	f("Content-Encoding: br", `xyz`, 502, "is not understood")
	f("Content-Encoding: gzip", `xyz`, 502, "is not understood")
	f("Content-Encoding: gzip", zip(`{"a":"b"}`)+"x", 502, "is not understood")
	f("X: y", strings.Repeat("a", 1<<20+1), 502, "too large to filter")
	f("Content-Encoding: gzip", zip(string(patternText)+noise(1<<20)), 502, "too large to filter")
	f("Content-Encoding: gzip", zipBomb(), 502, "")
}

// noise is text that hardly compresses.
func noise(n int) string {
	b := make([]byte, n)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = 'a' + byte(rnd.IntN(16))
	}
	return string(b)
}

// TestTreatHead gives a HEAD the length of what GET would have got.
func TestTreatHead(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{restricted: true, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: gate.Call{Method: "GET", Target: "/i"}, Treat: upper{}}}
	}}, testConfig(node.url()))
	a := g.send(request("HEAD", "/i", "", ""))
	if a.status != 200 || a.body != "" || a.header.Get("Content-Length") != "10" {
		t.Errorf("got %+v", a)
	}
}

// TestHeadHoldsNothing holds that the length in the answer to a HEAD, of a body that never
// comes, takes no room.
func TestHeadHoldsNothing(t *testing.T) {
	node := newFake(t)
	node.takes(func(c net.Conn, br *bufio.Reader) {
		if _, err := http.ReadRequest(br); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3000000\r\n\r\n")
		}
	})
	conf := testConfig(node.url())
	conf.Limits.MaxInFlight = 1 << 20
	g := startGuard(t, &fakeGate{restricted: true, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: gate.Call{Method: "HEAD", Target: "/i"}, Treat: noBody{}}}
	}}, conf)
	if a := g.send(request("HEAD", "/i", "", "")); a.status != 200 {
		t.Errorf("got %+v", a)
	}
}

// noBody is a treatment that keeps the headers of an answer alone.
type noBody struct{}

func (noBody) Treat(a gate.Answer) (gate.Answer, error) {
	a.Body = nil
	return a, nil
}

// TestTreatHeadWithoutLength gives a HEAD no length where the treatment leaves no body:
// neither that of the cluster, nor 0.
func TestTreatHeadWithoutLength(t *testing.T) {
	node := newFake(t)
	for _, method := range []string{"GET", "HEAD"} {
		g := startGuard(t, &fakeGate{restricted: true, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
			return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: gate.Call{Method: method, Target: "/i"}, Treat: noBody{}}}
		}}, testConfig(node.url()))
		a := g.send(request("HEAD", "/i", "", ""))
		if _, given := a.header["Content-Length"]; a.status != 200 || given || a.header.Get("Content-Type") != jsonType {
			t.Errorf("from %s: got %+v", method, a)
		}
	}
}

// TestPassGzip passes a compressed answer on as it is, to a client that asked for it.
func TestPassGzip(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("the node was asked for %q", r.Header.Get("Accept-Encoding"))
		}
		writeAnswer(c, 200, zip(`{"a":1}`), "content-encoding: gzip")
	})
	g := startGuard(t, readPlan(nil, true), testConfig(node.url()))
	a := g.send(request("GET", "/i", "Accept-Encoding: gzip\r\n", ""))
	if a.body != zip(`{"a":1}`) || a.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("got %+v", a)
	}
}

// TestStateIsRefreshedFirst looks at the cluster before the client hears that names
// have changed.
func TestStateIsRefreshedFirst(t *testing.T) {
	node := newFake(t)
	fg := &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		o := passAll(r)
		o.Forward.ChangesState = func() bool { return true }
		return o
	}}
	g := startGuard(t, fg, testConfig(node.url()))
	if a := g.send(request("PUT", "/i", "", "")); a.status != 200 || fg.freshened.Load() != 1 {
		t.Errorf("got %+v after %d refreshes", a, fg.freshened.Load())
	}
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 400, "{}") })
	if a := g.send(request("PUT", "/i", "", "")); a.status != 400 || fg.freshened.Load() != 1 {
		t.Errorf("a failed change: %+v after %d refreshes", a, fg.freshened.Load())
	}
}

// TestHeaders strips what a client may not assert, in any spelling; esfake objects if
// one of them comes through.
func TestHeaders(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	var b bytes.Buffer
	for _, name := range forbiddenAtNode {
		if name == "expect" {
			continue // refused by the frame check
		}
		for _, spelling := range []string{name, strings.ReplaceAll(name, "_", "-"), strings.ToUpper(name)} {
			b.WriteString(spelling + ": admin\r\n")
		}
	}
	raw := b.String()
	for len(raw) > 0 { // within the limit on the number of lines
		n := min(len(raw), 2000)
		n = strings.LastIndex(raw[:n], "\r\n") + 2
		if a := g.send(request("GET", "/", raw[:n]+"Connection: X-Opaque-Id, User-Agent\r\nX-Opaque-Id: 1\r\nUser-Agent: x\r\nX-Forwarded-For: 10.0.0.1\r\nForwarded: for=1\r\n", "")); a.status != 200 {
			t.Fatalf("got %+v", a)
		}
		raw = raw[n:]
	}
	for _, r := range node.requests() {
		if len(r.header) != 1 || r.header.Get("X-Forwarded-For") != "127.0.0.1" {
			t.Errorf("the node got %v; want X-Forwarded-For of guard's making alone", r.header)
		}
	}
}

// TestAccount shows guard's own credentials to the node, and never the client's.
func TestAccount(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Upstream.Username, conf.Upstream.Password = "guard", config.NewSecret("s3cret")
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	g.send(request("GET", "/", "", ""))
	if seen := node.requests(); len(seen) != 1 || seen[0].header.Get("Authorization") != basic("guard", "s3cret") || len(seen[0].header["Authorization"]) != 1 {
		t.Errorf("the node got %+v", seen)
	}
}

// TestFairCall holds that no plan can make two requests of one.
func TestFairCall(t *testing.T) {
	node := newFake(t)
	fg := &fakeGate{}
	g := startGuard(t, fg, testConfig(node.url()))
	f := func(c gate.Call) {
		t.Helper()
		fg.plan = func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
			return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: c}}
		}
		if a := g.send(request("GET", "/", "", "")); a.status != 500 {
			t.Errorf("%q: got %+v; want 500", c.Target, a)
		}
	}
	f(gate.Call{Method: "GET", Target: "/a HTTP/1.1\r\nHost: x\r\n\r\nGET /b"})
	f(gate.Call{Method: "GET", Target: "/a b"})
	f(gate.Call{Method: "GET", Target: "/ä"})
	f(gate.Call{Method: "GET", Target: "a"})
	f(gate.Call{Method: "GET"})
	f(gate.Call{Method: "GET /x", Target: "/"})
	f(gate.Call{Target: "/"})
	f(gate.Call{Method: "POST", Target: "/", Source: gate.FixedBody, ContentType: "a\r\nX: y"})
	if n := len(node.requests()); n != 0 {
		t.Errorf("the node got %d requests", n)
	}
}

// TestAccept lets a client choose the format of what passes, not of what is read here.
func TestAccept(t *testing.T) {
	node := newFake(t)
	f := func(treat gate.Treatment, accept, want string) {
		t.Helper()
		g := startGuard(t, readPlan(treat, true), testConfig(node.url()))
		g.send(request("GET", "/", "Accept: "+accept+"\r\n", ""))
		seen := node.requests()
		if got := seen[len(seen)-1].header.Get("Accept"); got != want {
			t.Errorf("%s: the node was asked for %q; want %q", accept, got, want)
		}
	}
	f(nil, "application/yaml", "application/yaml")
	f(upper{}, "application/yaml", "")
	f(upper{}, "application/json, application/cbor", "")
	f(upper{}, "application/json", "")
}

// TestStatuses passes statuses on, known or not, with what a body they may have.
func TestStatuses(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, readPlan(nil, true), testConfig(node.url()))
	f := func(raw, method string, status int, body, length string) {
		t.Helper()
		node.answers(func(c net.Conn, _ *http.Request, _ []byte) { _, _ = io.WriteString(c, raw) })
		c := g.dial()
		br := bufio.NewReader(c)
		for range 2 { // the second shows that the first left nothing behind
			go func() { _, _ = io.WriteString(c, request(method, "/", "", "")) }()
			a := readGot(t, c, br, method)
			if a.status != status || a.body != body || a.header.Get("Content-Length") != length || a.cut || a.closed {
				t.Errorf("%q: got %+v", raw, a)
			}
		}
	}
	f("HTTP/1.1 204 No Content\r\n\r\n", "GET", 204, "", "")
	f("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "GET", 304, "", "7")
	f("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", "HEAD", 200, "", "7")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD", 200, "", "")
	f("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "HEAD", 404, "", "0")
	f("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "GET", 200, "", "0")
	f("HTTP/1.1 429 Busy Today\r\nContent-Length: 2\r\n\r\n{}", "GET", 429, "{}", "2")
	f("HTTP/1.1 299\r\nContent-Length: 2\r\n\r\n{}", "GET", 299, "{}", "2")
	f("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "GET", 200, "{}", "2")
}
