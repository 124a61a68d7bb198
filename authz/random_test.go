package authz

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// dice makes random policies, clusters and requests from small vocabularies, so
// that things meet.
type dice struct{ *rand.Rand }

func (d dice) pick(list ...string) string { return list[d.IntN(len(list))] }
func (d dice) once(n int) bool            { return d.IntN(n) == 0 }

// some returns up to n of list.
func (d dice) some(n int, list ...string) []string {
	var out []string
	for range d.IntN(n + 1) {
		out = append(out, d.pick(list...))
	}
	return out
}

var (
	someIndices  = []string{"a1", "a2", "b1", "b2", ".h", ".sys1", securityIndex, ".ds-s1-1", ".ds-s1-2", ".ds-.sys-s-1"}
	somePatterns = []string{"a*", "a1", "b?", "*", "al*", "al1", "s1", ".ds-*", "/^(?!a).*/", "new*", "*1",
		"${attr.internal.x}*", "${attr.internal.none}1", "a${attr.internal.bad}", ".sys*"}
	someActions = []string{"indices:data/read/search", "indices:data/read/get", "indices:admin/create", "indices:admin/delete",
		"indices:data/write/index", "indices:data/read*", "indices:*", "*", "reader", "loop", systemPermission, "indices:data/write/bulk"}
)

func (d dice) world() *world {
	w := &world{AliasMap: map[string][]string{}, Streams: map[string][]string{"s1": {".ds-s1-1", ".ds-s1-2"}, ".sys-s": {".ds-.sys-s-1"}}}
	w.Indices = slices.DeleteFunc(slices.Clone(someIndices), func(string) bool { return d.once(8) })
	for _, s := range w.Streams {
		for _, gen := range s {
			if !slices.Contains(w.Indices, gen) {
				w.Indices = append(w.Indices, gen)
			}
		}
	}
	for _, alias := range []string{"al1", "al2", "alf", "alg"} {
		if members := unique(d.some(3, append(slices.Clone(w.Indices), "s1")...)); len(members) > 0 {
			w.AliasMap[alias] = members
		}
	}
	w.Filtered = []string{"alf", "alg"}
	w.Unseen = d.some(2, w.Indices...)
	return w
}

func (d dice) security() *config.Security {
	sec := &config.Security{
		Roles: map[string]config.Role{},
		ActionGroups: map[string]config.ActionGroup{
			"reader": {AllowedActions: []string{"indices:data/read/*", "loop"}},
			"loop":   {AllowedActions: []string{"reader", "indices:admin/create"}},
		},
	}
	sec.Dynamic.SetDefaults()
	sec.Dynamic.DoNotFailOnForbidden = d.once(2)
	sec.Dynamic.DoNotFailOnForbiddenEmpty = d.once(2)
	sec.Dynamic.IgnoreUnauthorizedIndices = !d.once(4)
	if d.once(2) {
		sec.Dynamic.PrivilegesEvaluationType = config.EvaluationV4
	}
	for _, name := range []string{"r1", "r2", "r3"} {
		role := config.Role{ClusterPermissions: d.some(2, someActions...)}
		for range d.IntN(4) {
			role.IndexPermissions = append(role.IndexPermissions, d.entry())
		}
		sec.Roles[name] = role
	}
	return sec
}

func (d dice) entry() config.IndexPermission {
	e := config.IndexPermission{IndexPatterns: d.some(3, somePatterns...), AllowedActions: d.some(3, someActions...)}
	if d.once(3) {
		e.DLS = d.pick(`{"term":{"c":"red"}}`, `{"term":{"c":"blue"}}`)
	}
	if d.once(4) {
		e.FLS = d.some(2, "f", "~g", "h")
	}
	if d.once(5) {
		e.MaskedFields = d.some(2, "m", "n")
	}
	return e
}

