package query

import (
	"strconv"
	"strings"

	"guard/internal/esjson"
)

// Under a document rule a clause may depend on what hidden documents hold, in ways that
// its hits do not show. It is printed in another way then, or refused:
//
//   - The score of some clauses adds up what every term of theirs weighs, also those
//     that no visible document holds: spans, the words that a prefix stands for, and
//     near spellings. They are printed in constant_score: the hits stay, and nothing
//     is weighed. (The weight of a word that matches is known to depend on how often
//     it occurs in hidden documents; docs/compatibility.md says so.)
//   - Some choose among the words of the dictionary: a near spelling stands for the 50
//     nearest, the prefix at the end of a phrase for the first 50. Hidden words would
//     take places. They are printed so that all words that fit are taken.
//   - A range on a date that lies outside of what the shard holds, hidden documents
//     included, becomes match_none before any clause is built, a bool around it too. So
//     an error of a clause beside it would come or not, and the shard be asked or not.
//     A dis_max around it ends that (measured on OpenSearch 2.19 and 3.4, and on
//     Elasticsearch 7.10); hits and scores stay.
//   - Shards of a search that is sorted by a field are skipped by their smallest and
//     largest value once there are hits enough to tell the total. All hits are counted
//     then, and the total is cut to what the client asked for.
//   - A search without hits that counts up to a number says of just so many that there are
//     more, if its shard has a further segment, of hidden documents alone as well. All hits
//     are counted then, too, and so many are told to be at least so many.
//   - A search that ends after some hits tells whether a shard could count them by its
//     statistics, which depends on hidden documents, and on whether the mapping has nested
//     objects, hidden ones too. It is not ended under any rule.
//   - A random score without a seed follows from the number of a document in its shard,
//     which counts hidden ones, and objects of hidden nested fields. It gets a seed, and
//     the field that the clusters recommend.
//   - The fast vector highlighter stands for the first 1,024 words of a prefix. It is refused
//     beside such a clause; see fast.go.
//   - A span on a field that does not keep the places of words fails where any document
//     of the shard holds the term, whatever stands beside it. It is refused.
//   - A text over several fields as if they were one (cross_fields, combined_fields) gives
//     a word of one field the weight that it has in another, where hidden documents alone
//     may hold it. It is printed in constant_score.
//   - The score of a function fails on values that no function is made for, and clusters
//     weigh what stands beside the filter before the filter has spoken (measured on
//     OpenSearch 3.4). The filter stands in the query of a function_score as well, where no
//     document is weighed that it keeps out; for objects of a nested field there is none, and
//     it is refused.
//   - A clause on a field that a script computes runs the script, also on hidden documents
//     if it stands among others of which one is enough; whether it fails tells of them. It
//     is refused.
//   - A text can be told to load those of its words that are neither rare nor frequent in a
//     segment (fielddata_frequency_filter), hidden documents included. What reads loaded
//     words, as aggregations and sorts do, is refused.

// bounded prints a clause under a document rule so that hidden documents change nothing.
func (k *walker) bounded(v esjson.Value, c *clause) error {
	switch {
	case c.name == "range":
		return k.unskipped(v, c)
	case beginsWords(c, v):
		return k.beginning(v, c)
	case nearSpellings(c, v):
		return k.spelled(v, c)
	case strings.HasPrefix(c.name, "span_"), c.name == "field_masking_span", isPhrase(c, v):
		return k.unweighed(v, c)
	case c.name == "combined_fields", typeOf(c, v) == "crossfields":
		return k.unweighed(v, c)
	case c.name == "function_score":
		return k.weighed(v, c)
	case c.name == "nested":
		outer := k.ofObjects
		k.ofObjects = true
		err := k.printed(v, c)
		k.ofObjects = outer
		return err
	case c.name == "rank_feature" && !hasPivot(v):
		return refuse(v, c.name, "its pivot is the mean of all documents of the shard; want log, sigmoid, linear, or saturation with a pivot%s", underDocRule)
	}
	return k.printed(v, c)
}

// weighed prints a function_score so that it weighs no document which the filter keeps out.
func (k *walker) weighed(v esjson.Value, c *clause) error {
	if k.ofObjects {
		return refuse(v, c.name, "it would weigh objects of hidden documents too; want it outside of nested%s", underDocRule)
	}
	if err := k.grow(v, c.name, len(k.rules.Filter)); err != nil {
		return err
	}
	asked, _ := v.Lookup("query")
	k.w.BeginObject()
	k.w.Key(c.name)
	k.w.BeginObject()
	k.w.Key("query")
	if err := k.underFilter(func() error { return k.queryOrAll(asked) }); err != nil {
		return err
	}
	for key, m := range v.Members() {
		if key == "query" {
			continue
		}
		if err := k.member(m, key, c.keys); err != nil {
			return err
		}
	}
	k.w.EndObject()
	k.w.EndObject()
	return nil
}

