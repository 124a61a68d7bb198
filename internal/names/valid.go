package names

import (
	"fmt"
	"strings"
)

// maxNameBytes is the clusters' limit.
const maxNameBytes = 255

// badCharacters cannot stand in the name of an index, alias or data stream. The
// clusters list them in this order.
const badCharacters = " \"*,/<>?\\|#:"

// CheckName returns an error that says why no index can have this name, or nil. The
// text of the error is that of the clusters.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("Invalid index name [], must not be empty") //nolint:revive,staticcheck // the cluster's words
	case strings.ContainsAny(name, badCharacters):
		i := strings.IndexAny(name, badCharacters)
		return invalidName(name, fmt.Sprintf("must not contain '%c'", name[i]))
	case strings.IndexByte("_-+", name[0]) >= 0:
		return invalidName(name, "must not start with '"+name[:1]+"'")
	case len(name) > maxNameBytes:
		return invalidName(name, fmt.Sprintf("index name is too long, (%d > %d)", len(name), maxNameBytes))
	case name == "." || name == "..":
		return invalidName(name, "must not be '.' or '..'")
	case strings.ToLower(name) != name:
		return invalidName(name, "must be lowercase")
	}
	return nil
}

func invalidName(name, why string) error {
	return fmt.Errorf("Invalid index name [%s], %s", name, why) //nolint:revive,staticcheck // the cluster's words
}
