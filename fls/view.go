package fls

import (
	"slices"
	"strconv"

	"guard/internal/mapping"
	"guard/internal/names"
	"guard/internal/query"
)

// View is what Rules show of one mapping. It is computed once per pair of them and
// immutable.
type View struct {
	rules Rules
	m     *mapping.Mapping
	// hidden are paths that the mapping does not show, whatever their names: copies,
	// aliases and scripted fields that carry the value of a hidden field.
	hidden     map[string]bool
	projection *Projection
}

// NewView derives what rules show of m.
func NewView(rules Rules, m *mapping.Mapping) *View {
	v := &View{rules: rules, m: m, hidden: map[string]bool{}}
	for f := range m.All() {
		// Whatever the names say at this moment: an expression that ran out of time may say
		// another thing later.
		if !isContainer(f) && !v.carriesOnlyShown(f) {
			v.hidden[f.Path] = true
		}
	}
	v.projection = projectionOf(v)
	return v
}

// isContainer reports whether f only holds other fields.
func isContainer(f mapping.Field) bool {
	return (f.Kind == mapping.Object || f.Kind == mapping.Nested) && !f.Opaque
}

// carriesOnlyShown reports whether everything that can be read by naming f is shown.
func (v *View) carriesOnlyShown(f mapping.Field) bool {
	sources, any := v.m.Carries(f.Path)
	if any && !v.rules.All() {
		return false
	}
	for _, s := range sources {
		if s != f.Path && !v.showsName(s) || !v.partsShown(s) {
			return false
		}
	}
	return true
}

// showsName reports whether the rules show name: what the mapping has is a field, whatever
// its name is in other versions.
func (v *View) showsName(name string) bool {
	if _, mapped := v.m.Lookup(name); mapped {
		return v.rules.ShowsField(name)
	}
	return v.rules.Shows(name)
}

// partsShown reports whether all that the value of the field called path is made of is
// shown: one value of an opaque field stands for all of its keys, also where a clause names
// one of them.
func (v *View) partsShown(path string) bool {
	f, ok := v.m.Lookup(path)
	switch {
	case !ok || isContainer(f):
		return true
	case f.Opaque && f.Parts == nil:
		return v.rules.showsAllBelow(f.Path)
	default:
		return v.rules.showsParts(f.Path, f.Parts)
	}
}

// state is how one mapping sees a name.
type state uint8

const (
	unmapped state = iota
	hidden
	visible
	container // an object with something visible below
)

func (v *View) state(name string) state {
	if isTooLong(name) {
		return hidden // judging it would cost the square of its length
	}
	f, ok := v.m.Lookup(name)
	switch {
	case !ok:
		return unmapped
	case isContainer(f):
		if shown, empty := v.anyBelow(f.Path); shown || empty && v.rules.ShowsField(f.Path) {
			return container
		}
		return hidden
	case v.shows(f) && (f.SubKey == "" || v.rules.ShowsField(name)):
		return visible
	default:
		return hidden
	}
}

// anyBelow reports whether something below an object is shown, and whether nothing is
// there at all.
func (v *View) anyBelow(path string) (shown, empty bool) {
	empty = true
	for f := range v.m.Below(path) {
		empty = false
		if !isContainer(f) && v.shows(f) {
			return true, false
		}
	}
	return false, empty
}

func (v *View) shows(f mapping.Field) bool { return v.rules.ShowsField(f.Path) && !v.hidden[f.Path] }

// Shows reports whether the field called name may be seen in an index of this
// mapping: what answers are filtered by. Objects are shown if something in them is.
func (v *View) Shows(name string) bool { return v.showsAs(name, v.rules.Shows) }

// ShowsField is Shows for a name that is a field of some index: then it is no metadata
// here, where the mapping lacks it, either.
func (v *View) ShowsField(name string) bool { return v.showsAs(name, v.rules.ShowsField) }

func (v *View) showsAs(name string, byEntries func(string) bool) bool {
	switch v.state(name) {
	case visible, container:
		return true
	case unmapped:
		return byEntries(name)
	default:
		return false
	}
}

// Has reports whether the mapping has a field or object called name.
func (v *View) Has(name string) bool { return v.state(name) != unmapped }

// IsObject reports whether the mapping has an object called name that holds fields.
func (v *View) IsObject(name string) bool {
	f, ok := v.m.Lookup(name)
	return ok && isContainer(f)
}

// HasNested reports whether documents hold others: a hit can then be a part of one, and
// only its "_nested" says which.
func (v *View) HasNested() bool {
	for f := range v.m.All() {
		if f.Kind == mapping.Nested {
			return true
		}
	}
	return false
}

// Projection returns what answers are filtered by: the same rules, once more.
func (v *View) Projection() *Projection { return v.projection }

func projectionOf(v *View) *Projection {
	if v.rules.All() {
		return ShowEverything()
	}
	p := v.rules.projection(v.Shows)
	p.mapped = v.Has
	return p
}

func (r Rules) projection(shows func(name string) bool) *Projection {
	return newProjection(sourcePatterns(r.includes, names.Pattern.Match), sourcePatterns(r.excludes, names.Pattern.MayMatch), shows)
}

