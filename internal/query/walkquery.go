package query

import (
	"strings"

	"guard/internal/esjson"
)

// query prints one query: an object of one clause.
func (k *walker) query(v esjson.Value) error {
	if !v.Is(esjson.Object) || v.Len() != 1 {
		return refuse(v, "query", "found %s with %d keys, want an object with one clause", v.Kind(), v.Len())
	}
	if err := k.enter(v, "query"); err != nil {
		return err
	}
	defer k.leave()
	for name, m := range v.Members() {
		c := clauses[name]
		if c == nil {
			return refuse(m, name, "unknown query clause")
		}
		if err := k.clause(m, c); err != nil {
			return err
		}
	}
	return nil
}

// clause prints {name: v}.
func (k *walker) clause(v esjson.Value, c *clause) error {
	if why := k.refusal(c.verdict); why != "" {
		return refuse(v, c.name, "%s", why)
	}
	if err := k.uncomputedTexts(v, c); err != nil {
		return err
	}
	if k.unrewritten && rewrites[c.name] {
		if done, err := k.rewrite(v, c); done || err != nil {
			return err
		}
	}
	if c.form == fieldTest && k.fieldRule() {
		return k.exists(v, c)
	}
	switch {
	case k.role && c.name == "range":
		return k.unskipped(v, c) // what stands beside the rule is the client's
	case k.role:
		return k.printed(v, c)
	case k.hidesDocs() && c.name == "span_term" && !k.keepsPlaces(v, c):
		return refuse(v, c.name, "want a text that keeps the places of its words: of other fields it fails where any document holds the term%s", underDocRule)
	case k.within:
		return k.printed(v, c)
	case k.hidesDocs():
		return k.bounded(v, c)
	}
	return k.printed(v, c)
}

// printed prints {name: v} as it stands.
func (k *walker) printed(v esjson.Value, c *clause) error {
	k.w.BeginObject()
	if k.instead && c.name == "match_phrase_prefix" {
		k.w.Key("match_bool_prefix")
	} else {
		k.w.Key(c.name)
	}
	if err := k.clauseBody(v, c); err != nil {
		return err
	}
	k.w.EndObject()
	return nil
}

func (k *walker) clauseBody(v esjson.Value, c *clause) error {
	switch {
	case c.form == perField:
		return k.perField(v, c)
	case c.form == multi && k.fieldRule():
		return k.multi(v, c)
	default:
		return k.object(v, c.name, c.keys)
	}
}

// perField prints the object of a clause that has its field as a key.
func (k *walker) perField(v esjson.Value, c *clause) error {
	fields := 0
	return k.members(v, c.name, func(name string, m esjson.Value) error {
		container := m.Is(esjson.Object) || m.Is(esjson.Array)
		if _, option := c.keys[name]; option && !container {
			return k.member(m, name, c.keys)
		}
		if fields++; fields > 1 {
			return refuse(m, c.name, "it names more than one field")
		}
		if c.name == "geo_distance" && !container && k.fieldRule() && isPartOfPoint(name) {
			return refuse(m, name, "clusters read it as a part of the point in the field before its last dot; want the point below that field%s", underFieldRule)
		}
		shown, err := k.seen(m, name, Match)
		if err != nil {
			return err
		}
		k.w.Key(shown)
		if m.Is(esjson.Object) && c.value != nil {
			return k.object(m, name, c.value)
		}
		if k.ending == "" {
			return k.slot(m, c.name, &slot{kind: c.short})
		}
		k.w.BeginObject()
		k.w.Key("value")
		err = k.slot(m, c.name, &slot{kind: c.short})
		k.endOptions()
		return err
	})
}

// isPartOfPoint reports whether geo_distance takes name, with a scalar below it, for a part of
// the point in another field: {"place.lat": 48}.
func isPartOfPoint(name string) bool {
	return strings.HasSuffix(name, ".lat") || strings.HasSuffix(name, ".lon")
}

// exists prints an exists clause under a field rule: a pattern or an object stands
// for the visible fields below it.
func (k *walker) exists(v esjson.Value, c *clause) error {
	field, ok := v.Lookup("field")
	if !ok || !field.Is(esjson.String) {
		return refuse(v, c.name, "want the name of a field")
	}
	name := field.String()
	pattern := name
	if !isPattern(name) {
		if k.rules.Fields.Field(name, Match) != Object {
			return k.printed(v, c)
		}
		pattern = name + ".*"
	}
	names, err := k.expand(field, pattern, Rank)
	if err != nil {
		return err
	}
	if k.parts += len(names); k.parts > maxParts {
		return refuse(v, c.name, "the search holds more than %d clauses and aggregations", maxParts)
	}
	return k.anyExists(v, pattern, names)
}

