// Package querystring reads the syntax of query_string and q= as clusters read it, and
// prints a text again with each field that it names replaced by what may be seen of
// it. What it does not understand, or what two versions of the syntax understand
// differently, is refused: a text is never forwarded with a field that was not judged.
//
// The syntax is that of Lucene's classic query parser with what OpenSearch and
// Elasticsearch add: patterns of fields, _exists_, and comparisons as in age:>=10.
//
// A text finds what it would find in an index of the visible fields alone. Its scores
// are the same too, but for a pattern that stands for several fields: the cluster takes
// the best of them, and of the disjunction that is sent their sum.
package querystring

import "fmt"

// Names tells what the fields of a text stand for.
type Names interface {
	// Field returns what is forwarded for name, which is no pattern. An object with
	// something visible below it is no field of its own: shown is empty.
	Field(name string) (shown string, object bool, err error)

	// Expand lists the visible fields that pattern matches: those that a text is searched
	// in, or for existing those whose existence can be asked for.
	Expand(pattern string, existing bool) ([]string, error)

	// StandIn returns a name that no index has, to be asked for in place of name.
	StandIn(name string) string
}

// Options say what stands around a text.
type Options struct {
	// Default is the field of terms without one, if it is a pattern or an object: "*" for
	// all fields. Those that are searched by a list or in one field have none: their terms
	// mean the same wherever they are searched.
	Default string

	// One tells that a term must stay one clause: a pattern of fields, which becomes a
	// disjunction, would be counted or weighed otherwise.
	One bool

	// Limit is the most bytes that the result may have.
	Limit int
}

// Error says why a text is refused.
type Error struct {
	Offset int    // in bytes
	Msg    string // what was found or wanted there
	// Syntax tells that clusters do not understand the text either.
	Syntax bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("cannot read the text at byte %d: %s", e.Offset, e.Msg)
}

func fail(offset int, format string, args ...any) error {
	return &Error{Offset: offset, Msg: fmt.Sprintf(format, args...), Syntax: true}
}

func unsupported(offset int, msg string) error { return &Error{Offset: offset, Msg: msg} }

// Rewrite returns text with the fields that it names as names shows them. Any error is
// an *Error or comes from names.
func Rewrite(text string, names Names, o Options) (string, error) {
	tokens, err := lex(text)
	if err != nil {
		return "", err
	}
	p := parser{tokens: tokens}
	q, err := p.top()
	if err != nil {
		return "", err
	}
	pr := printer{names: names, Options: o}
	if err := pr.query(q, scope{}); err != nil {
		return "", err
	}
	return string(pr.out), nil
}
