package query

import (
	"slices"
	"strings"
)

// fakeFields is a field rule over a small index, for tests.
type fakeFields struct {
	leaves  []string // all leaf fields of the index
	hidden  []string // those, and objects, that the rule hides, with all below
	mixed   []string // those that are visible in some indices only
	objects []string
}

const standIn = "no.such.field"

func (f fakeFields) StandIn() string { return standIn }

func (f fakeFields) hides(name string) bool {
	return slices.ContainsFunc(f.hidden, func(h string) bool { return name == h || strings.HasPrefix(name, h+".") })
}

func (f fakeFields) Field(name string, _ Use) Sight {
	switch {
	case slices.Contains(f.mixed, name):
		return Mixed
	case f.hides(name):
		return Absent
	case slices.Contains(f.leaves, name):
		return Visible
	case slices.Contains(f.objects, name):
		return Object
	case Nameable(name):
		return Visible
	}
	return Absent
}

func (f fakeFields) Expand(pattern string, use Use) (fields []string, mixed string) {
	for _, name := range f.leaves {
		if f.hides(name) || !matches(pattern, name) {
			continue
		}
		if slices.Contains(f.mixed, name) {
			return nil, name
		}
		fields = append(fields, name)
	}
	slices.Sort(fields)
	return fields, ""
}

// matches is the naive form of a pattern with stars.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	for i := len(head); i <= len(name); i++ {
		if matches(rest, name[i:]) {
			return true
		}
	}
	return false
}

var hr = fakeFields{
	leaves: []string{"name", "name.keyword", "dept", "city", "tags", "bio", "rating", "hire_date", "ssn", "ssn.txt", "phone", "phone.keyword", "salary",
		"location", "home", "all_text", "person.nick", "person.passport", "dependents.dname", "dependents.ssn"},
	hidden:  []string{"ssn", "phone", "salary", "location", "all_text", "person.passport", "dependents.ssn"},
	objects: []string{"person", "dependents"},
}

// hrTexts are indices of which no more is known than that bio is a text.
type hrTexts struct{}

func (hrTexts) Mapped(string) (some, all bool) { return true, true }
func (hrTexts) Positions(string) bool          { return false }

func (hrTexts) Content(name, _ string) Content {
	if name == "bio" {
		return Words
	}
	return Unsure
}

// The rules that the golden files name.
var ruleSets = map[string]Rules{
	"free": {Filter: Free},
	"none": {},
	"dls":  {Filter: `{"term":{"dept":"eng"}}`, Mapped: hrTexts{}},
	"name": {Filter: `{"terms":{"_index":["hr"]}}`, NamesOnly: true},
	"fls":  {Filter: Free, Fields: hr, SourceExcludes: []string{"ssn", "phone"}},
	"incl": {Filter: Free, Fields: fakeFields{leaves: hr.leaves, objects: hr.objects, hidden: slices.DeleteFunc(slices.Clone(hr.leaves),
		func(s string) bool { return s == "name" || s == "dept" || s == "person.nick" })}, SourceIncludes: []string{"name", "dept", "person.*"}},
	"both": {Filter: `{"term":{"dept":"eng"}}`, Fields: hr, SourceExcludes: []string{"ssn"}},
	// What the order of segments, and of documents, tells of what is hidden.
	"seg":   {Filter: `{"term":{"dept":"eng"}}`, Order: OfSegments},
	"doc":   {Filter: Free, Fields: hr, Order: OfDocuments},
	"mixed": {Filter: Free, Fields: fakeFields{leaves: hr.leaves, objects: hr.objects, mixed: []string{"city"}}},
}
