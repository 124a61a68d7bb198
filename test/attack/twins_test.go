package attack_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// crowd returns n clauses or words, in clauses of at most 500: beside them one clause
// more or less decides whether the cluster takes a search.
func crowd(n int, clause func(from, to int) string) string {
	var list []string
	for i := 0; i < n; i += 500 {
		list = append(list, clause(i, min(i+500, n)))
	}
	return strings.Join(list, ",")
}

func each(from, to int, one func(i int) string) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, one(i))
	}
	return strings.Join(list, ",")
}

func words(from, to int, one func(i int) string) string {
	return strings.ReplaceAll(each(from, to, one), ",", " ")
}

// marks makes a word without a letter.
func marks(i int) string {
	const signs = "!#%&"
	word := make([]byte, 6)
	for at := range word {
		word[at] = signs[i%len(signs)]
		i /= len(signs)
	}
	return string(word)
}

// crowds are ways to come near the number of clauses that a cluster takes.
var crowds = map[string]func(n int) string{
	"terms": func(n int) string {
		return each(0, n, func(i int) string { return fmt.Sprintf(`{"term":{"dept":"x%d"}}`, i) })
	},
	"words": func(n int) string {
		return crowd(n, func(a, b int) string {
			return `{"match":{"bio":"` + words(a, b, func(i int) string { return fmt.Sprintf("w%dx", i) }) + `"}}`
		})
	},
	"marks": func(n int) string {
		return crowd(n, func(a, b int) string {
			return `{"match":{"bio":{"analyzer":"whitespace","query":"` + words(a, b, marks) + `"}}}`
		})
	},
	"marks as simple text": func(n int) string {
		return crowd(n, func(a, b int) string {
			return `{"simple_query_string":{"fields":["bio"],"flags":"NONE","analyzer":"whitespace","query":"` + words(a, b, marks) + `"}}`
		})
	},
	"terms_set": func(n int) string {
		return crowd(n, func(a, b int) string {
			return `{"terms_set":{"dept":{"minimum_should_match_field":"rating","terms":[` + each(a, b, func(i int) string { return fmt.Sprintf(`"x%d"`, i) }) + `]}}}`
		})
	},
	"intervals": func(n int) string {
		return crowd(n, func(a, b int) string {
			return `{"intervals":{"bio":{"match":{"query":"` + words(a, b, func(i int) string { return fmt.Sprintf("w%d", i) }) + `"}}}}`
		})
	},
	"intervals in a list": func(n int) string {
		return crowd(n, func(a, b int) string {
			return `{"intervals":{"bio":{"any_of":{"intervals":[` + each(a, b, func(i int) string { return fmt.Sprintf(`{"match":{"query":"w%d"}}`, i) }) + `]}}}}`
		})
	},
}

// twin is a search with a hole. Filled with what a hidden document holds it must be
// answered as it is filled with what no document holds.
type twin struct {
	body           string // @ is the hole
	hidden, nobody string
}

// expanding are clauses that become as many as the dictionary has fitting terms: one
// that a visible document holds, and one that a hidden one may hold.
var expanding = []twin{
	{`{"match":{"name":{"query":"@","fuzziness":2}}}`, "dorb", "dorx"},
	{`{"fuzzy":{"name":{"value":"@","fuzziness":2}}}`, "dorb", "dorx"},
	{`{"query_string":{"query":"name:@~2"}}`, "dorb", "dorx"},
	{`{"simple_query_string":{"query":"@~2","fields":["name"]}}`, "dorb", "dorx"},
	{`{"multi_match":{"query":"@","fields":["name"],"fuzziness":2}}`, "dorb", "dorx"},
	{`{"regexp":{"word":{"value":"wordalice|@","rewrite":"scoring_boolean"}}}`, "wordb.*", "wordq.*"},
	{`{"regexp":{"word":{"value":"wordalice|@","rewrite":"constant_score_boolean"}}}`, "wordb.*", "wordq.*"},
	{`{"regexp":{"word":{"value":"wordalice|@"}}}`, "wordb.*", "wordq.*"},
	{`{"query_string":{"query":"word:/wordalice|@/","rewrite":"scoring_boolean"}}`, "wordb.*", "wordq.*"},
	{`{"span_multi":{"match":{"regexp":{"name":{"value":"alice|@"}}}}}`, "bob", "bxb"},
	{`{"match_phrase_prefix":{"name":"@"}}`, "bob", "bxb"},
	{`{"match_bool_prefix":{"name":"@"}}`, "bob", "bxb"},
}

// computing is a clause that fails with a value of each document that it computes.
const computing = `{"function_score":{"query":{"term":{"name":"@"}},"field_value_factor":{"field":"%s","factor":-1}%s}}`

