package indexresolver

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSaved: a state that is saved and loaded is the same, order and all. What it is tried
// on has each thing that a state knows of an index, an alias and a data stream.
func TestSaved(t *testing.T) {
	contents := Contents{
		ClusterUUID: "c", StateUUID: "s", Term: 2, Version: 7, FetchedAt: time.Unix(1e9, 0),
		Engine: Engine{Distribution: OpenSearch, Version: "2.19.4", Major: 2, Minor: 19},
		Indices: []Index{
			{Name: "a", UUID: "ua", Closed: true, Mapping: []byte(`{"properties":{"x":{"type":"date"}}}`), Sort: []string{"x"},
				Analyzers: []string{"default", "mine"},
				Aliases:   []Membership{{Alias: "f", Filter: []byte(`{"term":{"x":"<"}}`), IndexRouting: "1", SearchRouting: "1,2"}, {Alias: "h", Hidden: true}}},
			{Name: "b", Hidden: true, Mapping: []byte(`{}`), Aliases: []Membership{{Alias: "f"}}},
			{Name: ".ds-s-2", Mapping: []byte(`{}`)}, {Name: ".ds-s-1", Mapping: []byte(`{}`)},
		},
		DataStreams: []DataStream{{Name: "s", Hidden: true, Indices: []string{".ds-s-2", ".ds-s-1"}}},
	}
	complete(t, contents.Indices[0], contents.Indices[1])
	complete(t, contents.Indices[0].Aliases[0], contents.Indices[0].Aliases[1])
	complete(t, contents.DataStreams[0])
	first, err := New(contents, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := first.Save(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	second, err := Load(&out)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if !second.SameNames(first) || !second.FetchedAt.Equal(first.FetchedAt) || second.Term != 2 || second.Version != 7 {
		t.Errorf("got another state back from\n%s", text)
	}
	if x, _ := second.Index("a"); string(x.Aliases[0].Filter) == "" || x.Aliases[0].SearchRouting != "1,2" {
		t.Errorf("got index %+v", x)
	}
	var again bytes.Buffer
	if err := second.Save(&again); err != nil || again.String() != text {
		t.Errorf("saved again it is %s, %v; want\n%s", again.String(), err, text)
	}
}

// complete fails if a field of their type is empty in all examples: it would be lost unseen.
func complete[T any](t *testing.T, examples ...T) {
	t.Helper()
	typ := reflect.TypeFor[T]()
	for i := range typ.NumField() {
		if !slices.ContainsFunc(examples, func(x T) bool { return !reflect.ValueOf(x).Field(i).IsZero() }) {
			t.Errorf("no example has %s of %s", typ.Field(i).Name, typ)
		}
	}
}

func TestSavedRefused(t *testing.T) {
	var none State
	if err := none.Save(&bytes.Buffer{}); err == nil {
		t.Error("a state of which nothing is known was saved")
	}
	const engine = `"engine": {"distribution": "opensearch", "version": "2.19.4"}`
	f := func(text, want string) {
		t.Helper()
		if _, err := Load(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v; want an error with %q", text, err, want)
		}
	}
	f(``, "cannot read the saved state")
	f(`{}`, "guard_state is 0")
	f(`{"guard_state": 2, `+engine+`}`, "guard_state is 2")
	f(`{"guard_state": 1}`, "distribution")
	f(`{"guard_state": 1, `+engine+`, "index": []}`, "unknown field")
	f(`{"guard_state": 1, `+engine+`} {}`, "something follows it")
	f(`{"guard_state": 1, `+engine+`, "indices": [{"name": "a"}, {"name": "a"}]}`, `"a" is an index and an index`)
	f(`{"guard_state": 1, `+engine+`, "data_streams": [{"name": "s", "indices": ["b"]}]}`, `unknown index "b"`)
	f(`{"guard_state": 1, "engine": {"distribution": "x", "version": "1.0"}}`, "want opensearch or elasticsearch")
	f(`{"guard_state": 1, "engine": {"distribution": "opensearch", "version": "1"}}`, "want a number such as")
}
