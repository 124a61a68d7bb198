package dls_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"guard/dls"
	"guard/internal/esjson"
	"guard/internal/query"
)

// generator makes random queries over the fields of the random documents.
type generator struct{ *rand.Rand }

func (g generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g generator) text() string  { return g.pick("eng", "exec", "e", "x,\"y", "") }
func (g generator) field() string { return g.pick("dept", "tags", "city") }

func (g generator) query(depth int) string {
	n := 9
	if depth > 0 {
		n = 13
	}
	quoted := func(s string) string { return string(esjson.AppendString(nil, s)) }
	switch g.IntN(n) {
	case 0:
		return `{"match_all":{}}`
	case 1:
		return `{"match_none":{"boost":2}}`
	case 2:
		return fmt.Sprintf(`{"ids":{"values":["%d","%d"]}}`, g.IntN(6), g.IntN(6))
	case 3:
		return fmt.Sprintf(`{"exists":{"field":%q}}`, g.pick("dept", "city", "rating", "none"))
	case 4, 5:
		return fmt.Sprintf(`{"term":{%q:%s}}`, g.field(), quoted(g.text()))
	case 6:
		return fmt.Sprintf(`{"terms":{%q:[%s,%s],"boost":1.5}}`, g.field(), quoted(g.text()), quoted(g.text()))
	case 7:
		return fmt.Sprintf(`{"range":{"rating":{"gte":%d,"lt":%d}}}`, g.IntN(5), g.IntN(9))
	case 8:
		return fmt.Sprintf(`{"prefix":{%q:%s}}`, g.field(), quoted(g.pick("e", "en", "x")))
	case 9:
		return `{"constant_score":{"filter":` + g.query(depth-1) + `}}`
	case 10:
		return `{"dis_max":{"queries":[` + g.queries(depth-1) + `]}}`
	}
	return g.boolean(depth - 1)
}

func (g generator) queries(depth int) string {
	parts := make([]string, g.IntN(3))
	for i := range parts {
		parts[i] = g.query(depth)
	}
	return strings.Join(parts, ",")
}

func (g generator) boolean(depth int) string {
	var parts []string
	for _, key := range []string{"must", "filter", "should", "must_not"} {
		switch g.IntN(4) {
		case 0:
			parts = append(parts, fmt.Sprintf(`%q:%s`, key, g.query(depth)))
		case 1:
			parts = append(parts, fmt.Sprintf(`%q:[%s]`, key, g.queries(depth)))
		}
	}
	if g.IntN(3) == 0 {
		parts = append(parts, fmt.Sprintf(`"minimum_should_match":%d`, g.IntN(3)))
	}
	return `{"bool":{` + strings.Join(parts, ",") + `}}`
}

func (g generator) body() string {
	switch g.IntN(8) {
	case 0:
		return ""
	case 1:
		return `{"size":3}`
	case 2:
		return `{"post_filter":` + g.query(2) + `,"query":` + g.query(2) + `,"sort":["rating"]}`
	}
	return `{"query":` + g.query(3) + `,"size":3}`
}

func (g generator) doc() doc {
	d := doc{"_id": fmt.Sprint(g.IntN(6)), "_index": g.pick("a", "b", "c"), "rating": float64(g.IntN(9))}
	for _, f := range []string{"dept", "tags", "city"} {
		switch g.IntN(3) {
		case 0:
			d[f] = g.text()
		case 1:
			d[f] = []any{g.text(), g.text()}
		}
	}
	return d
}

