package query

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"guard/test/written"
)

const docsFile = "../../docs/refused.md"

// TestDocs holds docs/refused.md to the tables.
func TestDocs(t *testing.T) {
	written.File(t, docsFile, document(), *update)
}

// A refused construct, with the name of its column's reason.
type refused struct{ what, why string }

// columns are the columns of a verdict, as sections of the document.
var columns = []struct {
	title, intro string
	why          func(verdict) string
}{
	{"For everybody who is not unrestricted", "No rule is needed for these: a right on the index is not enough.", func(v verdict) string { return v.all }},
	{"Under a document rule (DLS)", "Where a `dls` query applies to any index of the request.", func(v verdict) string { return v.dls }},
	{"Under a field rule (FLS)", "Where `fls` applies to any index of the request.", func(v verdict) string { return v.fls }},
	{"Where the order of segments tells of what is hidden", "In an index with a field `@timestamp` under a document rule, or under a field rule that hides that field, but on Elasticsearch 7.10; and where the order of documents does.",
		func(v verdict) string { return v.segments }},
	{"Where the order of documents tells of what is hidden", "In an index that is sorted (`index.sort.field`) by a field that a field rule hides.", func(v verdict) string { return v.documents }},
}

func document() string {
	var b strings.Builder
	b.WriteString(`# What is refused in searches

This file is written from the tables in ` + "`internal/query/`" + ` by ` + "`go test ./internal/query -run TestDocs -update`" + `.

It holds for the bodies and URL parameters of ` + "`_search`, `_count` and `_msearch`" + `. A clause,
aggregation, key or parameter that the tables do not know is refused too, with its name; so is
what stands in a place where it means something else. The answer is 403 with the path of the
construct and the reason given here. Principals with every right on everything and no rule
(*unrestricted*) send what they like.

"Anywhere" means at every depth, also below a clause or aggregation that is itself answered.
`)
	for _, c := range columns {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| what | why |\n|---|---|\n", c.title, c.intro)
		for _, r := range merged(collect(c.why)) {
			fmt.Fprintf(&b, "| %s | %s |\n", r.what, r.why)
		}
	}
	b.WriteString(values)
	return b.String()
}

// values are what the walker decides by the value: golden files have each of them.
var values = `
## By value

| what | for whom |
|---|---|
| ` + "`terms` with an object below its field (terms lookup)" + ` | everybody who is not unrestricted |
| ` + "`like` or `unlike` of `more_like_this` with an object (a document)" + ` | everybody who is not unrestricted |
| ` + "`search_pipeline` other than `_none`" + ` | everybody who is not unrestricted |
| ` + "`min_doc_count` below 1 in aggregations that read the term dictionary" + ` | under a document rule |
| ` + "`max_expansions` below 50; a `rewrite` other than `constant_score` and `constant_score_blended`" + `; ~ behind a word in ` + "`q=`, `query_string` and `simple_query_string`; `match_phrase_prefix` and `multi_match` of the type `phrase_prefix` with more than one word, with an analyser that is none of the clusters' own for a language, `standard` or `whitespace`, over patterns of fields, or over texts and other fields together, and that type in `query_string`; the highlighter `fvh` beside a clause that stands for words which it does not name" + ` | under a document rule |
| a text with ` + "`fielddata_frequency_filter` in its mapping, in what reads values: aggregations, sorts, `collapse`, `docvalue_fields`" + ` | under a document rule |
| a text of ` + "`query_string` or `q=`" + ` that clusters of different versions read differently, or with a pattern of several fields beside ` + "`minimum_should_match` or `type`" + ` | under a field rule |
| a field that some indices of the request show and others hide, wherever it can't be bound to its index | under a field rule |
| a number that does not fit its key: ` + "`size`, `from`, `slop` and the like take integers, `boost`, `min_score` finite numbers (400)" + ` | everybody who is not unrestricted |
| ` + "`search_after` beside `collapse`, and two `top_hits` of one name with different numbers of sorts" + ` | where the order of segments or documents tells of what is hidden |
| ` + "`auto_date_histogram`" + ` below another aggregation | where the order of segments or documents tells of what is hidden |
| a sort by ` + "`_doc` that is descending, or beside `search_after`" + ` | under a document or field rule |
| more than ` + strconv.Itoa(maxPatterns) + ` patterns of fields in a search, or more than ` + strconv.Itoa(maxAllPatterns) + ` in all of a multi-search, or one of more than ` + strconv.Itoa(MaxName) + ` bytes | under a field rule |
| more than ` + strconv.Itoa(maxTerms) + ` terms in one clause, ` + strconv.Itoa(maxParts) + ` clauses and aggregations, ` + strconv.Itoa(maxNesting) + ` of them nested | everybody who is not unrestricted |
`

// collect returns what a column refuses, of all tables.
func collect(why func(verdict) string) []refused {
	var out []refused
	add := func(format, name string, v verdict) {
		if reason := why(v); reason != "" {
			out = append(out, refused{fmt.Sprintf(format, name), reason})
		}
	}
	parts := func(owner string, whole verdict, sh shape) {
		if why(whole) != "" {
			return // its parts are refused with it
		}
		walkShape(sh, func(key string, s slot) {
			if s.kind != scriptCode { // all of them in one row
				add("`%s` in "+owner, key, s.verdict)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(clauses)) {
		c := clauses[name]
		add("query `%s`", name, c.verdict)
		parts("query `"+name+"`", c.verdict, join(c.keys, c.value))
	}
	for _, name := range slices.Sorted(maps.Keys(aggTable)) {
		a := aggTable[name]
		add("aggregation `%s`", name, a.verdict)
		if name != "top_hits" { // what it says of hits is said of bodies
			parts("aggregation `"+name+"`", a.verdict, a.keys)
		}
	}
	add("a script anywhere%s", "", scripted.verdict)
	for _, name := range slices.Sorted(maps.Keys(searchKeys)) {
		add("body `%s`", name, searchKeys[name].verdict)
		parts("body `"+name+"`", searchKeys[name].verdict, searchKeys[name].keys)
	}
	for _, name := range slices.Sorted(maps.Keys(paramTable)) {
		add("parameter `%s`", name, paramTable[name].verdict)
	}
	return out
}

// merged makes one row of all constructs with the same reason.
func merged(list []refused) []refused {
	byWhy := map[string][]string{}
	for _, r := range list {
		if !slices.Contains(byWhy[r.why], r.what) {
			byWhy[r.why] = append(byWhy[r.why], r.what)
		}
	}
	out := make([]refused, 0, len(byWhy))
	for why, what := range byWhy {
		slices.Sort(what)
		out = append(out, refused{strings.Join(what, ", "), why})
	}
	slices.SortFunc(out, func(a, b refused) int { return cmp.Compare(a.why, b.why) })
	return out
}
