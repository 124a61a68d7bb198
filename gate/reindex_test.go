package gate

import (
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// TestReindex holds how a copy is forwarded: the names of its source as those of a search,
// its destination by the one name that was decided.
func TestReindex(t *testing.T) {
	s := byQueryWorld(t, config.EvaluationLegacy)
	f := func(target, body, want string) {
		t.Helper()
		out := planFor(t, s, "POST", target, body)
		if got := gist(t, out); got != "POST "+target+" | "+want {
			t.Errorf("%s %s: %s; want %s", target, body, got, want)
		}
		if out.Forward.Repeatable || out.Forward.ChangesState == nil {
			t.Errorf("%s: may be repeated: %v; want a write that is not, and that can make an index", target, out.Forward.Repeatable)
		}
	}
	f("/_reindex", `{"source":{"index":"xa"},"dest":{"index":"xb"}}`, `{"source":{"index":["xa"]},"dest":{"index":"xb"}}`)
	f("/_reindex?refresh&slices=2&max_docs=5", `{"dest":{"index":"xnew"},"source":{"index":["xa","xb"]}}`, `{"source":{"index":["xa","xb"]},"dest":{"index":"xnew"}}`)
	f("/_reindex", `{"conflicts":"proceed","max_docs":3,"source":{"index":"xa","size":10,"_source":["a","b"],"query":{"term":{"a":1.50}}},"dest":{"index":"xb","op_type":"create","version_type":"external","routing":"=r"}}`,
		`{"source":{"index":["xa"],"query":{"term":{"a":1.50}},"size":10,"_source":["a","b"]},"dest":{"index":"xb","op_type":"create","version_type":"external","routing":"=r"},"conflicts":"proceed","max_docs":3}`)
	f("/_reindex", `{"source":{"index":"xs"},"dest":{"index":"xb"}}`, `{"source":{"index":["xa","xb"]},"dest":{"index":"xb"}}`)
	f("/_reindex", `{"source":{"index":"xpart"},"dest":{"index":"xb"}}`,
		`{"source":{"index":["xpart"],"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"bool":{"minimum_should_match":1,"should":[{"terms":{"_index":["xf"]}}]}}]}}},"dest":{"index":"xb"}}`)
	// The policy takes names out of reads that are not granted.
	s = worldWith(t, xRole, writable())
	f("/_reindex", `{"source":{"index":"_all"},"dest":{"index":"xb"}}`, `{"source":{"index":["xa","xb"]},"dest":{"index":"xb"}}`)
	f("/_reindex", `{"source":{"index":"xa,secret"},"dest":{"index":"xb"}}`, `{"source":{"index":["xa"]},"dest":{"index":"xb"}}`)
	f("/_reindex", `{"source":{"index":"x*"},"dest":{"index":"xb"}}`, `{"source":{"index":["x*"]},"dest":{"index":"xb"}}`)
	f("/_reindex", `{"source":{"index":"none*"},"dest":{"index":"xb"}}`, `{"source":{"index":[".none*","-*"]},"dest":{"index":"xb"}}`)
}

// TestReindexRefused holds what is refused: names that are not granted on either side, rules
// on either side, and whatever could reach beyond the names.
func TestReindexRefused(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := byQueryWorld(t, by)
		refused := func(target, body, want string) {
			t.Helper()
			if got := gist(t, planFor(t, s, "POST", target, body)); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
				t.Errorf("%s: %s %s: %s; want a refusal with %q", by, target, body, got, want)
			}
		}
		names := func(source, dest string) string {
			return `{"source":{"index":"` + source + `"},"dest":{"index":"` + dest + `"}}`
		}
		for _, source := range []string{"secret", "ya", "nosuch"} {
			refused("/_reindex", names(source, "xb"), "no permissions for [indices:data/read/search]")
		}
		for _, dest := range []string{"secret", "ya", "nosuch", "foreign", "other:xa"} {
			refused("/_reindex", names("xa", dest), "no permissions for [indices:data/write/index")
		}
		for _, bound := range []string{"hr", "fielded", "masked"} {
			refused("/_reindex", names(bound, "xb"), "binds you")
			refused("/_reindex", names("xa,"+bound, "xb"), "binds you")
			refused("/_reindex", names("xa", bound), "binds you")
		}
		refused("/_reindex", names("xa", "xs"), "alias as the destination")
		refused("/_reindex", names("xa", "xpart"), "alias as the destination")
		refused("/_reindex", names("xa", "stored"), "stored queries")
		refused("/_reindex", names("stored", "xa"), "stored queries")
		for _, dest := range []string{"x*", "xa,xb", "_all", "XA", "-xa", "x a"} {
			refused("/_reindex", names("xa", dest), "")
		}
		refused("/_reindex", names("other:xa", "xb"), "")
		with := func(top, source, dest string) string {
			return `{` + top + `"source":{` + source + `"index":"xa"},"dest":{` + dest + `"index":"xb"}}`
		}
		refused("/_reindex", with(`"script":{"source":"1"},`, "", ""), "[script] in the reindex request")
		refused("/_reindex", with(`"size":1,`, "", ""), "[size]")
		refused("/_reindex", with(`"unheard_of":1,`, "", ""), "unknown key [unheard_of]")
		refused("/_reindex", with("", `"remote":{"host":"http://other:9200"},`, ""), "[remote] in [source]")
		refused("/_reindex", with("", `"sort":"a",`, ""), "[sort] in [source]")
		refused("/_reindex", with("", `"runtime_mappings":{},`, ""), "unknown key [runtime_mappings]")
		refused("/_reindex", with("", `"query":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}},`, ""), "terms lookup")
		refused("/_reindex", with("", `"query":{"unheard_of":{}},`, ""), "unheard_of")
		refused("/_reindex", with("", `"size":-1,`, ""), "[size]")
		refused("/_reindex", with("", "", `"pipeline":"p",`), "[pipeline] in [dest]")
		refused("/_reindex", with("", "", `"type":"t",`), "unknown key [type]")
		refused("/_reindex", with("", "", `"op_type":"delete",`), "cannot use [delete]")
		refused("/_reindex", with("", "", `"version_type":"force",`), "cannot use [force]")
		refused("/_reindex", with(`"conflicts":"ignore",`, "", ""), "cannot use [ignore]")
		refused("/_reindex", with(`"max_docs":0,`, "", ""), "[max_docs]")
		refused("/_reindex", `{"dest":{"index":"xb"}}`, "copy from all existing indexes")
		refused("/_reindex", `{"source":{"index":"xa"}}`, "specified on [dest]")
		refused("/_reindex?wait_for_completion=false", names("xa", "xb"), "wait_for_completion")
		refused("/_reindex?require_alias=true", names("xa", "xb"), "[require_alias]")
		refused("/_reindex?pipeline=p", names("xa", "xb"), "unrecognized parameter")
		refused("/_reindex?filter_path=failures.*", names("xa", "xb"), "filter_path")
	}
}

