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

// TestRowsEngines: a construct belongs to the engines that know it.
func TestRowsEngines(t *testing.T) {
	known := map[string]Engines{}
	for _, file := range []string{"query_dsl.tsv", "aggs.tsv"} {
		for _, row := range rows(t, file) {
			name := file + " " + row[0]
			if known[name] != "" {
				known[name] = Both
				continue
			}
			known[name] = Engines(row[1])
		}
	}
	for name, c := range clauses {
		if want := known["query_dsl.tsv "+name]; c.engines != want && name != "span_gap" {
			t.Errorf("clause %s belongs to %s; the specifications say %s", name, c.engines, want)
		}
	}
	for name, a := range aggTable {
		if want := known["aggs.tsv "+name]; a.engines != want {
			t.Errorf("aggregation %s belongs to %s; the specifications say %s", name, a.engines, want)
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

// TestRowsNameFields: where the specifications say that a field is named, our slot
// treats it as one. "keys($)" is the form of a clause, not a slot.
func TestRowsNameFields(t *testing.T) {
	check := func(name, paths string, sh shape) {
		for _, path := range strings.FieldsFunc(paths, func(r rune) bool { return r == ';' || r == ',' }) {
			path, _, _ = strings.Cut(strings.TrimSpace(path), " ")
			if !strings.HasPrefix(path, "$.") || strings.Contains(path, "|") {
				continue
			}
			s, ok := slotAt(sh, strings.TrimPrefix(path, "$."))
			if ok && !namesFields[s.kind] && s.all == "" && s.fls == "" {
				t.Errorf("%s: %s names a field, and stands as kind %d", name, path, s.kind)
			}
			if !ok && !strings.Contains(path, "<field>") && !strings.Contains(path, ".*") {
				t.Errorf("%s: %s names a field, and has no slot", name, path)
			}
		}
	}
	for _, row := range rows(t, "query_dsl.tsv") {
		c := clauses[row[0]]
		if c == nil || c.all != "" || strings.HasPrefix(c.name, "has_") || c.name == "parent_id" {
			continue // the type of a join is a relation, and joins are refused under a field rule
		}
		if keyed := strings.Contains(row[2], "keys($)"); keyed != (c.form == perField) {
			t.Errorf("%s: its form is %d; the specifications say %s", c.name, c.form, row[2])
		}
		check(c.name, row[2], c.keys)
	}
	for _, row := range rows(t, "aggs.tsv") {
		a := aggTable[row[0]]
		if row[2] == "pipeline" || a.all != "" || a.fls != "" {
			continue
		}
		check(a.name, strings.NewReplacer("$.order.*", "", "$.seq_no_primary_term", "").Replace(row[3]), a.keys)
	}
	for _, row := range rows(t, "search_body.tsv") {
		if s, ok := searchKeys[row[0]]; ok && row[1] == "body" && s.all == "" && strings.HasPrefix(row[3], "$.") && !namesFields[s.kind] && s.kind != object && s.kind != objects && s.fls == "" {
			t.Errorf("body key %s names fields at %s, and stands as kind %d", row[0], row[3], s.kind)
		}
	}
}

// namesFields are the kinds that look at field names.
var namesFields = map[kind]bool{
	fieldName: true, fieldPattern: true, rankName: true, rankNames: true, fieldList: true, pathName: true, byField: true,
	sortList: true, sourceSpec: true, fetchFields: true, storedList: true, highlighted: true, hitShape: true, hitShapes: true,
}

// slotAt follows a path such as functions[*].field_value_factor.field.
func slotAt(sh shape, path string) (slot, bool) {
	key, rest, more := strings.Cut(strings.ReplaceAll(path, "[*]", ""), ".")
	s, ok := sh[key]
	if !ok || !more || len(s.keys) == 0 {
		return s, ok
	}
	return slotAt(s.keys, rest)
}

// walkShape calls f for each key of a shape and of the shapes below it.
func walkShape(sh shape, f func(key string, s slot)) {
	for key, s := range sh {
		f(key, s)
		walkShape(s.keys, f)
	}
}
