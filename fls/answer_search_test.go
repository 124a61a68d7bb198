package fls

import (
	"strings"
	"testing"
)

// TestSearchShares holds that Search is AppendSearch, that it copies only what is
// shown in part, and that it never changes what it was given.
func TestSearchShares(t *testing.T) {
	a := twoIndices(t)
	f := func(shares bool, src string) {
		t.Helper()
		in := []byte(src)
		want, wantErr := a.AppendSearch(nil, in)
		got, _, err := a.Search(in)
		switch {
		case (err == nil) != (wantErr == nil) || string(got) != string(want):
			t.Errorf("%s became %s, %v; want %s, %v", src, got, err, want, wantErr)
		case string(in) != src:
			t.Errorf("%s was changed in place to %s", src, in)
		case err == nil && (&got[0] == &in[0]) != shares:
			t.Errorf("the result for %s shares its memory: %v; want %v", src, !shares, shares)
		}
	}
	hits := func(list string) string { return `{"took":1,"hits":{"hits":[` + list + `]}}` }
	f(true, hits(``))
	f(true, hits(`{"_index":"pub","_source":{"ssn":1},"fields":{"ssn":[1]},"_ignored":["ssn"]}`))
	f(true, hits(`{"_index":"hr","_source":{"name":"a","tags":[]},"highlight":{"name":["x"]}}`))
	f(true, " "+hits(`{"_index":"pub"}`)+"\n")
	f(false, hits(`{"_index":"hr","_source":{"ssn":1}}`))
	f(false, hits(`{"_index":"pub","_source":{"ssn":1}},{"_index":"hr","_source":{"name":"a","ssn":1}}`))
	f(false, hits(`{"_index":"hr","_source":{"dependents":[{"ssn":1},{"ssn":2}]},"fields":{"ssn":[1]}}`))
	f(false, hits(`{"_index":"hr","_ignored":["ssn"]}`))
	f(false, hits(`{"_index":"other"}`))
	f(false, hits(`{"_index":"hr","_source":{"name":"a"}}`)+"x")
	f(false, `{"hits":`)
}

// TestSearchTellsFailures holds which answers may repeat the query that ran: no text
// of a shard or cluster is missed, however its key is spelled.
func TestSearchTellsFailures(t *testing.T) {
	a := twoIndices(t)
	f := func(want bool, head string) {
		t.Helper()
		for _, src := range []string{`{` + head + `,"hits":{"hits":[]}}`, `{"hits":{"hits":[{"_index":"pub","_source":{"failures":["x"]}}]},` + head + `}`} {
			_, got, err := a.Search([]byte(src))
			if err != nil || got != want {
				t.Errorf("%s: failures %v, %v; want %v", src, got, err, want)
			}
		}
	}
	f(false, `"took":1`)
	f(false, `"_shards":{"total":5,"successful":5,"skipped":3,"failed":0}`)
	f(false, `"_shards":{ }`)
	f(true, `"_shards":{"total":2,"failed":1,"failures":[{"reason":{"reason":"x"}}]}`)
	f(true, `"_shards":{"total":2,"\u0066ailures":[]}`)
	f(true, `"\u005fshards":{"failures":[{}]}`)
	f(true, `"_shards":{"total":2,"later":{"failures":[]}}`)
	f(true, `"_shards":{"total":"the query"}`)
	f(true, `"_clusters":{"total":1,"details":{"a":{"failures":[{}]}}}`)
	f(false, `"_clusters":{"total":1,"successful":1,"skipped":0}`)
	f(true, `"error":{"reason":"x"},"status":500`)

	if _, _, err := a.Search([]byte(`{"_shards":"x"}`)); err == nil || !strings.Contains(err.Error(), "found no '{'") {
		t.Errorf("shards that are no object: %v; want an error", err)
	}
}

// TestCutTotal holds that no more is told of the total of a search than was asked, and
// that the totals of inner hits stay.
func TestCutTotal(t *testing.T) {
	f := func(most int64, answer, want string) {
		t.Helper()
		a := Answer{Visible: func([]byte) *Projection { return ShowEverything() }, Default: ShowEverything(), CutTotal: true, TotalMost: most}
		got, _, err := a.Search([]byte(answer))
		if err != nil || string(got) != want {
			t.Errorf("%s, at most %d: %s, %v; want %s", answer, most, got, err, want)
		}
	}
	const rest = `,"max_score":null,"hits":[]}}`
	f(-1, `{"hits":{"total":{"value":3,"relation":"eq"}`+rest, `{"hits":{"max_score":null,"hits":[]}}`)
	f(-1, `{"hits":{"total":3`+rest, `{"hits":{"total":-1`+rest)
	f(4, `{"hits":{"total":{"value":3,"relation":"eq"}`+rest, `{"hits":{"total":{"value":3,"relation":"eq"}`+rest)
	f(3, `{"hits":{"total":{"value":3,"relation":"eq"}`+rest, `{"hits":{"total":{"value":3,"relation":"gte"}`+rest)
	f(0, `{"hits":{"total":{"value":0,"relation":"eq"}`+rest, `{"hits":{"total":{"value":0,"relation":"gte"}`+rest)
	f(2, `{"hits":{"total":{"value":30,"relation":"eq"}`+rest, `{"hits":{"total":{"value":2,"relation":"gte"}`+rest)
	f(2, `{"hits":{"total":30`+rest, `{"hits":{"total":30`+rest)
	f(2, `{"hits":{"hits":[{"_index":"i","inner_hits":{"x":{"hits":{"total":{"value":9,"relation":"eq"},"hits":[]}}}}]}}`,
		`{"hits":{"hits":[{"_index":"i","inner_hits":{"x":{"hits":{"total":{"value":9,"relation":"eq"},"hits":[]}}}}]}}`)
}

// TestEarlyEnd holds that no answer tells whether the cluster ended a search early.
func TestEarlyEnd(t *testing.T) {
	a := Answer{Visible: func([]byte) *Projection { return ShowEverything() }, Default: ShowEverything()}
	got, _, err := a.Search([]byte(`{"took":1,"terminated_early":true,"hits":{"hits":[]}}`))
	if want := `{"took":1,"hits":{"hits":[]}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
