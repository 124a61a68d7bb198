// Package conformance runs the REST tests that the makers of an engine wrote, twice on
// a bare node and once through guard as somebody who may do everything: no outcome
// and no answer may differ but in what differs between two runs on the node itself.
package conformance
