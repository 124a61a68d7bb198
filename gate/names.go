package gate

import (
	"slices"
	"strings"

	"guard/endpoint"
	"guard/fls"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// planNames forwards what lists names, fields or settings of indices.
func (pl *plan) planNames() Outcome {
	j := pl.whole()
	var f forwarded
	var rej *ask.Rejection
	switch pl.m.Route.Answer {
	case endpoint.FieldCaps:
		j = pl.shown(j)
		f, rej = pl.concreteForwarded(j)
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
	// asked. Who is bound by it may read it: it is what he asks for.
	b.bound = b.bound || pl.tellsOfDocuments() && slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Filtered || len(t.Via) > 0 })
	if _, ok := pl.param("filter_path"); ok && b.views != nil {
		return reject(notBuilt("parameter [filter_path] under a field rule"))
	}
	forward := func(treat Treatment) Outcome {
		return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), treat)
	}
	switch pl.m.Route.Answer {
	case endpoint.CatIndices:
		return pl.planCatIndices(f, b)
	case endpoint.FieldCaps:
		return pl.planFieldCaps(f, b)
	case endpoint.MappingByIndex, endpoint.IndexByName, endpoint.AliasByIndex:
		return forward(b.treatIndices())
	case endpoint.FoundName:
		return forward(b.treatFound())
	case endpoint.ResolvedNames:
		return forward(pl.treatResolved(j))
	default:
		return reject(notBuilt("endpoint [" + pl.m.Route.ID + "]"))
	}
}

// The columns of _cat/indices that tell nothing of documents, by all their names.
var (
	plainColumns   = []string{"health", "h", "status", "s", "index", "i", "idx", "id", "uuid", "pri", "p", "shards.primary", "shardsPrimary", "rep", "r", "shards.replica", "shardsReplica", "creation.date", "cd", "creation.date.string", "cds"}
	defaultColumns = "health,status,index,uuid,pri,rep"
)

// planCatIndices leaves out counts and sizes where a rule applies: they count hidden
// documents, the objects of hidden fields, and their bytes.
func (pl *plan) planCatIndices(f forwarded, b *binding) Outcome {
	params := pl.indexParams(pl.q.Params, f)
	if b.free() {
		return pl.forward(pl.m.Target(f.names, params), nil)
	}
	for _, name := range []string{"h", "s"} {
		for _, column := range pl.paramList(name) {
			if name == "s" {
				column, _, _ = strings.Cut(column, ":")
			}
			if !slices.Contains(plainColumns, column) {
				return reject(restricted("column [%s] counts what a document or field rule may hide; want columns among %s", names.Clip(column), defaultColumns))
			}
		}
	}
	if len(pl.paramList("h")) == 0 {
		params = endpoint.SetParam(params, "h", defaultColumns)
	}
	return pl.forward(pl.m.Target(f.names, params), nil)
}

// tellsOfDocuments reports whether an answer about names says anything that depends on
// documents.
func (pl *plan) tellsOfDocuments() bool {
	switch pl.m.Route.Answer {
	case endpoint.MappingByIndex, endpoint.IndexByName, endpoint.AliasByIndex:
		return false
	default:
		return true
	}
}

// treatFound returns the filter for answers that say whether a name is there.
func (b *binding) treatFound() Treatment {
	if b.free() {
		return nil
	}
	return withoutLength{} // it counts hidden fields and the filters of aliases
}

// treatIndices returns the filter for answers that show mappings, settings or aliases, by
// index.
func (b *binding) treatIndices() Treatment {
	if b.free() {
		return nil
	}
	return indicesTreatment{b}
}

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
		case a.Status == 404 && key == "error" && !t.b.reaches(key):
			w.Key(key)
			w.Raw(told{}.failure(v))
			return withoutDocuments(v)
		case a.Status == 404 && key == "status" && v.Is(esjson.Number):
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

// Settings that name fields of the index, and those below them, by their full names
// without "index.".
var fieldSettings = []string{"sort", "query.default_field", "routing_path", "mapping.source.includes", "mapping.source.excludes", "dimension_fields"}

// writeSettings prints settings, nested or with dotted keys, without those that name
// fields.
func writeSettings(w *esjson.Writer, path string, settings esjson.Value) {
	w.BeginObject()
	for key, v := range settings.Members() {
		full := path + key
		name := strings.TrimPrefix(full, "index.") + "."
		if slices.ContainsFunc(fieldSettings, func(s string) bool { return strings.HasPrefix(name, s+".") }) {
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
