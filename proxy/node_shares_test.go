package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
)

// TestSharesOfNodes: users who take what they can get leave one part more than they are, so there
// is a connection for who comes next as long as they are fewer than connections. A bound of
// its own is that of each user, guard has room beyond all, and what is given back is free.
func TestSharesOfNodes(t *testing.T) {
	f := func(maxConns, userConns, users int, each ...int) {
		t.Helper()
		p := newPaperNodes(nodeLimits{maxConns: maxConns, userConns: userConns}, "a")
		take := func(c claim) bool {
			h, _ := p.choose(&pick{claim: c})
			if h != nil {
				p.take(h, &pick{claim: c})
			}
			return h != nil
		}
		for more := true; more; {
			more = false
			for i := range users {
				more = take(claim{user: fmt.Sprint(i)}) || more
			}
		}
		a := p.by["a"]
		var got []int
		for i := range users {
			got = append(got, a.held[fmt.Sprint(i)])
		}
		if !slices.Equal(got, each) {
			t.Errorf("of %d connections (bound %d) %d users hold %v; want %v", maxConns, userConns, users, got, each)
		}
		if left := a.load() < maxConns; left != take(claim{user: "next"}) {
			t.Errorf("of %d connections %v are held: one is left: %v, and the next user gets none or too many", maxConns, got, left)
		}
		for range ownRoom {
			if !take(claim{own: true}) {
				t.Errorf("guard has no room of its own beside %v", got)
			}
		}
		for c := range a.held {
			for a.held[c] > 0 {
				a.drop(claim{user: c})
			}
		}
		if !take(claim{user: "0"}) || len(a.held) != 1 {
			t.Errorf("what was given back is not free: %v", a.held)
		}
	}
	f(512, 0, 1, 256)
	f(512, 0, 2, 171, 171)
	f(512, 0, 3, 128, 128, 128)
	f(512, 0, 7, 64, 64, 64, 64, 64, 64, 64)
	f(4, 0, 1, 2)
	f(3, 0, 1, 2)
	f(2, 0, 1, 1)
	f(1, 0, 1, 1)
	f(4, 0, 4, 1, 1, 1, 1) // many users may use all
	f(8, 3, 1, 3)
	f(8, 8, 1, 8)
}

// TestRoomOfShared: shared calls hold one part of what is free, and one at least; each user has as
// much beside them as if they were a user's.
func TestRoomOfShared(t *testing.T) {
	f := func(maxConns, want, user int) {
		t.Helper()
		p := newPaperNodes(nodeLimits{maxConns: maxConns}, "a")
		a := p.by["a"]
		take := func(c claim) (n int) {
			for {
				h, _ := p.choose(&pick{claim: c})
				if h == nil {
					return n
				}
				p.take(h, &pick{claim: c})
				n++
			}
		}
		shared := claim{shared: true}
		if got := take(shared); got != want {
			t.Errorf("of %d connections shared calls hold %d; want %d", maxConns, got, want)
		}
		if got := take(claim{user: "x"}); got != user {
			t.Errorf("of %d connections a user holds %d beside shared calls; want %d", maxConns, got, user)
		}
		if a.load() < maxConns != (take(claim{user: "next"}) > 0) {
			t.Errorf("%d of %d connections are held, and the next user gets none or too many", a.load(), maxConns)
		}
		for range want {
			a.drop(shared)
		}
		if a.shared != 0 || take(shared) == 0 {
			t.Errorf("%d shared calls are left when all have ended, and none begins", a.shared)
		}
	}
	f(512, 103, 205)
	f(8, 2, 3)
	f(4, 1, 2)
	f(2, 1, 1)
	f(1, 1, 0)
}

// TestSharedCallsLeaveRoom: however many shared calls a user makes guard make, and however long
// they take, others are served.
func TestSharedCallsLeaveRoom(t *testing.T) {
	const conns, calls = 8, 12
	node := newFake(t)
	hold := make(chan struct{})
	defer close(hold)
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if strings.HasSuffix(r.RequestURI, "_refresh") {
			<-hold
		}
		writeAnswer(c, 200, "{}")
	})
	fg := &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, k gate.Known) gate.Outcome {
		if len(k.Answers) == 0 && strings.Contains(r.RawTarget, "_doc") {
			return gate.Outcome{Kind: gate.Need, Needs: []gate.Call{{Method: "POST", Target: r.RawTarget + "/_refresh", OwnAccount: true, Repeatable: true, Shared: true}}}
		}
		return passAll(r)
	}}
	conf := testConfig(node.url())
	conf.Upstream.MaxConns, conf.Upstream.QueueTimeout = conns, time.Minute
	g := startGuardAs(t, fg, conf, anybody{})
	as := func(user string) string { return "Authorization: " + basic(user, "pw") + "\r\n" }
	for i := range calls {
		_, _ = fmt.Fprintf(g.dial(), "GET /i%d/_doc/1 HTTP/1.1\r\nHost: a\r\n%s\r\n", i, as("x"))
	}
	tr := g.srv.cluster.(*Transport)
	eventually(t, "all are under way or wait", func() bool {
		tr.nodes.mu.Lock()
		defer tr.nodes.mu.Unlock()
		return tr.nodes.list[0].load()+tr.nodes.waiting.len() == calls
	})
	if a := g.send("GET /x HTTP/1.1\r\nHost: a\r\n" + as("y") + "\r\n"); a.status != 200 {
		t.Errorf("another user got %d %s", a.status, a.body)
	}
}

