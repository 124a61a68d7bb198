package indexresolver_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/resolution"
)

func TestNewRefuses(t *testing.T) {
	f := func(c indexresolver.Contents, wantErr string) {
		t.Helper()
		s, err := indexresolver.New(c, nil)
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("New gives %v; want an error with %q", err, wantErr)
		}
		if s != nil {
			t.Error("New failed and returned a state")
		}
	}
	index := func(name string, aliases ...string) indexresolver.Index {
		x := indexresolver.Index{Name: name}
		for _, a := range aliases {
			x.Aliases = append(x.Aliases, indexresolver.Membership{Alias: a})
		}
		return x
	}
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("a"), index("a")}}, `"a" is an index and an index`)
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("a", "b"), index("b")}}, `"b" is an index and an alias`)
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("a")}, DataStreams: []indexresolver.DataStream{{Name: "a"}}}, `"a" is an index and a data stream`)
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("a", "d")}, DataStreams: []indexresolver.DataStream{{Name: "d"}}}, `"d" is an alias and a data stream`)
	f(indexresolver.Contents{DataStreams: []indexresolver.DataStream{{Name: "d", Indices: []string{"x"}}}}, `the unknown index "x"`)
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("a", "al")}, DataStreams: []indexresolver.DataStream{{Name: "d", Indices: []string{"al"}}}}, `the unknown index "al"`)
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("a", "*")}}, "must not contain the following characters")
	f(indexresolver.Contents{Indices: []indexresolver.Index{index("")}}, "must not be empty")
}

// TestNamesThatAliasesMayHave holds that a state is taken with every name that a cluster
// lets an alias have: whoever may make one must not be able to make the state unusable.
func TestNamesThatAliasesMayHave(t *testing.T) {
	for _, name := range []string{"Upper", "ÄRGER", "tab\there", "nul\x00", "a\u00a0b", "...", strings.Repeat("x", 255)} {
		x := indexresolver.Index{Name: "a", Aliases: []indexresolver.Membership{{Alias: name}}}
		s, err := indexresolver.New(indexresolver.Contents{Indices: []indexresolver.Index{x}}, nil)
		if err != nil {
			t.Errorf("alias %q: %v", name, err)
			continue
		}
		if got, ok := s.Lookup(name); !ok || got.Kind != ask.Alias {
			t.Errorf("alias %q is looked up as %v, %v", name, got, ok)
		}
	}
}

func TestLookup(t *testing.T) {
	s := mustNew(t, world())
	f := func(name string, want ask.Target) {
		t.Helper()
		got, ok := s.Lookup(name)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want.Kind != ask.Missing) {
			t.Errorf("Lookup(%q) is %v and (-want +got):\n%s", name, ok, diff)
		}
	}
	f("a1", ask.Target{Name: "a1", Kind: ask.Index, Members: []string{"a1"}})
	f("al", ask.Target{Name: "al", Kind: ask.Alias, Members: []string{"a1", "a2"}})
	f("alf", ask.Target{Name: "alf", Kind: ask.Alias, Members: []string{"a1"}, Filtered: true})
	f("ds1", ask.Target{Name: "ds1", Kind: ask.DataStream, Members: []string{".ds-ds1-000001", ".ds-ds1-000002"}})
	f("nosuch", ask.Target{})
	f("a*", ask.Target{})
}

func TestStreamOf(t *testing.T) {
	s := mustNew(t, indexresolver.Contents{
		Indices:     []indexresolver.Index{{Name: ".ds-b"}, {Name: ".ds-a"}},
		DataStreams: []indexresolver.DataStream{{Name: "d", Indices: []string{".ds-b", ".ds-a"}}},
	})
	if got, ok := s.StreamOf(".ds-b"); got != "d" || !ok {
		t.Errorf("StreamOf is %q, %v; want d", got, ok)
	}
	if got, ok := s.StreamOf("d"); ok {
		t.Errorf("a stream belongs to %q", got)
	}
}

