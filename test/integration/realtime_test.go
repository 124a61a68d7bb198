package integration_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestRealtime: a document read by id is the one that was written last, refreshed or
// not, also where a document rule has to be asked.
func TestRealtime(t *testing.T) {
	node := shared(t)
	guard := inFront(t, node).Client
	t.Cleanup(func() { apply(t, node, "DELETE /orders-rt") })
	apply(t, node, `PUT /orders-rt {"settings":{"refresh_interval":"1h"},"mappings":{"properties":{"tenant":{"type":"keyword"}}}}`)

	const get, source, mget = "GET /orders-rt/_doc/1", "GET /orders-rt/_source/1", "POST /orders-rt/_mget"
	const found, missing = "200 orders-rt/1 fields=n,tenant", "404 orders-rt/1 not found"
	state := func(wantGet, wantSource, wantMget string) {
		t.Helper()
		wants(t, guard, "dls", get, "", wantGet)
		wants(t, guard, "dls", source, "", wantSource)
		wants(t, guard, "dls", mget, `{"ids":["1"]}`, "200 | "+strings.TrimPrefix(strings.TrimPrefix(wantMget, "200 "), "404 "))
	}
	state(missing, "404 resource_not_found_exception", missing)
	apply(t, node, `PUT /orders-rt/_doc/1 {"tenant":"red","n":1}`) // never refreshed
	state(found, `200 {"n":1,"tenant":"red"}`, found)
	apply(t, node, `PUT /orders-rt/_doc/1 {"tenant":"blue","n":2}`)
	state(missing, "404 resource_not_found_exception", missing)
	apply(t, node, `PUT /orders-rt/_doc/1 {"tenant":"red","n":3}`)
	state(found, `200 {"n":3,"tenant":"red"}`, found)
	apply(t, node, `DELETE /orders-rt/_doc/1`)
	state(missing, "404 resource_not_found_exception", missing)

	// What the user creates through guard is there as well.
	wants(t, guard, "dls", "PUT /orders-rt/_create/1", `{"tenant":"red","n":4}`, `201 {"_id":"1","_index":"orders-rt","result":"created"}`)
	state(found, `200 {"n":4,"tenant":"red"}`, found)
}

// TestMgetOrder: one item for each that was asked for, in the order asked, whatever
// is refused, hidden or missing among them.
func TestMgetOrder(t *testing.T) {
	node := shared(t)
	guard := inFront(t, node).Client
	var items, wanted []string
	for i := range 60 {
		index := []string{"orders-eu", "orders-us", "hr-2026"}[i%3]
		id := fmt.Sprint(1 + i%5)
		items = append(items, fmt.Sprintf(`{"_index":%q,"_id":%q,"_source":["tenant"]}`, index, id))
		switch key := index + "/" + id; key {
		case "orders-eu/1", "orders-eu/3", "orders-us/1":
			wanted = append(wanted, key+" fields=tenant")
		default:
			if index == "hr-2026" {
				key += " security_exception [indices:data/read/mget[shard]]"
			} else {
				key += " not found"
			}
			wanted = append(wanted, key)
		}
	}
	wants(t, guard, "dls", "POST /_mget", `{"docs":[`+strings.Join(items, ",")+`]}`, "200 | "+strings.Join(wanted, " | "))
}
