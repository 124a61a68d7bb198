// Package forwarded holds that what guard sends to the cluster for a search shows what the
// plain evaluator grants, and nothing else: on the cluster that was decided for, and on any
// that it could be a moment later.
package forwarded

import (
	"encoding/json"
	"fmt"
	"slices"

	"guard/test/naive"
)

// document is a document with its fields, all of one value.
type document map[string]any

// documents are in each index.
var documents = []document{
	{"c": "red", "o": "anna", "n": 5.0}, {"c": "blue", "o": "bob", "n": 1.5}, {"c": "green", "o": "staff", "n": 0.0},
	{"c": "red", "o": "dev1", "n": 0.0}, {"c": "blue", "o": `red"}},{"x`, "n": 5.0}, {"c": "green", "o": "*", "n": 0.0}, {"c": "green", "o": "${user.name}", "n": 0.0},
}

// on is where a document lies: the name of its index, and what else it is called by.
type on []string

// shows reports whether a query finds a document. It knows the queries that the test makes
// and those that guard puts round them; any other is a fault.
func shows(query any, doc document, where on) bool {
	object, ok := query.(map[string]any)
	if !ok || len(object) != 1 {
		panic(fmt.Sprintf("cannot read the query %v; want an object of one clause", query))
	}
	for clause, body := range object {
		switch clause {
		case "match_all":
			return true
		case "match_none":
			return false
		case "bool":
			return showsBool(body.(map[string]any), doc, where)
		case "constant_score":
			return shows(body.(map[string]any)["filter"], doc, where)
		case "term", "terms":
			return showsTerms(body.(map[string]any), doc, where)
		}
		panic(fmt.Sprintf("cannot read the clause %q of %v", clause, query))
	}
	return false
}

// showsTerms reads {"term": {field: value}}, {"term": {field: {"value": value}}} and
// {"terms": {field: [values]}}.
func showsTerms(body map[string]any, doc document, where on) bool {
	for field, want := range body {
		if field == "boost" {
			continue
		}
		if object, ok := want.(map[string]any); ok {
			want = object["value"]
		}
		values, ok := want.([]any)
		if !ok {
			values = []any{want}
		}
		return slices.ContainsFunc(values, func(v any) bool {
			text, isText := v.(string)
			if field == "_index" {
				return isText && slices.Contains(where, text)
			}
			return fmt.Sprint(doc[field]) == fmt.Sprint(v)
		})
	}
	return false
}

func showsBool(body map[string]any, doc document, where on) bool {
	list := func(key string) []any {
		switch v := body[key].(type) {
		case nil:
			return nil
		case []any:
			return v
		default:
			return []any{v}
		}
	}
	must := append(list("must"), list("filter")...)
	should := list("should")
	found := func(q any) bool { return shows(q, doc, where) }
	switch {
	case slices.ContainsFunc(must, func(q any) bool { return !found(q) }), slices.ContainsFunc(list("must_not"), found):
		return false
	case len(should) > 0 && (len(must) == 0 || body["minimum_should_match"] != nil):
		return slices.ContainsFunc(should, found)
	default:
		return true
	}
}

// showsAny reports whether one of some queries finds a document; none of them finds all.
func showsAny(queries []string, doc document, where on) bool {
	return len(queries) == 0 || slices.ContainsFunc(queries, func(text string) bool { return shows(parsed([]byte(text)), doc, where) })
}

// ruled reports whether rules show a document.
func ruled(r naive.Rules, doc document, where on) bool {
	return !r.None && showsAny(r.DLS, doc, where)
}

func parsed(text []byte) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		panic(fmt.Sprintf("cannot read %s: %v", text, err))
	}
	return v
}
