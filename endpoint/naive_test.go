package endpoint

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// naiveMatch finds a route without a trie: of all templates that fit, the one whose
// first differing segment is more exact wins.
func naiveMatch(rows []Route, verb string, path []string) string {
	var best []string
	id := ""
	for _, r := range rows {
		if !slices.Contains(strings.Split(r.Methods, ","), verb) {
			continue
		}
		for _, p := range r.Paths {
			template := split(p)
			if naiveFits(template, path) && (id == "" || naiveBetter(template, best)) {
				best, id = template, r.ID
			}
		}
	}
	return id
}

func naiveFits(template, path []string) bool {
	if len(template) != len(path) {
		return false
	}
	for i, s := range template {
		switch {
		case s == "{index}":
			if strings.HasPrefix(path[i], "_") && path[i] != "_all" {
				return false
			}
		case s != path[i] && !strings.HasPrefix(s, "{"):
			return false
		}
	}
	return true
}

// naiveBetter reports whether a is more exact than b where they first differ.
func naiveBetter(a, b []string) bool {
	rank := func(s string) int {
		switch {
		case s == "{index}":
			return 1
		case strings.HasPrefix(s, "{"):
			return 2
		default:
			return 0
		}
	}
	for i := range a {
		if ra, rb := rank(a[i]), rank(b[i]); ra != rb {
			return ra < rb
		}
	}
	return false
}

// TestMatchNaively: trie and naive evaluator agree on random paths made of the
// words of the catalogue.
func TestMatchNaively(t *testing.T) {
	words := []string{"logs", "_all", "_x", "x", "-a"}
	for _, r := range testRouter.rows {
		for _, p := range r.Paths {
			for _, s := range split(p) {
				if !isPlaceholder(s) && !slices.Contains(words, s) {
					words = append(words, s)
				}
			}
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: repeatable test data
	matched := 0
	for range 5_000 {
		verb := methodNames[rnd.IntN(int(methods))]
		path := randomPath(rnd, words)
		want := naiveMatch(testRouter.rows, verb, path)
		got := ""
		if m, err := testRouter.Match(verb, path); err == nil {
			got = m.Route.ID
		}
		if got != want {
			t.Fatalf("%s /%s: got %q; want %q", verb, strings.Join(path, "/"), got, want)
		}
		if got != "" {
			matched++
		}
	}
	if matched < 500 {
		t.Fatalf("only %d of the random paths matched: they show too little", matched)
	}
}

// randomPath fills a template of the catalogue with words, or makes one up.
func randomPath(rnd *rand.Rand, words []string) []string {
	rows := testRouter.rows
	row := rows[rnd.IntN(len(rows))]
	path := split(row.Paths[rnd.IntN(len(row.Paths))])
	for i, s := range path {
		if isPlaceholder(s) || rnd.IntN(8) == 0 {
			path[i] = words[rnd.IntN(len(words))]
		}
	}
	if rnd.IntN(8) == 0 {
		path = append(path, words[rnd.IntN(len(words))])
	}
	return path
}

// TestEveryPathReachesItsRoute: each template of each row is found by its own words,
// unless a word of the API stands in the way, and is written back as it was.
func TestEveryPathReachesItsRoute(t *testing.T) {
	fill := strings.NewReplacer("{index}", "logs", "{id}", "1", "{name}", "n1")
	for _, r := range testRouter.rows {
		if r.NotBuilt {
			continue
		}
		for _, verb := range strings.Split(r.Methods, ",") {
			for _, template := range r.Paths {
				text := fill.Replace(template)
				m, err := testRouter.Match(verb, split(text))
				if err != nil {
					t.Errorf("%s %s: %v", verb, text, err)
					continue
				}
				if m.Route.ID != r.ID {
					t.Errorf("%s %s is %q; want %q", verb, text, m.Route.ID, r.ID)
				}
				if got := m.TargetAsNamed(nil); got != text {
					t.Errorf("%s %s is written as %s", verb, text, got)
				}
			}
		}
	}
}

// TestEveryRowTakesIndices: a row that can be reduced has a path for what is left.
func TestEveryRowTakesIndices(t *testing.T) {
	for _, r := range testRouter.rows {
		if r.NotBuilt || r.Targets == NoTargets || r.Targets == AliasActions || r.Targets == ReindexBody || r.Targets == SnapshotNames {
			continue
		}
		for _, template := range r.Paths {
			text := strings.NewReplacer("{index}", "a", "{id}", "1", "{name}", "n").Replace(template)
			m, err := testRouter.Match(strings.Split(r.Methods, ",")[0], split(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Target([]string{"left"}, nil); !strings.Contains(got, "left") {
				t.Errorf("%s of %s names other indices", got, r.ID)
			}
		}
	}
}
