package authz

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// adminRounds is how many random policies the laws of identities are held to.
const adminRounds = 300

// TestAdmin holds that an administrator is past everything, whatever the policy and the
// cluster are, and that his name alone is nothing.
func TestAdmin(t *testing.T) {
	for seed := range adminRounds {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 11))}
		set := config.Policy{
			SystemIndices:    config.SystemIndices{Enabled: d.once(2), PermissionEnabled: d.once(2), Indices: []string{".sys*"}},
			ProtectedIndices: config.ProtectedIndices{Enabled: d.once(2), Indices: []string{"a1"}, Roles: []string{"keeper"}},
		}
		p := compile(t, d.security(), set)
		id := ask.Identity{Name: "CN=ada", SecurityRoles: []string{"r1", "r2"}, Attributes: map[string]string{"attr.internal.service": "true"}}
		plain := p.Principal(id)
		id.Admin = true
		who := p.Principal(id)
		switch {
		case !who.Unrestricted:
			t.Fatalf("seed %d: an administrator is restricted", seed)
		case plain == who || plain.Unrestricted:
			t.Fatalf("seed %d: who has the name of an administrator is one", seed)
		case p.Ruled(who):
			t.Fatalf("seed %d: a rule binds an administrator", seed)
		}
		w := d.world()
		index := func(name string) ask.Target { return ask.Target{Name: name, Kind: ask.Index, Members: []string{name}} }
		res := ask.Resolved{Targets: []ask.Target{index("a1"), index(".sys1"), index(securityIndex)}, Unknown: []string{"new"}, Remote: exprs("far:x"), All: d.once(2)}
		part := ask.Part{Privileges: on("indices:data/write/index", "cluster:admin/snapshot/restore"), Exprs: exprs("x"), Single: d.once(2), Fixed: d.once(2)}
		got := p.Decide(who, w, part, res, noon)
		if got.Effect != Allow || len(got.Allowed) != 4 || got.Reduced {
			t.Errorf("seed %d: effect %v, %v, reduced %v; want everything", seed, got.Effect, got.Allowed, got.Reduced)
		}
		for _, g := range got.Groups {
			if g.Restriction != ask.Free {
				t.Errorf("seed %d: a rule binds an administrator on %v", seed, g.Indices)
			}
		}
		if id, ok := p.Covers(who, on("indices:data/read/search"), names.MustParsePattern("*"), noon); !ok || id != ask.Free {
			t.Errorf("seed %d: * is covered: %v, rule %v; want all of it, without a rule", seed, ok, id)
		}
		a, _ := p.Standing(who)
		b, _ := p.Standing(plain)
		if a == b {
			t.Errorf("seed %d: an administrator shares his decisions with somebody of his name", seed)
		}
	}
}

// TestInName holds that who asks in a user's name is decided on as the user, to the last bit,
// and is told apart from him.
func TestInName(t *testing.T) {
	for seed := range adminRounds {
		d := dice{rand.New(rand.NewPCG(uint64(seed), 12))}
		p := compile(t, d.security(), config.Policy{})
		id := ask.Identity{Name: "ben", SecurityRoles: d.some(3, "r1", "r2", "r3"), Attributes: map[string]string{"attr.internal.x": "a"}}
		own := p.Principal(id)
		id.By = "imp"
		asked := p.Principal(id)
		if asked == own || asked.By != "imp" || own.By != "" {
			t.Fatalf("seed %d: one principal for who asks himself and in whose name is asked", seed)
		}
		if !slices.Equal(own.Roles, asked.Roles) || own.Unrestricted != asked.Unrestricted || p.Ruled(own) != p.Ruled(asked) {
			t.Errorf("seed %d: %+v and, asked by another, %+v", seed, own, asked)
		}
		w := d.world()
		for range 10 {
			part := d.part()
			res := w.resolve(part.Exprs)
			a, b := p.Decide(own, w, part, res, noon), p.Decide(asked, w, part, res, noon)
			if diff := cmp.Diff(outcomeOf(a), outcomeOf(b)); diff != "" {
				t.Errorf("seed %d: %v (-himself +asked by another):\n%s", seed, part, diff)
			}
		}
	}
}

// outcomeOf is a decision without what it was decided from.
func outcomeOf(d Decision) []any {
	var rules []any
	for _, g := range d.Groups {
		rules = append(rules, g.Restriction, g.Indices)
	}
	return []any{d.Effect, d.Reason, d.Reduced, d.Remote, targetNames(d.Allowed), rules}
}
