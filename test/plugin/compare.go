package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"guard/test/oracle/answer"
	"guard/test/testbed"
)

// An Outcome is what an answer tells: verdict, documents, names, and of errors their
// shape and type.
type Outcome struct {
	Status int
	Shown  any    // canonical
	Shape  string // of an error
	Reason string // of an error; told, not compared
}

// Text is the outcome in one line.
func (o Outcome) Text() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", o.Status, o.Shape, answer.Text(o.Shown)))
}

// Equal reports whether two outcomes tell the same.
func (o Outcome) Equal(other Outcome) bool { return o.Text() == other.Text() }

// Refused reports whether the request as a whole was refused.
func (o Outcome) Refused() bool { return o.Status == 403 }

// Read makes the outcome of an answer to line.
func Read(line string, res testbed.Response) Outcome {
	_, rest, _ := strings.Cut(line, " ")
	path, _, _ := strings.Cut(rest, " ")
	o := Outcome{Status: res.Status, Shown: map[string]any{}}
	if res.Status >= 400 {
		o.Shape, o.Reason = shape(res)
		if o.Shape != "" {
			return o
		}
	}
	o.Shown = comparable(answer.Canonical(answer.FormOf(path), res.Status, res.Body))
	return o
}

// shape is the form of an error: which members it has, and of what type it is. An
// answer that is no error, such as one that found nothing, has none.
func shape(res testbed.Response) (shape, reason string) {
	if len(res.Body) == 0 {
		return "no body", ""
	}
	var m map[string]any
	if json.Unmarshal(res.Body, &m) != nil {
		return "text", string(res.Body)
	}
	switch e := m["error"].(type) {
	case string:
		return fmt.Sprintf("error text, status %v", m["status"]), e
	case map[string]any:
		reason, _ = e["reason"].(string)
		causes := "no root_cause"
		if list, ok := e["root_cause"].([]any); ok && len(list) > 0 {
			first, _ := list[0].(map[string]any)
			causes = fmt.Sprintf("root_cause %v", first["type"])
			if why, ok := first["reason"].(string); ok && reason == "all shards failed" {
				reason = why
			}
		}
		return fmt.Sprintf("%v, %s, status %v", e["type"], causes, m["status"]), reason
	}
	return "", ""
}

// leftOut are members that differ between clusters, or tell nothing of what may be seen.
var leftOut = []string{"settings", "epoch", "timestamp", "index_uuid", "_shards"}

// own is what the name of the plugin's own index holds.
const own = ".opendistro_security"

// comparable drops what differs between the two clusters, and of the error of an item all but its type.
func comparable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, m := range v {
			switch {
			case slices.Contains(leftOut, key) || strings.HasPrefix(key, own):
			case key == "error":
				out[key] = first(m)
			default:
				out[key] = comparable(m)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if !strings.Contains(answer.Text(e), own) {
				out = append(out, comparable(e))
			}
		}
		return out
	}
	return v
}

// first is the type of an error that was made canonical.
func first(v any) any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list[0]
	}
	return v
}

func text(v any) string { return answer.Text(v) }