// filter makes a rule, alone, as one of several, or bound to groups of indices; it
// returns what it compiles to and the naive query that means the same.
func (g generator) filter(t *testing.T) (dls.Filter, func(doc) bool) {
	t.Helper()
	compiled := func() (dls.Filter, func(doc) bool) {
		text := g.query(2)
		f, err := compile(text, nil)
		if err != nil {
			t.Fatalf("cannot compile %s: %v", text, err)
		}
		return f, func(d doc) bool { return naiveMatch([]byte(text), d) }
	}
	a, hitsA := compiled()
	b, hitsB := compiled()
	switch g.IntN(3) {
	case 0:
		return a, hitsA
	case 1:
		return dls.Or(a, b), func(d doc) bool { return hitsA(d) || hitsB(d) }
	}
	f, err := dls.Groups(dls.Group{Indices: []string{"a"}, Filter: a}, dls.Group{Indices: []string{"b"}, Filter: dls.Free}, dls.Group{Filter: b})
	if err != nil {
		t.Fatal(err)
	}
	return f, func(d doc) bool { return d["_index"] == "a" && hitsA(d) || d["_index"] == "b" }
}

// FuzzNarrow: the rewritten body shows what the body and the filter both show,
// neither more nor less.
func FuzzNarrow(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b uint64) {
		g := generator{rand.New(rand.NewPCG(a, b))}
		body := g.body()
		filter, hits := g.filter(t)
		var tape esjson.Tape
		var v esjson.Value
		if body != "" {
			var err error
			if v, err = esjson.Parse(&tape, []byte(body), esjson.RequestLimits()); err != nil {
				t.Fatal(err)
			}
		}
		out, err := query.AppendSearch(nil, v, nil, &query.Rules{Filter: filter})
		if err != nil {
			t.Fatalf("%s was refused: %v", body, err)
		}
		for range 20 {
			d := g.doc()
			if got, want := naiveHits(string(out), d), naiveHits(body, d) && hits(d); got != want {
				t.Fatalf("body   %s\nfilter %s\nbecame %s\nwhich shows %v: %v; want %v", body, filter, out, d, got, want)
			}
		}
	})
}

// FuzzCompile: whatever a value holds, a rule stays the rule it was: the values of
// the result are those of the caller, and nothing but them was added.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{"eng", `"}},{"match_all":{}}`, "${user.name}", "*", "\\", "a OR b", "\x00\x1f", "é☃", "\xff", "]", "[1]", "{}", "now"} {
		f.Add(s)
	}
	const rule = `{"bool":{"must":[{"term":{"a":"x-${v}"}},{"terms":{"b":["${v}",${l}]}},{"wildcard":{"c":"${v}"}},{"query_string":{"query":"d:${v}"}}]}}`
	f.Fuzz(func(t *testing.T, s string) {
		filter, err := compile(rule, func(name string) ([]string, bool, bool) {
			if name == "l" {
				return []string{s, s}, true, true
			}
			return []string{s}, false, true
		})
		if err != nil {
			return // refused: it grants nothing
		}
		must := list(object(object([]byte(filter))["bool"])["must"])
		if len(must) != 4 {
			t.Fatalf("%q became %d clauses: %s", s, len(must), filter)
		}
		if got := value(object(object(must[0])["term"])["a"]); got != "x-"+s {
			t.Fatalf("%q became %q", s, got)
		}
		terms := list(object(object(must[1])["terms"])["b"])
		for _, v := range terms {
			if value(v) != s {
				t.Fatalf("%q became the term %s", s, v)
			}
		}
		if len(terms) != 3 {
			t.Fatalf("%q became %d terms", s, len(terms))
		}
		if got := unescaped(value(object(object(must[2])["wildcard"])["c"]).(string), "*?"); got != s {
			t.Fatalf("%q became the wildcard %q", s, got)
		}
		if got := unescaped(value(object(object(must[3])["query_string"])["query"]).(string), ` +-=&|><!(){}[]^"~*?/:`); got != "d"+s && got != "d:"+s {
			t.Fatalf("%q became the text %q", s, got)
		}
	})
}

// unescaped takes the backslashes out of a text and fails it, by returning "", if a
// character of special stands without one, but for the colon of the rule.
func unescaped(text, special string) string {
	var b strings.Builder
	escaped := false
	for i, r := range text {
		switch {
		case r == '\\' && !escaped:
			escaped = true
			continue
		case !escaped && i != 1 && strings.ContainsRune(special, r):
			return ""
		}
		escaped = false
		b.WriteRune(r)
	}
	return b.String()
}
