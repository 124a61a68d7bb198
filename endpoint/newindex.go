package endpoint

import (
	"slices"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// onNewIndex are asked of a rollover and a resize on the index that they make, where the
// client names it: their own action, as on the source, and by the newer evaluator that of
// a creation. Measured on the security plugin, which looks no further with the older one.
func (m Match) onNewIndex(rules Rules) []ask.Privilege {
	own := m.Route.Privileges[:1:1]
	if rules.AliasNames {
		return append(own, index("indices:admin/create"))
	}
	return own
}

// askNewIndex asks on the names of a request that makes an index: by itself, out of another
// one, or in its place. An alias in the body asks for the right to make aliases.
func (m Match) askNewIndex(q Query, exprs []names.Expr, rules Rules) (Asked, error) {
	asked := Asked{Parts: []ask.Part{m.part(exprs, q.Opts)}}
	made := exprs
	if name, ok := m.Name(); ok {
		e, err := singleName(name)
		if err != nil {
			return Asked{}, err
		}
		made = []names.Expr{e}
		p := m.part(made, noExpansion)
		p.Privileges = m.onNewIndex(rules)
		asked.Parts = append(asked.Parts, p)
	}
	if len(q.Body) == 0 {
		return asked, nil
	}
	v, err := parse(q.Body)
	if err != nil {
		return Asked{}, err
	}
	aliases, err := asked.Index.readFor(m.Route, v)
	if err != nil || len(aliases) == 0 {
		return asked, err
	}
	asked.Parts = append(asked.Parts, m.aliasesOn(made, aliases, rules)...)
	return asked, nil
}

// aliasesOn asks for the right to give a new index aliases: on the index and, by the newer
// evaluator, on the aliases.
func (m Match) aliasesOn(made, aliases []names.Expr, rules Rules) []ask.Part {
	p := m.part(made, noExpansion)
	p.Privileges = makesAliases
	parts := []ask.Part{p}
	if rules.AliasNames {
		p.Exprs, p.Single, p.Aliases = aliases, false, true
		parts = append(parts, p)
	}
	return parts
}

// NewIndexPart returns the number of the part that asks on the index that is made, if the
// request names it.
func (m Match) NewIndexPart() (int, bool) {
	_, named := m.Name()
	return 1, named
}

// conditions are those of a rollover, in all versions of the clusters.
var conditions = []string{
	"max_age", "max_docs", "max_size", "max_primary_shard_size", "max_primary_shard_docs",
	"min_age", "min_docs", "min_size", "min_primary_shard_size", "min_primary_shard_docs",
}

// checkConditions takes conditions on ages, sizes and numbers of documents.
func checkConditions(where string, list esjson.Value) error {
	for key, v := range list.Members() {
		switch {
		case !slices.Contains(conditions, key):
			return unknownKey("[conditions] of "+where, key)
		case !v.Is(esjson.String) && !v.Is(esjson.Number):
			return badBody("parsing_exception", "cannot use %s as [%s] in [conditions] of %s; want a string or a number", v.Kind(), key, where)
		}
	}
	return nil
}
