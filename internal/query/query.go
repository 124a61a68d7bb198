// Package query knows where a search can name a field, an index, a script or
// another query, and re-emits a search so that only what its Rules permit can be
// reached. It holds the tables (clauses, aggregations, body keys, parameters) and
// the one walker over them; a construct that has no row is refused by name.
//
// Nothing of a client's text is copied raw: every key comes from a table or is a
// name the client may choose, every value is printed again token by token. dls
// and fls say what is permitted and own no parser.
package query

import (
	"fmt"
	"slices"

	"guard/internal/esjson"
)

// Filter is a document rule as canonical JSON of one query. The zero value shows
// no document, so a forgotten filter cannot show any.
type Filter string

// The filters that are no JSON.
const (
	None Filter = ""  // zero value: nothing matches
	Free Filter = "*" // no document rule applies
)

// matchNone is what None stands for in a body.
const matchNone = `{"match_none":{}}`

// JSON returns the query that f stands for. It must not be asked of Free.
func (f Filter) JSON() string {
	if f == None {
		return matchNone
	}
	return string(f)
}

// Rules is what a restriction means for one search. A principal without document
// and field rules, who is not unrestricted either, has Rules{Filter: Free}: what
// is unknown or reads another index is refused all the same.
type Rules struct {
	Filter Filter // placed in filter context wherever documents are chosen
	Fields Fields // nil: every field is visible

	// NamesOnly tells that Filter keeps out indices that the names of the request could
	// come to mean, and hides no document of those that were asked. What such a filter
	// does not bind is refused as under a document rule: it would show the others.
	NamesOnly bool

	// SourceIncludes and SourceExcludes are patterns added to the _source option of
	// hits, inner hits and top hits: the request side of the field filter. They do
	// nothing without Fields.
	SourceIncludes, SourceExcludes []string

	Mapped Mapped // nil: every index has every field, of whatever type
	Seed   int64  // of a random order, where the client gives none

	// Computed are the fields of the indices that scripts compute. Under a document rule
	// no clause may mean one: see oracle.go.
	Computed []string

	// Thinned are the texts of the indices of whose words the clusters load those that are
	// neither rare nor frequent. Under a document rule nothing may read them: see oracle.go.
	Thinned []string

	Order Order // what the order tells in which shards keep their documents

	// Sorts is set by AppendSearch: what of the sorts of hits is to be told, where the
	// cluster was asked for another order than the client asked for.
	Sorts Sorts

	// Total is set by AppendSearch: what of the total of the hits is to be told, where the
	// cluster was asked for more than the client.
	Total Total

	// All, if it is set, counts what all searches of a request take together.
	All *Spent

	// Replaced, if it is set, takes the names that were replaced by stand-ins: what the
	// cluster says of stand-ins has to be told with the client's own names.
	Replaced *Names
}

// Spent counts what the searches of one request take, those that are refused in the end
// too. A bound on each of them is none on a body that holds thousands.
type Spent struct{ patterns, grown int }

// Total says what is told of the total of the hits of a search. The zero value is: all.
type Total struct {
	Cut  bool
	Most int64 // up to so many are counted; below 0 there is no total
}

// Mapped knows the mappings of the indices of the request.
type Mapped interface {
	// Mapped reports whether some and whether all indices have a field, objects apart,
	// that a name or pattern means.
	Mapped(name string) (some, all bool)
	// Positions reports whether a field, written out, is a text that keeps the places of
	// its words in each index that has it.
	Positions(name string) bool
	// Content tells what the indices that have a field, written out, keep of its values;
	// analyser is what reads the text that is looked for, if a clause names one.
	Content(name, analyser string) Content
}

// Content is what an index keeps of the values of a field, and so what a clause becomes there.
type Content uint8

// The contents of fields.
const (
	Unsure   Content = iota // zero value: another content, or different ones in different indices
	Nothing                 // no index has the field
	Words                   // the words of a text; one that is looked for stays one word
	Analysed                // the words of a text that is read in another way
	Terms                   // each value as one term
	Values                  // no terms to choose from, but none of numbers
	Points                  // numbers, dates and addresses
)

// Fields answers what a field rule shows, of metadata as well: see [Nameable].
type Fields interface {
	// Field tells how name is seen: a leaf, a multi-field, a field alias, an object or
	// a nested path, by its full dotted name without wildcards. What is not plain is
	// absent, see [IsPlain].
	Field(name string, use Use) Sight

	// Expand lists the visible leaf fields of plain names that match a pattern, sorted and without
	// repeats, as far as the cluster would take them for this use. If the answer
	// differs between the groups of indices of the request and use cannot bear that,
	// mixed names one field that differs.
	Expand(pattern string, use Use) (fields []string, mixed string)

	// StandIn is a name that surely no index of the request has, neither for a field nor
	// for an object. It replaces a hidden one, so that the cluster itself shows how it
	// treats a field that does not exist (law 7); more of them stand below it.
	StandIn() string
}

// Use is what a field is named for.
type Use uint8

// The uses of a field.
const (
	Match     Use = iota // in a query clause; a pattern names what a text can be searched in
	Rank                 // in sort, collapse or an aggregation, and a pattern of exists: any type
	Fetch                // doc values, stored fields and fields of a hit
	Highlight            // highlighting of a hit
	Path                 // as the path of a nested clause, sort or aggregation
	Source               // a part of the source: what an index hides is cut from its answer
)

// Sight is how a field is seen under a rule.
type Sight uint8

// The sights of a field.
const (
	Absent  Sight = iota // zero value: hidden or unmapped, there is no difference
	Visible              // a leaf that may be used, or a path with something visible below
	Object               // no leaf: an object with something visible below
	Mixed                // visible in some indices of the request and hidden in others
)

// Refusal says which construct of a search is not possible, where it stands and
// why. It becomes a 403, or a 400 if the value is to blame.
type Refusal struct {
	Path      string // query.bool.must[2].has_child
	Construct string // has_child
	Why       string
	// NotBuilt tells that the construct is understood and support for it is missing:
	// in a role's query it is no mistake of its author.
	NotBuilt bool
	// BadValue tells that no rule is in the way: the value means nothing here.
	BadValue bool
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("[%s] at %s is refused: %s", r.Construct, r.Path, r.Why)
}

func refuse(v esjson.Value, construct, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	return &Refusal{Path: v.Path(), Construct: quoteLimit(construct), Why: why, NotBuilt: slices.Contains(notBuiltReasons, why)}
}

// badValue refuses a value that would be refused whatever the rules are.
func badValue(v esjson.Value, construct, want string) error {
	why := "found " + v.Kind().String() + ", " + want
	if !v.Is(esjson.Object) && !v.Is(esjson.Array) {
		why = "found " + quoteLimit(string(v.Raw())) + ", " + want
	}
	return &Refusal{Path: v.Path(), Construct: quoteLimit(construct), Why: why, BadValue: true}
}

// maxNamed bounds the part of a client's key that a refusal repeats.
const maxNamed = 80

func quoteLimit(s string) string {
	if len(s) > maxNamed {
		return s[:maxNamed] + "..."
	}
	return s
}
