package worlds

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"guard/authz"
	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/naive"
)

// mapping is what all indices hold.
const mapping = `{"properties":{"c":{"type":"keyword"},"o":{"type":"keyword"},"n":{"type":"long"},"f":{"type":"keyword"},"g":{"type":"keyword"},"h":{"type":"keyword"},"m":{"type":"keyword"}}}`

// Policy compiles a policy.
func Policy(p naive.Policy) (*authz.Policy, error) {
	sec := &config.Security{Roles: map[string]config.Role{}, ActionGroups: map[string]config.ActionGroup{}, Mappings: map[string]config.Mapping{}}
	sec.Dynamic.SetDefaults()
	if p.V4 {
		sec.Dynamic.PrivilegesEvaluationType = config.EvaluationV4
	}
	sec.Dynamic.IgnoreUnauthorizedIndices = p.Reduces
	sec.Dynamic.DoNotFailOnForbidden = p.Reduces
	sec.Dynamic.DoNotFailOnForbiddenEmpty = p.ReducesToNil
	for name, list := range p.Groups {
		sec.ActionGroups[name] = config.ActionGroup{AllowedActions: list}
	}
	for name, r := range p.Roles {
		role := config.Role{ClusterPermissions: r.Cluster}
		for _, e := range r.Entries {
			role.IndexPermissions = append(role.IndexPermissions, config.IndexPermission{
				IndexPatterns: e.Patterns, AllowedActions: e.Actions, DLS: e.DLS, FLS: e.FLS, MaskedFields: e.Masks,
			})
		}
		sec.Roles[name] = role
	}
	for name, m := range p.Mappings {
		sec.Mappings[name] = config.Mapping{Hidden: m.Hidden, Users: m.Users, Hosts: m.Hosts, BackendRoles: m.BackendRoles, AndBackendRoles: m.AndBackendRoles}
	}
	set := config.Policy{
		DFMEmptyOverridesAll: p.EmptyFrees,
		SystemIndices:        config.SystemIndices{Enabled: len(p.System) > 0, PermissionEnabled: p.SystemOpens, Indices: p.System},
		ProtectedIndices:     config.ProtectedIndices{Enabled: len(p.Protected) > 0, Indices: p.Protected, Roles: p.Protectors},
		RolesMappingResolution: map[string]config.RoleResolution{
			"": config.MappingOnly, "only": config.BackendRolesOnly, "both": config.RolesBoth,
		}[p.BackendRoles],
	}
	policy, _, err := authz.Compile(sec, set)
	return policy, err
}

// State makes the state of a cluster, which came from another one or from nothing.
func State(w naive.World, prev *indexresolver.State) (*indexresolver.State, error) {
	c := indexresolver.Contents{ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: Noon}
	for _, x := range w.Indices {
		index := indexresolver.Index{Name: x.Name, Closed: x.Closed, Hidden: x.Hidden, Mapping: []byte(mapping)}
		for _, a := range x.Aliases {
			m := indexresolver.Membership{Alias: a.Name, Hidden: a.Hidden, SearchRouting: a.Routing, IndexRouting: a.Routing}
			if a.Filter != "" {
				m.Filter = []byte(a.Filter)
			}
			index.Aliases = append(index.Aliases, m)
		}
		c.Indices = append(c.Indices, index)
	}
	for _, s := range w.Streams {
		c.DataStreams = append(c.DataStreams, indexresolver.DataStream{Name: s.Name, Hidden: s.Hidden, Indices: slices.Clone(s.Indices)})
	}
	return indexresolver.New(c, prev)
}

// Identity says who asks.
func Identity(w naive.Who) ask.Identity {
	id := ask.Identity{Name: w.Name, BackendRoles: w.BackendRoles, SecurityRoles: w.OwnRoles, Attributes: w.Attributes, Domain: "d", By: w.By, Admin: w.Admin}
	if a, err := netip.ParseAddr(w.Address); err == nil {
		id.Address = a
	}
	return id
}

// cluster is the state as decisions see it.
type cluster struct{ *indexresolver.State }

func (c cluster) Aliases(name string) []string {
	x, ok := c.Index(name)
	if !ok {
		return nil
	}
	list := make([]string, 0, len(x.Aliases))
	for _, a := range x.Aliases {
		list = append(list, a.Alias)
	}
	return list
}

func (c cluster) Stream(index string) string {
	name, _ := c.StreamOf(index)
	return name
}

