package fls

import "guard/internal/names"

// ProjectionOf returns what v shows of documents and of named fields. It is worth
// keeping beside v: its verdicts are remembered.
func ProjectionOf(v *View) *Projection {
	if v.rules.All() {
		return ShowEverything()
	}
	return NewProjection(sourcePatterns(v.rules.includes), sourcePatterns(v.rules.excludes), v.Shows)
}

func sourcePatterns(ps names.Patterns) []SourcePattern {
	var out []SourcePattern
	for _, p := range ps.List() {
		sp := SourcePattern{Match: p.Match}
		if !p.IsRegex() {
			sp.Below = func(path string) bool { return mayMatchBelow(p, path+".") }
		}
		out = append(out, sp)
	}
	return out
}
