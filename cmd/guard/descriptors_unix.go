//go:build unix

package main

import (
	"math"
	"syscall"
)

// descriptorLimit returns how many descriptors the process may have.
func descriptorLimit() uint64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return math.MaxUint64 // not known: nothing to fit into
	}
	return uint64(l.Cur) //nolint:unconvert // signed on some systems
}
