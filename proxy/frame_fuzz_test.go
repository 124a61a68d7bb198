package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
	shapes "guard/test/framing"
)

// anyone lets everybody in as the same user, so that a fuzzer need not find a password.
type anyone struct{ fakeAuth }

func (anyone) Identify(context.Context, authn.Credentials) (ask.Identity, error) {
	return ask.Identity{Name: "anna"}, nil
}

// heads are the heads of the shapes, up to the empty line: seeds.
func heads() (list []string) {
	for _, s := range shapes.Shapes(authLine) {
		if head, _, ok := strings.Cut(s.Raw, "\r\n\r\n"); ok {
			list = append(list, head+"\r\n\r\n")
		}
	}
	return list
}

// FuzzParseHead holds the law of the frame check: what it accepts, a strict parser that
// is written from the grammar accepts too, as the same one request; and so does net/http
// where it knows the target.
func FuzzParseHead(f *testing.F) {
	for _, c := range refusedHeads {
		f.Add(c.head)
	}
	for _, head := range heads() {
		f.Add(head)
	}
	f.Add("POST /a%2Fb?x=1;y HTTP/1.1\r\nHost: a:1\r\nContent-Length: 12\r\nConnection: close\r\n\r\n")
	f.Add("PUT / HTTP/1.0\r\nConnection: keep-alive\r\nX-Y_z: \xe4\r\n\r\n")
	f.Fuzz(func(t *testing.T, block string) {
		if n := strings.Index(block, "\r\n\r\n"); n < 0 || n+4 != len(block) {
			return // readBlock gives no other blocks
		}
		h, rej := parseHead(block)
		if rej != nil {
			if rej.Status < 400 || rej.Public == "" {
				t.Fatalf("%q is refused without a reason: %+v", block, rej)
			}
			return
		}
		sameAsStrict(t, block, &h)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(block)))
		if err != nil {
			return // net/http refuses some targets that are opaque to the frame check
		}
		length := h.body.length
		if h.body.chunked {
			length = -1
		}
		if r.Method != h.method || r.RequestURI != h.target || r.ContentLength != length {
			t.Fatalf("%q: read as %s %s %d; net/http says %s %s %d", block, h.method, h.target, length, r.Method, r.RequestURI, r.ContentLength)
		}
	})
}

func sameAsStrict(t *testing.T, block string, h *head) {
	t.Helper()
	q, err := shapes.ReadHead(bufio.NewReader(strings.NewReader(block)))
	if err != nil {
		t.Fatalf("%q is accepted; the strict parser says: %v", block, err)
	}
	if q.Method != h.method || q.Target != h.target || q.HTTP10 != h.http10 || q.Chunked != h.body.chunked || q.Length != h.body.length || len(q.Fields) != len(h.fields) {
		t.Fatalf("%q: read as %+v; the strict parser says %+v", block, h, q)
	}
	for i, f := range h.fields {
		if want := q.Fields[i]; f.name != want.Name || f.value != want.Value || f.key != strings.ToLower(want.Name) {
			t.Fatalf("%q: field %+v; the strict parser says %+v", block, f, want)
		}
	}
}

// FuzzFrames sends bytes to a server. What comes to the cluster is what a strict parser
// reads in these bytes, in order and each at most once, until the first byte that it
// does not accept; nothing hangs, and no answer is given twice.
func FuzzFrames(f *testing.F) {
	for i, s := range shapes.Shapes(authLine) {
		if i%4 == 0 { // test/framing plays all of them; more seeds would leave no time to mutate any
			f.Add([]byte(s.Raw+shapes.Hidden(authLine)), i%8 == 0)
		}
	}
	cluster, err := shapes.StartCluster()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(cluster.Close)
	free := startGuardAs(f, &fakeGate{intake: gate.IntakeStream}, testConfig("http://"+cluster.Addr()), anyone{})
	bound := startGuardAs(f, &fakeGate{restricted: true, intake: gate.IntakeWhole, plan: planAnew}, testConfig("http://"+cluster.Addr()), anyone{})
	f.Fuzz(func(t *testing.T, raw []byte, restricted bool) {
		g := free
		if restricted {
			g = bound
		}
		meant := strictRequests(raw)
		answers := exchangeRaw(t, g.addr, raw, meant)
		seen := cluster.Take()
		if len(seen.Faults) > 0 {
			t.Fatalf("%q: the cluster got what is no request: %v", raw, seen.Faults)
		}
		if answers > len(meant)+1 || answers < len(seen.Requests) {
			t.Fatalf("%q: %d answers, and the cluster saw %d requests of %d", raw, answers, len(seen.Requests), len(meant))
		}
		left := meant
		for _, q := range seen.Requests {
			for len(left) > 0 && !arrivesAs(&left[0], &q, restricted) {
				left = left[1:] // it was refused
			}
			if len(left) == 0 {
				t.Fatalf("%q: the cluster saw %+v; the strict parser reads %+v", raw, q, meant)
			}
			checkFields(t, &left[0], &q)
			left = left[1:]
		}
	})
}

