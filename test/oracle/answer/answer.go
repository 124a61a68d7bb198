// Package answer brings answers of a cluster into a canonical form, so that two of
// them can be compared in what they show: documents, fields, names and verdicts,
// without what differs between runs (times, scores, versions, order of hits).
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Form says what kind of answer a request has.
type Form int

const (
	JSON        Form = iota // whatever it is, without the parts that change
	Search                  // total, hits by index and id, aggregations
	MultiSearch             // a search for each slot
	MultiGet                // a document for each slot
	Bulk                    // a write for each slot
)

// FormOf returns the form of the answer to a request with that path.
func FormOf(path string) Form {
	path, _, _ = strings.Cut(path, "?")
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "_search":
		return Search
	case "_msearch":
		return MultiSearch
	case "_mget":
		return MultiGet
	case "_bulk":
		return Bulk
	}
	return JSON
}

// Canonical returns the canonical form of an answer. What is no JSON comes back as
// its sorted lines.
func Canonical(f Form, status int, body []byte) any {
	if len(bytes.TrimSpace(body)) == 0 {
		return map[string]any{}
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return lines(status, body)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return Sorted(v)
	}
	if e, failed := m["error"]; failed && status >= 400 {
		return map[string]any{"error": failure(e)}
	}
	return Sorted(form(f, m))
}

func form(f Form, m map[string]any) any {
	switch f {
	case Search:
		return search(m)
	case MultiSearch:
		return map[string]any{"responses": slots(m["responses"], searchSlot)}
	case MultiGet:
		return map[string]any{"docs": slots(m["docs"], document)}
	case Bulk:
		return map[string]any{"errors": m["errors"], "items": slots(m["items"], write)}
	}
	return document(m)
}

// lines is an answer that is no JSON: a table, or a bare text for an error.
func lines(status int, body []byte) any {
	if status >= 400 {
		return map[string]any{"error": []any{"text", strings.TrimSpace(string(body))}}
	}
	list := strings.Split(strings.TrimSpace(string(body)), "\n")
	for i := range list {
		list[i] = strings.Join(strings.Fields(list[i]), " ")
	}
	slices.Sort(list)
	out := make([]any, len(list))
	for i, l := range list {
		out[i] = l
	}
	return out
}

// failure is an error as its type and reason. A failed search names the first cause
// in its type: that one tells what went wrong.
func failure(e any) any {
	m, ok := e.(map[string]any)
	if !ok {
		return []any{"text", fmt.Sprint(e)}
	}
	kind, reason := text(m["type"]), text(m["reason"])
	if cause, ok := first(m["root_cause"]); ok && kind == "search_phase_execution_exception" {
		kind += "/" + text(cause["type"])
		reason = text(cause["reason"])
	}
	return []any{kind, reason}
}

func first(list any) (map[string]any, bool) {
	l, ok := list.([]any)
	if !ok || len(l) == 0 {
		return nil, false
	}
	m, ok := l[0].(map[string]any)
	return m, ok
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// search is what a search shows.
func search(m map[string]any) map[string]any {
	out := map[string]any{}
	if hits, ok := m["hits"].(map[string]any); ok {
		out["total"], out["hits"] = total(hits["total"]), hitsByID(hits["hits"])
	}
	for _, key := range []string{"aggregations", "suggest"} {
		if v, ok := m[key]; ok {
			out[key] = withoutScores(v)
		}
	}
	return out
}

func total(v any) any {
	if m, ok := v.(map[string]any); ok {
		return m["value"]
	}
	return v
}

// hitsByID drops the order of hits: without a sort it is that of their scores.
func hitsByID(v any) map[string]any {
	out := map[string]any{}
	list, _ := v.([]any)
	for _, h := range list {
		hit, _ := h.(map[string]any)
		shown := map[string]any{}
		for _, key := range []string{"_source", "fields", "highlight", "sort", "_nested"} {
			if part, ok := hit[key]; ok {
				shown[key] = part
			}
		}
		if inner, ok := hit["inner_hits"].(map[string]any); ok {
			shown["inner_hits"] = innerHits(inner)
		}
		out[hitKey(out, hit)] = shown
	}
	return out
}

// hitKey names a hit; one that is there already gets a number.
func hitKey(taken map[string]any, hit map[string]any) string {
	name := text(hit["_index"]) + "/" + text(hit["_id"])
	if n, ok := hit["_nested"].(map[string]any); ok {
		name = fmt.Sprintf("%s/%v", name, n["offset"])
	}
	for key, n := name, 2; ; key, n = name+"#"+strconv.Itoa(n), n+1 {
		if _, ok := taken[key]; !ok {
			return key
		}
	}
}

func innerHits(m map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range m {
		if inner, ok := v.(map[string]any); ok {
			out[name] = search(inner)
		}
	}
	return out
}

// withoutScores drops max_score and _score at any depth of an aggregation.
func withoutScores(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, m := range v {
			if key != "max_score" && key != "_score" && key != "bg_count" {
				out[key] = withoutScores(m)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutScores(v[i])
		}
		return out
	}
	return v
}

// slots keeps the position of each item.
func slots(v any, item func(map[string]any) any) map[string]any {
	out := map[string]any{}
	list, _ := v.([]any)
	for i, e := range list {
		m, _ := e.(map[string]any)
		out[strconv.Itoa(i)] = item(m)
	}
	return out
}

func searchSlot(m map[string]any) any {
	if e, ok := m["error"]; ok {
		return map[string]any{"status": m["status"], "error": failure(e)}
	}
	out := search(m)
	out["status"] = m["status"]
	return out
}

// changing are the members of a document, a write or a list of indices that differ
// between two runs of the same.
var changing = []string{"_type", "_version", "_seq_no", "_primary_term", "_shards", "took", "timed_out", "forced_refresh", "_score", "max_score"}

func document(m map[string]any) any {
	out := map[string]any{}
	for key, v := range m {
		switch {
		case key == "error":
			out[key] = failure(v)
		case !slices.Contains(changing, key):
			out[key] = v
		}
	}
	return out
}

func write(m map[string]any) any {
	out := map[string]any{}
	for op, v := range m {
		item, _ := v.(map[string]any)
		out[op] = document(item)
	}
	return out
}

// Sorted returns v with every list in a fixed order.
func Sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, m := range v {
			out[key] = Sorted(m)
		}
		if e, ok := v["error"]; ok {
			out["error"] = e // type, then reason
		}
		return out
	case []any:
		out := make([]any, len(v))
		keys := make(map[int]string, len(v))
		order := make([]int, len(v))
		for i := range v {
			out[i], order[i] = Sorted(v[i]), i
			keys[i] = Text(out[i])
		}
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
		sorted := make([]any, len(v))
		for i, from := range order {
			sorted[i] = out[from]
		}
		return sorted
	}
	return v
}

// Text returns v as JSON with sorted keys.
func Text(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("BUG: a canonical form is no JSON: %v", err))
	}
	return strings.TrimSpace(b.String())
}
