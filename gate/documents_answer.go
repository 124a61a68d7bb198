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

// searchedDocs is what the searches of a read saw, by item.
type searchedDocs struct {
	shown   []map[string]foundDoc // what the filter shows
	visible []map[string]foundDoc // the same, of a search that wants nothing of documents; nil if there was none
	failed  []*failedCall
	known   map[string]foundDoc // of all items: what is there, shown or not
}

// readSearches returns the hits of the filtered searches by item, and the versions
// that the searches without filter saw. A search that fails costs its own items.
func (d *docRead) readSearches(answer esjson.Value) (*searchedDocs, error) {
	list, _ := answer.Lookup("responses")
	batches, want := d.batches(), 0
	for i := range batches {
		want += len(batches[i].searches())
	}
	if list.Len() != want {
		return nil, fmt.Errorf("cannot read the cluster's answer: %d responses; want %d", list.Len(), want)
	}
	n := len(d.items)
	seen := &searchedDocs{shown: make([]map[string]foundDoc, n), visible: make([]map[string]foundDoc, n), failed: make([]*failedCall, n), known: map[string]foundDoc{}}
	at, done := 0, 0 // the batch, and how many of its searches were read
	for _, r := range list.Elements() {
		b := batches[at]
		if err := seen.read(b, b.searches()[done], r); err != nil {
			return nil, err
		}
		if done++; done == len(b.searches()) {
			at, done = at+1, 0
		}
	}
	return seen, nil
}

// read notes the answer to one search of a batch.
func (s *searchedDocs) read(b batch, what idSearch, r esjson.Value) error {
	if e, failed := r.Lookup("error"); failed {
		failure := &failedCall{Answer{Status: statusOf(r), ContentType: jsonType, Body: wrapError(e, statusOf(r))}, b.told()}
		for _, i := range b.items {
			s.failed[i] = failure
			if what != ofDocuments {
				s.visible[i] = nil
			}
		}
		return nil
	}
	if shardsFailed(r) {
		return errors.New("cannot read the cluster's answer: a shard did not answer")
	}
	into, of := map[string]foundDoc{}, s.shown
	switch what {
	case ofVersions:
		return hitsOf(r, s.known)
	case ofVisible:
		of = s.visible
	}
	for _, i := range b.items {
		if s.failed[i] == nil {
			of[i] = into
		}
	}
	return hitsOf(r, into)
}

// told is what may be told of the search of a batch. It was sent by an earlier plan, so
// it is written again, to know what stands for which name.
func (b batch) told() told {
	_, _ = appendIDSearch(nil, b, ofDocuments) // an error would have kept it from being sent
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
			seen.visible[i] = nil
		}
		if err := out.add(i, it, now, seen); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add adds item i. Where the search for documents failed, a document that the user can't
// see is missing as ever: the cluster fails on documents that it finds.
func (out *docsRead) add(i int, it *docItem, now esjson.Value, seen *searchedDocs) error {
	f, shown := out.failed[i], seen.shown[i]
	if f != nil {
		shown = seen.visible[i]
	}
	if f != nil && shown == nil {
		out.docs[i] = mgetFailure(it, f)
		return nil
	}
	doc, found, err := it.answer(now, shown, seen.known)
	switch {
	case err != nil:
		return err
	case f != nil && found:
		failed := *it
		failed.name = it.index // it fails there, by whatever name it was asked
		doc, found = mgetFailure(&failed, f), false
	default:
		out.failed[i] = nil
	}
	out.docs[i], out.found[i] = doc, found
	return nil
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
			if textOr(e, "type", "") == "search_phase_execution_exception" { // a read has no phases
				e = rootOf(e)
			}
			kind, reason = textOr(e, "type", kind), textOr(e, "reason", reason)
		}
	}
	if kind == "index_not_found_exception" {
		return ask.NoSuchIndex(name, ask.IndexExpression)
	}
	return &ask.Rejection{Status: ask.StatusOf(f.answer.Status), Type: ask.ErrorType(kind), Public: reason, Reason: ask.ReasonUpstream, Cause: f}
}

// rootOf returns the first cause of an error, or the error.
func rootOf(e esjson.Value) esjson.Value {
	causes, _ := e.Lookup("root_cause")
	for _, cause := range causes.Elements() {
		return cause
	}
	return e
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
	if it.typed {
		w.Key("_type")
		w.Raw([]byte("null"))
	}
	w.Key("_id")
	w.Text(it.id)
	w.Key("error")
	writeError(&w, it.refused, true)
	w.EndObject()
	return w.Bytes()
}
