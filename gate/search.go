package gate

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"guard/authz"
	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
	"guard/internal/query"
)

// searchForm is what differs between a search and a count.
type searchForm struct {
	on     query.Endpoint
	append func(dst []byte, body esjson.Value, p *query.Params, r *query.Rules) ([]byte, error)
}

var (
	asSearch = searchForm{on: query.Search, append: query.AppendSearch}
	asCount  = searchForm{on: query.Count, append: query.AppendCount}
)

// planSearch forwards a search that can reach nothing but what was decided.
func (pl *plan) planSearch() Outcome { return pl.planSearching(asSearch) }

// planCount is planSearch for a count.
func (pl *plan) planCount() Outcome { return pl.planSearching(asCount) }

func (pl *plan) planSearching(form searchForm) Outcome {
	var params *query.Params
	var body []byte
	f, b, rej := pl.reach(pl.whole(), func(_ forwarded, b *binding) (rej *ask.Rejection) {
		params, body, rej = pl.searchBody(form, b)
		return rej
	})
	if rej != nil {
		return reject(rej)
	}
	if rej := pl.checkFilterPath(b); rej != nil {
		return reject(rej)
	}
	kept := fromQuery(params.Keep)
	if form.on == query.Search && b.asksEveryShard(kept, body) {
		kept = askEveryShard(kept)
	}
	if !f.fits(pl.s.settings.MaxUpstreamURI) {
		return pl.carried(form, f, kept, body, b)
	}
	call, rej := pl.call(pl.searchTarget(&f, kept))
	if rej != nil {
		return pl.carried(form, f, kept, body, b)
	}
	setBody(&call, body)
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, Treat: b.treatSearch(form)}}
}

// searchTarget returns the target of a search over the names of f.
func (pl *plan) searchTarget(f *forwarded, params []ask.Param) string {
	kind := len(params)
	if f.listed == nil || kind > 1 || kind == 1 && &params[0] != &everyShard[0] {
		return pl.m.Target(f.names, pl.indexParams(params, *f))
	}
	kept := &f.listed.targets[kind]
	kept.once.Do(func() { // a clone, since the request's own target would stay with all of its head
		kept.text = strings.Clone(pl.m.Target(f.names, pl.indexParams(params, *f)))
	})
	return kept.text
}

// asksEveryShard reports whether every shard has to run the search. Before it, or once
// one has answered, the cluster asks shards whether they can match and leaves out those
// that cannot; to sort by a field it puts them into an order, in which hits with equal
// values stand. Shards answer by the smallest and largest values that they hold, hidden
// documents included (measured on OpenSearch 2.19 and Elasticsearch 7.10). Where only the
// names of a request are bound, an index that comes to be meant matters for the order alone.
func (b *binding) asksEveryShard(params []ask.Param, body []byte) bool {
	return b.hides && (!b.rules.NamesOnly || bytes.Contains(body, []byte(`"sort"`)) ||
		slices.ContainsFunc(params, func(p ask.Param) bool { return p.Name == "sort" }))
}

// everyShard is what askEveryShard makes of no parameters. Nobody writes to it.
var everyShard = endpoint.SetParam(nil, "pre_filter_shard_size", "1000000")

// askEveryShard sets a parameter so high that the cluster never asks first.
func askEveryShard(params []ask.Param) []ask.Param {
	if len(params) == 0 {
		return everyShard
	}
	return endpoint.SetParam(params, "pre_filter_shard_size", "1000000")
}

// reach returns how the names of a search are forwarded and what binds it, once write has
// written it so. A search that can't be written because its names could come to mean
// other indices is written with the names of those that were decided.
func (pl *plan) reach(j *judged, write func(forwarded, *binding) *ask.Rejection) (forwarded, *binding, *ask.Rejection) {
	j, rej := pl.unaliased(j)
	if rej != nil {
		return forwarded{}, nil, rej
	}
	f, rej := pl.forwardNames(j)
	if rej != nil {
		return f, nil, rej
	}
	b, rej := pl.bind(j, f.open && !(f.alike && !hidesFields(j)))
	if rej != nil {
		return f, b, rej
	}
	rej = write(f, b)
	if !b.refusesNames(rej) {
		return f, b, rej
	}
	if j, rej = pl.withoutMissing(j); rej != nil {
		return f, b, rej
	}
	if f = pl.listNames(j, true); len(f.names) == 0 {
		f.names, f.opts.Expand = nothing, names.ExpandOpen
	}
	if b, rej = pl.bind(j, false); rej != nil {
		return f, b, rej
	}
	return f, b, write(f, b)
}

// hidesFields reports whether a field rule applies to any index of j.
func hidesFields(j *judged) bool {
	return slices.ContainsFunc(j.Groups, func(g authz.Group) bool { return g.Rules.HidesFields() })
}

// withoutMissing returns j without names that are missing, which could come to be aliases, or
// what the cluster says of one.
func (pl *plan) withoutMissing(j *judged) (*judged, *ask.Rejection) {
	missing := func(t ask.Target) bool { return t.Kind == ask.Missing }
	i := slices.IndexFunc(j.Allowed, missing)
	switch {
	case i < 0:
		return j, nil
	case !pl.ignoresMissing(j):
		return j, pl.missing(j, j.Allowed[i].Name)
	}
	return j.without(slices.DeleteFunc(slices.Clone(j.Allowed), missing)), nil
}

// refusesNames reports whether rej refuses what a filter does not bind that is there
// because names could come to mean other indices. Under b alone nothing is hidden.
func (b *binding) refusesNames(rej *ask.Rejection) bool {
	return rej != nil && rej.Reason == ask.ReasonRestricted && b.rules.NamesOnly
}

