package query

import "guard/internal/esjson"

// aggs prints aggregations by name.
func (k *walker) aggs(v esjson.Value, key string) error {
	return k.members(v, key, func(name string, m esjson.Value) error {
		k.w.Key(name)
		return k.aggregation(m, name)
	})
}

// aggregation prints one aggregation: its type, what nests below it, and meta,
// which the cluster repeats in the answer and does not read.
func (k *walker) aggregation(v esjson.Value, name string) error {
	if err := k.enter(v, name); err != nil {
		return err
	}
	defer k.leave()
	var typ *agg
	err := k.members(v, name, func(key string, m esjson.Value) error {
		switch key {
		case "aggs", "aggregations":
			k.w.Key(key)
			return k.aggs(m, key)
		case "meta":
			k.w.Key(key)
			return k.inert(m)
		}
		if typ != nil {
			return refuse(m, key, "it is a second type of the aggregation %q", quoteLimit(name))
		}
		if typ = aggTable[key]; typ == nil {
			return refuse(m, key, "unknown aggregation")
		}
		return k.aggType(m, typ, name)
	})
	if err != nil {
		return err
	}
	return checkType(v, name, typ)
}

// aggType prints what follows from the type a of the aggregation called name.
func (k *walker) aggType(v esjson.Value, a *agg, name string) error {
	if why := k.refusal(a.verdict); why != "" {
		return refuse(v, a.name, "%s", why)
	}
	if a.name == "auto_date_histogram" && k.nested > 1 && k.rules.Order != Untold {
		// In each bucket around it, it guesses from the first documents how wide its own are.
		return refuse(v, a.name, "below another aggregation %s%s", whyFirst, underOrder)
	}
	k.w.Key(a.name)
	switch {
	case a.query:
		return k.query(v)
	case a.name == "top_hits":
		k.topHits, k.aggregated = true, name
		err := k.hit(v, a.name, a.keys)
		k.topHits = false
		return err
	default:
		return k.object(v, a.name, a.keys)
	}
}

// checkType refuses an aggregation without a type, and one with others below it
// whose type takes none.
func checkType(v esjson.Value, name string, typ *agg) error {
	if typ == nil {
		return refuse(v, name, "the aggregation has no type")
	}
	for _, key := range []string{"aggs", "aggregations"} {
		if below, ok := v.Lookup(key); ok && !typ.nests && below.Len() > 0 {
			return refuse(below, key, "an aggregation of type %s takes none below it", typ.name)
		}
	}
	return nil
}
