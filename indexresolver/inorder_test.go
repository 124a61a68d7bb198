package indexresolver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestInOrder holds that the answers are those of the state, in whatever order names come,
// and whether they are there or not.
func TestInOrder(t *testing.T) {
	c := Contents{ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: time.Unix(0, 0)}
	var all []string
	for i := range 100 {
		x := Index{Name: fmt.Sprintf("i-%02d", i)}
		if i%3 == 0 {
			x.Aliases = []Membership{{Alias: fmt.Sprintf("a-%d", i%9)}}
		}
		c.Indices = append(c.Indices, x)
		all = append(all, x.Name, x.Name+"x")
	}
	c.DataStreams = []DataStream{{Name: "stream", Indices: []string{"i-07", "i-99"}}}
	s, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, "", "a-0", "a-3", "a-6", "i-", "stream", "zz")
	slices.Sort(all)
	f := func(list []string) {
		t.Helper()
		o := s.InOrder()
		for _, name := range list {
			stream, _ := s.StreamOf(name)
			if got, want := o.Aliases(name), s.AliasesOf(name); !slices.Equal(got, want) {
				t.Fatalf("aliases of %q are %q; want %q", name, got, want)
			}
			if got := o.Stream(name); got != stream {
				t.Fatalf("stream of %q is %q; want %q", name, got, stream)
			}
			if got, want := o.entry(name), s.entries[name]; got != want {
				t.Fatalf("entry of %q is %+v; want %+v", name, got, want)
			}
		}
	}
	f(all)
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	f(backwards)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: for a test
	for range 200 {
		some := slices.Clone(all)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:random.IntN(len(some))]
		f(some)
		slices.Sort(some)
		f(some)
	}
	if o := new(State).InOrder(); o.entry("x") != nil || o.Aliases("x") != nil || o.Stream("x") != "" {
		t.Error("a state without names has one")
	}
}
