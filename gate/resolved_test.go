package gate

import (
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// TestResolvedNames holds that beside an index those aliases and streams are named that
// a request by their own names would find: by the older evaluator aliases of which all
// members are granted, by the newer one those that are granted themselves.
func TestResolvedNames(t *testing.T) {
	member := func(index string, aliases ...string) indexresolver.Index {
		x := indexresolver.Index{Name: index}
		for _, a := range aliases {
			x.Aliases = append(x.Aliases, indexresolver.Membership{Alias: a})
		}
		return x
	}
	indices := []indexresolver.Index{
		member("a-1", "mine", "mixed", "a-named"), member("a-2", "mixed"), member("b-1", "mixed"),
		member(".ds-theirs-1"), member(".ds-theirs-2"), member(".ds-a-stream-1"),
	}
	streams := []indexresolver.DataStream{{Name: "theirs", Indices: []string{".ds-theirs-1", ".ds-theirs-2"}}, {Name: "a-stream", Indices: []string{".ds-a-stream-1"}}}
	const role = `  index_permissions:
    - {index_patterns: ["a-*", ".ds-*-1"], allowed_actions: ["*"]}
`
	const answer = `{"indices":[{"name":"a-1","aliases":["a-named","mine","mixed"],"attributes":["open"]},{"name":"a-2","aliases":["mixed"],"attributes":["open"]},` +
		`{"name":".ds-theirs-1","data_stream":"theirs"},{"name":".ds-a-stream-1","data_stream":"a-stream"},{"aliases":["mixed"]}],"aliases":[{"name":"mine","indices":["a-1"]}]}`
	const rest = `,"attributes":["open"]},{"name":"a-2","attributes":["open"]},` +
		`{"name":".ds-theirs-1"},{"name":".ds-a-stream-1","data_stream":"a-stream"}],"aliases":[{"name":"mine","indices":["a-1"]}]}`
	f := func(by config.Evaluation, want string) {
		t.Helper()
		s := worldBy(t, by, role, indices, streams...)
		for _, target := range []string{"/_resolve/index/a-1,a-2,.ds-theirs-1,.ds-a-stream-1", "/_resolve/index/a-*,.ds-*-1?expand_wildcards=all"} {
			out := planFor(t, s, "GET", target, "")
			if out.Kind != Forward || out.Forward.Treat == nil {
				t.Errorf("%s: GET %s: %s; want it treated", by, target, gist(t, out))
				continue
			}
			if got, err := out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(answer)}); err != nil || string(got.Body) != want {
				t.Errorf("%s: GET %s: %s, %v; want %s", by, target, got.Body, err, want)
			}
		}
		if out := planFor(t, s, "GET", "/_resolve/index/.ds-a-stream-1", ""); out.Kind != Forward || out.Forward.Treat != nil {
			t.Errorf("%s: where nothing is hidden: %s; want it passed on as it is", by, gist(t, out))
		}
	}
	f(config.EvaluationLegacy, `{"indices":[{"name":"a-1","aliases":["a-named","mine"]`+rest)
	f(config.EvaluationV4, `{"indices":[{"name":"a-1","aliases":["a-named"]`+rest)
}
