package plugin

import (
	"regexp"
	"slices"
	"strings"
)

var (
	notBuilt = regexp.MustCompile(`is not (supported|built) yet`)
	ownRule  = regexp.MustCompile(`under a (document|field) rule|only new documents may be written`)
	noAction = regexp.MustCompile(`^no permissions for \[\] and`)
	byID     = []string{"mget", "bulk"}
	writing  = []string{"bulk", "mget", "index", "create", "update", "delete"}
)

// Rules are the differences that are meant, each as narrow as it can be.
var Rules = []Rule{
	{
		Name: "not built", Why: "refused by name until it is built",
		finds: func(p part) bool { return p.guard.refused() && notBuilt.MatchString(p.guard.reason) },
	},
	{
		Name: "refused under a rule", Why: "what would show or destroy what a rule hides is refused",
		finds: func(p part) bool { return p.d.User.Ruled() && p.guard.refused() && ownRule.MatchString(p.guard.reason) },
	},
	{
		Name: "no such endpoint", Why: "a path that begins with _ and is no endpoint is refused before it is read as a name",
		finds: func(p part) bool {
			if !strings.HasPrefix(p.guard.reason, "unknown endpoint") {
				return false
			}
			// The plugin may have put other names for the list before the cluster reads it.
			return p.plugin.status == 400 || p.d.DNFOF && len(p.expr) > 1 && strings.HasPrefix(p.expr[0], "_")
		},
	},
	{
		Name: "system index among others", Why: "wildcards and items pass a system index over; the plugin refuses the whole request where it touches one, or lists it under `*`",
		finds: func(p part) bool {
			if p.d.Kind == "exists_index" { // an answer to HEAD has no reason
				return p.plugin.status == 403 && p.touchesSystem()
			}
			return noAction.MatchString(p.plugin.reason) || p.onlyPluginLists(system) || p.onlySystem() && p.plugin.status >= 400 && !p.guard.refused() && empty(p.guard)
		},
	},
	{
		Name: "nothing but a system index", Why: "where nothing but a closed system index is left, the answer is a refusal; the plugin shows the index as empty",
		finds: func(p part) bool {
			return p.d.DNFOF && p.guard.refused() && p.plugin.status == 200 && empty(p.plugin) && p.touchesSystem()
		},
	},
	{
		Name: "options of the request",
		Why:  "wildcards are expanded by the options of the request; the plugin takes open and hidden indices, whatever it says, and drops closed ones",
		finds: func(p part) bool {
			if slices.Contains(byID, p.d.Kind) || len(p.wildcards()) == 0 {
				return false
			}
			asks := strings.Contains(p.query, "expand_wildcards")
			switch {
			case p.plugin.refused():
				return !p.guard.refused() && (asks || len(p.unseen()) > 0)
			case p.guard.status != 200 && asks:
				return p.plugin.status == 200
			}
			return p.onlyUnseen()
		},
	},
	{
		Name: "missing name beside wildcards", Why: "a name that does not exist changes nothing for the others; the plugin then takes the wildcards and aliases of the list literally",
		finds: func(p part) bool {
			if len(p.expr) < 2 || !p.missesOne() || len(p.wildcards()) == 0 && !p.namesAlias() {
				return false
			}
			return p.guard.refused() != p.plugin.refused() || p.d.DNFOF && p.plugin.status == 200 && empty(p.plugin)
		},
	},
	{
		Name: "filter of an alias", Why: "an alias keeps its filter where some of what was asked is left out; the plugin then asks for the indices themselves",
		finds: func(p part) bool { return p.d.DNFOF && p.onlyFiltered() },
	},
	{
		Name: "header that means nothing", Why: "a multi-search with a header of impossible names is refused as a whole",
		finds: func(p part) bool {
			return p.d.Kind == "msearch" && p.guard.status == 400 && p.guard.kind == "invalid_index_name_exception"
		},
	},
	{
		Name: "refused before it is looked at", Why: "a write, or an item, on a name that is not granted is refused, whatever the name is; the plugin has the cluster look for the index first",
		finds: func(p part) bool {
			first := []string{"index_not_found_exception", "index_closed_exception", "illegal_argument_exception"}
			return slices.Contains(writing, p.d.Kind) && p.guard.kind == "security_exception" && slices.Contains(first, p.plugin.kind)
		},
	},
	{
		Name: "name of a refused item", Why: "a refused item names what the client wrote, not the index behind it",
		finds: func(p part) bool {
			return slices.Contains(byID, p.d.Kind) && p.guard.kind == "security_exception" && p.plugin.kind == "security_exception" && p.guard.shown["_index"] != p.plugin.shown["_index"]
		},
	},
	{
		Name: "`_all` in resolve", Why: "`_all` is a name like another to the endpoint that resolves names, as on the cluster; the plugin puts the names that are granted for it",
		finds: func(p part) bool {
			return p.d.DNFOF && p.d.Kind == "resolve" && slices.Contains(p.expr, "_all") && p.guard.status == 200 && len(p.guard.names()) == 0
		},
	},
	{
		Name: "aliases in resolve", Why: "aliases and streams are named, in both places, to who holds all their members",
		finds: func(p part) bool { return p.d.Kind == "resolve" && p.sameIndices() },
	},
	{
		Name: "expression for another cluster", Why: "a regular expression grants nothing on another cluster; the plugin takes a cluster that it does not know for a part of the name",
		finds: func(p part) bool {
			others := p.guard.refused() || p.d.DNFOF && len(p.expr) > 1 && p.guard.status == 200
			return strings.Contains(strings.Join(p.expr, ","), ":") && others && p.plugin.kind == "index_not_found_exception"
		},
	},
	{
		Name: "alias of several for one document", Why: "one document is not read through an alias of several indices, as on the cluster; the plugin takes the one index that is granted",
		finds: func(p part) bool {
			one := []string{"get", "exists", "source"}
			return p.d.DNFOF && slices.Contains(one, p.d.Kind) && len(p.expr) == 1 && len(p.d.World.Aliases[p.expr[0]].Members) > 1 && p.guard.refused()
		},
	},
	{
		Name: "date math in resolve", Why: "a name of date math that means nothing is resolved like any name that means nothing: to empty lists",
		finds: func(p part) bool {
			return p.d.Kind == "resolve" && strings.Contains(strings.Join(p.expr, ","), "<") && p.guard.status == 200 && p.plugin.kind == "index_not_found_exception"
		},
	},
}

// empty reports whether an answer to a search or count shows nothing.
func empty(t told) bool {
	if total, ok := t.shown["total"].(float64); ok {
		return total == 0
	}
	count, ok := t.shown["count"].(float64)
	return ok && count == 0
}
