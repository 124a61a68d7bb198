package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// A part is what differs by itself: a slot of a multi-search, a document of a
// multi-get, an item of a bulk, or the whole answer.
type part struct {
	d             *Difference
	expr          []string // the names that it is about; none: all indices
	query         string   // of the URL, and of a slot its header
	guard, plugin told
}

// told is what one side says to a part.
type told struct {
	status int
	kind   string // type of the error, or its shape if the answer has no type; empty without
	reason string
	shown  map[string]any
}

func (t told) refused() bool { return t.status == 403 || t.kind == "security_exception" }

// parts returns what differs.
func (d *Difference) parts() []part {
	g, p := items(d.Guard), items(d.Plugin)
	if len(g) == 0 || len(g) != len(p) {
		return []part{{d: d, expr: pathExpr(d.Line), query: queryOf(d.Line), guard: whole(d.Guard), plugin: whole(d.Plugin)}}
	}
	exprs, headers := slotExprs(d.Kind, d.Line)
	var list []part
	for slot := range g {
		if text(g[slot]) == text(p[slot]) {
			continue
		}
		if name, ok := g[slot]["_index"].(string); ok {
			exprs[slot] = []string{name}
		}
		list = append(list, part{d: d, expr: exprs[slot], query: headers[slot], guard: ofItem(g[slot]), plugin: ofItem(p[slot])})
	}
	return list
}

func whole(o Outcome) told {
	kind, _, _ := strings.Cut(o.Shape, ",")
	shown, _ := o.Shown.(map[string]any)
	return told{o.Status, kind, o.Reason, shown}
}

func ofItem(item map[string]any) told {
	kind, _ := item["error"].(string)
	status, _ := item["status"].(float64)
	return told{status: int(status), kind: kind, shown: item}
}

// items are the parts of an answer by position.
func items(o Outcome) map[string]map[string]any {
	m, _ := o.Shown.(map[string]any)
	out := map[string]map[string]any{}
	for _, list := range []string{"items", "responses", "docs"} {
		slots, _ := m[list].(map[string]any)
		for slot, v := range slots {
			item, _ := v.(map[string]any)
			if list == "items" { // index, create, update or delete
				for _, inner := range item {
					item, _ = inner.(map[string]any)
				}
			}
			out[slot] = item
		}
	}
	return out
}

func target(line string) (path, query, body string) {
	_, rest, _ := strings.Cut(line, " ")
	rest, body, _ = strings.Cut(rest, " ")
	path, query, _ = strings.Cut(rest, "?")
	return path, query, body
}

func queryOf(line string) string {
	_, query, _ := target(line)
	return query
}

