package authz

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// naive is the second road (two roads, one answer): it reads the configuration
// again for each question, keeps nothing, and shares no code with the compiled one
// but for single patterns.
type naive struct {
	sec *config.Security
	set config.Policy
	who *ask.Principal
	w   *world
}

func (n *naive) v4() bool { return n.sec.Dynamic.PrivilegesEvaluationType == config.EvaluationV4 }

func (n *naive) cluster(action string) bool {
	rest, indices := strings.CutPrefix(action, "indices:")
	if !indices {
		return !n.v4() || strings.HasPrefix(action, "cluster:")
	}
	for _, exact := range []string{"data/write/bulk", "data/read/mget", "data/read/mtv", "data/write/reindex", "data/read/search/template/render"} {
		if rest == exact {
			return true
		}
	}
	for _, prefix := range []string{"admin/template/", "admin/index_template/", "data/read/scroll", "data/read/msearch"} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return n.v4() && (rest == "admin/render/template/search" || rest == "data/read/point_in_time/readall")
}

// match compares with a glob by trying everything.
func match(glob, name string) bool {
	switch {
	case glob == "":
		return name == ""
	case glob[0] == '*':
		for i := range len(name) + 1 {
			if match(glob[1:], name[i:]) {
				return true
			}
		}
		return false
	case name == "":
		return false
	}
	return (glob[0] == '?' || glob[0] == name[0]) && match(glob[1:], name[1:])
}

func matchText(pattern, name string) bool {
	if strings.HasPrefix(pattern, "/") {
		return names.MustParsePattern(pattern).Match(name)
	}
	return match(pattern, name)
}

// has reports whether a list of actions and groups grants action; bare tells
// whether a lone "*" counts.
func (n *naive) has(list []string, action string, bare bool) bool {
	todo, seen := slices.Clone(list), map[string]bool{}
	for len(todo) > 0 {
		text := todo[0]
		todo = todo[1:]
		if seen[text] {
			continue
		}
		seen[text] = true
		if (bare || text != "*") && matchText(text, action) {
			return true
		}
		todo = append(todo, n.sec.ActionGroups[text].AllowedActions...)
	}
	return false
}

// pattern renders an index pattern; ok tells that each variable has a value.
func (n *naive) pattern(text string) (pattern string, ok bool) {
	before, rest, templated := strings.Cut(text, "${attr.internal.")
	if !templated {
		return text, true
	}
	name, after, _ := strings.Cut(rest, "}")
	value := n.who.Attributes["attr.internal."+name]
	if value == "" {
		return before + "*" + after, false
	}
	if strings.ContainsAny(value, "*?/") {
		return "", true
	}
	return before + value + after, true
}

// owners are the names by which something is granted: its own, its aliases, its
// stream, the stream's aliases.
func (n *naive) owners(name string) []string {
	list := append([]string{name}, n.w.Aliases(name)...)
	if s := n.w.Stream(name); s != "" {
		list = append(append(list, s), n.w.Aliases(s)...)
	}
	return list
}

// covers tells whether an entry covers one of the names: "yes", "perhaps" or "no".
func (n *naive) covers(e config.IndexPermission, owners []string) string {
	result := "no"
	for _, text := range e.IndexPatterns {
		pattern, ok := n.pattern(text)
		for _, owner := range owners {
			if pattern == "" || !matchText(pattern, owner) {
				continue
			}
			if ok {
				return "yes"
			}
			result = "perhaps"
		}
	}
	return result
}

func (n *naive) entries() []config.IndexPermission {
	var list []config.IndexPermission
	for _, r := range n.who.Roles {
		list = append(list, n.sec.Roles[r].IndexPermissions...)
	}
	return list
}

func (n *naive) grants(action string, bare bool, owners []string) bool {
	for _, e := range n.entries() {
		if n.has(e.AllowedActions, action, bare) && n.covers(e, owners) == "yes" {
			return true
		}
	}
	return false
}

func (n *naive) closed(name string) bool {
	for _, owner := range []string{name, n.w.Stream(name)} {
		if owner == securityIndex {
			return true
		}
		for _, text := range n.set.SystemIndices.Indices {
			opened := n.set.SystemIndices.PermissionEnabled && n.grants(systemPermission, false, n.owners(owner))
			if owner != "" && match(text, owner) && !opened {
				return true
			}
		}
	}
	return false
}