func (d dice) part() ask.Part {
	part := ask.Part{
		Privileges: on(d.pick(someActions[:5]...)),
		Opts:       names.Options{AllowNoIndices: !d.once(4), IgnoreUnavailable: d.once(4)},
		Single:     d.once(6),
		Fixed:      d.once(8),
	}
	if d.once(3) {
		part.Privileges = append(part.Privileges, privilege(d.pick("missing:indices:admin/create", "indices:data/read/get", "cluster:indices:data/write/bulk")))
	}
	if !d.once(5) {
		part.Opts.Expand = names.ExpandOpen
	}
	vocabulary := append([]string{"a*", "*", "al*", "al1", "alf", "alg", "s1", "s*", "nosuch", "new1", "-a1", ".sys*", ".sys-s"}, someIndices...)
	for _, e := range d.some(3, vocabulary...) {
		part.Exprs = append(part.Exprs, names.Expr(e))
	}
	return part
}

// TestTwoRoads holds that the compiled policy and the naive one agree on random
// worlds.
func TestTwoRoads(t *testing.T) {
	rounds := 1500
	if testing.Short() {
		rounds = 200
	}
	allowed := 0
	for seed := range rounds {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 7))}
		allowed += checkRoads(t, d, seed)
		if t.Failed() {
			return
		}
	}
	if allowed == 0 {
		t.Error("nothing was ever allowed: the worlds are too poor to tell anything")
	}
}

func checkRoads(t *testing.T, d dice, seed int) (allowed int) {
	t.Helper()
	w, sec := d.world(), d.security()
	set := config.Policy{DFMEmptyOverridesAll: d.once(2), SystemIndices: config.SystemIndices{Enabled: true, PermissionEnabled: d.once(2), Indices: []string{".sys*"}}}
	policy := compile(t, sec, set)
	who := &ask.Principal{
		Identity: ask.Identity{Name: "anna", Attributes: map[string]string{"attr.internal.x": "a", "attr.internal.bad": "*"}},
		Roles:    unique(d.some(3, "r1", "r2", "r3", "unheard")),
	}
	n := &naive{sec: sec, set: set, who: who, w: w}
	for range 8 {
		part := d.part()
		res := w.resolve(part.Exprs)
		got := policy.Decide(who, w, part, res, noon)
		have := verdictOf{Allow: got.Effect == Allow, Reduced: got.Reduced}
		if have.Allow {
			allowed++
			have.Names = targetNames(got.Allowed)
			slices.Sort(have.Names)
		}
		want := n.decide(part, res)
		if diff := cmp.Diff(want, have, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("seed %d: %v of %v as %v (-naive +compiled):\n%s", seed, part.Privileges, part.Exprs, who.Roles, diff)
		}
		checkLaws(t, policy, n, part, &got)
	}
	for _, index := range w.Indices {
		r := policy.Restriction(who, w, index, noon)
		have := rulesOf{None: r.None, FLS: r.FLS, Masks: unique(slices.Clone(r.Masks))}
		for _, rule := range r.DLS {
			have.DLS = append(have.DLS, rule.Text)
		}
		if diff := cmp.Diff(n.restriction(index), have); diff != "" {
			t.Errorf("seed %d: restriction on %s as %v (-naive +compiled):\n%s", seed, index, who.Roles, diff)
		}
	}
	return allowed
}

// FuzzTwoRoads lets the fuzzer choose the worlds.
func FuzzTwoRoads(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(138), uint64(196)) // a stream that a filtered alias has as a member
	f.Fuzz(func(t *testing.T, a, b uint64) {
		checkRoads(t, dice{rand.New(rand.NewPCG(a, b))}, int(a))
	})
}

