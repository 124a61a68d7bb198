package query

import (
	"strings"
	"unicode"

	"guard/internal/esjson"
)

// Under a document rule a clause may depend on the dictionary, which holds the terms
// of hidden documents too, in two ways that its hits do not show:
//
//   - The score of some clauses adds up what every term of theirs weighs, also those
//     that no visible document holds: spans, the words that a prefix stands for, and
//     near spellings. They are printed in constant_score: the hits stay, and nothing
//     is weighed. (The weight of a word that matches is known to depend on how often
//     it occurs in hidden documents; docs/compatibility.md says so.)
//   - A search with more than 1,024 clauses is an error, and near spellings count each
//     by itself. A search that could come near that number is refused.

// maxExpanded bounds the clauses of a search with near spellings, those that they
// expand to among them. It stays below the clusters' 1,024.
const maxExpanded = 900

// expansion counts what a search can expand to.
type expansion struct {
	near   int // clauses that near spellings can become
	fields int // of the clause that searches the most
}

// weighsHidden reports whether the score of a clause depends on terms that only hidden
// documents may hold.
func weighsHidden(c *clause, v esjson.Value) bool {
	switch c.name {
	case "match_phrase_prefix", "fuzzy":
		return true
	case "multi_match":
		t, _ := v.Lookup("type")
		return t.String() == "phrase_prefix" || nearSpellings(c, v)
	default:
		return isSpan(c.name) || nearSpellings(c, v)
	}
}

func isSpan(name string) bool {
	return strings.HasPrefix(name, "span_") || name == "field_masking_span"
}

// nearSpellings reports whether a clause on a text also matches other words than those
// written.
func nearSpellings(c *clause, v esjson.Value) bool {
	switch c.name {
	case "fuzzy":
		return true
	case "query_string", "simple_query_string":
		text, _ := v.Lookup("query")
		return strings.ContainsRune(text.String(), '~')
	}
	_, fuzzy := options(c, v).Lookup("fuzziness")
	return fuzzy
}

// options returns the object that holds the options of a clause: below its field, if
// it has its field as a key.
func options(c *clause, v esjson.Value) esjson.Value {
	if c.form != perField {
		return v
	}
	for name, m := range v.Members() {
		if _, option := c.keys[name]; !option && m.Is(esjson.Object) {
			return m
		}
	}
	return esjson.Value{}
}

// expandClause counts what a clause can become.
func (k *walker) expandClause(c *clause, v esjson.Value) {
	if !k.hidesDocs() || k.role {
		return
	}
	fields := fieldsOf(c, v)
	k.expanded.fields = max(k.expanded.fields, fields)
	if nearSpellings(c, v) {
		k.expanded.near += words(clauseText(c, v)) * fields * expansionsOf(options(c, v))
	}
}

// clauseText returns the text that a clause looks for.
func clauseText(c *clause, v esjson.Value) string {
	o := options(c, v)
	for _, key := range []string{"query", "value", "term"} {
		if t, ok := o.Lookup(key); ok && !t.Is(esjson.Object) && !t.Is(esjson.Array) {
			return t.String()
		}
	}
	if c.form != perField {
		return ""
	}
	for name, m := range v.Members() {
		if _, option := c.keys[name]; !option && m.Is(esjson.String) {
			return m.String()
		}
	}
	return ""
}

// spaced are the letters and digits of scripts that set spaces between words.
var spaced = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Hebrew, unicode.Arabic, unicode.Devanagari, asciiDigits}

var asciiDigits = &unicode.RangeTable{R16: []unicode.Range16{{Lo: '0', Hi: '9', Stride: 1}}, LatinOffset: 1}

// words counts the words that the analysers which a client can name make of a text, at
// most: runs of small letters, of capitals and of digits in the scripts that set spaces
// between words, and every other sign by itself, as a picture, a mark or a letter of a
// script without spaces can be a word. An index can have an analyser of its own that
// makes more (n-grams); that is the documented rest.
func words(text string) int {
	n, last := 0, rune(0)
	for _, r := range text {
		class := rune(0)
		switch {
		case unicode.IsSpace(r):
		case !unicode.In(r, spaced...):
			n++
		case unicode.IsDigit(r):
			class = '0'
		case unicode.IsUpper(r):
			class = 'A'
		default:
			class = 'a'
		}
		if class != 0 && class != last {
			n++
		}
		last = class
	}
	return max(n, 1)
}

// written counts what is written in v, so that no clause can be forgotten: every key,
// every word of every text, and every other value twice, as some become two clauses.
func written(v esjson.Value) int {
	n := 0
	switch v.Kind() {
	case esjson.String:
		return words(v.String())
	case esjson.Object:
		for _, m := range v.Members() {
			n += 1 + written(m)
		}
	case esjson.Array:
		for _, e := range v.Elements() {
			n += written(e)
		}
	default:
		return 2
	}
	return n
}

// allFields is what a clause counts as that does not say which fields it searches.
const allFields = 1000

// fieldsOf counts the fields that a clause searches.
func fieldsOf(c *clause, v esjson.Value) int {
	if c.form != multi {
		return 1
	}
	list, ok := v.Lookup("fields")
	if !ok {
		list, ok = v.Lookup("default_field")
	}
	switch {
	case !ok, list.Is(esjson.Array) && list.Len() == 0:
		return allFields
	case !list.Is(esjson.Array):
		return oneField(list)
	}
	n := 0
	for _, e := range list.Elements() {
		n += oneField(e)
	}
	return n
}

func oneField(v esjson.Value) int {
	if isPattern(v.String()) {
		return allFields
	}
	return 1
}

// expansionsOf returns how many near spellings a word can stand for.
func expansionsOf(options esjson.Value) int {
	n := leastExpansions
	for _, key := range []string{"max_expansions", "fuzzy_max_expansions"} {
		if m, ok := options.Lookup(key); ok {
			if given, err := m.Int(); err == nil && int(given) > n {
				n = int(min(given, 1<<20))
			}
		}
	}
	return n
}

// tooWide refuses a search whose near spellings could bring it to the clusters' limit.
// body and over are the client's, as they were written.
func (k *walker) tooWide(body, over esjson.Value) error {
	if !k.hidesDocs() || k.expanded.near == 0 {
		return nil
	}
	var tape esjson.Tape
	lim := esjson.RequestLimits()
	lim.HalfPairs = true // the filter of an alias is the cluster's
	own, err := esjson.Parse(&tape, []byte(k.rules.Filter.JSON()), lim)
	if err != nil {
		return refuse(body, "fuzziness", "the document rule cannot be counted%s", underDocRule)
	}
	n := k.expanded.near + (written(body)+written(over))*max(k.expanded.fields, 1) + written(own)
	if n > maxExpanded {
		return refuse(k.asked, "fuzziness", "near spellings could expand to %d clauses, want at most %d: name fewer words or fields%s", n, maxExpanded, underDocRule)
	}
	return nil
}

// unweighed prints a clause in constant_score, which keeps its boost.
func (k *walker) unweighed(v esjson.Value, c *clause) error {
	k.w.BeginObject()
	k.w.Key("constant_score")
	k.w.BeginObject()
	k.w.Key("filter")
	k.within = true
	err := k.printed(v, c)
	k.within = false
	if err != nil {
		return err
	}
	boost, ok := v.Lookup("boost")
	if !ok || !boost.Is(esjson.Number) {
		boost, ok = options(c, v).Lookup("boost")
	}
	if ok && boost.Is(esjson.Number) {
		k.w.Key("boost")
		k.w.Value(boost)
	}
	k.w.EndObject()
	k.w.EndObject()
	return nil
}
