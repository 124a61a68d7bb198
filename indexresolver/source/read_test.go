package source

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guard/indexresolver"
	"guard/internal/names"
)

var namesOptions = names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}

func TestReadIndices(t *testing.T) {
	c := newCluster(t)
	c.indices = map[string]*fakeIndex{
		"closed":  {State: "close", Mapping: `{}`},
		"sorted":  {State: "open", Mapping: `{}`, Sort: `{"field":["a","b.c"],"order":["asc","desc"]}`},
		"commas":  {State: "open", Mapping: `{}`, Sort: `{"field":" a , b.c "}`},
		"words":   {State: "open", Mapping: `{}`, Analysis: `{"analyzer":{"own":{"type":"custom","tokenizer":"standard"},"default":{"type":"keyword"}},"filter":{"f":{}}}`},
		"odd":     {State: "open", Mapping: `{}`, Analysis: `{"analyzer":"x"}`},
		"hidden":  {State: "open", Hidden: "true", Mapping: `{"_doc":{"dynamic":"false"}}`},
		"old":     {State: "open", Hidden: "false", Mapping: `{"mytype":{"properties":{"f":{"type":"long"}}}}`},
		"aliased": {State: "open", Mapping: `{"_doc":{}}`, Aliases: map[string]string{"al": `{"filter":{"term":{"f":1}},"index_routing":"1","search_routing":"2","is_write_index":true,"is_hidden":true}`}},
	}
	r := reader{fetch: c}
	got, _, err := r.contents(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]indexresolver.Index{}
	for _, x := range got.Indices {
		found[x.Name] = x
	}
	want := map[string]indexresolver.Index{
		"closed": {Name: "closed", UUID: "u-closed", Closed: true, Mapping: []byte("{}")},
		"sorted": {Name: "sorted", UUID: "u-sorted", Mapping: []byte("{}"), Sort: []string{"a", "b.c"}},
		"commas": {Name: "commas", UUID: "u-commas", Mapping: []byte("{}"), Sort: []string{"a", "b.c"}},
		"words":  {Name: "words", UUID: "u-words", Mapping: []byte("{}"), Analyzers: []string{"default", "own"}},
		"odd":    {Name: "odd", UUID: "u-odd", Mapping: []byte("{}")},
		"hidden": {Name: "hidden", UUID: "u-hidden", Hidden: true, Mapping: []byte(`{"dynamic":"false"}`)},
		"old":    {Name: "old", UUID: "u-old", Mapping: []byte(`{"properties":{"f":{"type":"long"}}}`)},
		"aliased": {Name: "aliased", UUID: "u-aliased", Mapping: []byte(`{}`), Aliases: []indexresolver.Membership{{
			Alias: "al", Filter: []byte(`{"term":{"f":1}}`), IndexRouting: "1", SearchRouting: "2", Hidden: true,
		}}},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("indices (-want +got):\n%s", diff)
	}
	if got.ClusterUUID != "cluster-1" || got.Term != 1 || got.Version != 11 || got.StateUUID != "s1-11" {
		t.Errorf("the state is %q %d %d %q", got.ClusterUUID, got.Term, got.Version, got.StateUUID)
	}
}

func TestReadRefuses(t *testing.T) {
	stamp := `"cluster_uuid":"c","version":1,"state_uuid":"s"`
	state := func(metadata string) string { return `{` + stamp + `,"metadata":{` + metadata + `}}` }
	f := func(target, answer, wantErr string) {
		t.Helper()
		c := newCluster(t)
		c.answer = func(asked string) (int, string, bool) {
			switch {
			case asked == target:
				return 200, answer, true
			case asked == versionTarget:
				return 200, "{" + stamp + "}", true
			case asked == aliasTarget:
				return 200, `{"a":{"aliases":{}}}`, true
			}
			return 0, "", false
		}
		r := reader{fetch: c}
		got, _, err := r.contents(t.Context(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), wantErr) || got != nil {
			t.Errorf("%s answered %s: %v, %v; want an error with %q", target, answer, got, err, wantErr)
		}
	}
	f(versionTarget, `{}`, "names no state")
	f(versionTarget, `{"cluster_uuid":"_na_","state_uuid":"s"}`, "names no state")
	f(versionTarget, `garbage`, "cannot read the answer to /_cluster/state/version")
	f(rootTarget, `{}`, "cannot read the version")
	f(rootTarget, `{"version":{"number":"nine"}}`, "cannot read the version")
	f(rootTarget, `{"version":{"distribution":"other","number":"1.0"}}`, `distribution "other"`)
	f(aliasTarget, `[]`, "cannot read the answer to /_alias")
	f(stateTarget, `{`+stamp+`}`, "has no metadata")
	f(stateTarget, `{"metadata":{"indices":{}}}`, "names no state")
	f(stateTarget, state(`"indices":{"a":{"state":"open"},"a":{"state":"open"}}`), `duplicate key "a"`)
	f(stateTarget, state(`"indices":{"a":{"state":"open","state":"close"}}`), `duplicate key "state"`)
	f(stateTarget, state(`"indices":{}`)+"x", "want the end of the text")
	f(stateTarget, state(`"indices":{"a":{"state":"open"`), "cannot read the answer to /_cluster/state/version,metadata")
	f(aliasTarget, `{"a":{"aliases":{}},"b":{"aliases":{"al":{}}}}`, `index "b": it has the aliases ["al"] and is not in the state`)
	f(aliasTarget, `{"a":{"aliases":{"al":{"filter":7}}}}`, `alias "al": a filter is a number`)
	f(aliasTarget, `{"a":{"aliases":{"al":{"is_hidden":"true"}}}}`, "want true or false")
	f(stateTarget, state(`"indices":{"a":{"state":"odd"}}`), `cannot read index "a": state "odd"`)
	f(stateTarget, state(`"indices":{"a":{}}`), `state ""`)
	f(stateTarget, state(`"indices":{"a":{"state":"open","settings":{"index":{"sort":{"field":{"a":1}}}}}}`), "a list of fields is an object")
	f(stateTarget, state(`"indices":{"a":{"state":"open","mappings":{"x":{},"y":{}}}}`), "2 mapping types")
	f(stateTarget, state(`"indices":{"a":{"state":"open","aliases":["al"]}}`), `its aliases are ["al"] in the state and []`)
	f(stateTarget, state(`"indices":{},"data_stream":{"data_stream":{"d":{"indices":[]}},"data_stream_aliases":{"x":{"data_streams":["d"]}}}`), `data stream "d": the list of aliases lacks "x"`)
	f(aliasTarget, `{"a":{"aliases":{}},"d":{"aliases":{"x":{}}}}`, `index "d": it has the aliases ["x"] and is not in the state`)
}

