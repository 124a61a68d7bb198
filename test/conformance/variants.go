package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// variants compares a value with several that it may be like: those of runs on the node itself.
type variants struct {
	report func(what string, args ...any)
	found  int
}

func (v *variants) note(what string, args ...any) {
	v.found++
	v.report(what, args...)
}

// moments find members that tell how long something took, when it was, or what was
// going on just then. Two runs may agree by chance, or since they are as fast as each
// other, and the third one not: no number of runs shows that they are noise.
// number_of_pending_tasks is 1 if the answer is given while a change of the cluster is
// applied and 0 a millisecond later; a breaker's estimated_size is the memory of the requests
// under way, guard's own look at the cluster's state among them, and what a pool of threads
// counts is their number; a warmer's current and the
// size of what a shard has stored are those of a refresh under way; the number of flushes and
// what a translog holds are those of a flush that the node began by itself after a write.
var moments = []struct {
	form  *regexp.Regexp
	fixed string
}{
	{regexp.MustCompile(`("(?:took|current|active|queue|largest|completed|threads|number_of_pending_tasks|estimated_size_in_bytes|[a-z_]*(?:_in_millis|_in_nanos|_millis|_nanos))" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("estimated_size" ?: ?)"[\d.]+[kmg]?b"`), `${1}"0b"`},
	{regexp.MustCompile(`("store" ?: ?\{[^{}]*"size_in_bytes" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("flush" ?: ?\{[^{}]*"total" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("flush" ?: ?\{[^{}]*"periodic" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("translog" ?: ?\{[^{}]*"operations" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("translog" ?: ?\{[^{}]*"size_in_bytes" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("translog" ?: ?\{[^{}]*"uncommitted_operations" ?: ?)\d+`), "${1}0"},
	{regexp.MustCompile(`("translog" ?: ?\{[^{}]*"uncommitted_size_in_bytes" ?: ?)\d+`), "${1}0"},
}

var digits = regexp.MustCompile(`\b\d+\b`)

// withoutThreads returns a table of pools of threads with its numbers set to nothing: they
// are moments too, and no column of a table says so.
func withoutThreads(request string, table []byte) []byte {
	if _, target, _ := strings.Cut(request, " "); !strings.HasPrefix(target, "/_cat/thread_pool") {
		return table
	}
	return digits.ReplaceAll(table, []byte("0"))
}

// withoutMoments returns a body with these members set to nothing.
func withoutMoments(body []byte) []byte {
	for _, m := range moments {
		body = m.form.ReplaceAll(body, []byte(m.fixed))
	}
	return body
}

// published finds the address where a node tells clients to go. It is the one thing that
// guard changes for somebody who may do everything: clients that sniff shall stay with it.
var published = regexp.MustCompile(`("http" ?: ?\{[^{}]*"publish_address" ?: ?)"[^"\s]+:\d+"`)

// withoutPublished returns a body with these addresses set to nothing.
func withoutPublished(body []byte) []byte {
	return published.ReplaceAll(body, []byte(`${1}""`))
}

// compare notes where got is like none of the wanted values.
func (v *variants) compare(path string, want []any, got any) {
	for _, w := range want {
		if kind(w) == kind(got) {
			v.sameKind(path, ofKind(want, kind(got)), got)
			return
		}
	}
	v.note("%s: %s at the node, %s through guard", path, shown(want[0]), shown(got))
}

// sameKind compares values of one kind.
func (v *variants) sameKind(path string, want []any, got any) {
	switch got := got.(type) {
	case map[string]any:
		v.objects(path, want, got)
	case []any:
		v.arrays(path, want, got)
	default:
		for _, w := range want {
			if w == got || w != want[0] {
				return // equal, or noise: it differs at the node
			}
		}
		v.note("%s: %s at the node, %s through guard", path, shown(want[0]), shown(got))
	}
}

// objects compares members by name. Names that some runs have and others not, such as
// ids of tasks, are noise: their values have to be like one another. What is empty is
// no noise where it never is at the node.
func (v *variants) objects(path string, want []any, got map[string]any) {
	byName := map[string][]any{}
	filled := len(got) == 0
	for _, w := range want {
		filled = filled && len(w.(map[string]any)) > 0
		for name, value := range w.(map[string]any) {
			byName[name] = append(byName[name], value)
		}
	}
	if filled {
		v.note("%s: %s at the node, empty through guard", path, shown(want[0]))
		return
	}
	var stray []any
	names := sortedKeys(byName)
	for _, name := range names {
		if values := byName[name]; len(values) < len(want) {
			stray = append(stray, values...)
		}
	}
	for _, name := range names {
		values := byName[name]
		if value, has := got[name]; has {
			v.compare(path+"."+name, values, value)
		} else if len(values) == len(want) {
			v.note("%s.%s: %s at the node, missing through guard", path, name, shown(values[0]))
		}
	}
	for _, name := range sortedKeys(got) {
		value := got[name]
		switch {
		case byName[name] != nil:
		case len(stray) > 0:
			v.compare(path+"."+name, stray, value)
		default:
			v.note("%s.%s: missing at the node, %s through guard", path, name, shown(value))
		}
	}
}

// arrays compares elements by position; if the number of elements differs at the node,
// each has to be like one of them.
func (v *variants) arrays(path string, want []any, got []any) {
	var all []any
	steady, filled := true, len(got) == 0
	for _, w := range want {
		list := w.([]any)
		steady = steady && len(list) == len(want[0].([]any))
		filled = filled && len(list) > 0
		all = append(all, list...)
	}
	if filled {
		v.note("%s: %s at the node, empty through guard", path, shown(want[0]))
		return
	}
	if !steady {
		for i, element := range got {
			v.compare(fmt.Sprintf("%s.%d", path, i), all, element) // one of them has elements
		}
		return
	}
	if len(got) != len(want[0].([]any)) {
		v.note("%s: %d elements at the node, %d through guard: %s and %s", path, len(want[0].([]any)), len(got), shown(want[0]), shown(got))
		return
	}
	for i, element := range got {
		var values []any
		for _, w := range want {
			values = append(values, w.([]any)[i])
		}
		v.compare(fmt.Sprintf("%s.%d", path, i), values, element)
	}
}

// kind names the JSON kind of a value.
func kind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	default:
		return "null"
	}
}

// ofKind returns the values of that kind.
func ofKind(values []any, k string) []any {
	var list []any
	for _, v := range values {
		if kind(v) == k {
			list = append(list, v)
		}
	}
	return list
}

// shown prints a value for a report.
func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%s %.300s", kind(v), text)
}
