package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/test/testbed"
)

// TestMain lets the test binary play the roles that the program has.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		main()
		return
	}
	testbed.Main(m)
}

// TestCompare runs the whole comparison with few requests: every column is checked to
// measure what its name says.
func TestCompare(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 2, Conns: 4, Requests: 200, Rate: 500, Paced: 100 * time.Millisecond},
		only:     compareOnly, out: t.TempDir(),
	}
	if err := o.bench(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	c := written(t, o.out).Comparison
	if c == nil {
		t.Fatal("the results have no comparison")
	}
	for _, column := range []string{bareName, unrestrictedName, limitedName, documentsName, filteredName} {
		if !slices.Contains(c.Columns, column) {
			t.Errorf("no column %q among %q", column, c.Columns)
		}
	}
	for _, f := range foreign {
		if !slices.Contains(c.Columns, f.name) && !strings.Contains(out.String(), f.name+" is not installed") {
			t.Errorf("%s has no column and nobody says why:\n%s", f.name, &out)
		}
	}
	for _, z := range sizes {
		for _, column := range c.Columns {
			rounds := c.Rounds[z.name][column]
			if len(rounds) != o.Rounds {
				t.Fatalf("%s, %s: %d rounds; want %d", column, z.name, len(rounds), o.Rounds)
			}
			for _, m := range rounds {
				if m.CPU <= 0 || m.PerSec <= 0 || m.Latency[p50] <= 0 || m.Latency[p50] > m.Latency[p999] || m.Samples == 0 {
					t.Errorf("%s, %s: nothing was measured: %+v", column, z.name, m)
				}
			}
		}
	}
}

// written reads the one file of results in dir.
func written(t *testing.T, dir string) results {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v; want one", files, err)
	}
	r, err := readResults(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMemory runs all measurements of memory with little.
func TestMemory(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 1, Conns: 1, Requests: 1, Rate: 1, Paced: 1},
		amounts:  amounts{rounds: 1, bulk: 4 << 20, answer: 16 << 20, connections: 100},
		only:     memoryOnly, out: t.TempDir(),
	}
	if err := o.bench(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	r := written(t, o.out).Memory
	if r == nil || len(r.Transfers) != len(transferKinds) || len(r.Idle) < 3 {
		t.Fatalf("%+v; want all transfers and idle connections", r)
	}
	for _, k := range r.Transfers {
		if one := k.Rounds[0]; one.Before == 0 || one.Peak < one.Before || one.Heap == 0 || one.Seconds <= 0 {
			t.Errorf("%s: nothing was measured: %+v", k.Name, one)
		}
	}
	for _, k := range r.Idle {
		one := k.Rounds[0]
		if k.Guard && (one.Goroutines < int64(k.Connections) || one.Heap <= 0) {
			t.Errorf("%s: %+v; want a goroutine for each connection, and some heap", k.Name, one)
		}
	}
	for _, name := range []string{"idle-guard.allocs", "idle-guard-TLS.allocs"} {
		if _, err := os.Stat(filepath.Join(o.out, name)); err != nil {
			t.Errorf("no profile: %v", err)
		}
	}
}

// TestProfile holds that the profiler still fits into guard.
func TestProfile(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := order{
		settings: settings{Rounds: 1, Conns: 2, Requests: 100, Rate: 100, Paced: 10 * time.Millisecond},
		profile:  true, out: t.TempDir(),
	}
	if err := o.bench(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, name := range []string{"guard-DLS-FLS-1.2-KiB.cpu", "guard-limited-64-KiB.allocs"} {
		if info, err := os.Stat(filepath.Join(o.out, name)); err != nil || info.Size() == 0 {
			t.Errorf("profile %s: %v", name, err)
		}
	}
}

func TestOrderRefuses(t *testing.T) {
	good := order{settings: settings{Rounds: 1, Conns: 1, Requests: 1, Rate: 1, Paced: 1}}
	if err := good.check(nil); err != nil {
		t.Errorf("good settings: %v", err)
	}
	f := func(what string, change func(*order), rest ...string) {
		t.Helper()
		o := good
		change(&o)
		if err := o.check(rest); err == nil {
			t.Errorf("%s passed", what)
		}
	}
	f("fewer rounds than none", func(o *order) { o.Rounds = -1 })
	f("no requests", func(o *order) { o.Requests = 0 })
	f("no connections", func(o *order) { o.Conns = 0 })
	f("no rate", func(o *order) { o.Rate = 0 })
	f("no time", func(o *order) { o.Paced = 0 })
	f("an unknown part", func(o *order) { o.only = "speed" })
	f("an unknown part beside another", func(o *order) { o.only = "matrix,speed" })
	f("an empty part", func(o *order) { o.only = "matrix," })
	f("documented profiles", func(o *order) { o.profile, o.document = true, true })
	f("an argument", func(*order) {}, "stubb")
}
