package query

import (
	"slices"
	"strings"

	"guard/internal/esjson"
)

// The fast vector highlighter marks the words that a query looks for. Of a clause that does
// not name them, as a prefix, it takes the first 1,024 of the dictionary, where words of
// hidden documents take places. No other highlighter cuts a text into the same fragments,
// so beside such a clause it is refused.

// maxMarked is how many words of one clause it takes.
const maxMarked = 1024

const fastVector = "fvh"

// markable refuses the fast vector highlighter in highlight v where it would choose words.
func (k *walker) markable(v esjson.Value) error {
	if !k.hidesDocs() || k.role {
		return nil
	}
	fields, _ := v.Lookup("fields")
	for _, list := range elements(fields) {
		for _, field := range list.Members() {
			if err := k.markableField(v, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// markableField is markable for one field, whose options win over those of v.
func (k *walker) markableField(v, field esjson.Value) error {
	typ := optionOf("type", field, v)
	if typ.String() != fastVector {
		return nil
	}
	queries := []esjson.Value{optionOf("highlight_query", field, v)}
	if queries[0].Is(esjson.Invalid) {
		queries = []esjson.Value{k.asked, k.filtered} // of inner hits it is a clause in one of them
	}
	if slices.ContainsFunc(queries, k.choosesWords) {
		return refuse(typ, fastVector, "it marks the first %d words that a prefix, pattern, range or near spelling stands for, those of hidden documents among them; want unified, or a highlight_query without%s", maxMarked, underDocRule)
	}
	return nil
}

// optionOf returns the option of that name of the first object that has it.
func optionOf(name string, objects ...esjson.Value) esjson.Value {
	for _, o := range objects {
		if v, ok := o.Lookup(name); ok {
			return v
		}
	}
	return esjson.Value{}
}

// choosesWords reports whether a query has a clause that stands for words of the dictionary
// which it does not name.
func (k *walker) choosesWords(q esjson.Value) bool {
	for name, m := range q.Members() {
		c := clauses[name]
		if c == nil || k.choosesItself(m, c) || slices.ContainsFunc(queriesIn(m, c.keys), k.choosesWords) {
			return true
		}
	}
	return false
}

// queriesIn lists the queries in an object with the keys of sh.
func queriesIn(v esjson.Value, sh shape) (list []esjson.Value) {
	for key, m := range v.Members() {
		switch s := sh[key]; s.kind {
		case queryOne, queryMany:
			list = append(list, elements(m)...)
		case object, objects:
			for _, e := range elements(m) {
				list = append(list, queriesIn(e, s.keys)...)
			}
		}
	}
	return list
}

// choosesItself is choosesWords for a clause without those in it.
func (k *walker) choosesItself(v esjson.Value, c *clause) bool {
	switch c.name {
	case "bool", "boosting", "constant_score", "dis_max", "function_score", "nested",
		"match_all", "match_none", "ids", "type", "exists", "terms_set", "match_phrase", "combined_fields",
		"distance_feature", "rank_feature", "geo_bounding_box", "geo_distance", "geo_polygon", "geo_grid", "geo_shape", "shape", "xy_shape",
		"intervals", "span_term", "span_first", "span_near", "span_gap", "span_or", "span_not", "span_containing", "span_within",
		"field_masking_span", "span_field_masking":
		return false
	case "term":
		_, folded := options(c, v).Lookup("case_insensitive")
		return folded
	case "terms":
		for _, m := range v.Members() {
			if m.Len() > maxMarked {
				return true
			}
		}
		return false
	case "range":
		return k.content(fieldIn(v, c), "") != Points
	case "match", "multi_match":
		_, fuzzy := options(c, v).Lookup("fuzziness")
		return fuzzy || strings.HasSuffix(typeOf(c, v), "prefix")
	case "query_string", "simple_query_string":
		text, _ := v.Lookup("query")
		return strings.ContainsAny(text.String(), `*?~/[{<>`) || strings.HasSuffix(typeOf(c, v), "prefix")
	}
	return true
}
