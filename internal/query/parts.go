package query

// Parts that several clauses share.
var (
	// rewritten: top_terms_N keeps N terms of the dictionary, and whether a visible
	// one is among them depends on the hidden ones.
	rewritten = of(rewriting, "rewrite")

	analysed = join(of(scalar, "query", "analyzer", "operator", "minimum_should_match", "lenient", "zero_terms_query",
		"auto_generate_synonyms_phrase_query"),
		shape{"cutoff_frequency": {kind: decimal, verdict: verdict{dls: whyStats}}})

	fuzzed = join(of(scalar, "fuzziness", "fuzzy_transpositions"), of(whole, "prefix_length"), of(expansions, "max_expansions"), of(rewriting, "fuzzy_rewrite"))

	// quote_field_suffix makes a quoted text ask for another field than the one named.
	textOptions = join(of(scalar, "analyzer", "analyze_wildcard", "auto_generate_synonyms_phrase_query", "default_operator", "lenient",
		"minimum_should_match", "fuzzy_transpositions"), of(whole, "fuzzy_prefix_length"), of(expansions, "fuzzy_max_expansions"),
		shape{"quote_field_suffix": {kind: scalar, verdict: verdict{fls: "it names other fields by a suffix"}}})

	scoreFunction = shape{
		"weight":             {kind: decimal},
		"field_value_factor": {kind: object, keys: join(of(fieldName, "field"), of(scalar, "modifier", "missing"), of(decimal, "factor"))},
		"random_score":       {kind: random, keys: join(of(fieldName, "field"), of(scalar, "seed"))},
		"script_score":       {kind: object, verdict: both(whyScript), keys: shape{"script": scripted}},
		"gauss":              decay,
		"linear":             decay,
		"exp":                decay,
	}
	decay = slot{kind: byField, keys: join(of(rangeText, "origin"), of(scalar, "scale", "offset"), of(decimal, "decay"))}

	shapeTest = join(namedBoost, of(inert, "shape"), of(scalar, "relation", "strategy"),
		shape{"indexed_shape": {verdict: everyone(whyLookup)}})

	// intervalRule is one rule or the object below the field of an intervals clause;
	// rules nest through the kind rules.
	intervalRule = shape{
		"match":    {kind: object, keys: join(intervalText, of(scalar, "query", "ordered"), of(whole, "max_gaps"), intervalFilter)},
		"prefix":   {kind: object, verdict: verdict{dls: whyTerms}, keys: join(intervalText, of(prefixText, "prefix"))},
		"wildcard": {kind: object, verdict: verdict{dls: whyTerms}, keys: join(intervalText, of(wildcardText, "pattern"), of(expansions, "max_expansions"))},
		"regexp": {kind: object, verdict: verdict{dls: whyTerms}, keys: join(intervalText, of(regexpText, "pattern"), of(scalar, "flags", "case_insensitive"), of(whole, "flags_value"),
			of(expansions, "max_expansions"))},
		"fuzzy":  {kind: object, verdict: verdict{dls: whyTerms}, keys: join(intervalText, of(scalar, "term", "transpositions", "fuzziness"), of(whole, "prefix_length"))},
		"range":  {kind: object, verdict: verdict{dls: whyTerms}, keys: join(intervalText, of(rangeText, "gt", "gte", "lt", "lte"))},
		"all_of": {kind: object, keys: join(of(rules, "intervals"), of(scalar, "ordered", "mode"), of(whole, "max_gaps"), intervalFilter)},
		"any_of": {kind: object, keys: join(of(rules, "intervals"), intervalFilter)},
	}
	intervalText   = join(of(scalar, "analyzer"), of(fieldName, "use_field"))
	intervalFilter = shape{"filter": {kind: object, keys: join(of(rules, "after", "before", "contained_by", "containing", "not_contained_by",
		"not_containing", "not_overlapping", "overlapping"), shape{"script": scripted})}}
)
