package plugin

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Request is one request of a user, as "METHOD PATH BODY". Before is done by the
// chief on both clusters, Undo by him where it may have changed anything.
type Request struct {
	Kind   string
	Line   string
	Before []string
	Undo   []string
}

// expression writes an index expression by chance: names that exist or don't,
// wildcards, exclusions.
func expression(r *rand.Rand) string {
	names := slices.Concat(indexNames, aliasNames, streamNames, missing, []string{".ds-st-a-000001"})
	wildcards := []string{"*", "a*", "b*", "*-1", "log-*", "al-*", "st-*", "day-*", "*1", ".d*", "zz*", "nosuch*", "_all", "<day-{now/d}>", "<log-{now/d}>", ".sys*", "u*"}
	parts := []string{pick(r, names)}
	if r.IntN(2) == 0 {
		parts[0] = pick(r, wildcards)
	}
	for r.IntN(3) == 0 {
		parts = append(parts, pick(r, slices.Concat(names, wildcards[:12])))
	}
	if len(parts) > 0 && r.IntN(6) == 0 {
		parts = append(parts, "-"+pick(r, []string{"a1", "a*", "log-*", "al-a", "b1", "*-1", "nosuch", "st-a"}))
	}
	if r.IntN(40) == 0 {
		parts = append(parts, "other:a1")
	}
	return strings.Join(parts, ",")
}

// at puts an expression before the rest of a path; an empty one is left out.
func at(expr, rest string) string {
	if expr == "" {
		return rest
	}
	list := strings.Split(expr, ",")
	for i := range list {
		list[i] = url.PathEscape(list[i])
	}
	return "/" + strings.Join(list, ",") + rest
}

// options writes index options by chance, with a leading ? or &.
func options(r *rand.Rand, sep string) string {
	var list []string
	if r.IntN(4) == 0 {
		list = append(list, "ignore_unavailable=true")
	}
	if r.IntN(7) == 0 {
		list = append(list, "allow_no_indices=false")
	}
	if r.IntN(7) == 0 {
		list = append(list, "expand_wildcards="+pick(r, []string{"open", "closed", "open,hidden", "all", "none", "open,closed"}))
	}
	if len(list) == 0 {
		return ""
	}
	return sep + strings.Join(list, "&")
}

// one is a single name.
func one(r *rand.Rand) string {
	return pick(r, slices.Concat(indexNames, indexNames, aliasNames, streamNames, missing))
}

// NewRequest makes a request by chance.
func NewRequest(r *rand.Rand) Request {
	kind := pick(r, kinds)
	req := kind.make(r)
	req.Kind = kind.name
	return req
}

type kindOf struct {
	name string
	make func(*rand.Rand) Request
}

// kinds lists what is asked; a kind that stands there twice is asked twice as often.
var kinds = slices.Concat(reads, reads, writeKinds, names)

func line(format string, args ...any) Request { return Request{Line: fmt.Sprintf(format, args...)} }

func maybeExpression(r *rand.Rand) string {
	if r.IntN(8) == 0 {
		return ""
	}
	return expression(r)
}

var reads = []kindOf{
	{"search", func(r *rand.Rand) Request {
		return line("GET %s%s", at(maybeExpression(r), "/_search?size=100"), options(r, "&"))
	}},
	{"search", func(r *rand.Rand) Request {
		return line("POST %s%s %s", at(maybeExpression(r), "/_search"), options(r, "?"),
			pick(r, []string{`{"size":100,"query":{"term":{"team":"red"}}}`, `{"size":0,"aggs":{"i":{"terms":{"field":"_index","size":50}}}}`, `{"size":100,"sort":["n"],"_source":["n","secret"]}`}))
	}},
	{"count", func(r *rand.Rand) Request {
		return line("GET %s%s", at(maybeExpression(r), "/_count"), options(r, "?"))
	}},
	{"msearch", msearch},
	{"mget", mget},
	{"get", func(r *rand.Rand) Request {
		name := one(r)
		return line("GET %s", at(name, "/_doc/"+idFor(r, name)))
	}},
	{"exists", func(r *rand.Rand) Request {
		name := one(r)
		return line("HEAD %s", at(name, "/_doc/"+idFor(r, name)))
	}},
	{"source", func(r *rand.Rand) Request {
		name := one(r)
		return line("GET %s", at(name, "/_source/"+idFor(r, name)))
	}},
	{"field_caps", func(r *rand.Rand) Request {
		return line("GET %s%s", at(maybeExpression(r), "/_field_caps?fields=n,team"), options(r, "&"))
	}},
}

