package framing

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// sameTarget reports whether two targets name the same: segments and parameters are
// compared as they are decoded, once.
func sameTarget(a, b string) bool {
	if a == b {
		return true
	}
	pathA, queryA, _ := strings.Cut(a, "?")
	pathB, queryB, _ := strings.Cut(b, "?")
	return slices.Equal(segments(pathA), segments(pathB)) && slices.Equal(parts(queryA), parts(queryB))
}

// segments splits a path and decodes each part; one slash at the end means nothing.
func segments(path string) []string {
	var list []string
	for s := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if plain, err := url.PathUnescape(s); err == nil {
			s = plain
		}
		list = append(list, s)
	}
	return list
}

// parts splits a query and decodes each parameter.
func parts(query string) []string {
	list := strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
	for i, s := range list {
		if plain, err := url.QueryUnescape(s); err == nil {
			list[i] = plain
		}
	}
	return list
}

// sameBody reports whether two bodies are equal, as JSON if both are.
func sameBody(a, b string) bool {
	if a == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
