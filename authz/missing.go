package authz

import (
	"iter"
	"maps"
	"slices"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// Cell is one action on one name.
type Cell struct {
	Action string
	Target string // empty: on the cluster, or on any name at all
	// Named tells that the client wrote the name itself. Another name may go to audit
	// and explain, never to the client (law 12).
	Named   bool
	Granted bool
	// Grants grant the cell, if it is granted: those of the principal's roles that do.
	// Else they are those of the policy that would. Sorted by role.
	Grants []Grant
}

// Roles returns the roles of the cell's grants, sorted, each once.
func (c *Cell) Roles() []string {
	var list []string
	for _, g := range c.Grants {
		list = append(list, g.Role)
	}
	return slices.Compact(list)
}

// Grant is an entry of a role that grants an action: its cluster_permissions, or an
// element of its index_permissions.
type Grant struct {
	Role string
	At   config.Pos
}

// Matrix is what a part asks, cell by cell.
type Matrix []Cell

// Matrix computes what was asked, cell by cell, and what grants it, for whoever wants to
// know why. No cell is missing where no right could help: a write on all indices at once
// by the legacy rules. At most so many cells are listed, and more counts the others.
func (d *Decision) Matrix(most int) (list Matrix, more int) {
	c := cells{granted: true, most: most}
	d.collect(&c)
	return c.list, c.more
}

// Missing is Matrix without what is granted.
func (d *Decision) Missing(most int) (list Matrix, more int) {
	c := cells{most: most}
	d.collect(&c)
	return c.list, c.more
}

// On returns d as if the names that were asked meant res: its matrix is about these.
func (d Decision) On(res ask.Resolved) Decision {
	d.asked.res = res
	return d
}

// cells collects a matrix.
type cells struct {
	granted bool // what is granted is wanted as well
	list    Matrix
	most    int
	more    int // cells beyond most
}

// add takes a cell, if it is wanted. Its grants are looked for only if it is listed.
func (c *cells) add(cell Cell, grants func() []Grant) {
	switch {
	case cell.Granted && !c.granted:
	case len(c.list) >= c.most:
		c.more++
	default:
		cell.Grants = grants()
		c.list = append(c.list, cell)
	}
}

func (d *Decision) collect(c *cells) {
	q := &d.asked
	if q.policy == nil {
		return
	}
	onNames := false
	for _, pr := range q.part.Privileges {
		g := q.subject.grant(pr.Action)
		if onCluster(pr, g) {
			c.add(Cell{Action: pr.Action, Granted: g.onCluster}, func() []Grant { return q.clusterGrants(pr.Action, g.onCluster) })
			continue
		}
		onNames = true
		q.cellsOn(c, pr, g)
	}
	if onNames {
		q.missingSystem(c)
	}
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
	if onNames && slices.ContainsFunc(q.asked(), func(t ask.Target) bool { return !t.Wildcard && q.anySystem(&t) }) {
		always = append(always, systemPermission)
	}
	if len(always) > 0 {
		return always
	}
	return ifMissing
}

// missesAny reports whether one action is missing on any name, here or on another cluster.
func (q *question) missesAny(pr ask.Privilege, g *grant) bool {
	if pr.When != ask.IndexMissing && slices.ContainsFunc(q.res.Remote, func(e names.Expr) bool { return !q.grantedRemote(g, e) }) {
		return true
	}
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

// cellsOn collects the names that one action is asked on.
func (q *question) cellsOn(c *cells, pr ask.Privilege, g *grant) {
	asked := q.asked()
	named := make(map[string]bool, len(asked))
	for i := range asked {
		if t := &asked[i]; !t.Wildcard {
			named[t.Name] = true
		}
	}
	seen := make(map[string]bool) // members of several aliases come more than once
	for i := range asked {
		t := &asked[i]
		if pr.When == ask.IndexMissing && t.Kind != ask.Missing {
			continue
		}
		for _, name := range q.rows(t) {
			if seen[name] {
				continue
			}
			seen[name] = true
			granted := q.granted(g, name, t.Kind)
			c.add(Cell{Action: pr.Action, Target: name, Named: named[name], Granted: granted}, func() []Grant { return q.indexGrants(pr.Action, name, granted) })
		}
	}
	q.remoteCells(c, pr, g)
	if len(asked) == 0 && q.policy.evaluation == config.EvaluationV4 {
		granted := !g.nothing()
		c.add(Cell{Action: pr.Action, Granted: granted}, func() []Grant { return q.indexGrants(pr.Action, "", granted) })
	}
}

// remoteCells collects the expressions for other clusters that one action is asked on.
// What a rule of the principal forbids there, no role grants.
func (q *question) remoteCells(c *cells, pr ask.Privilege, g *grant) {
	if pr.When == ask.IndexMissing {
		return
	}
	for _, e := range q.res.Remote {
		granted := q.grantedRemote(g, e)
		c.add(Cell{Action: pr.Action, Target: string(e), Named: true, Granted: granted}, func() []Grant { return q.remoteGrants(pr.Action, e, granted) })
	}
}

func (q *question) remoteGrants(action string, e names.Expr, own bool) []Grant {
	asked, err := names.ParsePattern(string(e))
	if err != nil || q.subject.ruled {
		return nil
	}
	covers := func(p boundPattern) bool { return p.date == nil && !p.unknown && coversRemote(p.pattern, asked) }
	return q.entryGrants(own, func(e *entry) bool {
		return e.actions.Match(action) && slices.ContainsFunc(e.bind(q.subject.who).patterns, covers)
	})
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

// missingSystem collects the system indices that the client named and may not touch.
func (q *question) missingSystem(c *cells) {
	for _, t := range q.asked() {
		if t.Wildcard || !q.anySystem(&t) {
			continue // no permission opens a protected index
		}
		c.add(Cell{Action: systemPermission, Target: t.Name, Named: true}, func() []Grant { return q.systemGrants(t.Name) })
	}
}

// anySystem reports whether one of the members of a target is a system index that is closed.
func (q *question) anySystem(t *ask.Target) bool {
	return q.closedSystem(t.Name) || slices.ContainsFunc(t.Members, q.closedSystem)
}

func (q *question) systemGrants(name string) []Grant {
	if name == securityIndex || !q.policy.openable {
		return nil
	}
	return q.entryGrants(false, func(e *entry) bool { return explicitly(e.actions, systemPermission) && q.entryCovers(e, name) })
}

// clusterGrants returns what grants action on the cluster: in the whole policy, or in
// the principal's own roles alone.
func (q *question) clusterGrants(action string, own bool) (list []Grant) {
	for r := range q.roles(own) {
		if r.cluster.Match(action) {
			list = append(list, Grant{r.name, r.pos})
		}
	}
	return list
}

// indexGrants returns the entries that would grant action on name to this principal, of
// the whole policy or of his own roles alone; without a name those that grant it on any.
func (q *question) indexGrants(action, name string, own bool) []Grant {
	return q.entryGrants(own, func(e *entry) bool { return e.actions.Match(action) && (name == "" || q.entryCovers(e, name)) })
}

func (q *question) entryGrants(own bool, ok func(*entry) bool) (list []Grant) {
	for r := range q.roles(own) {
		for _, e := range r.entries {
			if ok(e) {
				list = append(list, Grant{r.name, e.pos})
			}
		}
	}
	return list
}

// roles yields the roles of the policy, or the principal's own alone, by name.
func (q *question) roles(own bool) iter.Seq[*role] {
	return func(yield func(*role) bool) {
		for _, name := range slices.Sorted(maps.Keys(q.policy.roles)) {
			if _, has := slices.BinarySearch(q.subject.who.Roles, name); (has || !own) && !yield(q.policy.roles[name]) {
				return
			}
		}
	}
}

// entryCovers reports whether an entry of any role would cover name, with the
// variables of this principal.
func (q *question) entryCovers(e *entry, name string) bool {
	x := newEntryIndex([]boundEntry{e.bind(q.subject.who)})
	covering := x.appendIndex(nil, q.cluster, name, q.now)
	return len(covering) > 0 && !covering[0].unsure()
}

// Grants returns all that roles of files grant: what a policy's author wrote, in its
// order by roles.
func (p *Policy) Grants() (list []Grant) {
	add := func(r *role, at config.Pos) {
		if at.File != "" {
			list = append(list, Grant{r.name, at})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.roles)) {
		r := p.roles[name]
		if len(r.cluster.List()) > 0 {
			add(r, r.pos)
		}
		for _, e := range r.entries {
			add(r, e.pos)
		}
	}
	return list
}
