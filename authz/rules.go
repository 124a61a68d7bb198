package authz

import (
	"maps"
	"slices"

	"guard/config"
)

// Rule is what one element of index_permissions hides: for the packages that know
// queries and fields to check when a policy is loaded.
type Rule struct {
	Pos config.Pos // of the entry; the rules are at "dls" and "fls"
	DLS string     // as written
	FLS []string
}

// Rules returns the document and field rules of all roles in the order of role names.
func (p *Policy) Rules() []Rule {
	var list []Rule
	for _, name := range slices.Sorted(maps.Keys(p.roles)) {
		for _, e := range p.roles[name].entries {
			if e.dls == nil && len(e.fls) == 0 {
				continue
			}
			r := Rule{Pos: e.pos, FLS: slices.Clone(e.fls)}
			if e.dls != nil {
				r.DLS = e.dls.text
			}
			list = append(list, r)
		}
	}
	return list
}
