package endpoint

import (
	"fmt"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// DocRef is one item of a multi-get.
type DocRef struct {
	Index   names.Expr
	ID      string
	Routing esjson.Value // Invalid if there is none
	// Version, VersionType, StoredFields and Source are as the client wrote them, or Invalid.
	Version, VersionType, StoredFields, Source esjson.Value
}

// askDocs asks the envelope, and each document in its slot.
func (m Match) askDocs(q Query, exprs []names.Expr) (Asked, error) {
	v, err := parse(q.Body)
	if err != nil {
		return Asked{}, err
	}
	// The index of the path is the one default of all items: never a list.
	var fallback names.Expr
	if len(exprs) > 0 {
		fallback = exprs[0]
		if len(exprs) > 1 || fallback == "_all" {
			text, _ := m.Index()
			return Asked{}, badName(names.Expr(text), "want one index for a document")
		}
	}
	docs, err := parseMget(v, fallback)
	if err != nil {
		return Asked{}, err
	}
	parts := make([]ask.Part, 0, len(docs)+1)
	parts = append(parts, m.envelope())
	for i := range docs {
		parts = append(parts, ask.Part{Slot: i, Privileges: m.Route.Items, Exprs: []names.Expr{docs[i].Index}, Single: true, Fixed: true})
	}
	return Asked{Parts: parts, Docs: docs}, nil
}

// parseMget reads the items of a multi-get body, in their order; fallback is the
// index of items that name none, and may be empty.
func parseMget(body esjson.Value, fallback names.Expr) ([]DocRef, error) {
	const where = "the mget request"
	var docs []DocRef
	for key, list := range body.Members() {
		if key != "docs" && key != "ids" {
			return nil, unknownKey(where, key)
		}
		if !list.Is(esjson.Array) {
			return nil, badBody("parsing_exception", "cannot use %s as [%s] of %s; want an array", list.Kind(), key, where)
		}
		for _, item := range list.Elements() {
			if len(docs) == maxItems {
				return nil, tooMany("documents")
			}
			d := DocRef{Index: fallback}
			var err error
			if key == "ids" {
				d.ID, err = idOf("the ids of "+where, item)
			} else {
				err = d.read(fmt.Sprintf("item %d of %s", len(docs), where), item)
			}
			if err != nil {
				return nil, err
			}
			if d.Index == "" {
				return nil, badBody("action_request_validation_exception", "Validation Failed: 1: index is missing for doc %d;", len(docs))
			}
			if d.ID == "" {
				return nil, badBody("action_request_validation_exception", "Validation Failed: 1: id is missing for doc %d;", len(docs))
			}
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 {
		return nil, badBody("action_request_validation_exception", "Validation Failed: 1: no documents to get;")
	}
	return docs, nil
}

func (d *DocRef) read(where string, item esjson.Value) error {
	if !item.Is(esjson.Object) {
		return badBody("parsing_exception", "cannot use %s as %s; want an object", item.Kind(), where)
	}
	for key, v := range item.Members() {
		var err error
		switch key {
		case "_index":
			d.Index, err = nameOf(where, key, v)
		case "_id":
			d.ID, err = idOf(where, v)
		case "_type":
			err = typeOf(where, v)
		case "routing":
			d.Routing, err = v, scalar(where, key, v)
		case "version":
			d.Version, err = v, scalar(where, key, v)
		case "version_type":
			d.VersionType, err = v, scalar(where, key, v)
		case "stored_fields":
			d.StoredFields = v
		case "_source":
			d.Source = v
		default:
			return unknownKey(where, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// idOf reads a document id: a string, or a number, which the clusters take as it is
// written.
func idOf(where string, v esjson.Value) (string, error) {
	if !v.Is(esjson.String) && !v.Is(esjson.Number) {
		return "", badBody("parsing_exception", "cannot use %s as [_id] in %s; want a string or a number", v.Kind(), where)
	}
	return v.String(), nil
}

// typeOf reads the mapping type that clients of Elasticsearch 7 still send. It passes
// with the one value that means nothing; other clusters refuse it by themselves.
func typeOf(where string, v esjson.Value) error {
	if s, err := v.Text(); err != nil || s != "_doc" {
		return badBody("illegal_argument_exception", "unknown [_type] in %s; want [_doc] or none", where)
	}
	return nil
}

// scalar refuses what is not one value.
func scalar(where, key string, v esjson.Value) error {
	if v.Is(esjson.String) || v.Is(esjson.Number) {
		return nil
	}
	return badBody("parsing_exception", "cannot use %s as [%s] of %s; want a string or a number", v.Kind(), key, where)
}
