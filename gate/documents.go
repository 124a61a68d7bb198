package gate

import (
	"bytes"
	"slices"
	"strings"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/query"
)

// docItem is one document that is read by id.
type docItem struct {
	name    string // where it is read: a concrete index, or an alias with a routing
	index   string // the concrete index, where it is searched
	id      string
	routing string
	// source and stored are what the client wants of the document: JSON as in a search
	// body, or nothing.
	source, stored []byte
	typed          bool // the cluster says of an item that fails that its type is null
	// plain is the item as a realtime multi-get takes it.
	plain []byte

	b       *binding
	refused *ask.Rejection
}

// wishes are those of a search for the document.
func (d *docItem) wishes() (source, stored []byte) { return d.source, hitFields(d.stored) }

// bound reports whether the document has to be found by a filtered search.
func (d *docItem) bound() bool { return d.refused == nil && d.b.bound }

// docRead reads documents of which some are bound by a rule. A search alone is not
// right: it misses what was written since the last refresh, and also shows versions
// that are gone (measured). So a realtime read says which version counts, and the
// document is shown if the filtered search shows that version. A search without the
// filter, and without the document, tells a hidden version from one that no search
// can see yet; in that case the index is refreshed once.
type docRead struct {
	items      []docItem
	preference string
	realtime   bool
	refresh    bool // the client asked for a refresh first
}

// guardPreference makes the searches of one read ask one copy of each shard.
const guardPreference = "guard"

// maxIDs bounds the documents of one search, far below the 10,000 hits that a search
// returns: an id can be there once for each routing.
const maxIDs = 1000

// Rounds of a docRead: the calls of the first, and how many more a refresh adds.
const firstRound = 2

// needs returns the calls for the round that known leads to.
func (d *docRead) needs(known Known) (calls []Call, rej *ask.Rejection) {
	if d.refresh || len(known.Answers) > 0 {
		calls = append(calls, Call{Method: "POST", Target: endpoint.Target([]string{strings.Join(d.indices(), ","), "_refresh"}, skipClosed), OwnAccount: true, Repeatable: true, Shared: true})
	}
	lines, err := d.searches()
	if err != nil {
		return nil, refusedQuery(err)
	}
	search := Call{Method: "POST", Target: "/_msearch?max_concurrent_searches=1", Source: FixedBody, Body: lines, ContentType: "application/x-ndjson", OwnAccount: true, Repeatable: true}
	get := Call{Method: "POST", Target: endpoint.Target([]string{"_mget"}, d.realtimeParams()), Source: FixedBody, Body: d.realtimeBody(), ContentType: "application/json", OwnAccount: true, Repeatable: true}
	return append(calls, search, get), nil
}

// skipClosed has a closed index fail the items that are read there, and no others.
var skipClosed = []ask.Param{{Name: "ignore_unavailable", Value: "true", HasValue: true}}

func (d *docRead) realtimeParams() []ask.Param {
	params := []ask.Param{{Name: "preference", Value: d.pref(), HasValue: true}}
	if !d.realtime {
		params = append(params, ask.Param{Name: "realtime", Value: "false", HasValue: true})
	}
	return params
}

func (d *docRead) pref() string {
	if d.preference != "" {
		return d.preference
	}
	return guardPreference
}

