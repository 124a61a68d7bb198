package dls_test

import (
	"strings"
	"testing"

	"guard/dls"
)

// anna is a caller with one variable of each kind, and mischief in them.
func anna(name string) (texts []string, list, ok bool) {
	switch name {
	case "user.roles":
		return []string{`x","exec`, "legal"}, true, true
	case "user.securityRoles":
		return nil, true, true
	}
	v, ok := map[string]string{
		"user.name": "anna", "attr.internal.dept": "eng", "attr.internal.level": "5", "attr.internal.yes": "true",
		"attr.jwt.groups": `["a","b"]`, "attr.jwt.query": `{"match_all":{}}`, "attr.jwt.mixed": `["a",{"match_all":{}}]`,
		"attr.bad.quote": `zz"}},{"match_all":{}},{"term":{"dept":"zz`, "attr.bad.var": "${attr.internal.dept}", "attr.bad.star": "*",
		"attr.bad.or": "zz OR *", "attr.bad.op": "OR", "attr.bad.less": ">1", "attr.bad.regex": "a.*|b", "attr.bad.now": "now-10y",
		"attr.bad.math": "2020||-10y", "attr.nowak": "nowak", "attr.empty": "", "attr.bad.boost": "a^9", "attr.bad.utf8": "a\xff",
	}[name]
	return []string{v}, false, ok
}

// compile reads a rule and fills it with the caller's values.
func compile(text string, values dls.Values) (dls.Filter, error) {
	r, err := dls.Parse(text)
	if err != nil {
		return dls.MatchNone, err
	}
	return r.Compile(values)
}

func TestCompile(t *testing.T) {
	f := func(rule, want string) {
		t.Helper()
		got, err := compile(rule, anna)
		if err != nil || string(got) != want {
			t.Errorf("Compile(%s)\n got %s, %v\nwant %s", rule, got, err, want)
		}
	}
	// Canonical: white space and the order of keys mean nothing, number lexemes do.
	f(`{"term":{"dept":"eng"}}`, `{"term":{"dept":"eng"}}`)
	f(" {\n\"bool\" : {\"should\":[ {\"term\":{\"a\":1.0}} ], \"must_not\": []} } ", `{"bool":{"must_not":[],"should":[{"term":{"a":1.0}}]}}`)
	f(`{"term":{"dept":{"value":"eng","_name":"rule","boost":2}}}`, `{"term":{"dept":{"boost":2,"value":"eng"}}}`) // a name would show in answers

	// A value stays one value.
	f(`{"term":{"dept":"${user.name}"}}`, `{"term":{"dept":"anna"}}`)
	f(`{"term":{"dept":"a-${user.name}-${attr.internal.dept}"}}`, `{"term":{"dept":"a-anna-eng"}}`)
	f(`{"term":{"dept":"${attr.bad.quote}"}}`, `{"term":{"dept":"zz\"}},{\"match_all\":{}},{\"term\":{\"dept\":\"zz"}}`)
	f(`{"term":{"dept":"${attr.bad.var}"}}`, `{"term":{"dept":"${attr.internal.dept}"}}`) // not substituted again
	f(`{"term":{"${user.name}":"x"}}`, `{"term":{"anna":"x"}}`)
	f(`{"exists":{"field":"acl.${user.name}"}}`, `{"exists":{"field":"acl.anna"}}`)
	f(`{"term":{"dept":"$${user.name}"}}`, `{"term":{"dept":"${user.name}"}}`)
	f(`{"term":{"dept":"${attr.none:-all}"}}`, `{"term":{"dept":"all"}}`)

	// Lists.
	f(`{"terms":{"dept":[${user.roles}]}}`, `{"terms":{"dept":["x\",\"exec","legal"]}}`)
	f(`{"terms":{"dept":["own",${user.roles}]}}`, `{"terms":{"dept":["own","x\",\"exec","legal"]}}`)
	f(`{"terms":{"dept":["${user.roles}"]}}`, `{"terms":{"dept":["x\",\"exec","legal"]}}`)
	f(`{"terms":{"dept":${user.roles}}}`, `{"terms":{"dept":["x\",\"exec","legal"]}}`)
	f(`{"terms":{"dept":[${user.securityRoles}]}}`, `{"terms":{"dept":[]}}`)
	f(`{"terms":{"dept":${attr.jwt.groups}}}`, `{"terms":{"dept":["a","b"]}}`)
	f(`{"range":{"level":{"lte":${attr.internal.level}}}}`, `{"dis_max":{"queries":[{"range":{"level":{"lte":5}}}]}}`)
	f(`{"term":{"open":${attr.internal.yes}}}`, `{"term":{"open":true}}`)

	// Literal in every syntax.
	f(`{"wildcard":{"dept":"${attr.bad.star}"}}`, `{"wildcard":{"dept":"\\*"}}`)
	f(`{"wildcard":{"dept":{"value":"${attr.bad.star}-*"}}}`, `{"wildcard":{"dept":{"value":"\\*-*"}}}`)
	f(`{"regexp":{"dept":"${attr.bad.regex}.*"}}`, `{"regexp":{"dept":"a\\.\\*\\|b.*"}}`)
	f(`{"query_string":{"query":"dept:${attr.bad.or}"}}`, `{"query_string":{"query":"dept:zz\\ OR\\ \\*"}}`)
	f(`{"query_string":{"query":"dept:${attr.bad.op}"}}`, `{"query_string":{"query":"dept:\\OR"}}`)
	f(`{"simple_query_string":{"fields":["dept"],"query":"${attr.bad.or}"}}`, `{"simple_query_string":{"fields":["dept"],"query":"zz\\ OR\\ \\*"}}`)
	f(`{"span_multi":{"match":{"wildcard":{"dept":"${attr.bad.star}"}}}}`, `{"span_multi":{"match":{"wildcard":{"dept":"\\*"}}}}`)
	f(`{"intervals":{"t":{"wildcard":{"pattern":"${attr.bad.star}a"}}}}`, `{"intervals":{"t":{"wildcard":{"pattern":"\\*a"}}}}`)
	f(`{"range":{"owner":{"gte":"${attr.nowak}"}}}`, `{"dis_max":{"queries":[{"range":{"owner":{"gte":"nowak"}}}]}}`)
	f(`{"script":{"script":{"source":"doc['a'].value == params.u","params":{"u":"${attr.bad.quote}"}}}}`,
		`{"script":{"script":{"params":{"u":"zz\"}},{\"match_all\":{}},{\"term\":{\"dept\":\"zz"},"source":"doc['a'].value == params.u"}}}`)
}

