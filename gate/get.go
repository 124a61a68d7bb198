package gate

import (
	"errors"
	"fmt"
	"strings"

	"guard/dls"
	"guard/endpoint"
	"guard/fls"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// planGet reads one document: by id where no document rule binds it, else as docRead
// does. A filter of an alias binds reads by id as well.
func (pl *plan) planGet() Outcome {
	it, rej := pl.oneDoc()
	if rej != nil {
		return reject(rej)
	}
	if rej := pl.checkNoSource(it); rej != nil {
		return reject(rej)
	}
	switch {
	case it.b.bound:
		return pl.getBound(it)
	case it.b.views != nil:
		return pl.getUnderFields(it)
	case pl.m.Route.Answer == endpoint.Doc:
		return pl.forward(pl.m.Target([]string{it.name}, pl.q.Params), pl.checkRead(it, pl.q.Params, nil))
	default: // a bare source, or no body at all: it can be anything
		return pl.forward(pl.m.Target([]string{it.name}, pl.q.Params), nil)
	}
}

// asksSource reports whether the request is for the source alone, or whether it is there.
func (pl *plan) asksSource() bool {
	return pl.m.Route.Answer == endpoint.Source || pl.m.Route.ID == "exists_source"
}

// checkNoSource refuses what the cluster would, where the source is not asked for as
// such: to ask for it and not to want it.
func (pl *plan) checkNoSource(it *docItem) *ask.Rejection {
	if v, ok := pl.param("_source"); !ok || v != "false" || !pl.asksSource() || it.b.free() {
		return nil
	}
	return &ask.Rejection{
		Status: 400, Type: "action_request_validation_exception", Reason: ask.ReasonBadRequest,
		Public: "Validation Failed: 1: fetching source can not be disabled;",
	}
}

// getUnderFields reads a document under a field rule alone.
func (pl *plan) getUnderFields(it *docItem) Outcome {
	if pl.m.Route.ID == "exists" {
		return pl.existsUnderFields(it)
	}
	params, rej := pl.getParams(it)
	if rej != nil {
		return reject(rej)
	}
	if pl.asksSource() {
		return pl.sourceUnderFields(it, params)
	}
	if _, ok := pl.param("filter_path"); ok && (it.b.single() == nil || !it.b.narrowed) {
		return reject(notBuilt("parameter [filter_path] under a field rule"))
	}
	treat := getTreatment{answer: it.b.answer(), told: it.b.told()}
	return pl.forward(pl.m.Target([]string{it.name}, params), pl.checkRead(it, params, treat))
}

// sourceUnderFields reads a source as a part of its document: that answer says whose
// source it is. filter_path means nothing to a bare source (measured).
func (pl *plan) sourceUnderFields(it *docItem, params []ask.Param) Outcome {
	params = endpoint.DropParam(params, "filter_path")
	// The first place is that of the endpoint: in a name there is no slash.
	target := strings.Replace(pl.m.Target([]string{it.name}, params), "/_source/", "/_doc/", 1)
	treat := sourceTreatment{get: getTreatment{answer: it.b.answer(), told: it.b.told()}, head: pl.m.Route.Answer == endpoint.Exists}
	out := pl.forward(target, pl.checkRead(it, params, treat))
	out.Forward.Method = "GET"
	return out
}

// oneDoc finds where the document of a get is read, and what binds it.
func (pl *plan) oneDoc() (*docItem, *ask.Rejection) {
	id, _ := pl.m.ID()
	it := &docItem{id: id}
	it.routing, _ = pl.param("routing")
	return it, pl.placeDoc(it, pl.whole())
}

// placeDoc finds the one index behind the name of a document.
func (pl *plan) placeDoc(it *docItem, j *judged) *ask.Rejection {
	if len(j.Allowed) != 1 {
		return pl.missing(j, writtenText(j.part.Exprs))
	}
	t := j.Allowed[0]
	if t.Kind == ask.DataStream { // for reads by id the clusters have no streams, however many indices they have
		return pl.missing(j, t.Name)
	}
	if len(t.Members) > 1 {
		return badRequest("[%s] has more than one index associated with it, can't execute a single index op", t.Name)
	}
	it.name, it.index = t.Name, t.Name
	if t.Kind == ask.Alias {
		if len(t.Members) == 0 {
			return pl.missing(j, t.Name)
		}
		it.index = t.Members[0]
		if !t.Filtered {
			it.name = it.index
		}
	}
	var rej *ask.Rejection
	if it.b, rej = pl.bind(j, false); rej != nil {
		return rej
	}
	if t.Kind == ask.Missing && (!it.b.free() || pl.s.policy.Ruled(pl.who)) {
		return pl.missing(j, t.Name) // it may come to exist before the cluster is asked, as an alias too
	}
	if t.Filtered {
		return pl.bindAlias(it, t, isRuled(j))
	}
	return nil
}

// bindAlias adds the filter of the alias that a document is read through.
func (pl *plan) bindAlias(it *docItem, t ask.Target, ruled bool) *ask.Rejection {
	through := pl.s.state.Bindings(ask.Resolved{Targets: []ask.Target{t}})[it.index]
	if len(through.Filters) == 0 {
		return nil // it carries a routing alone
	}
	f, rej := pl.s.anyFilter(through.Filters, ruled)
	if rej != nil {
		return rej
	}
	it.b.rules.Filter = dls.And(it.b.rules.Filter, f)
	it.b.bound = true
	return nil
}

// getBound reads a document that a rule binds.
func (pl *plan) getBound(it *docItem) Outcome {
	for _, name := range []string{"version", "version_type", "filter_path"} {
		if _, ok := pl.param(name); ok && !(name == "filter_path" && pl.asksSource()) { // see sourceUnderFields
			return reject(notBuilt("parameter [" + name + "] on a document under a document rule"))
		}
	}
	it.source, it.stored = pl.wishes()
	if pl.m.Route.Answer == endpoint.Exists {
		it.source = []byte("false")
	}
	read, out := pl.readDocs([]docItem{*it})
	if read == nil {
		return out
	}
	if f := read.failed[0]; f != nil {
		return reject(f.rejection(writtenText(pl.whole().part.Exprs)))
	}
	return Outcome{Kind: Local, Local: pl.getAnswer(read.docs[0], read.found[0], it)}
}

// wishes returns what the URL says about the parts of a document, as a search body
// takes it.
func (pl *plan) wishes() (source, stored []byte) {
	whole, given := pl.param("_source")
	includes, excludes := pl.paramList("_source_includes"), pl.paramList("_source_excludes")
	var w esjson.Writer
	switch {
	case given && whole == "false":
		source = []byte("false")
	case given && (whole == "true" || whole == "") && len(includes)+len(excludes) == 0:
		source = []byte("true")
	case given && whole != "true" && whole != "" && len(includes) == 0:
		includes = pl.paramList("_source")
		fallthrough
	case len(includes)+len(excludes) > 0:
		w.BeginObject()
		writeTexts(&w, "includes", includes)
		writeTexts(&w, "excludes", excludes)
		w.EndObject()
		source = w.Bytes()
	}
	if list := pl.paramList("stored_fields"); len(list) > 0 {
		var w esjson.Writer
		w.Texts(list)
		stored = w.Bytes()
	}
	return source, stored
}

// writeWishes writes them into a search or an item of a multi-get.
func writeWishes(w *esjson.Writer, source, stored []byte) {
	if source != nil {
		w.Key("_source")
		w.Raw(source)
	}
	if stored != nil {
		w.Key("stored_fields")
		w.Raw(stored)
	}
}

func writeTexts(w *esjson.Writer, key string, list []string) {
	if len(list) == 0 {
		return
	}
	w.Key(key)
	w.Texts(list)
}

// newRead makes a docRead with the options of the URL.
func (pl *plan) newRead(items []docItem) *docRead {
	d := &docRead{items: items, realtime: true}
	d.preference, _ = pl.param("preference")
	if v, ok := pl.param("realtime"); ok {
		d.realtime = v != "false"
	}
	if v, ok := pl.param("refresh"); ok {
		d.refresh = v != "false"
	}
	return d
}

// readDocs reads items of which some are bound, or returns what comes first: the calls
// of the next round, or a refusal.
func (pl *plan) readDocs(items []docItem) (*docsRead, Outcome) {
	d := pl.newRead(items)
	if len(pl.known.Answers) == 0 {
		return nil, pl.nextRound(d)
	}
	read, rej := pl.finishRead(d)
	switch {
	case rej == errRetry:
		return nil, pl.nextRound(d)
	case rej != nil:
		return nil, reject(rej)
	}
	return read, Outcome{}
}

func (pl *plan) nextRound(d *docRead) Outcome {
	calls, rej := d.needs(pl.known)
	if rej != nil {
		return reject(rej)
	}
	return Outcome{Kind: Need, Needs: calls}
}

// errRetry says that the index has to be refreshed once and read again.
var errRetry = &ask.Rejection{Public: "BUG: a retry is no answer"}

// finishRead reads the answers of the last round.
func (pl *plan) finishRead(d *docRead) (*docsRead, *ask.Rejection) {
	answers := pl.known.Answers
	n := len(answers)
	if n < firstRound {
		return nil, asRejection(fmt.Errorf("BUG: %d answers to two calls", n))
	}
	if refresh := n - firstRound - 1; refresh >= 0 && answers[refresh].Status >= 400 {
		return nil, upstreamFault(fmt.Errorf("cannot refresh: the cluster answered %d", answers[refresh].Status))
	}
	read, err := d.read(answers[n-2], answers[n-1])
	var failed *failedCall
	switch {
	case err == nil:
		return read, nil
	case errors.Is(err, errUnequal) && n <= firstRound+1:
		return nil, errRetry
	case errors.Is(err, errUnequal):
		return nil, &ask.Rejection{Status: 503, Type: "exception", Reason: ask.ReasonConflict, Public: "the document changes too fast to be read under a document rule; try again", Cause: err}
	case errors.As(err, &failed):
		return nil, upstreamFault(failed) // the reason could print the filter of any item
	default:
		return nil, upstreamFault(err)
	}
}

func upstreamFault(err error) *ask.Rejection {
	return &ask.Rejection{Status: 502, Type: "exception", Reason: ask.ReasonUpstream, Public: "the cluster's answer is not understood", Cause: err}
}

// getAnswer gives a document the form of the endpoint.
func (pl *plan) getAnswer(doc []byte, found bool, it *docItem) Answer {
	a := Answer{Status: 200, ContentType: jsonType, Body: doc}
	if !found {
		a.Status = 404
	}
	if pl.m.Route.Answer == endpoint.Exists {
		a.Body = nil
		return a
	}
	if pl.m.Route.Answer == endpoint.Source {
		return bareSource(a)
	}
	return a
}

// bareSource makes of the answer of a get what the endpoint for the source alone gives.
func bareSource(a Answer) Answer {
	var index, id string
	var source []byte
	what, of := "Document", ""
	scan := esjson.ScanObject(a.Body)
	for scan.Next() {
		switch string(scan.Key) {
		case "error":
			return a
		case "_index":
			index = textOf(scan.Value)
		case "_type":
			of = "/[" + textOf(scan.Value) + "]"
		case "_id":
			id = textOf(scan.Value)
		case "found":
			if string(scan.Value) == "true" {
				what = "Source"
			}
		case "_source":
			source = scan.Value
		}
	}
	if len(source) > 0 && source[0] == '{' {
		a.Body = source
		return a
	}
	a.Status, a.ContentType = 404, jsonType
	a.Body = ErrorBody(&ask.Rejection{Status: 404, Type: "resource_not_found_exception", Public: what + " not found [" + index + "]" + of + "/[" + id + "]"})
	return a
}

// existsUnderFields asks whether a document is there. It asks for none of its parts, which
// spares the cluster their reading and guard the check of their names.
func (pl *plan) existsUnderFields(it *docItem) Outcome {
	params := pl.q.Params
	for _, name := range []string{"_source_includes", "_source_excludes", "stored_fields"} {
		params = endpoint.DropParam(params, name)
	}
	return pl.forward(pl.m.Target([]string{it.name}, endpoint.SetParam(params, "_source", "false")), withoutLength{})
}

// withoutLength keeps status and headers of an answer to a HEAD. The cluster gives with
// them the length that the whole answer would have, which tells of its hidden parts.
type withoutLength struct{}

// Treat drops the body, and with it the length.
func (withoutLength) Treat(a Answer) (Answer, error) {
	a.Body = nil
	return a, nil
}

// getParams writes the parameters of a get under a field rule: what the URL wants of
// the document goes through the walker, as the same words in a body would.
func (pl *plan) getParams(it *docItem) ([]ask.Param, *ask.Rejection) {
	it.source, it.stored = pl.wishes()
	source, stored, rej := fieldWishes(it)
	if rej != nil {
		return nil, rej
	}
	params := pl.q.Params
	for _, name := range []string{"_source", "_source_includes", "_source_excludes", "stored_fields"} {
		params = endpoint.DropParam(params, name)
	}
	if params, rej = sourceParams(params, source); rej != nil {
		return nil, rej
	}
	return storedParams(params, stored, it.b.rules.Fields.StandIn())
}

// sourceParams adds which part of the source is wanted.
func sourceParams(params []ask.Param, wish []byte) ([]ask.Param, *ask.Rejection) {
	var tape esjson.Tape
	v, err := parseWish(&tape, wish)
	if err != nil {
		return nil, asRejection(err)
	}
	if v.Is(esjson.Bool) {
		return endpoint.SetParam(params, "_source", string(v.Raw())), nil
	}
	for key, list := range v.Members() {
		var rej *ask.Rejection
		if params, rej = setTexts(params, "_source_"+key, list); rej != nil {
			return nil, rej
		}
	}
	return params, nil
}

// storedParams adds which stored fields are wanted. If none of them is left it asks for
// standIn, since no list at all would mean the source.
func storedParams(params []ask.Param, wish []byte, standIn string) ([]ask.Param, *ask.Rejection) {
	var tape esjson.Tape
	v, err := parseWish(&tape, wish)
	if err != nil {
		return nil, asRejection(err)
	}
	if v.Is(esjson.Array) && v.Len() == 0 {
		return endpoint.SetParam(params, "stored_fields", standIn), nil
	}
	return setTexts(params, "stored_fields", v)
}

func parseWish(tape *esjson.Tape, wish []byte) (esjson.Value, error) {
	if wish == nil {
		return esjson.Value{}, nil
	}
	return esjson.Parse(tape, wish, esjson.RequestLimits())
}

// setTexts sets the parameter called name to the list of texts v, if there is one.
func setTexts(params []ask.Param, name string, v esjson.Value) ([]ask.Param, *ask.Rejection) {
	if v.Len() == 0 {
		return params, nil
	}
	texts := make([]string, 0, v.Len())
	for _, e := range v.Elements() {
		text := e.String()
		if strings.Contains(text, ",") {
			return nil, notBuilt("field [" + text + "] in parameter [" + name + "]: a comma in it")
		}
		texts = append(texts, text)
	}
	return endpoint.SetParam(params, name, strings.Join(texts, ",")), nil
}

// getTreatment filters a get answer; a missing document is no error.
type getTreatment struct {
	answer *fls.Answer
	told   told
}

// Treat filters the fields of the document.
func (t getTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 && a.Status != 404 {
		return t.told.error(a)
	}
	body, err := t.answer.AppendGet(make([]byte, 0, len(a.Body)), a.Body)
	if err != nil {
		return Answer{}, err
	}
	a.Body = body
	return a, nil
}

// sourceTreatment keeps the visible source of a get answer, or whether there is any.
type sourceTreatment struct {
	get  getTreatment
	head bool
}

// Treat filters the fields of the document.
func (t sourceTreatment) Treat(a Answer) (Answer, error) {
	a, err := t.get.Treat(a)
	if err != nil {
		return Answer{}, err
	}
	if a = bareSource(a); t.head {
		return withoutLength{}.Treat(a)
	}
	return a, nil
}
