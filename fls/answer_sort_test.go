package fls

import (
	"testing"

	"guard/internal/query"
)

// TestSorts holds what is told of the sorts of hits where the cluster was asked to sort by
// more than the client asked for.
func TestSorts(t *testing.T) {
	f := func(s query.Sorts, answer, want string) {
		t.Helper()
		a := Answer{Visible: func([]byte) *Projection { return ShowEverything() }, Default: ShowEverything(), Sorts: s}
		for _, src := range []string{answer, want} { // what was told is told again
			got, _, err := a.Search([]byte(src))
			if err != nil || string(got) != want {
				t.Errorf("%+v: %s became %s, %v; want %s", s, src, got, err, want)
			}
		}
	}
	hit := func(sort string) string { return `{"hits":{"hits":[{"_index":"i","_id":"1"` + sort + `}]}}` }
	f(query.Sorts{}, hit(`,"sort":[1,2]`), hit(`,"sort":[1,2]`))
	f(query.Sorts{Cut: true}, hit(`,"sort":[7]`), hit(``))
	f(query.Sorts{Cut: true, Shown: 1}, hit(`,"sort":["a",7]`), hit(`,"sort":["a"]`))
	f(query.Sorts{Cut: true, Shown: 2}, hit(`,"sort":[ null , "b" , 7 ]`), hit(`,"sort":[ null , "b" ]`))

	// Hits in hits: by their names, and only those of the search have the inner hits of a collapse.
	inner := func(name, sort string) string {
		return hit(`,"inner_hits":{"` + name + `":` + hit(sort) + `}`)
	}
	f(query.Sorts{Cut: true, Shown: 1}, inner("x", `,"sort":[1,2]`), inner("x", `,"sort":[1,2]`))
	f(query.Sorts{Inner: map[string]int{"x": 1}}, inner("x", `,"sort":[1,2]`), inner("x", `,"sort":[1]`))
	f(query.Sorts{Inner: map[string]int{"x": 0}}, inner("y", `,"sort":[1,2]`), inner("y", `,"sort":[1,2]`))
	deep := hit(`,"inner_hits":{"y":` + inner("x", `,"sort":[1,2]`) + `}`)
	f(query.Sorts{Inner: map[string]int{"x": 1}}, deep, deep)

	top := func(sort string) string {
		return `{"aggregations":{"a":{"buckets":[{"key":"t","t":` + hit(sort) + `,"u":` + hit(`,"sort":[1,2]`) + `}]}}}`
	}
	f(query.Sorts{Top: map[string]int{"t": 1}}, top(`,"sort":[1,2]`), top(`,"sort":[1]`))
	f(query.Sorts{Top: map[string]int{"t": 0, "a": 1}}, top(`,"sort":[1,2]`), top(``))
	f(query.Sorts{Top: map[string]int{"hits": 0}}, `{"aggregations":{"top_hits#hits":`+hit(`,"sort":[1]`)+`,"t":`+hit(`,"sort":[1]`)+`}}`,
		`{"aggregations":{"top_hits#hits":`+hit(``)+`,"t":`+hit(`,"sort":[1]`)+`}}`)

	// The score that all hits have stands where the cluster does not say it.
	flat := query.Sorts{Cut: true, Score: "1.0"}
	f(flat, `{"hits":{"total":{"value":2,"relation":"eq"},"max_score":null,"hits":[{"_index":"i","_score":null,"sort":[1]}]}}`,
		`{"hits":{"total":{"value":2,"relation":"eq"},"max_score":1.0,"hits":[{"_index":"i","_score":1.0}]}}`)
	f(flat, "{\"hits\" : {\"max_score\" : null,\n  \"hits\" : [\n {\"_index\":\"i\"}]}}", "{\"hits\" : {\"max_score\" : 1.0,\n  \"hits\" : [\n {\"_index\":\"i\"}]}}")
	f(flat, `{"hits":{"total":20,"max_score":null,"hits":[]}}`, `{"hits":{"total":20,"max_score":1.0,"hits":[]}}`) // of another page
	f(flat, `{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}`, `{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}`)
	f(flat, `{"hits":{"max_score":null,"hits":[]}}`, `{"hits":{"max_score":null,"hits":[]}}`)
	f(flat, inner("x", `,"_score":null`), inner("x", `,"_score":null`))
}
