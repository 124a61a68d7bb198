package query

import (
	"strings"

	"guard/internal/esjson"
)

// indexOrder is the sort by the order in which a shard keeps its documents. The values
// it shows number them, hidden documents and objects of hidden nested fields included.
const indexOrder = "_doc"

// byScore is the sort by score, whatever fields an index has.
const byScore = "_score"

// byWrite is the field that numbers what was written to a shard. It is shown to whoever
// asks for it.
const byWrite = "_seq_no"

// noField is a name that no index has in earnest; without a field rule nothing is known
// of mappings. An index that has it sorts its visible documents by it.
const noField = "guard-no-such-field"

// asksOrder reports whether the URL's list of sorts has one by the order of the index.
func asksOrder(list string) bool {
	for _, s := range splitList(list) {
		if name, _, _ := strings.Cut(s, ":"); name == indexOrder {
			return true
		}
	}
	return false
}

// hidesOrder reports whether the order of the index has to be asked for in another way.
func (k *walker) hidesOrder(name string) bool {
	return name == indexOrder && !k.role && (k.hidesDocs() || k.fieldRule())
}

// sortByOrder prints the members of a sort that gives the documents in the order of the
// index: all are equal in a field that does not exist, and ties keep that order. Where
// to go on from is not told then, so such a search cannot be continued after a hit.
func (k *walker) sortByOrder(v esjson.Value) error {
	order := v
	if v.Is(esjson.Object) {
		order = esjson.Value{}
		for key, m := range v.Members() {
			if key != "order" {
				return refuse(m, key, "unknown key of a sort by %s", indexOrder)
			}
			order = m
		}
	}
	if v.Is(esjson.String) && v.String() == indexOrder {
		order = esjson.Value{}
	}
	switch {
	case k.continued:
		return refuse(v, indexOrder, "its values count hidden documents, so that search_after cannot be answered%s", k.under())
	case !order.Is(esjson.Invalid) && order.String() != "asc":
		return refuse(v, indexOrder, "its values count hidden documents; only the ascending order can be had without them%s", k.under())
	}
	name := noField
	if k.fieldRule() {
		name = k.standIn(indexOrder)
	}
	k.w.Key(name)
	k.w.BeginObject()
	k.w.Key("order")
	k.w.Text("asc")
	k.w.Key("unmapped_type")
	k.w.Text("long")
	k.w.EndObject()
	return nil
}

// orderLast refuses a sort by the order of the index that has another after it, in one of
// lists or the next: that one never decides, and would where the first one tells no
// document from another.
func (k *walker) orderLast(lists ...esjson.Value) error {
	before := false
	for _, list := range lists {
		if err := k.notAfterOrder(list, &before); err != nil {
			return err
		}
		for _, e := range list.Elements() {
			if err := k.notAfterOrder(e, &before); err != nil {
				return err
			}
		}
	}
	return nil
}

// notAfterOrder refuses the sorts that e is if there was one by the order of the index
// before them.
func (k *walker) notAfterOrder(e esjson.Value, before *bool) error {
	const why = "no other sort may stand after it%s"
	switch {
	case e.Is(esjson.Invalid) || e.Is(esjson.Array):
		return nil
	case *before:
		return refuse(e, indexOrder, why, k.under())
	case e.Is(esjson.String):
		*before = k.hidesOrder(e.String())
	}
	for name, m := range e.Members() {
		if *before {
			return refuse(m, indexOrder, why, k.under())
		}
		*before = k.hidesOrder(name)
	}
	return nil
}

// elements returns the elements of lists, of which each can also be one element.
func elements(lists ...esjson.Value) []esjson.Value {
	var all []esjson.Value
	for _, v := range lists {
		switch v.Kind() {
		case esjson.Invalid:
		case esjson.Array:
			for _, e := range v.Elements() {
				all = append(all, e)
			}
		default:
			all = append(all, v)
		}
	}
	return all
}

// under names the kind of rule that a refusal is due to.
func (k *walker) under() string {
	if k.hidesDocs() {
		return underDocRule
	}
	return underFieldRule
}
