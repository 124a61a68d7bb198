package endpoint

import (
	"guard/internal/ask"
	"guard/internal/names"
)

func index(action string) ask.Privilege { return ask.Privilege{Action: action, Scope: ask.ScopeIndex} }
func cluster(action string) ask.Privilege {
	return ask.Privilege{Action: action, Scope: ask.ScopeCluster}
}

func asked(ps ...ask.Privilege) []ask.Privilege { return ps }

// writes lists what one write of a document asks: the index action first, then what
// the bulk request asks that the cluster makes of it, then what it may bring about.
// Measured on the security plugin: the first that is missing is the one it names.
func writes(action string) []ask.Privilege {
	return asked(index(action), cluster("indices:data/write/bulk"), index("indices:data/write/bulk[s]"),
		ask.Privilege{Action: "indices:admin/create", When: ask.IndexMissing},
		ask.Privilege{Action: "indices:admin/mapping/put", When: ask.NewField})
}

// byQuery lists what a request asks that has the cluster search, and write what it finds:
// its own action, those of the searches and bulks that the cluster makes of it, and what
// the bulk asks on each index. All are asked before anything is sent: the first that was
// missing later would leave the work half done.
func byQuery(own string, each ...ask.Privilege) []ask.Privilege {
	return append(asked(index(own), index("indices:data/read/search"), cluster("indices:data/read/scroll"),
		cluster("indices:data/write/bulk"), index("indices:data/write/bulk[s]")), each...)
}

// updatesFound are asked of an update by query: the cluster indexes again what it found. A
// document can bring fields then that its mapping lacks, and nobody has seen the document.
var updatesFound = asked(index("indices:data/write/index"), index("indices:admin/mapping/put"))

var refreshes = index("indices:admin/refresh")

// The default index options of the clusters, by the names that they have there.
var (
	strictExpandOpen = names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}
	// Indices are deleted by their own names: wildcards pass aliases and streams over.
	deletable    = names.Options{Expand: names.ExpandOpen | names.ExpandClosed, AllowNoIndices: true, IgnoreAliases: true, IgnoreDataStreams: true}
	strictExpand = names.Options{Expand: names.ExpandOpen | names.ExpandClosed, AllowNoIndices: true}
	// What is opened is closed as yet. For what is closed or blocked the clusters have no
	// streams (measured).
	strictExpandClosed = names.Options{Expand: names.ExpandClosed, AllowNoIndices: true}
	withoutStreams     = names.Options{Expand: names.ExpandOpen, AllowNoIndices: true, IgnoreDataStreams: true}
	// A change of settings has to find something, be it closed.
	mustExpand = names.Options{Expand: names.ExpandOpen | names.ExpandClosed}
	// Aliases are looked up on closed and hidden indices as well.
	strictExpandHidden  = names.Options{Expand: names.ExpandAll, AllowNoIndices: true}
	lenientExpandHidden = names.Options{Expand: names.ExpandAll, AllowNoIndices: true, IgnoreUnavailable: true}
	// An alias action has to find something, and its wildcards pass aliases over.
	mustExpandOpen = names.Options{Expand: names.ExpandOpen, IgnoreAliases: true}
	noExpansion    = names.Options{}
)

// Catalogue returns the endpoints that guard knows.
func Catalogue() []Route {
	var all []Route
	for _, rows := range [][]Route{clusterRows, searchRows, documentRows, bodyRows, byQueryRows, indexRows, changeRows, newIndexRows, snapshotRows, aliasRows, notBuilt} {
		all = append(all, rows...)
	}
	return all
}

var clusterRows = []Route{
	{
		ID: "info", Methods: "GET", Paths: []string{"/"},
		Privileges: asked(cluster("cluster:monitor/main")),
		Targets:    NoTargets,
		Body:       NoBody, Params: common, Answer: Pass, Repeatable: true,
	},
	{
		ID: "ping", Methods: "HEAD", Paths: []string{"/"},
		Privileges: asked(cluster("cluster:monitor/main")),
		Targets:    NoTargets,
		Body:       NoBody, Params: common, Answer: Pass, Repeatable: true,
	},
	{
		ID: "cluster.health", Methods: "GET", Paths: []string{"/_cluster/health", "/_cluster/health/{index}"},
		Privileges: asked(cluster("cluster:monitor/health")),
		Targets:    PathIndex, Opts: lenientExpandHidden,
		Body: NoBody, Params: healthParams, Answer: Health, Repeatable: true,
	},
	{
		ID: "cat.indices", Methods: "GET", Paths: []string{"/_cat/indices", "/_cat/indices/{index}"},
		Privileges: asked(index("indices:monitor/settings/get"), index("indices:monitor/stats"), cluster("cluster:monitor/state"), cluster("cluster:monitor/health")),
		Targets:    PathIndex, Opts: strictExpand,
		Body: NoBody, Params: catIndicesParams, Answer: CatIndices, Repeatable: true,
	},
}

