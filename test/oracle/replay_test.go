package oracle_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"guard/test/guardproc"
	"guard/test/oracle"
	"guard/test/oracle/answer"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

var dumpFile = flag.String("dump", "", "file to add unexplained differences to, as JSON lines")

// workers is how many requests are under way at a time.
const workers = 4

// How many answers have to be equal: what is built stays built.
const (
	equalReads  = 1400
	equalWrites = 300
)

// The recordings differ in do_not_fail_on_forbidden alone.
var recordings = []string{"os-2.19.4-seed21.jsonl.gz", "os-2.19.4-seed21-dnfof.jsonl.gz"}

func TestReplay(t *testing.T) {
	node := testbed.Cluster(t, testbed.OpenSearch)
	kinds, err := oracle.ReadDeviations("testdata/deviations.yml")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range recordings {
		rec, err := oracle.Read("../../gate/testdata/oracle/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // both recordings are of the same world
			if err := rec.Scenario.World.Load(node.Client); err != nil {
				t.Fatal(err)
			}
		}
		t.Run(name, func(t *testing.T) { replay(t, node, rec, kinds) })
	}
}

// replay sends every recorded read, user by user.
func replay(t *testing.T, node *testbed.Node, rec *oracle.Recording, kinds []oracle.Deviation) {
	masked, unsupported := rec.HoldersOf(oracle.Masks), rec.Without(oracle.Lookup)
	files, err := rec.Security()
	if err != nil {
		t.Fatal(err)
	}
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, files), Upstream: node.URL})
	requests := map[int]oracle.Request{}
	for _, r := range rec.Scenario.Requests {
		requests[r.ID] = r
	}
	tally := newTally(kinds, masked)
	jobs := make(chan oracle.Recorded)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for a := range jobs {
				check(t, guard.Client, requests[a.R], a, tally)
			}
		})
	}
	for _, a := range rec.Answers {
		switch {
		case unsupported[a.U]:
			tally.add("rule of the user not built")
		case !requests[a.R].Writes():
			jobs <- a
		}
	}
	close(jobs)
	group.Wait()
	tally.report(t, equalReads)
	if !rec.DNFOF { // it makes no difference to writes
		writes := newTally(kinds, masked)
		replayWrites(t, node, guard.Client, rec, writes, unsupported)
		t.Log("writes:")
		writes.report(t, equalWrites)
	}
}

// check sends one request and compares the answer.
func check(t *testing.T, guard testbed.Client, req oracle.Request, a oracle.Recorded, tally *tally) {
	step := req.Steps[0]
	res, err := guard.As(a.U, oracle.Password).Do(step.M, step.P, step.Body())
	if err != nil {
		t.Errorf("%s %s: %v", step.M, step.P, err)
		return
	}
	if len(req.Steps) > 1 { // the answer recorded is that of the last step
		tally.steps(req, a, res)
		return
	}
	got := oracle.Comparable(answer.Canonical(answer.FormOf(step.P), res.Status, res.Body))
	want := a.A
	equal := "equal"
	if list, others, found := oracle.WithoutRefused(got, want); found {
		got, want, equal = list, others, "equal but for items refused by guard's own rules"
	}
	if places := oracle.Differences(got, want); res.Status != a.Status() || len(places) > 0 {
		tally.differs(oracle.Difference{
			Request: req, User: a.U, Paths: places,
			Guard:    fmt.Sprintf("%d %s", res.Status, answer.Text(got)),
			Recorded: fmt.Sprintf("%d %s", a.Status(), answer.Text(want)),
		})
		return
	}
	tally.add(equal)
}

// tally counts how answers compare.
type tally struct {
	kinds  []oracle.Deviation
	masked map[string]bool // users with masked fields

	mu    sync.Mutex // guards all below
	count map[string]int
	open  []oracle.Difference
}

func newTally(kinds []oracle.Deviation, masked map[string]bool) *tally {
	return &tally{kinds: kinds, masked: masked, count: map[string]int{}}
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what]++
}

// kindOf returns the kind of deviation that a difference is; empty if it is none.
func (c *tally) kindOf(d oracle.Difference) string {
	d.Masked = c.masked[d.User]
	i := slices.IndexFunc(c.kinds, func(k oracle.Deviation) bool { return k.Explains(d) })
	if i < 0 {
		return ""
	}
	return c.kinds[i].Kind
}

func (c *tally) differs(d oracle.Difference) {
	if kind := c.kindOf(d); kind != "" {
		c.add(kind)
		return
	}
	d.Masked = c.masked[d.User]
	c.add("OPEN")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, d)
}

// steps compares the first step of several by its status alone.
func (c *tally) steps(req oracle.Request, a oracle.Recorded, res testbed.Response) {
	if res.Status == a.Status() {
		c.add("equal status of several steps")
		return
	}
	c.differs(oracle.Difference{
		Request: req, User: a.U, Paths: []string{""},
		Guard: fmt.Sprintf("%d %s", res.Status, res.Body), Recorded: fmt.Sprintf("%d %s", a.Status(), answer.Text(a.A)),
	})
}

// maxShown bounds the differences that are printed.
const maxShown = 40

func (c *tally) report(t *testing.T, least int) {
	if c.count["equal"] < least {
		t.Errorf("%d answers are equal; want at least %d", c.count["equal"], least)
	}
	if err := c.dump(*dumpFile); err != nil {
		t.Error(err)
	}
	for _, kind := range slices.SortedFunc(maps.Keys(c.count), func(a, b string) int { return cmp.Compare(c.count[b], c.count[a]) }) {
		t.Logf("%5d %s", c.count[kind], kind)
	}
	for i, d := range c.open {
		if i == maxShown {
			t.Errorf("... and %d more", len(c.open)-i)
			break
		}
		s := d.Request.Steps[0]
		t.Errorf("request %d of %s: %s %s\n%.300s\nguard:    %.700s\nrecorded: %.700s\nat: %.200s",
			d.Request.ID, d.User, s.M, s.P, s.Body(), d.Guard, d.Recorded, strings.Join(d.Paths, " "))
	}
}

func (c *tally) dump(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write differences: %w", err)
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	for _, d := range c.open {
		if err := enc.Encode(d); err != nil {
			return fmt.Errorf("cannot write differences: %w", err)
		}
	}
	return nil
}
