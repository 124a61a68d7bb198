package query

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"guard/internal/esjson"
)

// TestBorrowedWalker holds that a walker which is given back knows nothing of its search, also
// where that was refused.
func TestBorrowedWalker(t *testing.T) {
	k := borrowWalker(&Rules{Filter: `{"term":{"a":1}}`})
	k.w.BeginObject()
	k.nested, k.parts, k.apart, k.aggregated, k.replaced = 3, 4, true, "a", &Names{}
	k.release()
	if !reflect.DeepEqual(*k, walker{}) {
		t.Errorf("a walker was given back with %+v", *k)
	}
}

// TestBorrowedApart holds that searches at the same time have nothing of each other, nor of
// refused ones before them.
func TestBorrowedApart(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 4 {
		body := fmt.Sprintf(`{"size":%d,"query":{"term":{"f%d":%d}}}`, i, i, i)
		rules := Rules{Filter: Filter(fmt.Sprintf(`{"term":{"rule":%d}}`, i))}
		want := fmt.Sprintf(`{"size":%d,"query":{"bool":{"must":[{"term":{"f%d":%d}}],"filter":[{"term":{"rule":%d}}]}}}`, i, i, i, i)
		wg.Go(func() {
			var tape, refused esjson.Tape
			v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
			if err != nil {
				t.Error(err)
				return
			}
			bad, err := esjson.Parse(&refused, []byte(`{"query":{"bool":{"must":[{"nosuch":{}}]}}}`), esjson.RequestLimits())
			if err != nil {
				t.Error(err)
				return
			}
			for range 300 {
				own := rules
				if out, err := AppendSearch(nil, bad, nil, &own); err == nil {
					t.Errorf("an unknown clause became %s", out)
				}
				if got, err := AppendSearch(nil, v, nil, &own); err != nil || string(got) != want {
					t.Errorf("%s became %s, %v; want %s", body, got, err, want)
				}
			}
		})
	}
	wg.Wait()
}
