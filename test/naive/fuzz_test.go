package naive_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"guard/authz"
	"guard/indexresolver"
	"guard/internal/names"
	"guard/test/naive"
	"guard/test/naive/worlds"
)

// fixed is the small world in which the fuzzer writes expressions: one of each kind of name
// under one policy, by both sets of rules.
var fixed = sync.OnceValues(func() (*indexresolver.State, []asker) {
	world := naive.World{
		Indices: []naive.Index{
			{Name: "a1", Aliases: []naive.Alias{{Name: "al"}, {Name: "alf", Filter: `{"term":{"c":"red"}}`}, {Name: "alr", Routing: "1"}}},
			{Name: "a2", Aliases: []naive.Alias{{Name: "al"}, {Name: "alx"}}},
			{Name: "a3", Closed: true, Aliases: []naive.Alias{{Name: "alc"}, {Name: "alx"}}},
			{Name: "b1", Aliases: []naive.Alias{{Name: "alf", Filter: `{"term":{"c":"blue"}}`}, {Name: "alh", Hidden: true}}},
			{Name: "h", Hidden: true}, {Name: ".h", Hidden: true}, {Name: ".sys1", Aliases: []naive.Alias{{Name: "asys"}}}, {Name: ".opendistro_security"},
			{Name: ".ds-s1-1", Hidden: true}, {Name: ".ds-s1-2", Hidden: true, Aliases: []naive.Alias{{Name: "als"}}}, {Name: ".ds-s2-1", Hidden: true}, {Name: "logs-2026.11.29"},
		},
		Streams: []naive.Stream{{Name: "s1", Indices: []string{".ds-s1-1", ".ds-s1-2"}}, {Name: "s2", Hidden: true, Indices: []string{".ds-s2-1"}}},
	}
	state, err := worlds.State(world, nil)
	if err != nil {
		panic(err)
	}
	search := []string{"indices:data/read/search"}
	var list []asker
	for i := range 8 {
		p := naive.Policy{
			V4: i&1 != 0, Reduces: i&2 != 0, ReducesToNil: i&4 != 0, System: []string{".sys*"}, SystemOpens: true,
			Roles: map[string]naive.Role{"r": {Entries: []naive.Entry{
				{Patterns: []string{"a1", "alf", "s1", "asys", "new*"}, Actions: search},
				{Patterns: []string{"a?", "logs-*"}, Actions: search, DLS: `{"term":{"o":"${user.name}"}}`},
				{Patterns: []string{"h", "<logs-{now/d}>"}, Actions: search},
				{Patterns: []string{".ds-s1-2", "al", "*c"}, Actions: search, FLS: []string{"~f"}},
			}}},
		}
		policy, err := worlds.Policy(p)
		if err != nil {
			panic(err)
		}
		list = append(list, asker{policy, naive.Case{Policy: p, World: world, Who: naive.Who{Name: "anna", OwnRoles: []string{"r"}}}})
	}
	return state, list
})

// asker is a compiled policy and a question without what is asked.
type asker struct {
	policy *authz.Policy
	naive.Case
}

// FuzzExpressions lets the fuzzer write expressions and choose their options.
func FuzzExpressions(f *testing.F) {
	f.Add("a*,-a1", uint8(1), uint8(1), uint8(0))
	f.Add("*,-al*,b1", uint8(7), uint8(3), uint8(3))
	f.Add("alf*,-alf,.s*", uint8(1), uint8(0), uint8(2))
	f.Add("asys,a*,-a2", uint8(1), uint8(1), uint8(3))
	f.Add("<logs-{now/d}>,new1,nosuch", uint8(0), uint8(2), uint8(6))
	f.Add("s*,-.ds-s1-1", uint8(5), uint8(1), uint8(7))
	f.Add("al,alx*,east:a", uint8(3), uint8(12), uint8(1))
	f.Fuzz(func(t *testing.T, text string, expand, flags, rules uint8) {
		if len(text) > 60 || strings.Count(text, "*") > 8 {
			return // the plain one tries everything
		}
		state, list := fixed()
		who := list[rules%8]
		who.Ask = naive.Ask{
			Privileges: []naive.Privilege{{Action: "indices:data/read/search"}},
			Opts: names.Options{
				Expand: names.Expand(expand % 8), AllowNoIndices: flags&1 != 0, IgnoreUnavailable: flags&2 != 0,
				IgnoreAliases: flags&4 != 0, IgnoreDataStreams: flags&8 != 0,
			},
			Single: flags&16 != 0, Fixed: flags&32 != 0, Now: worlds.Noon,
		}
		for _, e := range names.Split(text) {
			who.Ask.Exprs = append(who.Ask.Exprs, string(e))
		}
		if slices.ContainsFunc(who.Ask.Exprs, func(e string) bool { return strings.Count(e, "*") > 4 }) {
			return
		}
		if diff := worlds.Compare(who.policy, state, who.Case); diff != "" {
			t.Fatalf("%q: %s", who.Ask.Exprs, diff)
		}
	})
}

// FuzzTwoRoads lets the fuzzer choose what is asked by whom, of which cluster and policy.
func FuzzTwoRoads(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { askMany(t, worlds.Roll(seed), new(counts)) })
}
