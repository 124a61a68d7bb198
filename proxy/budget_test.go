package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// TestShares: what one user holds is bounded by itself, whoever else holds something; a
// request that is refused has taken nothing; and nothing is kept of a user who holds
// nothing any more.
func TestShares(t *testing.T) {
	b := &budget{each: 60}
	b.left.Store(100)
	anna, again, bob := &share{from: b, user: "anna"}, &share{from: b, user: "anna"}, &share{from: b, user: "bob"}
	f := func(s *share, n int64, want ask.Limit, held int64) {
		t.Helper()
		var rej *ask.Rejection
		got := ask.NoLimit
		if err := s.take(n); errors.As(err, &rej) {
			got = rej.Limit
		}
		if got != want || s.held != held {
			t.Errorf("%s takes %d: got limit %q, holds %d; want %q, %d", s.user, n, got, s.held, want, held)
		}
	}
	f(anna, 50, ask.NoLimit, 50)
	f(again, 20, ask.LimitUserInFlight, 0)
	f(again, 10, ask.NoLimit, 10)
	f(bob, 50, ask.LimitInFlight, 0)
	f(bob, 40, ask.NoLimit, 40)
	anna.release()
	f(again, 50, ask.NoLimit, 60)
	f(bob, 1, ask.LimitInFlight, 40)
	bob.release()
	bob.release()
	again.release()
	if left := b.left.Load(); left != 100 || len(b.users) != 0 {
		t.Errorf("after all: %d left, users %v; want 100 and none", left, b.users)
	}
}

// TestSharesTogether takes and gives back from many goroutines, of one request too.
func TestSharesTogether(t *testing.T) {
	b := &budget{each: 1000}
	b.left.Store(1500)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 500 {
				s := &share{from: b, user: []string{"anna", "bob"}[i%2]}
				var both sync.WaitGroup
				for range 2 {
					both.Go(func() { _ = s.take(300) }) // refused now and then
				}
				both.Wait()
				s.release()
			}
		})
	}
	all.Wait()
	if left := b.left.Load(); left != 1500 || len(b.users) != 0 {
		t.Errorf("after all: %d left, users %v; want 1500 and none", left, b.users)
	}
}

// TestReadWholeHolds: a body takes what it needs and not much more, whatever was
// announced; an announced one is not grown past its length.
func TestReadWholeHolds(t *testing.T) {
	f := func(size int, hint sizeHint, want int64) {
		t.Helper()
		b := &budget{each: 1 << 30}
		b.left.Store(1 << 30)
		s := &share{from: b}
		got, err := readWhole(strings.NewReader(strings.Repeat("a", size)), hint, 1<<20, s)
		if err != nil || len(got) != size || int64(cap(got)) != want || s.held != want {
			t.Errorf("%d bytes, %+v: %v, %d read into %d, held %d; want room for %d", size, hint, err, len(got), cap(got), s.held, want)
		}
	}
	f(0, sizeHint{}, 4<<10)
	f(5000, sizeHint{}, 8<<10)
	f(5000, sizeHint{5000, trustClient}, 5001)
	f(100_000, sizeHint{100_000, trustClient}, 100_001) // not trusted: grown, but not past its end
	f(100_000, sizeHint{-1, trustCluster}, 128<<10)
	f(10, sizeHint{1 << 20, trustClient}, 4<<10) // announced and not sent
	f(10, sizeHint{60_000, trustClient}, 4<<10)
	f(10, sizeHint{10, trustClient}, 11)
}

// TestUserBudget: one user can't take the room that others need, and what all that
// travels through guard takes is counted and given back: bodies read whole, bodies that
// pass by, lines of a bulk, inflaters, answers and what they are made into.
func TestUserBudget(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, `"`+strings.Repeat("a", 100<<10)+`"`) })
	limits := func(each int64) *config.Config {
		c := testConfig(node.url())
		c.Limits.MaxUserInFlight = each
		return c
	}
	f := func(name string, fg *fakeGate, raw string, least, most int64, status int) {
		t.Helper()
		for _, each := range []int64{least, most} {
			g := startGuard(t, fg, limits(each))
			a := g.send(raw)
			want := 200
			if each == least {
				want = status
			}
			if a.status != want {
				t.Errorf("%s with %d bytes: got %d %.200s; want %d", name, each, a.status, a.body, want)
			}
			eventually(t, "all is given back", func() bool { return g.srv.budget.left.Load() == limits(each).Limits.MaxInFlight })
		}
	}
	body := `"` + strings.Repeat("a", 100<<10) + `"`
	stream := func() *fakeGate { return &fakeGate{intake: gate.IntakeStream} }
	lines := bulkGate(func() *fakeLines { return &fakeLines{} }, nil)
	line := "{\"index\":{}}\n" + body + "\n"
	f("a body read whole", echo(), request("POST", "/", jsonLine, body), 150<<10, 400<<10, 429)
	f("an inflated body", echo(), request("POST", "/", jsonLine+"Content-Encoding: gzip\r\n", zip("{}")), 40<<10, 70<<10, 429)
	f("a body that passes", stream(), chunkedRequest("/", jsonLine, body), 250<<10, 600<<10, 429)
	f("a line of a bulk", lines, request("POST", "/_bulk", ndjsonLine, line), 150<<10, 2<<20, 429)
	keeps := bulkGate(func() *fakeLines { return &fakeLines{held: 200 << 10} }, nil)
	f("what a bulk keeps of its items", keeps, request("POST", "/_bulk", ndjsonLine, "{\"index\":{}}\n{}\n"), 150<<10, 400<<10, 429)
	f("a treated answer to a read", readPlan(asIs{}, true), request("GET", "/", "", ""), 150<<10, 400<<10, 429)
	f("a treated answer to a write", readPlan(asIs{}, false), request("POST", "/", "", ""), 150<<10, 400<<10, 502)
	f("an answer that passes", readPlan(nil, true), request("GET", "/", "", ""), 1, 1<<20, 200) // makes do with less
}

// TestWriteWithoutRoom: a write whose answer finds no room is never told to be sent again.
func TestWriteWithoutRoom(t *testing.T) {
	node := newFake(t)
	node.takes(func(c net.Conn, br *bufio.Reader) {
		_, _ = http.ReadRequest(br)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n"+strings.Repeat("a", 0x20000)+"\r\n0\r\n\r\n")
	})
	conf := testConfig(node.url())
	conf.Limits.MaxFilteredAnswer = 100 << 10
	f := func(fg *fakeGate, raw, want string) {
		t.Helper()
		g := startGuard(t, fg, conf)
		if a := g.send(raw); a.status != 502 || !strings.Contains(a.body, want) || g.hits(ask.LimitFilteredAnswer) != 1 {
			t.Errorf("got %d %s; want 502 with %q", a.status, a.body, want)
		}
	}
	const unknown = "whether it executed the request is unknown"
	f(readPlan(asIs{}, false), request("POST", "/", "", ""), unknown)
	f(readPlan(asIs{}, true), request("GET", "/", "", ""), "ask for less")
	f(readPlan(nil, false), "POST / HTTP/1.0\r\n"+authLine+"\r\n", unknown)
}
