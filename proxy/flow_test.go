package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/fls"
	"guard/gate"
	"guard/internal/ask"
)

// jsonLine is the header of a JSON body.
const jsonLine = "Content-Type: application/json\r\n"

func TestCallerBeforeCatalogue(t *testing.T) {
	node := newFake(t)
	planned := 0
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		planned++
		return gate.Outcome{}
	}}, testConfig(node.url()))
	f := func(raw string, status int, part string) {
		t.Helper()
		a := g.send(raw)
		if a.status != status || !strings.Contains(a.body, part) {
			t.Errorf("%q: got %d %q; want %d and %q", raw, a.status, a.body, status, part)
		}
	}
	noAuth := func(line, headers string) string { return line + " HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" }
	f(noAuth("GET /nonsense/..//x", ""), 401, "Unauthorized") // before anything about the target
	f(noAuth("OPTIONS /", ""), 401, "Unauthorized")
	f(noAuth("GET /", "Authorization: "+basic("anna", "wrong")+"\r\n"), 401, "Unauthorized")
	f(noAuth("GET /", "X-Proxy-User: anna\r\nX-Forwarded-For: 127.0.0.1\r\n"), 401, "Unauthorized")
	f(noAuth("HEAD /", ""), 401, "")
	f(noAuth("GET /", "Authorization: "+basic("busy", "pw")+"\r\n"), 429, "busy")
	f(noAuth("GET /", "_opendistro_security_user: admin\r\n"), 403, `{"error":{"status":"error","reason":"Illegal parameter in http or transport request found."}}`)
	f(noAuth("GET /", "-OpenDistro-Security-Remotecn: x\r\n"), 403, "Illegal parameter")
	if planned != 0 {
		t.Errorf("the gate was asked %d times; want never", planned)
	}
	f(request("GET", "/", "opendistro_security_impersonate_as: admin\r\n", ""), 403, "'anna' is not allowed to impersonate as 'admin'")
	f(request("GET", "/", "", ""), 403, `"type":"security_exception"`) // the zero outcome rejects
	a := g.send(noAuth("GET /", ""))
	if a.header.Get("Www-Authenticate") != `Basic realm="OpenSearch Security"` {
		t.Errorf("challenge %q", a.header)
	}
}

// TestInName: who asks in another's name is planned for as the other, the cluster is not told
// of either, and a denial names both.
func TestInName(t *testing.T) {
	node := newFake(t)
	var who *ask.Principal
	g := startGuard(t, &fakeGate{restricted: true, plan: func(p *ask.Principal, _ *ask.Request, _ gate.Known) gate.Outcome {
		who = p
		return gate.Outcome{Kind: gate.Reject, Rejection: ask.Rejection{Status: 403, Public: "no", Reason: ask.ReasonNoPrivilege}}
	}}, testConfig(node.url()))
	f := func(headers string, status int, part, name, by string) {
		t.Helper()
		who = &ask.Principal{}
		a := g.send(request("GET", "/", headers, ""))
		if a.status != status || !strings.Contains(a.body, part) || who.Name != name || who.By != by {
			t.Errorf("%q: %d %s as %q by %q; want %d, %s as %q by %q", headers, a.status, a.body, who.Name, who.By, status, part, name, by)
		}
	}
	const header = "opendistro_security_impersonate_as: "
	f("", 403, `"reason":"no"`, "anna", "")
	f(header+"\r\n", 403, `"reason":"no"`, "anna", "")
	f(header+"ben\r\n", 403, `"reason":"no"`, "ben", "anna")
	f("OpenDistro-Security-Impersonate-As: ben\r\n", 403, `"reason":"no"`, "ben", "anna")
	f(header+"eve\r\n", 403, `{"error":{"status":"error","reason":"'anna' is not allowed to impersonate as 'eve'"}}`, "", "")
	f(header+"ben\r\n"+header+"ben\r\n", 400, "more than one header", "", "")
	denied := g.logs.FilterMessage("request denied").All()
	if last := denied[3].ContextMap(); last["user"] != "ben" || last["by"] != "anna" {
		t.Errorf("logged %v; want both names", last)
	}
}

