package query

// agg is one row of the table of aggregations.
type agg struct {
	name    string
	engines Engines
	keys    shape
	query   bool // the whole object is a query (filter)
	nests   bool // other aggregations may stand below it
	verdict
}

// Parts that several aggregations share.
var (
	valuesOf = join(of(rankName, "field"), of(scalar, "missing", "format", "value_type", "time_zone"), shape{"script": scripted})

	buckets = of(inert, "order")

	// counted: a bucket without documents comes from the term dictionary, which holds
	// the terms of hidden documents too. shard_min_doc_count can only leave out more.
	counted = join(of(minCount, "min_doc_count"), of(scalar, "show_term_doc_count_error"), of(whole, "size", "shard_size"), of(long, "shard_min_doc_count"))

	chosen = of(inert, "include", "exclude") // terms, patterns or a partition; of buckets that exist

	// histogram buckets without documents are made between those with, not read.
	histogram = join(valuesOf, buckets, of(scalar, "interval", "offset", "keyed"), of(long, "min_doc_count"),
		of(inert, "extended_bounds", "hard_bounds"))

	ranged = join(valuesOf, of(inert, "ranges"), of(scalar, "keyed"))

	grid = join(of(rankName, "field"), of(scalar, "precision"), of(whole, "size", "shard_size"), of(inert, "bounds"))

	point = shape{"point": {kind: object, keys: of(rankName, "field")}, "sort": {kind: object, keys: of(rankName, "field")}}

	significant = join(counted, chosen, of(rankName, "field"), of(scalar, "execution_hint"), of(queryOne, "background_filter"),
		of(inert, "jlh", "gnd", "mutual_information", "chi_square", "percentage", "p_value"),
		shape{"script_heuristic": {kind: object, verdict: both(whyScript), keys: shape{"script": scripted}}})

	// Pipelines work on buckets that exist already; their paths name aggregations.
	pipeline = of(inert, "buckets_path", "gap_policy", "format")

	composed = join(valuesOf, of(scalar, "order", "missing_bucket", "missing_order"))

	sided = slot{kind: object, keys: join(of(rankName, "field"), of(queryOne, "filter"), of(scalar, "missing"), shape{"script": scripted})}
)

