// Package plugin makes worlds of policies, indices and requests by chance, from a
// fixed seed, and holds that guard before an open node answers what a node of the
// same version with the security plugin does: the same verdict, the same documents,
// names and fields, the same shape of an error. Whatever differs is found by a rule
// that has a name and a reason, or is a fault.
//
// A run looks at one small world of each version. A long one finds more:
//
//	go test ./test/plugin -run TestPlugin -v -timeout 4h -seed 8 -worlds 20 -requests 1000
package plugin