// isPhrase reports whether a clause looks for words that stand together. An analyser can
// put several words in one place of a phrase, and each of them weighs in its score.
func isPhrase(c *clause, v esjson.Value) bool {
	switch c.name {
	case "match_phrase":
		return true
	case "query_string", "simple_query_string":
		text, _ := v.Lookup("query")
		return strings.Contains(text.String(), `"`) || typeOf(c, v) == "phrase"
	}
	return typeOf(c, v) == "phrase"
}

// typeOf returns the type of a clause over several fields, without the ways to spell it.
func typeOf(c *clause, v esjson.Value) string {
	if c.form != multi {
		return ""
	}
	t, _ := v.Lookup("type")
	return strings.ToLower(strings.ReplaceAll(t.String(), "_", ""))
}

// content tells what a field keeps. A hidden one is replaced by one that no index has.
func (k *walker) content(name, analyser string) Content {
	switch {
	case strings.HasPrefix(name, "_"), isPattern(name), k.rules.Mapped == nil:
		return Unsure
	case k.fieldRule() && k.rules.Fields.Field(name, Match) == Absent:
		return Nothing
	default:
		return k.rules.Mapped.Content(name, analyser)
	}
}

// contents tells what all fields of a clause on a text keep: Nothing, if none is there.
func (k *walker) contents(v esjson.Value, c *clause) Content {
	analyser, _ := options(c, v).Lookup("analyzer")
	if c.form == perField {
		return k.content(fieldIn(v, c), analyser.String())
	}
	fields, _ := v.Lookup("fields")
	all := Nothing
	for _, field := range elements(fields) {
		name, _ := cutBoost(field.String())
		switch one := k.content(name, analyser.String()); {
		case one == Unsure:
			return Unsure
		case one == Nothing:
		case all == Nothing:
			all = one
		case all.hasTerms() != one.hasTerms() || all.isText() != one.isText():
			return Unsure
		default:
			all = min(all, one)
		}
	}
	if len(elements(fields)) == 0 {
		return Unsure // a setting of the index says which
	}
	return all
}

// isText reports whether a text is looked for word by word.
func (c Content) isText() bool { return c == Words || c == Analysed }

// hasTerms reports whether a clause may choose from the terms of the field.
func (c Content) hasTerms() bool { return c != Nothing && c != Values && c != Points }

// keepsPlaces reports whether the field of a span_term keeps the places of its words. A hidden
// one is replaced by one that no index has.
func (k *walker) keepsPlaces(v esjson.Value, c *clause) bool {
	name := fieldIn(v, c)
	switch {
	case strings.HasPrefix(name, "_"), k.rules.Mapped == nil:
		return false
	case k.fieldRule() && k.rules.Fields.Field(name, Match) == Absent:
		return true
	default:
		return k.rules.Mapped.Positions(name)
	}
}

// uncomputed refuses a field, or pattern of fields, of a clause that may mean one that a
// script computes.
func (k *walker) uncomputed(v esjson.Value, name string) error {
	for _, computed := range k.rules.Computed {
		if computed == "*" || couldMean(name, computed) || strings.HasPrefix(name, computed+".") || strings.HasPrefix(computed, name+".") {
			return refuse(v, name, "a script computes the field [%s], for hidden documents too%s", computed, underDocRule)
		}
	}
	return nil
}

// unthinned refuses a field, or pattern of fields, whose values are read, that may mean a text
// of which some words are left out by how many documents hold them.
func (k *walker) unthinned(v esjson.Value, name string) error {
	for _, thinned := range k.rules.Thinned {
		if thinned == "*" || couldMatch(name, thinned) {
			return refuse(v, name, "the words of the field [%s] are loaded by how many documents hold them, hidden ones too%s", thinned, underDocRule)
		}
	}
	return nil
}

// couldMean reports whether a name or pattern can mean a field, or one below it. A pattern is
// taken for wider than it is: by what stands before its first star, and behind its last.
func couldMean(pattern, field string) bool {
	head, _, star := strings.Cut(pattern, "*")
	return couldMatch(pattern, field) || star && (strings.HasPrefix(head, field+".") || strings.HasPrefix(field+".", head))
}

