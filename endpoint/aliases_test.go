package endpoint

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

func TestAskAliases(t *testing.T) {
	f := func(rules Rules, verb, target, body string, want ...string) {
		t.Helper()
		a, err := asking(t, request(t, verb, target, body), rules)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, texts(a.Parts)); diff != "" {
			t.Fatalf("%s %s %s: -want +got\n%s", verb, target, body, diff)
		}
	}
	older, newer := Rules{}, Rules{AliasNames: true}

	actions := `{"actions":[{"add":{"index":"a","alias":"al"}},{"remove":{"indices":["b","c*"],"aliases":["x","y"]}}]}`
	f(older, "POST", "/_aliases", actions, "whole admin/aliases @a fixed", "whole admin/aliases @b,c* fixed")
	f(newer, "POST", "/_aliases", actions,
		"whole admin/aliases @a fixed", "whole admin/aliases @al fixed",
		"whole admin/aliases @b,c* fixed", "whole admin/aliases @x,y fixed")

	removal := `{"actions":[{"add":{"index":"a","alias":"al"}},{"remove_index":{"index":"b"}}]}`
	f(older, "POST", "/_aliases", removal, "whole admin/aliases admin/delete @a fixed", "whole admin/aliases admin/delete @b fixed")
	f(newer, "POST", "/_aliases", removal, "whole admin/aliases @a fixed", "whole admin/aliases @al fixed", "whole admin/delete @b fixed")

	f(older, "PUT", "/a/_alias/al", "", "whole admin/aliases @a fixed")
	f(newer, "PUT", "/a/_alias/al", "", "whole admin/aliases @a fixed", "whole admin/aliases @al fixed")
	f(newer, "PUT", "/_alias", `{"index":"a,b","alias":"al"}`, "whole admin/aliases @a,b fixed", "whole admin/aliases @al fixed")
	f(newer, "PUT", "/_alias/al?index=a", "", "whole admin/aliases @a fixed", "whole admin/aliases @al fixed")
	f(newer, "POST", "/a/_aliases/al", `{"index":"a","alias":"al","filter":{"term":{"x":1}},"routing":"r","is_write_index":true}`,
		"whole admin/aliases @a fixed", "whole admin/aliases @al fixed")
	f(newer, "PUT", "/a/_alias", `{"alias":"al"}`, "whole admin/aliases @a fixed", "whole admin/aliases @al fixed")

	f(newer, "DELETE", "/a/_alias/al,x*", "", "whole admin/aliases @a fixed", "whole admin/aliases @al fixed")
	f(newer, "DELETE", "/a/_alias/x*,-xy", "", "whole admin/aliases @a fixed") // asked on the aliases of a
	f(newer, "POST", "/_aliases", `{"actions":[{"remove":{"index":"a","alias":"x*"}},{"remove":{"index":"b","aliases":["x*","y"]}}]}`,
		"whole admin/aliases @a fixed", "whole admin/aliases @b fixed", "whole admin/aliases @y fixed")
	f(newer, "GET", "/a/_alias/al", "", "whole admin/aliases/get @a", "whole admin/aliases/get @al fixed")
	f(newer, "GET", "/_alias/al*,-alx", "", "whole admin/aliases/get @") // a pattern asks nothing
	f(newer, "HEAD", "/_alias/al", "", "whole admin/aliases/get @", "whole admin/aliases/get @al fixed")

	creation := `{"aliases":{"al":{},"bl":{"filter":{"match_all":{}},"is_write_index":false}},"settings":{"number_of_replicas":0},"mappings":{}}`
	f(older, "PUT", "/a", creation, "whole admin/create @a single fixed", "whole admin/aliases @a single fixed")
	f(newer, "PUT", "/a", creation, "whole admin/create @a single fixed", "whole admin/aliases @a single fixed", "whole admin/aliases @al,bl fixed")
	f(newer, "PUT", "/a", `{"aliases":{}}`, "whole admin/create @a single fixed")
}