func TestMappingsAreKeptOnce(t *testing.T) {
	mapping := func() []byte { return []byte(`{"properties":{"f":{"type":"keyword"}}}`) }
	old := mustNew(t, indexresolver.Contents{Indices: []indexresolver.Index{{Name: "a", Mapping: mapping()}, {Name: "b", Mapping: mapping()}, {Name: "c"}}})
	next, err := indexresolver.New(indexresolver.Contents{Indices: []indexresolver.Index{{Name: "a", Mapping: mapping()}, {Name: "d", Mapping: []byte(`{}`)}}}, old)
	if err != nil {
		t.Fatal(err)
	}
	a, id, ok := old.Mapping("a")
	b, idB, _ := old.Mapping("b")
	if !ok || id != idB || &a[0] != &b[0] {
		t.Error("equal mappings of one state are kept twice")
	}
	if again, idAgain, _ := next.Mapping("a"); idAgain != id || &again[0] != &a[0] {
		t.Error("an equal mapping of the next state is kept twice")
	}
	if _, _, ok := old.Mapping("c"); ok {
		t.Error("an index without a mapping has one")
	}
	if _, idD, _ := next.Mapping("d"); idD == id {
		t.Error("different mappings have one identity")
	}
	count := 0
	for range next.Mappings() {
		count++
	}
	if count != 2 {
		t.Errorf("%d mappings are kept; want 2", count)
	}
}

func TestBindings(t *testing.T) {
	filter := func(v string) []byte { return []byte(`{"term":{"f":"` + v + `"}}`) }
	s := mustNew(t, indexresolver.Contents{FetchedAt: now, Indices: []indexresolver.Index{
		{Name: "a", Aliases: []indexresolver.Membership{
			{Alias: "f1", Filter: filter("1")}, {Alias: "f2", Filter: filter("2"), SearchRouting: "y,x"},
			{Alias: "f1too", Filter: filter("1"), SearchRouting: "z"}, {Alias: "free"},
		}},
		{Name: "b", Aliases: []indexresolver.Membership{{Alias: "f1"}, {Alias: "routed", SearchRouting: "r"}}},
	}})
	f := func(expr string, want map[string]indexresolver.Binding) {
		t.Helper()
		r, err := s.Resolve(names.Split(expr), resolution.Search, now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Bindings(r)); diff != "" {
			t.Errorf("%q is bound (-want +got):\n%s", expr, diff)
		}
	}
	none := map[string]indexresolver.Binding{}
	f("a", none)
	f("free", none)
	f("f1", map[string]indexresolver.Binding{"a": {Filters: [][]byte{filter("1")}}}) // on b it has no filter
	f("f2", map[string]indexresolver.Binding{"a": {Filters: [][]byte{filter("2")}, Routing: []string{"x", "y"}}})
	f("f1,f2", map[string]indexresolver.Binding{"a": {Filters: [][]byte{filter("1"), filter("2")}}})
	f("f2,f1too", map[string]indexresolver.Binding{"a": {Filters: [][]byte{filter("2"), filter("1")}, Routing: []string{"x", "y", "z"}}})
	f("f1,f1too", map[string]indexresolver.Binding{"a": {Filters: [][]byte{filter("1")}}})
	f("f1,a", none)
	f("f1,free", none)
	f("f*", none)
	f("routed", map[string]indexresolver.Binding{"b": {Routing: []string{"r"}}})
	f("f1*,-b", map[string]indexresolver.Binding{"a": {Filters: [][]byte{filter("1")}}})
}

// TestSameNames changes one fact at a time.
func TestSameNames(t *testing.T) {
	f := func(what string, change func(*indexresolver.Contents), want bool) {
		t.Helper()
		c := world()
		change(&c)
		a, b := mustNew(t, world()), mustNew(t, c)
		if a.SameNames(b) != want || b.SameNames(a) != want {
			t.Errorf("%s: SameNames is %v; want %v", what, a.SameNames(b), want)
		}
	}
	f("nothing", func(*indexresolver.Contents) {}, true)
	f("when it was fetched", func(c *indexresolver.Contents) { c.StateUUID, c.Version, c.Term, c.FetchedAt = "x", 9, 9, now.Add(1) }, true)
	f("the order", func(c *indexresolver.Contents) { slices.Reverse(c.Indices) }, true)
	f("the cluster", func(c *indexresolver.Contents) { c.ClusterUUID = "x" }, false)
	f("the engine", func(c *indexresolver.Contents) { c.Engine.Major = 3 }, false)
	f("an index less", func(c *indexresolver.Contents) { c.Indices = slices.Delete(c.Indices, 7, 8) }, false)
	f("an index made anew", func(c *indexresolver.Contents) { c.Indices[0].UUID = "x" }, false)
	f("closed", func(c *indexresolver.Contents) { c.Indices[0].Closed = true }, false)
	f("hidden", func(c *indexresolver.Contents) { c.Indices[0].Hidden = true }, false)
	f("mapping", func(c *indexresolver.Contents) { c.Indices[0].Mapping = []byte("{}") }, false)
	f("sorted", func(c *indexresolver.Contents) { c.Indices[0].Sort = []string{"a"} }, false)
	f("other analysers", func(c *indexresolver.Contents) { c.Indices[0].Analyzers = []string{"default"} }, false)
	f("an alias less", func(c *indexresolver.Contents) { c.Indices[1].Aliases = c.Indices[1].Aliases[1:] }, false)
	f("filter", func(c *indexresolver.Contents) { c.Indices[0].Aliases[3].Filter = []byte(`{"match_all":{}}`) }, false)
	f("routing", func(c *indexresolver.Contents) { c.Indices[0].Aliases[3].SearchRouting = "2" }, false)
	f("index routing", func(c *indexresolver.Contents) { c.Indices[0].Aliases[3].IndexRouting = "2" }, false)
	f("the order of a stream", func(c *indexresolver.Contents) { slices.Reverse(c.DataStreams[0].Indices) }, true)
	f("hidden stream", func(c *indexresolver.Contents) { c.DataStreams[0].Hidden = true }, false)
	if (&indexresolver.State{}).SameNames(mustNew(t, world())) || !(&indexresolver.State{}).SameNames(nil) {
		t.Error("no state is the same as some state, or not as no state")
	}
}