// pathExpr is the list of names in the path; none if it has no list.
func pathExpr(line string) []string {
	p, _, _ := target(line)
	for _, prefix := range []string{"/_cat/indices/", "/_resolve/index/", "/_alias/"} {
		p = strings.Replace(p, prefix, "/", 1)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	if first == "" || strings.HasPrefix(first, "_") && !strings.HasPrefix(first, "_all") {
		return nil
	}
	var list []string
	for _, name := range strings.Split(first, ",") {
		plain, err := url.PathUnescape(name)
		if err != nil {
			plain = name
		}
		list = append(list, plain)
	}
	return list
}

// slotExprs returns what each slot of a body names, and its header.
func slotExprs(kind, line string) (exprs map[string][]string, headers map[string]string) {
	_, _, body := target(line)
	exprs, headers = map[string][]string{}, map[string]string{}
	lines := strings.Split(body, "\n")
	for i, n := 0, 0; kind == "msearch" && i+1 < len(lines); i, n = i+2, n+1 {
		var header struct{ Index []string }
		_ = json.Unmarshal([]byte(lines[i]), &header) // it was made here
		if header.Index == nil {
			header.Index = pathExpr(line)
		}
		slot := string(rune('0' + n))
		exprs[slot], headers[slot] = header.Index, lines[i]
	}
	return exprs, headers
}

// ShownMore returns the documents that guard shows and the plugin does not.
func (d *Difference) ShownMore() []string {
	var list []string
	for _, p := range d.parts() {
		guard, plugin := p.guard.hits(), p.plugin.hits()
		for hit := range guard {
			if !plugin[hit] {
				list = append(list, hit)
			}
		}
	}
	return list
}

// Hits are the documents that an answer shows, as index/id, and as index/#1 to index/#n
// for n of an index, which is all that a bucket tells of them.
func (o Outcome) Hits() map[string]bool { return whole(o).hits() }

func (t told) hits() map[string]bool {
	list, perIndex := map[string]bool{}, t.indexBuckets()
	hits, _ := t.shown["hits"].(map[string]any)
	for hit := range hits {
		list[hit] = true
		index, _, _ := strings.Cut(hit, "/")
		perIndex[index]++
	}
	for index, docs := range perIndex {
		for n := range docs {
			list[fmt.Sprintf("%s/#%d", index, n+1)] = true
		}
	}
	if index, ok := t.shown["_index"].(string); ok && t.shown["found"] == true {
		list[fmt.Sprintf("%s/%v", index, t.shown["_id"])] = true
	}
	return list
}

// indexBuckets returns how many documents of an index the requests' own aggregation counts.
func (t told) indexBuckets() map[string]int {
	docs := map[string]int{}
	aggregations, _ := t.shown["aggregations"].(map[string]any)
	byIndex, _ := aggregations["i"].(map[string]any)
	buckets, _ := byIndex["buckets"].([]any)
	for _, b := range buckets {
		bucket, _ := b.(map[string]any)
		index, _ := bucket["key"].(string)
		n, _ := bucket["doc_count"].(float64)
		docs[index] = int(n)
	}
	return docs
}

// wildcards are the patterns of the part; a request for everything has one.
func (p part) wildcards() []string {
	if len(p.expr) == 0 {
		return []string{"*"}
	}
	var list []string
	for _, e := range p.expr {
		if e == "_all" {
			e = "*"
		}
		if strings.Contains(e, "*") && !strings.HasPrefix(e, "-") {
			list = append(list, e)
		}
	}
	return list
}

// matches reports whether a wildcard of the part means the name.
func (p part) matches(name string) bool {
	return slices.ContainsFunc(p.wildcards(), func(w string) bool { ok, _ := path.Match(w, name); return ok })
}

// unseen are the indices that the part's wildcards match, or whose alias they match,
// and that are closed or hidden, by themselves or by the alias.
func (p part) unseen() map[string]bool {
	list := map[string]bool{}
	w := p.d.World
	for name, x := range w.Indices {
		if (x.Hidden || x.Closed) && p.matches(name) {
			list[name] = true
		}
	}
	for _, stream := range w.Streams {
		if p.matches(".ds-" + stream + "-000001") {
			list[".ds-"+stream] = true
		}
	}
	for name, a := range w.Aliases {
		if !p.matches(name) {
			continue
		}
		for _, index := range a.Members {
			if a.Hidden || w.Indices[index].Hidden {
				list[index] = true
			}
		}
	}
	return list
}

// names are the indices of all worlds that an answer shows.
func (t told) names() map[string]bool {
	list := map[string]bool{}
	shown := text(t.shown)
	for _, name := range indexNames {
		if strings.Contains(shown, `"`+name+`"`) || strings.Contains(shown, `"`+name+`/`) {
			list[name] = true
		}
	}
	for _, stream := range streamNames {
		if strings.Contains(shown, `".ds-`+stream) {
			list[".ds-"+stream] = true
		}
	}
	return list
}

// onlyUnseen reports whether both sides answer, and what one shows and the other does
// not is of indices that are closed or hidden alone. Where guard has to leave out all
// that it sees, it refuses.
func (p part) onlyUnseen() bool {
	unseen := p.unseen()
	if p.plugin.status != 200 || p.guard.status != 200 && !(p.d.DNFOF && p.guard.refused()) {
		return false
	}
	docs := 0
	for name := range unseen {
		docs += p.d.World.Indices[name].Docs
		if strings.HasPrefix(name, ".ds-") {
			docs += 2 // one in each generation
		}
	}
	g, isCount := p.guard.shown["count"].(float64)
	if h, ok := p.plugin.shown["count"].(float64); ok && isCount {
		return g < h && h-g <= float64(docs) || h < g && g-h <= float64(docs)
	}
	guard, plugin := p.guard.names(), p.plugin.names()
	differ := false
	for name := range merged(guard, plugin) {
		if guard[name] != plugin[name] {
			differ = true
			if !unseen[name] {
				return false
			}
		}
	}
	return differ
}

func merged(a, b map[string]bool) map[string]bool {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// sameIndices reports whether two lists of resolved names have the same indices, but
// for those that are closed or hidden, and for members of an alias that is named and
// that the plugin lists in its place: aliases and streams alone differ.
func (p part) sameIndices() bool {
	list := func(t told) map[string]bool {
		names := map[string]bool{}
		entries, _ := t.shown["indices"].([]any)
		for _, e := range entries {
			m, _ := e.(map[string]any)
			name, _ := m["name"].(string)
			names[name] = true
		}
		return names
	}
	guard, plugin, unseen := list(p.guard), list(p.plugin), p.unseen()
	for name := range merged(guard, plugin) {
		if guard[name] != plugin[name] && !unseen[name] && !strings.HasPrefix(name, ".ds-") && !(plugin[name] && p.namesAliasOf(name)) {
			return false
		}
	}
	return p.guard.status == 200 && p.plugin.status == 200
}

// namesAlias reports whether the part names an alias.
func (p part) namesAlias() bool {
	return slices.ContainsFunc(p.expr, func(name string) bool { return p.d.World.Aliases[name].Members != nil })
}

// namesAliasOf reports whether the part names an alias that an index is behind, or means
// it by a wildcard.
func (p part) namesAliasOf(index string) bool {
	for name, a := range p.d.World.Aliases {
		if slices.Contains(a.Members, index) && (slices.Contains(p.expr, name) || p.matches(name)) {
			return true
		}
	}
	return false
}

// onlyPluginLists reports whether both sides list indices, and the same ones but for one
// that the plugin lists alone.
func (p part) onlyPluginLists(index string) bool {
	guard, plugin := maps.Clone(p.guard.shown), maps.Clone(p.plugin.shown)
	_, both := guard[index]
	if _, ok := plugin[index]; !ok || both {
		return false
	}
	delete(plugin, index)
	return text(guard) == text(plugin)
}

// system is the system index of those worlds that have one.
const system = ".sys-1"

// touchesSystem reports whether the part is about the system index.
func (p part) touchesSystem() bool {
	w := p.d.World
	if _, ok := w.Indices[system]; !ok {
		return false
	}
	if p.matches(system) || slices.Contains(p.expr, system) {
		return true
	}
	for name, a := range w.Aliases {
		if slices.Contains(a.Members, system) && (p.matches(name) || slices.Contains(p.expr, name)) {
			return true
		}
	}
	return false
}

// onlySystem reports whether the part is about nothing but the system index: wildcards
// for names like its own.
func (p part) onlySystem() bool {
	return p.touchesSystem() && len(p.wildcards()) > 0 && !slices.ContainsFunc(p.wildcards(), func(w string) bool { return !strings.HasPrefix(w, ".s") })
}

// onlyFiltered reports whether the plugin shows more hits than guard does, and each of
// them is of an index behind an alias with a filter that the part names.
func (p part) onlyFiltered() bool {
	members := map[string]bool{}
	for name, a := range p.d.World.Aliases {
		if a.Filter != "" && (slices.Contains(p.expr, name) || p.matches(name)) {
			for _, index := range a.Members {
				members[index] = true
			}
		}
	}
	guard, _ := p.guard.shown["hits"].(map[string]any)
	plugin, _ := p.plugin.shown["hits"].(map[string]any)
	if guard == nil || len(guard) >= len(plugin) {
		return false
	}
	for hit := range plugin {
		index, _, _ := strings.Cut(hit, "/")
		if _, both := guard[hit]; !both && !members[index] {
			return false
		}
	}
	return true
}

// missesOne reports whether the part names something that the world has not. Before the
// first wildcard nothing is left out: there a - is a part of the name.
func (p part) missesOne() bool {
	w := p.d.World
	wildcard := false
	return slices.ContainsFunc(p.expr, func(name string) bool {
		if wildcard = wildcard || strings.Contains(name, "*"); wildcard {
			name = strings.TrimPrefix(name, "-")
		}
		if strings.ContainsAny(name, "*<") || name == "_all" {
			return false
		}
		_, isIndex := w.Indices[name]
		_, isAlias := w.Aliases[name]
		return !isIndex && !isAlias && !slices.Contains(w.Streams, name) && !strings.HasPrefix(name, ".ds-")
	})
}
