package indexresolver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/indexresolver"
)

// TestOrder holds by what an index is known to keep its documents in order: it errs
// towards an order.
func TestOrder(t *testing.T) {
	const plain, timed = `{"properties":{"a":{"type":"long"}}}`, `{"properties":{"@timestamp":{"type":"date"}}}`
	f := func(e indexresolver.Engine, mapping string, sort []string, want indexresolver.Order) {
		t.Helper()
		c := world()
		c.Engine = e
		c.Indices[0].Mapping, c.Indices[0].Sort = []byte(mapping), sort
		first := mustNew(t, c)
		next, err := indexresolver.New(c, first) // takes mappings over
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*indexresolver.State{first, next} {
			if diff := cmp.Diff(want, s.Order(c.Indices[0].Name)); diff != "" {
				t.Errorf("%v %s sorted by %q (-want +got):\n%s", e, mapping, sort, diff)
			}
		}
	}
	opensearch := indexresolver.Engine{Distribution: indexresolver.OpenSearch, Major: 2, Minor: 19}
	f(opensearch, plain, nil, indexresolver.Order{})
	f(opensearch, timed, nil, indexresolver.Order{Newest: true})
	f(opensearch, timed, []string{"a", "b"}, indexresolver.Order{Fields: []string{"a", "b"}})
	f(indexresolver.Engine{Distribution: indexresolver.Elasticsearch, Major: 7, Minor: 10}, timed, nil, indexresolver.Order{})
	f(indexresolver.Engine{Distribution: indexresolver.Elasticsearch, Major: 8, Minor: 1}, timed, nil, indexresolver.Order{Newest: true})
	f(indexresolver.Engine{}, timed, nil, indexresolver.Order{Newest: true})

	var none *indexresolver.State
	for _, name := range []string{"nosuch", "al"} {
		if got := mustNew(t, world()).Order(name); got.Newest || got.Fields != nil || none.Order(name).Newest {
			t.Errorf("%s, which is no index, has the order %v", name, got)
		}
	}
}
