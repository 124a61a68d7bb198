package gate

import (
	"slices"

	"guard/authz"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// forwardResolved writes names that are only to be listed: aliases and streams by
// their own names.
func (pl *plan) forwardResolved(j *judged) (forwarded, *ask.Rejection) {
	if j.resolved.All {
		if rej := pl.listAll(j); rej != nil {
			return forwarded{}, rej
		}
	}
	f, rej := pl.forwardNames(j)
	if rej != nil || len(j.Allowed) == 0 || f.covered {
		return f, rej
	}
	f.names = f.names[:0]
	for _, t := range j.Allowed {
		f.names = append(f.names, t.Name)
	}
	return f, nil
}

// listAll decides a listing of everything over all names instead of over the concrete
// indices that a search for everything means. What the decision puts in the place of a
// name, such as some members of an alias, was not listed.
func (pl *plan) listAll(j *judged) *ask.Rejection {
	listed := pl.s.state.Listed(j.part.Opts.Expand)
	j.resolved = ask.Resolved{All: true, Targets: listed}
	if pl.ask(j); j.rejection != nil {
		return j.rejection
	}
	j.Allowed = slices.DeleteFunc(slices.Clone(j.Allowed), func(t ask.Target) bool {
		return !slices.ContainsFunc(listed, func(l ask.Target) bool { return l.Name == t.Name })
	})
	return nil
}

// treatResolved returns the filter for an answer that lists names: beside an index stand
// those of its aliases and of its stream, also where other members are not granted.
func (pl *plan) treatResolved(j *judged) Treatment {
	held := make(map[string]bool, len(j.Allowed))
	for _, t := range j.Allowed {
		held[t.Name] = true
	}
	hidden := resolvedTreatment{}
	look := func(name string) {
		holds, known := held[name]
		if !known {
			holds = pl.holds(j, name)
			held[name] = holds
		}
		if !holds {
			hidden[name] = true
		}
	}
	for _, g := range j.Groups {
		for _, index := range g.Indices {
			if x, ok := pl.s.state.Index(index); ok {
				for _, a := range x.Aliases {
					look(a.Alias)
				}
			}
			if stream, ok := pl.s.state.StreamOf(index); ok {
				look(stream)
			}
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	return hidden
}

// holds reports whether all that name stands for is granted as j asks it.
func (pl *plan) holds(j *judged, name string) bool {
	t, ok := pl.s.state.Lookup(name)
	if !ok {
		return false
	}
	part := ask.Part{Slot: ask.WholeRequest, Privileges: j.part.Privileges, Exprs: []names.Expr{names.Expr(name)}, Opts: j.part.Opts, Fixed: true}
	d := pl.s.policy.Decide(pl.who, cluster{pl.s.state}, part, ask.Resolved{Targets: []ask.Target{t}}, pl.r.Now)
	return d.Effect == authz.Allow
}

// resolvedTreatment filters {indices: [{name, aliases, data_stream}], …} by the aliases
// and streams that it holds: they are not named.
type resolvedTreatment map[string]bool

// Treat leaves hidden names out.
func (t resolvedTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return cleanError(a)
	}
	return rewriteMembers(a, func(w *esjson.Writer, key string, v esjson.Value) error {
		w.Key(key)
		if key != "indices" {
			w.Value(v)
			return nil
		}
		w.BeginArray()
		for _, index := range v.Elements() {
			t.writeIndex(w, index)
		}
		w.EndArray()
		return nil
	})
}

// writeIndex prints one index, if anything is left of it: filter_path can ask for
// nothing but names that are hidden.
func (t resolvedTreatment) writeIndex(w *esjson.Writer, index esjson.Value) {
	var left esjson.Writer
	left.BeginObject()
	for key, m := range index.Members() {
		switch {
		case key == "aliases":
			var shown []string
			for _, e := range m.Elements() {
				if name := e.String(); !t[name] {
					shown = append(shown, name)
				}
			}
			writeTexts(&left, key, shown)
		case key == "data_stream" && t[m.String()]:
		default:
			left.Key(key)
			left.Value(m)
		}
	}
	left.EndObject()
	if len(left.Bytes()) > len("{}") {
		w.Raw(left.Bytes())
	}
}
