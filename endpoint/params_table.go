package endpoint

// The closed sets of URL parameters, by what several endpoints share. Sources: the
// REST handlers and REST specifications of OpenSearch 2 and 3 and Elasticsearch 7.10
// to 9; a parameter that one of them alone knows is listed too, the node behind
// refuses it by itself where it does not.

// of lists parameters of one kind.
func of(kind ParamKind, names ...string) []Param {
	list := make([]Param, len(names))
	for i, n := range names {
		list[i] = Param{Name: n, Kind: kind}
	}
	return list
}

// join concatenates lists.
func join(lists ...[]Param) []Param {
	var all []Param
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

var (
	// common is read by the REST layer of every endpoint.
	common = join(
		of(Formatting, "pretty", "human", "error_trace"),
		of(AnswerFilter, "filter_path"),
		of(AnswerFormat, "format"),
	)
	indexOptions = join(
		of(IndexOption, "expand_wildcards", "ignore_unavailable", "allow_no_indices"),
		of(Flag, "ignore_throttled"),
		of(IndexName, "index"),
	)
	bodyInURL  = join(of(BodyText, "source"), of(BodyType, "source_content_type"))
	timeouts   = of(Plain, "timeout", "master_timeout", "cluster_manager_timeout")
	localState = join(of(Flag, "local"), of(Plain, "master_timeout", "cluster_manager_timeout"))

	luceneQuery = join(
		of(QueryText, "q"),
		of(QueryDetail, "analyzer", "analyze_wildcard", "default_operator", "lenient"),
		of(Fields, "df"),
	)
	sourceFields = of(Fields, "_source", "_source_includes", "_source_excludes")

	searchParams = join(common, indexOptions, bodyInURL, luceneQuery, sourceFields,
		of(Plain, "from", "size", "timeout", "terminate_after", "track_total_hits", "preference",
			"routing", "pre_filter_shard_size", "max_concurrent_shard_requests", "batched_reduce_size",
			"cancel_after_time_interval", "stats", "search_type"),
		of(Flag, "version", "seq_no_primary_term", "track_scores", "request_cache",
			"allow_partial_search_results", "ccs_minimize_roundtrips"),
		of(Fields, "stored_fields", "docvalue_fields", "sort"),
		of(AnswerForm, "typed_keys", "rest_total_hits_as_int", "phase_took", "include_named_queries_score"),
		// The scores and suggestions of these tell of documents that the query does not match.
		of(Outside, "explain", "suggest_field", "suggest_mode", "suggest_size", "suggest_text",
			"search_pipeline", "verbose_pipeline", "force_synthetic_source"),
		of(Handle, "scroll"),
	)
	countParams = join(common, indexOptions, bodyInURL, luceneQuery,
		of(Plain, "routing", "preference", "min_score", "terminate_after"),
	)
	msearchParams = join(common, indexOptions,
		of(Plain, "max_concurrent_searches", "pre_filter_shard_size", "max_concurrent_shard_requests",
			"cancel_after_time_interval", "routing", "search_type"),
		of(Flag, "ccs_minimize_roundtrips"),
		of(AnswerForm, "typed_keys", "rest_total_hits_as_int", "phase_took", "include_named_queries_score"),
		of(Outside, "search_pipeline"),
	)

	sourceParams = join(common, sourceFields,
		of(Plain, "routing", "preference"),
		of(Flag, "refresh", "realtime"),
		of(Outside, "force_synthetic_source"),
	)
	getParams = join(sourceParams,
		of(Fields, "stored_fields"),
		of(Plain, "version", "version_type"),
	)
	mgetParams = join(common, bodyInURL, sourceFields,
		of(IndexName, "index"),
		of(Fields, "stored_fields"),
		of(Plain, "routing", "preference"),
		of(Flag, "refresh", "realtime"),
		of(Outside, "force_synthetic_source"),
	)

	writeParams = join(common,
		of(Plain, "refresh", "routing", "timeout", "version", "version_type", "if_seq_no", "if_primary_term",
			"wait_for_active_shards"),
	)
	indexParams = join(writeParams,
		of(Flag, "require_alias", "require_data_stream", "include_source_on_error"),
		of(Operation, "op_type"),
		of(Outside, "pipeline"),
	)
	createParams = join(writeParams,
		of(Flag, "require_alias", "require_data_stream", "include_source_on_error"),
		of(Outside, "pipeline"),
	)
	updateParams = join(writeParams, sourceFields,
		of(Plain, "retry_on_conflict"),
		of(Flag, "require_alias", "include_source_on_error", "doc_as_upsert"),
	)
	bulkParams = join(common, sourceFields,
		of(IndexName, "index"),
		of(Plain, "refresh", "routing", "timeout", "wait_for_active_shards", "batch_size", "batch_interval"),
		of(Flag, "require_alias", "require_data_stream", "include_source_on_error"),
		of(Outside, "pipeline", "list_executed_pipelines"),
	)

	byQueryParams = join(common, indexOptions, luceneQuery,
		of(Plain, "routing", "preference", "timeout", "wait_for_active_shards",
			"conflicts", "max_docs", "scroll_size", "slices", "requests_per_second"),
		of(Flag, "refresh", "wait_for_completion"),
		of(Outside, "scroll", "search_type", "search_timeout", "size", "from", "sort", "terminate_after",
			"stats", "request_cache"),
	)

	reindexParams = join(common,
		of(Plain, "timeout", "wait_for_active_shards", "max_docs", "slices", "requests_per_second"),
		of(Flag, "refresh", "wait_for_completion"),
		of(Outside, "scroll", "require_alias"),
	)
	updateByQueryParams = join(byQueryParams, of(Outside, "pipeline"))

	fieldCapsParams = join(common, indexOptions,
		of(Fields, "fields"),
		of(Flag, "include_unmapped", "include_empty_fields"),
		of(Plain, "filters", "types"),
	)
	mappingParams  = join(common, indexOptions, localState)
	getIndexParams = join(common, indexOptions, localState,
		of(Flag, "flat_settings", "include_defaults"),
		of(Plain, "features"),
	)
	createIndexParams = join(common, timeouts, of(Plain, "wait_for_active_shards"))
	rolloverParams    = join(createIndexParams, of(Flag, "dry_run"))
	restoreParams     = join(common, timeouts, of(Flag, "wait_for_completion"))
	deleteIndexParams = join(common, indexOptions, timeouts)
	openParams        = join(common, indexOptions, timeouts, of(Plain, "wait_for_active_shards"))
	blockParams       = join(common, indexOptions, timeouts)
	putSettingsParams = join(common, indexOptions, timeouts, of(Flag, "preserve_existing"))
	refreshParams     = join(common, indexOptions)

	getAliasParams    = join(common, indexOptions, localState)
	aliasesParams     = join(common, timeouts)
	putAliasParams    = join(common, timeouts, of(IndexName, "index"))
	deleteAliasParams = join(common, timeouts)

	resolveParams = join(common, of(IndexOption, "expand_wildcards", "ignore_unavailable", "allow_no_indices"), of(Flag, "ignore_throttled"))
	healthParams  = join(common, indexOptions, timeouts,
		of(Plain, "level", "wait_for_status", "wait_for_nodes", "wait_for_active_shards", "wait_for_events",
			"awareness_attribute"),
		of(Flag, "local", "wait_for_no_relocating_shards", "wait_for_no_initializing_shards",
			"return_200_for_cluster_health_timeout", "ensure_node_weighed_in"),
	)
	catIndicesParams = join(common, indexOptions, localState,
		of(Columns, "h", "s"),
		of(Plain, "bytes", "time", "health"),
		of(Flag, "v", "help", "ts", "pri", "include_unloaded_segments"),
	)
)
