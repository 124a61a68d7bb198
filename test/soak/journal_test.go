package soak

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"guard/test/testbed"
)

// end is how a write ended for its client (law 13).
type end uint8

const (
	unknown      end = iota // zero value: it may be there or not
	acknowledged            // it has to be there
	refused                 // it must not be there
)

// journal holds what each write of the run ended as, by its mark, which the document
// carries as n: no two writes have the same.
type journal struct {
	mu   sync.Mutex // guards all below
	ends map[string]end
}

func (j *journal) note(e end, marks ...string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ends == nil {
		j.ends = map[string]end{}
	}
	for _, m := range marks {
		j.ends[m] = e
	}
}

// counts returns how many writes ended in each way.
func (j *journal) counts() (n [3]int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.ends {
		n[e]++
	}
	return n
}

// check compares the journal with what the index holds: every acknowledged write is
// there, none that was refused is, and none twice.
func (j *journal) check(t *testing.T, node *testbed.Node, index string) {
	t.Helper()
	there := marks(t, node, index)
	j.mu.Lock()
	defer j.mu.Unlock()
	faults := 0
	for mark, e := range j.ends {
		n := there[mark]
		if e == acknowledged && n != 1 || e == refused && n != 0 || n > 1 {
			if faults++; faults <= 10 {
				t.Errorf("%s: write %s ended as %d and is there %d times", index, mark, e, n)
			}
		}
		delete(there, mark)
	}
	for mark, n := range there {
		t.Errorf("%s: %d documents of a write %q that nobody made", index, n, mark)
	}
	if faults > 10 {
		t.Errorf("%s: %d faults in all", index, faults)
	}
}

// marks reads how many documents of the index carry each mark, and counts a document
// that was written more than once as often.
func marks(t *testing.T, node *testbed.Node, index string) map[string]int {
	t.Helper()
	node.Must(t, "POST", "/"+index+"/_refresh", "")
	there := map[string]int{}
	page := node.Must(t, "POST", "/"+index+"/_search?scroll=2m&version=true", `{"size":5000,"sort":["_doc"]}`).Body
	for {
		var got struct {
			Scroll string `json:"_scroll_id"`
			Hits   struct {
				Hits []struct {
					Version int                `json:"_version"`
					Source  struct{ N string } `json:"_source"`
				}
			}
		}
		if err := json.Unmarshal(page, &got); err != nil {
			t.Fatalf("cannot read %s: %v", index, err)
		}
		for _, h := range got.Hits.Hits {
			there[h.Source.N] += h.Version
		}
		if len(got.Hits.Hits) == 0 {
			node.Must(t, "DELETE", "/_search/scroll", fmt.Sprintf(`{"scroll_id":%q}`, got.Scroll))
			return there
		}
		page = node.Must(t, "POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"2m","scroll_id":%q}`, got.Scroll)).Body
	}
}