// couldMatch is couldMean for a field that has none below it.
func couldMatch(pattern, field string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == field
	}
	tail := rest[strings.LastIndexByte(rest, '*')+1:]
	return strings.HasPrefix(field, head) && strings.HasSuffix(field, tail) && len(field) >= len(head)+len(tail)
}

// uncomputedTexts refuses a clause over several fields that may mean one that a script
// computes without naming it. A field rule has every field named.
func (k *walker) uncomputedTexts(v esjson.Value, c *clause) error {
	if c.form != multi || !k.hidesDocs() || k.role || k.fieldRule() || len(k.rules.Computed) == 0 {
		return nil
	}
	_, list := v.Lookup("fields")
	field, one := v.Lookup("default_field")
	if !list && !one {
		return k.uncomputed(v, "*")
	}
	if text, _ := v.Lookup("query"); c.name == "query_string" && (strings.ContainsAny(text.String(), syntax) || syntaxWords[field.String()]) {
		return refuse(text, c.name, "its text may name a field that a script computes; want a text without %s%s", syntax, underDocRule)
	}
	return nil
}

// hasPivot reports whether a rank_feature says by what it is to be compared.
func hasPivot(v esjson.Value) bool {
	for _, function := range []string{"log", "sigmoid", "linear"} {
		if _, ok := v.Lookup(function); ok {
			return true
		}
	}
	saturation, _ := v.Lookup("saturation")
	_, ok := saturation.Lookup("pivot")
	return ok
}

// beginsWords reports whether the last word of a clause's text is the beginning of words
// in a phrase.
func beginsWords(c *clause, v esjson.Value) bool {
	return c.name == "match_phrase_prefix" || typeOf(c, v) == "phraseprefix"
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

// allWords is the way to rewrite near spellings that takes all words that fit.
const allWords = "constant_score"

// spelled prints a clause with near spellings so that no word takes the place of another.
func (k *walker) spelled(v esjson.Value, c *clause) error {
	key := "fuzzy_rewrite"
	if c.name == "fuzzy" {
		key = "rewrite"
	}
	if c.name == "query_string" || c.name == "simple_query_string" {
		// Neither can be told which words to take: fuzzy_rewrite does nothing in texts
		// (measured on OpenSearch 2.19 and 3.4, and on Elasticsearch 7.10).
		text, _ := v.Lookup("query")
		if _, flags := v.Lookup("flags"); flags || spellsNear(text.String()) {
			return refuse(text, "~", "a near spelling stands for the nearest words, those of hidden documents among them; a match with fuzziness takes all%s", underDocRule)
		}
		return k.unweighed(v, c)
	}
	// One that is given was judged by its slot. What has no terms to choose from either fails
	// or looks at each value; the way of the index would not be its own.
	if _, given := options(c, v).Lookup(key); !given && k.mayChoose(v, c) {
		k.ending = key
	}
	return k.unweighed(v, c)
}

// spellsNear reports whether a ~ in a text may not stand behind a phrase, where it means
// a distance.
func spellsNear(text string) bool {
	quotes, closed, near := 0, false, false
	for i := 0; i < len(text); i++ {
		behind := closed
		closed = false
		switch text[i] {
		case '\\':
			i++ // what is escaped means itself
		case '"':
			quotes++
			closed = quotes%2 == 0
		case '~':
			near = near || !behind
		}
	}
	return near || quotes%2 != 0 && strings.Contains(text, "~")
}

// endOptions prints what has to stand at the end of the options of a clause, and ends them.
func (k *walker) endOptions() {
	if k.ending != "" {
		k.w.Key(k.ending)
		k.w.Text(allWords)
		k.ending = ""
	}
	k.w.EndObject()
}

// mayChoose reports whether a clause may stand for terms of a dictionary.
func (k *walker) mayChoose(v esjson.Value, c *clause) bool {
	what := k.contents(v, c)
	return what == Nothing || what.hasTerms()
}

// beginning prints a match_phrase_prefix, or a multi_match of that type, of one word, as
// match_bool_prefix: for one word both mean a prefix, and that one takes all words. Where no
// text is searched, and where it is no request, the cluster has an answer of its own.
func (k *walker) beginning(v esjson.Value, c *clause) error {
	what := k.contents(v, c)
	if c.name != "query_string" && (what > Analysed || what == Nothing || fails(c, v)) {
		return k.printed(v, c)
	}
	text := clauseText(c, v)
	if what != Words || c.name == "query_string" || !isOneWord(text) {
		return refuse(v, "phrase_prefix", "its last word stands for the first words that begin so, those of hidden documents among them; want one word of Latin letters and digits, and fields with an analyser that keeps it one, or match_phrase, or match_bool_prefix%s", underDocRule)
	}
	o := options(c, v)
	if z, given := o.Lookup("zero_terms_query"); given && z.String() != "none" {
		return refuse(z, "zero_terms_query", "want none%s", underDocRule)
	}
	k.instead = true
	err := k.unweighed(v, c)
	k.instead = false
	return err
}

// fails reports whether every cluster refuses a prefix of a phrase that has options of this
// kind, before it looks at an index.
func fails(c *clause, v esjson.Value) bool {
	o := options(c, v)
	_, fuzzy := o.Lookup("fuzziness")
	slop, _ := o.Lookup("slop")
	return fuzzy || strings.HasPrefix(slop.String(), "-")
}

// maxWord is how long a word can be that the usual analysers do not split.
const maxWord = 255

// isOneWord reports whether the usual analysers make one word of text.
func isOneWord(text string) bool {
	if len(text) > maxWord {
		return false
	}
	for _, r := range []byte(text) {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') {
			return false
		}
	}
	return text != ""
}

