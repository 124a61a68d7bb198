package authz

import (
	"fmt"
	"testing"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// bigCluster answers from maps, as the real state does.
type bigCluster struct {
	aliases map[string][]string
	streams map[string]string
}

func (c *bigCluster) Aliases(name string) []string { return c.aliases[name] }
func (c *bigCluster) Stream(index string) string   { return c.streams[index] }

// bigPolicy makes a principal with as many roles, each with a name of its own and
// a pattern, on a cluster of as many indices, a tenth of them with an alias.
func bigPolicy(t testing.TB, roles, indices int, rules bool) (*Policy, *ask.Principal, *bigCluster) {
	t.Helper()
	sec := &config.Security{Roles: map[string]config.Role{}}
	sec.Dynamic.SetDefaults()
	var own []string
	for i := range roles {
		name := fmt.Sprintf("role%04d", i)
		own = append(own, name)
		perm := config.IndexPermission{
			IndexPatterns:  []string{fmt.Sprintf("index_a%d", i), fmt.Sprintf("logs-%d-*", i)},
			AllowedActions: []string{"indices:data/read*"},
		}
		if rules && i%2 == 0 {
			perm.FLS = []string{"~secret"}
		}
		sec.Roles[name] = config.Role{IndexPermissions: []config.IndexPermission{perm}}
	}
	c := &bigCluster{aliases: map[string][]string{}, streams: map[string]string{}}
	for i := range indices {
		if i%10 == 0 {
			c.aliases[fmt.Sprintf("index_a%d", i)] = []string{fmt.Sprintf("alias_%d", i)}
		}
	}
	p := compile(t, sec, config.Policy{})
	return p, p.Principal(ask.Identity{Name: "anna", SecurityRoles: own}), c
}

func oneIndex(name string) (ask.Part, ask.Resolved) {
	return searchPart(name), ask.Resolved{Targets: []ask.Target{{Name: name, Kind: ask.Index, Members: []string{name}}}}
}

// TestDecideAllocations holds that the decision on one index allocates the list of
// groups and nothing else.
func TestDecideAllocations(t *testing.T) {
	for _, rules := range []bool{false, true} {
		p, who, c := bigPolicy(t, 100, 100, rules)
		part, res := oneIndex("index_a7")
		want := 1.0
		if rules {
			want = 2 // and the names of the group
		}
		if n := testing.AllocsPerRun(200, func() { p.Decide(who, c, part, res, noon) }); n > want {
			t.Errorf("rules %v: Decide allocates %v times; want at most %v", rules, n, want)
		}
		part, res = oneIndex("nosuch")
		if n := testing.AllocsPerRun(200, func() { p.Decide(who, c, part, res, noon) }); n > 1 {
			t.Errorf("rules %v: a refusal allocates %v times; want at most 1", rules, n)
		}
	}
	p, _, _ := bigPolicy(t, 10, 10, false)
	id := ask.Identity{Name: "anna", BackendRoles: []string{"a", "b"}}
	p.Principal(id)
	if n := testing.AllocsPerRun(200, func() { p.Principal(id) }); n > 4 {
		t.Errorf("Principal allocates %v times; want at most 4", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, rules := range []bool{false, true} {
		for _, roles := range []int{10, 1000} {
			for _, indices := range []int{10, 10_000} {
				b.Run(fmt.Sprintf("one-index/rules-%v/%d-roles/%d-indices", rules, roles, indices), func(b *testing.B) {
					p, who, c := bigPolicy(b, roles, indices, rules)
					part, res := oneIndex("index_a7")
					b.ReportAllocs()
					for b.Loop() {
						if d := p.Decide(who, c, part, res, noon); d.Effect != Allow {
							b.Fatal("denied")
						}
					}
				})
			}
		}
	}
}

func BenchmarkDecidePattern(b *testing.B) {
	for _, indices := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("%d-targets", indices), func(b *testing.B) {
			p, who, c := bigPolicy(b, 100, indices, false)
			res := ask.Resolved{}
			for i := range indices {
				name := fmt.Sprintf("logs-7-%05d", i)
				res.Targets = append(res.Targets, ask.Target{Name: name, Kind: ask.Index, Members: []string{name}, Wildcard: true})
			}
			part := searchPart("logs-7-*")
			b.ReportAllocs()
			for b.Loop() {
				if d := p.Decide(who, c, part, res, noon); !d.Complete() {
					b.Fatal("not complete")
				}
			}
		})
	}
}

func BenchmarkCovers(b *testing.B) {
	p, who, _ := bigPolicy(b, 1000, 10, false)
	pattern := names.MustParsePattern("logs-7-2026*")
	privileges := on("indices:data/read/search")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Covers(who, privileges, pattern, noon); !ok {
			b.Fatal("not covered")
		}
	}
}

func BenchmarkPrincipal(b *testing.B) {
	p, _, _ := bigPolicy(b, 10, 10, false)
	id := ask.Identity{Name: "anna", BackendRoles: []string{"a", "b"}, Attributes: map[string]string{"attr.internal.dept": "hr"}}
	b.ReportAllocs()
	for b.Loop() {
		p.Principal(id)
	}
}
