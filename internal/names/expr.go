// Package names knows how names of indices are written and compared: expressions
// as clients send them, patterns as roles hold them, and sets of names. It never
// guesses: what it cannot read is an error.
package names

// Expr is one index expression as the client wrote it, without its commas:
// "logs-*", "-logs-secret", "<app-{now/d}>", "other:idx".
type Expr string

// Expand says which states of an index a wildcard may expand to. The zero value
// expands to nothing.
type Expand uint8

// The states of expand_wildcards, as a set.
const (
	ExpandOpen Expand = 1 << iota
	ExpandClosed
	ExpandHidden
	ExpandNone Expand = 0
	ExpandAll         = ExpandOpen | ExpandClosed | ExpandHidden
)

// Options are the index options of a request, after the endpoint's defaults.
type Options struct {
	Expand            Expand
	IgnoreUnavailable bool
	AllowNoIndices    bool
}
