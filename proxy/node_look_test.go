package proxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"guard/gate"
)

// TestReadSight: what an answer to a look says of who gave it.
func TestReadSight(t *testing.T) {
	f := func(status int, body string, want verdict, cluster string) {
		t.Helper()
		s := readSight(status, []byte(body))
		if s.verdict != want || s.cluster != cluster || (s.err == nil) != (want == verdictGood) {
			t.Errorf("%d %.60s: got %q of %q, %v; want %q of %q", status, body, s.verdict, s.cluster, s.err, want, cluster)
		}
	}
	f(200, `{"cluster_uuid":"c"}`, verdictGood, "c")
	f(200, `{"cluster_uuid":"c","blocks":{"global":{"6":{"description":"cluster read-only (api)"}}}}`, verdictGood, "c")
	f(200, `{"cluster_uuid":"c","blocks":{"global":{"2":{"description":"no master"}}}}`, verdictLeaderless, "c")
	f(200, `{"cluster_uuid":"_na_","blocks":{"global":{"1":{},"2":{}}}}`, verdictUnformed, "")
	f(200, `{"cluster_uuid":"c","blocks":{"global":{"1":{"description":"state not recovered / initialized"}}}}`, verdictUnformed, "")
	f(200, `{"cluster_uuid":""}`, verdictGarbage, "")
	f(200, `{"cluster_uuid":7}`, verdictGarbage, "")
	f(200, `{}`, verdictGarbage, "")
	f(200, `<html>`, verdictGarbage, "")
	f(200, ``, verdictGarbage, "")
	f(200, `{"cluster_uuid":"c"}`+strings.Repeat(" ", maxLook), verdictGarbage, "")
	f(204, ``, verdictGarbage, "")
	f(301, `{"cluster_uuid":"c"}`, verdictGarbage, "")
	f(401, `{"cluster_uuid":"c"}`, verdictDenied, "")
	f(404, `{}`, verdictDenied, "")
	f(429, `{"cluster_uuid":"c"}`, verdictBusy, "")
	f(500, ``, verdictUnavailable, "")
	f(503, `{"cluster_uuid":"c"}`, verdictUnavailable, "")
}

// TestOdd: which answers to a client's call make guard look at their node.
func TestOdd(t *testing.T) {
	f := func(status int, contentType string, want bool) {
		t.Helper()
		a := &answer{status: status, fields: []field{newField("Content-Type", contentType)}}
		if got := a.odd(); got != want {
			t.Errorf("%d %s: odd is %v; want %v", status, contentType, got, want)
		}
	}
	for _, status := range []int{200, 201, 304, 400, 404, 405, 409, 413, 429, 500} {
		f(status, "application/json", false)
	}
	for _, status := range []int{301, 302, 401, 403, 407, 502, 503, 504} {
		f(status, "application/json", true)
	}
	f(200, "text/plain; charset=UTF-8", false) // cat
	f(200, "text/html", true)
	f(404, "text/plain", true)
	f(404, "application/yaml", false)
}

// bad are ways to be no node that can serve. Each answers looks and calls alike.
var bad = map[verdict]func(c net.Conn, br *bufio.Reader){
	verdictSilent:      func(net.Conn, *bufio.Reader) {},
	verdictGarbage:     eachRequest("SSH-2.0-OpenSSH_9.2\r\n\r\n"),
	verdictDenied:      eachRequest(plainAnswer(401, "no")),
	verdictUnavailable: eachRequest(plainAnswer(503, "{}")),
	verdictUnformed:    eachRequest(plainAnswer(200, `{"cluster_uuid":"_na_"}`)),
	verdictForeign:     eachRequest(plainAnswer(200, `{"cluster_uuid":"other"}`)),
	verdictLeaderless:  eachRequest(plainAnswer(200, `{"cluster_uuid":"`+fakeCluster+`","blocks":{"global":{"2":{}}}}`)),
}

func plainAnswer(status int, body string) string {
	return "HTTP/1.1 " + itoa(status) + " X\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
}

func eachRequest(answer string) func(c net.Conn, br *bufio.Reader) {
	return func(c net.Conn, br *bufio.Reader) {
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, answer) // guard may have left
		}
	}
}

// TestBadFromTheStart: a node that is none from the start gets no call of clients, and
// guard's own questions get the answers of the other.
func TestBadFromTheStart(t *testing.T) {
	for why, raw := range bad {
		good, stranger := newFake(t), newFake(t)
		stranger.takes(raw)
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(stranger.url(), good.url()))
		tr := g.srv.cluster.(*Transport)
		tr.Meet(t.Context())
		for range 20 {
			if a := g.send(request("GET", "/x", "", "")); a.status != 200 {
				t.Errorf("%s: a client got %+v", why, a)
			}
			if status, body, err := tr.Fetch(t.Context(), "GET", "/y"); err != nil || status != 200 {
				t.Errorf("%s: guard got %d %s, %v", why, status, body, err)
			}
		}
		state := stateUnfit
		if why == verdictForeign {
			state = stateForeign
		}
		if n := nodesIn(t, g, state); n != 1 {
			t.Errorf("%s: %v nodes are %s; want 1", why, n, state)
		}
		if n := g.metric("guard_upstream_looks_total", string(why)); n == 0 {
			t.Errorf("%s: no look is counted", why)
		}
	}
}

