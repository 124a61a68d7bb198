package resolution

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Compared is one question with two answers: the cluster's, and guard's.
type Compared struct {
	Case
	Listing   bool // it was asked of _resolve/index
	Ruled     bool // of a user with a document rule
	Want, Got Reply
}

// Reply is what counts of an answer.
type Reply struct {
	Status int
	Body   []byte
}

// Equal reports whether two answers say the same: the members of an object have no order,
// and the time an answer took is no part of it.
func (r Reply) Equal(other Reply) bool {
	return r.Status == other.Status && bytes.Equal(steady(r.Body), steady(other.Body))
}

func steady(body []byte) []byte {
	var v map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return body
	}
	delete(v, "took")
	out, err := json.Marshal(v) // sorted by key
	if err != nil {
		return body
	}
	return out
}

// Explained is a difference by intent.
type Explained struct {
	Row string // begins the row of docs/compatibility.md that tells why
	of  func(*Compared) bool
}

// Explanations lists all of them, in the order of the page.
var Explanations = []Explained{
	{"a list with an empty name", func(c *Compared) bool {
		return c.refusedAs("invalid_index_name_exception", "must not be empty")
	}},
	{"a name that begins with `_`", func(c *Compared) bool {
		return c.refusedAs("invalid_index_name_exception", "must not start with '_'") || c.refusedAs("security_exception", "unknown endpoint [")
	}},
	{"`name::selector`", func(c *Compared) bool { return c.refusedAs("invalid_index_name_exception", "selector [") }},
	{"`cluster:name`", func(c *Compared) bool { return slices.ContainsFunc(c.items(), isRemote) }},
	{"a format or zone of date math", func(c *Compared) bool {
		return c.refusedAs("parse_exception", `invalid dynamic name expression "`)
	}},
	{"`/`, `\\`, NUL", func(c *Compared) bool {
		return c.refusedAs("illegal_argument_exception", `path segment "`) || c.Path == "" && c.refusedAs("security_exception", "unknown endpoint [")
	}},
	{"several faults in one list", func(c *Compared) bool {
		return len(c.items()) > 1 && c.Want.Status >= 400 && c.Got.Status >= 400 && !(c.Want.Status == 404 && c.Got.Status == 404)
	}},
	{"a name that `_resolve/index` lists twice", func(c *Compared) bool {
		return c.Listing && c.Want.Status == 200 && c.Got.Status == 200 && slices.Equal(listed(c.Want.Body), listed(c.Got.Body))
	}},
	{"the filter of an alias beside a wildcard", func(c *Compared) bool {
		unlikeOpen := strings.Contains(c.Query, "expand_wildcards=") && !strings.HasSuffix(c.Query, "=open")
		return !c.Listing && unlikeOpen && c.Want.Status == 200 && c.Got.Status == 200 && filtered.MatchString(c.Text) && strings.Contains(c.Text, "*")
	}},
	{"a name of more than 256 bytes in an error", func(c *Compared) bool {
		long := slices.ContainsFunc(c.items(), func(item string) bool { return len(item) > 256 })
		return long && c.Want.Status == c.Got.Status && c.Want.Status >= 400 && bytes.Contains(c.reason(), []byte("..."))
	}},
	{"a name with `{` in an error", func(c *Compared) bool {
		return c.Ruled && c.Want.Status == 404 && c.Got.Status == 404 && strings.Contains(c.Text, "{") && !bytes.Contains(c.reason(), []byte("{"))
	}},
}

// filtered finds names that may be, or match, an alias with a filter.
var filtered = regexp.MustCompile(`alf|hidf|al\*|a\*|h\*|\.`)

// Explain returns the row that explains a difference; empty means that none does.
func (c *Compared) Explain() string {
	for _, e := range Explanations {
		if e.of(c) {
			return e.Row
		}
	}
	return ""
}

// refusedAs reports whether guard refuses with an error of that type and text.
func (c *Compared) refusedAs(kind, text string) bool {
	var answer struct {
		Error struct{ Type, Reason string } `json:"error"`
	}
	return c.Got.Status >= 400 && json.Unmarshal(c.Got.Body, &answer) == nil && answer.Error.Type == kind && strings.Contains(answer.Error.Reason, text)
}

// reason is the text of guard's error.
func (c *Compared) reason() []byte {
	var answer struct {
		Error struct{ Reason json.RawMessage } `json:"error"`
	}
	_ = json.Unmarshal(c.Got.Body, &answer) // no error, no text
	return answer.Error.Reason
}

func (c *Compared) items() []string { return strings.Split(c.Text, ",") }

// isRemote reports whether a name has a colon outside of date math, which an exclusion
// never is.
func isRemote(item string) bool {
	return strings.Contains(item, ":") && !(strings.HasPrefix(item, "<") && strings.HasSuffix(item, ">"))
}

// listed returns the names in an answer of _resolve/index, each once, in its list.
func listed(body []byte) []string {
	var lists map[string][]json.RawMessage
	if json.Unmarshal(body, &lists) != nil {
		return nil
	}
	var names []string
	for list, entries := range lists {
		for _, e := range entries {
			names = append(names, list+" "+string(e))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ListedNames returns the names in an answer of _resolve/index, each once, sorted.
func ListedNames(body []byte) []string {
	var lists map[string][]struct{ Name string }
	if json.Unmarshal(body, &lists) != nil {
		return nil
	}
	var names []string
	for _, entries := range lists {
		for _, e := range entries {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
