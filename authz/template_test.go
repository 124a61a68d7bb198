package authz

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"guard/internal/ask"
)

// anna has one variable of each kind.
var anna = &ask.Principal{
	Identity: ask.Identity{
		Name:         `anna"}`,
		BackendRoles: []string{"a", `b"c`},
		Attributes: map[string]string{
			"attr.internal.dept":  "hr",
			"attr.internal.level": "3",
			"attr.jwt.groups":     `["x", 7, true]`,
			"attr.jwt.object":     `{"index":"secret"}`,
			"attr.jwt.nested":     `[["x"]]`,
			"attr.jwt.null":       `null`,
			"attr.jwt.cut":        `1, "x": 2`,
			"attr.jwt.tail":       `1}`,
			"attr.internal.empty": "",
			"attr.internal.once":  "${user.name}",
			"attr.internal.star":  "*",
			"attr.internal.bad":   "a\xff",
			"ldap.dn":             "cn=x",
		},
	},
	Roles: []string{"r1", "r2"},
}

func TestRenderJSON(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		tpl, err := parseTemplate(text)
		if err == nil {
			err = tpl.checkJSON()
		}
		if err != nil {
			t.Fatalf("cannot read %q: %v", text, err)
		}
		got, values, err := tpl.renderJSON(valuesOf(anna))
		if err != nil {
			t.Fatalf("cannot render %q: %v", text, err)
		}
		if got != want {
			t.Errorf("%q became %q; want %q", text, got, want)
		}
		if templated := len(tpl.variables()) > 0; templated != (len(values) > 0) {
			t.Errorf("%q: values %v", text, values)
		}
	}
	f(`{"match_all":{}}`, `{"match_all":{}}`)
	f(`{"term":{"d":"${attr.internal.dept}"}}`, `{"term":{"d":"hr"}}`)
	f(`{"term":{"d":"${attr_internal_dept}"}}`, `{"term":{"d":"hr"}}`)
	f(`{"term":{"d":"x-${user.name}-y"}}`, `{"term":{"d":"x-anna\"}-y"}}`) // the value stays inside its string
	f(`{"term":{"d":"${user_name}"}}`, `{"term":{"d":"anna\"}"}}`)
	f(`{"terms":{"d":[${user.roles}]}}`, `{"terms":{"d":["a","b\"c"]}}`)
	f(`{"terms":{"d":[${user_securityRoles}]}}`, `{"terms":{"d":["r1","r2"]}}`)
	f(`{"terms":{"d":${attr.jwt.groups}}}`, `{"terms":{"d":["x",7,true]}}`)
	f(`{"term":{"d":"${attr.jwt.groups}"}}`, `{"term":{"d":"[\"x\", 7, true]"}}`)
	f(`{"term":{"d":${attr.internal.level}}}`, `{"term":{"d":3}}`)
	f(`{"term":{"d":"${attr.internal.none:-all}"}}`, `{"term":{"d":"all"}}`)
	f(`{"term":{"d":"${attr.internal.empty:-all}"}}`, `{"term":{"d":"all"}}`)
	f(`{"term":{"d":"$${user.name}"}}`, `{"term":{"d":"${user.name}"}}`)
	f(`{"term":{"d":"${attr.internal.once}"}}`, `{"term":{"d":"${user.name}"}}`) // put in once, never read again
	f(`{"term":{"d\"":"${ldap.dn}"}}`, `{"term":{"d\"":"cn=x"}}`)                // an escaped quote closes nothing
}

func TestRenderJSONFails(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		tpl, err := parseTemplate(text)
		if err == nil {
			err = tpl.checkJSON()
		}
		if err == nil {
			_, _, err = tpl.renderJSON(valuesOf(anna))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v; want one with %q", text, err, want)
		}
	}
	f(`{"term":{"d":"${attr.internal.none}"}}`, "variable without a value")
	f(`{"prefix":{"d":"${attr.internal.empty}"}}`, "variable without a value") // would match everything
	f(`{"term":{"d":"${attr.internal.bad}"}}`, "variable without a value")     // not UTF-8
	f(`{"term":{"d":"${foo}"}}`, "variable without a value")
	f(`{"terms":{"d":${attr.jwt.object}}}`, "neither a number")
	f(`{"terms":{"d":${attr.jwt.null}}}`, "neither a number")
	f(`{"terms":{"d":${attr.jwt.nested}}}`, "list holds something else")
	f(`{"term":{"d":${attr.jwt.cut}}}`, "is not JSON")
	f(`{"term":{"d":${attr.jwt.tail}}}`, "is not JSON")
	f(`{"term":{"d":${attr.internal.dept}}}`, "is not JSON")
	f(`{"term":{"d":"${user.roles}"}}`, "inside quotes")
	f(`{"term":{"d":"${user.name"}}`, "is a '}' missing?")
	f(`{"term":{"d":"${attr.${user.name}}"}}`, "holds another one")
	f(`{"term":{"d":"${}"}}`, "without a name")
	f(`{"term":{"d":"${`, "unclosed variable")
}

// TestTwoNames holds that two attributes that are one with underscores give none.
func TestTwoNames(t *testing.T) {
	who := &ask.Principal{Identity: ask.Identity{Attributes: map[string]string{"attr.a.b": "1", "attr.a_b": "2"}}}
	if v, ok := lookup(who, segment{name: "attr_a_b"}); ok {
		t.Errorf("got %v; want none", v)
	}
	if v, ok := lookup(who, segment{name: "attr.a.b"}); !ok || v.Texts[0] != "1" {
		t.Errorf("got %v, %v; want 1", v, ok)
	}
}

