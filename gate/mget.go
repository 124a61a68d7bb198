package gate

import (
	"guard/endpoint"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/query"
)

// planMget reads documents by id, each judged by itself. Those that no document rule
// binds are read as they are; the others as docRead does.
func (pl *plan) planMget() Outcome {
	items := make([]docItem, len(pl.asked.Docs))
	forwardedItems, bound := 0, false
	for i := range items {
		items[i].refused = pl.mgetItem(&items[i], i)
		if items[i].refused == nil {
			forwardedItems++
			bound = bound || items[i].b.bound
		}
	}
	treat := mgetSlots(items)
	switch {
	case forwardedItems == 0:
		return Outcome{Kind: Local, Local: treat.allRefused()}
	case bound:
		return pl.mgetBound(items)
	}
	d := pl.newRead(items)
	params := pl.mgetParams()
	if treat.active() {
		params = endpoint.DropParam(params, "filter_path") // see planBulk
	}
	call := Call{
		Method: pl.r.Method, Target: endpoint.Target([]string{"_mget"}, params), Repeatable: true,
		Source: FixedBody, Body: d.realtimeBody(), ContentType: "application/json",
	}
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: call}}
	if treat.active() {
		out.Forward.Treat = treat
	}
	return out
}

// mgetParams are the parameters of the URL that are not defaults of items.
func (pl *plan) mgetParams() []ask.Param {
	params := pl.q.Params
	for _, name := range []string{"_source", "_source_includes", "_source_excludes", "stored_fields", "routing"} {
		params = endpoint.DropParam(params, name)
	}
	return params
}

// mgetItem fills in the item of slot i, or says why it is refused.
func (pl *plan) mgetItem(it *docItem, i int) *ask.Rejection {
	ref, j := pl.asked.Docs[i], &pl.slots()[i]
	it.name, it.id = string(ref.Index), ref.ID
	engine := pl.s.state.Engine
	it.typed = engine.Distribution == indexresolver.Elasticsearch && engine.Major < 8
	if j.rejection != nil {
		return j.rejection
	}
	it.routing, _ = pl.param("routing")
	if !ref.Routing.Is(esjson.Invalid) {
		it.routing = ref.Routing.String()
	}
	if rej := pl.placeDoc(it, j); rej != nil {
		return rej
	}
	it.source, it.stored = pl.wishes()
	if !ref.Source.Is(esjson.Invalid) {
		it.source = esjson.AppendValue(nil, ref.Source)
	}
	if !ref.StoredFields.Is(esjson.Invalid) {
		it.stored = esjson.AppendValue(nil, ref.StoredFields)
	}
	versioned := !ref.Version.Is(esjson.Invalid) || !ref.VersionType.Is(esjson.Invalid)
	if it.b.bound {
		if versioned {
			return notBuilt("[version] of an item under a document rule")
		}
		return nil
	}
	var rej *ask.Rejection
	it.plain, rej = plainItem(it, ref)
	return rej
}

// plainItem writes an item that no document rule binds. Its wishes about fields go
// through the walker, so that they obey a field rule.
func plainItem(it *docItem, ref endpoint.DocRef) ([]byte, *ask.Rejection) {
	source, stored, rej := fieldWishes(it)
	if rej != nil {
		return nil, rej
	}
	var w esjson.Writer
	beginItem(&w, it)
	for _, m := range []struct {
		key string
		v   esjson.Value
	}{{"version", ref.Version}, {"version_type", ref.VersionType}} {
		if !m.v.Is(esjson.Invalid) {
			w.Key(m.key)
			w.Value(m.v)
		}
	}
	writeWishes(&w, source, stored)
	w.EndObject()
	return w.Bytes(), nil
}

// fieldWishes rewrites what an item wants of its document under its field rule.
func fieldWishes(it *docItem) (source, stored []byte, rej *ask.Rejection) {
	if it.source == nil && it.stored == nil && it.b.views == nil {
		return nil, nil, nil
	}
	var w esjson.Writer
	w.BeginObject()
	writeWishes(&w, it.source, it.stored)
	w.EndObject()
	var in, out esjson.Tape
	v, err := esjson.Parse(&in, w.Bytes(), esjson.RequestLimits())
	if err != nil {
		return nil, nil, asRejection(err)
	}
	rules := it.b.rules
	rules.Filter = query.Free
	body, err := query.AppendSearch(nil, v, nil, &rules)
	if err != nil {
		return nil, nil, refusedQuery(err)
	}
	if v, err = esjson.Parse(&out, body, esjson.RequestLimits()); err != nil {
		return nil, nil, asRejection(err)
	}
	if s, ok := v.Lookup("_source"); ok {
		source = append([]byte(nil), s.Raw()...)
	}
	if s, ok := v.Lookup("stored_fields"); ok {
		stored = append([]byte(nil), s.Raw()...)
	}
	return source, stored, nil
}

// mgetSlots puts refused items back and filters the others.
func mgetSlots(items []docItem) *slotted {
	s := &slotted{key: "docs", slots: make([]slot, len(items))}
	for i := range items {
		switch {
		case items[i].refused != nil:
			s.slots[i].refused = mgetError(&items[i])
		case !items[i].b.free():
			s.slots[i].treat = mgetTreatment{&items[i]}
		}
	}
	return s
}

// mgetTreatment filters one document of a multi-get.
type mgetTreatment struct{ item *docItem }

// Treat filters the fields of the document.
func (t mgetTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return t.tells().error(a, "_index", "_type", "_id")
	}
	body, err := t.item.filtered(a.Body)
	if err != nil {
		return Answer{}, err
	}
	a.Body = body
	return a, nil
}

func (t mgetTreatment) tells() told { return t.item.b.told() }

// mgetBound reads items of which some are bound.
func (pl *plan) mgetBound(items []docItem) Outcome {
	read, out := pl.readDocs(items)
	if read == nil {
		return out
	}
	var w esjson.Writer
	w.BeginObject()
	w.Key("docs")
	w.BeginArray()
	for _, doc := range read.docs {
		w.Raw(doc)
	}
	w.EndArray()
	w.EndObject()
	return Outcome{Kind: Local, Local: Answer{Status: 200, ContentType: jsonType, Body: w.Bytes()}}
}
