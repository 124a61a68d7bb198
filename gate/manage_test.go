package gate

import (
	"net/url"
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
)

// managerRole manages logs-a* and x*, and everything but rules on hr.
const managerRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["logs-a*", "x*"], allowed_actions: ["*"]}
    - {index_patterns: [hr], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
`

// TestManageAliases holds that alias actions are forwarded with the indices that were
// decided for each of them, and with nothing else.
func TestManageAliases(t *testing.T) {
	s := worldWith(t, managerRole, append(staff(), indexresolver.Index{Name: "xa", Aliases: []indexresolver.Membership{{Alias: "shared"}}},
		indexresolver.Index{Name: "foreign", Aliases: []indexresolver.Membership{{Alias: "theirs"}, {Alias: "shared"}}}))
	f := func(actions, want string) {
		t.Helper()
		got := gist(t, planFor(t, s, "POST", "/_aliases", `{"actions":[`+actions+`]}`))
		if got != `POST /_aliases | {"actions":[`+want+`]}` {
			t.Errorf("%s: %s; want %s", actions, got, want)
		}
	}
	refused := func(actions, want string) {
		t.Helper()
		got := gist(t, planFor(t, s, "POST", "/_aliases", `{"actions":[`+actions+`]}`))
		if !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s; want a refusal with %q", actions, got, want)
		}
	}
	f(`{"add":{"index":"logs-a-1","alias":"x"}}`, `{"add":{"indices":["logs-a-1"],"alias":"x"}}`)
	f(`{"add":{"index":"logs-a-*","alias":"x"}}`, `{"add":{"indices":["logs-a-1","logs-a-2"],"alias":"x"}}`)
	f(`{"add":{"index":"logs-a*","alias":"x"}}`, `{"add":{"indices":["logs-a-1","logs-a-2"],"alias":"x"}}`) // and not the alias logs-a
	f(`{"add":{"indices":["logs-a-*","-logs-a-1"],"aliases":["x","y"],"is_write_index":true}}`, `{"add":{"indices":["logs-a-2"],"aliases":["x","y"],"is_write_index":true}}`)
	f(`{"add":{"index":"xa","alias":"x","filter":{"term":{"a":1.50}},"routing":"1"}}`, `{"add":{"indices":["xa"],"alias":"x","filter":{"term":{"a":1.50}},"routing":"1"}}`)
	f(`{"remove":{"index":"logs-a-1","alias":"*","must_exist":true}},{"remove_index":{"index":"xa"}}`,
		`{"remove":{"indices":["logs-a-1"],"alias":"*","must_exist":true}},{"remove_index":{"indices":["xa"]}}`)

	refused(`{"add":{"index":"secret","alias":"x"}}`, "no permissions")
	refused(`{"add":{"index":"*","alias":"x"}}`, "no permissions")
	refused(`{"add":{"index":"logs-a-1","alias":"x"}},{"remove_index":{"index":"foreign"}}`, "no permissions")
	// An exclusion in one action takes nothing out of another.
	refused(`{"remove_index":{"index":"secr*"}},{"add":{"indices":["logs-a-*","-secret"],"alias":"x"}}`, "no permissions")
	refused(`{"add":{"indices":["logs-a-*","-secret"],"alias":"x"}},{"remove":{"index":"secr*","alias":"y"}}`, "no permissions")
	// Others read through an alias of theirs.
	refused(`{"add":{"index":"logs-a-1","alias":"theirs"}}`, "no permissions")
	refused(`{"add":{"index":"logs-a-1","aliases":["x","shared"]}}`, "no permissions")
	// Whom a rule binds gives the index no other name.
	refused(`{"add":{"index":"hr","alias":"x"}}`, "under a document or field rule may not be changed")
	refused(`{"remove":{"index":"hr","alias":"staff"}}`, "under a document or field rule may not be changed")
	refused(`{"add":{"index":"logs-a-1","alias":"x"}},{"remove_index":{"index":"hr"}}`, "under a document or field rule may not be changed")
	// A filter runs for whoever reads the alias.
	refused(`{"add":{"index":"xa","alias":"x","filter":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}}`, "terms lookup")
	refused(`{"add":{"index":"xa","alias":"x","filter":{"unheard_of":{}}}}`, "unheard_of")
	refused(`{"add":{"index":"xa","alias":"x","filter":{"has_child":{"type":"a","query":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}}}}`, "refused")
	refused(`{"add":{"index":"other:xa","alias":"x"}}`, "")
	refused(`{"swap":{"index":"xa","alias":"x"}}`, "unknown key [swap]")
}

// TestRemoveAliases holds that a pattern of aliases to remove asks on those of the indices
// that are named, by the evaluator that asks on aliases, and tells of no other name.
func TestRemoveAliases(t *testing.T) {
	aliases := []indexresolver.Membership{{Alias: "xown"}, {Alias: "xother"}, {Alias: "shared"}}
	indices := append(staff(), indexresolver.Index{Name: "xa", Aliases: aliases},
		indexresolver.Index{Name: "foreign", Aliases: []indexresolver.Membership{{Alias: "theirs"}, {Alias: "shared"}}})
	f := func(by config.Evaluation, pattern, want string) {
		t.Helper()
		s := worldBy(t, by, managerRole, indices)
		list := `"` + strings.ReplaceAll(pattern, ",", `","`) + `"`
		for _, r := range [][4]string{
			{"DELETE", "/xa/_alias/" + pattern, "", "DELETE /xa/_alias/" + pattern},
			{"POST", "/_aliases", `{"actions":[{"remove":{"index":"xa","aliases":[` + list + `]}}]}`, `POST /_aliases | {"actions":[{"remove":{"indices":["xa"],"aliases":[` + list + `]}}]}`},
			{"POST", "/_aliases", `{"actions":[{"remove":{"index":"xa*","aliases":[` + list + `]}}]}`, `POST /_aliases | {"actions":[{"remove":{"indices":["xa"],"aliases":[` + list + `]}}]}`},
		} {
			sent := r[3]
			if want != "" {
				sent = "reject 403 no_privilege: " + none("indices:admin/aliases", strings.ReplaceAll(want, ",", ", "))
			}
			if got := gist(t, planFor(t, s, r[0], r[1], r[2])); got != sent {
				t.Errorf("%s: %v:\ngot  %s\nwant %s", by, r[:3], got, sent)
			}
		}
	}
	for _, pattern := range []string{"x*", "fore*", "the*", "nope*", "secret*", "*,-shared", "*,-sh*", "xown,x*", "xown,nope*"} {
		f(config.EvaluationV4, pattern, "")
	}
	for _, pattern := range []string{"*", "sh*", "x*,sh*", "*,-x*", "*,-shared,s*"} {
		f(config.EvaluationV4, pattern, pattern)
	}
	f(config.EvaluationV4, "_all", "_all")
	f(config.EvaluationV4, "theirs,x*", "theirs")
	f(config.EvaluationV4, "nope,x*", "nope")
	for _, pattern := range []string{"*", "sh*", "fore*", "theirs"} {
		f(config.EvaluationLegacy, pattern, "")
	}
}

// TestManageOneAlias holds PUT and DELETE of one alias.
func TestManageOneAlias(t *testing.T) {
	s := worldWith(t, managerRole, append(staff(), indexresolver.Index{Name: "foreign", Aliases: []indexresolver.Membership{{Alias: "theirs"}}}))
	f := func(method, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, body)); got != want && !(strings.HasPrefix(want, "refused ") && strings.HasPrefix(got, "reject") && strings.Contains(got, want[8:])) {
			t.Errorf("%s %s %s: %s; want %s", method, target, body, got, want)
		}
	}
	f("PUT", "/logs-a-1/_alias/x", ``, `PUT /logs-a-1/_alias/x`)
	f("POST", "/logs-a-*/_aliases/x", `{"routing":"1"}`, `PUT /logs-a-1,logs-a-2/_alias/x | {"routing":"1"}`)
	f("PUT", "/logs-a-1/_aliases", `{"alias":"x"}`, `PUT /logs-a-1/_alias/x | {}`)
	f("PUT", "/_alias", `{"index":"logs-a-1","alias":"x","filter":{"term":{"a":1}}}`, `PUT /logs-a-1/_alias/x | {"filter":{"term":{"a":1}}}`)
	f("PUT", "/_alias/x", ``, "refused index is missing")
	f("PUT", "/secret/_alias/x", ``, "refused no permissions")
	f("PUT", "/hr/_alias/x", ``, "refused may not be changed")
	f("PUT", "/logs-a-1/_alias/theirs", ``, "refused no permissions")
	f("PUT", "/logs-a-1/_alias/x", `{"filter":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}`, "refused terms lookup")
	f("PUT", "/nosuch*/_alias/x", ``, "refused ")
	f("DELETE", "/logs-a-*/_alias/logs-a", ``, `DELETE /logs-a-1,logs-a-2/_alias/logs-a`)
	f("DELETE", "/logs-a*/_alias/logs-a", ``, `DELETE /logs-a-1,logs-a-2/_alias/logs-a`)
	f("PUT", "/logs-a*/_alias/x", ``, `PUT /logs-a-1,logs-a-2/_alias/x`)
	f("DELETE", "/hr/_alias/staff", ``, "refused may not be changed")
	f("DELETE", "/secret/_alias/*", ``, "refused no permissions")
}

// TestManageIndices holds creation and deletion.
func TestManageIndices(t *testing.T) {
	indices := append(staff(), indexresolver.Index{Name: ".ds-x-stream-1"}, indexresolver.Index{Name: "foreign", Aliases: []indexresolver.Membership{{Alias: "theirs"}}})
	s := worldWith(t, managerRole, indices, indexresolver.DataStream{Name: "x-stream", Indices: []string{".ds-x-stream-1"}})
	f := func(method, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, body)); got != want && !(strings.HasPrefix(want, "refused ") && strings.HasPrefix(got, "reject") && strings.Contains(got, want[8:])) {
			t.Errorf("%s %s %s: %s; want %s", method, target, body, got, want)
		}
	}
	f("PUT", "/xnew", ``, `PUT /xnew`)
	f("PUT", "/%3Cx-%7Bnow%2Fd%7D%3E", ``, `PUT /x-2026.11.30`)
	f("PUT", "/xnew", `{"settings":{"index":{"number_of_shards":1}},"mappings":{"properties":{"a":{"type":"long"}}},"aliases":{"xs":{}}}`,
		`PUT /xnew | {"settings":{"index":{"number_of_shards":1}},"mappings":{"properties":{"a":{"type":"long"}}},"aliases":{"xs":{}}}`)
	f("PUT", "/other", ``, "refused no permissions")
	f("PUT", "/xnew", `{"aliases":{"theirs":{}}}`, "refused no permissions")
	f("PUT", "/xnew", `{"aliases":{"x":{"filter":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}}}`, "refused terms lookup")
	f("PUT", "/xnew", `{"template":"x"}`, "refused unknown key [template]")

	// A pipeline runs with rights of its own, however its setting is spelled.
	for _, settings := range []string{
		`{"index":{"default_pipeline":"p"}}`, `{"index.default_pipeline":"p"}`, `{"default_pipeline":"p"}`, `{"index":{"final_pipeline":"p"}}`,
		`{"index":{"search":{"default_pipeline":"p"}}}`, `{"index.search":{"default_pipeline":"p"}}`, `{"index.search.default_pipeline":"p"}`,
		`{"index":{"default_pipeline":["p"]}}`, `{"index":{"default_pipeline":null}}`,
	} {
		f("PUT", "/xnew", `{"settings":`+settings+`}`, "refused a pipeline in the settings")
	}
	f("PUT", "/xnew", `{"settings":{"index.default_pipeline":"_none"}}`, `PUT /xnew | {"settings":{"index.default_pipeline":"_none"}}`)

	f("DELETE", "/logs-a-1", ``, `DELETE /logs-a-1`)
	f("DELETE", "/logs-a-1,logs-a-2", ``, `DELETE /logs-a-1,logs-a-2`)
	f("DELETE", "/logs-a*", ``, `DELETE /logs-a-1,logs-a-2`)
	f("DELETE", "/xnew", ``, `DELETE /xnew`)
	f("DELETE", "/logs-*", ``, "refused no permissions")
	f("DELETE", "/hr", ``, "refused may not be deleted") // hidden documents would go with it
	f("DELETE", "/_all", ``, "refused no permissions")
	f("DELETE", "/secret", ``, "refused no permissions")
	// An alias or a stream never stands for its indices here.
	f("DELETE", "/logs-a", ``, "refused matches an alias")
	f("DELETE", "/eng", ``, "refused matches an alias")
	f("DELETE", "/x-stream", ``, "refused ")
	f("DELETE", "/st*", ``, `DELETE /.none*,-*?expand_wildcards=open`)
}

// TestNewAliases holds that an alias is made only under a name that is free, or whose
// indices are granted: the error of the cluster would tell the uuid of an index.
func TestNewAliases(t *testing.T) {
	indices := append(staff(), indexresolver.Index{Name: ".ds-streamed-1"}, indexresolver.Index{Name: "foreign", Aliases: []indexresolver.Membership{{Alias: "theirs"}}})
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, managerRole, indices, indexresolver.DataStream{Name: "streamed", Indices: []string{".ds-streamed-1"}})
		for _, name := range []string{"foreign", "secret", "theirs", "streamed", ".ds-streamed-1"} {
			for _, r := range [][3]string{
				{"PUT", "/logs-a-1/_alias/" + name, ""},
				{"POST", "/logs-a-1/_aliases/" + name, ""},
				{"PUT", "/_alias", `{"index":"logs-a-1","alias":"` + name + `"}`},
				{"PUT", "/logs-a-1/_aliases", `{"alias":"` + name + `"}`},
				{"POST", "/_aliases", `{"actions":[{"add":{"index":"logs-a-1","alias":"` + name + `"}}]}`},
				{"POST", "/_aliases", `{"actions":[{"add":{"index":"logs-a-1","aliases":["xs","` + name + `"]}}]}`},
				{"PUT", "/xnew", `{"aliases":{"` + name + `":{}}}`},
			} {
				want := "reject 403 no_privilege: no permissions for [indices:admin/aliases]"
				if got := gist(t, planFor(t, s, r[0], r[1], r[2])); !strings.HasPrefix(got, want) {
					t.Errorf("%s: %v: %s; want %s", by, r, got, want)
				}
			}
		}
		for _, name := range []string{"logs-a-2", "logs-a", "xs"} { // whoever holds the index may know its uuid
			if out := planFor(t, s, "PUT", "/logs-a-1/_alias/"+name, ""); out.Kind != Forward {
				t.Errorf("%s: alias %q: %s; want it forwarded", by, name, gist(t, out))
			}
		}
	}

	// What could be read as other names is refused before it is looked up, so that the
	// answer tells of none: one beginning of a foreign name and one of no name are alike.
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, managerRole, indices)
		for _, pair := range [][2]string{{"fore*", "nope*"}, {"the*", "nope*"}, {"<foreign>", "<nope>"}, {"-foreign", "-nope"}, {"x,foreign", "x,nope"}, {"a:foreign", "a:nope"}, {"foreign::data", "nope::data"}} {
			for _, r := range [][3]string{
				{"PUT", "/logs-a-1/_alias/%s", ""},
				{"POST", "/_aliases", `{"actions":[{"add":{"index":"logs-a-1","alias":"%s"}}]}`},
				{"PUT", "/xnew", `{"aliases":{"%s":{}}}`},
			} {
				answer := func(name string) string {
					got := gist(t, planFor(t, s, r[0], strings.ReplaceAll(r[1], "%s", url.PathEscape(name)), strings.ReplaceAll(r[2], "%s", name)))
					return strings.ReplaceAll(got, name, "NAME")
				}
				one, other := answer(pair[0]), answer(pair[1])
				if one != other || !strings.HasPrefix(one, "reject 400 bad_request: Invalid alias name [NAME]: must not ") {
					t.Errorf("%s: %v %q: %s; %q: %s; want both refused alike", by, r, pair[0], one, pair[1], other)
				}
			}
		}
	}

	// What the name stands for is looked up on fresh state.
	s := worldWith(t, managerRole, indices)
	r := requestFor(t, "PUT", "/logs-a-1/_alias/perhaps-new", "")
	if out := s.Plan(s.Principal(ask.Identity{Name: "u"}), r, Known{}); out.Kind != Need || !out.NeedState {
		t.Errorf("a name that guard does not know: %s; want newer state", gist(t, out))
	}
}

// TestTargetsAreCounted holds that what a request means is bounded over all that is judged
// for it: its own parts, and what follows from them.
func TestTargetsAreCounted(t *testing.T) {
	s := worldWith(t, managerRole, staff())
	f := func(method, target, body string, means int) {
		t.Helper()
		r := requestFor(t, method, target, body)
		m, err := s.router.MatchRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		for room, kind := range map[int]Kind{means: Forward, means - 1: Reject} {
			pl := plan{s: s, who: s.Principal(ask.Identity{Name: "u"}), r: r, known: Known{Fresh: true}, m: m, expanded: maxTargets - room}
			out := pl.run()
			if out.Kind != kind || kind == Reject && out.Rejection.Status != 413 {
				t.Errorf("%s %s %s with room for %d names: %s; want kind %d", method, target, body, room, gist(t, out), kind)
			}
		}
	}
	f("GET", "/logs-a-1,logs-a-2/_search", "", 2)
	f("POST", "/_msearch", "{\"index\":\"logs-a-1\"}\n{}\n{\"index\":\"logs-a-2\"}\n{}\n", 2)
	f("GET", "/_cluster/health/logs-a-1", "", 2) // asked again, by another right
	f("PUT", "/logs-a-1/_alias/logs-a", "", 2)   // the index, and what the alias stands for
	f("POST", "/_aliases", `{"actions":[{"add":{"index":"logs-a-1","aliases":["logs-a","logs-a-2"]}}]}`, 3)
}

// TestWildcardsAreCounted holds that the work for the wildcards of a request is bounded, also
// where they match nothing.
func TestWildcardsAreCounted(t *testing.T) {
	s := worldWith(t, managerRole, staff())
	f := func(method, target, body string, compared int) {
		t.Helper()
		r := requestFor(t, method, target, body)
		m, err := s.router.MatchRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		for room, refused := range map[int]bool{compared: false, compared - 1: true} {
			pl := plan{s: s, who: s.Principal(ask.Identity{Name: "u"}), r: r, known: Known{Fresh: true}, m: m, compared: maxCompared - room}
			out := pl.run()
			if got := out.Kind == Reject && out.Rejection.Status == 413; got != refused {
				t.Errorf("%s %s %s with room for %d names: %s; want a refusal: %t", method, target, body, room, gist(t, out), refused)
			}
		}
	}
	all := 0
	for range s.state.Targets() {
		all++
	}
	const each = 16                                   // expression, to be looked up
	f("GET", "/*x,logs-a*/_search", "", all+3+2*each) // two indices and their alias
	f("GET", "/logs-a*,-logs-a*2/_search", "", 6+2*each)
	f("GET", "/*,*/_search", "", 2*all+2*each)
	f("POST", "/_msearch", "{\"index\":\"*x\"}\n{}\n{\"index\":[\"*y\",\"zz*\"]}\n{}\n", 2*all+3*each)
}

// TestAliasesOfRuledIndices: whom a rule binds on an index adds none of his own to the aliases
// that it has: what others write to the alias would come to him without the rule.
func TestAliasesOfRuledIndices(t *testing.T) {
	indices := append(staff(), indexresolver.Index{Name: "xa"}, indexresolver.Index{Name: "xb", Aliases: []indexresolver.Membership{{Alias: "xmine"}}})
	indices[0].Aliases = append(indices[0].Aliases, indexresolver.Membership{Alias: "xhr"})
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, managerRole, indices)
		f := func(method, target, body string, refused bool) {
			t.Helper()
			got := gist(t, planFor(t, s, method, target, body))
			if is := strings.HasPrefix(got, "reject ") && strings.Contains(got, "under a document or field rule may not be changed"); is != refused {
				t.Errorf("%s, %s %s %s: %s; want it refused: %v", by, method, target, body, got, refused)
			}
		}
		for alias, refused := range map[string]bool{"xhr": true, "xmine": false, "xnew": false} {
			for _, details := range []string{`{}`, `{"is_write_index":true}`, `{"filter":{"term":{"a":1}}}`} {
				f("PUT", "/xa/_alias/"+alias, details, refused)
				f("POST", "/xa/_aliases/"+alias, details, refused)
				f("PUT", "/xnewindex", `{"aliases":{"xother":{},"`+alias+`":`+details+`}}`, refused)
			}
			f("POST", "/_aliases", `{"actions":[{"add":{"index":"xa","alias":"xother"}},{"add":{"index":"xa","aliases":["xthird","`+alias+`"],"is_write_index":true}}]}`, refused)
		}
	}
}
