package names

import (
	"strings"
	"testing"
	"time"
)

func TestPatternMatch(t *testing.T) {
	f := func(pattern, name string, want bool) {
		t.Helper()
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatalf("ParsePattern(%q): %v", pattern, err)
		}
		if got := p.Match(name); got != want {
			t.Errorf("%q matches %q: %v; want %v", pattern, name, got, want)
		}
		if got := NewPatterns(p).Match(name); got != want {
			t.Errorf("list of %q matches %q: %v; want %v", pattern, name, got, want)
		}
	}
	f("", "", false)
	f("  ", "  ", false)
	f("a", "a", true)
	f("a", "A", false)
	f("a", "ab", false)
	f("*", "", true)
	f("*", "anything", true)
	f("**", "anything", true)
	f("logs-*", "logs-", true)
	f("logs-*", "logs", false)
	f("logs-*", "logs-2026", true)
	f("logs-?", "logs-", false)
	f("logs-?", "logs-é", true)
	f("logs-?", "logs-é1", false)
	f("*-2026", "logs-2026", true)
	f("*-2026", "logs-2026-x", false)
	f("a*b*c", "abbbc", true)
	f("a*b*c", "acb", false)
	f("a*?c", "ac", false)
	f("a*?c", "abc", true)
	f("*??", "€", false) // one character, three bytes
	f("-foo", "bar", false)
	f("-foo", "-foo", true)
	f("!foo*", "foo", false)
	f("[ab]", "a", false)
	f("/a.*/", "abc", true)
	f("/a/", "ab", false)
	f("/a|b.*/", "ab", false) // the whole name, in each branch
	f("/^(?!index_b).*/", "index_a1", true)
	f("/^(?!index_b).*/", "index_b1", false)
	f("/(?<=x)y|z/", "z", true)
	f(`/\d+/`, "12", true)
	f(`/\d+/`, "١٢", false) // Java's \d is ASCII
	f(`/\w+/`, "é", false)
	f(`/\Qa.b\E.*/`, "a.bc", true)
	f(`/\Qa.b\E.*/`, "axbc", false)
	f(`/\Qa.b/`, "a.b", true)
	f(`/\p{Lower}+/`, "abc", true)
	f(`/[\p{Lower}\d]+/`, "abc1", true)
	f(`/\P{Digit}+/`, "abc", true)
	f(`/(?i)abc/`, "ABC", true)
	f(`/(?<year>\d{4})-\k<year>/`, "2026-2026", true)
	f(`//`, "", true)
	f(`//`, "a", false)
}

func TestParsePatternRefuses(t *testing.T) {
	f := func(pattern, wantErr string) {
		t.Helper()
		p, err := ParsePattern(pattern)
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("ParsePattern(%q) = %v; want an error with %q", pattern, err, wantErr)
		}
		if !p.IsNothing() {
			t.Errorf("ParsePattern(%q) failed and still returned a pattern that matches", pattern)
		}
	}
	f("/(/", "cannot compile")
	f("/a)|(b/", "cannot compile")
	f("/a{2,1}/", "cannot compile")
	f("/[a/", "unclosed '['")
	f(`/\/`, `'\' at the end`)
	f(`/[a&&b]/`, "intersection")
	f(`/[a[b]]/`, "'[' inside")
	f(`/[]a]/`, "right after '['")
	f(`/\h/`, "escape")
	f(`/\R/`, "escape")
	f(`/(?x)a/`, "group")
	f(`/(?#no)a/`, "group")
	f(`/(?(a)b|c)/`, "group")
	f(`/\pL/`, "needs a name in braces")
	f(`/[\P{Lower}]/`, "in a character class")
	f(`/[\Qa-z\E]/`, "in a character class")
	f(`/\p{IsNonsense}/`, "cannot compile")
	f("a\xff*", "UTF-8")
}

func TestPatternTimeout(t *testing.T) {
	p := MustParsePattern(`/(?=a)(a+)+$b/`)
	start := time.Now()
	slow := strings.Repeat("a", 60)
	if matched, sure := p.Try(slow); matched || sure {
		t.Errorf("a match that ran out of time: %t, sure %t; want neither", matched, sure)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("the match took %v", d)
	}
	if p.Match(slow) || !p.MayMatch(slow) || NewPatterns(p).Match(slow) || !NewPatterns(p).MayMatch(slow) {
		t.Error("what ran out of time matches, or may not match")
	}
	if matched, sure := p.Try("ab"); matched || !sure {
		t.Errorf("a match after a time-out: %t, sure %t; want false, for sure", matched, sure)
	}
}

