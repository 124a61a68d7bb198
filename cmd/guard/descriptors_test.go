package main

import (
	"math"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// TestFitDescriptors: clients never get the descriptors that the cluster is reached by,
// and guard says so if they get fewer than was set.
func TestFitDescriptors(t *testing.T) {
	f := func(limit uint64, want int) {
		t.Helper()
		c := sampleConfig("")
		c.Upstream.URLs, c.Upstream.MaxConns, c.Limits.MaxConnections = []string{"a", "b"}, 100, 1000
		core, logs := observer.New(zap.InfoLevel)
		fitDescriptors(c, limit, zap.New(core))
		if c.Limits.MaxConnections != want || (logs.Len() == 1) != (want < 1000) {
			t.Errorf("limit %d: %d connections of clients, %d records; want %d, and a record if that is less than 1000", limit, c.Limits.MaxConnections, logs.Len(), want)
		}
	}
	f(math.MaxUint64, 1000)
	f(spareDescriptors+200+1000, 1000)
	f(spareDescriptors+200+999, 999)
	f(spareDescriptors+200, 1)
	f(10, 1)
}