// may reports whether all privileges on names are granted by one of owners.
func (n *naive) may(part ask.Part, missing bool, owners []string) bool {
	for _, pr := range part.Privileges {
		if pr.Scope == ask.ScopeCluster || n.cluster(pr.Action) || pr.When == ask.IndexMissing && !missing {
			continue
		}
		if !n.grants(pr.Action, true, owners) {
			return false
		}
	}
	return true
}

// verdictOf is what naive and compiled are compared by.
type verdictOf struct {
	Allow   bool
	Reduced bool
	Names   []string
}

func (n *naive) decide(part ask.Part, res ask.Resolved) verdictOf {
	onNames := false
	for _, pr := range part.Privileges {
		if pr.Scope != ask.ScopeCluster && !n.cluster(pr.Action) {
			onNames = true
			continue
		}
		granted := false
		for _, r := range n.who.Roles {
			granted = granted || n.has(n.sec.Roles[r].ClusterPermissions, pr.Action, true)
		}
		if !granted {
			return verdictOf{}
		}
	}
	if !onNames {
		return verdictOf{Allow: true}
	}
	asked := map[string]ask.Target{}
	for _, t := range res.Targets {
		asked[t.Name] = t
	}
	for _, name := range res.Unknown {
		asked[name] = ask.Target{Name: name}
	}
	if n.v4() {
		return n.decideV4(part, res, asked)
	}
	return n.decideLegacy(part, res, asked)
}

func (n *naive) decideLegacy(part ask.Part, res ask.Resolved, asked map[string]ask.Target) verdictOf {
	if part.Single && len(asked) == 0 || res.All && n.refusesAll(part) {
		return verdictOf{}
	}
	left := newRemains()
	taken, forbidden := false, false
	for name, t := range asked {
		open, whole, harmless := n.look(part, name, t)
		if whole {
			left.names[name] = true
			left.show(t, t.Members...)
			continue
		}
		taken = true
		forbidden = forbidden || !(harmless && t.Wildcard)
		if t.Kind != ask.Index {
			for _, m := range open {
				left.names[m] = true
			}
			left.show(t, open...)
		}
	}
	list := left.list(asked)
	switch {
	case taken && (part.Single || part.Fixed):
		return verdictOf{}
	case !forbidden:
		return verdictOf{true, taken, list}
	case !n.sec.Dynamic.DoNotFailOnForbidden || part.Single || part.Fixed || !n.reads(part):
		return verdictOf{}
	case len(list) == 0 && !n.sec.Dynamic.DoNotFailOnForbiddenEmpty:
		return verdictOf{}
	}
	return verdictOf{true, true, list}
}

// refusesAll reports whether part may not ask for all there is.
func (n *naive) refusesAll(part ask.Part) bool {
	return slices.ContainsFunc(part.Privileges, func(pr ask.Privilege) bool {
		denied := strings.HasPrefix(pr.Action, "indices:admin/delete") || strings.HasPrefix(pr.Action, "indices:data/write")
		return denied && !n.cluster(pr.Action)
	})
}

// reads reports whether part only reads, as far as indices are concerned.
func (n *naive) reads(part ask.Part) bool {
	return !slices.ContainsFunc(part.Privileges, func(pr ask.Privilege) bool {
		return !n.cluster(pr.Action) && !strings.HasPrefix(pr.Action, "indices:data/read/")
	})
}

// look tells which members of a target are open, whether it is granted as a whole, and
// if not, whether a wildcard may just leave it out.
func (n *naive) look(part ask.Part, name string, t ask.Target) (open []string, whole, harmless bool) {
	closed, refused := 0, 0
	for _, m := range t.Members {
		switch {
		case n.closed(m):
			closed++
		case n.may(part, false, n.owners(m)):
			open = append(open, m)
		default:
			refused++
		}
	}
	switch {
	case t.Kind == ask.Missing:
		return open, !n.closed(name) && n.may(part, true, []string{name}), false
	case t.Kind == ask.DataStream && n.closed(name):
		return open, false, true
	case t.Kind == ask.DataStream && !n.may(part, false, n.owners(name)):
		return open, false, false
	}
	return open, closed+refused == 0, refused == 0 && closed > 0
}

// remains are the names that are left, and how each index is shown by them.
type remains struct {
	names    map[string]bool
	plain    map[string]bool
	filtered map[string]map[string]bool // by the names of aliases
}