// indices returns the indices of the bound items, sorted.
func (d *docRead) indices() []string {
	var list []string
	for i := range d.items {
		if d.items[i].bound() {
			list = append(list, d.items[i].index)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// batch is the items that one pair of searches finds: of one place, with the same
// wishes.
type batch struct {
	first *docItem
	ids   []string
	items []int
}

// batches groups the bound items, in an order that depends on nothing else.
func (d *docRead) batches() []batch {
	at := map[string]int{}
	var list []batch
	for i := range d.items {
		it := &d.items[i]
		if !it.bound() {
			continue
		}
		key := it.index + "\x00" + string(it.source) + "\x00" + string(it.stored)
		n, ok := at[key]
		if !ok || len(list[n].ids) == maxIDs {
			n = len(list)
			at[key] = n
			list = append(list, batch{first: it})
		}
		list[n].ids = append(list[n].ids, it.id)
		list[n].items = append(list[n].items, i)
	}
	return list
}

// idSearch is one of the searches for a batch.
type idSearch uint8

const (
	ofVersions  idSearch = iota // without filter: the versions that are there
	ofVisible                   // the versions that the filter shows, where the next may fail
	ofDocuments                 // the documents that the filter shows
)

// searches are those for a batch, in their order. What is wanted of documents can make the
// cluster fail on one that it finds, and so on all of the batch: which they are says another
// search then.
func (b *batch) searches() []idSearch {
	source := b.first.source
	if len(b.ids) == 1 || b.first.stored == nil && (source == nil || string(source) == "true" || string(source) == "false") {
		return []idSearch{ofVersions, ofDocuments}
	}
	return []idSearch{ofVersions, ofVisible, ofDocuments}
}

// searches writes the multi-search: for each batch the search that only tells versions,
// then the filtered ones. They run in this order, so that a version which the first saw,
// and the realtime read after both saw again, was there for the others as well.
func (d *docRead) searches() ([]byte, error) {
	var dst []byte
	for _, b := range d.batches() {
		for _, what := range b.searches() {
			dst = append(d.appendHeader(dst, b.first.index), '\n')
			var err error
			if dst, err = appendIDSearch(dst, b, what); err != nil {
				return nil, err
			}
			dst = append(dst, '\n')
		}
	}
	return dst, nil
}

func (d *docRead) appendHeader(dst []byte, name string) []byte {
	var w esjson.Writer
	w.Reset(dst)
	w.BeginObject()
	w.Key("index")
	w.Text(name)
	w.Key("preference")
	w.Text(d.pref())
	w.Key("allow_partial_search_results")
	w.Bool(false)
	w.EndObject()
	return w.Bytes()
}

// appendIDSearch writes one search by ids. Those with a filter go through the same walker
// as a client's search, so that the wishes about fields obey the same rules.
func appendIDSearch(dst []byte, b batch, what idSearch) ([]byte, error) {
	source, stored := []byte("false"), []byte(nil)
	switch what {
	case ofVersions:
		return b.appendSearch(dst, source, stored), nil
	case ofDocuments:
		source, stored = b.first.wishes()
	}
	tape := esjson.BorrowTape()
	defer tape.Release()
	v, err := esjson.Parse(tape, b.appendSearch(nil, source, stored), esjson.RequestLimits())
	if err != nil {
		return nil, err
	}
	return query.AppendSearch(slices.Grow(dst, b.room()+b.first.b.room()), v, nil, &b.first.b.rules)
}

// hitFields returns the stored fields that are wanted of a document as a search has to ask
// for them. A read by id takes _none_ for the name of a field, which no document has; a
// search would leave out what tells the document, and takes no other name beside it.
func hitFields(stored []byte) []byte {
	const none = "_none_"
	if !bytes.Contains(stored, []byte(none)) {
		return stored
	}
	v, err := esjson.Parse(new(esjson.Tape), stored, esjson.RequestLimits())
	if err != nil {
		return stored // which the search can't be written with either
	}
	var w esjson.Writer
	w.BeginArray()
	if v.Is(esjson.String) && v.String() != none {
		w.Value(v)
	}
	for _, e := range v.Elements() {
		if e.String() != none {
			w.Value(e)
		}
	}
	w.EndArray()
	return w.Bytes()
}

// room is about what one search of a batch needs.
func (b *batch) room() int {
	n := 128 + len(b.first.source) + len(b.first.stored)
	for _, id := range b.ids {
		n += len(id) + len(`"",`)
	}
	return n
}

// appendSearch writes the search for the ids, with what is wanted of the documents as
// JSON, or nothing.
func (b *batch) appendSearch(dst, source, stored []byte) []byte {
	var w esjson.Writer
	w.Reset(slices.Grow(dst, b.room()))
	w.BeginObject()
	w.Key("size")
	w.Int(int64(min(10*len(b.ids), 10_000)))
	w.Key("version")
	w.Bool(true)
	w.Key("seq_no_primary_term")
	w.Bool(true)
	writeWishes(&w, source, stored)
	w.Key("query")
	w.BeginObject()
	w.Key("ids")
	w.BeginObject()
	w.Key("values")
	w.Texts(b.ids)
	w.EndObject()
	w.EndObject()
	w.EndObject()
	return w.Bytes()
}

// realtimeBody asks for all items: of bound ones the version alone, of the others
// what the client wants.
func (d *docRead) realtimeBody() []byte {
	var w esjson.Writer
	w.Reset(make([]byte, 0, 128*len(d.items)))
	w.BeginObject()
	w.Key("docs")
	w.BeginArray()
	for i := range d.items {
		it := &d.items[i]
		switch {
		case it.refused != nil:
		case it.bound():
			writeVersionItem(&w, it)
		default:
			w.Raw(it.plain)
		}
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes()
}

// beginItem writes the start of an item of a multi-get: where its document is.
func beginItem(w *esjson.Writer, it *docItem) {
	w.BeginObject()
	w.Key("_index")
	w.Text(it.name)
	w.Key("_id")
	w.Text(it.id)
	if it.routing != "" {
		w.Key("routing")
		w.Text(it.routing)
	}
}

func writeVersionItem(w *esjson.Writer, it *docItem) {
	beginItem(w, it)
	// Without a stored field the cluster does not tell the routing of the document.
	w.Key("stored_fields")
	w.BeginArray()
	w.Text("_routing")
	w.EndArray()
	w.Key("_source")
	w.Bool(false)
	w.EndObject()
}