// TestOwnQuestionsTakeNoRoom: the question on which guard waits for the cluster to change
// is in no client's place.
func TestOwnQuestionsTakeNoRoom(t *testing.T) {
	p := newPaperNodes(nodeLimits{maxConns: 1}, "a")
	own := pick{claim: claim{own: true}}
	for range ownRoom {
		p.take(p.by["a"], &own)
	}
	if got := p.choices(2, pick{claim: claim{user: "anna"}}); got != "a wait" {
		t.Errorf("a client chose %q; want the node, once", got)
	}
	if got := p.choices(1, own); got != "wait" {
		t.Errorf("guard chose %q beyond its room", got)
	}
}

// TestOwnQuestionsComeFirst: whatever clients do, as many of guard's own questions as have
// room of their own get a connection at once; those beyond may wait though the queue is full,
// and the first room is theirs.
func TestOwnQuestionsComeFirst(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		p := newPaperNodes(nodeLimits{maxConns: 1 + rnd.IntN(6), userConns: rnd.IntN(3), maxQueue: rnd.IntN(4)}, "a", "b")
		var under []slot // way
		var waits []*waiter
		collect := func() {
			for _, w := range waits {
				select {
				case s := <-w.ready:
					under = append(under, s)
				default:
				}
			}
		}
		ask := func(c claim) (at *host, err error) {
			if at, _ = p.choose(&pick{claim: c}); at != nil {
				under = append(under, p.take(at, &pick{claim: c}))
				return at, nil
			}
			w, err := p.enqueue(&pick{claim: c})
			if err == nil {
				waits = append(waits, w)
			}
			return nil, err
		}
		free := func() {
			i := rnd.IntN(len(under))
			s := under[i]
			under = slices.Delete(under, i, i+1)
			s.host.drop(s.claim)
		}
		for range 300 {
			switch {
			case rnd.IntN(3) == 0 && len(under) > 0:
				free()
			case rnd.IntN(4) > 0:
				_, _ = ask(claim{user: fmt.Sprint(rnd.IntN(3))}) // a client may be turned away
			default:
				room := slices.ContainsFunc(p.list, func(h *host) bool { return h.asked < ownRoom })
				at, err := ask(claim{own: true})
				if room && at == nil || err != nil {
					t.Fatalf("seed %d: guard's question has room of its own: %v; it got %v, %v", seed, room, at, err)
				}
				if at == nil {
					before := p.waiting.own()
					free()
					if p.waiting.own() != before-1 {
						t.Fatalf("seed %d: a connection came free, and guard's question waits on", seed)
					}
				}
			}
			collect()
		}
	}
}

// TestQueueLines: users are served in turn, each in the order of the calls; one who has all that
// one may have keeps nobody else waiting.
func TestQueueLines(t *testing.T) {
	p := newPaperNodes(nodeLimits{maxConns: 4, userConns: 2, maxQueue: 9}, "a")
	a := p.by["a"]
	as := func(user string) *pick { return &pick{claim: claim{user: user}} }
	var waits []*waiter
	names := map[*waiter]string{}
	join := func(user string) {
		t.Helper()
		w, err := p.enqueue(as(user))
		if err != nil {
			t.Fatal(err)
		}
		names[w] = fmt.Sprint(user, len(waits))
		waits = append(waits, w)
	}
	served := func() string {
		var got []string
		for _, w := range waits {
			if len(w.ready) > 0 {
				<-w.ready
				got = append(got, names[w])
			}
		}
		return strings.Join(got, " ")
	}
	f := func(what, want string) {
		t.Helper()
		if got := served(); got != want {
			t.Errorf("%s: served %q; want %q", what, got, want)
		}
	}
	for range 2 {
		p.take(a, as("x"))
		p.take(a, as("y"))
	}
	for _, user := range []string{"x", "x", "x", "y", "z", "z"} {
		join(user)
	}
	a.drop(claim{user: "y"})
	f("y gave one back", "y3") // x, who waits longer, has all that one may have
	a.drop(claim{user: "y"})
	f("and one more", "z4")
	a.drop(claim{user: "y"})
	f("and the last", "z5")
	a.drop(claim{user: "x"})
	f("x gave one back", "x0")
	if _, err := p.enqueue(as("x")); err != nil {
		t.Fatal(err)
	}
	a.drop(claim{user: "z"})
	f("z gave one back", "") // it is x's turn, and x has two
	a.drop(claim{user: "x"})
	f("x gave one back", "x1")
	if p.waiting.len() != 2 || len(p.waiting.lines) != 1 {
		t.Errorf("%d wait in %d lines; want the two of x", p.waiting.len(), len(p.waiting.lines))
	}
	p.waiting.refuse()
	if _, ok := <-waits[2].ready; ok || p.waiting.len() != 0 || len(p.waiting.lines) != 0 {
		t.Error("somebody still waits in a queue that was closed")
	}
}

