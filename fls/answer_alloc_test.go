//go:build !race

// The race detector makes pools drop what they hold, at random.

package fls

import "testing"

// TestAnswerAllocations holds that a pass over an answer costs no memory but that of the
// result.
func TestAnswerAllocations(t *testing.T) {
	f := func(what string, p *Projection, src []byte) {
		t.Helper()
		a := &Answer{KeepEmpty: true, Visible: func([]byte) *Projection { return p }}
		dst, err := a.AppendSearch(nil, src)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(50, func() { dst, _ = a.AppendSearch(dst[:0], src) }); n != 0 {
			t.Errorf("%s: AppendSearch allocates %v times per call; want 0", what, n)
		}
	}
	for name, src := range answers() {
		f(name+", nothing hidden", projection(t, "~nope ~person.nope"), src)
		f(name+", two fields hidden", projection(t, "~ssn ~person.passport"), src)
		f(name+", everything", ShowEverything(), src)
	}
}

// TestSearchAllocations holds that an answer which is shown whole costs no memory.
func TestSearchAllocations(t *testing.T) {
	a := twoIndices(t)
	for _, index := range []string{"hr", "pub"} {
		src := []byte(`{"took":3,"_shards":{"total":1,"failed":0},"hits":{"hits":[{"_index":"` + index + `","_id":"1","_source":{"name":"a","tags":["x"]}}]}}`)
		if n := testing.AllocsPerRun(200, func() { _, _, _ = a.Search(src) }); n != 0 {
			t.Errorf("Search of a hit of %s allocates %v times; want 0", index, n)
		}
	}
}
