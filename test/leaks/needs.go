package leaks

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"guard/test/testbed"
)

// Capabilities are what a cluster has that a case may need.
type Capabilities struct {
	Engine string // opensearch or elasticsearch
	Major  int
	Minor  int
	names  []string // of modules, plugins and settings
}

// settings are those that the test bed's nodes are started with, and what the
// runner itself brings.
var settings = []string{"any", "two-users", "path.repo", "reindex-remote", "remote-self"}

// modules maps the words of cases to the names that nodes list. Add-ons, which the
// test bed has none of, are never found.
var modules = map[string]string{
	"painless": "lang-painless", "mustache": "lang-mustache", "lang-expression": "lang-expression", "geo-shape": "geo",
	"parent-join": "parent-join", "percolator": "percolator", "rank-eval": "rank-eval", "reindex": "reindex",
	"search-pipeline-common": "search-pipeline-common",
}

// Ask reads from the node what it has.
func Ask(node *testbed.Node) (Capabilities, error) {
	c := Capabilities{Engine: "opensearch", names: slices.Clone(settings)}
	if node.Kind == testbed.ES710 {
		c.Engine = "elasticsearch"
	}
	if _, err := fmt.Sscanf(node.Version, "%d.%d", &c.Major, &c.Minor); err != nil {
		return c, fmt.Errorf("cannot read the version %q: %w", node.Version, err)
	}
	res, err := node.Do("GET", "/_nodes/plugins", "")
	if err != nil {
		return c, err
	}
	var info struct {
		Nodes map[string]struct{ Modules, Plugins []struct{ Name string } }
	}
	if err := json.Unmarshal(res.Body, &info); err != nil {
		return c, fmt.Errorf("cannot read the modules: %w", err)
	}
	for _, n := range info.Nodes {
		for _, m := range append(n.Modules, n.Plugins...) {
			c.names = append(c.names, m.Name)
		}
	}
	return c, nil
}

// Lacks returns the first need that the cluster does not meet, "" if there is none.
func (c Capabilities) Lacks(needs []string) string {
	for _, need := range needs {
		if !slices.ContainsFunc(strings.Split(need, "|"), c.has) {
			return need
		}
	}
	return ""
}

var versionNeed = regexp.MustCompile(`^(opensearch|elasticsearch)(>=|<)(\d+)(?:\.(\d+))?$`)

func (c Capabilities) has(need string) bool {
	m := versionNeed.FindStringSubmatch(need)
	if m == nil {
		if module, ok := modules[need]; ok {
			need = module
		}
		return slices.Contains(c.names, need)
	}
	if m[1] != c.Engine {
		return false
	}
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // "" is 0: the pattern takes digits alone
		return n
	}
	const minors = 1000 // more than any major version has had
	have, want := c.Major*minors+c.Minor, number(m[3])*minors+number(m[4])
	return (have >= want) == (m[2] == ">=")
}
