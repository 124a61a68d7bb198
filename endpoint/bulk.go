package endpoint

import (
	"bytes"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// BulkOp is what an action line of a bulk does.
type BulkOp uint8

// The operations of a bulk. The zero value is none.
const (
	bulkUnset BulkOp = iota
	BulkIndex
	BulkCreate
	BulkUpdate
	BulkDelete
)

var bulkNames = [...]string{"", "index", "create", "update", "delete"}

// String returns the key of the action line.
func (op BulkOp) String() string { return bulkNames[op] }

// HasDocument reports whether a document line follows the action line.
func (op BulkOp) HasDocument() bool { return op != BulkDelete }

// BulkAction is one action line of a bulk.
type BulkAction struct {
	// Op is what the answer calls the item: an index line with op_type create is a create.
	Op    BulkOp
	Index names.Expr
	ID    string // empty: the cluster makes one
	HasID bool
	// Creates tells that the item may only make a new document.
	Creates bool
	// Pipeline tells that the line names an ingest pipeline.
	Pipeline bool
	// Returns tells that the line asks an update to return the document.
	Returns bool

	meta esjson.Value // the line's inner object
}

// BulkParser reads action lines; it reuses its memory. An action holds until the
// next line is read.
type BulkParser struct {
	tape esjson.Tape
	// Fallback is the index of lines that name none: that of the path. It may be empty.
	Fallback names.Expr
}

// bulkLimits suit a line of some ten short members.
var bulkLimits = esjson.Limits{MaxDepth: 8, MaxTokens: 1024}

// BulkFallback returns the index of the path of a bulk, or nothing.
func (m Match) BulkFallback(q Query) (names.Expr, error) {
	exprs, err := m.named(q, nil)
	switch {
	case err != nil || len(exprs) == 0:
		return "", err
	case len(exprs) > 1:
		text, _ := m.Index()
		return "", badName(names.Expr(text), "want one index for a document")
	}
	return singleName(string(exprs[0]))
}

// isBlank reports whether a line between two items holds nothing: the clusters skip it.
func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// Parse reads an action line without its line end. The clusters differ in what they
// let pass here (Elasticsearch 7.10 skips an unknown action and executes the rest),
// so nothing passes but one known action with known keys.
func (p *BulkParser) Parse(line []byte) (BulkAction, error) {
	const where = "the action line of a bulk"
	v, err := esjson.Parse(&p.tape, line, bulkLimits)
	if err != nil {
		return BulkAction{}, badJSON(err)
	}
	if !v.Is(esjson.Object) || v.Len() != 1 {
		return BulkAction{}, badBody("illegal_argument_exception", "Malformed action/metadata line: want an object with one of [index, create, update, delete]")
	}
	a := BulkAction{Index: p.Fallback}
	for key, meta := range v.Members() {
		switch key {
		case "index":
			a.Op = BulkIndex
		case "create":
			a.Op, a.Creates = BulkCreate, true
		case "update":
			a.Op = BulkUpdate
		case "delete":
			a.Op = BulkDelete
		default:
			return BulkAction{}, badBody("illegal_argument_exception", "Malformed action/metadata line: unknown action [%s]; want one of [index, create, update, delete]", names.Clip(key))
		}
		if !meta.Is(esjson.Object) {
			return BulkAction{}, badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want an object", meta.Kind(), key, where)
		}
		a.meta = meta
	}
	for key, value := range a.meta.Members() {
		if value.Is(esjson.Null) {
			continue // the clusters read null as absent
		}
		if err := a.read(where, key, value); err != nil {
			return BulkAction{}, err
		}
	}
	return a, a.complete()
}

func (a *BulkAction) read(where, key string, v esjson.Value) error {
	var err error
	switch key {
	case "_index":
		a.Index, err = nameOf(where, key, v)
	case "_id":
		a.HasID = true
		a.ID, err = idOf(where, v)
	case "op_type":
		err = a.readOpType(where, v)
	case "pipeline":
		a.Pipeline = true
		_, err = textOf(where, key, v)
	case "_source":
		a.Returns = true
		if a.Op != BulkUpdate {
			err = unknownKey(where, key)
		}
	case "dynamic_templates":
		if !v.Is(esjson.Object) {
			err = badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want an object", v.Kind(), key, where)
		}
	case "require_alias", "require_data_stream", "list_executed_pipelines":
		if !v.Is(esjson.Bool) {
			err = badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want a boolean", v.Kind(), key, where)
		}
	case "_type":
		err = typeOf(where, v)
	case "routing", "version", "version_type", "if_seq_no", "if_primary_term", "retry_on_conflict":
		err = scalar(where, key, v)
	default:
		err = unknownKey(where, key)
	}
	return err
}

func (a *BulkAction) readOpType(where string, v esjson.Value) error {
	s, err := textOf(where, "op_type", v)
	switch {
	case err != nil:
		return err
	case a.Op == BulkIndex && s == "create":
		// The answer of the cluster calls the item create as well.
		a.Op, a.Creates = BulkCreate, true
		return nil
	case a.Op == BulkIndex && s == "index", a.Op == BulkCreate && s == "create":
		return nil
	default:
		return badBody("illegal_argument_exception", "cannot use op_type [%s] in [%s] of %s", names.Clip(s), a.Op, where)
	}
}

// complete refuses a line that lacks what its operation needs. An index or create
// without an id makes a new document.
func (a *BulkAction) complete() error {
	switch {
	case a.Index == "":
		return badBody("action_request_validation_exception", "Validation Failed: 1: index is missing;")
	case a.HasID && a.ID == "":
		return badBody("illegal_argument_exception", "if _id is specified it must not be empty")
	case !a.HasID && (a.Op == BulkUpdate || a.Op == BulkDelete):
		return badBody("action_request_validation_exception", "Validation Failed: 1: id is missing;")
	case !a.HasID:
		a.Creates = true
	}
	return nil
}

// AppendHead appends what the action lines that do op to an index begin with.
func (op BulkOp) AppendHead(dst []byte, index string) []byte {
	dst = append(esjson.AppendString(append(dst, '{'), op.String()), `:{"_index":`...)
	return esjson.AppendString(dst, index)
}

// AppendLine appends the action line, without its line end, written anew from what
// was parsed, behind head in the place of the line's own index or of the path's.
func (a BulkAction) AppendLine(dst, head []byte) []byte {
	dst = append(dst, head...)
	for key, v := range a.meta.Members() {
		if key != "_index" && key != "op_type" && !v.Is(esjson.Null) {
			dst = append(esjson.AppendString(append(dst, ','), key), ':')
			dst = esjson.AppendValue(dst, v)
		}
	}
	return append(dst, "}}"...)
}

// What an item of a bulk asks: the shard request that the cluster makes of it, the
// operation, and what they may bring about.
var bulkPrivileges = [...][]ask.Privilege{
	BulkIndex:  bulkItem("indices:data/write/index"),
	BulkCreate: bulkItem("indices:data/write/index"),
	BulkUpdate: bulkItem("indices:data/write/update"),
	BulkDelete: bulkItem("indices:data/write/delete")[:2],
}

func bulkItem(action string) []ask.Privilege {
	return asked(index("indices:data/write/bulk[s]"), index(action),
		ask.Privilege{Action: "indices:admin/create", When: ask.IndexMissing},
		ask.Privilege{Action: "indices:admin/mapping/put", When: ask.NewField})
}

// BulkPart is what the action at slot asks.
func BulkPart(a BulkAction, slot int) ask.Part {
	return ask.Part{Slot: slot, Privileges: bulkPrivileges[a.Op], Exprs: []names.Expr{a.Index}, Single: true, Fixed: true}
}
