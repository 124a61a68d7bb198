package names

import (
	"fmt"
	"strings"
)

// maxNameBytes is the clusters' limit.
const maxNameBytes = 255

// badCharacters cannot stand in the name of an index, alias or data stream; nor can
// '#' and ':', of which the clusters speak apart.
const badCharacters = ` "*\<|,>/?`

// CheckName returns an error that says why no index, alias or data stream can have this
// name, or nil. The text of the error is that of the clusters. Control characters and
// blanks other than ' ' are allowed there, and upper case in the name of an alias.
func CheckName(name string) error {
	if why := faultOf(name); why != "" {
		return fmt.Errorf("Invalid index name [%s], %s", Clip(name), why) //nolint:revive,staticcheck // the cluster's words
	}
	return nil
}

// CheckAlias is CheckName in the words for an alias that is to be made.
func CheckAlias(name string) error {
	if why := faultOf(name); why != "" {
		return fmt.Errorf("Invalid alias name [%s]: %s", Clip(name), why) //nolint:revive,staticcheck // the cluster's words
	}
	return nil
}

// faultOf says what is wrong with a name; empty means nothing.
func faultOf(name string) string {
	switch {
	case name == "":
		return "must not be empty"
	case strings.ContainsAny(name, badCharacters):
		return `must not contain the following characters [ , ", *, \, <, |, ,, >, /, ?]`
	case strings.Contains(name, "#"):
		return "must not contain '#'"
	case strings.Contains(name, ":"):
		return "must not contain ':'"
	case strings.IndexByte("_-+", name[0]) >= 0:
		return "must not start with '_', '-', or '+'"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("index name is too long, (%d > %d)", len(name), maxNameBytes)
	case name == "." || name == "..":
		return "must not be '.' or '..'"
	}
	return ""
}

// NamesNothing reports whether no index, alias or data stream can have a name that p matches:
// what p spells out holds what no name does, such as the colon of another cluster's indices. A
// cluster reads some of it as something else, so such a pattern must not be sent to it.
func (p Pattern) NamesNothing() bool {
	if p.kind == kindRegex {
		return false
	}
	spelled := strings.NewReplacer("*", "", "?", "").Replace(p.text)
	return p.IsNothing() || strings.ContainsAny(spelled, badCharacters+"#:") || strings.IndexByte("_-+", p.text[0]) >= 0
}

// maxShown bounds how much of a client's text an error repeats: more than a name can have.
const maxShown = 256

// Clip returns text as an error repeats it: whole, unless it is longer than any name. A
// request can hold a long text once and name it in thousands of items.
func Clip(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "..."
}