func sourcePatterns(ps names.Patterns, match func(names.Pattern, string) bool) []sourcePattern {
	var out []sourcePattern
	for _, p := range ps.List() {
		sp := sourcePattern{Match: func(path string) bool { return match(p, path) }}
		if !p.IsRegex() {
			sp.Below = func(path string) bool { return mayMatchBelow(p, path+".") }
		}
		out = append(out, sp)
	}
	return out
}

// Views are the views of all indices of one search; they answer what the walker
// asks. An index whose fields are not restricted takes part with a view that shows
// everything.
type Views struct {
	list    []*View
	standIn string
}

var _ query.Fields = (*Views)(nil)

// NewViews combines the views of a request. list must not be empty.
func NewViews(list []*View) *Views {
	vs := &Views{list: list}
	for n := 0; ; n++ {
		vs.standIn = "guard-no-such-field"
		if n > 0 {
			vs.standIn += "-" + strconv.Itoa(n)
		}
		if !slices.ContainsFunc(list, func(v *View) bool { _, taken := v.m.Lookup(vs.standIn); return taken }) {
			return vs
		}
	}
}

// StandIn returns a name that no mapping of the request has.
func (vs *Views) StandIn() string { return vs.standIn }

// Field tells how name is seen over all indices: a field that an index lacks does not
// make it mixed, one that an index hides does. What the entries hide by its name counts
// as hidden whether the index has it or not: else a name that another index shows would
// tell which. It is so for options that only fetch, too: no field that is hidden
// somewhere is read there. A name that means something else where it is printed is no
// field at all.
func (vs *Views) Field(name string, use query.Use) query.Sight {
	if !query.IsPlain(name) {
		return query.Absent
	}
	var seen [container + 1]bool
	metadata := vs.isMetadata(name)
	for _, v := range vs.list {
		at := v.state(name)
		switch {
		case at != unmapped:
		case metadata && v.rules.Shows(name) && query.Nameable(name):
			at = visible
		case metadata, !v.rules.ShowsField(name):
			at = hidden
		}
		seen[at] = true
	}
	switch {
	case !seen[visible] && !seen[container]:
		return query.Absent
	case seen[hidden]:
		return query.Mixed
	case seen[container] && use == query.Path:
		return query.Visible
	case seen[container]:
		return query.Object
	default:
		return query.Visible
	}
}

// isMetadata reports whether name is metadata and no field of any index.
func (vs *Views) isMetadata(name string) bool {
	return IsMetadata(name) && !slices.ContainsFunc(vs.list, func(v *View) bool { return v.Has(name) })
}

// Expand lists the visible leaf fields of plain names that match pattern in any index, and
// one that another index hides, if there is any; where they are only fetched such are left out,
// and parts of a source stay, for the answer filter to cut.
func (vs *Views) Expand(pattern string, use query.Use) (fields []string, mixed string) {
	found := map[string]bool{}
	for _, v := range vs.list {
		for f := range v.m.Expand(pattern) {
			if f.SubKey == "" && !isContainer(f) && takes(use, f) && v.shows(f) && query.IsPlain(f.Path) {
				found[f.Path] = true
			}
		}
	}
	for name := range found {
		if use != query.Source && vs.Field(name, use) == query.Mixed {
			if use == query.Fetch {
				continue // as if no index had it
			}
			if mixed == "" || name < mixed {
				mixed = name
			}
		}
		fields = append(fields, name)
	}
	slices.Sort(fields)
	return fields, mixed
}

// Types that a pattern of field names expands to. Source: QueryParserHelper and
// HighlightPhase of OpenSearch 2 and 3 and Elasticsearch 7.10.
var (
	textTypes   = []string{"text", "keyword", "match_only_text", "constant_keyword", "wildcard", "annotated_text"}
	searchTypes = append([]string{
		"date", "date_nanos", "ip", "byte", "short", "integer", "long", "float", "half_float", "double",
		"scaled_float", "unsigned_long", "version",
	}, textTypes...)
)

// takes reports whether the clusters expand a pattern to f for this use.
func takes(use query.Use, f mapping.Field) bool {
	t := f.Type
	if f.Kind == mapping.Alias {
		return true // its target's type is not known here; it is no leak to name it
	}
	switch use {
	case query.Match:
		return slices.Contains(searchTypes, t)
	case query.Highlight:
		return slices.Contains(textTypes, t)
	default:
		return true
	}
}

// SourcePatterns returns what to add to the _source option of the request: only
// where all indices share their rules, else the answer filter decides alone. whole
// reports whether the cluster then leaves out all that is hidden.
func (vs *Views) SourcePatterns() (includes, excludes []string, whole bool) {
	first := vs.list[0].rules
	for _, v := range vs.list[1:] {
		if !slices.Equal(first.entries, v.rules.entries) {
			return nil, nil, false
		}
	}
	if first.All() {
		return nil, nil, true
	}
	return first.requestPatterns()
}

// Everything is the rule that hides nothing.
func Everything() Rules {
	r, err := Compile([]string{"*"})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return r
}
