package names

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	f := func(text string, want ...Expr) {
		t.Helper()
		if got := Split(text); !slices.Equal(got, want) {
			t.Errorf("Split(%q) = %q; want %q", text, got, want)
		}
	}
	f("")
	f(",")
	f(",,")
	f("a", "a")
	f("a,b", "a", "b")
	f("a,b,,", "a", "b")
	f("a,,b", "a", "", "b")
	f(",a", "", "a")
	f(" a, b", " a", " b")
	f("<a-{now/d{yyyy,MM}}>", "<a-{now/d{yyyy", "MM}}>")
}

func TestExprForms(t *testing.T) {
	f := func(e Expr, wildcard, all, date, excluded, remote, selector bool) {
		t.Helper()
		_, isExcluded := e.Excluded()
		_, _, isRemote := e.Remote()
		_, hasSelector := e.Selector()
		got := []bool{e.IsWildcard(), e.IsAll(), e.IsDateMath(), isExcluded, isRemote, hasSelector}
		if want := []bool{wildcard, all, date, excluded, remote, selector}; !slices.Equal(got, want) {
			t.Errorf("%q: wildcard, all, date math, excluded, remote, selector = %v; want %v", e, got, want)
		}
	}
	f("a", false, false, false, false, false, false)
	f("a*", true, false, false, false, false, false)
	f("a?", false, false, false, false, false, false)
	f("*", true, true, false, false, false, false)
	f("_all", false, true, false, false, false, false)
	f("<a-{now/d}>", false, false, true, false, false, false)
	f("<a-{now/h{HH:mm|+02:00}}>", false, false, true, false, false, false) // its colons are no cluster
	f("-a", false, false, false, true, false, false)
	f("c:a", false, false, false, false, true, false)
	f("*:a", true, false, false, false, true, false)
	f("-c:a", false, false, false, true, true, false)
	f(":a", false, false, false, false, true, false)
	f("a::failures", false, false, false, false, true, true)
}

func TestExprPattern(t *testing.T) {
	f := func(e Expr, want string) {
		t.Helper()
		p, ok := e.Pattern()
		if got := p.String(); got != want || ok != (want != "") {
			t.Errorf("%q as a pattern is %q, %v; want %q", e, got, ok, want)
		}
	}
	f("a", "a")
	f("a*", "a*")
	f("*", "*")
	f("_all", "*")
	f(".a*b", ".a*b")
	f("a**", "a**")
	f("a?", "") // no wildcard to the clusters
	f("-a*", "")
	f("<a>", "")
	f("c:a*", "")
	f("/a/", "")
	f("", "")
	f("_a", "")
}

func TestParseExpand(t *testing.T) {
	f := func(want Expand, parts ...string) {
		t.Helper()
		got, err := ParseExpand(parts...)
		if err != nil || got != want {
			t.Errorf("ParseExpand(%q) = %v, %v; want %v", parts, got, err, want)
		}
	}
	f(ExpandNone)
	f(ExpandOpen, "open")
	f(ExpandOpen|ExpandClosed, "open", "closed")
	f(ExpandHidden, "hidden")
	f(ExpandAll, "all")
	f(ExpandNone, "none")
	f(ExpandNone, "open", "none")
	f(ExpandOpen, "none", "open")
	for _, bad := range []string{"OPEN", "bogus", " closed", "open,closed", ""} {
		if got, err := ParseExpand("open", bad); err == nil || got != ExpandNone || err.Error() != "No valid expand wildcard value ["+bad+"]" {
			t.Errorf("ParseExpand(%q) = %v, %v; want an error", bad, got, err)
		}
	}
}

func TestExpandString(t *testing.T) {
	for e := range ExpandAll + 1 {
		back, err := ParseExpand(strings.Split(e.String(), ",")...)
		if err != nil || back != e {
			t.Errorf("%d prints as %q, which reads as %d, %v", e, e, back, err)
		}
	}
	if !ExpandHidden.Nothing() || !ExpandNone.Nothing() || ExpandOpen.Nothing() || ExpandClosed.Nothing() {
		t.Error("Nothing is wrong about a single state")
	}
}

func TestCheckName(t *testing.T) {
	f := func(name, wantErr string) {
		t.Helper()
		err := CheckName(name)
		switch {
		case wantErr == "" && err != nil:
			t.Errorf("CheckName(%q) = %v; want none", name, err)
		case wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)):
			t.Errorf("CheckName(%q) = %v; want an error with %q", name, err, wantErr)
		}
	}
	f("a", "")
	f("a-1_+.é", "")
	f(".a", "")
	f("...", "")
	f(strings.Repeat("a", 255), "")
	f(strings.Repeat("a", 256), "too long, (256 > 255)")
	f("", "must not be empty")
	f("A", "") // an alias
	f("É", "")
	f("a\x00b\tc\u00a0", "")
	f("_a", "must not start with '_', '-', or '+'")
	f("-a", "must not start with '_', '-', or '+'")
	f("+a", "must not start with '_', '-', or '+'")
	f(".", "must not be '.' or '..'")
	f("..", "must not be '.' or '..'")
	for _, c := range badCharacters {
		f("a"+string(c)+"b", `must not contain the following characters [ , ", *, \, <, |, ,, >, /, ?]`)
	}
	f("a#b", "must not contain '#'")
	f("a:b", "must not contain ':'")
}
