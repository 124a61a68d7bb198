package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"guard/test/oracle/answer"
	"guard/test/testbed"
)

// Summary says in one line what an answer shows: the status; the documents of a
// search, with their fields; of items each by its position; of everything else the
// canonical JSON.
func Summary(send string, res testbed.Response) string {
	_, path, _ := strings.Cut(send, " ")
	status := strconv.Itoa(res.Status)
	form := answer.FormOf(path)
	canonical := answer.Canonical(form, res.Status, res.Body)
	m, ok := canonical.(map[string]any)
	switch {
	case !ok:
		return status + " " + listText(canonical)
	case len(m) == 0:
		return status
	case m["error"] != nil:
		return status + " " + errorText(m["error"])
	case form == answer.Search:
		return status + " " + searchText(m)
	case form == answer.MultiSearch:
		return status + slotsText(m["responses"], searchText)
	case form == answer.MultiGet:
		return status + slotsText(m["docs"], documentText)
	case form == answer.Bulk:
		return fmt.Sprintf("%s errors=%v%s", status, m["errors"], slotsText(m["items"], writeText))
	case m["found"] != nil:
		return status + " " + documentText(m)
	}
	return status + " " + answer.Text(canonical)
}

// listText joins the lines of a table; a list of objects stays JSON.
func listText(v any) string {
	list, _ := v.([]any)
	lines := make([]string, len(list))
	for i, e := range list {
		line, ok := e.(string)
		if !ok {
			return answer.Text(v)
		}
		lines[i] = line
	}
	return strings.Join(lines, "; ")
}

var missing = regexp.MustCompile(`^no permissions for (\[.*?\]) and User`)

// errorText is the type, and of a refusal for missing privileges these. Other
// reasons are in words that differ between engines.
func errorText(e any) string {
	list, _ := e.([]any)
	if len(list) != 2 {
		return fmt.Sprint(e)
	}
	if m := missing.FindStringSubmatch(fmt.Sprint(list[1])); m != nil {
		return fmt.Sprintf("%v %s", list[0], m[1])
	}
	return fmt.Sprint(list[0])
}

func searchText(m map[string]any) string {
	if m["error"] != nil {
		return fmt.Sprintf("%v %s", m["status"], errorText(m["error"]))
	}
	hits, _ := m["hits"].(map[string]any)
	fields := map[string]bool{}
	names := make([]string, 0, len(hits))
	for _, key := range slices.Sorted(maps.Keys(hits)) {
		hit, _ := hits[key].(map[string]any)
		if source, ok := hit["_source"]; ok {
			leaves(fields, "", source)
			delete(hit, "_source")
		}
		if len(hit) > 0 {
			key += answer.Text(hit)
		}
		names = append(names, key)
	}
	text := fmt.Sprintf("total=%v hits=[%s]", m["total"], strings.Join(names, " "))
	if len(fields) > 0 {
		text += " fields=" + strings.Join(slices.Sorted(maps.Keys(fields)), ",")
	}
	for _, key := range []string{"aggregations", "suggest"} {
		if v, ok := m[key]; ok {
			text += " " + answer.Text(v)
		}
	}
	return text
}

// leaves adds the paths of the values in a document.
func leaves(into map[string]bool, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, m := range v {
			leaves(into, strings.TrimPrefix(at+"."+key, "."), m)
		}
		if len(v) == 0 && at != "" {
			into[at+".{}"] = true
		}
	case []any:
		for _, e := range v {
			leaves(into, at, e)
		}
		if len(v) == 0 {
			into[at+".[]"] = true
		}
	default:
		into[at] = true
	}
}

func documentText(m map[string]any) string {
	text := fmt.Sprintf("%v/%v", m["_index"], m["_id"])
	if m["error"] != nil {
		return text + " " + errorText(m["error"])
	}
	if m["found"] != true {
		return text + " not found"
	}
	fields := map[string]bool{}
	leaves(fields, "", m["_source"])
	if m["_source"] == nil {
		delete(fields, "")
	}
	text += " fields=" + strings.Join(slices.Sorted(maps.Keys(fields)), ",")
	if stored, ok := m["fields"]; ok {
		text += " " + answer.Text(stored)
	}
	return text
}

func writeText(m map[string]any) string {
	for op, v := range m {
		item, _ := v.(map[string]any)
		text := fmt.Sprintf("%s %v/%v %v", op, item["_index"], item["_id"], item["status"])
		if item["error"] != nil {
			text += " " + errorText(item["error"])
		}
		return text
	}
	return "nothing"
}

// slotsText gives each item in its position.
func slotsText(v any, item func(map[string]any) string) string {
	slots, _ := v.(map[string]any)
	var b strings.Builder
	for i := range len(slots) {
		m, _ := slots[strconv.Itoa(i)].(map[string]any)
		b.WriteString(" | " + item(m))
	}
	return b.String()
}

// contains reports which of the texts the answer holds, header and body.
func contains(res testbed.Response, texts []string) []string {
	header, err := json.Marshal(res.Header)
	if err != nil {
		panic(fmt.Sprintf("BUG: a header is no JSON: %v", err))
	}
	all := string(header) + string(res.Body)
	return slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return !strings.Contains(all, s) })
}
