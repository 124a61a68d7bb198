package query

// Engines says which clusters know a construct; it is for documentation, the
// cluster in front of us refuses what it does not know.
type Engines string

// The engines of a row.
const (
	Both          Engines = "both"
	OpenSearch    Engines = "opensearch"
	Elasticsearch Engines = "elasticsearch"
)

// form says how a clause's object is read.
type form uint8

const (
	plain     form = iota // keys from the row
	perField              // one key is a field, the others are options
	fieldTest             // exists: a pattern that is expanded by hand
	multi                 // fields in a list; absent means all fields
)

// clause is one row of the query table.
type clause struct {
	name    string
	engines Engines
	form    form
	keys    shape // of the clause's object; for perField the options beside the field
	value   shape // perField: keys of the object below the field
	short   kind  // perField: what may stand below the field in place of an object
	verdict
}

// clauses is the table of query clauses. The name of a perField clause's options
// counts only with a scalar below it: {"terms":{"boost":["x"]}} asks for a field
// called boost, and term, prefix, wildcard, fuzzy and match know no options there.
var clauses = index([]clause{
	// Clauses around other clauses. OpenSearch also takes mustNot.
	{name: "bool", engines: Both, keys: join(namedBoost,
		of(queryMany, "must", "filter", "should", "must_not", "mustNot"), of(scalar, "minimum_should_match", "adjust_pure_negative"))},
	{name: "boosting", engines: Both, keys: join(namedBoost, of(queryOne, "positive", "negative"), of(decimal, "negative_boost"))},
	{name: "constant_score", engines: Both, keys: join(namedBoost, of(queryOne, "filter"))},
	{name: "dis_max", engines: Both, keys: join(namedBoost, of(queryMany, "queries"), of(decimal, "tie_breaker"))},
	{name: "function_score", engines: Both, keys: join(namedBoost, scoreFunction,
		of(queryOne, "query", "filter"), of(scalar, "boost_mode", "score_mode"), of(decimal, "max_boost"),
		shape{"min_score": {kind: decimal, verdict: verdict{dls: whyEarly}}, "functions": {kind: objects, keys: join(scoreFunction, of(queryOne, "filter"))}})},
	{name: "script_score", engines: Both, verdict: both(whyScript), keys: join(namedBoost, of(queryOne, "query"), of(decimal, "min_score"),
		shape{"script": scripted})},

	{name: "match_all", engines: Both, keys: namedBoost},
	{name: "match_none", engines: Both, keys: namedBoost},
	{name: "ids", engines: Both, keys: join(namedBoost, of(scalars, "values", "type"))},
	{name: "type", engines: Both, keys: join(namedBoost, of(scalar, "value"))},

	// Clauses on terms. A terms clause with an object below its field is a lookup in
	// another index; the filter of the search does not bind what it reads.
	{name: "term", engines: Both, form: perField, short: scalar, value: join(namedBoost, of(scalar, "value", "case_insensitive"))},
	{name: "terms", engines: Both, form: perField, short: termsValue, keys: join(namedBoost, of(scalar, "value_type"))},
	{name: "terms_set", engines: Both, form: perField, value: join(namedBoost,
		of(scalars, "terms"), of(scalar, "minimum_should_match"), of(fieldName, "minimum_should_match_field"), shape{"minimum_should_match_script": scripted})},
	{name: "range", engines: Both, form: perField, keys: namedBoost, value: join(namedBoost,
		of(rangeText, "gt", "gte", "lt", "lte", "from", "to"), of(scalar, "include_lower", "include_upper", "format", "time_zone", "relation"))},
	{name: "exists", engines: Both, form: fieldTest, keys: join(namedBoost, of(fieldPattern, "field"))},
	// Clauses that choose terms from the dictionary, which holds those of hidden
	// documents too. By default all terms that fit are taken, so that a hidden one
	// changes nothing; fuzzy takes the 50 nearest, which hidden ones could displace.
	{name: "prefix", engines: Both, form: perField, short: prefixText, value: join(namedBoost, of(prefixText, "value", "prefix"),
		of(scalar, "case_insensitive"), rewritten)},
	{name: "wildcard", engines: Both, form: perField, short: wildcardText, value: join(namedBoost, rewritten,
		of(wildcardText, "value", "wildcard"), of(scalar, "case_insensitive"))},
	{name: "regexp", engines: Both, form: perField, short: regexpText, keys: of(scalar, "_name"), value: join(namedBoost, rewritten,
		of(regexpText, "value"), of(scalar, "flags", "case_insensitive"), of(whole, "flags_value", "max_determinized_states"))},
	{name: "fuzzy", engines: Both, form: perField, short: scalar, value: join(namedBoost, rewritten,
		of(scalar, "value", "term", "fuzziness", "transpositions"), of(whole, "prefix_length"), of(expansions, "max_expansions"))},

	// Clauses on analysed text. cutoff_frequency and common weigh words by how many
	// documents of the shard hold them, hidden ones included, and match by that.
	{name: "match", engines: Both, form: perField, short: scalar, value: join(namedBoost, analysed, fuzzed)},
	{name: "match_phrase", engines: Both, form: perField, short: scalar, value: join(namedBoost, of(scalar, "query", "analyzer", "zero_terms_query"),
		of(whole, "slop"))},
	{name: "match_phrase_prefix", engines: Both, form: perField, short: scalar, value: join(namedBoost,
		of(scalar, "query", "analyzer", "zero_terms_query"), of(whole, "slop"), of(expansions, "max_expansions"))},
	{name: "match_bool_prefix", engines: Both, form: perField, short: scalar, value: join(namedBoost, fuzzed,
		of(scalar, "query", "analyzer", "minimum_should_match", "operator"))},
	{name: "multi_match", engines: Both, form: multi, keys: join(namedBoost, analysed, fuzzed,
		of(fieldList, "fields"), of(scalar, "type"), of(whole, "slop"), of(decimal, "tie_breaker"))},
	{name: "combined_fields", engines: Both, form: multi, keys: join(namedBoost, of(fieldList, "fields"),
		of(scalar, "query", "operator", "minimum_should_match", "zero_terms_query", "auto_generate_synonyms_phrase_query"))},
	{name: "common", engines: Both, form: perField, verdict: verdict{dls: whyStats}, short: scalar, value: join(namedBoost,
		of(scalar, "query", "analyzer", "cutoff_frequency", "low_freq_operator", "high_freq_operator"), of(inert, "minimum_should_match"))},
	{name: "query_string", engines: Both, form: multi, keys: join(namedBoost, textOptions, of(luceneText, "query"), of(fieldList, "default_field", "fields"),
		of(scalar, "allow_leading_wildcard", "enable_position_increments", "escape", "fuzziness", "quote_analyzer", "time_zone", "type"),
		of(whole, "max_determinized_states", "phrase_slop"), of(decimal, "tie_breaker"), rewritten, of(rewriting, "fuzzy_rewrite"))},
	{name: "simple_query_string", engines: Both, form: multi, keys: join(namedBoost, textOptions, of(simpleText, "query"), of(fieldList, "fields"),
		of(scalar, "flags"))},

	// Clauses on positions. use_field and field_masking_span change the field deep
	// inside; span_gap stands among the clauses of span_near alone.
	{name: "intervals", engines: Both, form: perField, value: join(namedBoost, intervalRule)},
	{name: "span_term", engines: Both, form: perField, short: scalar, value: join(namedBoost, of(scalar, "value", "term"))},
	{name: "span_multi", engines: Both, verdict: verdict{dls: whyTerms}, keys: join(namedBoost, of(queryOne, "match"))},
	{name: "span_first", engines: Both, keys: join(namedBoost, of(queryOne, "match"), of(whole, "end"))},
	{name: "span_near", engines: Both, keys: join(namedBoost, of(queryMany, "clauses"), of(scalar, "in_order"), of(whole, "slop"))},
	{name: "span_gap", engines: Both, form: perField, short: scalar},
	{name: "span_or", engines: Both, keys: join(namedBoost, of(queryMany, "clauses"))},
	{name: "span_not", engines: Both, keys: join(namedBoost, of(queryOne, "include", "exclude"), of(whole, "dist", "pre", "post"))},
	{name: "span_containing", engines: Both, keys: join(namedBoost, of(queryOne, "little", "big"))},
	{name: "span_within", engines: Both, keys: join(namedBoost, of(queryOne, "little", "big"))},
	{name: "field_masking_span", engines: Both, keys: join(namedBoost, of(queryOne, "query"), of(fieldName, "field"))},
	{name: "span_field_masking", engines: Elasticsearch, keys: join(namedBoost, of(queryOne, "query"), of(fieldName, "field"))},

	// A nested object belongs to its document, so the filter binds it. Parents and
	// children are documents of their own, which it does not bind.
	{name: "nested", engines: Both, keys: join(namedBoost, of(pathName, "path"), of(queryOne, "query"), of(scalar, "score_mode", "ignore_unmapped"),
		of(hitShape, "inner_hits"))},
	{name: "has_child", engines: Both, verdict: verdict{dls: whyJoin, fls: whyJoinFLS}, keys: join(namedBoost, of(queryOne, "query"),
		of(scalar, "type", "score_mode", "ignore_unmapped"), of(whole, "min_children", "max_children"), of(hitShape, "inner_hits"))},
	{name: "has_parent", engines: Both, verdict: verdict{dls: whyJoin, fls: whyJoinFLS}, keys: join(namedBoost, of(queryOne, "query"),
		of(scalar, "parent_type", "score", "ignore_unmapped"), of(hitShape, "inner_hits"))},
	{name: "parent_id", engines: Both, verdict: verdict{dls: whyJoin, fls: whyJoinFLS}, keys: join(namedBoost, of(scalar, "type", "id", "ignore_unmapped"))},

	// like takes texts only: an object names a document, maybe of another index.
	{name: "more_like_this", engines: Both, form: multi, verdict: verdict{dls: whyStats}, keys: join(namedBoost, of(fieldList, "fields"),
		each(slot{kind: scalars}, "like", "unlike"), of(scalar, "analyzer", "minimum_should_match", "include", "fail_on_unsupported_field"),
		of(whole, "max_query_terms", "min_term_freq", "min_doc_freq", "max_doc_freq", "min_word_length", "max_word_length"), of(scalars, "stop_words"), shape{"boost_terms": {kind: decimal, verdict: verdict{fls: whyObjects}}})},
	{name: "script", engines: Both, verdict: both(whyScript), keys: join(namedBoost, shape{"script": scripted})},
	// Their scores carry the field's value out; so does sort, and the field is looked at.
	{name: "distance_feature", engines: Both, keys: join(namedBoost, of(fieldName, "field"), of(inert, "origin"), of(scalar, "pivot"))},
	{name: "rank_feature", engines: Both, keys: join(namedBoost, of(fieldName, "field"), of(inert, "saturation", "log", "sigmoid", "linear"))},

	// Below the field stand shapes and points, which name nothing, but for a shape
	// that is stored in another index.
	{name: "geo_bounding_box", engines: Both, form: perField, short: inert, keys: join(namedBoost, of(scalar, "type", "validation_method", "ignore_unmapped"))},
	{name: "geo_distance", engines: Both, form: perField, short: inert,
		keys: join(namedBoost, of(scalar, "distance", "distance_type", "unit", "validation_method", "ignore_unmapped"))},
	{name: "geo_polygon", engines: Both, form: perField, keys: join(namedBoost, of(scalar, "validation_method", "ignore_unmapped")), value: of(inert, "points")},
	{name: "geo_grid", engines: Elasticsearch, form: perField, keys: namedBoost, value: join(namedBoost, of(scalar, "geohash", "geotile", "geohex"))},
	{name: "geo_shape", engines: Both, form: perField, keys: join(namedBoost, of(scalar, "ignore_unmapped")), value: shapeTest},
	{name: "shape", engines: Elasticsearch, form: perField, keys: join(namedBoost, of(scalar, "ignore_unmapped")), value: shapeTest},
	{name: "xy_shape", engines: OpenSearch, form: perField, keys: join(namedBoost, of(scalar, "ignore_unmapped")), value: shapeTest},

	// What reads other documents, hides its content or needs a model is refused for
	// everybody who is not unrestricted.
	{name: "percolate", engines: Both, verdict: everyone("stored queries may read anything; it is not built yet")},
	{name: "percolate_ext", engines: OpenSearch, verdict: everyone("stored queries may read anything; it is not built yet")},
	{name: "pinned", engines: Elasticsearch, verdict: everyone(whyLookup)},
	{name: "rule", engines: Elasticsearch, verdict: everyone(whyLookup)},
	{name: "rule_query", engines: Elasticsearch, verdict: everyone(whyLookup)},
	{name: "wrapper", engines: Both, verdict: everyone(whyHidden)},
	{name: "template", engines: OpenSearch, verdict: everyone(whyHidden)},
	{name: "agentic", engines: OpenSearch, verdict: everyone(whyHidden)},
	{name: "hybrid", engines: OpenSearch, verdict: everyone(whyModel)},
	{name: "knn", engines: Both, verdict: everyone(whyModel)},
	{name: "neural", engines: OpenSearch, verdict: everyone(whyModel)},
	{name: "neural_sparse", engines: OpenSearch, verdict: everyone(whyModel)},
	{name: "neural_knn", engines: OpenSearch, verdict: everyone(whyModel)},
	{name: "sparse_vector", engines: Elasticsearch, verdict: everyone(whyModel)},
	{name: "text_expansion", engines: Elasticsearch, verdict: everyone(whyModel)},
	{name: "weighted_tokens", engines: Elasticsearch, verdict: everyone(whyModel)},
	{name: "semantic", engines: Elasticsearch, verdict: everyone(whyModel)},
	{name: "sltr", engines: OpenSearch, verdict: everyone(whyHidden)},
	{name: "ltr", engines: OpenSearch, verdict: everyone(whyHidden)},
	{name: "match_explorer", engines: OpenSearch, verdict: everyone(whyStats)},
	{name: "term_stat", engines: OpenSearch, verdict: everyone(whyStats)},
	{name: "validating_ltr_query", engines: OpenSearch, verdict: everyone(whyHidden)},
	{name: "correlation", engines: OpenSearch, verdict: everyone(whyModel)},
	{name: "star_tree", engines: OpenSearch, verdict: everyone("it is no clause")},
})

// index makes a table of rows by name and panics if two share one.
func index(rows []clause) map[string]*clause {
	table := make(map[string]*clause, len(rows))
	for i := range rows {
		if table[rows[i].name] != nil {
			panic("BUG: two rows for clause " + rows[i].name)
		}
		table[rows[i].name] = &rows[i]
	}
	return table
}