// TestWhyUnserved: who waited in vain is told whether all connections are in use, or those
// of one user.
func TestWhyUnserved(t *testing.T) {
	p := newPaperNodes(nodeLimits{maxConns: 2, maxQueue: 9, queueTime: time.Millisecond}, "a")
	f := func(user string, want faultKind) {
		t.Helper()
		_, err := p.reserve(context.Background(), &pick{claim: claim{user: user}})
		var wire *wireError
		if !errors.As(err, &wire) || wire.kind != want {
			t.Errorf("%s waited in vain: %v; want a fault of kind %s", user, err, want)
		}
	}
	p.take(p.by["a"], &pick{claim: claim{user: "x"}})
	f("x", faultShare)
	p.take(p.by["a"], &pick{claim: claim{user: "y"}})
	f("x", faultBusy)
	f("z", faultBusy)
}

// anybody knows everyone whose password is "pw".
type anybody struct{ fakeAuth }

func (anybody) Identify(_ context.Context, c authn.Credentials) (ask.Identity, error) {
	if len(c.Authorization) == 1 {
		r := http.Request{Header: http.Header{"Authorization": c.Authorization}}
		if name, password, _ := r.BasicAuth(); password == "pw" {
			return ask.Identity{Name: name}, nil
		}
	}
	return ask.Identity{}, errNotAnna
}

// TestStalledTransfers: whatever two users let stall, uploads or answers, as many as they
// are let have and more, a third is served, and guard reads the state of the cluster.
func TestStalledTransfers(t *testing.T) {
	const conns, stalled = 60, 100 // of the cluster; of each of the two
	stall := map[string]func(c net.Conn, login string){
		"uploads": func(c net.Conn, login string) {
			_, _ = io.WriteString(c, "POST /_bulk HTTP/1.1\r\nHost: a\r\n"+ndjsonLine+login+"Content-Length: 1000000\r\n\r\n{")
		},
		"answers": func(c net.Conn, login string) {
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
			_, _ = io.WriteString(c, "GET /large HTTP/1.1\r\nHost: a\r\n"+login+"\r\n")
		},
	}
	for what, begin := range stall {
		t.Run(what, func(t *testing.T) {
			node := newFake(t)
			node.takes(func(c net.Conn, br *bufio.Reader) { serveLarge(c, br) })
			conf := testConfig(node.url())
			conf.Upstream.MaxConns, conf.Upstream.QueueTimeout = conns, time.Minute
			g := startGuardAs(t, &fakeGate{intake: gate.IntakeStream}, conf, anybody{})
			for i := range 2 * stalled {
				begin(g.dial(), "Authorization: "+basic(fmt.Sprint("user", i%2), "pw")+"\r\n")
			}
			eventually(t, "all that two may have is in use", func() bool {
				return g.srv.cluster.(*Transport).Open() >= conns*2/3 && g.atWork() == 2*stalled
			})
			for range 20 {
				if a := g.send(request("GET", "/", "", "")); a.status != 200 {
					t.Fatalf("a third user got %d %s", a.status, a.body)
				}
				if _, _, err := g.srv.cluster.(*Transport).Fetch(t.Context(), "GET", "/"); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// serveLarge answers /large with 16 MiB, anything else with little, and reads bodies as
// they come.
func serveLarge(c net.Conn, br *bufio.Reader) {
	for {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if r.URL.Path != "/large" {
			writeAnswer(c, 200, "{}")
			continue
		}
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n"); err != nil {
			return
		}
		for range 256 {
			if _, err := c.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
}
