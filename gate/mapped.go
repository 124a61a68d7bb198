package gate

import (
	"slices"

	"guard/indexresolver"
	"guard/internal/mapping"
	"guard/internal/query"
)

// mappedIn knows the mappings of some indices.
type mappedIn struct {
	s       *Snapshot
	indices []string
}

var _ query.Mapped = (*mappedIn)(nil)

// Mapped tells which of the indices have a field that name means. One whose mapping cannot
// be read is taken to have it.
func (in *mappedIn) Mapped(name string) (some, all bool) {
	all = true
	for _, index := range in.indices {
		has := true
		if m, err := in.s.mappingOf(index); err == nil {
			has = false
			for f := range m.Expand(name) {
				has = has || f.Kind != mapping.Object && f.Kind != mapping.Nested || f.Opaque
			}
		}
		some, all = some || has, all && has
	}
	return some, all
}

// Positions reports whether a field is a text with the places of its words, wherever it is.
func (in *mappedIn) Positions(name string) bool {
	for _, index := range in.indices {
		m, err := in.s.mappingOf(index)
		if err != nil {
			return false
		}
		if f, ok := lookup(m, name); ok && (f.SubKey != "" || !f.Positions) {
			return false
		}
	}
	return true
}

// lookup returns the field that a name means, or an alias of that name.
func lookup(m *mapping.Mapping, name string) (mapping.Field, bool) {
	f, ok := m.Lookup(name)
	if ok && f.Kind == mapping.Alias {
		return m.Lookup(f.AliasOf)
	}
	return f, ok
}

// Content tells what the indices that have a field keep of its values.
func (in *mappedIn) Content(name, analyser string) query.Content {
	all := query.Nothing
	for _, index := range in.indices {
		m, err := in.s.mappingOf(index)
		if err != nil {
			return query.Unsure
		}
		f, ok := lookup(m, name)
		if !ok || f.Kind == mapping.Object || f.Kind == mapping.Nested {
			continue
		}
		one := contents[f.Type]
		switch {
		case f.Kind == mapping.Runtime || f.Scripted || f.SubKey != "" && one != query.Terms:
			one = query.Unsure
		case one == query.Words && !in.readsWords(index, f, analyser):
			one = query.Analysed
		}
		if f.Unindexed && (one == query.Words || one == query.Analysed || f.Type == "keyword") {
			one = query.Values
		}
		if all != query.Nothing && all != one {
			return query.Unsure
		}
		all = one
	}
	return all
}

// contents are what fields of a type keep; of others it is not known.
var contents = map[string]query.Content{
	"text": query.Words, "match_only_text": query.Words, "search_as_you_type": query.Words,
	"keyword": query.Terms, "wildcard": query.Terms, "flat_object": query.Terms, "flattened": query.Terms,
	"long": query.Points, "integer": query.Points, "short": query.Points, "byte": query.Points, "unsigned_long": query.Points, "token_count": query.Points,
	"double": query.Points, "float": query.Points, "half_float": query.Points, "scaled_float": query.Points, "date": query.Points, "date_nanos": query.Points, "ip": query.Points,
	"boolean": query.Values, "binary": query.Values, "constant_keyword": query.Values, "rank_feature": query.Values,
	"geo_point": query.Values, "geo_shape": query.Values, "point": query.Values, "shape": query.Values, "xy_point": query.Values, "xy_shape": query.Values,
	"integer_range": query.Values, "long_range": query.Values, "float_range": query.Values, "double_range": query.Values, "date_range": query.Values, "ip_range": query.Values,
}

// readsWords reports whether a text that is looked for in a field keeps each word one word:
// read by an analyser that a clause names, or else by those of the field or of its index.
func (in *mappedIn) readsWords(index string, f mapping.Field, analyser string) bool {
	x, ok := in.s.state.Index(index)
	switch {
	case !ok:
		return false
	case analyser != "":
		return keepsWords(x, analyser, "")
	}
	return keepsWords(x, f.Analysis.Text, "default_search") && keepsWords(x, f.Analysis.Phrase, "default_search_quote")
}

// wordAnalysers are those of the clusters' own that make one word of one of Latin letters and
// digits, or none.
var wordAnalysers = []string{
	"standard", "whitespace", "arabic", "armenian", "basque", "bengali", "brazilian", "bulgarian", "catalan", "czech", "danish", "dutch", "english",
	"estonian", "finnish", "french", "galician", "german", "greek", "hindi", "hungarian", "indonesian", "irish", "italian", "latvian", "lithuanian",
	"norwegian", "persian", "portuguese", "romanian", "russian", "sorani", "spanish", "swedish", "turkish",
}

// keepsWords reports whether an analyser, by name, makes one word of one. Without a name it
// is that of the index for this use, if it defines any.
func keepsWords(x *indexresolver.Index, name, use string) bool {
	if name == "" {
		return !slices.ContainsFunc(x.Analyzers, func(own string) bool { return own == "default" || own == "default_search" || own == use })
	}
	return slices.Contains(wordAnalysers, name) && !slices.Contains(x.Analyzers, name)
}
