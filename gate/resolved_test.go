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
		`{"name":".ds-theirs-1"},{"name":".ds-a-stream-1","data_stream":"a-stream"}],"aliases":[`
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
	}
	f(config.EvaluationLegacy, `{"indices":[{"name":"a-1","aliases":["a-named","mine"]`+rest+`{"name":"mine","indices":["a-1"]}]}`)
	f(config.EvaluationV4, `{"indices":[{"name":"a-1","aliases":["a-named"]`+rest+`]}`)
}

// TestResolvedLater holds that a listing shows no name that was not decided, wherever it
// stands: one that comes into being until the cluster answers is left out, also for who
// holds all that there was.
func TestResolvedLater(t *testing.T) {
	s := worldWith(t, `  index_permissions:
    - {index_patterns: ["a-*", .ds-a-stream-1], allowed_actions: ["*"]}
`, []indexresolver.Index{{Name: "a-1", Aliases: []indexresolver.Membership{{Alias: "m"}}}, {Name: ".ds-a-stream-1"}},
		indexresolver.DataStream{Name: "a-stream", Indices: []string{".ds-a-stream-1"}})
	f := func(name, answer, want string) {
		t.Helper()
		out := planFor(t, s, "GET", "/_resolve/index/"+name, "")
		if out.Kind != Forward || out.Forward.Treat == nil {
			t.Fatalf("%s: %s; want it treated", name, gist(t, out))
		}
		got, err := out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(answer)})
		if err != nil || string(got.Body) != want {
			t.Errorf("%s: %s\nbecame %s, %v\nwant   %s", name, answer, got.Body, err, want)
		}
	}
	for _, name := range []string{"a-*", "*", "a-1,a-stream,m"} {
		f(name, `{"indices":[{"name":"a-1","aliases":["m","new"],"attributes":["open"]},{"name":"zz","attributes":["open"]}]}`, `{"indices":[{"name":"a-1","aliases":["m"],"attributes":["open"]}]}`)
		f(name, `{"indices":[{"name":"a-1","aliases":["new"],"data_stream":"new"}]}`, `{"indices":[{"name":"a-1"}]}`)
		f(name, `{"indices":[],"views":[{"name":"zz"}]}`, `{"indices":[]}`)
		f(name, `{"indices":[{"name":"other:zz","aliases":["other:m"]}],"aliases":[{"name":"other:m","indices":["zz"]}]}`, `{"indices":[],"aliases":[]}`)
		// filter_path takes away what it likes.
		f(name, `{"indices":[{"aliases":["m","new"]},{"aliases":["new"]},{"attributes":["open"]},{"data_stream":"new"}]}`, `{"indices":[{"aliases":["m"]}]}`)
		f(name, `{"aliases":[{"name":"m"},{"name":"new"},{"indices":["a-1","zz"]},{"indices":["zz"]}]}`, `{"aliases":[{"name":"m"},{"indices":["a-1"]}]}`)
	}
	f("m", `{"aliases":[{"name":"m","indices":["a-1","zz"]},{"name":"new","indices":["a-1"]}]}`, `{"aliases":[{"name":"m","indices":["a-1"]}]}`)
	f("m", `{"aliases":[{"name":"m","indices":["zz"]}]}`, `{"aliases":[]}`)
	f("a-stream", `{"data_streams":[{"name":"a-stream","backing_indices":[".ds-a-stream-1",".ds-a-stream-2"],"timestamp_field":"@timestamp"},{"name":"zz","backing_indices":[".ds-zz-1"],"timestamp_field":"@timestamp"}]}`,
		`{"data_streams":[{"name":"a-stream","backing_indices":[".ds-a-stream-1"],"timestamp_field":"@timestamp"}]}`)
	f("a-later", `{"indices":[{"name":"a-later"}],"aliases":[{"name":"a-later","indices":["zz"]}]}`, `{"indices":[],"aliases":[]}`)

	got, err := resolvedTreatment{}.Treat(Answer{Status: 200, Body: []byte(`{"indices":[{"name":"a-1"}],"aliases":[{"name":"m","indices":["a-1"]}],"data_streams":[{"name":"s"}]}`)})
	if want := `{"indices":[],"aliases":[],"data_streams":[]}`; err != nil || string(got.Body) != want {
		t.Errorf("the zero value: %s, %v; want %s", got.Body, err, want)
	}
	remote := `{"indices":[{"name":"other:zz","aliases":["other:m"]}],"aliases":[{"name":"other:m","indices":["zz"]}]}`
	if got, err := (resolvedTreatment{remote: true}).Treat(Answer{Status: 200, Body: []byte(remote)}); err != nil || string(got.Body) != remote {
		t.Errorf("names of another cluster that were granted: %s, %v; want %s", got.Body, err, remote)
	}
}
