package gate

import (
	"fmt"
	"slices"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/query"
)

// maxAdded bounds what the rules add to all searches of a request together: filters, names of
// indices, and of fields for patterns. One search may add a lot, and a small body holds many.
const maxAdded = 64 << 20 // 64 MiB; clusters take bodies of 100 MB

var errTooMuchAdded = &ask.Rejection{
	Status: 413, Type: "illegal_argument_exception", Reason: ask.ReasonTooLarge, Limit: ask.LimitItems,
	Public: fmt.Sprintf("what your rules add to the searches of this request takes more than %d bytes; send fewer at once, or name fewer fields and indices", maxAdded),
}

// planMsearch forwards the searches that are allowed and puts the refused ones back
// into their slots.
func (pl *plan) planMsearch() Outcome {
	urlRules := query.Rules{Filter: query.Free}
	if pl.s.policy.Ruled(pl.who) {
		urlRules.Filter = query.None // what shows rules or statistics is refused for the whole URL
	}
	params, err := query.CheckParams(query.MultiSearch, toQuery(pl.q.Params), &urlRules)
	if err != nil {
		return reject(refusedQuery(err))
	}
	treat := slotted{key: "responses", slots: make([]slot, len(pl.slots()))}
	pl.searched = new(query.Spent)
	var lines []byte
	for i := range pl.slots() {
		var rej *ask.Rejection
		if lines, rej = pl.appendSearch(lines, i, &treat.slots[i]); rej != nil {
			treat.slots[i].refused = ErrorBody(rej)
		}
		if len(lines) > len(pl.r.Body)+maxAdded {
			return reject(errTooMuchAdded)
		}
	}
	if len(lines) == 0 {
		return Outcome{Kind: Local, Local: treat.allRefused()}
	}
	kept := fromQuery(params.Keep)
	for _, name := range []string{"ignore_unavailable", "allow_no_indices", "expand_wildcards"} {
		kept = endpoint.DropParam(kept, name) // each header says them
	}
	if treat.active() {
		kept = endpoint.DropParam(kept, "filter_path") // see planBulk
	}
	if slices.ContainsFunc(treat.slots, func(s slot) bool { return s.everyShard }) {
		kept = askEveryShard(kept)
	}
	call := Call{
		Method: pl.r.Method, Target: endpoint.Target([]string{"_msearch"}, kept), Repeatable: true,
		Source: FixedBody, Body: lines, ContentType: "application/x-ndjson",
	}
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: call}}
	if treat.active() {
		out.Forward.Treat = &treat
	}
	return out
}

// appendSearch appends the two lines of the search in slot i, or says why not.
func (pl *plan) appendSearch(dst []byte, i int, s *slot) ([]byte, *ask.Rejection) {
	j := &pl.slots()[i]
	if j.rejection != nil {
		return dst, j.rejection
	}
	tape := esjson.BorrowTape()
	defer tape.Release()
	v, rej := pl.parseOn(tape, pl.asked.Searches[i].Body)
	if rej != nil {
		return dst, rej
	}
	var lines []byte
	_, b, rej := pl.reach(j, func(f forwarded, b *binding) (rej *ask.Rejection) {
		lines, rej = pl.appendLines(dst, pl.asked.Searches[i], v, f, b)
		return rej
	})
	if rej != nil {
		return dst, rej
	}
	s.treat, s.everyShard = b.treatSearch(asSearch), b.asksEveryShard(nil, lines[len(dst):])
	if _, ok := pl.param("filter_path"); ok && b.free() {
		s.treat = nil // it may leave out where hits are from, and would be lost by a look at them
	}
	return lines, nil
}

// appendLines appends a search of a multi-search whose body is v.
func (pl *plan) appendLines(dst []byte, search endpoint.Search, v esjson.Value, f forwarded, b *binding) ([]byte, *ask.Rejection) {
	pl.knowFields(b)
	search.Opts = f.opts
	if b.hides {
		search = search.WithoutHeader("search_type") // as in the URL of a search
	}
	dst = slices.Grow(dst, len(search.Body)+b.room())
	lines, err := query.AppendSearch(append(f.appendHeader(dst, search), '\n'), v, nil, &b.rules)
	if err != nil {
		return dst, refusedQuery(err)
	}
	return append(lines, '\n'), nil
}
