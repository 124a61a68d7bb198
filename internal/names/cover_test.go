package names

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCovers(t *testing.T) {
	f := func(p, q string, want bool) {
		t.Helper()
		if got := MustParsePattern(p).Covers(MustParsePattern(q)); got != want {
			t.Errorf("%q covers %q: %v; want %v", p, q, got, want)
		}
	}
	f("*", "a*", true)
	f("*", "/a.*/", true)
	f("/.*/", "a", false)
	f("/a.*/", "/a.*/", false)
	f("a*", "*", false)
	f("index_*", "index_a*", true)
	f("index_a*", "index_*", false)
	f("index_a*", "index_a1", true)
	f("index_a1", "index_a1", true)
	f("index_a1", "index_a?", false)
	f("index_a?", "index_a?", true)
	f("index_a?*", "index_a*?", true)
	f("?*", "*?", true)
	f("?*", "*", false)
	f("*a", "*ba", true)
	f("?*a", "*ba", true)
	f("*a*", "*bab*", true)
	f("*a*b*", "*b*a*", false)
	f("*a*b*", "*b*ab", true)
	f("a*b", "a*cb", true)
	f("a*b", "ab", true)
	f("a*b", "a*", false)
	f("a*", "a*b", true)
	f("a*aa", "aa*aa", true)
	f("??", "?", false)
	f("é*", "é?", true)
}

func TestIntersect(t *testing.T) {
	f := func(p, q, want string) {
		t.Helper()
		for _, pair := range [][2]string{{p, q}, {q, p}} {
			got, ok := Intersect(MustParsePattern(pair[0]), MustParsePattern(pair[1]))
			if !ok || got.String() != want {
				t.Errorf("Intersect(%q, %q) = %q, %v; want %q", pair[0], pair[1], got, ok, want)
			}
		}
	}
	f("index_*", "index_a*", "index_a*")
	f("*", "a*", "a*")
	f("a*", "b*", "")
	f("a*x", "*y", "")
	f("a", "b*", "")
	f("a", "a*", "a")
	f("logs-*", "*.eu*", "logs-*.eu*")
	f("", "a*", "")
	f("a*", "a*b*", "a*b*")
	f("x*", "*a*b", "x*a*b")
}

func TestIntersectRefusesWhatIsInexact(t *testing.T) {
	f := func(p, q string) {
		t.Helper()
		if got, ok := Intersect(MustParsePattern(p), MustParsePattern(q)); ok {
			t.Errorf("Intersect(%q, %q) = %q; want none", p, q, got)
		}
	}
	f("ab*", "*bc")     // "abc" has the b once
	f("logs-*", "*-eu") // "logs-eu", likewise
	f("*a*", "*b*")
	f("a*", "/a.*/")
	f("/a/", "/a/")
	f("*", "/a/")
}

func TestProofIsBounded(t *testing.T) {
	p := MustParsePattern(strings.Repeat("*a?", 60) + "*")
	q := MustParsePattern(strings.Repeat("*?b", 60) + "*")
	if p.Covers(q) {
		t.Error("covers what it does not")
	}
	long := MustParsePattern(strings.Repeat("a", 300) + "*b")
	if long.Covers(MustParsePattern(strings.Repeat("a", 300) + "*bb")) {
		t.Error("a pattern that is too long to prove counts as covered")
	}
}

// sample draws a name that glob matches, from a small alphabet so that overlaps
// happen.
func sample(rnd *rand.Rand, glob string) string {
	const alphabet = "ab-é"
	letters := []rune(alphabet)
	var b strings.Builder
	for _, r := range glob {
		switch r {
		case '*':
			for range rnd.IntN(4) {
				b.WriteRune(letters[rnd.IntN(len(letters))])
			}
		case '?':
			b.WriteRune(letters[rnd.IntN(len(letters))])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// FuzzCovers holds the law of containment: what q matches, p matches.
func FuzzCovers(f *testing.F) {
	f.Add("a*b", "a*?b", uint64(1))
	f.Add("*a*", "*ba?*", uint64(2))
	f.Fuzz(func(t *testing.T, p, q string, seed uint64) {
		pp, qq, ok := twoGlobs(p, q)
		if !ok {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		covers := pp.Covers(qq)
		for range 64 {
			if name := sample(rnd, q); covers && qq.Match(name) && !pp.Match(name) {
				t.Fatalf("%q covers %q but does not match %q", p, q, name)
			}
		}
	})
}

// FuzzIntersect holds: the intersection matches a name exactly if both do.
func FuzzIntersect(f *testing.F) {
	f.Add("ab*", "*bc", uint64(1))
	f.Add("a*", "*b", uint64(2))
	f.Add("*a*b", "b*", uint64(3))
	f.Fuzz(func(t *testing.T, p, q string, seed uint64) {
		pp, qq, ok := twoGlobs(p, q)
		if !ok {
			return
		}
		both, ok := Intersect(pp, qq)
		if !ok {
			return
		}
		rnd := rand.New(rand.NewPCG(seed, 2))
		for i := range 96 {
			name := sample(rnd, []string{p, q, both.String()}[i%3])
			if got, want := both.Match(name), pp.Match(name) && qq.Match(name); got != want {
				t.Fatalf("%q and %q give %q, which matches %q: %v; want %v", p, q, both, name, got, want)
			}
		}
	})
}

func twoGlobs(p, q string) (pp, qq Pattern, ok bool) {
	if isRegex(p) || isRegex(q) || len(p) > 24 || len(q) > 24 {
		return Pattern{}, Pattern{}, false
	}
	pp, err1 := ParsePattern(p)
	qq, err2 := ParsePattern(q)
	return pp, qq, err1 == nil && err2 == nil
}

// TestCoversRandomly is the same law over patterns that are likely to touch, with
// the converse: what is not covered has a name that shows it, among short ones.
func TestCoversRandomly(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	short := shortNames("abc", 6) // c stands for every character that no pattern names
	for range 400 {
		p, q := randomGlob(rnd), randomGlob(rnd)
		pp, qq := MustParsePattern(p), MustParsePattern(q)
		if pp.IsNothing() || qq.IsNothing() {
			continue
		}
		want := true
		for _, name := range short {
			if qq.Match(name) && !pp.Match(name) {
				want = false
				break
			}
		}
		if got := pp.Covers(qq); got != want {
			t.Errorf("%q covers %q: %v; want %v", p, q, got, want)
		}
	}
}

func randomGlob(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(5) {
		b.WriteByte("aab**?"[rnd.IntN(6)])
	}
	return b.String()
}

func shortNames(alphabet string, length int) []string {
	out := []string{""}
	for start, n := 0, 0; n < length; n++ {
		end := len(out)
		for _, prefix := range out[start:end] {
			for _, r := range alphabet {
				out = append(out, prefix+string(r))
			}
		}
		start = end
	}
	return out
}
