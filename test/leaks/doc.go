// Package leaks attacks guard: it sends the cases of a catalogue of known ways round
// row, field and index rules through a real guard to a real node, and judges each
// answer. A case that tells what it must not is a leak, whatever its status.
//
// Conditions, places and verdicts are described in README.md.
package leaks
