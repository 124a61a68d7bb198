package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"guard/gate"
	"guard/internal/ask"
)

// fakeLines passes every item on, with its index replaced; a line with "deny" is
// refused as an item, one with "bad" as a whole.
type fakeLines struct {
	n, panicAt int
	action     []byte
	denied     bool
	sent       int
	end        error
	held       int64
	panicAtEnd bool
}

func (l *fakeLines) Action(line []byte) (bool, error) {
	if l.n++; l.n == l.panicAt {
		panic("a fault in a line plan")
	}
	if bytes.Contains(line, []byte("bad")) {
		return false, errors.New("malformed action line")
	}
	if bytes.Contains(line, []byte("internal")) {
		return false, &ask.Rejection{Status: 403, Public: "whole bulk refused"}
	}
	l.action = line // it has to hold until Item
	l.denied = bytes.Contains(line, []byte("deny"))
	return !bytes.Contains(line, []byte(`"delete"`)), nil
}

func (l *fakeLines) Item(dst, document []byte) ([]byte, error) {
	if l.denied {
		return dst, nil
	}
	l.sent++
	dst = append(append(dst, l.action...), '\n')
	if document != nil {
		dst = append(append(dst, document...), '\n')
	}
	return dst, nil
}

func (l *fakeLines) Held() int64 { return l.held }

func (l *fakeLines) End() (*gate.Answer, error) {
	if l.panicAtEnd {
		panic("a fault at the end of a line plan")
	}
	if l.sent == 0 {
		return &gate.Answer{Status: 200, ContentType: jsonType, Body: []byte(`{"all":"refused"}`)}, l.end
	}
	return nil, l.end
}

func bulkGate(lines func() *fakeLines, treat gate.Treatment) *fakeGate {
	return &fakeGate{restricted: true, intake: gate.IntakeLines, plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Forward, Route: "bulk", Forward: gate.Forwarding{
			Call: gate.Call{Method: "POST", Target: "/_bulk", Source: gate.PlannedBody}, Lines: lines(), Treat: treat,
		}}
	}}
}

const ndjsonLine = "Content-Type: application/x-ndjson\r\n"

func TestLines(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		writeAnswer(c, 200, `{"lines":`+itoa(bytes.Count(body, []byte("\n")))+`}`)
	})
	conf := testConfig(node.url())
	conf.Limits.MaxBulkLine = 128 << 10
	conf.Limits.MaxBulkBody = 4 << 20
	g := startGuard(t, bulkGate(func() *fakeLines { return &fakeLines{} }, nil), conf)
	f := func(body string, status int, answer string, atNode ...string) {
		t.Helper()
		before := len(node.requests())
		for _, framed := range []string{request("POST", "/_bulk", ndjsonLine, body), chunkedRequest("/_bulk", ndjsonLine, body)} {
			a := g.send(framed)
			if a.status != status || !strings.Contains(a.body, answer) {
				t.Errorf("got %d %.200q; want %d %q", a.status, a.body, status, answer)
			}
		}
		seen := node.requests()[before:]
		if len(seen) != 2*len(atNode) {
			t.Errorf("the node executed %d requests; want %d", len(seen), 2*len(atNode))
			return
		}
		for _, s := range seen {
			if s.body != atNode[0] {
				t.Errorf("the node got %.200q; want %.200q", s.body, atNode[0])
			}
		}
	}
	pair := "{\"index\":{}}\n{\"a\":1}\n"
	many := strings.Repeat(pair, 20000) // beyond the start: sent in chunks
	f(pair, 200, `{"lines":2}`, pair)
	f("{\"index\":{}}\r\n{\"a\":1}\r\n\n", 200, `{"lines":2}`, pair) // line ends are made anew, empty lines dropped
	f(many, 200, `{"lines":40000}`, many)
	f("{\"index\":\"deny\"}\n{}\n"+pair, 200, `{"lines":2}`, pair)
	f(strings.TrimSuffix(pair, "\n"), 200, `{"lines":2}`, pair) // the last line gets its end
	f(many+"{\"delete\":{}}", 200, `{"lines":40001}`, many+"{\"delete\":{}}\n")
	f("{\"delete\":{}}\n"+pair, 200, `{"lines":3}`, "{\"delete\":{}}\n"+pair)
	f(strings.Repeat("{\"index\":\"deny\"}\n{}\n", 20000), 200, `{"all":"refused"}`) // nothing is sent, however long
	f("{\"index\":{}}\n\""+strings.Repeat("a", 100<<10)+"\"\n", 200, `{"lines":2}`, "{\"index\":{}}\n\""+strings.Repeat("a", 100<<10)+"\"\n")

	// What is malformed executes nothing, wherever it stands.
	f("bad\n", 400, "malformed action line")
	f(pair+"bad\n", 400, "malformed action line")
	f(many+"bad\n"+many, 400, "malformed action line")
	f(many+"internal\n", 403, "whole bulk refused")
	f(pair+"{\"index\":{}}\n", 400, "ends after an action that wants a document")
	f(many+"{\"index\":{}}\n", 400, "ends after an action that wants a document")
	f(pair+"{\"index\":{}}\n\""+strings.Repeat("a", 200<<10)+"\"\n", 413, "a line of the bulk body is longer than 131072 bytes")
	f(strings.Repeat(pair, 300000), 413, "the body is larger than 4194304 bytes")
}

