package queries_test

import "strings"

// A twinField is a field of the twins, one of each type and option that decides what a clause
// becomes there.
type twinField struct {
	name, def string
	// engine is the only one that has the type; empty for all.
	engine string
	// values are those of the visible documents, hidden of hidden ones, as JSON.
	values, hidden []string
	// word is a value of a visible document as it stands in a text, part its beginning.
	word, part string
}

// words are values of texts and keywords: a hidden document has other words that begin so or
// are spelled nearly so, more of them than the clusters take by themselves.
var (
	words       = []string{`"red"`, `"redder"`, `"blue sky"`, `"sky red"`, `"x"`}
	hiddenWords = []string{nearWords(), `"red"`, `"sky blue"`}
)

// twinSettings define the analysers that the fields name.
const twinSettings = `"analysis":{
	"normalizer":{"low":{"type":"custom","filter":["lowercase"]}},
	"filter":{"same":{"type":"synonym_graph","synonyms":["red, crimson, dark pink"]},"grams":{"type":"edge_ngram","min_gram":1,"max_gram":4}},
	"analyzer":{"same":{"tokenizer":"standard","filter":["lowercase","same"]},"grams":{"tokenizer":"standard","filter":["lowercase","grams"]}}}`

// wordsField is a field of words.
func wordsField(name, def string) twinField {
	return twinField{name: name, def: def, values: words, hidden: hiddenWords, word: "red", part: "re"}
}

// valueField is a field whose values are not words.
func valueField(name, def, word, part string, values, hidden []string) twinField {
	return twinField{name: name, def: def, values: values, hidden: hidden, word: word, part: part}
}

var twinFields = twinTable()

