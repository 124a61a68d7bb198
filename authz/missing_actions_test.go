package authz

import (
	"maps"
	"slices"
	"testing"

	"guard/internal/ask"
	"guard/internal/names"
)

// TestMissingActions holds that the short form says what the whole matrix does.
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
				d := p.Decide(as("anna", role), restrictionWorld, part, res, noon)
				if got, want := d.MissingActions(), d.Missing().Actions(); !slices.Equal(got, want) {
					t.Errorf("%s, role %s, %q: %v; want %v", mode, role, text, got, want)
				}
			}
		}
	}
}