func TestUnfairTargets(t *testing.T) {
	node := newFake(t)
	free := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	bound := startGuard(t, &fakeGate{restricted: true, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, Body: []byte(strings.Join(r.Path, "|"))}}
	}}, testConfig(node.url()))
	for _, target := range []string{
		"//_search", "/a/../b", "/a/%2e%2e/b", "/a%2fb/_search", "/a/%zz", "/%c0%ae%c0%ae/b", "/a%00", "/a?q=%zz", "/a?q=%00", "/a/_search//",
	} {
		if a := bound.send(request("GET", target, "", "")); a.status != 400 || !strings.Contains(a.body, "illegal_argument_exception") {
			t.Errorf("restricted %q: got %d %q; want 400", target, a.status, a.body)
		}
		if strings.Contains(target, "%zz") {
			continue // the stub's parser refuses it too
		}
		if a := free.send(request("GET", target, "", "")); a.status != 200 {
			t.Errorf("unrestricted %q: got %d; want the node's answer", target, a.status)
		}
		if seen := node.requests(); seen[len(seen)-1].target != target {
			t.Errorf("the node got %q; want %q", seen[len(seen)-1].target, target)
		}
	}
	if a := bound.send(request("GET", "/x/_doc/a%2Fb", "", "")); a.body != "x|_doc|a/b" {
		t.Errorf("an id with a slash came as %q", a.body)
	}
}

func TestReject(t *testing.T) {
	rej := ask.Rejection{}
	g := startGuard(t, &fakeGate{plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Rejection: rej, Route: "search"}
	}}, testConfig("http://127.0.0.1:1"))
	f := func(r ask.Rejection, status int, want string) {
		t.Helper()
		rej = r
		a := g.send(request("GET", "/a/_search", "", ""))
		if d := cmp.Diff(want, a.body); d != "" || a.status != status {
			t.Errorf("%d (-want +got):\n%s", a.status, d)
		}
		if a.header.Get("Content-Type") != jsonType {
			t.Errorf("content type %q", a.header.Get("Content-Type"))
		}
		h := g.send(request("HEAD", "/a/_search", "", ""))
		if h.status != status || h.body != "" || h.header.Get("Content-Length") != itoa(len(want)) {
			t.Errorf("HEAD: got %+v", h)
		}
		records := g.logs.FilterMessage("request denied").All()
		if logged := records[len(records)-1].ContextMap()["status"]; logged != int64(status) {
			t.Errorf("the log says status %v; %d was sent", logged, status)
		}
	}
	f(ask.Rejection{}, 403,
		`{"error":{"root_cause":[{"type":"security_exception","reason":"refused"}],"type":"security_exception","reason":"refused"},"status":403}`)
	f(ask.Rejection{Status: 404, Type: "index_not_found_exception", Public: `no such index ["x"]`, Index: &ask.MissingName{Name: "x", As: ask.IndexOrAlias}, Cause: errors.New("secret")}, 404,
		`{"error":{"root_cause":[{"type":"index_not_found_exception","reason":"no such index [\"x\"]","index":"x","resource.id":"x","resource.type":"index_or_alias","index_uuid":"_na_"}],`+
			`"type":"index_not_found_exception","reason":"no such index [\"x\"]","index":"x","resource.id":"x","resource.type":"index_or_alias","index_uuid":"_na_"},"status":404}`)

	rej = ask.Rejection{Reason: ask.ReasonNoPrivilege, Action: "indices:data/read/search", Missing: func(most int) ([]string, int) { return make([]string, most), 100 - most }, Public: "no permissions"}
	g.send(request("GET", "/a/_search", "", ""))
	logged := g.logs.FilterMessage("request denied").All()
	fields := logged[len(logged)-1].ContextMap()
	if fields["user"] != "anna" || fields["reason"] != "no_privilege" || fields["action"] != "indices:data/read/search" ||
		len(fields["missing"].([]any)) != 20 || fields["missing_total"] != int64(100) {
		t.Errorf("denial record %v", fields)
	}
}

