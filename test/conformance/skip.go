package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A skip says where a case does not apply.
type skip struct {
	versions []string // ranges such as " - 7.3.99"; "all"
	features []string // what a runner must be able to do
}

// features are what this runner can do, in the words of the suites. Two of them are
// facts: no_xpack (a node without the vendor's extensions), default_shards (no
// template changes the number of shards).
var features = []string{
	"allowed_warnings", "arbitrary_key", "contains", "default_shards", "headers", "no_xpack", "node_selector",
	"regex", "stash_in_path", "warnings", "yaml",
}

func parseSkip(n *yaml.Node) (skip, error) {
	var s skip
	for key, value := range members(n) {
		switch key.Value {
		case "version":
			s.versions = strings.Split(value.Value, ",")
		case "features":
			s.features = strings.FieldsFunc(strings.Join(texts(value), ","), func(r rune) bool { return r == ',' || r == ' ' })
		case "reason":
		default:
			return s, fmt.Errorf("unknown condition %q", key.Value)
		}
	}
	return s, nil
}

// because returns why the case is skipped on an engine, or nothing.
func (c *Case) because(e engine) string {
	for _, s := range c.skips {
		for _, f := range s.features {
			if !slices.Contains(features, f) {
				return "the runner has no " + f
			}
		}
		for _, r := range s.versions {
			if e.within(r) {
				return "version is within " + strings.TrimSpace(r)
			}
		}
	}
	return ""
}

// An engine is a product in a version.
type engine struct {
	openSearch bool
	version    string
}

// within reports whether the version lies in a range "from - to" of which each end may be missing.
func (e engine) within(r string) bool {
	r = strings.TrimSpace(r)
	if r == "all" {
		return true
	}
	from, to, _ := strings.Cut(r, "-")
	have := e.order(e.version)
	return (blank(from) || slices.Compare(e.order(from), have) <= 0) && (blank(to) || slices.Compare(have, e.order(to)) <= 0)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// firstLegacy is the major version from which one is of Elasticsearch.
const firstLegacy = 5

// order returns numbers that order versions. OpenSearch began at 1.0 behind
// Elasticsearch 7.10: for it a 7.4 is older than a 1.0.
func (e engine) order(version string) []int {
	order := []int{0}
	for part := range strings.SplitSeq(strings.TrimSpace(version), ".") {
		n, _ := strconv.Atoi(part) // a part that is no number is 0, the oldest
		order = append(order, n)
	}
	if e.openSearch && order[1] < firstLegacy {
		order[0] = 1
	}
	return order
}
