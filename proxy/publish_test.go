package proxy

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"guard/gate"
	"guard/internal/ask"
)

// inPart treats an answer of any type, and says what it got.
type inPart struct{}

func (inPart) Treat(a gate.Answer) (gate.Answer, error) {
	a.Body = append([]byte(a.ContentType+":"), a.Body...)
	return a, nil
}

// TestAsAsked treats the answer to the client's own request, body and all, in the type
// that the client asked for.
func TestAsAsked(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		writeTyped(c, r.Header.Get("Accept"), string(body))
	})
	var seen ask.Request
	fg := &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		seen = *r
		out := passAll(r)
		out.Forward.Treat, out.Forward.AsAsked = inPart{}, true
		return out
	}}
	g := startGuard(t, fg, testConfig(node.url()))
	for _, body := range []string{"", "{}", strings.Repeat("x", 100_000)} {
		a := g.send(request("GET", "/_nodes", "Accept: application/yaml\r\nAccept-Encoding: gzip\r\n", body))
		if a.body != "application/yaml:"+body || a.header.Get("Content-Type") != "application/yaml" {
			t.Errorf("got %d %v %.100q", a.status, a.header, a.body)
		}
	}
	for _, r := range node.requests() {
		if r.header.Get("Accept-Encoding") != "" {
			t.Errorf("the node was asked for %v", r.header)
		}
	}
	if seen.Header.Host != "es:9200" || seen.Secure {
		t.Errorf("the plan saw %+v", seen)
	}
}

// TestSecure tells the plan that a request came by TLS.
func TestSecure(t *testing.T) {
	secure := make(chan bool, 1)
	fg := &fakeGate{plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		secure <- r.Secure
		return gate.Outcome{}
	}}
	conf := testConfig("http://127.0.0.1:1")
	ca := newAuthority(t)
	conf.TLS.Certificate, conf.TLS.Key = ca.issue("guard", []string{"127.0.0.1"})
	g := startGuard(t, fg, conf)
	c, err := tls.Dial("tcp", g.addr, &tls.Config{RootCAs: ca.pool(), MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, request("GET", "/", "", ""))
	if !<-secure {
		t.Error("the plan was told that the request is plain")
	}
}
