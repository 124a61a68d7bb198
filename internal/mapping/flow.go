package mapping

import "slices"

// flow is the graph of values: an edge from a to b means that b shows the value
// of a. Paths need not be in the mapping: a copy can go to a field that the next
// document will create.
type flow struct {
	from     map[string][]string
	scripted []string // paths that may show anything
}

func newFlow(m *Mapping) flow {
	w := flow{from: map[string][]string{}}
	for _, f := range m.fields {
		switch f.Kind {
		case MultiField:
			w.edge(f.Parent, f.Path)
		case Alias:
			w.reads(m, f.Path, f.AliasOf)
		}
		for _, source := range f.Contexts {
			w.reads(m, f.Path, source)
		}
		for _, target := range f.CopyTo {
			w.edge(f.Path, target)
			if whole, ok := m.around(target); ok {
				w.edge(f.Path, whole)
			}
		}
		if f.Scripted {
			w.scripted = append(w.scripted, f.Path)
		}
	}
	w.belowScripts(m)
	return w
}

// reads notes that path shows the value of source, or of the opaque field around it.
func (w *flow) reads(m *Mapping, path, source string) {
	w.edge(source, path)
	if whole, ok := m.around(source); ok {
		w.edge(whole, path)
	}
}

// around returns the opaque field that path lies below.
func (m *Mapping) around(path string) (whole string, ok bool) {
	f, ok := m.Lookup(path)
	return f.Path, ok && f.SubKey != ""
}

// belowScripts lets the fields of an object that a script computes show what the script
// does.
func (w *flow) belowScripts(m *Mapping) {
	for _, path := range w.scripted {
		for f := range m.Below(path) {
			w.edge(path, f.Path)
		}
	}
}

func (w *flow) edge(a, b string) { w.from[b] = append(w.from[b], a) }

// Carries returns the paths whose values can be read by naming path, path among
// them: the target of an alias, the main field of a multi-field, the sources of
// copies, all of this again for those, and for an object everything below it.
// If all is true a script is involved and every field of the index counts.
// A path may be shown only if all of what it carries may be.
func (m *Mapping) Carries(path string) (sources []string, all bool) {
	if f, ok := m.Lookup(path); ok && f.SubKey != "" {
		path = f.Path
	}
	seen := spread([]string{path}, func(p string, visit func(string)) {
		each(m.flow.from[p], visit)
		for f := range m.Below(p) {
			// A multi-field is below its field by name alone: the field does not show it.
			if f.Kind != MultiField {
				visit(f.Path)
			}
		}
	})
	for _, s := range m.flow.scripted {
		all = all || seen[s]
	}
	return sorted(seen), all
}

// spread returns what can be reached from start by any number of steps.
func spread(start []string, step func(p string, visit func(string))) map[string]bool {
	seen := map[string]bool{}
	todo := start
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[p] {
			seen[p] = true
			step(p, func(next string) { todo = append(todo, next) })
		}
	}
	return seen
}

func each(paths []string, visit func(string)) {
	for _, p := range paths {
		visit(p)
	}
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
