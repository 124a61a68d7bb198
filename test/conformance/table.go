package conformance

import (
	"fmt"
	"path/filepath"
	"strings"
)

// TableHead is the head of the table that Row makes lines of.
const TableHead = "| suite and node | pass | fail | skip | calls compared | differences |\n|---|---|---|---|---|---|\n"

// Row returns the line of one suite. Pass, fail and skip are outcomes on the node itself.
func (r Result) Row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d |\n", name, r.Pass, r.Fail, r.Skip, r.Calls, len(r.Differences))
}

// Name names a suite in the table by its jar, and the node that it is run on.
func (t *Trial) Name(jar string) string {
	name := strings.TrimPrefix(filepath.Base(jar), "suite-")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i] // the checksum
	}
	return fmt.Sprintf("%s on %s %s", name, t.Node.Kind, t.Node.Version)
}