// TestMoreRights holds that a further role without rules never takes a name away,
// and that reduction never gives one that was not asked for.
func TestMoreRights(t *testing.T) {
	for seed := range 1000 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 11))}
		w, sec := d.world(), d.security()
		p := compile(t, sec, config.Policy{})
		few := as("anna", unique(d.some(2, "r1", "r2"))...)
		more := as("anna", unique(append(slices.Clone(few.Roles), "r3"))...)
		part := d.part()
		res := w.resolve(part.Exprs)
		less, all := p.Decide(few, w, part, res, noon), p.Decide(more, w, part, res, noon)
		if less.Effect == Allow && all.Effect != Allow {
			t.Fatalf("seed %d: %v may, and %v may not", seed, few.Roles, more.Roles)
		}
		if !within(less.Allowed, all.Allowed) {
			t.Fatalf("seed %d: %v may %v, %v only %v", seed, few.Roles, targetNames(less.Allowed), more.Roles, targetNames(all.Allowed))
		}
		asked := slices.Clone(res.Targets)
		for _, name := range res.Unknown {
			asked = append(asked, unknown(name))
		}
		if !within(all.Allowed, asked) {
			t.Fatalf("seed %d: asked %v, allowed %v", seed, targetNames(asked), targetNames(all.Allowed))
		}
	}
}

// within reports whether all names behind a are behind b.
func within(a, b []ask.Target) bool {
	have := allConcrete(b)
	for _, name := range allConcrete(a) {
		if !slices.Contains(have, name) {
			return false
		}
	}
	return true
}

// TestMissingVariable holds law 9: a principal that lacks an attribute never sees
// more than one that has it.
func TestMissingVariable(t *testing.T) {
	for seed := range 500 {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 9))}
		w, sec := d.world(), d.security()
		p := compile(t, sec, config.Policy{DFMEmptyOverridesAll: d.once(2)})
		with := as("anna", unique(d.some(3, "r1", "r2", "r3"))...)
		without := as("anna", with.Roles...)
		with.Attributes = map[string]string{"attr.internal.x": d.pick("a", "b", ".s"), "attr.internal.bad": "1", "attr.internal.none": "b"}
		for _, index := range w.Indices {
			more, less := p.Restriction(with, w, index, noon), p.Restriction(without, w, index, noon)
			switch {
			case less.None:
			case more.None, len(more.DLS) > 0 && !subset(less.DLS, more.DLS), len(less.DLS) == 0 && len(more.DLS) > 0,
				len(more.FLS) > 0 && !slices.Equal(less.FLS, more.FLS), len(more.Masks) > 0 && !slices.Equal(less.Masks, more.Masks):
				t.Fatalf("seed %d: on %s with attributes %+v, without %+v", seed, index, more, less)
			}
		}
	}
}

func subset(a, b []DLSRule) bool {
	for _, rule := range a {
		if !slices.ContainsFunc(b, func(r DLSRule) bool { return r.Text == rule.Text }) {
			return false
		}
	}
	return true
}

// checkLaws holds what is true of every decision: nothing is allowed that is not
// granted by itself, the groups are exactly what is allowed, and Missing is empty
// only if nothing was taken away for want of a right.
func checkLaws(t *testing.T, p *Policy, n *naive, part ask.Part, d *Decision) {
	t.Helper()
	var grouped, behind []string
	for _, g := range d.Groups {
		grouped = append(grouped, g.Indices...)
	}
	for _, target := range d.Allowed {
		members := concrete(&target)
		behind = append(behind, members...)
		for _, m := range members {
			if target.Kind != ask.Missing && (n.closed(m) || !n.may(part, false, n.owners(m))) {
				t.Errorf("allowed %s, whose member %s is not granted", target.Name, m)
			}
		}
	}
	if diff := cmp.Diff(unique(behind), unique(grouped)); diff != "" {
		t.Errorf("groups are not what is allowed (-allowed +grouped):\n%s", diff)
	}
	if d.Effect == Deny && (len(d.Allowed) > 0 || len(d.Groups) > 0) {
		t.Error("denied and yet something is allowed")
	}
	if list := missing(d); d.Complete() && len(list) > 0 {
		t.Errorf("complete, and yet missing %v", list)
	}
}
