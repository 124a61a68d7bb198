package names

import (
	"fmt"
	"math/rand/v2"
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
