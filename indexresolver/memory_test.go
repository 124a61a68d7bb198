package indexresolver_test

import (
	"fmt"
	"runtime"
	"testing"

	"guard/indexresolver"
)

// TestMemoryOfStates holds that a state keeps nothing of the facts that it does not share
// with those before it: births don't add up.
func TestMemoryOfStates(t *testing.T) {
	const indices, births = 2000, 40
	facts := func(born int) indexresolver.Contents {
		c := indexresolver.Contents{ClusterUUID: "c", Version: uint64(born)} //nolint:gosec // G115: counts from 0
		for i := range indices + born {
			c.Indices = append(c.Indices, indexresolver.Index{
				Name: fmt.Sprint("index-", i), UUID: fmt.Sprint("uuid-of-index-", i), Mapping: []byte(`{"properties":{"name":{"type":"text"},"region":{"type":"keyword"}}}`),
			})
		}
		return c
	}
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // G115: far below
	}
	empty := inUse()
	state := mustNew(t, facts(0))
	one := inUse() - empty
	for i := range births {
		state = mustNewFrom(t, facts(i+1), state)
	}
	if all := inUse() - empty; all > one*3/2 {
		t.Errorf("after %d births the state takes %d bytes; without any it took %d", births, all, one)
	}
	runtime.KeepAlive(state)
}
