package names

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTableKeepsOrdinals(t *testing.T) {
	a := NewTable([]string{"x", "y", "x", "z"})
	b := a.Apply([]string{"w", "y"}, []string{"x"})
	c := b.Apply([]string{"x"}, []string{"w"})
	f := func(table *Table, name string, want int) {
		t.Helper()
		o, ok := table.Lookup(name)
		if got := int(o); !ok && want >= 0 || ok && got != want {
			t.Errorf("%q has ordinal %d, %v; want %d", name, got, ok, want)
		}
	}
	f(a, "x", 0)
	f(a, "y", 1)
	f(a, "z", 2)
	f(a, "w", -1)
	f(b, "x", -1)
	f(b, "y", 1)
	f(b, "w", 3)
	f(c, "w", -1)
	f(c, "x", 4) // it came back: another index
	f(c, "z", 2)
	if c.Len() != 3 || c.End() != 5 || c.Name(4) != "x" {
		t.Errorf("Len %d, End %d, Name(4) %q; want 3, 5, x", c.Len(), c.End(), c.Name(4))
	}
}

func TestTablesOfOneLineDoNotShareNewPlaces(t *testing.T) {
	a := NewTable([]string{"x"}).Apply([]string{"y"}, nil)
	b, c := a.Apply([]string{"b"}, nil), a.Apply([]string{"c"}, nil)
	if b.Name(2) != "b" || c.Name(2) != "c" {
		t.Errorf("the second names are %q and %q; want b and c", b.Name(2), c.Name(2))
	}
}

func TestZeroTable(t *testing.T) {
	var zero Table
	if _, ok := zero.Lookup("x"); ok || zero.Len() != 0 || zero.End() != 0 {
		t.Error("the zero table knows a name")
	}
	if got := zero.Apply([]string{"x"}, []string{"y"}); got.Len() != 1 {
		t.Errorf("a name added to the zero table gives %d names", got.Len())
	}
}

// TestTableAgainstMap runs random changes against the obvious model, far enough that
// deltas are merged.
func TestTableAgainstMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	model := map[string]bool{}
	table := NewTable(nil)
	seen := map[Ordinal]string{}
	for range 200 {
		var add, remove []string
		for range 40 {
			name := fmt.Sprint("n", rnd.IntN(400))
			if model[name] {
				remove = append(remove, name)
				delete(model, name)
			} else {
				add = append(add, name)
				model[name] = true
			}
		}
		// A name on both lists stays: removals come first.
		table = table.Apply(add, remove)
		for _, name := range add {
			model[name] = true
		}
		got := map[string]bool{}
		for o, name := range table.All() {
			got[name] = true
			if old, ok := seen[o]; ok && old != name {
				t.Fatalf("ordinal %d meant %q and now %q", o, old, name)
			}
			seen[o] = name
		}
		if diff := cmp.Diff(model, got); diff != "" {
			t.Fatalf("names differ (-model +table):\n%s", diff)
		}
		if table.Len() != len(model) {
			t.Fatalf("Len is %d; want %d", table.Len(), len(model))
		}
	}
}

func TestTableCompact(t *testing.T) {
	old := NewTable([]string{"a", "b", "c"}).Apply([]string{"d"}, []string{"b"})
	next, moved := old.Compact()
	if diff := cmp.Diff(map[Ordinal]Ordinal{0: 0, 2: 1, 3: 2}, moved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	for from, to := range moved {
		if old.Name(from) != next.Name(to) {
			t.Errorf("ordinal %d was %q and became %q", from, old.Name(from), next.Name(to))
		}
	}
}

func TestTableMatch(t *testing.T) {
	table := NewTable([]string{"a1", "a2", "b1"})
	f := func(pattern string, want ...Ordinal) {
		t.Helper()
		got := slices.Collect(table.Match(MustParsePattern(pattern)).All())
		if !slices.Equal(got, want) {
			t.Errorf("%q matches %v; want %v", pattern, got, want)
		}
	}
	f("a*", 0, 1)
	f("b1", 2)
	f("c1")
	f("*", 0, 1, 2)
	f("/.1/", 0, 2)
	f("")
}

// TestSetAgainstMap compares each operation with the same one on a map.
func TestSetAgainstMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		a, am := randomSet(rnd)
		b, bm := randomSet(rnd)
		f := func(op string, apply func(*Set, Set), keep func(Ordinal) bool) {
			t.Helper()
			got := a.Clone()
			apply(&got, b)
			var want []Ordinal
			for o := range Ordinal(300) {
				if keep(o) {
					want = append(want, o)
				}
			}
			if !slices.Equal(slices.Collect(got.All()), want) || got.Len() != len(want) {
				t.Fatalf("%s of %v and %v gives %v; want %v", op, am, bm, slices.Collect(got.All()), want)
			}
			if got.IsEmpty() != (len(want) == 0) {
				t.Fatalf("%s: IsEmpty is %v with %d members", op, got.IsEmpty(), len(want))
			}
		}
		f("union", (*Set).Union, func(o Ordinal) bool { return am[o] || bm[o] })
		f("intersection", (*Set).Intersect, func(o Ordinal) bool { return am[o] && bm[o] })
		f("difference", (*Set).Minus, func(o Ordinal) bool { return am[o] && !bm[o] })
		inside, touch := true, false
		for o := range bm {
			inside = inside && am[o]
			touch = touch || am[o]
		}
		if a.Contains(b) != inside || a.Intersects(b) != touch {
			t.Fatalf("%v contains %v: %v, intersects: %v; want %v, %v", am, bm, a.Contains(b), a.Intersects(b), inside, touch)
		}
		if c := a.Clone(); !c.Equal(a) {
			t.Fatal("a clone differs")
		}
	}
}

func randomSet(rnd *rand.Rand) (Set, map[Ordinal]bool) {
	var s Set
	m := map[Ordinal]bool{}
	for range rnd.IntN(12) {
		o := Ordinal(rnd.IntN(rnd.IntN(280) + 1))
		if rnd.IntN(4) == 0 {
			s.Remove(o)
			delete(m, o)
			continue
		}
		s.Add(o)
		m[o] = true
	}
	for o := range m {
		if !s.Has(o) {
			panic("BUG: a member is missing")
		}
	}
	return s, m
}

func TestCloneSharesNothing(t *testing.T) {
	a := NewSet(1, 2)
	b := a.Clone()
	b.Add(3)
	b.Remove(1)
	if !a.Equal(NewSet(1, 2)) {
		t.Error("a change of the clone changed the set")
	}
}