func TestPatternMatchDoesNotAllocate(t *testing.T) {
	ps := NewPatterns(MustParsePattern("index_a*"), MustParsePattern("*-?-x*"), MustParsePattern("hr"))
	names := []string{"index_a1", "logs-1-x9", "hr", "nothing of these"}
	if n := testing.AllocsPerRun(200, func() {
		for _, name := range names {
			ps.Match(name)
		}
	}); n != 0 {
		t.Fatalf("Match allocates %v times; want 0", n)
	}
}

func TestZeroPatternsMatchNothing(t *testing.T) {
	var p Pattern
	var ps Patterns
	for _, name := range []string{"", "a", "*"} {
		if p.Match(name) || ps.Match(name) {
			t.Errorf("the zero value matches %q", name)
		}
	}
	if p.Covers(p) || p.Covers(MustParsePattern("a")) || MustParsePattern("*").Covers(p) {
		t.Error("the zero value covers or is covered")
	}
}

// naiveMatch is the textbook definition, exponential and obviously right.
func naiveMatch(glob, name []rune) bool {
	switch {
	case len(glob) == 0:
		return len(name) == 0
	case glob[0] == '*':
		return naiveMatch(glob[1:], name) || len(name) > 0 && naiveMatch(glob, name[1:])
	case len(name) == 0:
		return false
	}
	return (glob[0] == '?' || glob[0] == name[0]) && naiveMatch(glob[1:], name[1:])
}

func FuzzMatchGlob(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("**?é*", "€é")
	f.Add("*a*a*", "aa")
	f.Fuzz(func(t *testing.T, glob, name string) {
		if len(glob) > 12 || len(name) > 16 || isRegex(glob) || strings.ContainsAny(name, "*?") {
			return
		}
		p, err := ParsePattern(glob)
		if err != nil || strings.ToValidUTF8(name, "") != name || p.IsNothing() {
			return
		}
		if got, want := p.Match(name), naiveMatch([]rune(glob), []rune(name)); got != want {
			t.Fatalf("%q matches %q: %v; want %v", glob, name, got, want)
		}
	})
}

// TestNamesNothing holds which patterns no name can match, and that none of them does.
func TestNamesNothing(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		if got := MustParsePattern(text).NamesNothing(); got != want {
			t.Errorf("NamesNothing(%q) = %v; want %v", text, got, want)
		}
	}
	for _, text := range []string{"far:*", "*:logs-*", "l*:logs-*", "a,b*", "-a*", "_all*", "+a*", "<a*", "*>", "a b*", "a/b*", `a\*`, "#*", "*|*", `"*`, "", " "} {
		f(text, true)
	}
	for _, text := range []string{"*", "a*", "*a", "?", "*-a", "*_a+", ".a*", "A*", "ä*", "%2c*", "!a*", "a", "/-a/"} {
		f(text, false)
	}
	for _, text := range shortNames("a-:,?*", 4) {
		p := MustParsePattern(text)
		if !p.NamesNothing() {
			continue
		}
		for _, name := range shortNames("a-:,", 4) {
			if p.Match(name) && CheckName(name) == nil {
				t.Fatalf("%q matches %q, which can be a name", text, name)
			}
		}
	}
}

// TestGlobsMatchAsTheyAreDefined compares all short patterns and names with what a pattern
// means, and holds that no pair of them takes long.
func TestGlobsMatchAsTheyAreDefined(t *testing.T) {
	var means func(glob, name []rune) bool
	means = func(glob, name []rune) bool {
		switch {
		case len(glob) == 0:
			return len(name) == 0
		case glob[0] == '*':
			return means(glob[1:], name) || len(name) > 0 && means(glob, name[1:])
		}
		return len(name) > 0 && (glob[0] == '?' || glob[0] == name[0]) && means(glob[1:], name[1:])
	}
	list := shortNames("abä", 5)
	for _, glob := range shortNames("aä*?", 5) {
		if glob == "" {
			continue // matches nothing
		}
		p := MustParsePattern(glob)
		for _, name := range list {
			if got, want := p.Match(name), means([]rune(glob), []rune(name)); got != want {
				t.Fatalf("%q matches %q: %v; want %v", glob, name, got, want)
			}
		}
	}
	name := strings.Repeat("a", 1<<20)
	for _, glob := range []string{"*" + strings.Repeat("a", 1<<19) + "b*", strings.Repeat("*a", 1<<10) + "b*", "*" + strings.Repeat("a", 1<<19) + "b"} {
		if MustParsePattern(glob).Match(name) { // in minutes, if it took a step for each pair of places
			t.Errorf("%.20s matches a name without a b", glob)
		}
	}
}