func twinTable() []twinField {
	list := []twinField{
		wordsField("t_plain", `{"type":"text"}`),
		wordsField("t_unindexed", `{"type":"text","index":false}`),
		wordsField("t_docs", `{"type":"text","index_options":"docs"}`),
		wordsField("t_freqs", `{"type":"text","index_options":"freqs"}`),
		wordsField("t_offsets", `{"type":"text","index_options":"offsets"}`),
		wordsField("t_normless", `{"type":"text","norms":false}`),
		wordsField("t_english", `{"type":"text","analyzer":"english"}`),
		wordsField("t_whitespace", `{"type":"text","analyzer":"whitespace"}`),
		wordsField("t_keyword", `{"type":"text","analyzer":"keyword"}`),
		wordsField("t_quote", `{"type":"text","search_quote_analyzer":"keyword"}`),
		wordsField("t_search", `{"type":"text","search_analyzer":"keyword"}`),
		wordsField("t_grams", `{"type":"text","analyzer":"grams"}`),
		wordsField("t_same", `{"type":"text","search_analyzer":"same"}`),
		wordsField("t_prefixes", `{"type":"text","index_prefixes":{"min_chars":1,"max_chars":4}}`),
		wordsField("t_phrases", `{"type":"text","index_phrases":true}`),
		wordsField("t_vectors", `{"type":"text","term_vector":"with_positions_offsets"}`),
		wordsField("t_typed", `{"type":"search_as_you_type"}`),
		wordsField("t_fields", `{"type":"text","fields":{"raw":{"type":"keyword"}}}`),
		wordsField("k_plain", `{"type":"keyword"}`),
		wordsField("k_unindexed", `{"type":"keyword","index":false}`),
		wordsField("k_valueless", `{"type":"keyword","doc_values":false}`),
		wordsField("k_neither", `{"type":"keyword","index":false,"doc_values":false}`),
		wordsField("k_normed", `{"type":"keyword","norms":true}`),
		wordsField("k_low", `{"type":"keyword","normalizer":"low"}`),
		wordsField("k_short", `{"type":"keyword","ignore_above":4}`),
		wordsField("k_null", `{"type":"keyword","null_value":"red"}`),
		wordsField("k_split", `{"type":"keyword","split_queries_on_whitespace":true}`),
		wordsField("k_freqs", `{"type":"keyword","index_options":"freqs"}`),
		wordsField("w_plain", `{"type":"wildcard"}`),
		wordsField("f_object", `{"type":"flat_object"}`),
		wordsField("o.t", ``),
	}
	for _, typ := range []string{"long", "integer", "double", "unsigned_long"} {
		list = append(list, valueField("n_"+typ, `{"type":"`+typ+`"}`, "5", "5", []string{"5", "55", "7"}, []string{"50", "6", "5"}))
	}
	list = append(list,
		valueField("n_unindexed", `{"type":"long","index":false}`, "5", "5", []string{"5", "55", "7"}, []string{"50", "6", "5"}),
		valueField("n_valueless", `{"type":"long","doc_values":false}`, "5", "5", []string{"5", "55", "7"}, []string{"50", "6", "5"}),
		valueField("n_scaled", `{"type":"scaled_float","scaling_factor":10}`, "5", "5", []string{"5", "55", "7"}, []string{"50", "6", "5"}),
		valueField("n_half", `{"type":"half_float"}`, "5", "5", []string{"5", "55", "7"}, []string{"50", "6", "5"}),
		valueField("d_plain", `{"type":"date"}`, "2020-01-01", "2020", []string{`"2020-01-01"`, `"2021-01-01"`}, []string{`"2020-02-02"`, `"1999-01-01"`, `"2020-01-01"`}),
		valueField("d_nanos", `{"type":"date_nanos"}`, "2020-01-01", "2020", []string{`"2020-01-01"`, `"2021-01-01"`}, []string{`"2020-02-02"`, `"1999-01-01"`}),
		valueField("d_unindexed", `{"type":"date","index":false}`, "2020-01-01", "2020", []string{`"2020-01-01"`, `"2021-01-01"`}, []string{`"2020-02-02"`, `"1999-01-01"`}),
		valueField("d_year", `{"type":"date","format":"yyyy"}`, "2020", "20", []string{`"2020"`, `"2021"`}, []string{`"2020"`, `"1999"`}),
		valueField("i_plain", `{"type":"ip"}`, "10.0.0.1", "10", []string{`"10.0.0.1"`, `"10.0.0.2"`}, []string{`"10.0.0.3"`, `"10.0.0.1"`}),
		valueField("i_unindexed", `{"type":"ip","index":false}`, "10.0.0.1", "10", []string{`"10.0.0.1"`, `"10.0.0.2"`}, []string{`"10.0.0.3"`}),
		valueField("b_plain", `{"type":"boolean"}`, "true", "true", []string{"true", "false"}, []string{"true", "true"}),
		valueField("b_unindexed", `{"type":"boolean","index":false}`, "true", "true", []string{"true", "false"}, []string{"true", "true"}),
		valueField("g_point", `{"type":"geo_point"}`, "1,1", "1", []string{`"1,1"`, `"2,2"`}, []string{`"3,3"`}),
		valueField("g_shape", `{"type":"geo_shape"}`, "POINT (1 1)", "POINT", []string{`"POINT (1 1)"`}, []string{`"POINT (3 3)"`}),
		valueField("r_int", `{"type":"integer_range"}`, "5", "5", []string{`{"gte":1,"lt":6}`}, []string{`{"gte":5,"lt":6}`}),
		valueField("r_date", `{"type":"date_range"}`, "2020-01-01", "2020", []string{`{"gte":"2020-01-01"}`}, []string{`{"gte":"1999-01-01"}`}),
		valueField("r_ip", `{"type":"ip_range"}`, "10.0.0.1", "10", []string{`"10.0.0.0/24"`}, []string{`"10.0.0.0/8"`}),
		valueField("x_binary", `{"type":"binary"}`, "cmVk", "cm", []string{`"cmVk"`}, []string{`"cmVk"`}),
		valueField("x_completion", `{"type":"completion"}`, "red", "re", []string{`"red"`}, []string{`"reds"`}),
		valueField("x_count", `{"type":"token_count","analyzer":"standard"}`, "1", "1", []string{`"red"`, `"red fox"`}, []string{`"red"`}),
		valueField("x_rank", `{"type":"rank_feature"}`, "5", "5", []string{"5", "7"}, []string{"6"}),
		valueField("x_ranks", `{"type":"rank_features"}`, "5", "5", []string{`{"a":5}`}, []string{`{"a":6}`}),
		valueField("l_plain", `{"type":"constant_keyword","value":"red"}`, "red", "re", []string{`"red"`}, []string{`"red"`}),
		wordsField("m_plain", `{"type":"match_only_text"}`),
	)
	for i := range list {
		switch name := list[i].name; name {
		case "w_plain", "f_object", "l_plain", "m_plain", "n_unsigned_long", "g_shape":
			list[i].engine = "opensearch"
		}
	}
	return list
}

