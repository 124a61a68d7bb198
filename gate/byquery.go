package gate

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
	"guard/internal/query"
)

// planByQuery forwards a request to delete, or to index again, what a query finds. The cluster searches and
// writes by itself, so there is no answer by which a document could be told from one that
// is hidden: whoever is bound by a rule on any of the indices is refused. For everybody
// else the query and the names are written as those of a search.
func (pl *plan) planByQuery() Outcome {
	if pl.m.Route.Targets == endpoint.ReindexBody {
		return pl.planReindex()
	}
	j := pl.whole()
	if rej := pl.mayWriteFound(j); rej != nil {
		return reject(rej)
	}
	own, search := pl.splitByQuery()
	var kept []ask.Param
	var body []byte
	f, b, rej := pl.reach(j, func(_ forwarded, b *binding) (rej *ask.Rejection) {
		kept, body, rej = pl.byQueryBody(b, own, search)
		return rej
	})
	if rej != nil {
		return reject(rej)
	}
	call, rej := pl.call(pl.m.Target(f.names, pl.indexParams(kept, f)))
	if rej != nil {
		return reject(rej)
	}
	setBody(&call, body)
	treat := treatByQuery(f, b)
	treat.written = treat.granted
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: call, Treat: treat}}
	if pl.m.Route.ChangesState {
		out.Forward.ChangesState = always
	}
	return out
}

// mayWriteFound says why what a search of j finds may not be written or removed.
func (pl *plan) mayWriteFound(j *judged) *ask.Rejection {
	switch {
	case j.bound():
		return restricted("[%s] is refused where a document, field or mask rule binds you on any of the indices", pl.m.Route.ID)
	case len(j.Remote) > 0:
		return badRequest("[%s] cannot name an index of another cluster: [%s]", pl.m.Route.ID, writtenText(j.part.Exprs))
	case slices.ContainsFunc(concrete(j), pl.s.storesQueries):
		return notBuilt("a write to an index with stored queries (percolator)")
	}
	return pl.checkByQueryParams()
}

// byQueryOwn are the parameters that say how the work is done. Others are those of a search.
var byQueryOwn = []string{
	"conflicts", "max_docs", "pipeline", "refresh", "requests_per_second", "scroll_size", "slices", "timeout",
	"wait_for_active_shards", "wait_for_completion",
}

// The values that byQueryOwn may have, where the endpoint has not looked at them.
var byQueryValues = map[string]*regexp.Regexp{
	"conflicts":           regexp.MustCompile(`^(abort|proceed)$`),
	"max_docs":            regexp.MustCompile(`^[1-9][0-9]{0,8}$`),
	"requests_per_second": regexp.MustCompile(`^(-1|[0-9]{1,9}(\.[0-9]{1,9})?)$`),
	"scroll_size":         regexp.MustCompile(`^[1-9][0-9]{0,8}$`),
	"slices":              regexp.MustCompile(`^(auto|[1-9][0-9]{0,8})$`),
}

// wholeMembers may be chosen by filter_path. The others say of failures where they were.
var wholeMembers = []string{
	"took", "timed_out", "total", "created", "updated", "deleted", "batches", "noops", "version_conflicts", "retries", "failures",
}

func (pl *plan) checkByQueryParams() *ask.Rejection {
	for _, p := range pl.q.Params {
		if rej := checkByQueryValue(p.Name, p.Value); rej != nil {
			return rej
		}
		if p.Name == "wait_for_completion" && p.Value == "false" {
			return notBuilt("parameter [wait_for_completion] with the value false, which makes a task,") // a handle
		}
	}
	for _, path := range pl.paramList("filter_path") {
		if !slices.Contains(wholeMembers, path) {
			return notBuilt("parameter [filter_path] of [" + pl.m.Route.ID + "] with other elements than " + strings.Join(wholeMembers, ", "))
		}
	}
	return nil
}

func checkByQueryValue(name, value string) *ask.Rejection {
	if form := byQueryValues[name]; form != nil && !form.MatchString(value) {
		return badRequest("cannot use [%s] as [%s]; want %s", names.Clip(value), name, form)
	}
	return nil
}

// splitByQuery parts the parameters of the work from those of its search.
func (pl *plan) splitByQuery() (own, search []ask.Param) {
	for _, p := range pl.q.Params {
		if slices.Contains(byQueryOwn, p.Name) {
			own = append(own, p)
		} else {
			search = append(search, p)
		}
	}
	return own, search
}