// aggTable is the table of aggregations.
var aggTable = indexAggs([]agg{
	// Metrics. They see the documents that matched, and with a filter beside the query
	// clusters take no short cut over statistics of the index.
	{name: "avg", engines: Both, verdict: byRounded, keys: valuesOf},
	{name: "max", engines: Both, keys: valuesOf},
	{name: "min", engines: Both, keys: valuesOf},
	{name: "sum", engines: Both, verdict: byRounded, keys: valuesOf},
	{name: "stats", engines: Both, verdict: byRounded, keys: valuesOf},
	{name: "extended_stats", engines: Both, verdict: byRounded, keys: join(valuesOf, of(decimal, "sigma"))},
	{name: "median_absolute_deviation", engines: Both, verdict: byRounded, keys: join(valuesOf, of(scalar, "execution_hint"), of(decimal, "compression"))},
	{name: "value_count", engines: Both, keys: valuesOf},
	{name: "cardinality", engines: Both, keys: join(valuesOf, of(scalar, "rehash", "execution_hint"), of(long, "precision_threshold"))},
	{name: "percentiles", engines: Both, verdict: byRounded, keys: join(valuesOf, of(scalar, "keyed"), of(decimal, "compression"), of(scalars, "percents"), of(inert, "tdigest", "hdr"))},
	{name: "percentile_ranks", engines: Both, verdict: byRounded, keys: join(valuesOf, of(scalar, "keyed"), of(decimal, "compression"), of(scalars, "values"),
		of(inert, "tdigest", "hdr"))},
	{name: "boxplot", engines: Both, verdict: byRounded, keys: join(valuesOf, of(scalar, "execution_hint"), of(decimal, "compression"))},
	{name: "string_stats", engines: Elasticsearch, keys: join(valuesOf, of(scalar, "show_distribution"))},
	{name: "top_metrics", engines: Elasticsearch, verdict: byFirst, keys: join(of(sortList, "sort"), of(whole, "size"),
		shape{"metrics": {kind: objects, keys: of(rankName, "field")}})},
	{name: "top_hits", engines: Both, keys: topHits},
	{name: "weighted_avg", engines: Both, verdict: byRounded, keys: join(of(scalar, "format", "value_type"),
		each(slot{kind: object, keys: valuesOf}, "value", "weight"))},
	{name: "t_test", engines: Both, verdict: byRounded, keys: join(of(scalar, "type"), shape{"a": sided, "b": sided})},
	{name: "rate", engines: Both, verdict: byRounded, keys: join(valuesOf, of(scalar, "unit", "mode"))},
	{name: "scripted_metric", engines: Both, verdict: both(whyScript),
		keys: join(each(scripted, "init_script", "map_script", "combine_script", "reduce_script"), of(inert, "params"))},
	{name: "matrix_stats", engines: Both, verdict: byRounded, keys: join(of(rankNames, "fields"), of(scalar, "mode"),
		shape{"missing": {kind: byField}})},
	{name: "geo_bounds", engines: Both, keys: join(valuesOf, of(scalar, "wrap_longitude"))},
	{name: "geo_centroid", engines: Both, verdict: byRounded, keys: valuesOf},
	{name: "geo_line", engines: Elasticsearch, verdict: byFirst, keys: join(point, of(scalar, "include_sort", "sort_order"), of(whole, "size"))},
	{name: "line", engines: Elasticsearch, verdict: byFirst, keys: join(point, of(scalar, "include_sort", "sort_order"), of(whole, "size"))},
	{name: "cartesian_bounds", engines: Elasticsearch, keys: valuesOf},
	{name: "cartesian_centroid", engines: Elasticsearch, verdict: byRounded, keys: valuesOf},

	// Buckets by value.
	{name: "terms", engines: Both, nests: true, keys: join(valuesOf, counted, chosen, buckets, of(scalar, "execution_hint", "collect_mode"))},
	{name: "multi_terms", engines: Both, nests: true, keys: join(counted, buckets, of(scalar, "collect_mode", "format"),
		shape{"terms": {kind: objects, keys: join(valuesOf, chosen)}})},
	{name: "rare_terms", engines: Both, nests: true, verdict: verdict{documents: whyFirst}, keys: join(valuesOf, chosen, of(scalar, "precision"), of(long, "max_doc_count"))},
	// The background set is the whole index, whatever the query says: hidden documents,
	// and the objects of hidden nested fields, which count as documents there.
	{name: "significant_terms", engines: Both, nests: true, verdict: verdict{dls: whyStats, fls: whyObjects}, keys: significant},
	{name: "significant_text", engines: Both, nests: true, verdict: verdict{dls: whyStats, fls: whyObjects}, keys: join(significant,
		of(rankNames, "source_fields"), of(scalar, "filter_duplicate_text"))},
	{name: "histogram", engines: Both, nests: true, keys: histogram},
	{name: "date_histogram", engines: Both, nests: true, keys: join(histogram, of(scalar, "calendar_interval", "fixed_interval"))},
	{name: "auto_date_histogram", engines: Both, nests: true, keys: join(valuesOf, of(scalar, "minimum_interval"), of(whole, "buckets"))},
	{name: "variable_width_histogram", engines: Both, nests: true, verdict: byFirst, keys: join(valuesOf, of(whole, "buckets", "shard_size", "initial_buffer"))},
	{name: "range", engines: Both, nests: true, keys: ranged},
	{name: "date_range", engines: Both, nests: true, keys: ranged},
	{name: "ip_range", engines: Both, nests: true, keys: ranged},
	{name: "ip_prefix", engines: Elasticsearch, nests: true, keys: join(of(rankName, "field"), of(minCount, "min_doc_count"),
		of(scalar, "is_ipv6", "append_prefix_length", "keyed"), of(whole, "prefix_length"))},
	{name: "geo_distance", engines: Both, nests: true, keys: join(of(rankName, "field"), of(inert, "origin", "ranges"),
		of(scalar, "unit", "distance_type", "keyed"))},
	{name: "geohash_grid", engines: Both, nests: true, keys: grid},
	{name: "geotile_grid", engines: Both, nests: true, keys: grid},
	{name: "geohex_grid", engines: Both, nests: true, keys: grid},
	// Buckets by query: they narrow what matched already.
	{name: "filter", engines: Both, nests: true, query: true},
	{name: "filters", engines: Both, nests: true, keys: join(of(queryNamed, "filters"), of(scalar, "other_bucket", "other_bucket_key", "keyed"))},
	{name: "adjacency_matrix", engines: Both, nests: true, keys: join(of(queryNamed, "filters"), of(scalar, "separator"))},
	{name: "missing", engines: Both, nests: true, keys: of(rankName, "field")},
	// The one aggregation that leaves the query, and so the filter, behind.
	{name: "global", engines: Both, nests: true, verdict: verdict{dls: whyWhole}, keys: shape{}},
	{name: "nested", engines: Both, nests: true, keys: of(pathName, "path")},
	{name: "reverse_nested", engines: Both, nests: true, keys: of(pathName, "path")},
	{name: "children", engines: Both, nests: true, verdict: verdict{dls: whyJoin, fls: whyJoinFLS}, keys: of(scalar, "type")},
	{name: "parent", engines: Both, nests: true, verdict: verdict{dls: whyJoin, fls: whyJoinFLS}, keys: of(scalar, "type")},
	{name: "sampler", engines: Both, nests: true, verdict: byFirst, keys: of(whole, "shard_size")},
	{name: "diversified_sampler", engines: Both, nests: true, verdict: verdict{dls: whyLeast, segments: whyFirst, documents: whyFirst}, keys: join(valuesOf, of(scalar, "execution_hint"), of(whole, "shard_size", "max_docs_per_value"))},
	{name: "random_sampler", engines: Elasticsearch, nests: true, verdict: byFirst, keys: join(of(whole, "seed", "shard_seed"), of(decimal, "probability"))},
	{name: "composite", engines: Both, nests: true, keys: join(of(whole, "size"), of(inert, "after"),
		shape{"sources": {kind: nameList, keys: shape{
			"terms":          {kind: object, keys: composed},
			"histogram":      {kind: object, keys: join(composed, of(scalar, "interval"))},
			"date_histogram": {kind: object, keys: join(composed, of(scalar, "interval", "calendar_interval", "fixed_interval", "offset"))},
			"geotile_grid":   {kind: object, keys: join(composed, of(scalar, "precision"), of(inert, "bounds"))},
		}}})},
	{name: "time_series", engines: Elasticsearch, nests: true, verdict: verdict{fls: "it shows fields that it does not name"}, keys: join(of(scalar, "keyed"), of(whole, "size"))},
	{name: "categorize_text", engines: Elasticsearch, nests: true, verdict: byFirst, keys: join(of(rankName, "field"), of(inert, "categorization_filters", "categorization_analyzer"),
		of(minCount, "min_doc_count"), of(whole, "max_unique_tokens", "max_matched_tokens", "shard_size", "size"),
		of(long, "shard_min_doc_count"), of(decimal, "similarity_threshold"))},
	{name: "frequent_item_sets", engines: Elasticsearch, keys: join(of(queryOne, "filter"), of(whole, "minimum_set_size", "size"), of(decimal, "minimum_support"),
		shape{"fields": {kind: objects, keys: join(chosen, of(rankName, "field"))}})},

	// Pipelines. Their scripts see numbers of buckets only, yet a stored script is
	// somebody else's code: refused like all others until there is a list of good ones.
	{name: "avg_bucket", engines: Both, keys: pipeline},
	{name: "sum_bucket", engines: Both, keys: pipeline},
	{name: "min_bucket", engines: Both, keys: pipeline},
	{name: "max_bucket", engines: Both, keys: pipeline},
	{name: "stats_bucket", engines: Both, keys: pipeline},
	{name: "extended_stats_bucket", engines: Both, keys: join(pipeline, of(decimal, "sigma"))},
	{name: "percentiles_bucket", engines: Both, keys: join(pipeline, of(scalars, "percents"), of(scalar, "keyed"))},
	{name: "cumulative_sum", engines: Both, keys: pipeline},
	{name: "derivative", engines: Both, keys: join(pipeline, of(scalar, "unit"))},
	{name: "serial_diff", engines: Both, keys: join(pipeline, of(whole, "lag"))},
	{name: "moving_avg", engines: Both, keys: join(pipeline, of(scalar, "model", "minimize"), of(whole, "window", "predict"), of(inert, "settings"))},
	{name: "moving_fn", engines: Both, verdict: both(whyScript), keys: join(pipeline, of(whole, "window", "shift"), shape{"script": scripted})},
	{name: "bucket_script", engines: Both, verdict: both(whyScript), keys: join(pipeline, shape{"script": scripted})},
	{name: "bucket_selector", engines: Both, verdict: both(whyScript), keys: join(pipeline, shape{"script": scripted})},
	{name: "bucket_sort", engines: Both, keys: join(pipeline, of(inert, "sort"), of(whole, "from", "size"))},
	{name: "moving_percentiles", engines: Both, keys: join(pipeline, of(scalar, "keyed"), of(whole, "window", "shift"))},
	{name: "cumulative_cardinality", engines: Both, keys: pipeline},
	{name: "normalize", engines: Both, keys: join(pipeline, of(scalar, "method"))},
	{name: "change_point", engines: Elasticsearch, keys: pipeline},
	{name: "bucket_count_ks_test", engines: Elasticsearch, keys: join(pipeline, of(inert, "alternative", "fractions", "sampling_method"))},
	{name: "bucket_correlation", engines: Elasticsearch, keys: join(pipeline, of(inert, "function"))},
	{name: "inference", engines: Elasticsearch, verdict: everyone(whyModel)},
	{name: "bucket_selector_ext", engines: OpenSearch, verdict: everyone(whyScript)},
})

func indexAggs(rows []agg) map[string]*agg {
	table := make(map[string]*agg, len(rows))
	for i := range rows {
		if table[rows[i].name] != nil {
			panic("BUG: two rows for aggregation " + rows[i].name)
		}
		table[rows[i].name] = &rows[i]
	}
	return table
}