// idFor is the id of a document that may be there.
func idFor(r *rand.Rand, name string) string {
	if slices.Contains(aliasNames, name) {
		name = pick(r, []string{"a1", "a2", "log-1"})
	}
	return fmt.Sprintf("%s-%d", name, r.IntN(3))
}

func msearch(r *rand.Rand) Request {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		header := "{}"
		if r.IntN(6) > 0 {
			list := strings.Split(expression(r), ",")
			header = fmt.Sprintf(`{"index":["%s"]`, strings.Join(list, `","`))
			if r.IntN(4) == 0 {
				header += `,"ignore_unavailable":true`
			}
			header += "}"
		}
		b.WriteString(header + "\n" + `{"size":100}` + "\n")
	}
	return line("POST %s %s", pick(r, []string{"/_msearch", "/_msearch", "/a1/_msearch"}), b.String())
}

func mget(r *rand.Rand) Request {
	var docs []string
	for range 1 + r.IntN(4) {
		name := one(r)
		docs = append(docs, fmt.Sprintf(`{"_index":%q,"_id":%q}`, name, idFor(r, name)))
	}
	return line(`POST /_mget {"docs":[%s]}`, strings.Join(docs, ","))
}

// written returns what takes back the writing of a document.
func written(name, id string) []string { return []string{restore + name + " " + id} }

var writeKinds = []kindOf{
	{"index", func(r *rand.Rand) Request {
		name := one(r)
		req := line(`PUT %s {"n":1,"team":"red"%s}`, at(name, "/_doc/new?refresh=true"), pick(r, []string{"", "", `,"new_field":1`}))
		req.Undo = written(name, "new")
		return req
	}},
	{"create", func(r *rand.Rand) Request {
		name := one(r)
		req := line(`PUT %s {"n":1,"team":"red","@timestamp":"2026-01-01T00:00:00Z"}`, at(name, "/_create/new?refresh=true"))
		req.Undo = written(name, "new")
		return req
	}},
	{"update", func(r *rand.Rand) Request {
		name := one(r)
		id := idFor(r, name)
		req := line(`POST %s {"doc":{"n":77}%s}`, at(name, "/_update/"+id), pick(r, []string{"", `,"doc_as_upsert":true`}))
		req.Undo = written(name, id)
		return req
	}},
	{"delete", func(r *rand.Rand) Request {
		name := one(r)
		id := idFor(r, name)
		req := line("DELETE %s", at(name, "/_doc/"+id+"?refresh=true"))
		req.Undo = written(name, id)
		return req
	}},
	{"bulk", bulk},
	{"bulk", bulk},
}

// realias puts all aliases as they were.
const realias = "realias"

// restore and then the name of an index and an id puts a document as it was.
const restore = "restore "

// UndoIn returns the steps that take a request back in a world.
func (q Request) UndoIn(w World) []string {
	var steps []string
	for _, step := range q.Undo {
		what, isRestore := strings.CutPrefix(step, restore)
		switch {
		case step == realias:
			steps = append(steps, w.aliasSteps()...)
		case !isRestore:
			steps = append(steps, step)
		default:
			steps = append(steps, w.restored(strings.Fields(what))...)
		}
	}
	return steps
}

// restored returns the steps that make a document what it is in the world. What has the
// name of no index of the world may be one that the request made.
func (w World) restored(doc []string) []string {
	name, id := doc[0], doc[1]
	x, isIndex := w.Indices[name]
	n, err := strconv.Atoi(strings.TrimPrefix(id, name+"-"))
	switch {
	case slices.Contains(streamNames, name) && slices.Contains(w.Streams, name):
		return []string{"DELETE /.ds-" + name + "-000002/_doc/" + id + "?refresh=true"}
	case len(w.Aliases[name].Members) == 1:
		return w.restored([]string{w.Aliases[name].Members[0], id})
	case slices.Contains(streamNames, name):
		return []string{"DELETE /_data_stream/" + name}
	case !isIndex && w.Aliases[name].Members == nil:
		return []string{"DELETE " + at(name, "")}
	case isIndex && err == nil && n < x.Docs:
		return []string{"PUT " + at(name, "/_doc/"+id+"?refresh=true") + " " + document(name, n)}
	}
	return []string{"DELETE " + at(name, "/_doc/"+id+"?refresh=true")}
}