// otherNames are names that are no field of the table by themselves.
var otherNames = []twinField{
	{name: "a_text", def: `{"type":"alias","path":"t_plain"}`, word: "red", part: "re"},
	{name: "a_key", def: `{"type":"alias","path":"k_plain"}`, word: "red", part: "re"},
	{name: "a_number", def: `{"type":"alias","path":"n_long"}`, word: "5", part: "5"},
	{name: "t_fields.raw", word: "red", part: "re"},
	{name: "t_typed._2gram", word: "red", part: "re"},
	{name: "t_typed._index_prefix", word: "red", part: "re"},
	{name: "t_prefixes._index_prefix", word: "red", part: "re"},
	{name: "f_object.k", engine: "opensearch", word: "red", part: "re"},
	{name: "o", word: "red", part: "re"},
	{name: "kids.t", word: "red", part: "re"},
	{name: "nosuch", word: "red", part: "re"},
	{name: "t_*", word: "red", part: "re"},
	{name: "_id", word: "1", part: "1"},
	{name: "_routing", word: "red", part: "re"},
	{name: "_ignored", word: "k_short", part: "k_"},
	{name: "_field_names", word: "t_plain", part: "t_"},
}

// twinClauses are clauses with F for a field, W for a value and P for the beginning of one.
// Those of a group are looked at alone and in others.
var twinClauses = []string{
	// A phrase whose last word is the beginning of words.
	`{"match_phrase_prefix":{"F":"P"}}`,
	`{"match_phrase_prefix":{"F":"W"}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","slop":2,"max_expansions":60,"boost":2}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","analyzer":"keyword"}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","analyzer":"standard"}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","analyzer":"grams"}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","analyzer":"nosuch"}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","zero_terms_query":"all"}}}`,
	`{"match_phrase_prefix":{"F":{"query":"the"}}}`,
	`{"match_phrase_prefix":{"F":{"query":"blue sk"}}}`,
	`{"match_phrase_prefix":{"F":{"query":5}}}`,
	`{"match_phrase_prefix":{"F":{"query":true}}}`,
	`{"match_phrase_prefix":{"F":{"query":""}}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F"]}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F","t_plain^2"]}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F"],"lenient":true}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F"],"analyzer":"keyword"}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F"],"operator":"and","minimum_should_match":"100%"}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F"],"tie_breaker":0.5}}`,
	// Near spellings.
	`{"fuzzy":{"F":"W"}}`,
	`{"fuzzy":{"F":"P"}}`,
	`{"fuzzy":{"F":{"value":"W"}}}`,
	`{"fuzzy":{"F":{"value":"W","fuzziness":0}}}`,
	`{"fuzzy":{"F":{"value":"W","fuzziness":"AUTO:1,2","prefix_length":1,"transpositions":false}}}`,
	`{"fuzzy":{"F":{"value":"W","fuzziness":2,"max_expansions":70,"boost":3}}}`,
	`{"fuzzy":{"F":{"value":"W","rewrite":"constant_score"}}}`,
	`{"fuzzy":{"F":{"value":"W","fuzziness":5}}}`,
	`{"fuzzy":{"F":{"value":5}}}`,
	`{"fuzzy":{"F":{"value":""}}}`,
	`{"match":{"F":{"query":"W","fuzziness":"AUTO"}}}`,
	`{"match":{"F":{"query":"P","fuzziness":1}}}`,
	`{"match":{"F":{"query":"W rad","fuzziness":1,"operator":"and"}}}`,
	`{"match":{"F":{"query":"W rad","fuzziness":1,"minimum_should_match":2}}}`,
	`{"match":{"F":{"query":"W","fuzziness":0,"prefix_length":1,"fuzzy_transpositions":false}}}`,
	`{"match":{"F":{"query":"W","fuzziness":1,"lenient":true}}}`,
	`{"match":{"F":{"query":"W","fuzziness":1,"analyzer":"keyword"}}}`,
	`{"match":{"F":{"query":"W","fuzziness":1,"fuzzy_rewrite":"constant_score"}}}`,
	`{"match":{"F":{"query":"x y","fuzziness":1,"lenient":true}}}`,
	`{"match":{"F":{"query":"the","fuzziness":1,"zero_terms_query":"all"}}}`,
	`{"match_bool_prefix":{"F":{"query":"W","fuzziness":1}}}`,
	`{"match_bool_prefix":{"F":{"query":"W P","fuzziness":1}}}`,
	`{"multi_match":{"query":"W","fields":["F"],"fuzziness":1}}`,
	`{"multi_match":{"query":"W","fields":["F","t_plain"],"fuzziness":"AUTO","lenient":true}}`,
	`{"multi_match":{"query":"W","fields":["F"],"fuzziness":1,"type":"most_fields"}}`,
	`{"multi_match":{"query":"W","fields":["F"],"fuzziness":1,"type":"bool_prefix"}}`,
	`{"query_string":{"query":"\"W\"~2","fields":["F"]}}`,
	`{"query_string":{"query":"W~","fields":["F"]}}`,
	`{"query_string":{"query":"W","fields":["F"],"fuzziness":1}}`,
	`{"simple_query_string":{"query":"\"W\"~2","fields":["F"]}}`,
	// Phrases.
	`{"match_phrase":{"F":"W"}}`,
	`{"match_phrase":{"F":"blue sky"}}`,
	`{"match_phrase":{"F":{"query":"sky blue","slop":2,"boost":2}}}`,
	`{"match_phrase":{"F":{"query":"W","analyzer":"keyword"}}}`,
	`{"match_phrase":{"F":{"query":"the","zero_terms_query":"all"}}}`,
	`{"multi_match":{"query":"blue sky","type":"phrase","fields":["F"]}}`,
	`{"multi_match":{"query":"W","type":"phrase","fields":["F"],"lenient":true}}`,
	`{"query_string":{"query":"\"blue sky\"","fields":["F"]}}`,
	`{"query_string":{"query":"\"W\" OR P*","fields":["F"]}}`,
	`{"query_string":{"query":"\"W\"","default_field":"F","lenient":true}}`,
	`{"query_string":{"query":"blue sky","type":"phrase","fields":["F"]}}`,
	`{"simple_query_string":{"query":"\"blue sky\" W*","fields":["F"]}}`,
	// Texts over several fields as if they were one.
	`{"multi_match":{"query":"W","type":"cross_fields","fields":["F"]}}`,
	`{"multi_match":{"query":"W sky","type":"cross_fields","operator":"and","fields":["F","t_plain"]}}`,
	`{"query_string":{"query":"W sky","type":"cross_fields","fields":["F","t_plain"]}}`,
	// Places of words.
	`{"span_term":{"F":"W"}}`,
	`{"span_term":{"F":{"value":"W","boost":2}}}`,
	`{"span_near":{"clauses":[{"span_term":{"F":"blue"}},{"span_term":{"F":"sky"}}],"slop":0}}`,
	`{"span_near":{"clauses":[{"span_term":{"F":"blue"}},{"span_gap":{"F":1}},{"span_term":{"F":"sky"}}]}}`,
	`{"span_or":{"clauses":[{"span_term":{"F":"blue"}},{"span_term":{"t_plain":"sky"}}]}}`,
	`{"span_first":{"match":{"span_term":{"F":"W"}},"end":1}}`,
	`{"span_not":{"include":{"span_term":{"F":"W"}},"exclude":{"span_term":{"F":"sky"}}}}`,
	`{"span_within":{"little":{"span_term":{"F":"W"}},"big":{"span_term":{"F":"W"}}}}`,
	`{"span_containing":{"little":{"span_term":{"F":"W"}},"big":{"span_term":{"F":"W"}}}}`,
	`{"field_masking_span":{"query":{"span_term":{"t_plain":"red"}},"field":"F"}}`,
	`{"span_near":{"clauses":[{"span_term":{"t_plain":"red"}},{"field_masking_span":{"query":{"span_term":{"F":"W"}},"field":"t_plain"}}],"slop":5}}`,
	`{"intervals":{"F":{"match":{"query":"W"}}}}`,
	`{"intervals":{"F":{"match":{"query":"blue sky","ordered":true,"max_gaps":0}}}}`,
	// Ranges.
	`{"range":{"F":{"gte":"W"}}}`,
	`{"range":{"F":{"lt":"W","boost":2}}}`,
	`{"range":{"F":{"gte":"now-1d"}}}`,
	`{"range":{"F":{"gte":"2020","format":"yyyy"}}}`,
	`{"range":{"F":{"gte":"W","relation":"within"}}}`,
	`{"range":{"F":{"from":"P","to":null,"include_lower":false}}}`,
	`{"range":{"F":{}}}`,
	// Words that fit a pattern; what the dictionary holds beside them counts for nothing.
	`{"prefix":{"F":"P"}}`,
	`{"prefix":{"F":{"value":"P","rewrite":"constant_score","case_insensitive":true}}}`,
	`{"wildcard":{"F":"P*"}}`,
	`{"regexp":{"F":"P.*"}}`,
	`{"match_bool_prefix":{"F":"P"}}`,
	`{"multi_match":{"query":"P","type":"bool_prefix","fields":["F"]}}`,
	`{"query_string":{"query":"P*","fields":["F"]}}`,
	`{"simple_query_string":{"query":"P*","fields":["F"]}}`,
	// Values.
	`{"term":{"F":"W"}}`,
	`{"terms":{"F":["W","P"]}}`,
	`{"match":{"F":"W"}}`,
	`{"exists":{"field":"F"}}`,
	`{"rank_feature":{"field":"F","log":{"scaling_factor":1}}}`,
	`{"distance_feature":{"field":"F","origin":"W","pivot":"1d"}}`,
	`{"function_score":{"random_score":{"field":"F","seed":1}}}`,
	`{"function_score":{"field_value_factor":{"field":"F","missing":1}}}`,
	`{"terms_set":{"F":{"terms":["W"],"minimum_should_match_field":"n_long"}}}`,
}

