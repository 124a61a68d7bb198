package gate

import (
	"errors"
	"fmt"
	"strings"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// docsRead is what a docRead found: one get answer for each item, in order.
type docsRead struct {
	docs [][]byte
	// found tells of each item whether it is there for the user.
	found []bool
	// failed is set on items that the cluster could not read: then the document is the
	// error of an item.
	failed []*failedCall
}

// errUnequal says that the searches have not caught up with the realtime read.
var errUnequal = errors.New("a document changed while it was read")

// failedCall is an answer of the cluster that ends the read, of all items or of one.
type failedCall struct {
	answer Answer
	told   told // of it, if it is of one item
}

func (f *failedCall) Error() string { return fmt.Sprintf("the cluster answered %d", f.answer.Status) }

// read joins the answers of the last round: those of the multi-search and of the
// realtime read.
func (d *docRead) read(search, get Answer) (*docsRead, error) {
	for _, a := range []Answer{search, get} {
		if a.Status >= 400 {
			return nil, &failedCall{answer: a}
		}
	}
	// Values point into their tape, so each answer has one.
	var searchTape, getTape esjson.Tape
	found, err := parseAnswer(&searchTape, search)
	if err != nil {
		return nil, err
	}
	realtime, err := parseAnswer(&getTape, get)
	if err != nil {
		return nil, err
	}
	seen, err := d.readSearches(found)
	if err != nil {
		return nil, err
	}
	return d.join(realtime, seen)
}

// searchedDocs is what the searches of a read saw.
type searchedDocs struct {
	shown  []map[string]foundDoc // by item: what the filter shows
	failed []*failedCall         // by item
	known  map[string]foundDoc   // what is there, shown or not
}

// readSearches returns the hits of the filtered searches by item, and the versions
// that the searches without filter saw. A search that fails costs its own items.
func (d *docRead) readSearches(answer esjson.Value) (*searchedDocs, error) {
	responses, _ := answer.Lookup("responses")
	batches := d.batches()
	if responses.Len() != 2*len(batches) {
		return nil, fmt.Errorf("cannot read the cluster's answer: %d responses; want %d", responses.Len(), 2*len(batches))
	}
	seen := &searchedDocs{shown: make([]map[string]foundDoc, len(d.items)), failed: make([]*failedCall, len(d.items)), known: map[string]foundDoc{}}
	for n, r := range responses.Elements() {
		if e, failed := r.Lookup("error"); failed {
			failure := &failedCall{Answer{Status: statusOf(r), ContentType: jsonType, Body: wrapError(e, statusOf(r))}, batches[n/2].told()}
			for _, i := range batches[n/2].items {
				seen.failed[i] = failure
			}
			continue
		}
		if shardsFailed(r) {
			return nil, errors.New("cannot read the cluster's answer: a shard did not answer")
		}
		into := seen.known
		if n%2 == 1 {
			into = map[string]foundDoc{}
			for _, i := range batches[n/2].items {
				seen.shown[i] = into
			}
		}
		if err := hitsOf(r, into); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// told is what may be told of the search of a batch. It was sent by an earlier plan, so
// it is written again, to know what stands for which name.
func (b batch) told() told {
	_, _ = appendIDSearch(nil, b, true) // an error would have kept it from being sent
	return b.first.b.told()
}

func statusOf(response esjson.Value) int {
	if v, ok := response.Lookup("status"); ok {
		if n, err := v.Int(); err == nil {
			return ask.StatusOf(int(n)).Code()
		}
	}
	return 502
}

func wrapError(e esjson.Value, code int) []byte {
	var w esjson.Writer
	w.BeginObject()
	w.Key("error")
	w.Value(e)
	w.Key("status")
	w.Int(int64(code))
	w.EndObject()
	return w.Bytes()
}

// join makes the answer of each item out of what the reads say of it.
func (d *docRead) join(realtime esjson.Value, seen *searchedDocs) (*docsRead, error) {
	list, _ := realtime.Lookup("docs")
	var docs []esjson.Value
	for _, v := range list.Elements() {
		docs = append(docs, v)
	}
	out := &docsRead{docs: make([][]byte, len(d.items)), found: make([]bool, len(d.items)), failed: seen.failed}
	next := 0
	for i := range d.items {
		it := &d.items[i]
		if it.refused != nil {
			out.docs[i] = mgetError(it)
			continue
		}
		if next == len(docs) {
			return nil, fmt.Errorf("cannot read the cluster's answer: it has only %d documents", len(docs))
		}
		now := docs[next]
		next++
		if e, failed := now.Lookup("error"); failed {
			out.failed[i] = &failedCall{Answer{Status: 400, ContentType: jsonType, Body: wrapError(e, 400)}, it.b.told()}
		}
		if f := out.failed[i]; f != nil {
			out.docs[i] = mgetFailure(it, f)
			continue
		}
		doc, found, err := it.answer(now, seen.shown[i], seen.known)
		if err != nil {
			return nil, err
		}
		out.docs[i], out.found[i] = doc, found
	}
	return out, nil
}

// answer writes the get answer of one item.
func (it *docItem) answer(realtime esjson.Value, shown, known map[string]foundDoc) (doc []byte, found bool, err error) {
	now, err := readDoc(realtime, false)
	if err != nil {
		return nil, false, err
	}
	if !it.bound() {
		doc, err = it.filtered(esjson.AppendValue(nil, realtime))
		return doc, now.found, err
	}
	if now.id != it.id {
		return nil, false, fmt.Errorf("cannot read the cluster's answer: it has document %q; want %q", now.id, it.id)
	}
	if hit, ok := shown[now.key()]; now.found && ok && hit.version == now.version {
		var w esjson.Writer
		writeGet(&w, hit.value)
		doc, err = it.filtered(w.Bytes())
		return doc, true, err
	}
	if seen, ok := known[now.key()]; now.found && (!ok || seen.version != now.version) {
		return nil, false, errUnequal
	}
	_, typed := realtime.Lookup("_type")
	var w esjson.Writer
	writeMissing(&w, now.index, it.id, typed)
	return w.Bytes(), false, nil
}

// filtered is the second barrier: fields of the document that the user may not see.
func (it *docItem) filtered(doc []byte) ([]byte, error) {
	if it.b.free() {
		return doc, nil
	}
	return it.b.answer().AppendGet(make([]byte, 0, len(doc)), doc)
}

// mgetFailure is how an item that the cluster could not read stands among the documents.
func mgetFailure(it *docItem, f *failedCall) []byte {
	failed := *it
	failed.refused = f.rejection(it.name)
	return mgetError(&failed)
}

// rejection says of an error of the cluster as much as the user may know.
func (f *failedCall) rejection(name string) *ask.Rejection {
	kind, reason := "exception", "the cluster failed"
	var tape esjson.Tape
	if told, err := f.told.error(f.answer); err == nil {
		if v, err := parseAnswer(&tape, told); err == nil {
			e, _ := v.Lookup("error")
			kind, reason = textOr(e, "type", kind), textOr(e, "reason", reason)
		}
	}
	if kind == "index_not_found_exception" {
		return ask.NoSuchIndex(name, ask.IndexExpression)
	}
	return &ask.Rejection{Status: ask.StatusOf(f.answer.Status), Type: ask.ErrorType(kind), Public: reason, Reason: ask.ReasonUpstream, Cause: f}
}

// textOr returns the text at key, or another one.
func textOr(v esjson.Value, key, other string) string {
	m, _ := v.Lookup(key)
	if !m.Is(esjson.String) {
		return other
	}
	return strings.Clone(m.String())
}

// mgetError is how a refused item stands among the documents.
func mgetError(it *docItem) []byte {
	var w esjson.Writer
	w.BeginObject()
	w.Key("_index")
	w.Text(names.Clip(it.name))
	w.Key("_id")
	w.Text(it.id)
	w.Key("error")
	writeError(&w, it.refused, true)
	w.EndObject()
	return w.Bytes()
}
