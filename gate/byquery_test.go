package gate

import (
	"slices"
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// byQueryRole may do all on x*, and all under some rule on others.
const byQueryRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["x*", stored], allowed_actions: ["*"]}
    - {index_patterns: [hr], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: [fielded], fls: ["~ssn"], allowed_actions: ["*"]}
    - {index_patterns: [masked], masked_fields: [ssn], allowed_actions: ["*"]}
`

// xRole may do all on x* and nothing else.
const xRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["x*"], allowed_actions: ["*"]}
`

func byQueryWorld(t *testing.T, by config.Evaluation) *Snapshot {
	t.Helper()
	return worldBy(t, by, byQueryRole, append(writable(), indexresolver.Index{Name: "masked", Mapping: []byte(staffMapping)},
		indexresolver.Index{Name: "xf", Aliases: []indexresolver.Membership{{Alias: "xpart", Filter: []byte(`{"term":{"a":1}}`)}, {Alias: "foreign"}}},
		indexresolver.Index{Name: "ya", Aliases: []indexresolver.Membership{{Alias: "foreign"}}}))
}

// TestDeleteByQuery holds how names, query and parameters of a deletion are forwarded.
func TestDeleteByQuery(t *testing.T) {
	const all = `{"query":{"match_all":{}}}`
	s := byQueryWorld(t, config.EvaluationLegacy)
	f := func(target, body, want string) {
		t.Helper()
		out := planFor(t, s, "POST", target, body)
		if got := gist(t, out); got != want {
			t.Errorf("%s %s: %s; want %s", target, body, got, want)
		}
		if out.Forward.Repeatable {
			t.Errorf("%s: may be repeated; want a write that is not", target)
		}
	}
	refused := func(target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "POST", target, body)); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
			t.Errorf("%s %s: %s; want a refusal with %q", target, body, got, want)
		}
	}
	f("/xa/_delete_by_query", all, `POST /xa/_delete_by_query | `+all)
	const how = "conflicts=proceed&refresh&slices=auto&scroll_size=10&requests_per_second=-1&wait_for_completion=true"
	f("/xa,xb/_delete_by_query?"+how+"&routing=r", all, "POST /xa,xb/_delete_by_query?routing=r&"+how+" | "+all)
	f("/xa/_delete_by_query?q=a:1", "", "POST /xa/_delete_by_query?q=a%3A1")
	f("/xa/_delete_by_query", `{"max_docs":3,"conflicts":"proceed","query":{"term":{"a":1.50}}}`, `POST /xa/_delete_by_query?max_docs=3&conflicts=proceed | {"query":{"term":{"a":1.50}}}`)

	// Names come one by one, since a rule binds some names; those that can come to mean
	// other indices with a query that finds nothing there. The filter of an alias comes with
	// its name, and an alias without one gives way to its indices.
	bound := func(indices string) string {
		return `{"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":[` + indices + `]}}]}}]}}}`
	}
	f("/xs/_delete_by_query", all, "POST /xa,xb/_delete_by_query | "+all)
	f("/x*/_delete_by_query", all, "POST /xa,xb,xf,xpart/_delete_by_query?ignore_unavailable=true | "+bound(`"xa","xb","xf"`))
	f("/x*,-xa,-xf,-xpart/_delete_by_query", all, "POST /xb/_delete_by_query?ignore_unavailable=true | "+all)
	f("/xpart/_delete_by_query", all, "POST /xpart/_delete_by_query | "+bound(`"xf"`))
	f("/xnone*/_delete_by_query", all, "POST /.none*,-*/_delete_by_query | "+all)
	s = worldWith(t, xRole, writable())
	f("/x*/_delete_by_query", all, "POST /x*/_delete_by_query | "+all) // nobody is bound there, whatever comes
	f("/*a/_delete_by_query", all, "POST /x*a/_delete_by_query | "+all)

	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s = byQueryWorld(t, by)
		for _, names := range []string{"secret", "xa,secret", "foreign", "xa,foreign", "ya"} {
			refused("/"+names+"/_delete_by_query", all, "no permissions for [indices:data/write/delete/byquery")
		}
		for _, names := range []string{"hr", "xa,hr", "fielded", "x*,fielded", "masked"} {
			refused("/"+names+"/_delete_by_query", all, "a document, field or mask rule binds you")
		}
		refused("/stored/_delete_by_query", all, "stored queries")
		refused("/xa/_delete_by_query", "", "query is missing")
		refused("/xpart/_delete_by_query", `{"max_docs":1}`, "query is missing") // the filter is no query of the client
		refused("/xa/_delete_by_query?wait_for_completion=false", all, "wait_for_completion")
		refused("/xa/_delete_by_query?filter_path=failures.cause", all, "filter_path")
		refused("/xa/_delete_by_query?filter_path=*", all, "filter_path")
		refused("/xa/_delete_by_query?pipeline=p", all, "unrecognized parameter: [pipeline]")
		refused("/xa/_delete_by_query?scroll=1m", all, "[scroll]")
		refused("/xa/_delete_by_query?conflicts=ignore", all, "cannot use [ignore] as [conflicts]")
		refused("/xa/_delete_by_query?max_docs=-1", all, "cannot use [-1] as [max_docs]")
		refused("/xa/_delete_by_query?slices=0", all, "cannot use [0] as [slices]")
		refused("/xa/_delete_by_query?max_docs=1", `{"max_docs":2,"query":{"match_all":{}}}`, "in the body and in the URL")
		refused("/xa/_delete_by_query", `{"max_docs":"2","query":{"match_all":{}}}`, "cannot use")
		for _, key := range []string{"script", "sort", "slice", "size"} {
			refused("/xa/_delete_by_query", `{"query":{"match_all":{}},"`+key+`":{}}`, "["+key+"] in the body")
		}
		refused("/xa/_delete_by_query", `{"query":{"match_all":{}},"unheard_of":{}}`, "unheard_of")
		refused("/xa/_delete_by_query", `{"query":{"unheard_of":{}}}`, "unheard_of")
		refused("/xa/_delete_by_query", `{"query":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}`, "terms lookup")
		refused("/other:xa/_delete_by_query", all, "")
	}
	// The newer evaluator takes out what a wildcard found and is not granted, the older one
	// refuses the request.
	s = worldBy(t, config.EvaluationV4, xRole, writable())
	f("/secr*,xa/_delete_by_query", all, "POST /xa/_delete_by_query | "+all)
	f("/*a/_delete_by_query", all, "POST /x*a/_delete_by_query | "+all)
	f("/_all/_delete_by_query", all, "POST /xa,xb/_delete_by_query?ignore_unavailable=true | "+all)
	s = worldWith(t, xRole, writable())
	for _, names := range []string{"_all", "*", "secr*,xa"} {
		refused("/"+names+"/_delete_by_query", all, "no permissions for [indices:data/write/delete/byquery")
	}
}

