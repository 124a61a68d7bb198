package gate

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"guard/fls"
	"guard/internal/esjson"
	"guard/internal/query"
)

// TestTreatCost: what a treatment allocates in all is within a small factor of what was
// said before: a tape that grows by quarters drops four times what it is in the end.
func TestTreatCost(t *testing.T) {
	hit := `{"_index":"hr","_id":"1","_source":{"name":"x","nums":[1,2,3,4,5,6,7,8]}}`
	search := []byte(`{"took":1,"hits":{"total":{"value":1,"relation":"eq"},"hits":[` + hit + strings.Repeat(","+hit, 20_000) + `]}}`)
	bulk := []byte(`{"took":1,"errors":false,"items":[` + strings.TrimSuffix(strings.Repeat(`{"index":{"_index":"hr","_id":"1","status":201}},`, 20_000), ",") + `]}`)
	slots := make([]slot, 20_001)
	slots[7].refused = []byte(`{"index":{}}`)
	f := func(name string, tr Treatment, body []byte) {
		t.Helper()
		const slack = 64 << 10
		if took, most := allocated(t, tr, body), 5*TreatCost(tr, body)+slack; took > most {
			t.Errorf("%s of %d bytes took %d; want at most %d", name, len(body), took, most)
		}
	}
	everywhere := &fls.Answer{Visible: func([]byte) *fls.Projection { return everything }, Default: everything}
	f("a search", searchTreatment{answer: everywhere, told: told{filter: query.Free}}, search)
	count := []byte(`{"count":1,"_shards":{"total":1,"failures":[{}` + strings.Repeat(`,{"index":"hr","reason":{"type":"x","reason":"y"}}`, 20_000) + `]}}`)
	f("a count", countTreatment{told: told{filter: query.Free}}, count)
	f("a bulk of which nothing was refused", bulkTreatment{&slotted{key: "items", slots: make([]slot, 20_000), errors: true}}, bulk)
	f("a bulk of which something was refused", bulkTreatment{&slotted{key: "items", slots: slots, errors: true}}, bulk)
	if got, want := TreatCost(getTreatment{}, search), esjson.Cost(search); got != want {
		t.Errorf("a treatment that parses costs %d; want %d", got, want)
	}
}

// allocated returns the bytes that treating body allocates, at the least of three tries.
func allocated(t *testing.T, tr Treatment, body []byte) int64 {
	t.Helper()
	least := int64(1) << 62
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := tr.Treat(Answer{Status: 200, ContentType: jsonType, Body: bytes.Clone(body)}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, int64(after.TotalAlloc-before.TotalAlloc)-int64(len(body)))
	}
	return least
}