func TestCompileRefuses(t *testing.T) {
	f := func(rule, want string) {
		t.Helper()
		got, err := compile(rule, anna)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s)\n got %s, %v\nwant an error with %q", rule, got, err, want)
		}
		if got != dls.MatchNone {
			t.Errorf("Compile(%s) returned %q beside its error", rule, got)
		}
	}
	f(``, "a value")
	f(` `, "a value")
	f(`dept:eng`, "cannot parse JSON")
	f(`{"term":{"dept":"eng"}} {"match_all":{}}`, "the end of the text")
	f(`{"term":{"dept":"eng"},"match_all":{}}`, "want an object with one clause")
	f(`{"term":{"dept":"eng"},"term":{"dept":"x"}}`, "duplicate key")
	f(`{}`, "want an object with one clause")
	f(`{"query":{"match_all":{}}}`, "unknown query clause")
	f(`{"nosuch":{}}`, "[nosuch] at nosuch is refused: unknown query clause")
	f(`{"bool":{"muts":[]}}`, "[muts] at bool.muts is refused: unknown key")
	f(`{"terms":{"dept":{"index":"l","id":"1","path":"p"}}}`, "[terms lookup] at terms.dept is refused: it reads another document, which is not built yet")
	f(`{"wrapper":{"query":"e30="}}`, "its content cannot be read")
	f(`{"nested":{"path":"d","query":{"match_all":{}},"inner_hits":{}}}`, "it would show in answers")
	f(`{"term":{"dept":"${nobody}"}}`, `the caller has no variable "nobody"`)
	f(`{"term":{"dept":"${user.name"}}`, `unclosed "${"`)
	f(`{"term":{"dept":"${a${b}}"}}`, "is no variable")
	f(`{"term":{"dept":"${}"}}`, "is no variable")
	f("{\"term\":{\"dept\":\"\uE000\"}}", "U+E000")

	f(`{"bool":{"must":[${attr.jwt.query}]}}`, "found a string") // no clause from a value
	f(`{"term":{"dept":${attr.jwt.groups}}}`, "a list of values cannot stand here")
	f(`{"term":{"dept":"${user.roles}"}}`, "a list of values cannot stand here")
	f(`{"term":{"dept":"x-${user.roles}"}}`, "the list ${user.roles} cannot stand inside a text")
	f(`{"${user.name}":{"dept":"x"}}`, "unknown query clause")
	f(`{"exists":{"field":"${attr.bad.star}"}}`, "is no name of one field")
	f(`{"multi_match":{"query":"x","fields":["${attr.bad.boost}"]}}`, "is no name of one field")
	f(`{"query_string":{"query":"level:${attr.bad.less}"}}`, "cannot be escaped")
	f(`{"range":{"date":{"gte":"${attr.bad.now}"}}}`, "date math")
	f(`{"range":{"date":{"gte":"${attr.bad.math}"}}}`, "date math")
	f(`{"term":{"dept":"${attr.bad.utf8}"}}`, "is no valid UTF-8")
	f(`{"prefix":{"dept":"${attr.empty}"}}`, "it is empty")
	f(`{"wildcard":{"dept":"${attr.empty}*"}}`, "it is empty")
	f(`{"script":{"script":"doc['${user.name}'].size() > 0"}}`, "cannot be part of a script")
}

