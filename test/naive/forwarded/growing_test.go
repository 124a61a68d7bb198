package forwarded

import (
	"testing"

	"guard/internal/names"
	"guard/test/naive"
	"guard/test/naive/worlds"
)

// TestGrowing holds the same as TestForwarded where it is most at stake: names that are
// granted in all ways, alone or beside others, under rules or not, and that others join
// before the cluster is asked.
func TestGrowing(t *testing.T) {
	search := []string{"indices:data/read/search"}
	const red = `{"term":{"c":"red"}}`
	rules := []naive.Entry{
		{}, {Patterns: []string{"x"}, Actions: search, DLS: red}, {Patterns: []string{"a1"}, DLS: red}, {Patterns: []string{"x", "b1"}, FLS: []string{"~f"}}, {Patterns: []string{"al9", "nosuch"}, DLS: red},
	}
	aliases := []naive.Alias{{Name: "alf", Filter: red}, {Name: "alf", Routing: "1"}, {Name: "alf"}}
	forwarded := 0
	for _, granted := range [][]string{{"a1"}, {"alf"}, {"a1", "alf"}, {"a*"}, {"a1", "s1"}, {"/a.*/", "nosuch"}, {"*"}, {"a1", "nosuch"}, {"al*", "<nosuch>"}} {
		for i, rule := range rules {
			for _, alias := range aliases {
				for flags := range 4 {
					c := growing(alias)
					c.Policy = naive.Policy{V4: flags&1 != 0, Reduces: flags&2 != 0, Roles: map[string]naive.Role{"r": {Entries: []naive.Entry{{Patterns: granted, Actions: search}, rule}}}}
					if i == 0 {
						c.Policy.Roles["r"] = naive.Role{Entries: []naive.Entry{{Patterns: granted, Actions: search}}}
					}
					forwarded += grow(t, c, alias)
				}
			}
		}
	}
	if forwarded < 2000 {
		t.Errorf("only %d searches were forwarded", forwarded)
	}
}

// growing is a cluster with an index under an alias.
func growing(alias naive.Alias) naive.Case {
	return naive.Case{
		World: naive.World{
			Indices: []naive.Index{{Name: "a1", Aliases: []naive.Alias{alias}}, {Name: "x"}, {Name: "b1"}, {Name: ".ds-s1-1", Hidden: true}},
			Streams: []naive.Stream{{Name: "s1", Indices: []string{".ds-s1-1"}}},
		},
		Who: naive.Who{Name: "u", OwnRoles: []string{"r"}},
	}
}

// grow asks for names, and lets x join others afterwards. It returns how many searches were
// forwarded.
func grow(t *testing.T, c naive.Case, alias naive.Alias) (forwarded int) {
	t.Helper()
	s, err := snapshot(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, exprs := range [][]string{{"alf"}, {"al*"}, {"a*"}, {"alf", "a1"}, {"alf", "nosuch"}, {"nosuch"}, {"nosuch", "a1"}, {"s1"}, {"*"}, {"a*", "-a2"}} {
		c.Ask = naive.Ask{
			Privileges: []naive.Privilege{{Action: "indices:data/read/search"}}, Exprs: exprs, Now: worlds.Noon,
			Opts: names.Options{Expand: names.ExpandOpen, AllowNoIndices: true},
		}
		joined := alias
		for _, name := range []string{"alf", "al9", "nosuch"} {
			joined.Name = name
			later := growing(alias).World
			later.Indices[1].Aliases = []naive.Alias{joined}
			q := question{c, later}
			how, fault := q.check(s)
			if fault != "" {
				fail(t, q, fault)
				t.FailNow()
			}
			if how == "forwarded" {
				forwarded++
			}
		}
	}
	return forwarded
}
