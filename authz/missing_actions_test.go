package authz

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// TestMissingActions holds that the short form says what the whole matrix does, but for
// what is asked of missing names beside anything else.
func TestMissingActions(t *testing.T) {
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		p := edge(t, mode)
		for _, role := range []string{"a", "half", "far", "ruled", "search"} {
			for _, text := range []string{"logs-1", "logs-1,hr", "nosuch", "*", "logs-*", ""} {
				part := searchPart(text)
				part.Privileges = []ask.Privilege{{Action: "indices:data/read/search"}, {Action: "indices:admin/create", When: ask.IndexMissing}, {Action: "cluster:monitor/main", Scope: ask.ScopeCluster}}
				var res ask.Resolved
				for _, name := range []names.Expr{"logs-1", "hr"} {
					res.Targets = append(res.Targets, ask.Target{Name: string(name), Kind: ask.Index, Members: []string{string(name)}})
				}
				res.Targets = append(res.Targets, ask.Target{Name: "nosuch", Kind: ask.Missing})
				d := p.Decide(as("anna", role), restrictionWorld, part, res, noon)
				var want []string
				for _, c := range missing(&d) {
					if !slices.Contains(want, c.Action) {
						want = append(want, c.Action)
					}
				}
				if len(want) > 1 {
					want = slices.DeleteFunc(want, func(action string) bool { return action == "indices:admin/create" })
				}
				if got := d.MissingActions(); !slices.Equal(got, want) {
					t.Errorf("%s, role %s, %q: %v; want %v", mode, role, text, got, want)
				}
			}
		}
	}
}

// TestMissingActionsOfWrites holds that the refusal of a write does not tell whether the
// name exists. What a missing name alone needs is named to those who may write to it.
func TestMissingActionsOfWrites(t *testing.T) {
	const index, shard, create = "indices:data/write/index", "indices:data/write/bulk[s]", "indices:admin/create"
	privileges := []ask.Privilege{{Action: index}, {Action: create, When: ask.IndexMissing}, {Action: shard}}
	there := []ask.Target{{Name: "hr", Kind: ask.Index, Members: []string{"hr"}}, {Name: "hr", Kind: ask.DataStream, Members: []string{".ds-hr-1"}}, {Name: "hr", Kind: ask.Alias, Members: []string{"hr-1"}}}
	f := func(mode string, target ask.Target, granted []string, want ...string) {
		t.Helper()
		sec := parseSecurity(t, `{roles: {w: {index_permissions: [{index_patterns: ["hr*", ".ds-hr*"], allowed_actions: ["`+strings.Join(granted, `", "`)+`"]}]}}}`)
		modes[mode](&sec.Dynamic)
		part := searchPart("hr")
		part.Privileges, part.Single = privileges, true
		d := compile(t, sec, config.Policy{}).Decide(as("anna", "w"), restrictionWorld, part, ask.Resolved{Targets: []ask.Target{target}}, noon)
		if got := d.MissingActions(); !slices.Equal(got, want) {
			t.Errorf("%s, %v granted on %s (%v): %v is missing; want %v", mode, granted, target.Name, target.Kind, got, want)
		}
	}
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		missing := ask.Target{Name: "hr", Kind: ask.Missing}
		for _, target := range append(slices.Clone(there), missing) {
			f(mode, target, []string{"indices:data/read/get"}, index, shard)
			f(mode, target, []string{create}, index, shard)
			f(mode, target, []string{index}, shard)
			f(mode, target, []string{shard, create}, index)
		}
		f(mode, missing, []string{index, shard}, create)
		f(mode, missing, []string{index, shard, create})
		f(mode, there[0], []string{index, shard})
	}
}