// TestRounds answers the needs of a plan in their order, on one snapshot, and starts
// again once on a newer one.
func TestRounds(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		writeAnswer(c, 200, `"`+r.RequestURI+string(body)+`"`, "X-Opaque-Id: "+r.Header.Get("X-Opaque-Id"))
	})
	need := func(target, body string) gate.Call {
		c := gate.Call{Method: "POST", Target: target, ContentType: "application/json", OwnAccount: true}
		if body != "" {
			c.Source, c.Body = gate.FixedBody, []byte(body)
		}
		return c
	}
	newer := &fakeGate{restricted: true, intake: gate.IntakeWhole, plan: func(_ *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome {
		switch len(k.Answers) {
		case 0:
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{need("/a", "1"), need("/b", "")}}
		case 2:
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{need("/c", "3")}}
		}
		all := itoa(len(k.Answers)) + string(r.Body)
		for _, a := range k.Answers {
			all += string(a.Body)
		}
		if !k.Fresh {
			all = "not fresh"
		}
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, Body: []byte(all)}}
	}}
	older := &fakeGate{restricted: true, intake: gate.IntakeWhole, fresher: newer, plan: func(_ *ask.Principal, _ *ask.Request, k gate.Known) gate.Outcome {
		if len(k.Answers) == 0 {
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{need("/old", "")}}
		}
		return gate.Outcome{Kind: gate.Need, NeedState: true}
	}}
	g := startGuard(t, older, testConfig(node.url()))
	a := g.send(request("POST", "/x/_search", jsonLine+"Accept: x\r\nX-Opaque-Id: me\r\nAccept-Encoding: gzip\r\n", `{}`))
	if want := `3{}"/a1""/b""/c3"`; a.status != 200 || a.body != want {
		t.Errorf("got %d %q; want %q", a.status, a.body, want)
	}
	for _, r := range node.requests() {
		if r.header.Get("Accept") != "" || r.header.Get("Accept-Encoding") != "" || r.header.Get("X-Opaque-Id") != "me" {
			t.Errorf("headers of a need: %v", r.header)
		}
	}
	if n := older.freshened.Load(); n != 1 {
		t.Errorf("%d refreshes; want 1", n)
	}
}

func TestPlansThatDoNotEnd(t *testing.T) {
	node := newFake(t)
	f := func(fg *fakeGate, status int, part string) {
		t.Helper()
		g := startGuard(t, fg, testConfig(node.url()))
		if a := g.send(request("GET", "/x", "", "")); a.status != status || !strings.Contains(a.body, part) {
			t.Errorf("got %d %q; want %d %q", a.status, a.body, status, part)
		}
	}
	always := func(o gate.Outcome) func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome { return o }
	}
	f(&fakeGate{plan: always(gate.Outcome{Kind: gate.Need, NeedState: true})}, 503, "keeps changing")
	f(&fakeGate{plan: always(gate.Outcome{Kind: gate.Need, Needs: []gate.Call{{Method: "GET", Target: "/n"}}})}, 500, "its log says why")
	f(&fakeGate{plan: always(gate.Outcome{Kind: gate.Need, NeedState: true}), fresherErr: errors.New("down")}, 503, "can't be refreshed")
	f(&fakeGate{plan: always(gate.Outcome{Kind: 99})}, 403, "security_exception")
	f(&fakeGate{intakeErr: errors.New("BUG")}, 500, "its log says why")
	f(&fakeGate{intakeErr: &ask.Rejection{Status: 400, Public: "no endpoint"}}, 400, "no endpoint")
	f(&fakeGate{intake: gate.IntakeStream, restricted: true}, 500, "its log says why") // law 2: never unread
	f(&fakeGate{intake: gate.IntakeNone}, 500, "its log says why")                     // passAll wants the client's body
	f(&fakeGate{plan: always(gate.Outcome{Kind: gate.Local})}, 500, "")                // an answer without a status
	f(&fakeGate{plan: always(gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: gate.Call{Source: 99}}})}, 500, "its log says why")
	g := startGuard(t, &fakeGate{}, testConfig(node.url()))
	g.srv.snaps = nothingYet{}
	if a := g.send(request("GET", "/x", "", "")); a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("without a snapshot: %+v", a)
	}
}

type nothingYet struct{ *fakeGate }

func (nothingYet) Load() Planner { return nil }

