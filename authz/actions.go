package authz

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"guard/config"
	"guard/internal/names"
)

// actionList is the vocabulary: a name on each line, sorted. It was collected from
// the REST handlers and specifications of OpenSearch 1-3 and its plugins and of
// Elasticsearch 7-9, with the actions of sub-requests that the security plugin
// checks (such as indices:data/write/bulk[s]).
//
//go:embed actions.txt
var actionList string

var knownActions = strings.Fields(actionList)

// otherActions are prefixes of permissions that are no actions of the clusters:
// those of Dashboards, of the security plugin's own API and of extensions.
var otherActions = []string{"kibana:", "restapi:", "security:", "hw:", "plugin:"}

// known reports whether text is an action, or a pattern that matches one.
func known(text string, p names.Pattern) bool {
	for _, prefix := range otherActions {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	if name, ok := p.IsExact(); ok {
		_, found := slices.BinarySearch(knownActions, name)
		return found
	}
	return slices.ContainsFunc(knownActions, p.Match)
}

// actions expands and compiles a list of actions and groups of a role. A name that
// is neither is kept: it may be an action that a newer cluster has.
func (c *compiler) actions(at config.Pos, key string, texts []string) names.Patterns {
	var list []names.Pattern
	seen := make(map[string]bool)
	for i, text := range texts {
		list = c.expand(list, seen, at.Item(key, i), text)
	}
	return names.NewPatterns(list...)
}

// vocabulary warns of actions and groups that nobody knows, wherever they are named.
func (c *compiler) vocabulary(sec *config.Security) {
	for _, name := range slices.Sorted(maps.Keys(sec.ActionGroups)) {
		group := sec.ActionGroups[name]
		c.warnUnknown(group.Pos, "allowed_actions", group.AllowedActions)
	}
	for _, name := range slices.Sorted(maps.Keys(sec.Roles)) {
		role := sec.Roles[name]
		c.warnUnknown(role.Pos, "cluster_permissions", role.ClusterPermissions)
		for _, p := range role.IndexPermissions {
			c.warnUnknown(p.Pos, "allowed_actions", p.AllowedActions)
		}
		for _, p := range role.TenantPermissions {
			c.warnUnknown(p.Pos, "allowed_actions", p.AllowedActions)
		}
	}
}

// warnUnknown warns of each of texts that names no action and no group; one that can't
// be read is a fault, also where no role uses it.
func (c *compiler) warnUnknown(at config.Pos, key string, texts []string) {
	for i, text := range texts {
		p := c.pattern(at.Item(key, i), text)
		if _, group := c.groups[text]; group || p.IsNothing() || known(text, p) {
			continue // what matches nothing is blank or a fault, and was reported as that
		}
		c.warn(at.Item(key, i), "an action, or a group of action_groups.yml or built in", "unknown action or group %q", text)
	}
}

// expand appends text and, if it is a group, what it stands for, each once: that
// also ends a group that holds itself. The group's own name stays as a permission.
func (c *compiler) expand(list []names.Pattern, seen map[string]bool, at config.Pos, text string) []names.Pattern {
	if seen[text] {
		return list
	}
	seen[text] = true
	list = append(list, c.pattern(at, text))
	group, ok := c.groups[text]
	if !ok {
		return list
	}
	for i, member := range group.AllowedActions {
		list = c.expand(list, seen, group.Pos.Item("allowed_actions", i), member)
	}
	return list
}

// legacyCluster are the actions outside "cluster:" that the legacy rules check
// against cluster_permissions.
var legacyCluster = names.NewPatterns(
	names.MustParsePattern("indices:admin/template/*"),
	names.MustParsePattern("indices:admin/index_template/*"),
	names.MustParsePattern("indices:data/read/scroll*"),
	names.MustParsePattern("indices:data/read/msearch*"),
	names.MustParsePattern("indices:data/write/bulk"),
	names.MustParsePattern("indices:data/read/mget"),
	names.MustParsePattern("indices:data/read/mtv"),
	names.MustParsePattern("indices:data/write/reindex"),
	names.MustParsePattern("indices:data/read/search/template/render"),
)

// v4Cluster are those of the v4 rules: its well-known cluster actions and a list
// of further ones.
var v4Cluster = names.NewPatterns(
	names.MustParsePattern("indices:admin/template/*"),
	names.MustParsePattern("indices:admin/index_template/*"),
	names.MustParsePattern("indices:data/read/mget"),
	names.MustParsePattern("indices:data/write/bulk"),
	names.MustParsePattern("indices:data/read/scroll"),
	names.MustParsePattern("indices:data/read/scroll/clear"),
	names.MustParsePattern("indices:data/read/msearch"),
	names.MustParsePattern("indices:data/read/msearch/template"),
	names.MustParsePattern("indices:data/read/mtv"),
	names.MustParsePattern("indices:data/write/reindex"),
	names.MustParsePattern("indices:admin/render/template/search"),
	names.MustParsePattern("indices:data/read/search/template/render"), // its name up to 3.4
	names.MustParsePattern("indices:data/read/point_in_time/readall"),
)

// ClusterAction reports whether action is checked against cluster_permissions
// alone, by the rules that e selects.
func ClusterAction(e config.Evaluation, action string) bool {
	if e == config.EvaluationV4 {
		return strings.HasPrefix(action, "cluster:") || v4Cluster.Match(action)
	}
	return !strings.HasPrefix(action, "indices:") || legacyCluster.Match(action)
}
