package query

import "guard/internal/esjson"

// AppendSearch appends the search body under the rules. An absent body is the zero
// Value; without rules and parameters to place it stays absent, and dst is
// returned as it is. p is what CheckParams made of the URL, or nil.
//
// Whatever body is, the hits of the result are hits of body and of the filter. Any
// error is a *Refusal.
func AppendSearch(dst []byte, body esjson.Value, p *Params, r *Rules) ([]byte, error) {
	return appendBody(dst, body, p, r, searchKeys)
}

// AppendCount is AppendSearch for the body of a count.
func AppendCount(dst []byte, body esjson.Value, p *Params, r *Rules) ([]byte, error) {
	return appendBody(dst, body, p, r, countKeys)
}

// AppendQuery appends one query as it may be asked under the field rule of r; the
// filter is not placed around it.
func AppendQuery(dst []byte, q esjson.Value, r *Rules) ([]byte, error) {
	k := walker{rules: r}
	k.w.Reset(dst)
	if err := k.query(q); err != nil {
		return dst, err
	}
	return k.w.Bytes(), nil
}

func appendBody(dst []byte, body esjson.Value, p *Params, r *Rules, keys shape) ([]byte, error) {
	if p == nil {
		p = &noParams
	}
	if body.Is(esjson.Invalid) && p.over.Is(esjson.Invalid) && r.Filter == Free && r.Fields == nil {
		return dst, nil
	}
	if !body.Is(esjson.Invalid) && !body.Is(esjson.Object) {
		return dst, refuse(body, "body", "found %s, want an object", body.Kind())
	}
	k := borrowWalker(r)
	defer k.release()
	k.w.Reset(dst)
	k.w.BeginObject()
	r.Sorts = Sorts{}
	if _, hits := keys["track_total_hits"]; hits {
		if err := k.total(body, p); err != nil {
			return dst, err
		}
	}
	_, hits := keys["sort"]
	k.apart = hits && r.Order != Untold && showsHits(body, p)
	if err := k.body(body, p, keys); err != nil {
		return dst, err
	}
	k.w.EndObject()
	return k.w.Bytes(), nil
}

// body prints the members of a body, with those that the URL replaces or adds to.
func (k *walker) body(body esjson.Value, p *Params, keys shape) error {
	over := p.over
	var hasQuery bool
	if k.asked, hasQuery = over.Lookup("query"); !hasQuery {
		k.asked, hasQuery = body.Lookup("query")
	}
	k.filtered, _ = body.Lookup("post_filter")
	_, k.continued = body.Lookup("search_after")
	for key, m := range body.Members() {
		if k.apart && decidesOrder(key) {
			continue
		}
		if instead, ok := over.Lookup(key); ok {
			if !addsUp[key] {
				if err := k.refusedBelow(m, key, keys); err != nil {
					return err
				}
				continue
			}
			k.w.Key(key)
			if err := k.added(m, instead, key); err != nil {
				return err
			}
			continue
		}
		if key == "query" {
			continue
		}
		if err := k.member(m, key, keys); err != nil {
			return err
		}
	}
	for key, m := range over.Members() {
		if _, given := body.Lookup(key); key == "query" || given && addsUp[key] || k.apart && decidesOrder(key) {
			continue
		}
		if err := k.member(m, key, keys); err != nil {
			return err
		}
	}
	if k.apart {
		if err := k.bodyInOrder(body, p); err != nil {
			return err
		}
	}
	if err := k.placed(hasQuery); err != nil {
		return err
	}
	return k.bodySource(body, over, keys)
}

// bodySource adds _source to a body of hits that has none.
func (k *walker) bodySource(body, over esjson.Value, keys shape) error {
	if _, hits := keys["_source"]; !hits {
		return nil
	}
	for _, v := range []esjson.Value{body, over} {
		if _, given := v.Lookup("_source"); given {
			return nil
		}
	}
	stored, ok := over.Lookup("stored_fields")
	if !ok {
		stored, _ = body.Lookup("stored_fields")
	}
	return k.addSource(body, stored)
}

// refusedBelow walks a part that the URL replaces, so that it is refused if it
// would have been, and prints nothing of it.
func (k *walker) refusedBelow(v esjson.Value, key string, keys shape) error {
	aside := walker{rules: k.rules, nested: k.nested, parts: k.parts, asked: k.asked, filtered: k.filtered, continued: k.continued, replaced: &Names{}}
	aside.w.BeginObject()
	return aside.member(v, key, keys)
}

// added prints the elements of two lists as one.
func (k *walker) added(a, b esjson.Value, key string) error {
	one, list := k.sort, elements(a, b)
	if key == "docvalue_fields" {
		one = func(e esjson.Value) error { return k.fetchedOne(e, key) }
	} else if err := k.orderLast(a, b); err != nil {
		return err
	}
	k.w.BeginArray()
	for _, e := range list {
		if err := one(e); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

// placed prints the query, with the filter in filter context: scores stay, and
// without a query they stay 1.
func (k *walker) placed(given bool) error {
	if k.rules.Filter == Free {
		if !given {
			return nil
		}
		k.w.Key("query")
		return k.query(k.asked)
	}
	k.w.Key("query")
	return k.underFilter(k.askedQuery)
}

// underFilter prints a query with the filter beside it.
func (k *walker) underFilter(query func() error) error {
	k.w.BeginObject()
	k.w.Key("bool")
	k.w.BeginObject()
	k.w.Key("must")
	k.w.BeginArray()
	if err := query(); err != nil {
		return err
	}
	k.w.EndArray()
	k.w.Key("filter")
	k.w.BeginArray()
	k.w.Raw([]byte(k.rules.Filter.JSON()))
	k.w.EndArray()
	k.w.EndObject()
	k.w.EndObject()
	return nil
}

// askedQuery prints the query of the client alone; none means all documents.
func (k *walker) askedQuery() error {
	if err := k.grow(k.asked, "highlight", len(k.asked.Raw())); err != nil {
		return err
	}
	return k.queryOrAll(k.asked)
}

// queryOrAll prints a query; none means all documents.
func (k *walker) queryOrAll(v esjson.Value) error {
	if v.Is(esjson.Invalid) {
		k.w.Raw([]byte(`{"match_all":{}}`))
		return nil
	}
	return k.query(v)
}
