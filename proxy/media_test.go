package proxy

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

func TestVendorTypes(t *testing.T) {
	f := func(s, plain, canonical string) {
		t.Helper()
		v, ok := parseVendor(s)
		if !ok || v.plain() != plain || v.String() != canonical {
			t.Errorf("%q: got %q and %q, %v; want %q and %q", s, v.plain(), v, ok, plain, canonical)
		}
	}
	f("application/vnd.elasticsearch+json", "application/json", "application/vnd.elasticsearch+json")
	f("application/vnd.elasticsearch+json;compatible-with=8", "application/json", "application/vnd.elasticsearch+json;compatible-with=8")
	f("Application/VND.Elasticsearch+JSON ; Compatible-With=9 ;charset=UTF-8", "application/json; charset=UTF-8", "application/vnd.elasticsearch+json;compatible-with=9")
	f("application/vnd.elasticsearch+x-ndjson; compatible-with=8", "application/x-ndjson", "application/vnd.elasticsearch+x-ndjson;compatible-with=8")
	f("application/vnd.elasticsearch+cbor;q=0.5;compatible-with=8", "application/cbor; q=0.5", "application/vnd.elasticsearch+cbor;compatible-with=8")
	for _, s := range []string{
		"", "application/json", "application/vnd.elasticsearch", "application/vnd.elasticsearch+", "application/vnd.elasticsearch+xml", "application/vnd.opensearch+json",
		"application/vnd.elasticsearch+json, application/json", " application/vnd.elasticsearch+json", "application/vnd.elasticsearch+jsonx",
	} {
		if v, ok := parseVendor(s); ok {
			t.Errorf("%q is taken for %v", s, v)
		}
	}
	list := func(s, want string) {
		t.Helper()
		if got := plainAccept(s); got != want {
			t.Errorf("%q: got %q; want %q", s, got, want)
		}
	}
	list("application/json", "application/json")
	list("text/plain ,*/*;q=0.1", "text/plain ,*/*;q=0.1")
	list("application/vnd.elasticsearch+json;compatible-with=8", "application/json")
	list("text/plain, application/vnd.elasticsearch+json;compatible-with=8;q=0.5,a/b", "text/plain,application/json; q=0.5,a/b")
}

const vendor8 = "application/vnd.elasticsearch+json; compatible-with=8"

// planOf is a gate with that plan, for whom rules bind.
func planOf(f gate.Forwarding) *fakeGate {
	return &fakeGate{restricted: true, intake: gate.IntakeWhole, plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Forward, Forward: f}
	}}
}

// TestVersionedTypes lets the version of the API that a client speaks go along, in the
// Accept and in the type of a body that guard wrote: an engine that knows such types wants
// both or none.
func TestVersionedTypes(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		writeTyped(c, "application/vnd.elasticsearch+json;compatible-with=8", "{}", "X-Elastic-Product: Elasticsearch")
	})
	f := func(f gate.Forwarding, accept, wantAccept, wantType string) {
		t.Helper()
		f.Method, f.Target = "POST", "/i"
		g := startGuard(t, planOf(f), testConfig(node.url()))
		a := g.send(request("POST", "/i", accept+"Content-Type: "+vendor8+"\r\n", "{}"))
		if ct := a.header.Get("Content-Type"); ct != "application/vnd.elasticsearch+json;compatible-with=8" || len(a.header["X-Elastic-Product"]) != 1 {
			t.Errorf("%q: the client got %v", accept, a.header)
		}
		seen := node.requests()
		if h := seen[len(seen)-1].header; h.Get("Accept") != wantAccept || h.Get("Content-Type") != wantType {
			t.Errorf("%q: the node got Accept %q, Content-Type %q; want %q, %q", accept, h.Get("Accept"), h.Get("Content-Type"), wantAccept, wantType)
		}
	}
	written := gate.Call{Source: gate.FixedBody, Body: []byte("{}"), ContentType: "application/json"}
	lines := gate.Call{Source: gate.FixedBody, Body: []byte("{}\n"), ContentType: "application/x-ndjson"}
	own := gate.Call{Source: gate.FixedBody, Body: []byte("{}")} // with the client's type
	const canonical = "application/vnd.elasticsearch+json;compatible-with=8"
	for _, treat := range []gate.Treatment{nil, asIs{}} {
		f(gate.Forwarding{Call: written, Treat: treat}, "Accept: "+vendor8+"\r\n", vendor8, canonical)
		f(gate.Forwarding{Call: lines, Treat: treat}, "Accept: "+vendor8+"\r\n", vendor8, "application/vnd.elasticsearch+x-ndjson;compatible-with=8")
		f(gate.Forwarding{Call: own, Treat: treat}, "Accept: "+vendor8+"\r\n", vendor8, vendor8)
		f(gate.Forwarding{Call: written, Treat: treat}, "", "", "application/json")
	}
	f(gate.Forwarding{Call: written, Treat: asIs{}}, "Accept: application/vnd.elasticsearch+cbor;compatible-with=8\r\n", "", "application/json")
	f(gate.Forwarding{Call: written, Treat: asIs{}}, "Accept: a/b, "+vendor8+"\r\n", "", "application/json")
	f(gate.Forwarding{Call: written, Treat: asIs{}}, "Accept: "+vendor8+"\r\nAccept: a/b\r\n", "", "application/json")
	f(gate.Forwarding{Call: gate.Call{Source: gate.FixedBody, Body: []byte("{}"), ContentType: "application/json", OwnAccount: true}, Treat: asIs{}}, "Accept: "+vendor8+"\r\n", "", "application/json")
}