func TestPanics(t *testing.T) {
	node := newFake(t)
	boom := &fakeGate{plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome { panic("a fault in the gate") }}
	g := startGuard(t, boom, testConfig(node.url()))
	f := func(raw string) {
		t.Helper()
		a := g.send(raw)
		if a.status != 500 || !a.closed || strings.Contains(a.body, "fault in") {
			t.Errorf("got %+v; want 500, closed, and nothing of the panic", a)
		}
	}
	f(request("GET", "/x", "", ""))
	f("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic("panic", "pw") + "\r\n\r\n")
	boom.plan = func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: gate.Call{Method: "GET", Target: "/"}, Treat: panicTreat{}}}
	}
	f(request("GET", "/x", "", ""))
	boom.intake = gate.IntakeLines
	boom.plan = func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{
			Call: gate.Call{Method: "POST", Target: "/_bulk", Source: gate.PlannedBody}, Lines: &fakeLines{panicAt: 9000},
		}}
	}
	f(request("POST", "/_bulk", "Content-Type: application/x-ndjson\r\n", strings.Repeat("{\"index\":{}}\n{}\n", 10000))) // within the upload's goroutine
	if n := g.logs.FilterMessage("request ended in a panic").Len(); n != 4 {
		t.Errorf("%d panics logged; want 4", n)
	}
}

type panicTreat struct{}

func (panicTreat) Treat(gate.Answer) (gate.Answer, error) { panic("a fault in a filter") }

func TestNeedsThatFail(t *testing.T) {
	f := func(url string, need gate.Call, status int, part string) {
		t.Helper()
		g := startGuard(t, &fakeGate{plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{need}}
		}}, faultConfig(url))
		if a := g.send(request("GET", "/", "", "")); a.status != status || !strings.Contains(a.body, part) {
			t.Errorf("got %d %s; want %d %q", a.status, a.body, status, part)
		}
	}
	node := newFake(t)
	f("http://127.0.0.1:1", gate.Call{Method: "GET", Target: "/"}, 503, "nothing was sent")
	f(node.url(), gate.Call{Method: "GET", Target: "/", Source: gate.ClientBody}, 500, "its log says why") // a need never reads the client
	f(node.url(), gate.Call{Method: "GET", Target: "/", Source: gate.PlannedBody}, 500, "its log says why")
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, "x", "Content-Encoding: gzip") })
	f(node.url(), gate.Call{Method: "GET", Target: "/"}, 502, "not understood")
}

// TestPolicyChanges meets a newer policy that reads the body in another way: it is read
// once, so the client has to come again.
func TestPolicyChanges(t *testing.T) {
	newer := &fakeGate{restricted: true, intake: gate.IntakeLines}
	older := &fakeGate{restricted: true, intake: gate.IntakeWhole, fresher: newer, plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Need, NeedState: true}
	}}
	g := startGuard(t, older, testConfig("http://127.0.0.1:1"))
	if a := g.send(request("POST", "/", jsonLine, "{}")); a.status != 503 || !strings.Contains(a.body, "the policy changed") {
		t.Errorf("got %+v; want 503", a)
	}
}

// TestOneGeneration holds that who asks and what he may do are of one snapshot, also where
// a request starts again on a newer one.
func TestOneGeneration(t *testing.T) {
	says := func(p *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		if r.RawTarget == "/again" && p.Domain == "old" {
			return gate.Outcome{Kind: gate.Need, NeedState: true}
		}
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, Body: []byte(p.Domain)}}
	}
	newer := &fakeGate{name: "new", plan: says}
	g := startGuard(t, &fakeGate{name: "old", plan: says, fresher: newer}, testConfig("http://127.0.0.1:1"))
	f := func(target string, status int, body string) {
		t.Helper()
		if a := g.send(request("GET", target, "", "")); a.status != status || a.body != body {
			t.Errorf("%s: got %d %q; want %d %q", target, a.status, a.body, status, body)
		}
	}
	f("/", 200, "old")
	f("/again", 200, "new")
	newer.nobody = true
	f("/again", 401, "Unauthorized")
	f("/", 200, "old")
}

// TestRefreshFails tells a client of its change although the look after it failed: the
// change was made.
func TestRefreshFails(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, fresherErr: errors.New("busy"), plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		o := passAll(r)
		o.Forward.ChangesState = func() bool { return true }
		return o
	}}, testConfig(node.url()))
	if a := g.send(request("PUT", "/i", "", "")); a.status != 200 {
		t.Errorf("got %+v; want the node's answer", a)
	}
	if n := g.logs.FilterMessage("cannot refresh the cluster state after a change").Len(); n != 1 {
		t.Errorf("%d records; want 1", n)
	}
}

