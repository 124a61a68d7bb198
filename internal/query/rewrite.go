package query

import (
	"strings"

	"guard/internal/esjson"
)

// rewrites are the clauses that a cluster turns into match_none, before it builds them, for
// a field that the index lacks. In the highlight of a top_hits it does not, and fails with
// 500 (measured on every engine).
var rewrites = map[string]bool{"term": true, "terms": true, "range": true, "prefix": true, "wildcard": true, "fuzzy": true, "exists": true}

// rewrite does what the cluster would with a clause. It reports whether that printed it;
// what only some indices would turn into match_none is refused.
func (k *walker) rewrite(v esjson.Value, c *clause) (bool, error) {
	name := fieldIn(v, c)
	switch some, all := k.mapped(name); {
	case !some:
		k.w.Raw([]byte(matchNone))
		return true, nil
	case !all:
		return false, refuse(v, name, "some indices of this request lack the field, and no cluster highlights top_hits by it then; want a highlight_query%s", underDocRule)
	}
	for _, bound := range v.Members() {
		for _, m := range bound.Members() {
			if c.name == "range" && m.Is(esjson.String) && strings.HasPrefix(m.String(), "now") {
				return false, refuse(v, name, "no cluster knows the time where it highlights top_hits; want a highlight_query%s", underDocRule)
			}
		}
	}
	return false, nil
}

// fieldIn returns the name of the field in the body of one of rewrites.
func fieldIn(v esjson.Value, c *clause) string {
	if field, ok := v.Lookup("field"); ok && c.form == fieldTest {
		return field.String()
	}
	for name := range v.Members() {
		if _, option := c.keys[name]; !option {
			return name
		}
	}
	return ""
}

// mapped reports whether some and whether all indices have the field; a hidden one is
// replaced by one that none has.
func (k *walker) mapped(name string) (some, all bool) {
	switch {
	case k.fieldRule() && !isPattern(name) && k.rules.Fields.Field(name, Rank) == Absent:
		return false, false
	case metadata[name]:
		return true, true
	case k.rules.Mapped == nil:
		return true, true
	default:
		return k.rules.Mapped.Mapped(name)
	}
}
