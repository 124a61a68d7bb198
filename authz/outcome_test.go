package authz

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
)

func index(name string, via ...string) ask.Target {
	return ask.Target{Name: name, Kind: ask.Index, Members: []string{name}, Via: via, Filtered: len(via) > 0, Wildcard: true}
}

func alias(name string, filtered bool, members ...string) ask.Target {
	return ask.Target{Name: name, Kind: ask.Alias, Members: members, Filtered: filtered}
}

// TestOutcome holds that as long as nothing is taken away the targets are those of
// the caller, and that after that they are a list of their own.
func TestOutcome(t *testing.T) {
	all := []ask.Target{index("a"), index("b"), index("c")}
	whole := outcome{all: all}
	for i := range all {
		whole.keep(i)
	}
	if got := whole.targets(); &got[0] != &all[0] || whole.taken {
		t.Error("a whole outcome was copied")
	}

	part := outcome{all: all}
	part.keep(0)
	part.drop(1, true)
	part.keep(2)
	if part.forbidden || !part.taken {
		t.Errorf("dropped a hidden one: taken %v, forbidden %v", part.taken, part.forbidden)
	}
	part.drop(1, false, index("x"), index("a"))
	if !part.forbidden {
		t.Error("dropped a name, and it is not forbidden")
	}
	got := part.targets()
	if diff := cmp.Diff([]string{"a", "c", "x"}, targetNames(got)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, targetNames(all)); diff != "" {
		t.Errorf("the caller's targets changed (-want +got):\n%s", diff)
	}
}

// TestWays holds how several ways to one index come together: one without a filter
// shows every document, and each filter lets its own through.
func TestWays(t *testing.T) {
	f := func(allowed []ask.Target, want ...string) {
		t.Helper()
		o := outcome{taken: true, allowed: allowed}
		if diff := cmp.Diff(want, targetNames(o.targets())); diff != "" {
			t.Errorf("targets (-want +got):\n%s", diff)
		}
	}
	f([]ask.Target{index("a", "f")}, "a by f")
	f([]ask.Target{index("a", "f"), index("a", "g")}, "a by f,g")
	f([]ask.Target{index("a", "f"), index("a", "f")}, "a by f")
	f([]ask.Target{index("a", "f"), index("a")}, "a")
	f([]ask.Target{index("a"), index("a", "f")}, "a")
	f([]ask.Target{index("a", "f"), alias("whole", false, "a", "b")}, "a", "whole")
	f([]ask.Target{index("a", "f"), alias("g", true, "a")}, "a by f,g", "g")
	f([]ask.Target{index("a", "f"), alias("g", true, "b")}, "a by f", "g")
	f([]ask.Target{index("a", "f"), alias("g", true, "a"), alias("whole", false, "a")}, "a", "g", "whole")
	f([]ask.Target{index("a", "f"), {Name: "s", Kind: ask.DataStream, Members: []string{"a"}}}, "a", "s")
	f([]ask.Target{index("a"), alias("g", true, "a")}, "a", "g")

	literal := ask.Target{Name: "a", Kind: ask.Index, Members: []string{"a"}}
	o := outcome{taken: true, allowed: []ask.Target{index("a", "f"), literal}}
	if got := o.targets(); got[0].Wildcard || got[0].Filtered {
		t.Errorf("got %+v; want the name that the client wrote", got[0])
	}
}
