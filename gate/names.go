package gate

import (
	"fmt"
	"slices"
	"strings"

	"guard/endpoint"
	"guard/fls"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
	"guard/internal/query"
)

// planNames forwards what lists names, fields or settings of indices.
func (pl *plan) planNames() Outcome {
	j := pl.whole()
	var f forwarded
	var rej *ask.Rejection
	switch pl.m.Route.Answer {
	case endpoint.ResolvedNames:
		f, rej = pl.forwardResolved(j)
	case endpoint.FoundName:
		f, rej = pl.forwardNames(j)
	default:
		f, rej = pl.concreteForwarded(j)
	}
	if rej != nil {
		return reject(rej)
	}
	b, rej := pl.bind(j, f.open)
	if rej != nil {
		return reject(rej)
	}
	// The filter of an alias hides documents as a rule does, and is lost when its index is
	// asked.
	b.bound = b.bound || slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Filtered || len(t.Via) > 0 })
	if _, ok := pl.param("filter_path"); ok && b.views != nil {
		return reject(notBuilt("parameter [filter_path] under a field rule"))
	}
	switch pl.m.Route.Answer {
	case endpoint.CatIndices:
		return pl.planCatIndices(f, b)
	case endpoint.FieldCaps:
		return pl.planFieldCaps(f, b)
	case endpoint.MappingByIndex, endpoint.IndexByName:
		return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), b.treatIndices())
	case endpoint.AliasByIndex:
		return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), b.treatAliases())
	case endpoint.FoundName:
		return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), b.treatFound())
	case endpoint.ResolvedNames:
		return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), pl.treatResolved(j))
	default:
		return reject(notBuilt("endpoint [" + pl.m.Route.ID + "]"))
	}
}

// The columns of _cat/indices that tell nothing of documents, by all their names.
var (
	plainColumns   = []string{"health", "h", "status", "s", "index", "i", "idx", "id", "uuid", "pri", "p", "shards.primary", "shardsPrimary", "rep", "r", "shards.replica", "shardsReplica", "creation.date", "cd", "creation.date.string", "cds"}
	defaultColumns = "health,status,index,uuid,pri,rep"
)

// planCatIndices leaves out counts and sizes where a document rule applies: they
// count documents that are hidden.
func (pl *plan) planCatIndices(f forwarded, b *binding) Outcome {
	params := pl.indexParams(pl.q.Params, f)
	if !b.bound {
		return pl.forward(pl.m.Target(f.names, params), nil)
	}
	for _, name := range []string{"h", "s"} {
		for _, column := range pl.paramList(name) {
			if name == "s" {
				column, _, _ = strings.Cut(column, ":")
			}
			if !slices.Contains(plainColumns, column) {
				return reject(restricted("column [%s] counts documents that a document rule may hide; want columns among %s", names.Clip(column), defaultColumns))
			}
		}
	}
	if len(pl.paramList("h")) == 0 {
		params = endpoint.SetParam(params, "h", defaultColumns)
	}
	return pl.forward(pl.m.Target(f.names, params), nil)
}

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
		out.Forward.Treat = fieldCapsTreatment{views: b.views, asked: pl.askedFields(body), told: b.told()}
	}
	return out
}

// askedFields returns the patterns whose fields are asked for.
func (pl *plan) askedFields(body []byte) names.Patterns {
	list := pl.paramList("fields")
	var tape esjson.Tape
	if v, err := esjson.Parse(&tape, body, esjson.RequestLimits()); err == nil {
		fields, _ := v.Lookup("fields")
		for _, e := range fields.Elements() {
			list = append(list, strings.Clone(e.String()))
		}
		if fields.Is(esjson.String) {
			list = append(list, strings.Split(strings.Clone(fields.String()), ",")...)
		}
	}
	patterns := make([]names.Pattern, 0, len(list))
	for _, text := range list {
		if p, err := names.ParsePattern(text); err == nil && !p.IsRegex() {
			patterns = append(patterns, p)
		}
	}
	return names.NewPatterns(patterns...)
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
// index of the request hides is left out: the list does not say whose it is.
//
// The clusters also list the objects around each field that matches. One that was not
// asked for by its own name is left out unless a visible field in it is listed: else it
// would tell that a hidden one matches.
type fieldCapsTreatment struct {
	views map[string]*fls.View
	asked names.Patterns
	told  told
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
		case "failures": // of indices that the filter failed on
			w.Raw(t.told.failure(v))
			return nil
		default:
			w.Value(v)
			return nil
		}
		w.BeginObject()
		for name, caps := range v.Members() {
			if t.shows(name) && (!isAround(caps) || t.asked.Match(name) || t.listsIn(v, name)) {
				w.Key(name)
				w.Value(caps)
			}
		}
		w.EndObject()
		return nil
	})
}

// isAround reports whether an entry is an object around fields.
func isAround(caps esjson.Value) bool {
	_, object := caps.Lookup("object")
	_, nested := caps.Lookup("nested")
	return object || nested
}

// listsIn reports whether a visible field in the object called name is listed.
func (t fieldCapsTreatment) listsIn(fields esjson.Value, name string) bool {
	for field, caps := range fields.Members() {
		if strings.HasPrefix(field, name+".") && !isAround(caps) && t.shows(field) {
			return true
		}
	}
	return false
}

// shows asks the indices that have the field; if none has it, all of them.
func (t fieldCapsTreatment) shows(name string) bool {
	has, shown, shownUnmapped := false, true, true
	for _, v := range t.views {
		switch shows := v.Shows(name); {
		case v.Has(name):
			has, shown = true, shown && shows
		default:
			shownUnmapped = shownUnmapped && shows
		}
	}
	if has {
		return shown
	}
	return shownUnmapped // a field that guard has not seen yet
}