// unreadClauses are some that no cluster can parse, or the older one cannot.
var unreadClauses = []string{
	`{"match_phrase_prefix":{"F":{"query":null}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","slop":-1}}}`,
	`{"match_phrase_prefix":{"F":{"query":"P","max_expansions":-1}}}`,
	`{"multi_match":{"query":"P","type":"phrase_prefix","fields":["F"],"fuzziness":1}}`,
	`{"fuzzy":{"F":{"value":"W","fuzziness":"x"}}}`,
	`{"fuzzy":{"F":{"fuzziness":1}}}`,
	`{"multi_match":{"query":"W","fields":["F"],"fuzziness":1,"type":"cross_fields"}}`,
	`{"multi_match":{"query":"W","fields":["F"],"fuzziness":1,"type":"phrase"}}`,
	`{"combined_fields":{"query":"W","fields":["F"]}}`,
}

// twinPlaces are searches with a clause, C, in each of the places where clauses stand.
var twinPlaces = []string{
	`{"query":C}`,
	`{"query":C,"sort":[{"order":"desc"}]}`,
	`{"query":{"bool":{"must_not":[C]}},"sort":["order"]}`,
	`{"query":{"nested":{"path":"kids","query":C}},"sort":["order"]}`,
	`{"size":0,"aggs":{"a":{"filter":C,"aggs":{"s":{"sum":{"field":"order"}}}}}}`,
}

