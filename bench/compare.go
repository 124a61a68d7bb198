package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// searchBody is the one search that is measured.
const searchBody = `{"query":{"match":{"name":"anna"}},"size":200}`

// size is one kind of answer.
type size struct {
	index     string
	label     string
	documents int
	bytes     int // about
	share     int // of the requests of a round: large answers cost more
}

var sizes = []size{
	{index: "people", label: "1.2 KB", documents: 3, bytes: 1200, share: 1},
	{index: "archive", label: "64 KB", documents: 187, bytes: 64 << 10, share: 5},
}

// target is one column: a proxy, and the user who searches through it.
type target struct {
	name string
	process
	user    string
	filters bool // the user's documents are filtered
	hides   bool // the user does not see iban
	guard   bool
}

// settings say how much is measured.
type settings struct {
	rounds   int
	conns    int
	requests int // of a round, for the small answer
	rate     int
	paced    time.Duration
}

// bareName is the column that the others are compared with.
const bareName = "bare fasthttp"

// start starts all proxies in front of one stub.
func (m *machine) start(ctx context.Context, guardBinary string, progress io.Writer) ([]target, error) {
	upstream, err := m.role(ctx, loadCore, "stub")
	if err != nil {
		return nil, err
	}
	bare, err := m.role(ctx, proxyCore, "bare", upstream.addr)
	if err != nil {
		return nil, err
	}
	targets := []target{{name: bareName, process: bare, user: "admin"}}
	nginx, err := m.startNginx(ctx, upstream.addr)
	switch {
	case errors.Is(err, errNoNginx):
		fmt.Fprintln(progress, err)
	case err != nil:
		return nil, err
	default:
		targets = append(targets, target{name: "nginx", process: nginx, user: "admin"})
	}
	guard, err := m.startGuard(ctx, guardBinary, upstream.addr)
	if err != nil {
		return nil, err
	}
	return append(targets,
		target{name: "guard unrestricted", process: guard, user: "admin", guard: true},
		target{name: "guard limited", process: guard, user: "limited", guard: true},
		target{name: "guard DLS", process: guard, user: "documents", filters: true, guard: true},
		target{name: "guard DLS+FLS", process: guard, user: "both", filters: true, hides: true, guard: true},
	), nil
}

// check holds that a column measures what its name says, and returns the length of
// its answers by index.
func (t target) check() (map[string]int, error) {
	received, err := ask(t.addr, t.user, echoIndex)
	if err != nil {
		return nil, err
	}
	if got := bytes.Contains(received, []byte(`{\"term\":{\"region\":\"eu\"}}`)); got != t.filters {
		return nil, fmt.Errorf("%s: filter in the request: %v; want %v: %s", t.name, got, t.filters, received)
	}
	lengths := map[string]int{}
	for _, s := range sizes {
		answer, err := ask(t.addr, t.user, s.index)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		want := s.documents
		if t.hides {
			want = 0
		}
		if got := bytes.Count(answer, []byte(`"iban"`)); got != want {
			return nil, fmt.Errorf("%s: the answer of %q shows iban %d times; want %d", t.name, s.index, got, want)
		}
		if got := bytes.Count(answer, []byte(`"email"`)); got != s.documents {
			return nil, fmt.Errorf("%s: the answer of %q shows %d documents; want %d", t.name, s.index, got, s.documents)
		}
		lengths[s.index] = len(answer)
	}
	return lengths, nil
}

// compare measures every column in every round. The order moves on by one each
// round, so that no column always follows the same other.
func (m *machine) compare(ctx context.Context, targets []target, s settings, progress io.Writer) (results, error) {
	all := results{}
	lengths := make([]map[string]int, len(targets))
	for i, t := range targets {
		var err error
		if lengths[i], err = t.check(); err != nil {
			return nil, err
		}
	}
	for round := range s.rounds {
		fmt.Fprintf(progress, "bench: round %d of %d\n", round+1, s.rounds)
		for _, size := range sizes {
			for k := range targets {
				i := (k + round) % len(targets)
				got, err := m.load(ctx, s.job(targets[i], size, lengths[i][size.index]))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", targets[i].name, err)
				}
				all.add(size.index, targets[i].name, got)
			}
		}
	}
	return all, nil
}

// job is one load of a round.
func (s settings) job(t target, z size, length int) job {
	n := max(s.requests/z.share, 1)
	return job{
		Addr: t.addr, PID: t.pid, Request: request(t.user, z.index), Bytes: length, Conns: s.conns,
		Warmup: n / 10, Requests: n, Rate: s.rate, Paced: s.paced, Limit: 2*time.Minute + s.paced,
	}
}