// searchBody parses the request's body and writes it anew under the rules of b.
func (pl *plan) searchBody(form searchForm, b *binding) (*query.Params, []byte, *ask.Rejection) {
	tape := esjson.BorrowTape()
	defer tape.Release()
	var body esjson.Value
	if len(pl.q.Body) > 0 {
		var rej *ask.Rejection
		if body, rej = pl.parseOn(tape, pl.q.Body); rej != nil {
			return nil, nil, rej
		}
	}
	pl.knowFields(b)
	params, err := query.CheckParams(form.on, toQuery(pl.q.Params), &b.rules)
	if err != nil {
		return nil, nil, refusedQuery(err)
	}
	var dst []byte
	if len(pl.q.Body) > 0 || !b.free() {
		dst = make([]byte, 0, len(pl.q.Body)+b.room())
	}
	out, err := form.append(dst, body, params, &b.rules)
	if err != nil {
		return nil, nil, refusedQuery(err)
	}
	return params, out, nil
}

// knowFields has a search written with the time, and with what is known of the fields of its
// indices.
func (pl *plan) knowFields(b *binding) {
	b.rules.Seed, b.rules.All = pl.r.Now.UnixNano(), pl.searched
	known := b.known
	if !known.found {
		known = pl.s.knownOf(b)
	}
	b.rules.Computed, b.rules.Thinned = known.computed, known.thinned
	if b.rules.Filter != query.Free {
		b.mapped = mappedIn{pl.s, b.alike}
		b.rules.Mapped = &b.mapped
	}
}

// knownFields is what has to be known of the fields of some indices to search them under
// a rule.
type knownFields struct {
	found             bool
	computed, thinned []string
}

func (s *Snapshot) knownOf(b *binding) knownFields {
	if !b.bound {
		return knownFields{found: true}
	}
	return knownFields{found: true, computed: s.computedIn(b.alike), thinned: s.thinnedIn(b.alike)}
}

// room is about what the rules of b add to the body of a search.
func (b *binding) room() int { return len(b.rules.Filter) + 128 }

// parse reads a JSON body strictly.
func (pl *plan) parse(body []byte) (esjson.Value, *ask.Rejection) {
	return pl.parseOn(new(esjson.Tape), body)
}

// parseOn is parse for a value that is needed no longer than the tape.
func (pl *plan) parseOn(tape *esjson.Tape, body []byte) (esjson.Value, *ask.Rejection) {
	lim := esjson.RequestLimits()
	lim.MaxDepth = pl.s.settings.MaxDepth
	v, err := esjson.Parse(tape, body, lim)
	if err != nil {
		rej := &ask.Rejection{Status: 400, Type: "parse_exception", Public: err.Error(), Reason: ask.ReasonBadRequest}
		if errors.Is(err, esjson.ErrTooDeep) {
			rej.Limit = ask.LimitDepth
		}
		return v, rej
	}
	return v, nil
}

func setBody(c *Call, body []byte) {
	if len(body) > 0 {
		c.Source, c.Body, c.ContentType = FixedBody, body, "application/json"
	}
}

// checkFilterPath refuses filter_path where the answer has to be filtered hit by hit
// and the hits could no longer say where they come from, or where guard alone takes
// hidden fields out and what it leaves empty would tell of them.
func (pl *plan) checkFilterPath(b *binding) *ask.Rejection {
	if _, ok := pl.param("filter_path"); !ok || b.views == nil {
		return nil
	}
	for _, v := range b.views {
		if b.single() == nil || !b.narrowed || v.HasNested() && slices.ContainsFunc(pl.paramList("filter_path"), mayPickNested) {
			return notBuilt("parameter [filter_path] over indices with different field rules or nested documents, or under a field rule with a regular expression, [?] or [,]")
		}
	}
	return nil
}

// mayPickNested reports whether an element of filter_path could pick parts of hits that
// are nested documents: those of inner hits and of aggregations.
func mayPickNested(path string) bool {
	return strings.ContainsAny(path, "*-") || strings.Contains(path, "inner_hits") || strings.Contains(path, "aggregations")
}

// The parameters of a search that a multi-search takes as well: in its header line,
// or in its URL.
var (
	headerParams = []string{"preference", "routing", "search_type", "allow_partial_search_results", "request_cache"}
	carrierURL   = []string{"rest_total_hits_as_int", "typed_keys", "pre_filter_shard_size", "max_concurrent_shard_requests", "pretty", "human"}
)

// carried sends a search whose names do not fit into a request line as the only item
// of a multi-search, whose header has no limit (measured). What cannot travel that
// way is refused.
func (pl *plan) carried(form searchForm, f forwarded, params []ask.Param, body []byte, b *binding) Outcome {
	if form.on != query.Search {
		return reject(tooLong())
	}
	var inURL []ask.Param
	search := endpoint.Search{Opts: f.opts}
	for _, p := range params {
		switch {
		case pl.m.Kind(p.Name) == endpoint.IndexOption: // stands in the options
		case slices.Contains(headerParams, p.Name):
			search.SetHeader(p.Name, p.Value)
		case slices.Contains(carrierURL, p.Name):
			inURL = append(inURL, p)
		default:
			return reject(tooLong())
		}
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	lines := append(append(append(f.appendHeader(nil, search), '\n'), body...), '\n')
	call := Call{
		Method: "POST", Target: endpoint.Target([]string{"_msearch"}, inURL), Repeatable: true,
		Source: FixedBody, Body: lines, ContentType: "application/x-ndjson",
	}
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, Treat: unwrap{inner: b.treatSearch(form)}}}
}
