package main

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"guard/gate"
	asked "guard/internal/ask"
)

// operation is a kind of request.
type operation struct {
	name    string
	path    []string
	items   int  // of a bulk
	over    int  // so many indices, if they exist
	aliases bool // in worlds with aliases alone
	cold    bool // the first plan is timed, too
}

// The names of the operations that targets are set for.
const (
	oneIndex     = "search, one index"
	twoPercent   = "search, 2 % of the indices"
	fifth        = "search, 20 % of the indices"
	thousandBulk = "bulk, 1,000 items"
	tenBulk      = "bulk, 10 items"
)

// bulkIndices is how many indices the largest bulk writes to.
const bulkIndices = 20

// operations are in the order in which they are shown. A tenth of the indices of a
// fifth end in 0.
var operations = []operation{
	{name: oneIndex, path: []string{"index_a0", "_search"}},
	{name: twoPercent, path: []string{"index_a*0", "_search"}, cold: true},
	{name: fifth, path: []string{"index_a*", "_search"}, cold: true},
	{name: tenBulk, path: []string{"_bulk"}, items: 10, over: 4},
	{name: thousandBulk, path: []string{"_bulk"}, items: 1000, over: bulkIndices},
	{name: "search, one alias", path: []string{"alias_a0", "_search"}, aliases: true},
}

// cell is one operation by one user, as requests of it are planned.
type cell struct {
	operation
	user    member
	who     *asked.Principal
	request asked.Request
	lines   []byte // of a bulk
	batch   int    // so many plans are timed as one
	sent    []byte // room for what is forwarded of lines

	out gate.Outcome // the last one
}

func newCell(u member, o operation, w world, s *gate.Snapshot) *cell {
	c := &cell{operation: o, user: u, who: s.Principal(u.identity()), batch: 1}
	c.request = asked.Request{Method: "POST", RawTarget: "/" + strings.Join(o.path, "/"), Path: o.path, Now: measuredAt}
	c.request.Header.ContentType = "application/json"
	if o.items == 0 {
		c.request.Body = []byte(searchBody)
		return c
	}
	c.request.Header.ContentType = "application/x-ndjson"
	c.lines = o.bulk(w.indices)
	return c
}

// bulk is the body of a bulk where there are so many indices.
func (o operation) bulk(indices int) []byte {
	there := existing(o.over, indices)
	var b bytes.Buffer
	for i := range o.items {
		fmt.Fprintf(&b, `{"index":{"_index":"%s"}}`+"\n"+`{"name":"Anna Berg","region":"eu","amount":%d}`+"\n", there[i%len(there)], i)
	}
	return b.Bytes()
}

// existing are the first n indices that all users may write to, as far as there are so many.
func existing(n, indices int) (names []string) {
	for i := range n {
		if k := granted(i); k < indices {
			names = append(names, indexName(k))
		}
	}
	return names
}

// plan plans one request down to the bytes that are forwarded.
func (c *cell) plan(s *gate.Snapshot) error {
	c.out = s.Plan(c.who, &c.request, gate.Known{Fresh: true})
	if c.out.Kind != gate.Forward {
		return fmt.Errorf("%s by %s is not forwarded but %d: %s", c.name, c.user.name, c.out.Kind, c.out.Rejection.Public)
	}
	if c.out.Forward.Lines == nil {
		return nil
	}
	return c.planLines(c.out.Forward.Lines)
}

// planLines plans each line of a bulk. All have to be sent.
func (c *cell) planLines(l gate.Lines) error {
	c.sent = c.sent[:0]
	for rest := c.lines; len(rest) > 0; {
		var action, document []byte
		action, rest, _ = bytes.Cut(rest, []byte{'\n'})
		document, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if has, err := l.Action(action); err != nil || !has {
			return fmt.Errorf("%s by %s: action %q has a document: %v, %v", c.name, c.user.name, action, has, err)
		}
		before, err := len(c.sent), error(nil)
		if c.sent, err = l.Item(c.sent, document); err != nil || len(c.sent) == before {
			return fmt.Errorf("%s by %s: %q is not sent: %v", c.name, c.user.name, action, err)
		}
	}
	if local, err := l.End(); err != nil || local != nil {
		return fmt.Errorf("%s by %s is answered by guard: %v", c.name, c.user.name, err)
	}
	return nil
}

// check holds that the plan is what the names of the cell say.
func (c *cell) check(s *gate.Snapshot) error {
	if err := c.plan(s); err != nil {
		return err
	}
	f := &c.out.Forward
	forwarded := f.Target + "\n" + string(f.Body)
	switch {
	case c.who.Unrestricted:
		if f.Source != gate.ClientBody {
			return fmt.Errorf("%s by %s is not streamed", c.name, c.user.name)
		}
	case c.items > 0:
		if n := bytes.Count(c.sent, []byte{'\n'}); n != 2*c.items {
			return fmt.Errorf("%s by %s: %d lines are sent", c.name, c.user.name, n)
		}
	case c.user.filters != "" && !strings.Contains(forwarded, c.user.filters):
		return fmt.Errorf("%s by %s: no filter in %s", c.name, c.user.name, forwarded)
	case !strings.Contains(forwarded, "index_a"):
		return fmt.Errorf("%s by %s: no index in %s", c.name, c.user.name, forwarded)
	}
	return nil
}

// batchTime is how long a batch takes at least, so that the clock costs nothing.
const batchTime = 50 * time.Microsecond

// warm plans until nothing is made for the first time, and finds the size of the batch.
func (c *cell) warm(s *gate.Snapshot) error {
	for c.batch = 1; ; c.batch *= 2 {
		began := time.Now()
		for range c.batch {
			if err := c.plan(s); err != nil {
				return err
			}
		}
		if time.Since(began) >= batchTime {
			return nil
		}
	}
}

// timed is what a round sees of a cell.
type timed struct {
	total, longest time.Duration
	cpu            time.Duration // of the thread
	plans          int
}

// slice plans for a while, each time on the snapshot of now. The thread is the caller's own.
func (c *cell) slice(s *standing, d time.Duration, into *timed) error {
	before, err := threadTime()
	if err != nil {
		return err
	}
	for left := d; left > 0; {
		began := time.Now()
		for range c.batch {
			if err := c.plan(s.snapshot.Load()); err != nil {
				return err
			}
		}
		took := time.Since(began)
		left -= took
		into.total += took
		into.plans += c.batch
		into.longest = max(into.longest, took)
	}
	after, err := threadTime()
	into.cpu += after - before
	return err
}

// cost returns what a plan allocates, in a process that does nothing else: the least of
// some tries.
func (c *cell) cost(s *gate.Snapshot) (allocations, size float64, err error) {
	const tries = 3
	var counts, sizes []float64
	for range tries {
		n := min(c.batch, 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			if err := c.plan(s); err != nil {
				return 0, 0, err
			}
		}
		runtime.ReadMemStats(&after)
		counts = append(counts, float64(after.Mallocs-before.Mallocs)/float64(n))
		sizes = append(sizes, float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	}
	return slices.Min(counts), slices.Min(sizes), nil
}