func TestLinesEnd(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, bulkGate(func() *fakeLines { return &fakeLines{end: errors.New("no")} }, nil), testConfig(node.url()))
	pair := "{\"index\":{}}\n{\"a\":1}\n"
	for _, n := range []int{1, 20000} {
		if a := g.send(request("POST", "/_bulk", ndjsonLine, strings.Repeat(pair, n))); a.status != 400 {
			t.Errorf("%d items: %+v; want 400", n, a)
		}
	}
	if n := len(node.requests()); n != 0 {
		t.Errorf("the node executed %d requests; want none", n)
	}
}

func TestLinesInflated(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, bulkGate(func() *fakeLines { return &fakeLines{} }, nil), testConfig(node.url()))
	many := strings.Repeat("{\"index\":{}}\n{\"a\":1}\n", 20000)
	a := g.send(request("POST", "/_bulk", ndjsonLine+"Content-Encoding: gzip\r\n", zip(many)))
	seen := node.requests()
	if a.status != 200 || len(seen) != 1 || seen[0].body != many || seen[0].header.Get("Content-Encoding") != "" {
		t.Errorf("got %+v, %d requests at the node", a, len(seen))
	}
}

// TestLinesBudget holds that long lines count as what they hold.
func TestLinesBudget(t *testing.T) {
	node := newFake(t)
	conf := testConfig(node.url())
	conf.Limits.MaxInFlight = 1 << 20
	g := startGuard(t, bulkGate(func() *fakeLines { return &fakeLines{} }, nil), conf)
	pair := "{\"index\":{}}\n\"" + strings.Repeat("a", 1<<20) + "\"\n"
	if a := g.send(request("POST", "/_bulk", ndjsonLine, pair)); a.status != 429 {
		t.Errorf("got %d %.100s; want 429", a.status, a.body)
	}
	if n := len(node.requests()); n != 0 {
		t.Errorf("the node executed %d requests", n)
	}
	if a := g.send(request("POST", "/_bulk", ndjsonLine, strings.Repeat("{\"index\":{}}\n{}\n", 100000))); a.status != 200 {
		t.Errorf("a long bulk of short lines: %+v", a)
	}
}

func zip(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s)) // a buffer takes all
	_ = w.Close()
	return b.String()
}

func chunkedRequest(target, headers, body string) string {
	var b strings.Builder
	b.WriteString("POST " + target + " HTTP/1.1\r\nHost: a\r\n" + authLine + headers + "Transfer-Encoding: chunked\r\n\r\n")
	for len(body) > 0 {
		n := min(len(body), 7000)
		b.WriteString(strings.ToUpper(hexOf(n)) + "\r\n" + body[:n] + "\r\n")
		body = body[n:]
	}
	b.WriteString("0\r\n\r\n")
	return b.String()
}
