package query

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"
)

// rows reads a table of testdata: what the engines' specifications and sources say
// can stand in a search, independently of our tables.
func rows(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	all, err := r.ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("cannot read %s: %v", file, err)
	}
	return all[1:]
}

// TestRows: whatever the specifications know has a row here, so that its refusal
// or its rewrite was decided by somebody.
func TestRows(t *testing.T) {
	for _, row := range rows(t, "query_dsl.tsv") {
		name := row[0]
		switch {
		case strings.HasPrefix(name, "retriever."):
			if searchKeys["retriever"].all == "" {
				t.Errorf("retrievers are not refused, and %s has no row", name)
			}
		case name == "terms lookup (query form)" || name == "collapse.inner_hits":
			// Parts of terms and of the body: golden files have them.
		case clauses[name] == nil:
			t.Errorf("clause %s has no row", name)
		}
	}
	for _, row := range rows(t, "aggs.tsv") {
		if aggTable[row[0]] == nil {
			t.Errorf("aggregation %s has no row", row[0])
		}
	}
	for _, row := range rows(t, "search_body.tsv") {
		_, known := searchKeys[row[0]]
		if row[1] == "param" {
			_, known = paramTable[row[0]]
		}
		if !known {
			t.Errorf("%s %s has no row", row[1], row[0])
		}
	}
}

// TestRowsAgree compares the columns of the specifications with our verdicts: what
// runs a script, reads another document or passes the filter is refused.
func TestRowsAgree(t *testing.T) {
	refusedSlot := func(sh shape, verdictOf func(verdict) bool) bool {
		found := false
		walkShape(sh, func(_ string, s slot) { found = found || verdictOf(s.verdict) })
		return found
	}
	underDoc := func(v verdict) bool { return v.dls != "" || v.all != "" }
	anybody := func(v verdict) bool { return v.all != "" }
	for _, row := range rows(t, "query_dsl.tsv") {
		c := clauses[row[0]]
		if c == nil {
			continue
		}
		script, reads, bypass := row[5], row[4], row[6]
		if strings.HasPrefix(script, "yes") && !underDoc(c.verdict) && !refusedSlot(join(c.keys, c.value), underDoc) {
			t.Errorf("%s can hold a script (%s) that is not refused", c.name, script)
		}
		if reads != "none" && c.all == "" && c.dls == "" && c.short != termsValue && !refusedSlot(join(c.keys, c.value), anybody) && c.name != "query_string" {
			t.Errorf("%s reads %s and is not refused", c.name, reads)
		}
		if strings.HasPrefix(bypass, "yes") && !underDoc(c.verdict) {
			t.Errorf("%s passes a filter (%s) and is not refused", c.name, bypass)
		}
	}
	for _, row := range rows(t, "aggs.tsv") {
		a := aggTable[row[0]]
		if strings.HasPrefix(row[6], "yes") && !underDoc(a.verdict) && !refusedSlot(a.keys, underDoc) {
			t.Errorf("%s can hold a script that is not refused", a.name)
		}
		if (strings.HasPrefix(row[7], "yes") || strings.HasPrefix(row[8], "yes")) && !underDoc(a.verdict) {
			t.Errorf("%s ignores the query and is not refused", a.name)
		}
		if a.nests != (row[4] == "yes") {
			t.Errorf("%s: nests %v; the specifications say %s", a.name, a.nests, row[4])
		}
	}
}

// walkShape calls f for each key of a shape and of the shapes below it.
func walkShape(sh shape, f func(key string, s slot)) {
	for key, s := range sh {
		f(key, s)
		walkShape(s.keys, f)
	}
}