// TestReindexAsks holds that each action that the cluster's own requests need is asked, on
// the side that needs it.
func TestReindexAsks(t *testing.T) {
	const body = `{"source":{"index":"xa"},"dest":{"index":"xb"}}`
	cluster := []string{"indices:data/write/reindex", "indices:data/read/scroll", "indices:data/write/bulk"}
	asksEach(t, "/_reindex", body, cluster,
		[]string{"indices:data/read/search", "indices:data/write/bulk[s]", "indices:data/write/index", "indices:admin/mapping/put"})
	asksEach(t, "/_reindex", `{"source":{"index":"xa"},"dest":{"index":"xnew"}}`, cluster,
		[]string{"indices:data/read/search", "indices:data/write/bulk[s]", "indices:data/write/index", "indices:admin/mapping/put", "indices:admin/create"})
	// The rights of one side are none on the other.
	const role = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [xa], allowed_actions: ["indices:data/read/search"]}
    - {index_patterns: [xb], allowed_actions: ["indices:data/write/*", "indices:admin/mapping/put"]}
`
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, role, writable())
		if got := gist(t, planFor(t, s, "POST", "/_reindex", body)); !strings.HasPrefix(got, "POST /_reindex") {
			t.Errorf("%s: %s; want it forwarded", by, got)
		}
		if got := gist(t, planFor(t, s, "POST", "/_reindex", `{"source":{"index":"xb"},"dest":{"index":"xa"}}`)); !strings.Contains(got, "no permissions for [indices:data/read/search]") {
			t.Errorf("%s: %s; want a refusal of the source", by, got)
		}
	}
}

// TestReindexAnswers holds which failures pass: those of searches in the source, those of
// documents in the destination.
func TestReindexAnswers(t *testing.T) {
	indices, stream := withStream()
	s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [\"*\"], allowed_actions: [\"*\"]}\n    - {index_patterns: [hr], dls: '{\"term\":{\"dept\":\"eng\"}}', allowed_actions: [\"*\"]}\n",
		append(indices, indexresolver.Index{Name: "xa"}, indexresolver.Index{Name: "xb"}), stream)
	f := func(dest, body string, passes bool) {
		t.Helper()
		out := planFor(t, s, "POST", "/_reindex", `{"source":{"index":"xa"},"dest":{"index":"`+dest+`"}}`)
		if out.Kind != Forward {
			t.Fatal(gist(t, out))
		}
		got, err := out.Forward.Treat.Treat(Answer{Status: 409, Body: []byte(`{"failures":[` + body + `]}`)})
		if passes != (err == nil) {
			t.Errorf("%s %s: %s, %v; want it passed: %v", dest, body, got.Body, err, passes)
		}
	}
	ofDocument := func(index string) string { return `{"index":"` + index + `","id":"1","status":409,"cause":{}}` }
	ofSearch := func(index string) string { return `{"index":"` + index + `","shard":0,"reason":{}}` }
	f("xb", ofDocument("xb"), true)
	f("xb", ofDocument("xa"), false)
	f("xb", ofDocument("hr"), false)
	f("xb", ofSearch("xa"), true)
	f("xb", ofSearch("hr"), false)
	f("xnew", ofDocument("xnew"), true)
	f("xnew", ofDocument("hr"), false)
	f(stream.Name, ofDocument(".ds-"+stream.Name+"-000009"), true)
	f(stream.Name, ofDocument(".ds-other-000009"), false)
}