func TestIndexPattern(t *testing.T) {
	f := func(text, name string, want bool) {
		t.Helper()
		p, err := parseIndexPattern(text)
		if err != nil {
			t.Fatalf("cannot read %q: %v", text, err)
		}
		bound := p.bind(anna)
		got := bound.at(noon)
		if got := !bound.unknown && got.Match(name); got != want {
			t.Errorf("%q matches %q: got %v; want %v", text, name, got, want)
		}
	}
	f("logs-*", "logs-1", true)
	f("-logs-1", "logs-1", false) // no negation
	f("-logs-1", "-logs-1", true)
	f("", "", false)
	f("logs-${attr.internal.dept}-*", "logs-hr-1", true)
	f("logs-${attr.internal.dept}-*", "logs-it-1", false)
	f("${attr.internal.star}", "logs-1", false) // a value is no pattern
	f("${attr.internal.star}", "*", false)
	f("logs${attr.internal.star}", "logs-1", false)
	f("${attr.internal.empty}*", "logs-1", false) // would be everything
	f("${attr.internal.none}*", "logs-1", false)
	f("${attr.internal.none:-logs}-*", "logs-1", true)
	f("${user.roles}", "a", false)
	f("/logs-${attr.internal.dept}.*/", "logs-hr-1", true)
	f("/${ldap.dn}/", "cn=x", true) // escaped inside an expression
	f("<logs-{now/d}>", "logs-2026.11.29", true)
	f("<logs-{now/d}>", "logs-2026.11.28", false)
	f("<logs-{now/d{'2026.11.29'}}>", "logs-2026.11.29", true)
	f("<logs-*-{now/M{uuuu}}>", "logs-x-2026", true)
}

func TestIndexPatternFails(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := parseIndexPattern(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v; want one with %q", text, err, want)
		}
	}
	f("/[/", "cannot parse pattern")
	f("/[${user.name}/", "cannot parse pattern")
	f("${user.name", "unclosed variable")
	f("<idx-${user.name}-{now/d}>", "holds a variable")
	f("<idx-{now/d>", "invalid dynamic name")
}

// FuzzRenderJSON holds that no value changes the shape of a rule: the rendered text
// is JSON, and everything but the strings and lists that stand for variables is as
// it was written.
func FuzzRenderJSON(f *testing.F) {
	for _, seed := range []string{"x", `"`, `\`, `"}}`, "${user.name}", `["a"]`, `{"a":1}`, "3", " ", "\x00", "a\xff"} {
		f.Add(seed, seed)
	}
	tpl, err := parseTemplate(`{"bool":{"must":[{"term":{"a":"<${user.name}>"}},{"terms":{"b":[${user.roles}]}},{"term":{"c":${attr.x}}}]}}`)
	if err == nil {
		err = tpl.checkJSON()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, attr string) {
		who := &ask.Principal{Identity: ask.Identity{Name: name, BackendRoles: []string{attr, name}, Attributes: map[string]string{"attr.x": attr}}}
		text, _, err := tpl.renderJSON(valuesOf(who))
		if err != nil {
			return // nothing is shown
		}
		var got struct {
			Bool struct {
				Must []map[string]map[string]any
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%q is no JSON: %v", text, err)
		}
		if len(got.Bool.Must) != 3 || got.Bool.Must[0]["term"]["a"] != "<"+name+">" {
			t.Fatalf("%q has another shape", text)
		}
		if list, ok := got.Bool.Must[1]["terms"]["b"].([]any); !ok || len(list) != 2 {
			t.Fatalf("%q has another list", text)
		}
		if _, object := got.Bool.Must[2]["term"]["c"].(map[string]any); object {
			t.Fatalf("%q holds an object that the rule did not write", text)
		}
	})
}

// FuzzRenderPattern holds that a value is taken literally in an index pattern:
// nothing matches but names that hold it where the variable stands.
func FuzzRenderPattern(f *testing.F) {
	for _, seed := range []string{"x", "*", "?", "x*y", "/.*/", ".*", "(", "a|b", "${user.name}", "[", "", " ", "\\E", "ä"} {
		f.Add(seed, "a-"+seed+"-b")
		f.Add(seed, "a-x-b")
	}
	glob, err1 := parseIndexPattern("a-${user.name}-*")
	regex, err2 := parseIndexPattern("/a-${user.name}-.*/")
	if err1 != nil || err2 != nil {
		f.Fatal(err1, err2)
	}
	f.Fuzz(func(t *testing.T, value, name string) {
		who := &ask.Principal{Identity: ask.Identity{Name: value}}
		for _, p := range []indexPattern{glob, regex} {
			bound := p.bind(who)
			pattern := bound.at(noon)
			if !bound.unknown && pattern.Match(name) && !strings.HasPrefix(name, "a-"+value+"-") {
				t.Fatalf("%q with %q matches %q", p.template.text, value, name)
			}
			if sensible := value != "" && !strings.ContainsAny(value, notInNames); sensible && utf8.ValidString(value) && !pattern.Match("a-"+value+"-x") {
				t.Fatalf("%q with %q does not match its own value", p.template.text, value)
			}
		}
	})
}
