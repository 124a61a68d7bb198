package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A stash holds what a case remembers of answers, by name. Its entry "body" is the
// last answer.
type stash map[string]any

// inText is a remembered name within a text.
var inText = regexp.MustCompile(`\$\{([^}]+)\}`)

// resolve returns what the text s means: what was remembered as $name, the text with
// each ${name} replaced, or else s itself.
func (kept stash) resolve(s string) any {
	if name, ok := strings.CutPrefix(s, "$"); ok {
		if v, known := kept[name]; known {
			return v
		}
	}
	return inText.ReplaceAllStringFunc(s, func(m string) string {
		v, known := kept[m[2:len(m)-1]]
		if !known {
			return m
		}
		return text(v)
	})
}

// errNothing says that a path leads nowhere.
var errNothing = errors.New("there is no such value")

// at returns what stands at a path such as "hits.0._source" in v; a dot in a name is written "\.".
func (kept stash) at(v any, path string) (any, error) {
	for _, name := range splitPath(path) {
		if strings.HasPrefix(name, "$") {
			name = text(kept.resolve(name))
		}
		var err error
		if v, err = child(v, name); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return v, nil
}

// child returns the member or element of that name.
func child(v any, name string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if name == "_arbitrary_key_" { // means some key itself
			keys := sortedKeys(v)
			if len(keys) == 0 {
				return nil, errNothing
			}
			return keys[0], nil
		}
		member, ok := v[name]
		if !ok {
			return nil, errNothing
		}
		return member, nil
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(v) {
			return nil, errNothing
		}
		return v[i], nil
	default:
		return nil, errNothing
	}
}

// splitPath splits at dots that no backslash stands before; the whole is the empty path or $body.
func splitPath(path string) []string {
	var names []string
	for _, name := range strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		names = append(names, strings.ReplaceAll(name, "\x00", "."))
	}
	if names[0] == "" || names[0] == "$body" {
		names = names[1:]
	}
	return names
}

// sortedKeys returns the names of the members in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// number returns a JSON number as one that can be compared.
func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}
