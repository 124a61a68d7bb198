package authz

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// TestCommon holds the law of Common on all short names: what a pattern of it matches is
// matched by what was asked and granted, with the restriction that it says.
func TestCommon(t *testing.T) {
	const read = "indices:data/read/search"
	rnd := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // G404: repeatable
	pattern := func() string {
		return []string{"a*", "b*", "ab*", "*a", "*b", "a*b", "*ab*", "*", "b", "ab", "a?", "/[ab]/", "*:a*", "-a*", "a,b*", "<a*"}[rnd.IntN(16)]
	}
	var short []string
	for _, a := range []string{"", "a", "b"} {
		for _, b := range []string{"a", "b"} {
			for _, c := range []string{"", "a", "b"} {
				short = append(short, a+b+c)
			}
		}
	}
	found := 0
	for range 3000 {
		sec := &config.Security{Roles: map[string]config.Role{}}
		sec.Dynamic.SetDefaults()
		var roles []string
		for i := range 1 + rnd.IntN(3) {
			perm := config.IndexPermission{IndexPatterns: []string{pattern(), pattern()}, AllowedActions: []string{read}}
			if rnd.IntN(4) == 0 {
				perm.FLS = []string{fmt.Sprintf("~f%d", i)}
			}
			roles = append(roles, fmt.Sprint("r", i))
			sec.Roles[roles[i]] = config.Role{IndexPermissions: []config.IndexPermission{perm}}
		}
		p, who := compile(t, sec, config.Policy{}), as("u", roles...)
		asked := names.MustParsePattern([]string{"a*", "*", "*b", "a*b", "b*a", "*a*"}[rnd.IntN(6)])
		list, id := p.Common(who, on(read), asked, noon)
		if len(list) > 0 {
			found++
		}
		for _, name := range short {
			d := p.Decide(who, none{}, ask.Part{Privileges: on(read), Exprs: exprs(name)}, ask.Resolved{Targets: []ask.Target{{Name: name, Kind: ask.Index, Members: []string{name}}}}, noon)
			matched := false
			for _, c := range list {
				matched = matched || c.Match(name)
				if c.NamesNothing() && !asked.NamesNothing() {
					t.Fatalf("%v: %v of %v matches no name here; a cluster may read it as names of others", sec.Roles, c, asked)
				}
			}
			granted := asked.Match(name) && d.Effect == Allow
			switch {
			case matched && !granted:
				t.Fatalf("%v: %v of %v matches %q, which is not asked and granted", sec.Roles, list, asked, name)
			case matched && d.Groups[0].Restriction != id:
				t.Fatalf("%v: %v of %v: %q has another restriction", sec.Roles, list, asked, name)
			}
		}
	}
	if found < 500 {
		t.Errorf("patterns in common were found %d times of 3000; want 500 or more", found)
	}
}

// none is a cluster without aliases and streams.
type none struct{}

func (none) Aliases(string) []string { return nil }
func (none) Stream(string) string    { return "" }
