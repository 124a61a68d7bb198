package main

import (
	"math"
	"runtime/debug"

	"guard/config"
)

// baseMemory is what guard needs beside the bytes of requests: policy, state, views.
const baseMemory = 256 << 20 // 256 MiB

// gcPercent lets the heap grow to five times what is in use before it is collected: what
// is in use is small, so that it would be collected every few dozen requests otherwise.
const gcPercent = 400

// collector is how the garbage collector keeps up with the bytes that requests may hold.
// What is 0 is as the runtime has it.
type collector struct {
	limit   int64 // bytes of memory past which it collects whatever the percentage says
	percent int   // garbage beside what is in use
}

// collectorFor returns what guard sets, unless the environment has its own wishes
// (GOMEMLIMIT, GOGC). The percentage is safe only below the limit: without guard's limit
// it stays as it is.
func collectorFor(l config.Limits, getenv func(string) string) collector {
	if getenv("GOMEMLIMIT") != "" {
		return collector{}
	}
	c := collector{limit: math.MaxInt64}
	if half := l.MaxInFlight / 2; l.MaxInFlight <= math.MaxInt64-half-baseMemory {
		c.limit = l.MaxInFlight + half + baseMemory
	}
	if getenv("GOGC") == "" {
		c.percent = gcPercent
	}
	return c
}

// use sets it for this process.
func (c collector) use() {
	if c.limit != 0 {
		debug.SetMemoryLimit(c.limit)
	}
	if c.percent != 0 {
		debug.SetGCPercent(c.percent)
	}
}
