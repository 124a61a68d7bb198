package plugin

import (
	"slices"
	"strings"
)

// Shorter returns requests with one part less than line has: a parameter, a name of
// the list in the path, an item of the body.
func Shorter(line string) []string {
	method, rest, _ := strings.Cut(line, " ")
	target, body, _ := strings.Cut(rest, " ")
	path, query, _ := strings.Cut(target, "?")
	var list []string
	add := func(path, query, body string) {
		if query != "" {
			query = "?" + query
		}
		list = append(list, strings.TrimSpace(method+" "+path+query+" "+body)+ending(body))
	}
	params := strings.Split(query, "&")
	for i, p := range params {
		if strings.Contains(p, "_") { // an index option
			add(path, strings.Join(slices.Delete(slices.Clone(params), i, i+1), "&"), body)
		}
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		names := strings.Split(s, ",")
		for j := 0; len(names) > 1 && j < len(names); j++ {
			less := slices.Clone(segments)
			less[i] = strings.Join(slices.Delete(slices.Clone(names), j, j+1), ",")
			add(strings.Join(less, "/"), query, body)
		}
	}
	if strings.Contains(path, "_msearch") {
		lines := strings.SplitAfter(strings.TrimSuffix(body, "\n"), "\n")
		for i := 0; len(lines) > 2 && i+1 < len(lines); i += 2 {
			add(path, query, strings.TrimSuffix(strings.Join(slices.Delete(slices.Clone(lines), i, i+2), ""), "\n")+"\n")
		}
	}
	return list
}

// ending is the end of a line that a body of lines needs.
func ending(body string) string {
	if strings.HasSuffix(body, "\n") {
		return "\n"
	}
	return ""
}
