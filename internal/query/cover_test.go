package query

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// covers is what one pattern lets through, without any set.
func covers(p, q string) bool {
	if p == "*" || p == q || !isPattern(p) && strings.HasPrefix(q, p+".") {
		return true
	}
	head, star := strings.CutSuffix(p, "*")
	return star && !isPattern(head) && strings.HasPrefix(q, head)
}

// TestCover holds that a list covers what one of its patterns does.
func TestCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() string {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString([]string{"a", "b", ".", "*", "ab", "a."}[r.IntN(6)])
		}
		return b.String()
	}
	for range 50_000 {
		list := make([]string, r.IntN(5))
		for i := range list {
			list[i] = some()
		}
		q, c := some(), coverOf(list)
		if got, want := c.covers(q), slices.ContainsFunc(list, func(p string) bool { return covers(p, q) }); got != want {
			t.Fatalf("%q covers %q: %t; want %t", list, q, got, want)
		}
	}
}

// countedFields count how often they were asked.
type countedFields struct {
	fakeFields
	asked *int
}

func (f countedFields) Expand(pattern string, use Use) ([]string, string) {
	*f.asked++
	return f.fakeFields.Expand(pattern, use)
}

// longList is a _source of n names, all different.
func longList(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"`+format+`"`, i)
	}
	return `{"_source":[` + b.String()[1:] + `]}`
}

// TestSourceWork holds that a _source costs what it is long: each of its names is looked up
// twice at most, by itself and for what is below it, however long the list is.
func TestSourceWork(t *testing.T) {
	f := func(body string, most int) {
		t.Helper()
		asked, rules := 0, ruleSets["incl"]
		rules.Fields = countedFields{rules.Fields.(fakeFields), &asked}
		if _, err := rewrite(Search, body, nil, &rules); err != nil || asked > most {
			t.Errorf("%.40s...: %d looks, %v; want at most %d", body, asked, err, most)
		}
	}
	f(longList(20_000, "name.x%d"), 0) // the rule covers them
	f(longList(20_000, "person.x%d"), 0)
	f(longList(20_000, "other%d"), 40_000)
	f(`{"_source":["`+strings.Repeat(`other","`, 20_000)+`other"]}`, 2)
	f(`{"_source":["`+strings.Repeat(`o*","`, 20_000)+`o*"]}`, 2)
}
