package naive_test

import (
	"fmt"
	"testing"

	"guard/internal/names"
	"guard/test/naive"
	"guard/test/naive/worlds"
)

// possible are names that indices, aliases and streams could have.
var possible = []string{
	"a", "a1", "a2", "a9", "ab1", "al", "al1", "alx", "b", "b1", "b9", "b99", "bx1", "x", "x1", "s1", "s9", "new1", "logs-2026.11.29", "logs-2026.11.30", "1",
	".h", ".ds-s1-1", ".ds-s1-9", ".ds-x-1",
}

// possibleSystem are names of system indices and of what is behind system streams.
var possibleSystem = []string{".sys1", ".sys9", ".opendistro_security"}

// TestCovers holds law 3 for every pattern that may be forwarded: whatever name it could
// match is granted, as an index, as a stream, and as an alias of whatever index, and all of
// them are bound by the same rules.
func TestCovers(t *testing.T) {
	covered, ruled := 0, 0
	for seed := range *rounds {
		d := worlds.Roll(uint64(seed) ^ 1<<41) //nolint:gosec // G115: not negative
		c := naive.Case{Policy: d.Policy(), Who: d.Who(), Ask: d.Ask()}
		policy, err := worlds.Policy(c.Policy)
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"*", "a*", "al*", "b*", "b?", "?1", "*1", "b*1", "s*", ".*", ".s*", ".ds-*", "logs-*", "a1", "/a.*/", "x*"} {
			bound, ok := worlds.Covers(policy, c, pattern)
			if !ok {
				continue
			}
			if covered++; bound {
				ruled++
			}
			if fault := covers(c, pattern, bound); fault != "" {
				t.Fatalf("%q is covered, and yet %s\n%s", pattern, fault, worlds.Print(c))
			}
		}
	}
	t.Logf("%d covered, %d of them under a rule", covered, ruled)
	if covered < *rounds/4 || ruled < *rounds/50 {
		t.Errorf("only %d patterns were covered, %d of them under a rule", covered, ruled)
	}
}

// covers returns which possible name that pattern matches is not granted, or not by the same
// rules as the others.
func covers(c naive.Case, pattern string, bound bool) string {
	p := names.MustParsePattern(pattern)
	first := ""
	check := func(x naive.Index, streams ...naive.Stream) string {
		c.World = naive.World{Indices: []naive.Index{x}, Streams: streams}
		rules, granted := naive.Granted(c, x.Name)
		text := fmt.Sprintf("%+v", rules)
		switch free := text == fmt.Sprintf("%+v", naive.Rules{}); {
		case !granted:
			return fmt.Sprintf("nothing is granted on %+v", c.World)
		case free == bound, first != "" && text != first:
			return fmt.Sprintf("%s bind %+v, and others %s", text, c.World, first)
		}
		first = text
		return ""
	}
	for _, name := range append(possible, possibleSystem...) {
		stream := ".ds-" + name + "-7"
		if p.Match(name) {
			if fault := check(naive.Index{Name: name}); fault != "" {
				return fault
			}
		}
		if p.Match(name) || p.Match(stream) && name != ".opendistro_security" {
			if fault := check(naive.Index{Name: stream}, naive.Stream{Name: name, Indices: []string{stream}}); fault != "" {
				return fault
			}
		}
	}
	for _, name := range possible {
		for _, member := range possible {
			if !p.Match(name) || member == name {
				continue
			}
			if fault := check(naive.Index{Name: member, Aliases: []naive.Alias{{Name: name}}}); fault != "" {
				return fault
			}
		}
	}
	return ""
}
