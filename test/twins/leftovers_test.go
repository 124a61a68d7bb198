package twins_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A leftover is an entry of the closed list in docs/compatibility.md: what is known to
// depend on what is hidden, and in which requests it shows.
type leftover struct {
	entry    string // how it begins in the list
	requests *regexp.Regexp
	fits     func(w *twin, pair [2]int) bool
}

// withNone fits a comparison with the index that hides nothing.
func withNone(_ *twin, pair [2]int) bool { return pair[0] == 0 }

// documents fits what a user under a document rule asks.
func documents(w *twin, _ [2]int) bool { return w.user.documents }

// ofSegments fits indices whose segments stand in the order of their newest document.
func ofSegments(w *twin, _ [2]int) bool { return w.at.stamped }

var leftovers = []leftover{
	{"whether a segment of a shard holds any hidden document", regexp.MustCompile(`"aggs":.*"(range|date_range|composite|auto_date_histogram)":`),
		func(w *twin, pair [2]int) bool { return withNone(w, pair) && documents(w, pair) }},
	{"`_seq_no`, `_version` gaps", regexp.MustCompile(`_seq_no|random_score`), func(w *twin, pair [2]int) bool { return withNone(w, pair) && documents(w, pair) }},
	{"whether a shard has fewer than half as many words in a keyword as documents", regexp.MustCompile(`"terms":.*"min":{"field":"(secret_|a_\w*\.secret)`), withNone},
	{"under a field rule, how many objects hidden nested fields have", regexp.MustCompile(`"(wildcard|regexp)":{"\w+_wildcard"`), func(w *twin, pair [2]int) bool { return withNone(w, pair) && w.user.fields }},
	// The beginnings of hidden words are words of these fields, as are those of visible ones;
	// and every document holds one of the two flags.
	{"the score of a word that a visible document holds", regexp.MustCompile(`_(edges|typing|boolean\b)`), func(w *twin, pair [2]int) bool { return documents(w, pair) && w.weighs }},
	{"the last digits of sums, and approximate percentiles", regexp.MustCompile(`"(matrix_stats|avg|sum|stats|extended_stats|weighted_avg|t_test|geo_centroid|percentiles|percentile_ranks|boxplot|median_absolute_deviation)":`), ofSegments},
}

// leftoverOf returns the entry that explains a difference, nil if none does.
func leftoverOf(w *twin, pair [2]int) *leftover {
	for i := range leftovers {
		if l := &leftovers[i]; l.fits(w, pair) && l.requests.MatchString(w.path+w.body) {
			return l
		}
	}
	return nil
}

// TestLeftovers: what is left is in the closed list.
func TestLeftovers(t *testing.T) {
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leftovers {
		if !strings.Contains(string(text), "\n| "+l.entry) {
			t.Errorf("docs/compatibility.md has no entry that begins %q", l.entry)
		}
	}
}
