package authz

import (
	"maps"
	"slices"
	"strings"
	"time"

	"guard/config"
	"guard/internal/names"
)

// Rule is what one element of index_permissions hides: for the packages that know
// queries and fields to check when a policy is loaded.
type Rule struct {
	Pos      config.Pos // of the entry; the rules are at "dls", "fls" and "masked_fields"
	Role     string
	Patterns []string // index_patterns, as written

	DLS string // as written
	// Samples are forms that DLS takes for some values. It is a rule if one of them is
	// a query: outside quotes a variable may stand for a number or for a list.
	Samples []string
	FLS     []string
	Masks   []string
}

// Rules returns the rules of all roles in the order of role names.
func (p *Policy) Rules() []Rule {
	var list []Rule
	for _, name := range slices.Sorted(maps.Keys(p.roles)) {
		for _, e := range p.roles[name].entries {
			if e.restricts() {
				list = append(list, e.rule())
			}
		}
	}
	return list
}

func (e *entry) rule() Rule {
	r := Rule{Pos: e.pos, Role: e.role, FLS: slices.Clone(e.fls), Masks: slices.Clone(e.masks)}
	for _, p := range e.patterns {
		r.Patterns = append(r.Patterns, p.text)
	}
	if e.dls != nil {
		r.DLS = e.dls.text
		r.Samples = e.dls.samples()
	}
	return r
}

// samples renders a document rule with made-up values.
func (t *template) samples() []string {
	var list []string
	for _, bare := range []string{"1", `["x"]`} {
		look := func(s segment) (Value, bool) {
			switch v, _ := lookup(nobody, s); {
			case v.List:
				return Value{Texts: []string{"x"}, List: true}, true
			case s.quoted:
				return Value{Texts: []string{"x"}}, true
			}
			return Value{Texts: []string{bare}}, true
		}
		if text, _, err := t.renderJSON(look); err == nil && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// MayRestrict reports whether some rule of some role can bind an index: its
// mapping has to be known. A variable counts as "*".
func (p *Policy) MayRestrict(c Cluster, index string) bool {
	return p.ruled.index(c, index, time.Time{})
}

// collectRuled fills ruled, once all roles are compiled.
func (p *Policy) collectRuled() {
	var list []names.Pattern
	for _, r := range p.roles {
		for _, e := range r.entries {
			if !e.restricts() {
				continue
			}
			for _, pattern := range e.patterns {
				list = append(list, pattern.widest())
			}
		}
	}
	p.ruled = &grant{set: newNameSet(list)}
}

// widest returns a pattern that matches whatever p could match for anybody at any
// time.
func (p indexPattern) widest() names.Pattern {
	switch {
	case p.template != nil:
		return p.template.wildcarded()
	case p.date == "":
		return p.static
	}
	before, rest, _ := strings.Cut(p.date[1:len(p.date)-1], "{")
	after := rest[strings.LastIndexByte(rest, '}')+1:]
	if wide, err := names.ParsePattern(before + "*" + after); err == nil {
		return wide
	}
	return names.MustParsePattern("*")
}
