package authz

import (
	"slices"
	"strings"
	"time"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// Effect is what a decision comes to.
type Effect uint8

// The effects. The zero value denies.
const (
	Deny Effect = iota
	Allow
)

// Decision says what of one part may happen.
type Decision struct {
	Effect Effect
	Reason ask.Reason // why not; empty if allowed

	// Allowed are the names that may be forwarded, sorted. None at all means that
	// nothing is left and what is forwarded must match nothing: the empty list would
	// mean all. An alias or a stream stands here only if every member is granted.
	Allowed []ask.Target
	// Remote are the expressions for other clusters that may be forwarded.
	Remote []names.Expr
	// Reduced tells that something that was asked is not among Allowed and Remote.
	Reduced bool
	// Groups are the concrete names behind Allowed by the restriction that binds them;
	// missing names that would be created are among them.
	Groups []Group

	asked question // for Missing
}

// Complete reports whether everything that was asked is allowed.
func (d *Decision) Complete() bool { return d.Effect == Allow && !d.Reduced }

// Group holds the names that share one restriction, sorted.
type Group struct {
	Restriction ask.RestrictionID
	Rules       *Restriction // what it says; shared, not to be changed
	Indices     []string
}

// Decide says what who may do of part, whose expressions mean res on the cluster c.
// It is pure: the time is the request's. A name is judged by itself, whether it
// exists or not, but for aliases and streams whose members the principal holds.
func (p *Policy) Decide(who *ask.Principal, c Cluster, part ask.Part, res ask.Resolved, now time.Time) Decision {
	q := query{question: question{p, p.subject(who), c, part, res, now}}
	if !q.prepare() {
		return q.deny()
	}
	if len(q.checks()) == 0 {
		return Decision{Effect: Allow, asked: q.question}
	}
	if p.evaluation == config.EvaluationV4 {
		return q.v4()
	}
	return q.legacy()
}

// question is what was asked of a policy.
type question struct {
	policy  *Policy
	subject *subject
	cluster Cluster
	part    ask.Part
	res     ask.Resolved
	now     time.Time
}

// query is a question under way.
type query struct {
	question
	few  [4]check // the privileges on names, if they are few: no allocation
	n    int
	many []check // else
}

// checks returns the privileges on names.
func (q *query) checks() []check {
	if q.many != nil {
		return q.many
	}
	return q.few[:q.n]
}

func (q *query) add(ch check) {
	switch {
	case q.many != nil:
		q.many = append(q.many, ch)
	case q.n == len(q.few):
		q.many = append(slices.Clone(q.few[:]), ch)
	default:
		q.few[q.n] = ch
		q.n++
	}
}

// check is a privilege on names with where it is granted.
type check struct {
	*grant
	onlyMissing bool // counts for names that do not exist
}

// prepare finds the checks on names and reports whether everything that is asked
// of the cluster is granted. A part that asks nothing is a slip of the caller.
func (q *query) prepare() bool {
	for _, pr := range q.part.Privileges {
		g := q.subject.grant(pr.Action)
		switch {
		case !onCluster(pr, g):
			q.add(check{g, pr.When == ask.IndexMissing})
		case !g.onCluster:
			return false
		}
	}
	return len(q.part.Privileges) > 0
}

func (q *query) deny() Decision {
	return Decision{Reason: ask.ReasonNoPrivilege, asked: q.question}
}

// onCluster reports whether a privilege is checked without names. An action that
// the rules know as one of the cluster is, whatever the caller says: on an empty
// list of names it would pass unchecked.
func onCluster(pr ask.Privilege, g *grant) bool {
	return pr.Scope == ask.ScopeCluster || g.clusterAction
}

// every reports whether all privileges on names that count for a target are
// granted by ok.
func (q *query) every(missing bool, ok func(*grant) bool) bool {
	for _, ch := range q.checks() {
		if (missing || !ch.onlyMissing) && !ok(ch.grant) {
			return false
		}
	}
	return true
}

// mayIndex reports whether an index or stream is granted. Different roles may
// grant different actions.
func (q *query) mayIndex(name string) bool {
	return q.every(false, func(g *grant) bool { return g.index(q.cluster, name, q.now) })
}

// mayName reports whether a name is granted by itself: an alias, or one that does
// not exist.
func (q *query) mayName(name string, missing bool) bool {
	return q.every(missing, func(g *grant) bool { return g.name(name, q.now) })
}

// Closed reports whether an index, which need not exist, is a system or protected index that
// who may not touch at all.
func (p *Policy) Closed(who *ask.Principal, c Cluster, index string, now time.Time) bool {
	q := question{policy: p, subject: p.subject(who), cluster: c, now: now}
	return q.closed(index)
}

// closed reports whether an index is a system or protected index that the principal may
// not touch at all.
func (q *question) closed(index string) bool {
	return q.closedSystem(index) || q.closedProtected(index)
}

func (q *question) closedSystem(index string) bool {
	if index == securityIndex {
		return !q.subject.admin
	}
	return q.among(&q.policy.system, index, func(name string) bool { return !q.subject.explicit.index(q.cluster, name, q.now) })
}

func (q *question) closedProtected(index string) bool {
	return !q.subject.protector && q.among(&q.policy.protected, index, func(string) bool { return true })
}

// among reports whether an index, or the stream that it belongs to, is one of r for which
// closed holds.
func (q *question) among(r *reserved, index string, closed func(string) bool) bool {
	if len(r.List()) == 0 {
		return false
	}
	if r.MayMatch(index) && closed(index) {
		return true
	}
	stream := q.cluster.Stream(index)
	return stream != "" && stream != index && (stream == securityIndex && !q.subject.admin || r.MayMatch(stream) && closed(stream))
}

// anyClosed reports whether one of the members of a target is closed.
func (q *question) anyClosed(t *ask.Target) bool {
	return q.closed(t.Name) || slices.ContainsFunc(t.Members, q.closed)
}

// wild reports whether the part names its indices by a wildcard or not at all.
func (q *question) wild() bool {
	return q.res.All || len(q.part.Exprs) == 0 ||
		slices.ContainsFunc(q.part.Exprs, func(e names.Expr) bool { return strings.Contains(string(e), "*") })
}

// unknown returns a literal name that nothing carries, as a target.
func unknown(name string) ask.Target { return ask.Target{Name: name, Kind: ask.Missing} }

// mayRemote reports whether an expression for another cluster is granted.
func (q *query) mayRemote(e names.Expr) bool {
	return q.every(false, func(g *grant) bool { return q.grantedRemote(g, e) })
}

// grantedRemote reports whether one action is granted on another cluster: by a pattern
// that names clusters itself, and only to a principal without any rule, since over
// there nobody could enforce it.
func (q *question) grantedRemote(g *grant, e names.Expr) bool {
	asked, err := names.ParsePattern(string(e))
	if err != nil || q.subject.ruled {
		return false
	}
	return slices.ContainsFunc(g.set.list, func(p names.Pattern) bool { return coversRemote(p, asked) })
}

// coversRemote reports whether a pattern of a role grants what is asked of another cluster.
func coversRemote(p, asked names.Pattern) bool {
	return !p.IsRegex() && strings.Contains(p.String(), ":") && p.Covers(asked)
}

// splitRemote returns the remote expressions that are granted, and whether all are.
func (q *query) splitRemote() (granted []names.Expr, all bool) {
	for _, e := range q.res.Remote {
		if q.mayRemote(e) {
			granted = append(granted, e)
		}
	}
	return granted, len(granted) == len(q.res.Remote)
}

// asked returns all targets, with those that do not exist.
func (q *question) asked() []ask.Target {
	if len(q.res.Unknown) == 0 {
		return q.res.Targets
	}
	all := slices.Clone(q.res.Targets)
	known := make(map[string]bool, len(all))
	for i := range all {
		known[all[i].Name] = true
	}
	for _, name := range q.res.Unknown {
		if !known[name] {
			known[name] = true
			all = append(all, unknown(name))
		}
	}
	slices.SortFunc(all, func(a, b ask.Target) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// allow makes the decision that allows targets and remote expressions.
func (q *query) allow(targets []ask.Target, remote []names.Expr, reduced bool) Decision {
	return Decision{
		Effect:  Allow,
		Allowed: targets,
		Remote:  remote,
		Reduced: reduced,
		Groups:  q.groups(targets),
		asked:   q.question,
	}
}
