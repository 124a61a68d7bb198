package endpoint

import (
	_ "embed" // for notbuilt.tsv
	"fmt"
	"strings"
)

// NodesInfo is the id of the operation whose answer tells clients where the nodes are.
const NodesInfo = "nodes.info"

// notBuiltTable lists, one a line, an id, methods and paths of operations that users
// of a cluster know and that guard offers to unrestricted principals alone: the
// refusal then says so, instead of calling them unknown. Some are here for safety: an
// index could be called views, and OpenSearch would answer with its list of views.
//
//go:embed notbuilt.tsv
var notBuiltTable string

var notBuilt = parseNotBuilt(notBuiltTable)

func parseNotBuilt(table string) []Route {
	var rows []Route
	for line := range strings.Lines(table) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 3 {
			panic(fmt.Sprintf("BUG: line %q of the endpoints that are not built; want three columns", line))
		}
		rows = append(rows, Route{
			ID: columns[0], Methods: columns[1], Paths: strings.Fields(columns[2]), NotBuilt: true, Repeatable: onlyRead(columns[1]),
		})
	}
	return rows
}

// onlyRead reports whether an operation has no method but those that read. One that takes
// GET beside POST may act by either: a scroll moves on, a flush writes.
func onlyRead(methods string) bool { return methods == "GET" || methods == "HEAD" }
