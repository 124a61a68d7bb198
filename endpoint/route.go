// Package endpoint says what a request is: which row of the catalogue it falls
// under, which parameters it may carry, which actions it asks on which names, and
// how it is written anew for the cluster. The catalogue is data without handlers;
// what is not in it is refused by name.
package endpoint

import (
	"guard/internal/ask"
	"guard/internal/names"
)

// Route is one row of the catalogue.
type Route struct {
	ID      string   // names the row in metrics, docs and tests: "search"
	Methods string   // "GET,POST"
	Paths   []string // templates of the same operation: "/_search", "/{index}/_search"

	// Privileges are asked of the request as a whole, in this order. The cluster asks
	// them one after the other: the first that is missing is the one to name.
	Privileges []ask.Privilege
	// Items are asked of each item of a body with several (msearch, mget).
	Items []ask.Privilege
	// Refreshing are asked instead of Privileges where the client wants its indices
	// refreshed at the end, which the cluster does by a request of its own.
	Refreshing []ask.Privilege

	Targets Targets
	// Opts are the index options of this API when the client gives none.
	Opts   names.Options
	Single bool // names exactly one index, alias or stream
	Fixed  bool // its list of names cannot be replaced by a shorter one

	Body   Body
	Params []Param // the closed set of URL parameters
	Answer Answer

	Writes       bool // changes documents or metadata
	ChangesState bool // may change names, aliases or mappings
	Repeatable   bool // may be sent once more after a cut connection

	// IndexedPath is the template that takes decided names where no path of the row does.
	IndexedPath string

	// NotBuilt marks an operation that guard knows and does not offer yet. Nothing but
	// ID, Methods, Paths and Repeatable is set then.
	NotBuilt bool
}

// Targets says where a request names its indices.
type Targets uint8

// The places of names. The zero value is no place: a row must choose one.
const (
	targetsUnset    Targets = iota
	NoTargets               // the request names nothing
	PathIndex               // {index}, else ?index=, else all
	PathName                // {name} is an index expression
	MsearchHeaders          // each header line, else as PathIndex
	MgetDocs                // each item's _index, else as PathIndex, else refused
	BulkLines               // each action line's _index, else as PathIndex, else refused
	AliasActions            // $.actions[*]
	AliasBody               // $.index, else as PathIndex, else refused; $.alias, else {name}, for the alias
	AliasNamed              // {index}, and {name} for aliases that change
	AliasLookup             // as PathIndex, and {name} for aliases that are read
	CreateIndexBody         // {index}, and $.aliases for aliases
	ReindexBody             // $.source.index and $.dest.index
	SnapshotNames           // $.indices, as the snapshot {id} of the repository {name} has them
	NewIndex                // {index}, {name} for an index that is made, and $.aliases for its aliases
)

// Body says what a request body is.
type Body uint8

// The kinds of a body. The zero value is none of them: a row must choose one.
const (
	bodyUnset     Body = iota
	NoBody             // one that comes is refused
	SearchBody         // JSON, optional: a whole search body
	CountBody          // JSON, optional: a query at $.query
	ByQueryBody        // JSON, optional: a query at $.query, $.conflicts, $.max_docs
	FieldCapsBody      // JSON, optional: a query at $.index_filter
	Document           // JSON: the document itself
	UpdateBody         // JSON: $.doc, $.upsert, $.script
	MgetBody           // JSON: $.docs or $.ids
	CopyBody           // JSON: $.source, $.dest, $.conflicts, $.max_docs
	AliasesBody        // JSON: $.actions
	AliasDetails       // JSON, optional: filter and routing of one alias
	CreateBody         // JSON, optional: $.settings, $.mappings, $.aliases
	RolloverBody       // JSON, optional: as CreateBody, and $.conditions
	ResizeBody         // JSON, optional: $.settings, $.aliases, $.max_shard_size
	RestoreBody        // JSON, optional: see Restore
	SettingsBody       // JSON: settings of an index, bare or at $.settings
	NDJSONMsearch      // pairs of header and search body
	NDJSONBulk         // action lines and documents
)

// Answer names the treatment that the cluster's answer needs.
type Answer uint8

// The kinds of an answer. The zero value is none of them: a row must choose one.
const (
	answerUnset    Answer = iota
	Pass                  // nothing of an index in it
	Hits                  // a search answer
	Count                 // a number of documents
	Doc                   // one document with its metadata
	Source                // the bare source of one document
	Exists                // a status alone, for one document
	Written               // the outcome of one write
	MgetDocsAnswer        // $.docs by position
	Responses             // $.responses by position, each a search answer
	BulkItems             // $.items by position
	ByQuery               // numbers of documents, and $.failures
	MappingByIndex        // {index: {mappings}}
	IndexByName           // {index: {aliases, mappings, settings}}
	AliasByIndex          // {index: {aliases}}
	FoundName             // a status alone, for an index or alias
	ResolvedNames         // $.indices, $.aliases, $.data_streams
	CatIndices            // a table with a row for each index
	FieldCaps             // $.fields and $.indices
	Health                // $.indices
	Acknowledged          // nothing but that it was done
	Restored              // that it was begun, or $.snapshot.indices
	Changed               // the same, with the indices that were named
)

// Param is one URL parameter that an endpoint takes.
type Param struct {
	Name string
	Kind ParamKind
}

// ParamKind says what a parameter does, so that whoever places a restriction can
// refuse or rewrite it without knowing its name.
type ParamKind uint8

// The kinds of a parameter. The zero value is unknown, and refused.
const (
	Unknown      ParamKind = iota
	Plain                  // no effect on what can be seen
	Flag                   // Plain, with a boolean value
	IndexOption            // expand_wildcards, ignore_unavailable, allow_no_indices
	IndexName              // names the target where the path has none
	QueryText              // carries a query in Lucene syntax
	QueryDetail            // changes how QueryText is read
	Fields                 // carries field names
	BodyText               // carries the whole body
	BodyType               // the content type of BodyText
	Outside                // acts beside the query or on the document: no restriction binds it
	Handle                 // opens a handle
	Operation              // chooses between index and create
	AnswerForm             // changes the form of the answer
	AnswerFilter           // filter_path: removes parts of the answer
	AnswerFormat           // format: json, yaml, cbor, smile, text
	Formatting             // pretty, human, error_trace
	Columns                // chooses or sorts columns of a table
)

// Values of the placeholders in a path template.
const (
	slotIndex = iota
	slotID
	slotName
	slots
)

var slotNames = [slots]string{"{index}", "{id}", "{name}"}