func writeTyped(c net.Conn, contentType, body string, headers ...string) {
	_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: " + contentType + "\r\nContent-Length: " + itoa(len(body)) + "\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n" + body))
}

// TestCompatibility makes an OpenSearch of the answers what clients of Elasticsearch want:
// each names the product once, and has the type that was asked for. The node sees plain
// types alone.
func TestCompatibility(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Compatibility = config.CompatibilityElasticsearch
	f := func(fg *fakeGate, raw, nodeType, wantType string, nodeSends ...string) {
		t.Helper()
		node.answers(func(c net.Conn, r *http.Request, body []byte) {
			for _, name := range []string{"Accept", "Content-Type"} {
				if strings.Contains(strings.Join(r.Header[name], ","), "vnd.elasticsearch") {
					t.Errorf("%q: the node got %v", raw, r.Header)
				}
			}
			if r.Method == http.MethodHead {
				body = nil
			}
			writeTyped(c, nodeType, string(body), nodeSends...)
		})
		a := startGuard(t, fg, conf).send(raw)
		if got := a.header["X-Elastic-Product"]; len(got) != 1 || got[0] != "Elasticsearch" {
			t.Errorf("%q: the product is %q", raw, got)
		}
		if got := a.header["Content-Type"]; len(got) != 1 || got[0] != wantType {
			t.Errorf("%q: the type is %q; want %q", raw, got, wantType)
		}
	}
	pass, treated := &fakeGate{intake: gate.IntakeStream}, readPlan(asIs{}, true)
	const canonical = "application/vnd.elasticsearch+json;compatible-with=8"
	accepts := "Accept: " + vendor8 + "\r\nContent-Type: " + vendor8 + "\r\n"
	bulk := "Accept: " + vendor8 + "\r\nContent-Type: application/vnd.elasticsearch+x-ndjson;compatible-with=8\r\n"
	for _, fg := range []*fakeGate{pass, treated, planOf(gate.Forwarding{Call: gate.Call{Method: "POST", Target: "/", Source: gate.FixedBody, Body: []byte("{}")}, Treat: asIs{}})} {
		f(fg, request("POST", "/", accepts, "{}"), jsonType, canonical)
		f(fg, request("POST", "/", bulk, "{}\n"), jsonType, canonical)
		f(fg, request("POST", "/", accepts, "{}"), jsonType, canonical, "x-elastic-product: Elasticsearch", "X-Elastic-Product: else")
		f(fg, request("POST", "/", "Content-Type: application/json\r\n", "{}"), jsonType, jsonType)
		f(fg, request("POST", "/", "Accept: text/plain, "+vendor8+"\r\n", ""), jsonType, jsonType) // Elasticsearch takes a list for none
	}
	f(pass, request("GET", "/_cat/indices", accepts, ""), "text/plain; charset=UTF-8", "text/plain; charset=UTF-8")
	f(pass, request("GET", "/", "Accept: application/vnd.elasticsearch+json\r\n", ""), jsonType, "application/vnd.elasticsearch+json")
	f(pass, request("GET", "/", "Accept: application/vnd.elasticsearch+x-ndjson;compatible-with=8\r\n", ""), jsonType, canonical)
	f(pass, request("GET", "/", "Accept: application/vnd.elasticsearch+cbor;compatible-with=8\r\n", ""), "application/cbor", "application/vnd.elasticsearch+cbor;compatible-with=8")
	f(pass, request("HEAD", "/", accepts, ""), jsonType, canonical)
	// Guard's own answers.
	f(&fakeGate{plan: denyAll}, request("GET", "/", accepts, ""), "", canonical)
	f(&fakeGate{plan: denyAll}, request("GET", "/", "", ""), "", jsonType)
	f(echoJSON(), request("GET", "/", accepts, ""), "", canonical)
	f(pass, "GET / HTTP/1.1\r\nHost: a\r\n"+accepts+"\r\n", "", "text/plain; charset=UTF-8") // 401
	f(pass, "GET / HTTP/1.1\r\n"+accepts+"\r\n", "", canonical)                              // 400: no Host
	f(pass, "GET / HTTP/9.9\r\n\r\n", "", jsonType)
}

// echoJSON answers locally.
func echoJSON() *fakeGate {
	return &fakeGate{plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, ContentType: jsonType, Body: []byte("{}")}}
	}}
}

// TestNoCompatibility leaves all that alone by default.
func TestNoCompatibility(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeTyped(c, jsonType, "{}") })
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	a := g.send(request("POST", "/", "Accept: "+vendor8+"\r\nContent-Type: "+vendor8+"\r\n", "{}"))
	if a.header.Get("Content-Type") != jsonType || a.header.Get("X-Elastic-Product") != "" {
		t.Errorf("the client got %v", a.header)
	}
	if h := node.requests()[0].header; h.Get("Accept") != vendor8 || h.Get("Content-Type") != vendor8 {
		t.Errorf("the node got %v", h)
	}
}