// TestDeleteByQueryAsks holds that each of the actions that the cluster's own requests need
// is asked before anything is sent.
func TestDeleteByQueryAsks(t *testing.T) {
	asksEach(t, "/xa/_delete_by_query", `{"query":{"match_all":{}}}`, []string{"indices:data/read/scroll", "indices:data/write/bulk"},
		[]string{"indices:data/write/delete/byquery", "indices:data/read/search", "indices:data/write/bulk[s]", "indices:data/write/delete"})
}

// asksEach sends a request as someone who holds all of some actions, then all but one. With
// refresh set the right to refresh is asked too.
func asksEach(t *testing.T, target, body string, cluster, index []string) {
	t.Helper()
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		f := func(target, without, want string) {
			t.Helper()
			but := func(list []string) string {
				list = slices.DeleteFunc(slices.Clone(list), func(a string) bool { return a == without })
				return `["` + strings.Join(list, `", "`) + `"]`
			}
			s := worldBy(t, by, "  cluster_permissions: "+but(cluster)+"\n  index_permissions:\n    - {index_patterns: [\"x*\"], allowed_actions: "+but(index)+"}\n", writable())
			if got := gist(t, planFor(t, s, "POST", target, body)); !strings.Contains(got, want) {
				t.Errorf("%s: %s without [%s]: %s; want %s", by, target, without, got, want)
			}
		}
		f(target, "", "POST "+target)
		for _, action := range slices.Concat(cluster, index) {
			f(target, action, "no permissions for ["+action+"]")
		}
		f(target+"?refresh=false", "", "POST "+target)
		f(target+"?refresh", "", "no permissions for [indices:admin/refresh]")
		index := append(slices.Clone(index), "indices:admin/refresh")
		s := worldBy(t, by, "  cluster_permissions: [\""+strings.Join(cluster, `", "`)+"\"]\n  index_permissions:\n    - {index_patterns: [\"x*\"], allowed_actions: [\""+strings.Join(index, `", "`)+"\"]}\n", writable())
		if got := gist(t, planFor(t, s, "POST", target+"?refresh=true", body)); !strings.HasPrefix(got, "POST "+target) {
			t.Errorf("%s: %s?refresh=true with all rights: %s; want it forwarded", by, target, got)
		}
	}
}

