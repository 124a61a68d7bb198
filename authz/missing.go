package authz

import (
	"maps"
	"slices"

	"guard/config"
	"guard/internal/ask"
)

// Cell is one action that is missing on one name.
type Cell struct {
	Action string
	Target string // empty: on the cluster, or on any name at all
	// Named tells that the client wrote the name itself. Another name may go to audit
	// and explain, never to the client (law 12).
	Named bool
	Roles []string // roles of the policy that would grant it, sorted
}

// Matrix is what is missing for one part.
type Matrix []Cell

// Actions returns the missing actions in the order in which they were asked, each
// once.
func (m Matrix) Actions() []string {
	var actions []string
	for _, c := range m {
		if !slices.Contains(actions, c.Action) {
			actions = append(actions, c.Action)
		}
	}
	return actions
}

// Missing computes what was not granted, for whoever looks. It is empty also where
// no right could help: a write on all indices at once by the legacy rules.
func (d *Decision) Missing() Matrix {
	q := &d.asked
	if q.policy == nil {
		return nil
	}
	var m Matrix
	onNames := false
	for _, pr := range q.part.Privileges {
		g := q.subject.grant(pr.Action)
		switch {
		case !onCluster(pr, g):
			onNames = true
			m = append(m, q.missingOn(pr, g)...)
		case !g.onCluster:
			m = append(m, Cell{Action: pr.Action, Roles: q.policy.clusterRoles(pr.Action)})
		}
	}
	if onNames {
		m = append(m, q.missingSystem()...)
	}
	return m
}

// MissingActions returns the actions that a refusal names: those of Missing, without the
// names and roles, since a refusal has to be cheap. Where anything else is missing, what
// is asked of missing names alone is left out: a forbidden name and one that does not
// exist are refused alike.
func (d *Decision) MissingActions() []string {
	q := &d.asked
	if q.policy == nil {
		return nil
	}
	var always, ifMissing []string
	onNames := false
	for _, pr := range q.part.Privileges {
		g := q.subject.grant(pr.Action)
		missing := !g.onCluster
		if !onCluster(pr, g) {
			onNames = true
			missing = q.missesAny(pr, g)
		}
		list := &always
		if pr.When == ask.IndexMissing {
			list = &ifMissing
		}
		if missing && !slices.Contains(*list, pr.Action) {
			*list = append(*list, pr.Action)
		}
	}
	if onNames && slices.ContainsFunc(q.asked(), func(t ask.Target) bool { return !t.Wildcard && q.anyClosed(&t) }) {
		always = append(always, systemPermission)
	}
	if len(always) > 0 {
		return always
	}
	return ifMissing
}

// missesAny reports whether one action is missing on any name.
func (q *question) missesAny(pr ask.Privilege, g *grant) bool {
	asked := q.asked()
	for i := range asked {
		t := &asked[i]
		if pr.When == ask.IndexMissing && t.Kind != ask.Missing {
			continue
		}
		if slices.ContainsFunc(q.rows(t), func(name string) bool { return !q.granted(g, name, t.Kind) }) {
			return true
		}
	}
	return len(asked) == 0 && q.policy.evaluation == config.EvaluationV4 && g.nothing()
}

// missingOn returns the names on which one action is missing.
func (q *question) missingOn(pr ask.Privilege, g *grant) Matrix {
	var m Matrix
	seen := make(map[string]int) // members of several aliases come more than once
	add := func(name string, named bool) {
		if i, ok := seen[name]; ok {
			m[i].Named = m[i].Named || named
			return
		}
		seen[name] = len(m)
		m = append(m, Cell{Action: pr.Action, Target: name, Named: named, Roles: q.indexRoles(pr.Action, name)})
	}
	asked := q.asked()
	for i := range asked {
		t := &asked[i]
		if pr.When == ask.IndexMissing && t.Kind != ask.Missing {
			continue
		}
		for _, name := range q.rows(t) {
			if !q.granted(g, name, t.Kind) {
				add(name, !t.Wildcard && name == t.Name)
			}
		}
	}
	if len(asked) == 0 && q.policy.evaluation == config.EvaluationV4 && g.nothing() {
		add("", false)
	}
	return m
}

// rows returns the names that a target is judged by: by the legacy rules an alias
// is its members.
func (q *question) rows(t *ask.Target) []string {
	if t.Kind == ask.Alias && q.policy.evaluation != config.EvaluationV4 {
		return t.Members
	}
	return []string{t.Name}
}

func (q *question) granted(g *grant, name string, kind ask.TargetKind) bool {
	if kind == ask.Missing || kind == ask.Alias && q.policy.evaluation == config.EvaluationV4 {
		return g.name(name, q.now)
	}
	return g.index(q.cluster, name, q.now)
}

// missingSystem returns the system indices that the client named and may not touch.
func (q *question) missingSystem() Matrix {
	var m Matrix
	for _, t := range q.asked() {
		if t.Wildcard || !q.anyClosed(&t) {
			continue
		}
		m = append(m, Cell{Action: systemPermission, Target: t.Name, Named: true, Roles: q.systemRoles(t.Name)})
	}
	return m
}

func (q *question) systemRoles(name string) []string {
	if name == securityIndex || !q.policy.openable {
		return nil
	}
	return q.policy.rolesThat(func(r *role) bool {
		return slices.ContainsFunc(r.entries, func(e *entry) bool {
			return explicitly(e.actions, systemPermission) && q.entryCovers(e, name)
		})
	})
}

// rolesThat returns the names of the roles for which ok holds, sorted.
func (p *Policy) rolesThat(ok func(*role) bool) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(p.roles)) {
		if ok(p.roles[name]) {
			list = append(list, name)
		}
	}
	return list
}

func (p *Policy) clusterRoles(action string) []string {
	return p.rolesThat(func(r *role) bool { return r.cluster.Match(action) })
}

// indexRoles returns the roles that would grant action on name to this principal;
// without a name those that grant it on any.
func (q *question) indexRoles(action, name string) []string {
	return q.policy.rolesThat(func(r *role) bool {
		return slices.ContainsFunc(r.entries, func(e *entry) bool {
			return e.actions.Match(action) && (name == "" || q.entryCovers(e, name))
		})
	})
}

// entryCovers reports whether an entry of any role would cover name, with the
// variables of this principal.
func (q *question) entryCovers(e *entry, name string) bool {
	x := newEntryIndex([]boundEntry{e.bind(q.subject.who)})
	covering := x.appendIndex(nil, q.cluster, name, q.now)
	return len(covering) > 0 && !covering[0].unsure()
}
