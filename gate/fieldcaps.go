package gate

import (
	"fmt"
	"slices"
	"strings"

	"guard/authz"
	"guard/fls"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
	"guard/internal/query"
)

// planFieldCaps lists fields. A filter on the indices would tell whether a document
// is there, so it is refused under a document rule.
func (pl *plan) planFieldCaps(f forwarded, b *binding) Outcome {
	var body []byte
	if len(pl.q.Body) > 0 {
		v, rej := pl.parse(pl.q.Body)
		if rej != nil {
			return reject(rej)
		}
		if body, rej = fieldCapsBody(v, b); rej != nil {
			return reject(rej)
		}
	}
	if v, ok := pl.param("include_empty_fields"); ok && v == "false" && b.bound {
		return reject(restricted("parameter [include_empty_fields] tells of documents that a document rule may hide"))
	}
	call, rej := pl.call(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)))
	if rej != nil {
		return reject(rej)
	}
	setBody(&call, body)
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: call}}
	if b.views != nil {
		unmapped, given := pl.param("include_unmapped")
		out.Forward.Treat = fieldCapsTreatment{views: b.views, indices: b.indices, unmapped: given && unmapped != "false", told: b.told()}
	}
	return out
}

// shown returns j without indices that show nothing, if another is left: one list tells of
// all indices, and what one of them hides is left out of it.
func (pl *plan) shown(j *judged) *judged {
	only := *j
	only.kept = nil
	only.Groups = slices.DeleteFunc(slices.Clone(j.Groups), func(g authz.Group) bool {
		return g.Rules.None && !slices.ContainsFunc(g.Indices, func(name string) bool {
			_, there := pl.s.state.Index(name)
			return !there // the cluster has its own answer for it
		})
	})
	if len(only.Groups) == 0 {
		return j
	}
	return &only
}

func fieldCapsBody(v esjson.Value, b *binding) ([]byte, *ask.Rejection) {
	var w esjson.Writer
	w.BeginObject()
	for key, m := range v.Members() {
		switch key {
		case "fields":
			w.Key(key)
			w.Value(m)
		case "index_filter":
			if b.bound {
				return nil, restricted("[index_filter] tells of documents that a document rule may hide")
			}
			rules := b.rules
			rules.Filter = query.Free // none binds, and none would be placed
			filter, err := query.AppendQuery(nil, m, &rules)
			if err != nil {
				return nil, refusedQuery(err)
			}
			w.Key(key)
			w.Raw(filter)
		default:
			return nil, &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Reason: ask.ReasonUnknownBody, Public: fmt.Sprintf("unknown key [%s] in a field capabilities request", names.Clip(key))}
		}
	}
	w.EndObject()
	return w.Bytes(), nil
}

// fieldCapsTreatment leaves hidden fields out of a list of fields. A field that some
// index of the request hides is left out: the list does not say whose it is. The answer
// is the one to the same request where hidden fields were never mapped.
//
// The clusters also list the objects around each field that matches, and no object
// else. An index has such an object only if it has a visible field in it that is
// listed: else the object would tell that a hidden one matches.
type fieldCapsTreatment struct {
	views    map[string]*fls.View
	indices  []string // the keys of views, sorted
	unmapped bool     // indices that lack a field are listed too
	told     told
}

// Treat filters the fields.
func (t fieldCapsTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return t.told.error(a)
	}
	return rewriteMembers(a, func(w *esjson.Writer, key string, v esjson.Value) error {
		w.Key(key)
		switch key {
		case "fields":
			t.writeFields(w, v)
		case "failures": // of indices that the filter failed on
			w.Raw(t.told.failure(v))
		default:
			w.Value(v)
		}
		return nil
	})
}

// writeFields prints what is visible in the order of names: that of the cluster follows
// from how many fields there are, hidden ones among them.
func (t fieldCapsTreatment) writeFields(w *esjson.Writer, fields esjson.Value) {
	list := make([]capsEntry, 0, fields.Len())
	inside := map[string][]string{} // the visible fields below each name
	for name, caps := range fields.Members() {
		e := capsEntry{name: name, caps: caps}
		if e.field = isField(caps) && t.shows(name); e.field {
			for i := range len(name) {
				if name[i] == '.' {
					inside[name[:i]] = append(inside[name[:i]], name)
				}
			}
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b capsEntry) int { return strings.Compare(a.name, b.name) })
	w.BeginObject()
	for _, e := range list {
		if kinds := t.kinds(e, inside[e.name]); len(kinds) > 0 {
			w.Key(e.name)
			writeKinds(w, kinds)
		}
	}
	w.EndObject()
}