// anyExists prints the options of the exists clause v around a disjunction over
// names, which pattern stands for. It scores like exists: a constant.
func (k *walker) anyExists(v esjson.Value, pattern string, names []string) error {
	k.w.BeginObject()
	k.w.Key("constant_score")
	err := k.members(v, "exists", func(key string, m esjson.Value) error {
		if key != "field" {
			return k.member(m, key, namedBoost)
		}
		k.w.Key("filter")
		k.w.BeginObject()
		k.w.Key("bool")
		k.w.BeginObject()
		k.w.Key("should")
		k.w.BeginArray()
		for _, name := range names {
			k.existsOne(name)
		}
		if len(names) == 0 {
			k.existsOne(k.standIn(pattern)) // an empty bool would match everything
		}
		k.w.EndArray()
		k.w.EndObject()
		k.w.EndObject()
		return nil
	})
	if err != nil {
		return err
	}
	k.w.EndObject()
	return nil
}

func (k *walker) existsOne(name string) {
	k.w.BeginObject()
	k.w.Key("exists")
	k.w.BeginObject()
	k.w.Key("field")
	k.w.Text(name)
	k.w.EndObject()
	k.w.EndObject()
}

// multi prints a clause over a list of fields under a field rule. No list means
// all fields to the cluster; here it means all visible ones.
func (k *walker) multi(v esjson.Value, c *clause) error {
	list, listed := v.Lookup("fields")
	if d, ok := v.Lookup("default_field"); ok {
		if listed {
			return refuse(d, c.name, "it has both fields and default_field")
		}
		list = d
	}
	none := !list.Is(esjson.String) && list.Len() == 0
	if !list.Is(esjson.Invalid) && !list.Is(esjson.String) && !list.Is(esjson.Array) && !list.Is(esjson.Null) {
		return refuse(list, c.name, "found %s, want names of fields", list.Kind())
	}
	if !v.Is(esjson.Object) {
		return refuse(v, c.name, "found %s, want an object", v.Kind())
	}
	if none && c.name == "more_like_this" {
		return refuse(v, c.name, "it names no fields%s", underFieldRule) // an index setting would choose
	}
	var err error
	if k.around, err = k.readAround(v, none); err != nil {
		return err
	}
	k.w.BeginObject()
	if err := k.multiFields(v, list, none); err != nil {
		return err
	}
	for key, m := range v.Members() {
		if key == "fields" || key == "default_field" {
			continue
		}
		if err := k.member(m, key, c.keys); err != nil {
			return err
		}
	}
	// The cluster is lenient by itself when it searches all fields.
	if _, takes := c.keys["lenient"]; takes && (none || hasAll(list)) {
		if _, given := v.Lookup("lenient"); !given {
			k.w.Key("lenient")
			k.w.Bool(true)
		}
	}
	k.endOptions()
	return nil
}

// hasAll reports whether a list of fields holds the pattern of all fields.
func hasAll(list esjson.Value) bool {
	name, _ := cutBoost(list.String())
	if list.Is(esjson.String) {
		return name == "*"
	}
	for _, e := range list.Elements() {
		if e.Is(esjson.String) && hasAll(e) {
			return true
		}
	}
	return false
}

// multiFields prints which fields are searched. A default field is more than a list of
// one: comparisons and a lone * mean that field.
func (k *walker) multiFields(v, list esjson.Value, none bool) error {
	if _, ok := v.Lookup("default_field"); ok && list.Is(esjson.String) && !isPattern(list.String()) {
		k.w.Key("default_field")
		return k.oneField(list, "default_field", Match)
	}
	k.w.Key("fields")
	if !none {
		return k.fieldList(list, "fields")
	}
	names, err := k.expand(v, "*", Match)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{k.standIn("*")}
	}
	k.w.Texts(names)
	return nil
}

// part prints what holds queries, aggregations, sorts and the parts of hits.
func (k *walker) part(v esjson.Value, key string, as kind) error {
	switch as {
	case queryOne:
		return k.query(v)
	case queryMany:
		return k.oneOrMany(v, key, k.query)
	case queryNamed:
		return k.queryNamed(v, key)
	case aggsNamed:
		return k.aggs(v, key)
	case sortList:
		if err := k.orderLast(v); err != nil {
			return err
		}
		return k.oneOrMany(v, key, k.sort)
	case sourceSpec:
		return k.source(v)
	case fetchFields:
		return k.fetched(v, key)
	case storedList:
		return k.stored(v, key)
	case highlighted:
		return k.highlight(v)
	case hitShape, hitShapes:
		if k.role {
			return refuse(v, key, "it would show in answers")
		}
		return k.innerHits(v, key, as == hitShape)
	}
	return refuse(v, key, "nothing may stand here")
}

// innerHits prints the inner hits of a clause, which are hits of its own query, or
// those of collapse, which are hits of the body's.
func (k *walker) innerHits(v esjson.Value, key string, ofClause bool) error {
	was := k.inner
	k.inner = k.inner || ofClause
	err := k.oneOrMany(v, key, func(e esjson.Value) error { return k.hit(e, key, innerHits) })
	k.inner = was
	return err
}

func (k *walker) queryNamed(v esjson.Value, key string) error {
	if v.Is(esjson.Array) {
		return k.oneOrMany(v, key, k.query)
	}
	return k.members(v, key, func(name string, m esjson.Value) error {
		k.w.Key(name)
		return k.query(m)
	})
}
