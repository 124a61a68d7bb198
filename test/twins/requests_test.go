package twins_test

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"guard/test/testbed"
)

// A request is one of a restricted user. Index stands for the indices that it names.
type request struct {
	row    string // of the table of answers: what is asked
	name   string // what is asked, of which field, in which place
	method string
	path   string
	body   string
	weighs bool // words weigh in it, by how many documents hold them
}

const index = "@X"

// A row is one of the tables in testdata: what is asked, of fields of which classes.
type row struct {
	name    string
	classes []string // none: it names no field, or its own
	text    string
}

// table reads a file of testdata: three columns, tabs between.
func table(t *testing.T, file string) []row {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "\t")
		if len(columns) != 3 {
			t.Fatalf("%s: %q has %d columns; want 3", file, line, len(columns))
		}
		r := row{name: columns[0], text: columns[2]}
		if columns[1] != "-" {
			r.classes = strings.Fields(columns[1])
		}
		rows = append(rows, r)
	}
	return rows
}

// A place is a search with a hole for a clause or an aggregation.
type place struct {
	name, text string
	weighs     bool
}

func placesOf(t *testing.T, file string) []place {
	t.Helper()
	var list []place
	for _, r := range table(t, file) {
		list = append(list, place{name: r.name, text: r.text, weighs: slices.Equal(r.classes, []string{"yes"})})
	}
	return list
}

// A catalogue makes the requests of an engine from the tables.
type catalogue struct {
	fields                       []field
	clauses, aggs, bodies, calls []row
	aroundClauses, aroundAggs    []place
	all                          bool // every field of which a row can be asked, not some
	requests                     []request
}

// below are aggregations to stand below others, "" among them.
var below = []string{
	``, ``, `,"aggs":{"m":{"max":{"field":"a_integer"}}}`, `,"aggs":{"t":{"top_hits":{"size":1}}}`, `,"aggs":{"k":{"terms":{"field":"a_keyword"}},"c":{"cardinality":{"field":"a_ip"}}}`,
	`,"aggs":{"h":{"histogram":{"field":"a_integer","interval":20},"aggs":{"s":{"sum":{"field":"a_long"}}}}}`, `,"aggs":{"n":{"nested":{"path":"a_nested"},"aggs":{"k":{"terms":{"field":"a_nested.k"}}}}}`,
}

// requests returns the requests of an engine that name fields beginning with prefix.
func requests(t *testing.T, kind testbed.Kind, prefix string, all bool) []request {
	t.Helper()
	c := catalogue{
		fields: askable(kind), all: all,
		clauses: table(t, "clauses.tsv"), aggs: table(t, "aggs.tsv"), bodies: table(t, "bodies.tsv"), calls: table(t, "calls.tsv"),
		aroundClauses: placesOf(t, "places.tsv"), aroundAggs: placesOf(t, "around.tsv"),
	}
	c.each(c.clauses, prefix, func(r *row, of, clause string, random *rand.Rand) {
		c.within("clause ", r, of, "@Q", clause, c.aroundClauses, random)
	})
	c.each(c.aggs, prefix, func(r *row, of, agg string, random *rand.Rand) {
		agg = strings.ReplaceAll(agg, "@N", below[random.IntN(len(below))])
		c.within("aggregation ", r, of, "@A", agg, c.aroundAggs, random)
	})
	c.each(c.bodies, prefix, func(r *row, of, body string, _ *rand.Rand) {
		c.add(request{row: "search " + r.name, name: r.text + " of " + of, method: "POST", path: "/" + index + "/_search", body: body, weighs: weighs.MatchString(body)})
	})
	c.each(c.calls, prefix, func(r *row, of, call string, _ *rand.Rand) { c.call(r, of, call) })
	return c.requests
}

// weighs finds what scores by words.
var weighs = regexp.MustCompile(`match":|query_string"|q=|"prefix"`)

func (c *catalogue) add(r request) { c.requests = append(c.requests, r) }

// within adds searches for a part: in the first place, and in another.
func (c *catalogue) within(kind string, r *row, of, hole, part string, places []place, random *rand.Rand) {
	for _, p := range []place{places[0], places[1+random.IntN(len(places)-1)]} {
		c.add(request{
			row: kind + r.name, name: part + " of " + of + ", " + p.name, method: "POST", path: "/" + index + "/_search",
			body: strings.ReplaceAll(p.text, hole, part), weighs: p.weighs,
		})
	}
}

// call adds a request that is written out: method, path and maybe a body.
func (c *catalogue) call(r *row, of, text string) {
	method, rest, _ := strings.Cut(text, " ")
	path, body, _ := strings.Cut(rest, " ")
	body = strings.ReplaceAll(body, `\n`, "\n")
	c.add(request{row: r.name, name: text + " of " + of, method: method, path: path, body: body, weighs: weighs.MatchString(text)})
}

// each calls f with the text of each row for each field that it can be asked of. What is
// chosen at random depends on the row and the field alone.
func (c *catalogue) each(rows []row, prefix string, f func(r *row, of, text string, random *rand.Rand)) {
	for i := range rows {
		r := &rows[i]
		if r.classes == nil {
			f(r, "all", r.text, chance(r.text))
			continue
		}
		for _, field := range c.some(r, prefix) {
			random := chance(r.text + prefix + field.name)
			asked := field.values.asked
			value, other := asked[random.IntN(len(asked))], asked[random.IntN(len(asked))]
			f(r, field.name, fill(r.text, prefix+field.name, value, other), random)
		}
	}
}

// enough is how many fields a row is asked of, if not of all.
const enough = 5

// some returns fields that a row can be asked of.
func (c *catalogue) some(r *row, prefix string) []field {
	fit := slices.DeleteFunc(slices.Clone(c.fields), func(f field) bool { return !f.is(r.classes) })
	if c.all || len(fit) <= enough {
		return fit
	}
	chance(r.text+prefix).Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	return fit[:enough]
}

// is reports whether the field is of one of the classes.
func (f *field) is(classes []string) bool {
	return slices.ContainsFunc(strings.Fields(f.class), func(c string) bool { return slices.Contains(classes, c) })
}

// chance is a source of random numbers that is the same for the same text.
func chance(text string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(text))
	return rand.New(rand.NewPCG(h.Sum64(), *seed))
}

// fill puts a field and values into the holes of a text: values as JSON, as a text without
// its quotes, the first letters of it, and both as they stand in a URL.
func fill(text, field, value, other string) string {
	plain := strings.Trim(value, `"`)
	begin := plain[:min(2, len(plain))]
	return strings.NewReplacer("@F", field, "@V", value, "@W", other, "@S", plain, "@P", begin,
		"@U", url.QueryEscape(plain), "@E", url.QueryEscape(begin)).Replace(text)
}

// valid fails for a body that is no JSON: it would be answered alike by every cluster.
func (r *request) valid() bool {
	if r.body == "" {
		return true
	}
	d := json.NewDecoder(strings.NewReader(r.body))
	for d.More() {
		var v any
		if d.Decode(&v) != nil {
			return false
		}
	}
	return true
}
