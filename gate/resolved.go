package gate

import (
	"slices"
	"strings"

	"guard/authz"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// forwardResolved writes names that are only to be listed: aliases and streams by
// their own names.
func (pl *plan) forwardResolved(j *judged) (forwarded, *ask.Rejection) {
	pl.keepListed(j)
	f, rej := pl.forwardNames(j)
	if rej != nil || len(j.Allowed) == 0 || f.covered {
		return f, rej
	}
	f.names, f.listed = make([]string, 0, len(j.Allowed)), nil
	for _, t := range j.Allowed {
		f.names = append(f.names, t.Name)
	}
	return f, nil
}

// keepListed drops what the decision put in the place of a name that a wildcard found, such
// as some members of an alias: it was not listed. Nor is a name that was computed and is
// hidden, which counts as missing.
func (pl *plan) keepListed(j *judged) {
	named := make(map[string]bool, len(j.resolved.Targets))
	for i := range j.resolved.Targets {
		named[j.resolved.Targets[i].Name] = true
	}
	j.kept = nil
	j.Allowed = slices.DeleteFunc(slices.Clone(j.Allowed), func(t ask.Target) bool { return (t.Wildcard || pl.exists(t.Name)) && !named[t.Name] })
}

// exists reports whether the state has name.
func (pl *plan) exists(name string) bool {
	_, ok := pl.s.state.Lookup(name)
	return ok
}

// treatResolved returns the filter for an answer that lists names. It knows by name what
// was decided: what comes into being until the cluster answers is not shown.
func (pl *plan) treatResolved(j *judged) Treatment {
	t := resolvedTreatment{shown: make(map[string]bool, len(j.Allowed)), remote: len(j.Remote) > 0}
	for _, g := range j.Groups {
		for _, index := range g.Indices {
			t.shown[index] = true
		}
	}
	for _, target := range j.Allowed {
		t.shown[target.Name] = true
	}
	for _, name := range pl.beside(j) {
		if _, decided := t.shown[name]; !decided {
			t.shown[name] = pl.isGranted(j, name)
		}
	}
	for _, target := range j.Allowed {
		if target.Kind == ask.Missing {
			t.shown[target.Name] = false // whatever it turns out to be was not decided
		}
	}
	return t
}

// beside lists the aliases and streams that stand beside the indices of j in a listing,
// also those of which other members are not granted. It may hold repeats.
func (pl *plan) beside(j *judged) []string {
	var list []string
	for _, g := range j.Groups {
		for _, index := range g.Indices {
			if x, ok := pl.s.state.Index(index); ok {
				for _, a := range x.Aliases {
					list = append(list, a.Alias)
				}
			}
			if stream, ok := pl.s.state.StreamOf(index); ok {
				list = append(list, stream)
			}
		}
	}
	return list
}

// isGranted reports whether a request for name alone, asked as j is, would be granted.
func (pl *plan) isGranted(j *judged, name string) bool {
	t, ok := pl.s.state.Lookup(name)
	if !ok {
		return false
	}
	part := ask.Part{Slot: ask.WholeRequest, Privileges: j.part.Privileges, Exprs: []names.Expr{names.Expr(name)}, Opts: j.part.Opts, Fixed: true}
	d := pl.s.policy.Decide(pl.who, cluster{pl.s.state}, part, ask.Resolved{Targets: []ask.Target{t}}, pl.r.Now)
	return d.Effect == authz.Allow
}

// resolvedTreatment filters {indices: [{name, aliases, data_stream}], aliases: [{name,
// indices}], data_streams: [{name, backing_indices}]}. Its zero value shows nothing.
type resolvedTreatment struct {
	// shown are the names that may stand anywhere in the answer.
	shown map[string]bool
	// remote tells that names of other clusters were asked for, which is granted by
	// pattern: what is there is not known here.
	remote bool
}

// Treat keeps what is shown.
func (t resolvedTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return cleanError(a)
	}
	return rewriteMembers(a, func(w *esjson.Writer, key string, v esjson.Value) error {
		switch key {
		case "indices", "aliases", "data_streams":
		default:
			return nil // no engine has another list; if one comes, it lists names
		}
		w.Key(key)
		w.BeginArray()
		for _, entry := range v.Elements() {
			t.writeEntry(w, entry)
		}
		w.EndArray()
		return nil
	})
}

// shows reports whether an entry may stand under its own name, and whether all that it
// says is of another cluster.
func (t resolvedTreatment) shows(name string) (shown, remote bool) {
	if strings.Contains(name, ":") { // no name of this cluster
		return t.remote, t.remote
	}
	return t.shown[name], false
}

// writeEntry prints one index, alias or stream, if it is shown and anything is left of
// it. filter_path can take its name away: then nothing but names that are shown is left.
func (t resolvedTreatment) writeEntry(w *esjson.Writer, entry esjson.Value) {
	name, named := entry.Lookup("name")
	shown, remote := t.shows(name.String())
	switch {
	case remote:
		w.Value(entry)
		return
	case named && !shown:
		return
	}
	var left esjson.Writer
	left.BeginObject()
	for key, v := range entry.Members() {
		switch key {
		case "aliases":
			writeTexts(&left, key, t.filter(v))
		case "indices", "backing_indices":
			members := t.filter(v)
			if len(members) == 0 && v.Len() > 0 {
				return // it means something else by now
			}
			writeTexts(&left, key, members)
		case "data_stream":
			if t.shown[v.String()] {
				left.Key(key)
				left.Value(v)
			}
		default:
			if named {
				left.Key(key)
				left.Value(v)
			}
		}
	}
	left.EndObject()
	if len(left.Bytes()) > len("{}") {
		w.Raw(left.Bytes())
	}
}

// filter returns the names of a list that are shown.
func (t resolvedTreatment) filter(list esjson.Value) []string {
	var shown []string
	for _, e := range list.Elements() {
		if name := e.String(); t.shown[name] {
			shown = append(shown, name)
		}
	}
	return shown
}