func TestOr(t *testing.T) {
	f := func(want dls.Filter, filters ...dls.Filter) {
		t.Helper()
		if got := dls.Or(filters...); got != want {
			t.Errorf("Or(%q) = %q; want %q", filters, got, want)
		}
	}
	f(dls.MatchNone)
	f(dls.MatchNone, dls.MatchNone)
	f(`{"a":1}`, `{"a":1}`, dls.MatchNone, `{"a":1}`)
	f(`{"bool":{"minimum_should_match":1,"should":[{"a":1},{"b":1}]}}`, `{"b":1}`, `{"a":1}`)
	f(`{"bool":{"minimum_should_match":1,"should":[{"a":1},{"b":1}]}}`, `{"a":1}`, `{"b":1}`, `{"a":1}`)
	f(dls.Free, `{"a":1}`, dls.Free)
}

func TestGroups(t *testing.T) {
	f := func(want dls.Filter, groups ...dls.Group) {
		t.Helper()
		got, err := dls.Groups(groups...)
		if err != nil || got != want {
			t.Errorf("Groups(%v)\n got %s, %v\nwant %s", groups, got, err, want)
		}
	}
	f(dls.MatchNone)
	f(`{"a":1}`, dls.Group{Indices: []string{"x"}, Filter: `{"a":1}`})
	f(dls.Free, dls.Group{Indices: []string{"x"}, Filter: dls.Free})
	f(`{"bool":{"minimum_should_match":1,"should":[{"bool":{"filter":[{"terms":{"_index":["x","y"]}},{"a":1}]}},{"terms":{"_index":["z"]}}]}}`,
		dls.Group{Indices: []string{"y"}, Filter: `{"a":1}`}, dls.Group{Indices: []string{"z"}, Filter: dls.Free}, dls.Group{Indices: []string{"x"}, Filter: `{"a":1}`})
	f(`{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["z"]}}]}}`, // what shows nothing has no branch
		dls.Group{Indices: []string{"y"}}, dls.Group{Indices: []string{"z"}, Filter: dls.Free})
	f(dls.MatchNone, dls.Group{Indices: []string{"y"}}, dls.Group{Indices: []string{"z"}})
	f(dls.MatchNone, dls.Group{Filter: dls.Free}, dls.Group{Filter: `{"a":1}`}) // no name is not every name

	if _, err := dls.Groups(dls.Group{Indices: make([]string, 70000), Filter: dls.Free}, dls.Group{}); err == nil {
		t.Error("Groups took 70,000 names")
	}
}