func newRemains() remains {
	return remains{map[string]bool{}, map[string]bool{}, map[string]map[string]bool{}}
}

// show notes that indices are shown by t.
func (r remains) show(t ask.Target, indices ...string) {
	for _, index := range indices {
		switch {
		case !t.Filtered:
			r.plain[index] = true
		case r.filtered[index] == nil:
			r.filtered[index] = map[string]bool{t.Name: true}
		default:
			r.filtered[index][t.Name] = true
		}
	}
}

// list returns what is left; an index that was not asked for by its own name, and that
// only filters show, with them.
func (r remains) list(asked map[string]ask.Target) []string {
	list := map[string]bool{}
	for name := range r.names {
		if asked[name].Kind == ask.Missing && r.filtered[name] != nil && !r.plain[name] {
			name += " by " + strings.Join(sorted(r.filtered[name]), ",")
		}
		list[name] = true
	}
	return sorted(list)
}

func (n *naive) decideV4(part ask.Part, res ask.Resolved, asked map[string]ask.Target) verdictOf {
	if part.Single && len(asked) == 0 {
		return verdictOf{}
	}
	left, taken, forbidden := map[string]bool{}, false, false
	reduces := n.sec.Dynamic.IgnoreUnauthorizedIndices
	for name, t := range asked {
		closed := n.closed(name)
		for _, m := range t.Members {
			closed = closed || n.closed(m)
		}
		owners := []string{name}
		if t.Kind == ask.Index || t.Kind == ask.DataStream {
			owners = n.owners(name)
		}
		if !closed && n.may(part, t.Kind == ask.Missing, owners) {
			left[name] = true
			continue
		}
		taken = true
		forbidden = forbidden || !(t.Wildcard && (closed || reduces))
	}
	wild := res.All
	for _, e := range part.Exprs {
		wild = wild || strings.Contains(string(e), "*")
	}
	reducible := reduces && !part.Fixed && (part.Opts.IgnoreUnavailable || wild)
	switch {
	case taken && part.Single, forbidden && !reducible:
		return verdictOf{}
	case len(left) > 0:
		return verdictOf{true, taken, sorted(left)}
	case forbidden && !part.Opts.AllowNoIndices:
		return verdictOf{}
	}
	for _, pr := range part.Privileges {
		held := n.cluster(pr.Action) || pr.Scope == ask.ScopeCluster || pr.When == ask.IndexMissing
		for _, e := range n.entries() {
			for _, text := range e.IndexPatterns {
				pattern, ok := n.pattern(text)
				held = held || ok && pattern != "" && n.has(e.AllowedActions, pr.Action, true)
			}
		}
		if !held {
			return verdictOf{}
		}
	}
	return verdictOf{true, taken, []string{}}
}

// rulesOf is what restrictions are compared by.
type rulesOf struct {
	None            bool
	DLS, FLS, Masks []string
}

func (n *naive) restriction(index string) rulesOf {
	any := false
	var dls, fls, masks []string
	ruled, free, unknown := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range n.entries() {
		kinds := map[string]bool{"dls": e.DLS != "", "fls": len(e.FLS) > 0, "masks": len(e.MaskedFields) > 0}
		switch n.covers(e, n.owners(index)) {
		case "yes":
			any = true
			for kind, has := range kinds {
				ruled[kind] = ruled[kind] || has
				free[kind] = free[kind] || !has
			}
			if e.DLS != "" {
				dls = append(dls, e.DLS)
			}
			fls, masks = append(fls, e.FLS...), append(masks, e.MaskedFields...)
		case "perhaps":
			for kind, has := range kinds {
				ruled[kind] = ruled[kind] || has
				unknown[kind] = unknown[kind] || has
			}
		}
	}
	binds := func(kind string) bool { return ruled[kind] && !(n.set.DFMEmptyOverridesAll && free[kind]) }
	if !any || binds("dls") && len(dls) == 0 || binds("fls") && unknown["fls"] || binds("masks") && unknown["masks"] {
		return rulesOf{None: true}
	}
	var r rulesOf
	if binds("dls") {
		r.DLS = unique(dls)
	}
	if binds("fls") {
		r.FLS = unique(fls)
	}
	if binds("masks") {
		r.Masks = unique(masks)
	}
	return r
}

func sorted(set map[string]bool) []string {
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(set))))
}

func unique(list []string) []string {
	sort.Strings(list)
	return slices.Compact(list)
}
