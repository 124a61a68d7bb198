package clients

import (
	"errors"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
	"guard/test/written"
)

func TestMain(m *testing.M) { testbed.Main(m) }

var (
	whole  = flag.Bool("whole", false, "run all clients on all engines, instead of two on one")
	only   = flag.String("only", "", "run just the clients with this in their folder's name, on all engines")
	engine = flag.String("engine", "", "run on this engine alone")
	write  = flag.Bool("update", false, "write the table of docs/clients.md anew")
)

// TestClients: what a client sees through guard is what it sees on the node.
func TestClients(t *testing.T) {
	kinds := []testbed.Kind{testbed.OpenSearch}
	list := slices.DeleteFunc(Clients(), func(c Client) bool { return !strings.Contains(c.Dir(), *only) })
	switch {
	case *whole || *only != "":
		kinds = testbed.SuiteKinds()
	default: // what needs no more than the other tests do, and not long
		list = slices.DeleteFunc(list, func(c Client) bool { return c.Dir() != "java-jdk" && c.Dir() != "go-opensearch-4.8" })
	}
	if *engine != "" {
		kinds = []testbed.Kind{testbed.Kind(*engine)}
	}
	var rows []Row
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) { rows = append(rows, before(t, kind, list)...) })
	}
	table := Table(rows)
	t.Logf("\n%s", table)
	if *write && !t.Failed() {
		written.Block(t, "../../docs/clients.md", "clients", table, true)
	}
}

// before runs the clients before a node of that kind.
func before(t *testing.T, kind testbed.Kind, list []Client) []Row {
	t.Helper()
	node := testbed.Own(t, testbed.Options{Kind: kind})
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	security := guardproc.WriteSecurity(t, policy(t))
	s := stage{
		testdata: testdata,
		node:     node,
		guard:    guardproc.Start(t, guardproc.Options{Security: security, Upstream: node.URL}),
		switched: guardproc.Start(t, guardproc.Options{Security: security, Upstream: node.URL, Config: "compatibility: elasticsearch\n"}),
	}
	var rows []Row
	for _, c := range list {
		t.Run(c.Dir(), func(t *testing.T) {
			home, err := c.Install(t.Context(), testdata)
			if errors.Is(err, errNoTool) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, s.row(t, c, home))
		})
	}
	return rows
}

// A stage is what the clients are run against.
type stage struct {
	testdata string
	node     *testbed.Node
	guard    *guardproc.Proc
	switched *guardproc.Proc
}

// row runs a client in all ways and compares what it saw.
func (s stage) row(t *testing.T, c Client, home string) Row {
	t.Helper()
	row := Row{Client: c.Name, Engine: s.node.Kind}
	whole := func(to testbed.Client, user string) Report {
		t.Helper()
		s.reset(t)
		return s.play(t, c, home, to.As(user, password), Whole)
	}
	row.Direct = whole(s.node.Client, all)
	row.Guard = whole(s.guard.Client, all)
	compare(t, "through guard", row.Guard, row.Direct)
	row.Switched = whole(s.switched.Client, all)
	for _, g := range row.Direct.OnlyWorked().Groups {
		if got, _ := row.Switched.Find(g.Name); !got.OK {
			t.Errorf("with the switch: %s worked without, not now: %s", g.Name, got.Saw)
		}
	}
	if !c.Trusted {
		row.Limited = whole(s.guard.Client, limited)
		compare(t, "limited", row.Limited, row.Direct.OnlyWorked())
	}
	if c.Reads {
		row.Filtered = s.filtered(t, c, home)
	}
	return row
}

// filtered runs the half of the scenario that reads as a user who sees a part of an
// index, and compares with a node that has no more than that part.
func (s stage) filtered(t *testing.T, c Client, home string) Report {
	t.Helper()
	const forbidden = "forbidden" // the node forbids nothing
	s.reset(t)
	if err := seen(s.node.Client, false); err != nil {
		t.Fatal(err)
	}
	want := s.play(t, c, home, s.node.As(all, password), Read).Without(forbidden).OnlyWorked()
	s.reset(t)
	if err := seen(s.node.Client, true); err != nil {
		t.Fatal(err)
	}
	got := s.play(t, c, home, s.guard.As(filtered, password), Read)
	compare(t, "filtered", got, want)
	if g, _ := got.Find(forbidden); len(want.Groups) > 0 && !g.OK {
		t.Errorf("filtered: %s: %s", forbidden, g.Saw)
	}
	return got
}

// play runs one half of the scenario.
func (s stage) play(t *testing.T, c Client, home string, to testbed.Client, half string) Report {
	t.Helper()
	report, err := c.Run(t.Context(), home, s.testdata, to, half)
	if errors.Is(err, errNoTool) {
		t.Skip(err)
	}
	if err != nil {
		t.Errorf("as %s, %s: %v", to.User, half, err)
	}
	return report
}

func (s stage) reset(t *testing.T) {
	t.Helper()
	if err := s.node.Reset(); err != nil {
		t.Fatal(err)
	}
}

func compare(t *testing.T, how string, got, want Report) {
	t.Helper()
	for _, d := range got.Differences(want) {
		t.Errorf("%s: %s", how, d)
	}
}
