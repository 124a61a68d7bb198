package query

// fetched is what a search, an inner hit and a top hit say about the parts of a
// hit. script_fields passes when it is empty.
var fetched = join(
	of(scalar, "version", "seq_no_primary_term", "track_scores"), of(whole, "from", "size"),
	of(sortList, "sort"), of(sourceSpec, "_source"), of(fetchFields, "docvalue_fields", "fields"), of(storedList, "stored_fields"),
	of(highlighted, "highlight"),
	shape{
		"explain":       {kind: off, verdict: explains},
		"script_fields": {kind: named, keys: shape{"script": scripted, "ignore_failure": {kind: scalar}}, verdict: both(whyScript), emptyOK: true},
	})

// explains: an explanation counts the documents of the whole shard.
var explains = verdict{dls: whyStats, fls: "explanations are not built yet"}

// topHits is the body of a top_hits aggregation.
var topHits = fetched

// innerHits is one inner_hits object; collapse stands only in those of a collapse.
var innerHits = join(fetched, of(scalar, "name", "ignore_unmapped"), shape{"collapse": {kind: object, keys: of(rankName, "field")}})

// searchKeys is the table of the keys of a search body.
var searchKeys = join(fetched, of(scalar, "timeout"), of(hitCount, "track_total_hits"),
	of(whole, "terminate_after"), of(decimal, "min_score"),
	of(scalars, "search_after", "stats"), of(queryOne, "query", "post_filter"), of(aggsNamed, "aggs", "aggregations"),
	shape{
		"collapse": {kind: object, keys: join(of(rankName, "field"), of(whole, "max_concurrent_group_searches"), of(hitShapes, "inner_hits"))},
		"rescore": {kind: objects, verdict: byFirst, keys: join(of(natural, "window_size"), shape{
			"query":            {kind: object, keys: join(of(queryOne, "rescore_query"), of(scalar, "score_mode"), of(decimal, "query_weight", "rescore_query_weight"))},
			"learning_to_rank": {verdict: everyone(whyModel)},
			"script":           {verdict: everyone(whyScript)},
		})},
		"slice": {kind: object, keys: join(of(rankName, "field"), of(whole, "id", "max"))},

		// What is weighed in a constant_score around a clause is told by its own score.
		"include_named_queries_score": {kind: off, verdict: verdict{dls: whyStats}},
		// A profile prints the query of every shard with the filter in it.
		"profile": {kind: off, verdict: both(whyText)},
		// Suggesters read the term dictionary; no query binds them.
		"suggest": {kind: inert, verdict: verdict{dls: whyTerms, fls: "suggestions under a field rule are not built yet", all: "suggestions are not built yet"}, emptyOK: true},
		// A field made up under the name that a filter uses would decide what it shows.
		"runtime_mappings": {verdict: verdict{dls: whyMadeUp, fls: whyMadeUp, all: "fields made up in a request are not built yet"}, emptyOK: true},
		"derived":          {verdict: verdict{dls: whyMadeUp, fls: whyMadeUp, all: "fields made up in a request are not built yet"}, emptyOK: true},
		"indices_boost":    {verdict: everyone(whyIndex), emptyOK: true},
		// Other sources of hits, or another choice of indices, than query and path.
		"pit":              {verdict: everyone(whyHandle)},
		"ext":              {verdict: everyone(whyHidden), emptyOK: true},
		"search_pipeline":  {kind: onlyNone, verdict: verdict{}},
		"verbose_pipeline": {kind: off, verdict: everyone(whyPipe)},
		"knn":              {verdict: everyone(whyModel)},
		"retriever":        {verdict: everyone(whyModel)},
		"rank":             {verdict: everyone(whyModel)},
		"sub_searches":     {verdict: everyone(whyModel)},
		"project_routing":  {verdict: everyone(whyIndex)},
		"script":           {verdict: everyone("it has no meaning here")},
		"fielddata_fields": {verdict: everyone("it is an old name of docvalue_fields")},
	})

// countKeys is the table of the keys of a count body.
var countKeys = of(queryOne, "query")

// highlightOptions are the keys of highlight and of each of its fields.
var highlightOptions = join(
	of(scalar, "type", "boundary_chars", "boundary_scanner", "boundary_scanner_locale", "encoder", "force_source", "fragmenter", "order",
		"require_field_match", "tags_schema"),
	of(whole, "boundary_max_scan", "fragment_offset", "fragment_size", "max_analyzed_offset", "max_analyzer_offset", "max_fragment_length",
		"no_match_size", "number_of_fragments", "phrase_limit"),
	of(scalars, "pre_tags", "post_tags"), of(queryOne, "highlight_query"),
	shape{"options": {verdict: everyone(whyModel), emptyOK: true}})

var highlightField = join(highlightOptions, of(fieldList, "matched_fields"))

// sortOptions are the keys below a field in sort; nested ones nest.
var sortOptions = join(
	of(scalar, "order", "mode", "missing", "unmapped_type", "numeric_type", "format", "ignore_unmapped", "unit", "distance_type", "validation_method"),
	of(pathName, "nested_path"), of(queryOne, "nested_filter"))

// sortNested is the nested option of a sort.
var sortNested = join(of(pathName, "path"), of(queryOne, "filter"), of(whole, "max_children"))