func TestReadReportsTheStatus(t *testing.T) {
	for _, target := range []string{versionTarget, rootTarget, aliasTarget, stateTarget} {
		c := newCluster(t)
		c.answer = func(asked string) (int, string, bool) {
			return 503, `{"error":"` + strings.Repeat("x", 1000) + `"}`, asked == target
		}
		r := reader{fetch: c}
		_, _, err := r.contents(t.Context(), nil, nil)
		if err == nil || !strings.Contains(err.Error(), target+": status 503") || len(err.Error()) > len(target)+300 {
			t.Errorf("%s: %v; want a short error with the status", target, err)
		}
	}
}

func TestEngineIsAskedAgainAfterAnError(t *testing.T) {
	c := newCluster(t)
	r := reader{fetch: c}
	f := func(ok bool, number string) {
		t.Helper()
		c.move()
		c.answer = func(asked string) (int, string, bool) {
			if asked == rootTarget {
				return 200, `{"version":{"number":"` + number + `"}}`, true
			}
			return 503, "", !ok
		}
		got, _, err := r.contents(t.Context(), nil, nil)
		if (err == nil) != ok || ok && got.Engine.Version != number {
			t.Errorf("contents are %+v, %v; want version %s", got, err, number)
		}
	}
	f(true, "7.10.2")
	f(false, "7.10.2")
	f(true, "8.8.2")
}

func TestSetDefaults(t *testing.T) {
	c := Config{Wait: time.Minute}
	c.SetDefaults()
	if c.Wait != time.Minute || c.Poll != time.Second || c.MinPause != 100*time.Millisecond || c.MaxPause != 5*time.Second || c.Timeout != 30*time.Second || c.OnError == nil {
		t.Errorf("the defaults are %+v", c)
	}
}

// FuzzState feeds answers of an upstream that may be anything: they are refused, or
// they make a state that knows just the indices that they name.
func FuzzState(f *testing.F) {
	seed := newCluster(f)
	seed.change(func() { seed.put("b", "al"); seed.put(".ds-d-1"); seed.streams["d"] = []string{".ds-d-1"} })
	f.Add(seed.state(), seed.aliases())
	f.Add(`{"cluster_uuid":"c","state_uuid":"s","metadata":{"indices":{"a":{"state":"close","aliases":["x"],"mappings":{"t":null}}}}}`, `{"a":{"aliases":{"x":{"filter":null}}}}`)
	f.Fuzz(func(t *testing.T, state, aliases string) {
		c := newCluster(t)
		c.answer = func(asked string) (int, string, bool) {
			switch asked {
			case stateTarget, versionTarget:
				return 200, state, true
			case aliasTarget:
				return 200, aliases, true
			}
			return 0, "", false
		}
		r := reader{fetch: c}
		contents, _, err := r.contents(t.Context(), nil, nil)
		if err != nil {
			return
		}
		s, err := indexresolver.New(*contents, nil)
		if err != nil {
			return
		}
		for _, x := range contents.Indices {
			if _, ok := s.Index(x.Name); !ok {
				t.Fatalf("index %q is lost", x.Name)
			}
			for _, m := range x.Aliases {
				if target, ok := s.Lookup(m.Alias); !ok || !strings.Contains(" "+strings.Join(target.Members, " ")+" ", " "+x.Name+" ") {
					t.Fatalf("alias %q of %q is %v", m.Alias, x.Name, target)
				}
			}
		}
	})
}