// TestLoginRecord logs a refused login with its reason, and nothing that was claimed.
func TestLoginRecord(t *testing.T) {
	g := startGuard(t, &fakeGate{}, testConfig("http://127.0.0.1:1"))
	g.send("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic("bertha", "hunter2") + "\r\n\r\n")
	g.send("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: " + basic("busy", "pw") + "\r\n\r\n")
	logged := g.logs.FilterMessage("login refused").All()
	if len(logged) != 2 || logged[0].ContextMap()["reason"] != "unauthenticated" || logged[1].ContextMap()["reason"] != "hashing_busy" {
		t.Fatalf("records %v", logged)
	}
	for _, r := range g.logs.All() {
		said := fmt.Sprint(r.Message, r.ContextMap())
		for _, claimed := range []string{"bertha", "hunter2", basic("bertha", "hunter2")[6:]} {
			if strings.Contains(said, claimed) {
				t.Errorf("%q in %s", claimed, said)
			}
		}
	}
}

// TestDenialLogIsLimited refuses more than the log takes.
func TestDenialLogIsLimited(t *testing.T) {
	g := startGuard(t, &fakeGate{plan: denyAll}, testConfig("http://127.0.0.1:1"))
	g.srv.denyLog.SetBurst(3)
	g.srv.denyLog.SetLimit(0)
	for range 10 {
		g.send(request("GET", "/", "", ""))
	}
	if n := g.logs.FilterMessage("request denied").Len(); n != 3 {
		t.Errorf("%d records; want 3", n)
	}
}

// TestOpaqueID holds that each answer gives the client's id back once, whoever makes it.
func TestOpaqueID(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		writeAnswer(c, 200, `{}`, "X-Opaque-Id: "+r.Header.Get("X-Opaque-Id"))
	})
	local := gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, ContentType: jsonType, Body: []byte(`{}`)}}
	call := gate.Call{Method: "GET", Target: "/i"}
	for name, out := range map[string]gate.Outcome{
		"local":    local,
		"refused":  {},
		"treated":  {Kind: gate.Forward, Forward: gate.Forwarding{Call: call, Treat: upper{}}},
		"as it is": {Kind: gate.Forward, Forward: gate.Forwarding{Call: call}},
	} {
		g := startGuard(t, &fakeGate{restricted: true, plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome { return out }}, testConfig(node.url()))
		a := g.send(request("GET", "/i", "X-Opaque-Id: mine\r\n", ""))
		if got := a.header["X-Opaque-Id"]; len(got) != 1 || got[0] != "mine" {
			t.Errorf("%s: the ids are %q; want the client's", name, got)
		}
		if a := g.send(request("GET", "/i", "", "")); name != "as it is" && name != "treated" && len(a.header["X-Opaque-Id"]) > 0 {
			t.Errorf("%s: an id that the client did not send", name)
		}
	}
}

// moved is how an answer of an index that was not asked for is treated.
type moved struct{}

func (moved) Treat(gate.Answer) (gate.Answer, error) {
	return gate.Answer{}, fmt.Errorf("cannot filter: %w", fls.ErrOtherIndex)
}

// TestMovedNames: a read whose answer is of another index than was decided is planned once
// more, on newer state; a write is not made twice.
func TestMovedNames(t *testing.T) {
	f := func(reads, stays bool, status int, part string, asked int) {
		t.Helper()
		node := newFake(t)
		plan := func(treat gate.Treatment) func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
			return func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
				return gate.Outcome{Kind: gate.Forward, Forward: gate.Forwarding{Call: gate.Call{Method: "GET", Target: "/x", Repeatable: reads}, Treat: treat}}
			}
		}
		newer := &fakeGate{restricted: true, plan: plan(nil)}
		if stays {
			newer.plan = plan(moved{})
		}
		older := &fakeGate{restricted: true, fresher: newer, plan: plan(moved{})}
		a := startGuard(t, older, testConfig(node.url())).send(request("GET", "/x", "", ""))
		if n := len(node.requests()); a.status != status || !strings.Contains(a.body, part) || n != asked {
			t.Errorf("got %d %q after %d calls; want %d %q after %d", a.status, a.body, n, status, part, asked)
		}
	}
	f(true, false, 200, "", 2)
	f(true, true, 502, "can't be filtered", 2) // it was right on neither
	f(false, false, 502, "is unknown", 1)
}