// TestBecomesBad: one of two nodes is replaced while clients send. It is found out by what
// it answers, gets no more calls, and is used again once it is a node.
func TestBecomesBad(t *testing.T) {
	for why, raw := range bad {
		if why == verdictLeaderless || why == verdictForeign {
			continue // they answer 200: it is for the next look to find that; see TestWatchLooks
		}
		good, turns := newFake(t), newFake(t)
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(turns.url(), good.url()))
		tr := g.srv.cluster.(*Transport)
		tr.nodes.limits.slowStart = 0
		tr.Meet(t.Context())
		for len(turns.requests()) == 0 {
			g.send(request("GET", "/x", "", ""))
		}
		turns.takes(raw)
		turns.closeConns()
		for range 10 {
			if a := g.send(request("GET", "/x", "", "")); a.status != 200 {
				t.Errorf("%s: a client got %+v; a connection has to prove itself before it carries a call", why, a)
			}
		}
		if n := nodesIn(t, g, stateUnfit) + nodesIn(t, g, stateOut); n != 1 {
			t.Errorf("%s: %v nodes are out of use; want 1", why, n)
		}
		turns.takes(nil)
		before := len(turns.requests())
		eventually(t, "the node gets calls again", func() bool {
			return g.send(request("GET", "/x", "", "")).status == 200 && len(turns.requests()) > before
		})
	}
}

// TestOnePooled: a node that turns bad behind a connection that has proved itself is found
// out by what a client's call is answered.
func TestOnePooled(t *testing.T) {
	f := func(answer string) {
		t.Helper()
		good, turns := newFake(t), newFake(t)
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(turns.url(), good.url()))
		tr := g.srv.cluster.(*Transport)
		tr.nodes.limits.lookPause = 0
		tr.Meet(t.Context())
		for range 4 {
			g.send(request("GET", "/x", "", ""))
		}
		refuse := func(c net.Conn, _ *http.Request) { _, _ = io.WriteString(c, answer) }
		turns.says(refuse)
		turns.answers(func(c net.Conn, r *http.Request, _ []byte) { refuse(c, r) })
		eventually(t, "the node is unfit", func() bool {
			g.send(request("GET", "/x", "", ""))
			return nodesIn(t, g, stateUnfit) == 1
		})
		for range 10 {
			if a := g.send(request("GET", "/x", "", "")); a.status != 200 {
				t.Errorf("%.20q: a client got %+v", answer, a)
			}
		}
	}
	f("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
	f("HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\n{}")
	f("HTTP/1.1 302 X\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n")
	f("SSH-2.0-OpenSSH_9.2\r\n\r\n")
}

// TestClientsTakeNothingOut: whatever the cluster answers to clients, a node that answers
// looks as a node stays in use.
func TestClientsTakeNothingOut(t *testing.T) {
	node := newFake(t)
	var says atomic.Value
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { _, _ = io.WriteString(c, says.Load().(string)) })
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(node.url()))
	tr := g.srv.cluster.(*Transport)
	tr.nodes.limits.lookPause = 0
	tr.Meet(t.Context())
	for _, answer := range []string{
		"HTTP/1.1 429 X\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 503 X\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 403 X\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 200 OK\r\nBroken\r\n\r\n", "HTTP/1.1 404 X\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n{}",
	} {
		says.Store(answer)
		for range 10 {
			g.send(request("POST", "/x", "", ""))
		}
	}
	eventually(t, "guard has looked", func() bool { return len(node.lookHeaders()) > 3 })
	if n := nodesIn(t, g, stateUp); n != 1 || g.logs.FilterMessageSnippet("node is").Len() != 0 {
		t.Errorf("%v nodes are up, and the log says %v", n, g.logs.FilterMessageSnippet("node is").All())
	}
}

// TestAllBad: if no node is fit, the client sees what the cluster has to say, unless that
// is nothing, or of another cluster.
func TestAllBad(t *testing.T) {
	want := map[verdict]int{
		verdictDenied: 401, verdictUnavailable: 503, verdictUnformed: 200, verdictLeaderless: 200,
		verdictSilent: 503, verdictGarbage: 503, verdictForeign: 503,
	}
	for why, status := range want {
		one, two := newFake(t), newFake(t)
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(one.url(), two.url()))
		tr := g.srv.cluster.(*Transport)
		tr.Meet(t.Context())
		for _, node := range []*esfake{one, two} {
			node.takes(bad[why])
			node.closeConns()
		}
		for range 4 {
			a := g.send(request("POST", "/x", "", ""))
			if own := strings.Contains(a.body, "nothing was sent to it"); a.status != status || own != (status == 503 && why != verdictUnavailable) {
				t.Errorf("%s: a client got %+v; want %d", why, a, status)
			}
		}
	}
}

