// Package names knows how names of indices are written and compared: expressions
// as clients send them, and patterns as roles hold them. It never guesses: what it
// cannot read is an error.
package names

import (
	"fmt"
	"strings"
)

// Expr is one index expression as the client wrote it, without its commas:
// "logs-*", "-logs-secret", "<app-{now/d}>", "other:idx".
type Expr string

// Split cuts the text of a path segment or parameter at its commas, as the clusters
// do: date math is cut as well, empty parts at the end are dropped, others stay (and
// are refused later). Text of commas alone, like no text, gives none, which means
// all. Elements of a JSON array are expressions as they are and are never split.
func Split(text string) []Expr {
	text = strings.TrimRight(text, ",")
	if text == "" {
		return nil
	}
	exprs := make([]Expr, 0, strings.Count(text, ",")+1)
	for part := range strings.SplitSeq(text, ",") {
		exprs = append(exprs, Expr(part))
	}
	return exprs
}

// IsWildcard reports whether the clusters expand e. '?' is no wildcard in an
// expression: no name can hold it, so it names nothing.
func (e Expr) IsWildcard() bool { return strings.Contains(string(e), "*") }

// IsAll reports whether e means every index when it stands alone.
func (e Expr) IsAll() bool { return e == "_all" || e == "*" }

// IsDateMath reports whether e is computed from the clock: "<…>" as a whole. An
// exclusion "-<…>" is not, the clusters take it literally.
func (e Expr) IsDateMath() bool {
	return strings.HasPrefix(string(e), "<") && strings.HasSuffix(string(e), ">")
}

// Excluded returns what e excludes. It is an exclusion only behind a wildcard in
// the same list; elsewhere "-x" is an ordinary, impossible name.
func (e Expr) Excluded() (Expr, bool) {
	rest, ok := strings.CutPrefix(string(e), "-")
	return Expr(rest), ok
}

// Remote returns the parts of "cluster:index". Which clusters exist is not known
// here, so every colon outside date math counts, since no index name can hold one.
func (e Expr) Remote() (cluster, index string, ok bool) {
	if e.IsDateMath() {
		return "", "", false
	}
	return strings.Cut(string(e), ":")
}

// Selector returns what follows "::" in an expression: a component of a data stream
// on Elasticsearch 8.19 and later, an impossible name elsewhere.
func (e Expr) Selector() (selector string, ok bool) {
	_, selector, ok = strings.Cut(string(e), "::")
	return selector, ok
}

// Pattern returns e as a pattern over names, for comparison with granted patterns.
// It fails for what is no plain name or wildcard.
func (e Expr) Pattern() (Pattern, bool) {
	text := string(e)
	if e == "_all" {
		text = "*"
	}
	if text == "" || strings.ContainsAny(text, "?<>:,/") || text[0] == '-' || text[0] == '_' {
		return Pattern{}, false
	}
	return parseGlob(text), true
}

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

// ParseExpand reads the parts of a value of expand_wildcards in turn, as the clusters do:
// "none" takes back what stands before it. The error is the clusters' own text.
func ParseExpand(parts ...string) (Expand, error) {
	e := ExpandNone
	for _, part := range parts {
		switch part {
		case "open":
			e |= ExpandOpen
		case "closed":
			e |= ExpandClosed
		case "hidden":
			e |= ExpandHidden
		case "all":
			e = ExpandAll
		case "none":
			e = ExpandNone
		default:
			return ExpandNone, fmt.Errorf("No valid expand wildcard value [%s]", Clip(part)) //nolint:staticcheck // see above
		}
	}
	return e, nil
}

// String returns the value of expand_wildcards that means e, also to clusters whose "all"
// leaves hidden indices out.
func (e Expand) String() string {
	if e == ExpandNone {
		return "none"
	}
	var parts []string
	for _, s := range []struct {
		bit  Expand
		name string
	}{{ExpandOpen, "open"}, {ExpandClosed, "closed"}, {ExpandHidden, "hidden"}} {
		if e&s.bit != 0 {
			parts = append(parts, s.name)
		}
	}
	return strings.Join(parts, ",")
}

// Nothing reports whether wildcards expand to nothing at all. Hidden alone counts:
// it says what else to expand to, not what.
func (e Expand) Nothing() bool { return e&(ExpandOpen|ExpandClosed) == 0 }

// Options are the index options of a request, after the endpoint's defaults.
type Options struct {
	Expand            Expand
	IgnoreUnavailable bool
	AllowNoIndices    bool
	// IgnoreAliases is set for endpoints whose wildcards pass aliases over, such as the
	// deletion of an index.
	IgnoreAliases bool
	// IgnoreDataStreams is set for endpoints whose wildcards pass data streams over.
	IgnoreDataStreams bool
}