func TestAskAliasesRefuses(t *testing.T) {
	f := func(verb, target, body, text string) {
		t.Helper()
		_, err := asking(t, request(t, verb, target, body), Rules{AliasNames: true})
		if r := rejected(t, err); r.Public != text {
			t.Fatalf("%s %s: got %q; want %q", target, body, r.Public, text)
		}
	}
	post := func(body, text string) {
		t.Helper()
		f("POST", "/_aliases", body, text)
	}
	post(`{}`, "No action specified")
	post(`{"actions":[]}`, "No action specified")
	post(`{"action":[]}`, "unknown key [action] in the aliases request")
	post(`{"actions":{}}`, "cannot use an object as [actions] of the aliases request; want an array")
	post(`{"actions":[{}]}`, "cannot use an object of 0 members as action 0 of the aliases request; want an object with one of [add, remove, remove_index]")
	post(`{"actions":[{"add":{"index":"a","alias":"b"},"remove_index":{"index":"c"}}]}`,
		"cannot use an object of 2 members as action 0 of the aliases request; want an object with one of [add, remove, remove_index]")
	post(`{"actions":["add"]}`, "cannot use a string of 0 members as action 0 of the aliases request; want an object with one of [add, remove, remove_index]")
	post(`{"actions":[{"swap":{}}]}`, "unknown key [swap] in action 0 of the aliases request")
	post(`{"actions":[{"add":[]}]}`, "cannot use an array in action 0 of the aliases request; want an object")
	post(`{"actions":[{"add":{"alias":"b"}}]}`, "One of [index] or [indices] is required in action 0 of the aliases request")
	post(`{"actions":[{"add":{"index":"a"}}]}`, "One of [alias] or [aliases] is required in action 0 of the aliases request")
	post(`{"actions":[{"add":{"index":"a","indices":["b"],"alias":"c"}}]}`, "Only one of [index] and [indices] is supported in action 0 of the aliases request")
	post(`{"actions":[{"add":{"index":"a","aliases":["b"],"alias":"c"}}]}`, "Only one of [alias] and [aliases] is supported in action 0 of the aliases request")
	post(`{"actions":[{"add":{"index":["a"],"alias":"c"}}]}`, "cannot use an array as [index] of action 0 of the aliases request; want a string")
	post(`{"actions":[{"add":{"index":"a,b","alias":"c"}}]}`, "Invalid index name [a,b], must not contain ','")
	post(`{"actions":[{"add":{"indices":"a,b","alias":"c"}}]}`, "Invalid index name [a,b], must not contain ','")
	post(`{"actions":[{"add":{"indices":[],"alias":"c"}}]}`, "cannot use an empty list as [indices] of action 0 of the aliases request; want at least one name")
	post(`{"actions":[{"add":{"index":"a","alias":""}}]}`, "alias name is required")
	post(`{"actions":[{"add":{"index":"a","alias":"b","Filter":{}}}]}`, "unknown key [Filter] in action 0 of the aliases request")
	post(`{"actions":[{"add":{"index":"a","alias":"b","must_exist":true}}]}`, "unknown key [must_exist] in action 0 of the aliases request")
	post(`{"actions":[{"remove":{"index":"a","alias":"b","filter":{}}}]}`, "unknown key [filter] in action 0 of the aliases request")
	post(`{"actions":[{"remove_index":{"index":"a","alias":"b"}}]}`, "unknown key [alias] in action 0 of the aliases request")
	post(`{"actions":[{"remove":{"index":"a","alias":"b","must_exist":"yes"}}]}`, "cannot use a string as [must_exist] of action 0 of the aliases request; want a boolean")
	post(`{"actions":[{"add":{"index":"a","alias":"b","filter":"x"}}]}`, "cannot use a string as [filter] of action 0 of the aliases request; want an object")
	post(`{"actions":[{"add":{"index":"a","alias":"b","routing":{}}}]}`, "cannot use an object as [routing] of action 0 of the aliases request; want a string or a number")

	f("PUT", "/a/_alias/al", `{"index":"b"}`, "[index] of the alias request is not what its URL names; want one of them")
	f("PUT", "/a/_alias/al", `{"alias":"bl"}`, "[alias] of the alias request is not what its URL names; want one of them")
	f("PUT", "/a/_alias/al", `{"unknown":1}`, "unknown key [unknown] in the alias request")
	f("PUT", "/_alias/al", "", "Validation Failed: 1: index is missing;")
	f("PUT", "/a/_aliases", "", "Validation Failed: 1: name is missing;")
	f("PUT", "/a/_alias", "", "Validation Failed: 1: name is missing;")
	f("PUT", "/_alias", `{"index":[],"alias":"x"}`, "cannot use an empty list as [index] of the alias request; want at least one name")

	f("PUT", "/a", `{"template":{}}`, "unknown key [template] in the create index request")
	f("PUT", "/a", `{"aliases":[]}`, "cannot use an array as [aliases] of the create index request; want an object")
	f("PUT", "/a", `{"aliases":{"x":null}}`, "cannot use null as alias [x] of the create index request; want an object")
	f("PUT", "/a", `{"aliases":{"x":{"index":"b"}}}`, "unknown key [index] in alias [x] of the create index request")
	f("PUT", "/_alias", `{"index":"a","alias":"x","filter":[]}`, "cannot use an array as [filter] of the alias request; want an object")
	f("PUT", "/a", `{"aliases":{"":{}}}`, "alias name is required")
	f("PUT", "/a", `{`, "cannot parse JSON: unexpected end of text at offset 1; want a key in '\"' or '}'")
}

