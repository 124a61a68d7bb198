package dls_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// doc is a document of the naive evaluator: fields with texts, numbers or lists.
type doc map[string]any

// naiveHits reports whether a body shows d. It is written to be plainly right for a
// handful of clauses and knows nothing of the code under test.
func naiveHits(body string, d doc) bool {
	var b map[string]json.RawMessage
	if body == "" {
		return true
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		panic(err)
	}
	for _, key := range []string{"query", "post_filter"} {
		if q, ok := b[key]; ok && !naiveMatch(q, d) {
			return false
		}
	}
	return true
}

func naiveMatch(q json.RawMessage, d doc) bool {
	var clause map[string]json.RawMessage
	if err := json.Unmarshal(q, &clause); err != nil || len(clause) != 1 {
		panic(fmt.Sprintf("no clause: %s", q))
	}
	for name, c := range clause {
		switch name {
		case "match_all":
			return true
		case "match_none":
			return false
		case "bool":
			return naiveBool(c, d)
		case "constant_score":
			return naiveMatch(object(c)["filter"], d)
		case "dis_max":
			return slices.ContainsFunc(list(object(c)["queries"]), func(q json.RawMessage) bool { return naiveMatch(q, d) })
		case "ids":
			return slices.ContainsFunc(list(object(c)["values"]), func(v json.RawMessage) bool { return value(v) == d["_id"] })
		case "exists":
			_, ok := d[value(object(c)["field"]).(string)]
			return ok
		case "term", "terms", "prefix", "range":
			return naiveField(name, c, d)
		}
	}
	panic(fmt.Sprintf("unknown clause: %s", q))
}

func naiveBool(c json.RawMessage, d doc) bool {
	b := object(c)
	matches := func(q json.RawMessage) bool { return naiveMatch(q, d) }
	for _, q := range slices.Concat(list(b["must"]), list(b["filter"])) {
		if !matches(q) {
			return false
		}
	}
	if slices.ContainsFunc(list(b["must_not"]), matches) {
		return false
	}
	should, got := list(b["should"]), 0
	for _, q := range should {
		if matches(q) {
			got++
		}
	}
	want := 0
	if len(should) > 0 && b["must"] == nil && b["filter"] == nil {
		want = 1
	}
	if m, ok := b["minimum_should_match"]; ok {
		want = int(value(m).(float64))
	}
	return got >= want
}

func naiveField(name string, c json.RawMessage, d doc) bool {
	for field, v := range object(c) {
		if field == "boost" || field == "_name" {
			continue
		}
		for _, have := range values(d[field]) {
			switch name {
			case "term":
				if have == value(v) {
					return true
				}
			case "terms":
				if slices.ContainsFunc(list(v), func(w json.RawMessage) bool { return value(w) == have }) {
					return true
				}
			case "prefix":
				if s, ok := have.(string); ok && strings.HasPrefix(s, value(v).(string)) {
					return true
				}
			case "range":
				if n, ok := have.(float64); ok && inRange(object(v), n) {
					return true
				}
			}
		}
	}
	return false
}

func inRange(bounds map[string]json.RawMessage, n float64) bool {
	if b, ok := bounds["gte"]; ok && n < value(b).(float64) {
		return false
	}
	b, ok := bounds["lt"]
	return !ok || n < value(b).(float64)
}

func values(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err)
	}
	return m
}

// list reads an array, or one value as an array of one.
func list(raw json.RawMessage) []json.RawMessage {
	if raw == nil {
		return nil
	}
	var l []json.RawMessage
	if json.Unmarshal(raw, &l) != nil {
		return []json.RawMessage{raw}
	}
	return l
}

func value(raw json.RawMessage) any {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic(err)
	}
	return v
}
