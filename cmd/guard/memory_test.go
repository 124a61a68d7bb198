package main

import (
	"math"
	"testing"

	"guard/config"
)

// TestCollector: the heap may grow by more than the runtime's share of garbage only where
// guard's own limit bounds it, and what the environment says stands.
func TestCollector(t *testing.T) {
	f := func(inFlight int64, goMemLimit, goGC string, want collector) {
		t.Helper()
		env := map[string]string{"GOMEMLIMIT": goMemLimit, "GOGC": goGC}
		got := collectorFor(config.Limits{MaxInFlight: inFlight}, func(name string) string { return env[name] })
		if got != want {
			t.Errorf("GOMEMLIMIT=%q GOGC=%q: got %+v; want %+v", goMemLimit, goGC, got, want)
		}
	}
	const mib = 1 << 20
	f(512*mib, "", "", collector{limit: 1024 * mib, percent: 400})
	f(512*mib, "", "50", collector{limit: 1024 * mib})
	f(512*mib, "", "off", collector{limit: 1024 * mib})
	f(512*mib, "off", "", collector{})
	f(512*mib, "2GiB", "", collector{})
	f(512*mib, "2GiB", "50", collector{})
	f(math.MaxInt64, "", "50", collector{limit: math.MaxInt64}) // and not what the sum overflows to
}
