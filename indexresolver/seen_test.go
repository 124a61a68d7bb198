package indexresolver_test

import (
	"testing"

	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/resolution"
)

// TestResolveSeen holds that a name that is not seen has no say in what others mean, and
// that one that was written is still a target with all its indices, and no missing name.
func TestResolveSeen(t *testing.T) {
	s := mustNew(t, world())
	f := func(expr, unseen, want string) {
		t.Helper()
		r, err := s.ResolveSeen(names.Split(expr), resolution.Search, now, func(t *ask.Target) bool { return t.Name != unseen })
		if err != nil {
			t.Errorf("%q: %v", expr, err)
		} else if got := show(r); got != want {
			t.Errorf("%q without %q means\n%s\nwant\n%s", expr, unseen, got, want)
		}
	}
	f("a1", "a1", "a1")
	f("a1", "a2", "a1")
	f("alw", "alw", "alw{a1 a2}")
	f("alw,b*,-x*", "alw", "alw{a1 a2} b1*")
	f("alw,alw,b*", "alw", "alw{a1 a2} b1*")
	f("a2,a*,-a2", "a2", "a1* a2 al*{a1 a2} alf*{a1} althid*{hid} alw*{a1 a2} -a2")
	f("al*,-al", "al", "alf*{a1} althid*{hid} alw*{a1 a2} -al")
	f("alw*", "alw", "0alw*")
	f("nosuch,b*", "b1", "?nosuch 0b*")
}