// treatFound returns the filter for answers that say whether a name is there.
func (b *binding) treatFound() Treatment {
	if b.free() {
		return nil
	}
	return withoutLength{} // it counts hidden fields and the filters of aliases
}

// treatIndices returns the filter for answers that show mappings, by index.
func (b *binding) treatIndices() Treatment {
	if b.free() {
		return nil
	}
	return indicesTreatment{b}
}

// treatAliases returns the filter for answers that show aliases, by index.
func (b *binding) treatAliases() Treatment { return b.treatIndices() }

// indicesTreatment filters {index: {aliases, mappings, settings}}.
type indicesTreatment struct{ b *binding }

// Treat filters mappings by the view of their index, and leaves out the filters of
// aliases: they name fields and values.
func (t indicesTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 && a.Status != 404 {
		return cleanError(a)
	}
	// A 404 for one of several aliases lists what was found of the others.
	return rewriteMembers(a, func(w *esjson.Writer, key string, v esjson.Value) error {
		switch {
		case a.Status == 404 && (key == "error" || key == "status"):
			w.Key(key)
			w.Value(v)
		case !t.b.reaches(key): // it came into being after the decision
		case t.b.views != nil && t.b.views[key] == nil: // nothing is known of its fields
		default:
			w.Key(key)
			t.writeIndex(w, t.b.views[key], v)
		}
		return nil
	})
}

func (t indicesTreatment) writeIndex(w *esjson.Writer, view *fls.View, index esjson.Value) {
	w.BeginObject()
	for key, m := range index.Members() {
		switch {
		case key == "mappings" && view != nil:
			w.Key(key)
			writeMapping(w, view, m)
		case (key == "settings" || key == "defaults") && view != nil:
			w.Key(key)
			writeSettings(w, "", m)
		case key == "aliases":
			w.Key(key)
			writeAliases(w, m)
		default:
			w.Key(key)
			w.Value(m)
		}
	}
	w.EndObject()
}

// Settings that name fields of the index, by their full names without "index.".
var fieldSettings = []string{"sort.", "query.default_field", "routing_path", "mapping.source.includes", "mapping.source.excludes", "dimension_fields"}

// writeSettings prints settings, nested or with dotted keys, without those that name
// fields.
func writeSettings(w *esjson.Writer, path string, settings esjson.Value) {
	w.BeginObject()
	for key, v := range settings.Members() {
		full := path + key
		name := strings.TrimPrefix(full, "index.")
		if slices.ContainsFunc(fieldSettings, func(s string) bool { return name == s || strings.HasPrefix(name+".", strings.TrimSuffix(s, ".")+".") }) {
			continue
		}
		w.Key(key)
		if v.Is(esjson.Object) {
			writeSettings(w, full+".", v)
		} else {
			w.Value(v)
		}
	}
	w.EndObject()
}

func writeAliases(w *esjson.Writer, aliases esjson.Value) {
	w.BeginObject()
	for name, details := range aliases.Members() {
		w.Key(name)
		w.BeginObject()
		for key, m := range details.Members() {
			if key != "filter" {
				w.Key(key)
				w.Value(m)
			}
		}
		w.EndObject()
	}
	w.EndObject()
}

// The keys of a mapping that name no field. Templates, scripts and notes of the
// mapping's author do, and are left out under a field rule.
var mappingKeys = []string{"dynamic", "date_detection", "numeric_detection", "dynamic_date_formats", "_routing", "_size", "_data_stream_timestamp", "subobjects"}

// writeMapping prints a mapping with the visible fields alone. Elasticsearch 7 can put
// the name of a type around it.
func writeMapping(w *esjson.Writer, view *fls.View, m esjson.Value) {
	w.BeginObject()
	for key, v := range m.Members() {
		switch {
		case key == "properties":
			w.Key(key)
			writeProperties(w, view, "", v)
		case key == "_doc":
			w.Key(key)
			writeMapping(w, view, v)
		case slices.Contains(mappingKeys, key):
			w.Key(key)
			w.Value(v)
		}
	}
	w.EndObject()
}

// writeProperties prints the visible fields below path.
func writeProperties(w *esjson.Writer, view *fls.View, path string, fields esjson.Value) {
	w.BeginObject()
	for name, field := range fields.Members() {
		full := name
		if path != "" {
			full = path + "." + name
		}
		if view.Shows(full) {
			w.Key(name)
			writeField(w, view, full, field)
		}
	}
	w.EndObject()
}

// writeField prints one field. Where it is copied to is said of visible fields alone.
func writeField(w *esjson.Writer, view *fls.View, path string, field esjson.Value) {
	w.BeginObject()
	for key, v := range field.Members() {
		switch key {
		case "properties", "fields":
			w.Key(key)
			writeProperties(w, view, path, v)
		case "copy_to":
			writeCopyTo(w, view, v)
		case "meta", "script":
		default:
			w.Key(key)
			w.Value(v)
		}
	}
	w.EndObject()
}

func writeCopyTo(w *esjson.Writer, view *fls.View, v esjson.Value) {
	var list []string
	if name, err := v.Text(); err == nil {
		list = append(list, name)
	}
	for _, e := range v.Elements() {
		if name, err := e.Text(); err == nil {
			list = append(list, name)
		}
	}
	list = slices.DeleteFunc(list, func(name string) bool { return !view.Shows(name) })
	writeTexts(w, "copy_to", list)
}
