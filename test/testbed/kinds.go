package testbed

import (
	"fmt"
	"slices"
	"strings"
)

// Kind names a sort of node that the test bed can start.
type Kind string

// The kinds of nodes, each one pinned to a version by artefacts.txt.
const (
	OpenSearch  Kind = "opensearch"  // OpenSearch 2.19.4, no security
	OpenSearch3 Kind = "opensearch3" // OpenSearch 3.4.0, no security
	Secured     Kind = "secured"     // OpenSearch 2.19.4 with its security plugin
	Secured3    Kind = "secured3"    // OpenSearch 3.4.0 with its security plugin
	ES710       Kind = "es710"       // Elasticsearch 7.10.2, Apache-2.0, no security
)

// Kinds returns all kinds, cheapest to start first.
func Kinds() []Kind { return []Kind{OpenSearch, ES710, OpenSearch3, Secured, Secured3} }

// ParseKind returns the kind of that name, or an error that lists the names there are.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(Kinds(), k) {
		return k, nil
	}
	return "", fmt.Errorf("unknown kind of node %q; want one of %v", name, Kinds())
}

// A build says how a home is made and what runs it.
type build struct {
	version string
	base    string // section of artefacts.txt with the server and its modules
	plugin  string // section with the security plugin; empty without
	pkg     string // Java package of the server
	modern  bool   // OpenSearch 3: modules have other class names
	release int    // oldest Java that runs it; NodeMain is compiled for that one
	java    []int  // Java versions to use, the preferred one first
}

var (
	java17 = []int{17, 21, 11}
	java25 = []int{25, 21, 24, 23, 22, 26}
)

var builds = map[Kind]build{
	OpenSearch:  {version: "2.19.4", base: "opensearch-2.19.4", pkg: "org.opensearch", release: 11, java: java17},
	Secured:     {version: "2.19.4", base: "opensearch-2.19.4", plugin: "security-2.19.4", pkg: "org.opensearch", release: 11, java: java17},
	OpenSearch3: {version: "3.4.0", base: "opensearch-3.4.0", pkg: "org.opensearch", modern: true, release: 21, java: java25},
	Secured3:    {version: "3.4.0", base: "opensearch-3.4.0", plugin: "security-3.4.0", pkg: "org.opensearch", modern: true, release: 21, java: java25},
	ES710:       {version: "7.10.2", base: "elasticsearch-7.10.2", pkg: "org.elasticsearch", release: 11, java: []int{17, 11}},
}

// A module is a part of a distribution that the server loads from its modules folder.
type module struct {
	name    string
	class   string // in 2.19 and 7.10, below the server's package
	extends string
}

var modules = []module{
	{"aggs-matrix-stats", "search.aggregations.matrix.MatrixAggregationPlugin", ""},
	{"analysis-common", "analysis.common.CommonAnalysisPlugin", "lang-painless"},
	{"geo", "geo.GeoModulePlugin", ""},
	{"ingest-common", "ingest.common.IngestCommonPlugin", "lang-painless"},
	{"ingest-user-agent", "ingest.useragent.IngestUserAgentPlugin", ""},
	{"lang-expression", "script.expression.ExpressionPlugin", ""},
	{"lang-mustache", "script.mustache.MustachePlugin", ""},
	{"lang-painless", "painless.PainlessPlugin", ""},
	{"mapper-extras", "index.mapper.MapperExtrasPlugin", ""},
	{"parent-join", "join.ParentJoinPlugin", ""},
	{"percolator", "percolator.PercolatorPlugin", ""},
	{"rank-eval", "index.rankeval.RankEvalPlugin", ""},
	{"reindex", "index.reindex.ReindexPlugin", ""},
	{"repository-url", "plugin.repository.url.URLRepositoryPlugin", ""},
}

// className returns the class that b's server loads for m. OpenSearch 3 renamed
// every XPlugin of a module to XModulePlugin; geo was called so before.
func (b build) className(m module) string {
	class := m.class
	if b.modern && !strings.HasSuffix(class, "ModulePlugin") {
		class = strings.TrimSuffix(class, "Plugin") + "ModulePlugin"
	}
	return b.pkg + "." + class
}

// descriptor returns the text of m's plugin-descriptor.properties.
func (b build) descriptor(m module) string {
	product := strings.TrimPrefix(b.pkg, "org.")
	java := fmt.Sprint(b.release)
	if product == "elasticsearch" {
		java = "1.8"
	}
	lines := []string{
		"name=" + m.name,
		"description=" + m.name + " of the test bed",
		"version=" + b.version,
		product + ".version=" + b.version,
		"java.version=" + java,
		"classname=" + b.className(m),
		"has.native.controller=false",
	}
	if m.extends != "" {
		lines = append(lines, "extended.plugins="+m.extends)
	}
	return strings.Join(lines, "\n") + "\n"
}