// twinHighlights are the options of a highlighter that marks words by their vectors; some
// name words that a query does not, which hidden documents have too.
var twinHighlights = []string{
	``, `,"number_of_fragments":0`, `,"fragment_size":18,"number_of_fragments":2`, `,"fragment_offset":3,"fragment_size":20`, `,"order":"score"`, `,"boundary_scanner":"sentence"`,
	`,"boundary_scanner":"word","boundary_max_scan":5`, `,"boundary_chars":"s"`, `,"matched_fields":["t_vectors","t_plain"]`, `,"phrase_limit":1`, `,"no_match_size":5`,
	`,"require_field_match":false`, `,"tags_schema":"styled"`, `,"pre_tags":["<1>","<2>"],"post_tags":["<3>"]`, `,"highlight_query":{"match":{"t_vectors":"sky"}}`,
	`,"highlight_query":{"prefix":{"t_vectors":"re"}}`, `,"highlight_query":{"terms":{"t_vectors":["sky","x"]}}`, `,"highlight_query":{"range":{"t_vectors":{"gte":"a"}}}`,
}

// twinHighlighted are the queries by which they mark.
var twinHighlighted = []string{
	`{"match":{"t_vectors":"red sky"}}`, `{"match_phrase":{"t_vectors":"blue sky"}}`, `{"bool":{"must":[{"match":{"t_vectors":"red"}}],"filter":[{"range":{"n_long":{"gte":1}}}]}}`,
	`{"prefix":{"t_vectors":"re"}}`, `{"match":{"t_vectors":{"query":"red","fuzziness":1}}}`, `{"query_string":{"query":"red OR \"blue sky\"","fields":["t_vectors","t_plain"]}}`,
	`{"dis_max":{"queries":[{"match":{"t_vectors":{"query":"red","boost":3}}},{"span_term":{"t_vectors":"sky"}}]}}`,
}

// highlightSearches are searches with a highlighter that the clusters fail on where a field
// has no vectors.
func highlightSearches() (list []string) {
	for _, q := range twinHighlighted {
		for _, options := range twinHighlights {
			if strings.Contains(q, "dis_max") && (strings.Contains(options, "pre_tags") || strings.Contains(options, "tags_schema")) {
				continue // words have tags by their order in the query, and a dis_max has none: it differs from node to node
			}
			for _, field := range []string{"t_vectors", "t_plain", "k_plain", "t_*", "nosuch"} {
				list = append(list, `{"query":`+q+`,"sort":["order"],"highlight":{"fields":{"`+field+`":{"type":"fvh"`+options+`}}}}`)
			}
		}
	}
	return list
}
