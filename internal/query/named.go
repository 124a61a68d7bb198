package query

import (
	"slices"
	"strings"

	"guard/internal/esjson"
)

// Named are the fields by which a document rule tells documents apart. The zero value is
// none.
type Named struct {
	any   bool // it may be any field
	names []string
}

// unnamed are the keys of clauses whose fields do not stand in the rule: scripts, texts that
// name fields or search all of them, and joins.
var unnamed = []string{
	"script", "minimum_should_match_script", "script_score", "multi_match", "combined_fields", "query_string", "simple_query_string",
	"more_like_this", "has_child", "has_parent", "parent_id",
}

// FieldsOf returns the fields that f names. What is not understood may name any.
func FieldsOf(f Filter) Named {
	if f == Free {
		return Named{}
	}
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(f.JSON()), esjson.RequestLimits())
	if f == None || err != nil || namesUnseen(v) {
		return Named{any: true}
	}
	var n Named
	note := func(text string, s Syntax) ([]string, bool, error) {
		if s == Name {
			n.names = append(n.names, strings.Clone(text))
		}
		return []string{string(esjson.AppendString(nil, text))}, false, nil
	}
	if _, err := AppendRole(nil, v, note); err != nil || slices.ContainsFunc(n.names, isPattern) {
		return Named{any: true}
	}
	return n
}

// namesUnseen reports whether v may hold a clause of unnamed.
func namesUnseen(v esjson.Value) bool {
	for key, m := range v.Members() {
		if slices.Contains(unnamed, key) || namesUnseen(m) {
			return true
		}
	}
	for _, e := range v.Elements() {
		if namesUnseen(e) {
			return true
		}
	}
	return false
}

// And returns the fields of both.
func (n Named) And(o Named) Named {
	return Named{any: n.any || o.any, names: slices.Concat(n.names, o.names)}
}

// None reports whether there are no such fields.
func (n Named) None() bool { return !n.any && len(n.names) == 0 }

// Meets reports whether a new field called path may change what is found by one of the
// fields: the field itself, an object around it, or what is below it.
func (n Named) Meets(path string) bool {
	return n.any || slices.ContainsFunc(n.names, func(name string) bool {
		return name == path || strings.HasPrefix(name, path+".") || strings.HasPrefix(path, name+".")
	})
}
