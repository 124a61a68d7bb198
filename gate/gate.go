// Package gate answers one question: what happens to this request? It is pure: no
// sockets, no clock. Plan reads one Snapshot and returns exactly one Outcome; serve,
// explain, tests and benchmarks all call it, and none has a second way to decide.
package gate