func bulk(r *rand.Rand) Request {
	var b strings.Builder
	var undo []string
	for n := range 1 + r.IntN(5) {
		name, id := one(r), fmt.Sprintf("new%d", n)
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "{\"index\":{\"_index\":%q,\"_id\":%q}}\n{\"n\":1}\n", name, id)
		case 1:
			fmt.Fprintf(&b, "{\"create\":{\"_index\":%q,\"_id\":%q}}\n{\"n\":1,\"@timestamp\":\"2026-01-01T00:00:00Z\"}\n", name, id)
		case 2:
			fmt.Fprintf(&b, "{\"delete\":{\"_index\":%q,\"_id\":%q}}\n", name, id)
		case 3:
			fmt.Fprintf(&b, "{\"update\":{\"_index\":%q,\"_id\":%q}}\n{\"doc\":{\"n\":1},\"doc_as_upsert\":true}\n", name, id)
		}
		undo = append(undo, written(name, id)...)
	}
	req := line("POST %s %s", pick(r, []string{"/_bulk?refresh=true", "/a1/_bulk?refresh=true"}), b.String())
	req.Undo = undo
	return req
}

var names = []kindOf{
	{"create_index", func(r *rand.Rand) Request {
		name := pick(r, append(missing, "a1", "al-ab"))
		aliases := pick(r, []string{"", `,"aliases":{"al-new":{}}`, `,"aliases":{"a-new":{}}`, `,"aliases":{"al-ab":{}}`})
		req := line(`PUT %s {"settings":{"number_of_shards":1,"number_of_replicas":0}%s}`, at(name, ""), aliases)
		req.Undo = written(name, "new") // which may be no index of the world
		return req
	}},
	{"delete_index", func(r *rand.Rand) Request {
		req := line("DELETE %s%s", at(pick(r, []string{"a8", "log-8", "a8,log-8", "*8", "log-8,nosuch", "a8*", "al-8"}), ""), options(r, "?"))
		req.Before = []string{`PUT /a8 {"settings":{"number_of_shards":1,"number_of_replicas":0}}`, `PUT /log-8 {"settings":{"number_of_shards":1,"number_of_replicas":0},"aliases":{"al-8":{}}}`}
		req.Undo = []string{"DELETE /a8", "DELETE /log-8"}
		return req
	}},
	{"aliases", func(r *rand.Rand) Request {
		index := pick(r, append(slices.Clone(indexNames), "a*", "log-*", "al-a", "nosuch"))
		alias := pick(r, append(newAliases, "al-ab"))
		more := pick(r, []string{"", "", `,{"remove_index":{"index":"a8"}}`, `,{"remove":{"index":"a1","alias":"al-a"}}`})
		req := line(`POST /_aliases {"actions":[{"add":{"index":%q,"alias":%q}}%s]}`, index, alias, more)
		req.Before = []string{`PUT /a8 {"settings":{"number_of_shards":1,"number_of_replicas":0}}`}
		req.Undo = []string{"DELETE /a8", realias}
		return req
	}},
	{"put_alias", func(r *rand.Rand) Request {
		req := line("PUT %s", at(pick(r, indexNames), "/_alias/"+pick(r, newAliases[:2])))
		req.Undo = []string{realias}
		return req
	}},
	{"delete_alias", func(r *rand.Rand) Request {
		req := line("DELETE %s", at(pick(r, append(slices.Clone(indexNames), "a*", "*")), "/_alias/"+pick(r, append(slices.Clone(aliasNames), "al-*", "*", "nosuch"))))
		req.Undo = []string{realias}
		return req
	}},
	{"get_alias", func(r *rand.Rand) Request {
		if r.IntN(3) == 0 {
			return line("GET /_alias/%s", pick(r, append(slices.Clone(aliasNames), "al-*", "*", "nosuch", "a*")))
		}
		return line("GET %s%s", at(expression(r), "/_alias"), options(r, "?"))
	}},
	{"get_mapping", func(r *rand.Rand) Request {
		return line("GET %s%s", at(maybeExpression(r), "/_mapping"), options(r, "?"))
	}},
	{"get_index", func(r *rand.Rand) Request { return line("GET %s%s", at(expression(r), ""), options(r, "?")) }},
	{"exists_index", func(r *rand.Rand) Request { return line("HEAD %s%s", at(expression(r), ""), options(r, "?")) }},
	{"refresh", func(r *rand.Rand) Request {
		return line("POST %s%s", at(maybeExpression(r), "/_refresh"), options(r, "?"))
	}},
	{"cat_indices", func(r *rand.Rand) Request {
		return line("GET /_cat/indices%s%s", at(maybeExpression(r), ""), "?h=index&s=index"+options(r, "&"))
	}},
	{"resolve", func(r *rand.Rand) Request {
		return line("GET /_resolve/index%s%s", at(expression(r), ""), pick(r, []string{"", "", "?expand_wildcards=all"}))
	}},
	{"not_built", func(r *rand.Rand) Request {
		return line("%s", pick(r, []string{"GET /_settings", "POST /al-one/_rollover?dry_run=true", "GET /_cat/aliases", "GET /a1/_stats", "GET /_cluster/state/version"}))
	}},
}