// byQueryBody writes the query under the rules of b, and returns the parameters that go
// with it: what the body says of the work goes there too.
func (pl *plan) byQueryBody(b *binding, own, search []ask.Param) ([]ask.Param, []byte, *ask.Rejection) {
	tape := esjson.BorrowTape()
	defer tape.Release()
	var asked, body esjson.Value
	if len(pl.q.Body) > 0 {
		var rej *ask.Rejection
		if asked, rej = pl.parseOn(tape, pl.q.Body); rej != nil {
			return nil, nil, rej
		}
		var rest []byte
		if own, rest, rej = splitWork(asked, slices.Clone(own)); rej != nil {
			return nil, nil, rej
		}
		if body, rej = pl.parse(rest); rej != nil {
			return nil, nil, rej
		}
	}
	if rej := pl.needsQuery(body); rej != nil {
		return nil, nil, rej
	}
	pl.knowFields(b)
	params, err := query.CheckParams(query.Count, toQuery(search), &b.rules)
	if err != nil {
		return nil, nil, refusedQuery(err)
	}
	out, err := query.AppendCount(nil, body, params, &b.rules)
	if err != nil {
		return nil, nil, refusedQuery(err)
	}
	return append(fromQuery(params.Keep), own...), out, nil
}

// needsQuery is the cluster's refusal of a deletion without a query. It has to come before
// a filter takes the place of the query: that would delete all.
func (pl *plan) needsQuery(body esjson.Value) *ask.Rejection {
	if _, ok := pl.param("q"); ok || pl.m.Route.ID != "delete_by_query" {
		return nil
	}
	if _, ok := body.Lookup("query"); ok {
		return nil
	}
	return &ask.Rejection{
		Status: 400, Type: "action_request_validation_exception", Reason: ask.ReasonBadRequest,
		Public: "Validation Failed: 1: query is missing;",
	}
}

// otherWork are keys that the cluster takes and that nothing here looks into.
var otherWork = []string{"script", "size", "slice", "sort", "_source", "pipeline"}

// splitWork takes what a body says of the work out of it, and adds it to the parameters.
func splitWork(body esjson.Value, own []ask.Param) ([]ask.Param, []byte, *ask.Rejection) {
	if !body.Is(esjson.Object) {
		return nil, nil, badRequest("cannot use %s as request body; want an object", body.Kind())
	}
	var w esjson.Writer
	w.BeginObject()
	for key, v := range body.Members() {
		switch {
		case key == "conflicts", key == "max_docs":
			var rej *ask.Rejection
			if own, rej = addWork(own, key, v); rej != nil {
				return nil, nil, rej
			}
		case slices.Contains(otherWork, key):
			return nil, nil, notBuilt("[" + key + "] in the body")
		default: // whoever writes the query refuses all others by name
			w.Key(key)
			w.Value(v)
		}
	}
	w.EndObject()
	return own, w.Bytes(), nil
}

// addWork adds what the body says under key to the parameters of the work.
func addWork(own []ask.Param, key string, v esjson.Value) ([]ask.Param, *ask.Rejection) {
	if slices.ContainsFunc(own, func(p ask.Param) bool { return p.Name == key }) {
		return nil, badRequest("[%s] stands in the body and in the URL; want it once", key)
	}
	var text string
	switch {
	case key == "conflicts" && v.Is(esjson.String):
		text = v.String()
	case key == "max_docs" && v.Is(esjson.Number):
		text = string(v.Raw())
	default:
		return nil, badRequest("cannot use %s as [%s]; want a text for conflicts, a number for max_docs", v.Kind(), key)
	}
	if rej := checkByQueryValue(key, text); rej != nil {
		return nil, rej
	}
	return append(own, ask.Param{Name: key, Value: text, HasValue: true}), nil
}

// byQueryTreatment passes on what was done. A failure in an index that was not granted
// would mean that a name has come to mean something else: then nobody says what was done.
type byQueryTreatment struct {
	bound bool // the query holds a filter that is not the client's
	told  told
	// granted and written know the indices that are searched and written to; nil where
	// whatever the names can mean is granted.
	granted, written func(index string) bool
}

func treatByQuery(f forwarded, b *binding) byQueryTreatment {
	t := byQueryTreatment{bound: b.bound, told: b.told()}
	if !f.alike {
		t.granted = b.reaches
	}
	return t
}

// Treat looks at failures and errors.
func (t byQueryTreatment) Treat(a Answer) (Answer, error) {
	if a.Status < 400 && !bytes.Contains(a.Body, []byte(`"failures"`)) {
		return a, nil
	}
	v, err := parseAnswer(new(esjson.Tape), a)
	if err != nil {
		return Answer{}, err
	}
	failures, done := v.Lookup("failures")
	if !done {
		if t.bound {
			return t.told.error(a)
		}
		return a, nil
	}
	for _, f := range failures.Elements() {
		granted := t.granted
		if _, ofDocument := f.Lookup("id"); ofDocument {
			granted = t.written
		}
		index, named := f.Lookup("index")
		if named && granted != nil && !granted(index.String()) {
			return Answer{}, fmt.Errorf("cannot read the cluster's answer: it has a failure in index %q, which was not asked for", index.String())
		}
	}
	if t.bound {
		return t.told.failures(a)
	}
	return a, nil
}