// planAnew forwards what was parsed, written anew, as a gate does for restricted
// principals.
func planAnew(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
	segments := make([]string, len(r.Path))
	for i, s := range r.Path {
		segments[i] = url.PathEscape(s)
	}
	call := gate.Call{Method: r.Method, Target: "/" + strings.Join(segments, "/")}
	if len(r.Body) > 0 {
		call.Source, call.Body = gate.FixedBody, r.Body
	}
	return gate.Outcome{Kind: gate.Forward, Route: "any", Forward: gate.Forwarding{Call: call}}
}

// strictRequests are the requests that the strict parser reads up to the first fault.
func strictRequests(raw []byte) (list []shapes.Request) {
	for r := bufio.NewReader(bytes.NewReader(raw)); ; {
		q, err := shapes.ReadRequest(r)
		if err != nil {
			return list
		}
		list = append(list, q)
	}
}

// exchangeRaw sends bytes, ends its side and reads to the end. It counts the answers.
func exchangeRaw(t *testing.T, addr string, raw []byte, meant []shapes.Request) int {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second)) // fails only on a closed connection
	go func() {
		_, _ = c.Write(raw) // who refuses need not read
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	r := bufio.NewReader(c)
	for n := 0; ; {
		method := http.MethodGet
		if n < len(meant) {
			method = meant[n].Method
		} else if bytes.HasPrefix(raw, []byte("HEAD ")) && n == 0 {
			method = http.MethodHead
		}
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err == nil && res.StatusCode == http.StatusContinue {
			continue
		}
		if err == nil {
			n++
			_, err = io.Copy(io.Discard, res.Body)
		}
		switch {
		case isTimeout(err):
			t.Fatalf("%q: no end after %d answers", raw, n)
		case err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || isClosed(err)):
			return n // cut, since guard takes who half-closes for gone
		case err != nil && n > len(meant):
			return n // the body of a refusal whose method is not known here
		case err != nil:
			t.Fatalf("%q: answer %d: %v", raw, n, err)
		}
	}
}

// arrivesAs reports whether q, which came to the cluster, is m, which a client sent.
func arrivesAs(m, q *shapes.Request, restricted bool) bool {
	if m.Method != q.Method {
		return false
	}
	if !restricted {
		return m.Target == q.Target && m.Body == q.Body
	}
	path, _, err := splitTarget(m.Target)
	again, _, err2 := splitTarget(q.Target)
	same := err == nil && err2 == nil && strings.Join(path, "\x00") == strings.Join(again, "\x00")
	return same && (m.Body == q.Body || m.Value("Content-Encoding") != "")
}

// checkFields wants of what came to the cluster that the client sent it and may, or that
// guard has added it.
func checkFields(t *testing.T, m, q *shapes.Request) {
	t.Helper()
	for _, f := range q.Fields {
		name := strings.ToLower(f.Name)
		switch name {
		case "host", "x-forwarded-for", "content-length", "transfer-encoding":
			continue
		case "content-type", "content-encoding":
		default:
			if !forwarded[name] || namedIn(m.Value("Connection"), name) {
				t.Fatalf("header %q came to the cluster, of %+v", f.Name, m)
			}
		}
		if !strings.Contains(m.Value(name), f.Value) {
			t.Fatalf("header %q came to the cluster with %q, of %+v", f.Name, f.Value, m)
		}
	}
	if len(q.Dropped) > 0 {
		t.Fatalf("%q came to the cluster, of %+v", q.Dropped, m)
	}
}

// namedIn reports whether a Connection header names another header.
func namedIn(connection, name string) bool {
	for _, item := range strings.Split(connection, ",") {
		if strings.EqualFold(strings.TrimSpace(item), name) {
			return true
		}
	}
	return false
}