// TestByQueryAnswers holds that a failure in an index that was not decided ends as an answer
// that was not understood, and that others pass.
func TestByQueryAnswers(t *testing.T) {
	s := byQueryWorld(t, config.EvaluationLegacy)
	f := func(names string, status int, body string, passes bool) {
		t.Helper()
		out := planFor(t, s, "POST", "/"+names+"/_delete_by_query", `{"query":{"match_all":{}}}`)
		got, err := out.Forward.Treat.Treat(Answer{Status: status, Body: []byte(body)})
		if passes != (err == nil) || passes && string(got.Body) != body {
			t.Errorf("%s, %d %s: %s, %v; want it passed: %v", names, status, body, got.Body, err, passes)
		}
	}
	failure := func(index string) string {
		return `{"took":1,"failures":[{"index":"` + index + `","id":"1","cause":{"type":"version_conflict_engine_exception","reason":"[1]: version conflict"},"status":409}]}`
	}
	f("xa", 200, `{"took":1,"deleted":2,"failures":[]}`, true)
	f("xa", 200, `{"deleted":2}`, true)
	f("xa", 409, failure("xa"), true)
	f("xa", 409, failure("secret"), false)
	f("xa", 200, failure("xb"), false)
	f("xs", 409, failure("xb"), true)
	s = worldWith(t, xRole, writable())
	f("x*", 409, failure("xnew"), true) // a pattern whose names are all granted
	s = byQueryWorld(t, config.EvaluationLegacy)
	f("xa", 400, `{"error":{"type":"parsing_exception","reason":"no"},"status":400}`, true)
	f("xa", 409, `not JSON`, false)
}

// TestUpdateByQuery holds what is different where documents are indexed again.
func TestUpdateByQuery(t *testing.T) {
	const all = `{"query":{"match_all":{}}}`
	s := byQueryWorld(t, config.EvaluationLegacy)
	f := func(target, body, want string) {
		t.Helper()
		out := planFor(t, s, "POST", target, body)
		if got := gist(t, out); got != want {
			t.Errorf("%s %s: %s; want %s", target, body, got, want)
		}
		if out.Forward.Repeatable || out.Forward.ChangesState == nil {
			t.Errorf("%s: may be repeated: %v; want a write that is not, and that can change mappings", target, out.Forward.Repeatable)
		}
	}
	refused := func(target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "POST", target, body)); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
			t.Errorf("%s %s: %s; want a refusal with %q", target, body, got, want)
		}
	}
	f("/xa/_update_by_query", all, "POST /xa/_update_by_query | "+all)
	f("/xa/_update_by_query?conflicts=proceed", "", "POST /xa/_update_by_query?conflicts=proceed") // all documents
	f("/xa/_update_by_query?pipeline=_none", `{"max_docs":7}`, "POST /xa/_update_by_query?pipeline=_none&max_docs=7 | {}")
	f("/xs/_update_by_query", all, "POST /xa,xb/_update_by_query | "+all)
	f("/xpart/_update_by_query", "", `POST /xpart/_update_by_query | {"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["xf"]}}]}}]}}}`)

	refused("/xa/_update_by_query?pipeline=p", all, "parameter [pipeline]")
	refused("/xa/_update_by_query?wait_for_completion=false", all, "wait_for_completion")
	refused("/xa/_update_by_query", `{"script":{"source":"ctx._source.a=1"}}`, "[script] in the body")
	refused("/xa/_update_by_query", `{"query":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}`, "terms lookup")
	for _, names := range []string{"hr", "xa,hr", "fielded", "masked"} {
		refused("/"+names+"/_update_by_query", all, "a document, field or mask rule binds you")
	}
	for _, names := range []string{"secret", "xa,secret", "foreign", "_all"} {
		refused("/"+names+"/_update_by_query", all, "no permissions for [indices:data/write/update/byquery")
	}
	refused("/stored/_update_by_query", all, "stored queries")
}

// TestUpdateByQueryAsks is TestDeleteByQueryAsks for an update.
func TestUpdateByQueryAsks(t *testing.T) {
	asksEach(t, "/xa/_update_by_query", "", []string{"indices:data/read/scroll", "indices:data/write/bulk"},
		[]string{"indices:data/write/update/byquery", "indices:data/read/search", "indices:data/write/bulk[s]", "indices:data/write/index", "indices:admin/mapping/put"})
}
