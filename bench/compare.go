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

// size is one kind of answer. Large ones cost more, so that less of them is asked.
type size struct {
	name      string
	index     string
	documents int
	times     int           // the documents of the recorded answer are repeated so often
	bytes     int           // about
	share     int           // one in so many of the requests of a round
	slower    int           // the fixed rate is so many times lower
	longer    time.Duration // the fixed rate is kept so many times as long
}

var sizes = []size{
	{name: "1.2 KiB", index: "people", documents: 3, times: 1, bytes: 1200, share: 1, slower: 1, longer: 1},
	{name: "64 KiB", index: "archive", documents: 187, times: 1, bytes: 64 << 10, share: 5, slower: 1, longer: 1},
	{name: "1 MiB", index: "archive", documents: 16 * 187, times: 16, bytes: 1 << 20, share: 20, slower: 10, longer: 2},
}

// target is where the answer is found.
func (z size) target() string {
	if z.times == 1 {
		return searchPath(z.index)
	}
	return fmt.Sprintf("%s?size=%d", searchPath(z.index), z.documents)
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
	Rounds   int
	Conns    int
	Requests int // of a round, for the small answer
	Rate     int
	Paced    time.Duration
}

// comparison is what one run measured, round by round.
type comparison struct {
	On       surroundings
	Settings settings
	Columns  []string // in the order in which they are shown
	Rounds   map[string]map[string][]measured
}

// The names of the columns.
const (
	bareName         = "bare fasthttp"
	nginxName        = "nginx"
	haproxyName      = "haproxy"
	unrestrictedName = "guard unrestricted"
	limitedName      = "guard limited"
	documentsName    = "guard DLS"
	filteredName     = "guard DLS+FLS"
)

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
	for _, f := range foreign {
		other, err := m.startForeign(ctx, f, upstream.addr, 1024)
		switch {
		case errors.Is(err, errNotInstalled):
			fmt.Fprintln(progress, "bench:", err)
		case err != nil:
			return nil, err
		default:
			targets = append(targets, target{name: f.name, process: other, user: "admin"})
		}
	}
	guard, err := m.startGuard(ctx, guardBinary, upstream.addr, "")
	if err != nil {
		return nil, err
	}
	return append(targets,
		target{name: unrestrictedName, process: guard, user: "admin", guard: true},
		target{name: limitedName, process: guard, user: "limited", guard: true},
		target{name: documentsName, process: guard, user: "documents", filters: true, guard: true},
		target{name: filteredName, process: guard, user: "both", filters: true, hides: true, guard: true},
	), nil
}

// check holds that a column measures what its name says, and returns the length of
// its answers by size.
func (t target) check() (map[string]int, error) {
	received, err := ask(t.addr, t.user, searchPath(echoIndex))
	if err != nil {
		return nil, err
	}
	if got := bytes.Contains(received, []byte(`{\"term\":{\"region\":\"eu\"}}`)); got != t.filters {
		return nil, fmt.Errorf("%s: filter in the request: %v; want %v: %s", t.name, got, t.filters, received)
	}
	lengths := map[string]int{}
	for _, s := range sizes {
		answer, err := ask(t.addr, t.user, s.target())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		want := s.documents
		if t.hides {
			want = 0
		}
		if got := bytes.Count(answer, []byte(`"iban"`)); got != want {
			return nil, fmt.Errorf("%s: the answer of %q shows iban %d times; want %d", t.name, s.target(), got, want)
		}
		if got := bytes.Count(answer, []byte(`"email"`)); got != s.documents {
			return nil, fmt.Errorf("%s: the answer of %q shows %d documents; want %d", t.name, s.target(), got, s.documents)
		}
		lengths[s.name] = len(answer)
	}
	return lengths, nil
}

// compare measures every column in every round. The order moves on by one each
// round, so that no column always follows the same other.
func (m *machine) compare(ctx context.Context, targets []target, s settings, progress io.Writer) (*comparison, error) {
	c := &comparison{Settings: s, Rounds: map[string]map[string][]measured{}}
	lengths := make([]map[string]int, len(targets))
	for i, t := range targets {
		var err error
		if lengths[i], err = t.check(); err != nil {
			return nil, err
		}
		c.Columns = append(c.Columns, t.name)
	}
	for round := range s.Rounds {
		fmt.Fprintf(progress, "bench: round %d of %d\n", round+1, s.Rounds)
		for _, size := range sizes {
			for k := range targets {
				i := (k + round) % len(targets)
				got, err := m.load(ctx, s.job(targets[i], size, lengths[i][size.name]))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", targets[i].name, err)
				}
				c.add(size.name, targets[i].name, got)
			}
		}
	}
	return c, nil
}

func (c *comparison) add(size, column string, m measured) {
	if c.Rounds[size] == nil {
		c.Rounds[size] = map[string][]measured{}
	}
	c.Rounds[size][column] = append(c.Rounds[size][column], m)
}

// job is one load of a round.
func (s settings) job(t target, z size, length int) job {
	n := s.count(z)
	return job{
		Addr: t.addr, PID: t.pid, Request: request(t.user, z.target()), Bytes: length, Conns: s.Conns,
		Warmup: max(n/10, 1), Requests: n, Rate: s.rate(z), Paced: s.Paced * z.longer, Limit: 2*time.Minute + s.Paced*z.longer,
	}
}

// count is how many requests of a round are for answers of one size.
func (s settings) count(z size) int { return max(s.Requests/z.share, 1) }

// rate is how many requests a second are sent while the latency of one size is measured.
func (s settings) rate(z size) int { return max(s.Rate/z.slower, 1) }
