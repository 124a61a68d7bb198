package query

import "guard/internal/esjson"

// value prints a value that means nothing but itself, or a text with a syntax.
func (k *walker) value(v esjson.Value, key string, as kind) error {
	switch as {
	case closed:
		return refuse(v, key, "nothing may stand here")
	case scalars:
		return k.scalars(v, key)
	case inert:
		return k.inert(v)
	case luceneText:
		return k.lucene(v, key)
	case scriptCode:
		return k.script(v, key)
	default:
		return k.scalar(v, key, as)
	}
}

// scalar prints a string, number, boolean or null.
func (k *walker) scalar(v esjson.Value, key string, as kind) error {
	if v.Is(esjson.Object) || v.Is(esjson.Array) {
		return refuse(v, key, "found %s, want a single value", v.Kind())
	}
	if isInfinite(v) {
		return badValue(v, key, "want a number of at most 64 bits")
	}
	if k.fill == nil || !v.Is(esjson.String) {
		k.w.Value(v)
		return nil
	}
	return k.filled(v, key, as, false)
}

// scalars prints a scalar or an array of scalars.
func (k *walker) scalars(v esjson.Value, key string) error {
	if !v.Is(esjson.Array) {
		if k.fill != nil && v.Is(esjson.String) {
			return k.filled(v, key, scalars, true)
		}
		return k.scalar(v, key, scalar)
	}
	k.w.BeginArray()
	for _, e := range v.Elements() {
		if k.fill != nil && e.Is(esjson.String) {
			if err := k.filled(e, key, scalars, false); err != nil {
				return err
			}
			continue
		}
		if err := k.scalar(e, key, scalar); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

// inert prints any value token by token.
func (k *walker) inert(v esjson.Value) error {
	if k.fill == nil {
		k.w.Value(v)
		return nil
	}
	switch v.Kind() {
	case esjson.Object:
		return k.members(v, "", func(key string, m esjson.Value) error {
			name, err := k.filledName(m, key)
			if err != nil {
				return err
			}
			k.w.Key(name)
			return k.inert(m)
		})
	case esjson.Array:
		k.w.BeginArray()
		for _, e := range v.Elements() {
			if err := k.inert(e); err != nil {
				return err
			}
		}
		k.w.EndArray()
		return nil
	}
	return k.scalar(v, "", scalar)
}

// scriptKeys are those of a script object.
var scriptKeys = join(of(scalar, "source", "inline", "id", "stored", "lang"), of(inert, "params", "options"))

func (k *walker) script(v esjson.Value, key string) error {
	if v.Is(esjson.String) {
		return k.scalar(v, key, scriptCode)
	}
	return k.members(v, key, func(name string, m esjson.Value) error {
		if name == "source" || name == "inline" {
			k.w.Key(name)
			return k.scalar(m, name, scriptCode)
		}
		return k.member(m, name, scriptKeys)
	})
}

// limited prints values of which a restriction permits only some.
func (k *walker) limited(v esjson.Value, key string, as kind) error {
	switch as {
	case off:
		return k.scalar(v, key, scalar) // refused before, where it had to be
	case minCount:
		return k.atLeast(v, key, long, 1, whyTerms)
	case expansions:
		return k.atLeast(v, key, whole, leastExpansions, "a small number "+whyTerms[len("it "):])
	case rewriting:
		return k.rewriting(v, key)
	case termsValue:
		return k.terms(v, key)
	case onlyNone:
		if v.Is(esjson.String) && v.String() == "_none" {
			return k.scalar(v, key, scalar)
		}
		return refuse(v, key, "%s", whyPipe)
	}
	return refuse(v, key, "nothing may stand here")
}

// leastExpansions is the default of clusters. Fewer would make it a question which
// terms of hidden documents take a place.
const leastExpansions = 50

// atLeast prints a number, which must be an integer of at least n under a document
// rule: "0", 0.9 and -0 are spellings of zero that clusters coerce.
func (k *walker) atLeast(v esjson.Value, key string, as kind, n int64, why string) error {
	if k.docRule() && !k.role {
		if got, err := v.Int(); err != nil || got < n {
			return refuse(v, key, "%s, want an integer of at least %d%s", why, n, underDocRule)
		}
	}
	return k.number(v, key, as)
}

// rewriting prints a way to rewrite a clause of many terms.
func (k *walker) rewriting(v esjson.Value, key string) error {
	if k.docRule() && !k.role {
		switch v.String() {
		case "constant_score", "constant_score_blended": // the others count terms, see oracle.go
		default:
			return refuse(v, key, "%s%s", whyTerms, underDocRule)
		}
	}
	return k.scalar(v, key, scalar)
}

// terms prints the values of a terms clause.
func (k *walker) terms(v esjson.Value, key string) error {
	switch v.Kind() {
	case esjson.Object:
		return refuse(v, "terms lookup", "%s", whyLookup)
	case esjson.Array:
		if v.Len() > maxTerms {
			return refuse(v, key, "%d terms, want at most %d", v.Len(), maxTerms)
		}
	}
	return k.scalars(v, key)
}