// TestLeaderlessServe: while the cluster elects a manager, calls go to its nodes as before,
// on connections that are kept.
func TestLeaderlessServe(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(node.url()))
	tr := g.srv.cluster.(*Transport)
	tr.Meet(t.Context())
	node.says(func(c net.Conn, _ *http.Request) {
		writeAnswer(c, 200, `{"cluster_uuid":"`+fakeCluster+`","blocks":{"global":{"2":{}}}}`)
	})
	tr.nodes.lookAtAll()
	eventually(t, "the node is unfit", func() bool { return nodesIn(t, g, stateUnfit) == 1 })
	g.send(request("GET", "/x", "", ""))
	for range 10 {
		tr.nodes.list[0].judge(tr.nodes.list[0].look(t.Context())) // it is still so
		if a := g.send(request("GET", "/x", "", "")); a.status != 200 {
			t.Errorf("got %+v", a)
		}
		if n := tr.Open(); n != 1 {
			t.Errorf("%d connections are open; want the one", n)
		}
	}
}

// TestOneAnswerAConnection: who ends each connection after one answer is believed for the
// next one.
func TestOneAnswerAConnection(t *testing.T) {
	node := newFake(t)
	last := func(body string) string {
		return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + itoa(len(body)) + "\r\n\r\n" + body
	}
	node.takes(func(c net.Conn, br *bufio.Reader) {
		r, err := http.ReadRequest(br)
		switch {
		case err != nil:
		case r.RequestURI == lookTarget:
			_, _ = io.WriteString(c, last(`{"cluster_uuid":"`+fakeCluster+`"}`))
		default:
			_, _ = io.WriteString(c, last(`{}`))
		}
	})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(node.url()))
	g.srv.cluster.(*Transport).Meet(t.Context())
	for range 3 {
		if a := g.send(request("GET", "/x", "", "")); a.status != 200 || a.body != "{}" {
			t.Errorf("got %+v", a)
		}
	}
}

// TestOtherQuestion: a question of guard's own is put to another node if the answer makes
// no sense, and what all say is the answer.
func TestOtherQuestion(t *testing.T) {
	one, two := newFake(t), newFake(t)
	tr := newTestTransport(t, one.url(), two.url())
	f := func(status int, kind, body string, other bool) {
		t.Helper()
		odd := func(c net.Conn, _ *http.Request, _ []byte) {
			_, _ = io.WriteString(c, "HTTP/1.1 "+itoa(status)+" X\r\nContent-Type: "+kind+"\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
		}
		one.answers(odd)
		two.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, `{"good":1}`) })
		asked := map[int]bool{}
		for range 4 {
			got, _, err := tr.Fetch(context.Background(), "GET", "/")
			if err != nil {
				t.Errorf("%d %s: %v", status, body, err)
			}
			asked[got] = true
		}
		if !asked[200] || other && len(asked) != 1 || !other && !asked[status] {
			t.Errorf("%d %s: got %v; want the other node's answer instead: %v", status, body, asked, other)
		}
		two.answers(odd)
		if got, text, err := tr.Fetch(context.Background(), "GET", "/"); err != nil || got != status || string(text) != body {
			t.Errorf("%d %s: all say so, and guard got %d %s, %v", status, body, got, text, err)
		}
	}
	f(401, jsonType, `{}`, true)
	f(403, jsonType, `{}`, true)
	f(503, jsonType, `{}`, true)
	f(302, jsonType, `{}`, true)
	f(200, "text/html", `<html>`, true)
	f(200, "text/plain", `hello`, true)
	f(500, jsonType, `{"error":{"type":"null_pointer_exception"}}`, false) // a wait that is over
	f(400, jsonType, `{}`, false)
	_ = one.ln.Close()
	one.closeConns()
	f2 := func(answer string) {
		t.Helper()
		two.takes(eachRequest(answer))
		if _, _, err := tr.Fetch(context.Background(), "GET", "/"); err == nil {
			t.Errorf("%q: no error", answer)
		}
	}
	two.closeConns()
	f2("SSH-2.0-OpenSSH_9.2\r\n\r\n")
}

// TestWatchLooks: a node that has nothing but good answers for clients is found out by the
// next look.
func TestWatchLooks(t *testing.T) {
	one, two := newFake(t), newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(one.url(), two.url()))
	tr := g.srv.cluster.(*Transport)
	tr.Meet(t.Context())
	one.says(func(c net.Conn, _ *http.Request) {
		writeAnswer(c, 200, `{"cluster_uuid":"`+fakeCluster+`","blocks":{"global":{"2":{}}}}`)
	})
	tr.nodes.lookAtAll()
	eventually(t, "the node is unfit", func() bool { return nodesIn(t, g, stateUnfit) == 1 })
	before := len(one.requests())
	for range 10 {
		g.send(request("GET", "/x", "", ""))
	}
	if n := len(one.requests()); n != before {
		t.Errorf("it got %d calls", n-before)
	}
	one.says(nil)
	eventually(t, "the node is back", func() bool { return nodesIn(t, g, stateUp) == 2 })
	if n := g.logs.FilterMessage("node is unfit").Len(); n != 1 {
		t.Errorf("it is logged %d times that the node is unfit", n)
	}
}
