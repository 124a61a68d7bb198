package query

import (
	"fmt"
	"strings"
	"testing"

	"guard/internal/esjson"
)

func TestLimits(t *testing.T) {
	fail := func(body, want string) {
		t.Helper()
		_, err := rewrite(Search, body, nil, &Rules{Filter: Free, Fields: hr})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s...: got %v; want an error with %q", body, err, want)
		}
	}
	nested := func(open, core, close string, n int) string {
		return strings.Repeat(open, n) + core + strings.Repeat(close, n)
	}
	const leaf = `{"match_all":{}}`
	fail(`{"query":`+nested(`{"bool":{"filter":`, leaf, `}}`, 64)+`}`, "nests deeper than 64")
	fail(`{"query":`+nested(`{"nested":{"path":"dependents","query":`, leaf, `}}`, 64)+`}`, "nests deeper than 64")
	fail(`{"aggs":`+nested(`{"f":{"filter":{"match_all":{}},"aggs":`, `{}`, `}}`, 65)+`}`, "nests deeper than 64")
	fail(`{"sort":{"name":{"nested":`+nested(`{"nested":`, `{}`, `}`, 70)+`}}}`, "nests deeper than 64")
	fail(`{"query":{"bool":{"should":[`+strings.Repeat(leaf+",", 8192)+leaf+`]}}}`, "more than 8192 clauses")
	fail(`{"query":{"terms":{"dept":[`+strings.Repeat("1,", 65536)+`1]}}}`, "65537 terms, want at most 65536")

	for _, place := range []string{`{"fields":[%s]}`, `{"query":{"multi_match":{"query":"a","fields":[%s]}}}`, `{"docvalue_fields":[%s]}`, `{"stored_fields":[%s]}`} {
		fail(fmt.Sprintf(place, strings.Repeat(`"no*",`, 1024)+`"no*"`), "more than 1024 patterns of fields")
		fail(fmt.Sprintf(place, `"no*`+strings.Repeat("o", 2048)+`"`), "has 2051 bytes, want at most 2048")
	}
	included := ruleSets["incl"]
	for body, want := range map[string]string{
		`{"_source":[` + strings.Repeat(`"n*1",`, 2000) + `"n*2"]}`: "",
		longList(1025, "n*%d"):                                         "more than 1024 patterns of fields",
		`{"_source":"no*` + strings.Repeat("o", 2048) + `"}`:           "has 2051 bytes, want at most 2048",
		`{"_source":["name","` + strings.Repeat("name.", 500) + `x"]}`: "", // no field, and no look for each dot
	} {
		out, err := rewrite(Search, body, nil, &included)
		if want == "" && (err != nil || strings.Contains(out, "name.name")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s...: %.100s, %v; want an error with %q", body, out, err, want)
		}
	}

	// What clients send in earnest stays within them.
	for _, body := range []string{
		`{"query":` + nested(`{"bool":{"filter":[`, leaf, `]}}`, 63) + `}`,
		`{"query":{"terms":{"dept":[` + strings.Repeat("1,", 65535) + `1]}}}`,
		`{"query":{"bool":{"should":[` + strings.Repeat(leaf+",", 4000) + leaf + `]}}}`,
	} {
		if _, err := rewrite(Search, body, nil, &Rules{Filter: Free, Fields: hr}); err != nil {
			t.Errorf("%.60s...: %v", body, err)
		}
	}
}

// roleQuery is what a role's query without variables becomes, in canonical bytes.
func roleQuery(text string) (string, error) {
	q, err := esjson.Parse(new(esjson.Tape), []byte(text), esjson.RequestLimits())
	if err != nil {
		return "", err
	}
	out, err := AppendRole(nil, q, func(text string, _ Syntax) ([]string, bool, error) {
		return []string{string(esjson.AppendString(nil, text))}, false, nil
	})
	if err != nil {
		return "", err
	}
	printed, err := esjson.Parse(new(esjson.Tape), out, esjson.RequestLimits())
	return string(esjson.AppendCanonical(nil, printed)), err
}

// A rule's filter is not bounded with the body, so it must not be able to make a
// request too deep for clusters by itself.
func TestRoleLimits(t *testing.T) {
	deep := strings.Repeat(`{"bool":{"filter":`, 65) + `{"match_all":{}}` + strings.Repeat(`}}`, 65)
	if _, err := roleQuery(deep); err == nil {
		t.Error("a role query of 66 levels was taken")
	}
}

func TestRoleQuery(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got, err := roleQuery(text)
		if err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
	f(`{"term":{"b":1}}`, `{"term":{"b":1}}`)
	f(` { "bool" : { "must_not" : {"term":{"a":"\u0062"}}, "filter":[] } }`, `{"bool":{"filter":[],"must_not":{"term":{"a":"b"}}}}`)
	f(`{"bool":{"_name":"n","must":[{"match_all":{"_name":"m"}}]}}`, `{"bool":{"must":[{"match_all":{}}]}}`)
	f(`{"terms":{"_name":"n","a":["x"]}}`, `{"terms":{"a":["x"]}}`)
	f(`{"has_child":{"type":"c","query":{"match_all":{}}}}`, `{"has_child":{"query":{"match_all":{}},"type":"c"}}`) // a join inside a rule is the rule's
	f(`{"script":{"script":"doc['a'].size()>0"}}`, `{"script":{"script":"doc['a'].size()>0"}}`)
	f(`{"fuzzy":{"a":{"value":"x","max_expansions":1}}}`, `{"fuzzy":{"a":{"max_expansions":1,"value":"x"}}}`)
	f(`{"query_string":{"query":"a:b"}}`, `{"query_string":{"query":"a:b"}}`)

	fail := func(text, want string) {
		t.Helper()
		if got, err := roleQuery(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %s, %v\nwant an error with %q", text, got, err, want)
		}
	}
	fail(`{"terms":{"a":{"index":"i","id":"1","path":"p"}}}`, "it reads another document, which is not built yet")
	fail(`{"geo_shape":{"a":{"indexed_shape":{"id":"1"}}}}`, "it reads another document, which is not built yet")
	fail(`{"percolate":{"field":"q","document":{}}}`, "not built yet")
	fail(`{"template":{}}`, "its content cannot be read")
	fail(`{"knn":{}}`, "not built yet")
	fail(`{"has_parent":{"parent_type":"p","query":{"match_all":{}},"inner_hits":{}}}`, "it would show in answers")
	fail(`{"match_all":{}} `+"x", "the end of the text")
	fail(`{"match_all":{},"match_all":{}}`, "duplicate key")
	fail(`{"a":1}`, "unknown query clause")
	fail(``, "a value")
}

// AppendQuery is for places where a filter stands apart, such as index_filter.
func TestAppendQuery(t *testing.T) {
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(`{"term":{"ssn":1}}`), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	out, err := AppendQuery([]byte("x"), v, &Rules{Filter: Free, Fields: hr})
	if want := fmt.Sprintf(`x{"term":{%q:1}}`, standIn); err != nil || string(out) != want {
		t.Errorf("AppendQuery = %s, %v; want %s", out, err, want)
	}
}