// TestAskedAliasesKeepTheirParts: who forwards them finds what was read.
func TestAskedAliasesKeepTheirParts(t *testing.T) {
	f := func(verb, target, body string) Asked {
		t.Helper()
		a, err := asking(t, request(t, verb, target, body), Rules{})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	const action = `{"add":{"index":"a","alias":"al","filter":{"term":{"x":1}}}}`
	if a := f("POST", "/_aliases", `{"actions":[`+action+`]}`).Actions[0]; string(a.Value.Raw()) != action || a.Op != AliasAdd {
		t.Errorf("got %v of %s", a.Op, a.Value.Raw())
	}
	if a := f("PUT", "/a/_alias/al", `{"filter":{"term":{"x":1}}}`).Alias; a.Alias != "al" || !slices.Equal(a.Indices, []names.Expr{"a"}) {
		t.Errorf("got alias %q of %q", a.Alias, a.Indices)
	}
	if c := f("PUT", "/a", `{"settings":{"index":{}},"mappings":{}}`).Index; !c.Settings.Is(esjson.Object) || !c.Aliases.Is(esjson.Invalid) {
		t.Errorf("got settings %v, aliases %v", c.Settings.Kind(), c.Aliases.Kind())
	}
}

// TestNewAliases: what no alias can be called is refused in the cluster's words (measured
// on all engines) wherever an alias is made, and before anything is looked up.
func TestNewAliases(t *testing.T) {
	f := func(name, why string) {
		t.Helper()
		for _, rules := range []Rules{{}, {AliasNames: true}} {
			for _, r := range []*ask.Request{
				request(t, "PUT", "/a/_alias/"+url.PathEscape(name), ""),
				request(t, "POST", "/a/_aliases/"+url.PathEscape(name), ""),
				request(t, "PUT", "/_alias", `{"index":"a","alias":`+strconv.Quote(name)+`}`),
				request(t, "POST", "/_aliases", `{"actions":[{"add":{"index":"a","alias":`+strconv.Quote(name)+`}}]}`),
				request(t, "POST", "/_aliases", `{"actions":[{"add":{"index":"a","aliases":`+strconv.Quote(name)+`}}]}`),
				request(t, "POST", "/_aliases", `{"actions":[{"add":{"aliases":["b",`+strconv.Quote(name)+`],"index":"a"}}]}`),
				request(t, "PUT", "/a", `{"aliases":{`+strconv.Quote(name)+`:{}}}`),
			} {
				_, err := asking(t, r, rules)
				if why == "" {
					if err != nil {
						t.Errorf("%s %q: %v; want it taken", r.Method, r.Path, err)
					}
					continue
				}
				if want, got := "Invalid alias name ["+name+"]: "+why, rejected(t, err); got.Public != want || got.Status != 400 || got.Type != "invalid_alias_name_exception" {
					t.Errorf("%s %q: got %d %s %q; want %q", r.Method, r.Path, got.Status, got.Type, got.Public, want)
				}
			}
		}
	}
	const characters = `must not contain the following characters [ , ", *, \, <, |, ,, >, /, ?]`
	for _, name := range []string{"fore*", "*", "<x>", "<x-{now/d}>", "<x", "a,b", "a b", "a/b", "a?", "x|", `a"b`, `a\b`, "-x*"} {
		f(name, characters)
	}
	f("a:b", "must not contain ':'")
	f("a::b", "must not contain ':'")
	f("a#b", "must not contain '#'")
	for _, name := range []string{"-x", "+x", "_x", "_all"} {
		f(name, "must not start with '_', '-', or '+'")
	}
	f(strings.Repeat("x", 256), "index name is too long, (256 > 255)")
	for _, name := range []string{"x", "UPPER", ".x", "x-{now}", "é"} {
		f(name, "")
	}
}
