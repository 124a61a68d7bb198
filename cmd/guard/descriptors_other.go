//go:build !unix

package main

import "math"

// descriptorLimit is that of Unix; elsewhere there is none to fit into.
func descriptorLimit() uint64 { return math.MaxUint64 }
