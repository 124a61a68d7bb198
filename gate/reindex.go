package gate

import (
	"slices"
	"strings"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/query"
)

// planReindex forwards a copy of what a query finds in some indices to another one. Whoever
// may read the source and write the destination may copy; where a rule binds him on either
// he may not: what he copies would be free of it, or write over what it hides.
func (pl *plan) planReindex() Outcome {
	source, dest := pl.judgedPart(endpoint.ReindexSource), pl.judgedPart(endpoint.ReindexDest)
	if rej := pl.mayWriteFound(source); rej != nil {
		return reject(rej)
	}
	into, rej := pl.destination(dest)
	if rej != nil {
		return reject(rej)
	}
	var body []byte
	f, b, rej := pl.reach(source, func(f forwarded, b *binding) (rej *ask.Rejection) {
		body, rej = pl.reindexBody(f, b, into)
		return rej
	})
	if rej != nil {
		return reject(rej)
	}
	call, rej := pl.call(pl.m.TargetAsNamed(pl.q.Params))
	if rej != nil {
		return reject(rej)
	}
	setBody(&call, body)
	treat := treatByQuery(f, b)
	treat.written = writtenTo(dest.Allowed[0])
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, Treat: treat, ChangesState: always}}
}

// destination returns the name that is written to. An alias can come to lead elsewhere while
// the copy runs, so only an index or a stream is taken.
func (pl *plan) destination(j *judged) (string, *ask.Rejection) {
	if len(j.Allowed) != 1 {
		return "", pl.missing(j, writtenText(j.part.Exprs))
	}
	t := &j.Allowed[0]
	switch {
	case j.bound():
		return "", restricted("[reindex] is refused where a document, field or mask rule binds you on the destination")
	case t.Kind == ask.Alias:
		return "", notBuilt("an alias as the destination of a [reindex]")
	case slices.ContainsFunc(t.Members, pl.s.storesQueries):
		return "", notBuilt("a write to an index with stored queries (percolator)")
	}
	return t.Name, nil
}

// writtenTo knows the indices that documents for t may be written to: of a stream also the
// one that takes them next.
func writtenTo(t ask.Target) func(index string) bool {
	return func(index string) bool {
		return index == t.Name || slices.Contains(t.Members, index) ||
			t.Kind == ask.DataStream && strings.HasPrefix(index, ".ds-"+t.Name+"-")
	}
}

// reindexBody writes the body with the names that were decided and the query under the
// rules of b. The search of a reindex has no options for its names.
func (pl *plan) reindexBody(f forwarded, b *binding, into string) ([]byte, *ask.Rejection) {
	r := &pl.asked.Reindex
	filtered, rej := pl.sourceQuery(b, r.Query)
	if rej != nil {
		return nil, rej
	}
	var w esjson.Writer
	w.BeginObject()
	w.Key("source")
	w.BeginObject()
	writeTexts(&w, "index", f.names)
	for key, v := range filtered.Members() {
		w.Key(key)
		w.Value(v)
	}
	writeGiven(&w, "size", r.Size)
	writeGiven(&w, "_source", r.Fields)
	w.EndObject()
	w.Key("dest")
	w.BeginObject()
	w.Key("index")
	w.Text(into)
	for key, v := range r.Dest.Members() {
		if key != "index" {
			w.Key(key)
			w.Value(v)
		}
	}
	w.EndObject()
	writeGiven(&w, "conflicts", r.Conflicts)
	writeGiven(&w, "max_docs", r.MaxDocs)
	w.EndObject()
	return w.Bytes(), nil
}

func writeGiven(w *esjson.Writer, key string, v esjson.Value) {
	if !v.Is(esjson.Invalid) {
		w.Key(key)
		w.Value(v)
	}
}

// sourceQuery returns an object with the query of a reindex under the rules of b, if there
// is any.
func (pl *plan) sourceQuery(b *binding, asked esjson.Value) (esjson.Value, *ask.Rejection) {
	var w esjson.Writer
	w.BeginObject()
	writeGiven(&w, "query", asked)
	w.EndObject()
	body, rej := pl.parse(w.Bytes())
	if rej != nil {
		return body, rej
	}
	pl.knowFields(b)
	params, err := query.CheckParams(query.Count, nil, &b.rules)
	if err != nil {
		return body, refusedQuery(err)
	}
	out, err := query.AppendCount(nil, body, params, &b.rules)
	if err != nil {
		return body, refusedQuery(err)
	}
	return pl.parse(out)
}