var searchRows = []Route{
	{
		ID: "search", Methods: "GET,POST", Paths: []string{"/_search", "/{index}/_search"},
		Privileges: asked(index("indices:data/read/search")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: SearchBody, Params: searchParams, Answer: Hits, Repeatable: true,
	},
	{
		ID: "count", Methods: "GET,POST", Paths: []string{"/_count", "/{index}/_count"},
		Privileges: asked(index("indices:data/read/search")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: CountBody, Params: countParams, Answer: Count, Repeatable: true,
	},
	{
		ID: "msearch", Methods: "GET,POST", Paths: []string{"/_msearch", "/{index}/_msearch"},
		Privileges: asked(cluster("indices:data/read/msearch")), Items: asked(index("indices:data/read/search")),
		Targets: MsearchHeaders, Opts: strictExpandOpen,
		Body: NDJSONMsearch, Params: msearchParams, Answer: Responses, Repeatable: true,
	},
	{
		ID: "field_caps", Methods: "GET,POST", Paths: []string{"/_field_caps", "/{index}/_field_caps"},
		Privileges: asked(index("indices:data/read/field_caps")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: FieldCapsBody, Params: fieldCapsParams, Answer: FieldCaps, Repeatable: true,
	},
}

var documentRows = []Route{
	{
		ID: "get", Methods: "GET", Paths: []string{"/{index}/_doc/{id}"},
		Privileges: asked(index("indices:data/read/get")),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: NoBody, Params: getParams, Answer: Doc, Repeatable: true,
	},
	{
		ID: "exists", Methods: "HEAD", Paths: []string{"/{index}/_doc/{id}"},
		Privileges: asked(index("indices:data/read/get")),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: NoBody, Params: getParams, Answer: Exists, Repeatable: true,
	},
	{
		ID: "get_source", Methods: "GET", Paths: []string{"/{index}/_source/{id}"},
		Privileges: asked(index("indices:data/read/get")),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: NoBody, Params: sourceParams, Answer: Source, Repeatable: true,
	},
	{
		ID: "exists_source", Methods: "HEAD", Paths: []string{"/{index}/_source/{id}"},
		Privileges: asked(index("indices:data/read/get")),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: NoBody, Params: sourceParams, Answer: Exists, Repeatable: true,
	},
	{
		ID: "index", Methods: "PUT,POST", Paths: []string{"/{index}/_doc/{id}"},
		Privileges: writes("indices:data/write/index"),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: Document, Params: indexParams, Answer: Written, Writes: true, ChangesState: true,
	},
	{
		ID: "index_new", Methods: "POST", Paths: []string{"/{index}/_doc"},
		Privileges: writes("indices:data/write/index"),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: Document, Params: indexParams, Answer: Written, Writes: true, ChangesState: true,
	},
	{
		ID: "create", Methods: "PUT,POST", Paths: []string{"/{index}/_create/{id}"},
		Privileges: writes("indices:data/write/index"),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: Document, Params: createParams, Answer: Written, Writes: true, ChangesState: true,
	},
	{
		ID: "update", Methods: "POST", Paths: []string{"/{index}/_update/{id}"},
		Privileges: writes("indices:data/write/update"),
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: UpdateBody, Params: updateParams, Answer: Written, Writes: true, ChangesState: true,
	},
	{
		ID: "delete", Methods: "DELETE", Paths: []string{"/{index}/_doc/{id}"},
		Privileges: writes("indices:data/write/delete")[:3],
		Targets:    PathIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: NoBody, Params: writeParams, Answer: Written, Writes: true,
	},
}

var bodyRows = []Route{
	{
		ID: "mget", Methods: "GET,POST", Paths: []string{"/_mget", "/{index}/_mget"},
		Privileges: asked(cluster("indices:data/read/mget")), Items: asked(index("indices:data/read/mget[shard]")),
		Targets: MgetDocs, Opts: noExpansion,
		Body: MgetBody, Params: mgetParams, Answer: MgetDocsAnswer, Repeatable: true,
	},
	// What each item asks stands in bulk.go: it depends on the line.
	{
		ID: "bulk", Methods: "PUT,POST", Paths: []string{"/_bulk", "/{index}/_bulk"},
		Privileges: asked(cluster("indices:data/write/bulk")),
		Targets:    BulkLines, Opts: noExpansion,
		Body: NDJSONBulk, Params: bulkParams, Answer: BulkItems, Writes: true, ChangesState: true,
	},
}

var byQueryRows = []Route{
	{
		ID: "delete_by_query", Methods: "POST", Paths: []string{"/{index}/_delete_by_query"},
		Privileges: byQuery("indices:data/write/delete/byquery", index("indices:data/write/delete")),
		Refreshing: byQuery("indices:data/write/delete/byquery", index("indices:data/write/delete"), refreshes),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: ByQueryBody, Params: byQueryParams, Answer: ByQuery, Writes: true,
	},
	{
		ID: "update_by_query", Methods: "POST", Paths: []string{"/{index}/_update_by_query"},
		Privileges: byQuery("indices:data/write/update/byquery", updatesFound...),
		Refreshing: byQuery("indices:data/write/update/byquery", append(updatesFound[:2:2], refreshes)...),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: ByQueryBody, Params: updateByQueryParams, Answer: ByQuery, Writes: true, ChangesState: true,
	},
	// What is asked of source and destination stands in reindex.go.
	{
		ID: "reindex", Methods: "POST", Paths: []string{"/_reindex"},
		Privileges: asked(cluster("indices:data/write/reindex"), cluster("indices:data/read/scroll"), cluster("indices:data/write/bulk")),
		Targets:    ReindexBody, Opts: strictExpandOpen,
		Body: CopyBody, Params: reindexParams, Answer: ByQuery, Writes: true, ChangesState: true,
	},
}

var indexRows = []Route{
	{
		ID: "indices.create", Methods: "PUT", Paths: []string{"/{index}"},
		Privileges: asked(index("indices:admin/create")),
		Targets:    CreateIndexBody, Opts: noExpansion, Single: true, Fixed: true,
		Body: CreateBody, Params: createIndexParams, Answer: Acknowledged, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.delete", Methods: "DELETE", Paths: []string{"/{index}"},
		Privileges: asked(index("indices:admin/delete")),
		Targets:    PathIndex, Opts: deletable,
		Body: NoBody, Params: deleteIndexParams, Answer: Acknowledged, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.exists", Methods: "HEAD", Paths: []string{"/{index}"},
		Privileges: asked(index("indices:admin/get")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: NoBody, Params: getIndexParams, Answer: FoundName, Repeatable: true,
	},
	{
		ID: "indices.get", Methods: "GET", Paths: []string{"/{index}"},
		Privileges: asked(index("indices:admin/get")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: NoBody, Params: getIndexParams, Answer: IndexByName, Repeatable: true,
	},
	{
		ID: "indices.get_mapping", Methods: "GET", Paths: []string{"/_mapping", "/{index}/_mapping", "/_mappings", "/{index}/_mappings"},
		Privileges: asked(index("indices:admin/mappings/get")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: NoBody, Params: mappingParams, Answer: MappingByIndex, Repeatable: true,
	},
	{
		ID: "indices.refresh", Methods: "GET,POST", Paths: []string{"/_refresh", "/{index}/_refresh"},
		Privileges: asked(index("indices:admin/refresh")),
		Targets:    PathIndex, Opts: strictExpandOpen,
		Body: NoBody, Params: refreshParams, Answer: Pass, Repeatable: true,
	},
	{
		ID: "indices.resolve_index", Methods: "GET", Paths: []string{"/_resolve/index/{name}"},
		Privileges: asked(index("indices:admin/resolve/index")),
		Targets:    PathName, Opts: strictExpandOpen,
		Body: NoBody, Params: resolveParams, Answer: ResolvedNames, Repeatable: true,
	},
}

// changeRows change indices that are there. Without a name all but settings are errors. To
// close or block one the cluster asks each shard, with a privilege of its own: on the
// security plugin the request fails shard by shard where that is missing (measured).
var changeRows = []Route{
	{
		ID: "indices.open", Methods: "POST", Paths: []string{"/{index}/_open"},
		Privileges: asked(index("indices:admin/open")),
		Targets:    PathIndex, Opts: strictExpandClosed,
		Body: NoBody, Params: openParams, Answer: Changed, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.close", Methods: "POST", Paths: []string{"/{index}/_close"},
		Privileges: asked(index("indices:admin/close"), index("indices:admin/close[s]")),
		Targets:    PathIndex, Opts: withoutStreams,
		Body: NoBody, Params: openParams, Answer: Changed, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.add_block", Methods: "PUT", Paths: []string{"/{index}/_block/{name}"},
		Privileges: asked(index("indices:admin/block/add"), index("indices:admin/block/add[s]")),
		Targets:    PathIndex, Opts: withoutStreams,
		Body: NoBody, Params: blockParams, Answer: Changed, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.put_settings", Methods: "PUT", Paths: []string{"/_settings", "/{index}/_settings"},
		Privileges: asked(index("indices:admin/settings/update")),
		Targets:    PathIndex, Opts: mustExpand,
		Body: SettingsBody, Params: putSettingsParams, Answer: Changed, Writes: true, ChangesState: true,
	},
}

// madeFrom are the privileges on what an index is made from: the cluster reads its
// statistics by a request of its own.
func madeFrom(action string) []ask.Privilege {
	return asked(index(action), index("indices:monitor/stats"))
}

// newIndexRows make an index out of another one, or in its place.
var newIndexRows = []Route{
	{
		ID: "indices.rollover", Methods: "POST", Paths: []string{"/{index}/_rollover", "/{index}/_rollover/{name}"},
		Privileges: madeFrom("indices:admin/rollover"),
		Targets:    NewIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: RolloverBody, Params: rolloverParams, Answer: Changed, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.clone", Methods: "POST,PUT", Paths: []string{"/{index}/_clone/{name}"},
		Privileges: madeFrom("indices:admin/resize"),
		Targets:    NewIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: ResizeBody, Params: createIndexParams, Answer: Changed, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.shrink", Methods: "POST,PUT", Paths: []string{"/{index}/_shrink/{name}"},
		Privileges: madeFrom("indices:admin/resize"),
		Targets:    NewIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: ResizeBody, Params: createIndexParams, Answer: Changed, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.split", Methods: "POST,PUT", Paths: []string{"/{index}/_split/{name}"},
		Privileges: madeFrom("indices:admin/resize"),
		Targets:    NewIndex, Opts: noExpansion, Single: true, Fixed: true,
		Body: ResizeBody, Params: createIndexParams, Answer: Changed, Writes: true, ChangesState: true,
	},
}

var snapshotRows = []Route{
	// What is asked of the indices stands in restore.go: the snapshot says which they are.
	{
		ID: "snapshot.restore", Methods: "POST", Paths: []string{"/_snapshot/{name}/{id}/_restore"},
		Privileges: asked(cluster("cluster:admin/snapshot/restore")),
		Targets:    SnapshotNames,
		Body:       RestoreBody, Params: restoreParams, Answer: Restored, Writes: true, ChangesState: true,
	},
}

var aliasRows = []Route{
	{
		ID: "indices.get_alias", Methods: "GET", Paths: []string{"/_alias", "/_alias/{name}", "/{index}/_alias", "/{index}/_alias/{name}"},
		Privileges: asked(index("indices:admin/aliases/get")),
		Targets:    AliasLookup, Opts: strictExpandHidden,
		Body: NoBody, Params: getAliasParams, Answer: AliasByIndex, Repeatable: true,
	},
	{
		ID: "indices.get_aliases", Methods: "GET", Paths: []string{"/_aliases"},
		IndexedPath: "/{index}/_alias", Privileges: asked(index("indices:admin/aliases/get")),
		Targets: AliasLookup, Opts: strictExpandHidden,
		Body: NoBody, Params: getAliasParams, Answer: AliasByIndex, Repeatable: true,
	},
	{
		ID: "indices.exists_alias", Methods: "HEAD", Paths: []string{"/_alias/{name}", "/{index}/_alias", "/{index}/_alias/{name}"},
		Privileges: asked(index("indices:admin/aliases/get")),
		Targets:    AliasLookup, Opts: strictExpandHidden,
		Body: NoBody, Params: getAliasParams, Answer: FoundName, Repeatable: true,
	},
	{
		ID: "indices.update_aliases", Methods: "POST", Paths: []string{"/_aliases"},
		Privileges: asked(index("indices:admin/aliases")),
		Targets:    AliasActions, Opts: mustExpandOpen, Fixed: true,
		Body: AliasesBody, Params: aliasesParams, Answer: Acknowledged, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.put_alias", Methods: "PUT,POST", Paths: []string{"/_alias/{name}", "/{index}/_alias/{name}", "/_aliases/{name}", "/{index}/_aliases/{name}"},
		Privileges: asked(index("indices:admin/aliases")),
		Targets:    AliasBody, Opts: mustExpandOpen, Fixed: true,
		Body: AliasDetails, Params: putAliasParams, Answer: Acknowledged, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.put_alias_unnamed", Methods: "PUT", Paths: []string{"/_alias", "/{index}/_alias", "/{index}/_aliases"},
		Privileges: asked(index("indices:admin/aliases")),
		Targets:    AliasBody, Opts: mustExpandOpen, Fixed: true,
		Body: AliasDetails, Params: putAliasParams, Answer: Acknowledged, Writes: true, ChangesState: true,
	},
	{
		ID: "indices.delete_alias", Methods: "DELETE", Paths: []string{"/{index}/_alias/{name}", "/{index}/_aliases/{name}"},
		Privileges: asked(index("indices:admin/aliases")),
		Targets:    AliasNamed, Opts: mustExpandOpen, Fixed: true,
		Body: NoBody, Params: deleteAliasParams, Answer: Acknowledged, Writes: true, ChangesState: true,
	},
}
