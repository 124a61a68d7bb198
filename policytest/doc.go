// Package policytest answers one question: does a policy what its authors want? It plans
// requests of tests as serving would, on a saved state of a cluster, compares what becomes
// of them with what is wanted, and tells which entries of roles no test has used.
package policytest