// capsEntry is one entry of the list.
type capsEntry struct {
	name  string
	caps  esjson.Value
	field bool // it is a visible field in some index
}

// unmappedKind stands for the indices that lack a name.
const unmappedKind = "unmapped"

// isAround reports whether a kind is an object around fields.
func isAround(kind string) bool { return kind == "object" || kind == "nested" }

// isField reports whether an entry is of a field in some index.
func isField(caps esjson.Value) bool {
	for kind := range caps.Members() {
		if !isAround(kind) && kind != unmappedKind {
			return true
		}
	}
	return false
}

// fieldKind is what a name is in some indices.
type fieldKind struct {
	name    string
	caps    esjson.Value
	indices []string
}

// kinds returns what is visible of one entry, by kinds; inside are the visible fields
// below it that are listed.
func (t fieldCapsTreatment) kinds(e capsEntry, inside []string) []fieldKind {
	var shown []fieldKind
	var lacking []string // the indices where nothing of it is visible
	var unmapped esjson.Value
	for kind, caps := range e.caps.Members() {
		indices := t.indicesOf(caps)
		switch {
		case kind == unmappedKind:
			lacking, unmapped = append(lacking, indices...), caps
			continue
		case isAround(kind):
			lists, lacks := t.split(indices, inside)
			indices, lacking = lists, append(lacking, lacks...)
		case !e.field:
			indices, lacking = nil, append(lacking, indices...)
		}
		if len(indices) > 0 {
			shown = append(shown, fieldKind{kind, caps, indices})
		}
	}
	if len(shown) > 0 && t.unmapped && len(lacking) > 0 {
		slices.Sort(lacking)
		shown = append(shown, fieldKind{unmappedKind, unmapped, lacking})
	}
	slices.SortFunc(shown, func(a, b fieldKind) int { return strings.Compare(a.name, b.name) })
	return shown
}

// indicesOf returns the indices that one kind of an entry is of. The clusters list them
// only beside another kind; else it can be all.
func (t fieldCapsTreatment) indicesOf(caps esjson.Value) []string {
	list, given := caps.Lookup("indices")
	if !given {
		return t.indices
	}
	out := make([]string, 0, list.Len())
	for _, e := range list.Elements() {
		out = append(out, e.String())
	}
	return out
}

// split tells the indices that list one of fields from those that lack them all.
func (t fieldCapsTreatment) split(indices, fields []string) (lists, lacks []string) {
	for _, name := range indices {
		v := t.views[name]
		if v != nil && slices.ContainsFunc(fields, v.Has) {
			lists = append(lists, name)
		} else {
			lacks = append(lacks, name)
		}
	}
	return lists, lacks
}

func writeKinds(w *esjson.Writer, kinds []fieldKind) {
	w.BeginObject()
	for _, k := range kinds {
		w.Key(k.name)
		k.write(w, len(kinds) > 1)
	}
	w.EndObject()
}

// write prints one kind, with its indices if there are others.
func (k fieldKind) write(w *esjson.Writer, several bool) {
	w.BeginObject()
	if k.caps.Is(esjson.Invalid) {
		w.Key("type")
		w.Text(k.name)
		w.Key("searchable")
		w.Bool(false)
		w.Key("aggregatable")
		w.Bool(false)
	}
	done := !several
	for key, v := range k.caps.Members() {
		if key != "indices" {
			w.Key(key)
			w.Value(v)
		} else if !done {
			writeTexts(w, key, k.indices)
			done = true
		}
	}
	if !done {
		writeTexts(w, "indices", k.indices)
	}
	w.EndObject()
}

// everywhere is what every index has beside metadata of documents.
const everywhere = "_feature"

// shows asks all indices, those that lack the field too: what their entries hide by its
// name is hidden whether they have it or not. What an index has as an object is no field.
// A field of the cluster's own that not every index has is there for the sake of others,
// such as _parent_join for a join, and would tell of them.
func (t fieldCapsTreatment) shows(name string) bool {
	if !query.IsPlain(name) {
		return false // no search finds it under a field rule
	}
	mapped := false
	for _, v := range t.views {
		mapped = mapped || v.Has(name)
	}
	metadata := !mapped && fls.IsMetadata(name)
	if !mapped && !metadata && strings.HasPrefix(name, "_") && name != everywhere {
		return false
	}
	for _, v := range t.views {
		if !v.IsObject(name) && !(metadata && v.Shows(name) || v.ShowsField(name)) {
			return false
		}
	}
	return true
}