// twins are searches that tell something if they compute or count hidden documents.
func twins() []twin {
	list := []twin{
		{`{"query":{"intervals":{"name":{"prefix":{"prefix":"@"}}}}}`, "many", "none"},
		{`{"query":{"intervals":{"name":{"wildcard":{"pattern":"@*"}}}}}`, "many", "none"},
		{`{"query":{"match_phrase_prefix":{"name":"@"}}}`, "many", "none"},
		{`{"query":{"prefix":{"word":"@"}}}`, "wordb", "wordq"},
		{`{"query":{"bool":{"must_not":[{"term":{"name":"@"}}]}}}`, "bob", "nobody"},
		{`{"size":0,"aggs":{"a":{"filters":{"other_bucket":true,"filters":{"x":{"term":{"name":"@"}}}}}}}`, "bob", "nobody"},
		{`{"size":0,"aggs":{"a":{"terms":{"field":"dept","include":["@"]}}}}`, "sales", "nowhere"},
		{`{"query":{"match_all":{}},"rescore":{"window_size":10,"query":{"rescore_query":{"term":{"name":"@"}}}}}`, "bob", "nobody"},
		{`{"sort":[{"rating":{"order":"asc"}}],"search_after":[1],"query":{"bool":{"should":[{"term":{"name":"@"}},{"match_all":{}}]}}}`, "bob", "nobody"},
		{`{"track_total_hits":1,"terminate_after":1,"query":{"bool":{"should":[{"term":{"name":"@"}},{"match_all":{}}]}}}`, "bob", "nobody"},
	}
	for _, field := range []string{"salary", "hired", "rating"} {
		for _, more := range []string{"", `,"min_score":-1e30`} {
			f := fmt.Sprintf(computing, field, more)
			for _, body := range []string{
				`{"query":{"bool":{"should":[%s,{"match_all":{}}]}}}`,
				`{"query":{"bool":{"must_not":[%s]}}}`,
				`{"query":{"bool":{"must":[{"bool":{"should":[{"constant_score":{"filter":%s}},{"match_all":{}}]}}]}}}`,
				`{"query":{"dis_max":{"queries":[%s,{"match_all":{}}]}}}`,
				`{"query":{"boosting":{"positive":{"match_all":{}},"negative":%s,"negative_boost":0.5}}}`,
				`{"query":{"function_score":{"query":{"match_all":{}},"functions":[{"filter":%s,"weight":2}]}}}`,
				`{"query":{"match_all":{}},"rescore":{"window_size":10,"query":{"rescore_query":%s}}}`,
				`{"query":{"match_all":{}},"post_filter":%s}`,
				`{"sort":[{"kids.kname":{"order":"asc","nested":{"path":"kids","filter":%s}}}]}`,
				`{"size":0,"aggs":{"a":{"filter":%s}}}`,
				`{"size":0,"aggs":{"a":{"adjacency_matrix":{"filters":{"x":%s,"y":{"match_all":{}}}}}}}`,
				`{"query":{"match_all":{}},"highlight":{"fields":{"bio":{"highlight_query":%s}}}}`,
			} {
				list = append(list, twin{fmt.Sprintf(body, f), "bob", "nobody"})
			}
		}
	}
	return list
}

var took = regexp.MustCompile(`"took":\d+`)

// TestTwins sends searches that ask for what hidden documents alone hold.
func TestTwins(t *testing.T) {
	_, guard := start(t)
	same := func(t *testing.T, w twin) {
		t.Helper()
		var bodies [2][]byte
		var codes [2]int
		for i, what := range []string{w.hidden, w.nobody} {
			res := ask(t, guard, "rows", "POST", "/hr/_search", strings.ReplaceAll(w.body, "@", what))
			// What the client wrote itself may come back, and how long it took.
			plain := bytes.ReplaceAll(res.Body, []byte(what), []byte("@"))
			bodies[i], codes[i] = took.ReplaceAll(plain, nil), res.Status
		}
		if codes[0] != codes[1] || !bytes.Equal(bodies[0], bodies[1]) {
			t.Errorf("%.200s tells of hidden documents:\n %q: %d %.300s\n %q: %d %.300s", w.body, w.hidden, codes[0], bodies[0], w.nobody, codes[1], bodies[1])
		}
	}
	for _, w := range twins() {
		same(t, w)
	}
	for name, filler := range crowds {
		t.Run("beside "+name, func(t *testing.T) {
			for n := 1020; n <= 1024; n++ {
				body := `{"size":0,"query":{"bool":{"should":[` + filler(n) + `,`
				for _, w := range expanding[:clausesBeside(name)] {
					same(t, twin{body + w.body + `]}}}`, w.hidden, w.nobody})
				}
			}
		})
	}
}

// clausesBeside bounds the run time: one crowd meets all clauses, the others the first two.
func clausesBeside(crowd string) int {
	if crowd == "terms" {
		return len(expanding)
	}
	return 2
}