func TestAge(t *testing.T) {
	s := mustNew(t, indexresolver.Contents{FetchedAt: now})
	f := func(s *indexresolver.State, want time.Duration) {
		t.Helper()
		if got := s.Age(now.Add(time.Minute)); got != want {
			t.Errorf("the age is %v; want %v", got, want)
		}
	}
	f(s, time.Minute)
	s.Confirm(now.Add(20 * time.Second))
	f(s, 40*time.Second)
	s.Confirm(now.Add(10 * time.Second)) // an answer that came late
	f(s, 40*time.Second)
	f(&indexresolver.State{}, math.MaxInt64)
	f(nil, math.MaxInt64)
}

// TestAgeByBothClocks: a clock of the wall that is set back makes no state younger, nor does
// a sleep of the machine, over which the monotonic clock rests.
func TestAgeByBothClocks(t *testing.T) {
	began := time.Now()
	f := func(why string, now time.Time) {
		t.Helper()
		if got := mustNew(t, indexresolver.Contents{FetchedAt: began}).Age(now); got != time.Hour {
			t.Errorf("%s: the age is %v; want an hour", why, got)
		}
	}
	f("an hour later", began.Add(time.Hour))
	f("an hour later, and the wall was set back by two", moveWall(t, began.Add(time.Hour), -2*time.Hour))
	f("an hour of sleep", moveWall(t, began, time.Hour))
}

// moveWall returns at as time.Now would after the clock of the wall alone was moved.
func moveWall(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	moved := at
	*(*uint64)(unsafe.Pointer(&moved)) += uint64(by/time.Second) << 30 // seconds stand above the nanoseconds
	if moved.Round(0).Sub(at.Round(0)) != by || moved.Sub(at) != 0 {
		t.Fatalf("%v moved by %v is %v; time.Time is not laid out as it was", at, by, moved)
	}
	return moved
}

func TestResolveOfANameDoesNotAllocate(t *testing.T) {
	s := mustNew(t, world())
	for _, name := range []names.Expr{"a1", "al", "ds1"} {
		exprs := []names.Expr{name}
		if n := testing.AllocsPerRun(200, func() {
			if _, err := s.Resolve(exprs, resolution.Search, now); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("Resolve of %q allocates %v times; want 0", name, n)
		}
	}
}

// families are the names of the public benchmark: index_a0, index_b0 … index_e0, index_a1 …
func families(n int) indexresolver.Contents {
	c := indexresolver.Contents{FetchedAt: now}
	for i := range n {
		c.Indices = append(c.Indices, indexresolver.Index{
			Name: fmt.Sprintf("index_%c%d", 'a'+i%5, i/5), Mapping: []byte(`{"properties":{"f":{"type":"keyword"}}}`),
			Aliases: []indexresolver.Membership{{Alias: fmt.Sprint("alias_", i/10)}},
		})
	}
	return c
}

func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		s := mustNew(b, families(n))
		for _, bench := range []struct{ name, expr string }{
			{"all", "*"}, {"one", "index_a1"}, {"pattern-20-percent", "index_a*"}, {"list-of-two", "index_a1,index_b1"}, {"pattern-none", "x*"},
		} {
			exprs := names.Split(bench.expr)
			b.Run(fmt.Sprintf("%d/%s", n, bench.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Resolve(exprs, resolution.Search, now); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var prev *indexresolver.State
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c := families(n)
				b.StartTimer()
				s, err := indexresolver.New(c, prev)
				if err != nil {
					b.Fatal(err)
				}
				prev = s
			}
		})
	}
}