// clauseText returns the text that a clause looks for.
func clauseText(c *clause, v esjson.Value) string {
	if t, ok := options(c, v).Lookup("query"); ok {
		return t.String()
	}
	for name, m := range v.Members() {
		if _, option := c.keys[name]; !option && c.form == perField {
			return m.String()
		}
	}
	return ""
}

// randomScore prints a random score so that it does not follow from the numbers of
// documents, which the clusters take where no seed is given. A field counts beside a seed
// alone.
func (k *walker) randomScore(v esjson.Value, key string, keys shape) error {
	seed, seeded := v.Lookup("seed")
	if k.role || !k.docRule() && !k.fieldRule() || seeded && !seed.Is(esjson.Null) || !v.Is(esjson.Object) {
		return k.object(v, key, keys)
	}
	k.w.BeginObject()
	for name, m := range v.Members() {
		if _, ok := keys[name]; !ok {
			return refuse(m, name, "unknown key")
		}
	}
	k.w.Key("seed")
	k.w.Int(k.rules.Seed)
	k.w.Key("field")
	k.w.Text(byWrite)
	k.w.EndObject()
	return nil
}

// unskipped prints a clause where no cluster turns it into match_none for the whole shard.
func (k *walker) unskipped(v esjson.Value, c *clause) error {
	k.w.BeginObject()
	k.w.Key("dis_max")
	k.w.BeginObject()
	k.w.Key("queries")
	k.w.BeginArray()
	if err := k.printed(v, c); err != nil {
		return err
	}
	k.w.EndArray()
	k.w.EndObject()
	k.w.EndObject()
	return nil
}

// isCount reports whether a track_total_hits says up to how many hits are counted.
func isCount(v esjson.Value) bool {
	_, err := strconv.ParseFloat(v.String(), 64)
	return err == nil
}

// tracked is what clusters count to if they are not told.
const tracked = 10_000

// total has all hits counted by a search under a document rule that is sorted, and notes
// what of the total is to be told.
func (k *walker) total(body esjson.Value, p *Params) error {
	k.rules.Total = Total{}
	_, inURL := find(p.Keep, "sort")
	_, over := p.over.Lookup("sort")
	_, sorted := body.Lookup("sort")
	asked, ok := p.over.Lookup("track_total_hits")
	if !ok {
		asked, ok = body.Lookup("track_total_hits")
	}
	sorted = sorted || inURL || over
	if !k.hidesDocs() || !sorted && (showsHits(body, p) || !isCount(asked)) {
		return nil
	}
	k.counted = true
	k.w.Key("track_total_hits")
	k.w.Bool(true)
	if !ok {
		k.rules.Total = Total{Cut: true, Most: tracked}
		return nil
	}
	switch on, err := asked.Bool(); {
	case err == nil && on, asked.String() == "true":
		return nil
	case err == nil, asked.String() == "false":
		k.rules.Total = Total{Cut: true, Most: -1}
		return nil
	}
	n, err := strconv.ParseFloat(asked.String(), 64)
	if err != nil { // the walk says what is wrong
		n = 0
	}
	k.rules.Total = Total{Cut: true, Most: int64(n)}
	return nil
}