func part(a naive.Ask) ask.Part {
	p := ask.Part{Opts: a.Opts, Single: a.Single, Fixed: a.Fixed}
	for _, pr := range a.Privileges {
		q := ask.Privilege{Action: pr.Action}
		if pr.Cluster {
			q.Scope = ask.ScopeCluster
		}
		if pr.IfMissing {
			q.When = ask.IndexMissing
		}
		p.Privileges = append(p.Privileges, q)
	}
	for _, e := range a.Exprs {
		p.Exprs = append(p.Exprs, names.Expr(e))
	}
	return p
}

// Answer is what the compiled evaluator answers, in the terms of the plain one.
func Answer(p *authz.Policy, s *indexresolver.State, who naive.Who, a naive.Ask) naive.Answer {
	principal := p.Principal(Identity(who))
	part := part(a)
	res, err := resolve(p, s, principal, part, a.Now)
	if err != nil {
		return naive.Answer{Bad: true}
	}
	d := p.Decide(principal, cluster{s}, part, res, a.Now)
	if d.Effect != authz.Allow {
		return naive.Answer{}
	}
	out := naive.Answer{Allow: true, Reduced: d.Reduced, Bound: map[string]naive.Bound{}, Rules: map[string]naive.Rules{}}
	for _, t := range d.Allowed {
		out.Names = append(out.Names, t.Name)
		if t.Kind == ask.Missing {
			out.Missing = append(out.Missing, t.Name)
		}
		for _, m := range t.Members {
			out.Bound[m] = naive.Bound{}
		}
	}
	for _, e := range d.Remote {
		out.Remote = append(out.Remote, string(e))
	}
	slices.Sort(out.Remote)
	out.Remote = slices.Compact(out.Remote)
	for index, b := range s.Bindings(ask.Resolved{Targets: d.Allowed}) {
		out.Bound[index] = bound(b)
	}
	for _, g := range d.Groups {
		for _, name := range g.Indices {
			out.Rules[name] = rules(g.Rules)
		}
	}
	return out
}

// Covers reports whether a pattern may be forwarded as it stands, and whether a rule binds
// all that it can match.
func Covers(p *authz.Policy, c naive.Case, pattern string) (ruled, ok bool) {
	asked, err := names.ParsePattern(pattern)
	if err != nil {
		return false, false
	}
	id, ok := p.Covers(p.Principal(Identity(c.Who)), part(c.Ask).Privileges, asked, c.Ask.Now)
	return id != ask.Free, ok
}

// resolve does what the gate does: where names that the decision does not see have a say,
// those that are not granted must have none.
func resolve(p *authz.Policy, s *indexresolver.State, who *ask.Principal, part ask.Part, now time.Time) (ask.Resolved, error) {
	res, err := s.Resolve(part.Exprs, part.Opts, now)
	if err != nil || !res.Beyond {
		return res, err
	}
	if seen := p.Seen(who, cluster{s}, part, now); seen != nil {
		return s.ResolveSeen(part.Exprs, part.Opts, now, seen)
	}
	return res, nil
}

func bound(b indexresolver.Binding) naive.Bound {
	var out naive.Bound
	for _, f := range b.Filters {
		out.Filters = append(out.Filters, string(f))
	}
	slices.Sort(out.Filters)
	out.Routing = b.Routing
	return out
}

func rules(r *authz.Restriction) naive.Rules {
	out := naive.Rules{None: r.None}
	for _, rule := range r.DLS {
		out.DLS = append(out.DLS, strings.ReplaceAll(rule.Text, " ", ""))
	}
	for _, list := range []struct {
		into *[]string
		from []string
	}{{&out.DLS, out.DLS}, {&out.FLS, r.FLS}, {&out.Masks, r.Masks}} {
		*list.into = slices.Compact(slices.Sorted(slices.Values(list.from)))
	}
	return out
}

// Differ says how the two evaluators differ on a question; empty is not at all.
func Differ(c naive.Case) string {
	p, err := Policy(c.Policy)
	if err != nil {
		return fmt.Sprintf("the policy does not compile: %v", err)
	}
	s, err := State(c.World, nil)
	if err != nil {
		return fmt.Sprintf("the world is none: %v", err)
	}
	return Compare(p, s, c)
}

// Compare is Differ with a policy and a state that were made already.
func Compare(p *authz.Policy, s *indexresolver.State, c naive.Case) string {
	want, got := naive.Evaluate(c), Answer(p, s, c.Who, c.Ask)
	if c.Policy.V4 && c.Policy.Reduces && want.Allow && got.Reduced {
		want.Reduced = true // whether a wildcard finds what is not granted and loses it, or never finds it, is all one
	}
	if same(want, got) {
		return ""
	}
	return fmt.Sprintf("naive    %+v\ncompiled %+v", want, got)
}

// same compares by what is printed: nil and empty are alike.
func same(a, b naive.Answer) bool { return fmt.Sprintf("%v", a) == fmt.Sprintf("%v", b) }
