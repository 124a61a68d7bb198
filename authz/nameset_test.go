package authz

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
	"guard/internal/names"
)

func TestNameSet(t *testing.T) {
	set := func(texts ...string) nameSet {
		var list []names.Pattern
		for _, text := range texts {
			list = append(list, names.MustParsePattern(text))
		}
		return newNameSet(list)
	}
	f := func(s nameSet, name string, want bool) {
		t.Helper()
		if got := s.match(name); got != want {
			t.Errorf("%q: got %v; want %v", name, got, want)
		}
	}
	f(nameSet{}, "a", false) // the zero value matches nothing
	f(set(), "a", false)
	f(set(""), "", false)
	f(set("*"), "", true)
	f(set("a"), "a", true)
	f(set("a"), "ab", false)
	f(set("a*"), "a", true)
	f(set("a*", "abc*"), "ab", true)
	f(set("abc*"), "ab", false)
	f(set("abc*", "b*"), "b", true) // of two lengths
	f(set("a?"), "ab", true)
	f(set("a?c*"), "abcd", true)
	f(set("a?c*"), "a?c", true)
	f(set("*a*"), "xay", true)
	f(set("**"), "x", true)
	f(set("/a.*/"), "ab", true)
	f(set("/a*/"), "ab", false) // no prefix, an expression
	f(set("*/"), "x/", true)

	if s := set("", "  "); !s.empty() {
		t.Error("blank patterns make no set")
	}
	if s := set("a"); s.empty() {
		t.Error("a set with a name is empty")
	}
}

func TestNameSetCovers(t *testing.T) {
	f := func(texts []string, asked string, want bool) {
		t.Helper()
		var list []names.Pattern
		for _, text := range texts {
			list = append(list, names.MustParsePattern(text))
		}
		s := newNameSet(list)
		if got := s.covers(names.MustParsePattern(asked)); got != want {
			t.Errorf("%q covers %q: got %v; want %v", texts, asked, got, want)
		}
	}
	f([]string{"*"}, "a*", true)
	f([]string{"*"}, "*", true)
	f([]string{"*"}, "", false) // what matches nothing is covered by nothing
	f([]string{"a*"}, "a*", true)
	f([]string{"a*"}, "ab?c*", true)
	f([]string{"ab*"}, "a?*", false)
	f([]string{"a*", "b*"}, "*", false)
	f([]string{"a"}, "a", true)
	f([]string{"a"}, "a*", false)
	f([]string{"a?"}, "ab", true)
	f([]string{"*a"}, "*ba", true)
	f([]string{"*a"}, "*b", false)
	f([]string{"/.*/"}, "a*", false) // an expression covers no pattern
	f([]string{"*"}, "/a/", true)
	f([]string{"a*"}, "/a.*/", false)
	f(nil, "a", false)
}

// TestNameSetLaws holds that a set is no more and no less than its patterns.
func TestNameSetLaws(t *testing.T) {
	texts := []string{"a", "ab", "a*", "ab*", "abc*", "b*", "*", "?", "a?", "*b", "a*b", "?b*", "/a.*/", "/[ab]+/", ""}
	for seed := range 3000 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 3))}
		var list []names.Pattern
		for _, text := range d.some(4, texts...) {
			list = append(list, names.MustParsePattern(text))
		}
		s := newNameSet(list)
		for _, name := range []string{"a", "b", "ab", "abc", "ba", "bb", "c", ""} {
			want := slices.ContainsFunc(list, func(p names.Pattern) bool { return p.Match(name) })
			if got := s.match(name); got != want {
				t.Fatalf("%v match %q: got %v; want %v", list, name, got, want)
			}
		}
		for _, text := range texts {
			q := names.MustParsePattern(text)
			want := slices.ContainsFunc(list, func(p names.Pattern) bool { return p.Covers(q) })
			if name, exact := q.IsExact(); exact {
				want = s.match(name) // a name is covered by whatever matches it, expressions too
			}
			if got := s.covers(q); got != want {
				t.Fatalf("%v covers %q: got %v; want %v", list, text, got, want)
			}
		}
	}
}

// TestEntryIndex holds that the index of entries finds what a look at every entry
// finds.
func TestEntryIndex(t *testing.T) {
	for seed := range 1000 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 5))}
		w := d.world()
		var entries []boundEntry
		for range d.IntN(6) {
			e := &entry{}
			for _, text := range d.some(3, append([]string{"<a{now/d{uuuu}}*>", ""}, somePatterns...)...) {
				p, err := parseIndexPattern(text)
				if err != nil {
					t.Fatal(err)
				}
				e.patterns = append(e.patterns, p)
			}
			who := &ask.Principal{Identity: ask.Identity{Attributes: map[string]string{"attr.internal.x": "a"}}}
			entries = append(entries, e.bind(who))
		}
		x := newEntryIndex(entries)
		n := &naive{w: w}
		for _, index := range append([]string{"a20261", "nosuch"}, w.Indices...) {
			var want []coverage
			for i := range entries {
				switch lookAt(&entries[i], n.owners(index), noon) {
				case "yes":
					want = append(want, sure(i))
				case "perhaps":
					want = append(want, unsure(i))
				}
			}
			got := x.appendIndex(nil, w, index, noon)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: %s (-naive +index):\n%s", seed, index, diff)
			}
		}
	}
}

func lookAt(e *boundEntry, owners []string, now time.Time) string {
	result := "no"
	for i := range e.patterns {
		p := e.patterns[i].at(now)
		if !slices.ContainsFunc(owners, p.Match) {
			continue
		}
		if !e.patterns[i].unknown {
			return "yes"
		}
		result = "perhaps"
	}
	return result
}

// TestCoverageKey holds that two sets of entries never have one key.
func TestCoverageKey(t *testing.T) {
	lists := [][]coverage{nil, {sure(0)}, {unsure(0)}, {sure(1)}, {sure(0), sure(1)}, {sure(256)}, {sure(0), unsure(1)}}
	seen := map[string]int{}
	for i, list := range lists {
		key := string(appendKey(nil, list))
		if j, ok := seen[key]; ok {
			t.Errorf("%v and %v have one key", lists[j], list)
		}
		seen[key] = i
	}
}
