package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"guard/indexresolver"
)

// TestEqualMappingsAreKeptOnce: what stands in many indices is held once, also over readings,
// in whatever order a node gives its keys.
func TestEqualMappingsAreKeptOnce(t *testing.T) {
	c := newCluster(t)
	c.change(func() {
		for i := range 50 {
			name := fmt.Sprintf("i%d", i)
			c.put(name, "all")
			c.indices[name].Mapping = `{"_doc":{"properties":{"a":{"type":"long"}},"_meta":{"b":1, "a":"\u0062"}}}`
			if i%2 == 0 {
				c.indices[name].Mapping = `{"_doc":{"_meta":{"a":"b","b":1},"properties":{"a":{"type":"long"}}}}`
			}
			c.indices[name].Aliases["all"] = `{"filter":{"term":{"f":"x"}}}`
		}
	})
	r := reader{fetch: c}
	where := map[*byte]bool{}
	var old *indexresolver.State
	for range 2 {
		c.move()
		got, _, err := r.contents(t.Context(), nil, old)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got.Indices {
			if x.Name == "a" {
				continue
			}
			if want := `{"_meta":{"a":"b","b":1},"properties":{"a":{"type":"long"}}}`; string(x.Mapping) != want {
				t.Fatalf("index %q has the mapping %s; want %s", x.Name, x.Mapping, want)
			}
			where[unsafe.SliceData(x.Mapping)] = true
			if old == nil {
				where[unsafe.SliceData(x.Aliases[0].Filter)] = true
			}
		}
		if old, err = indexresolver.New(*got, old); err != nil {
			t.Fatal(err)
		}
	}
	if len(where) != 2 {
		t.Errorf("a mapping and a filter are held at %d places; want 2", len(where))
	}
}

// TestOddMappingsAreTheirOwnMatter: clusters take halves of surrogate pairs in names of
// fields. Who may write such a mapping must not blind guard for all indices.
func TestOddMappingsAreTheirOwnMatter(t *testing.T) {
	c := newCluster(t)
	c.change(func() {
		c.put("odd", "al")
		c.indices["odd"].Mapping = `{"_doc":{"properties":{"x\ud83dy":{"type":"keyword"}}}}`
		c.indices["odd"].Aliases["al"] = `{"filter":{"term":{"x\ud83dy":"\ud83d"}}}`
	})
	r := reader{fetch: c}
	got, _, err := r.contents(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range got.Indices {
		if x.Name == "odd" && (!strings.Contains(string(x.Mapping), `x\ud83dy`) || !strings.Contains(string(x.Aliases[0].Filter), `x\ud83dy`)) {
			t.Errorf("index odd is %s, %s", x.Mapping, x.Aliases[0].Filter)
		}
	}
	c.change(func() { c.indices["odd"].Mapping = `{"_doc":{"properties":{"x":tru}}}` })
	if _, _, err := r.contents(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), `index "odd": a mapping is no JSON`) {
		t.Errorf("a mapping that is no JSON: %v", err)
	}
}

// TestClusterWithoutIndices: the filter of the answer leaves out what is empty.
func TestClusterWithoutIndices(t *testing.T) {
	c := newCluster(t)
	c.change(func() { clear(c.indices) })
	c.answer = func(target string) (int, string, bool) {
		return 200, `{` + c.stamp() + `,"metadata":{"cluster_coordination":{"term":1}}}`, target == stateTarget
	}
	r := reader{fetch: c}
	got, _, err := r.contents(t.Context(), nil, nil)
	if err != nil || len(got.Indices) != 0 || got.Term != 1 {
		t.Errorf("%+v, %v; want no index", got, err)
	}
}

// TestAnswersThatEndEarly: a state that is cut is none.
func TestAnswersThatEndEarly(t *testing.T) {
	c := newCluster(t)
	whole := c.state()
	for n := range whole {
		c.answer = func(target string) (int, string, bool) { return 200, whole[:n], target == stateTarget }
		r := reader{fetch: c}
		if got, _, err := r.contents(t.Context(), nil, nil); err == nil || errors.Is(err, errUnsteady) {
			t.Fatalf("%s: %+v, %v; want an error", whole[:n], got, err)
		}
	}
}
