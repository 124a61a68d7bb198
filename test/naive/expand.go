package naive

import (
	"slices"
	"strings"

	"guard/internal/names"
)

// meaning is what expressions mean on a world.
type meaning struct {
	all     bool // everything, by no expression, "_all" or "*" alone
	targets []target
	absent  []string // names that nothing carries, or that are not seen
	remote  []string
	wild    bool // a wildcard was written
}

// set holds texts that stand for names, as a cluster keeps them while it reads a list:
// true for what was written out.
type set map[string]bool

// reading is a list of expressions that is being read.
type reading struct {
	*World
	ask  Ask
	seen func(target) bool // nil: all names are
	// concrete is what is searched: names that were written out, and the indices that
	// wildcards mean. named are the names that stand, which decide on the filters of
	// aliases: there wildcards mean names. An exclusion takes its texts from both.
	concrete, named set
	absent          []string
}

// expand says what expressions mean. It is false for what no cluster takes for a name.
func (w *World) expand(ask Ask, seen func(target) bool) (meaning, bool) {
	r := reading{World: w, ask: ask, seen: seen, concrete: set{}, named: set{}}
	var m meaning
	var local []string
	for _, e := range ask.Exprs {
		m.wild = m.wild || strings.Contains(e, "*")
		text, err := names.Expr(e).DateMath(ask.Now)
		switch computed := err == nil && text != names.Expr(e); {
		case err != nil, strings.Contains(e, ","), strings.Contains(e, "::"):
			return m, false
		case !computed && strings.Contains(e, ":"):
			m.remote = append(m.remote, e)
		default:
			local = append(local, string(text))
		}
	}
	if len(m.remote) == 0 && (len(local) == 0 || len(local) == 1 && (local[0] == "*" || local[0] == "_all")) {
		m.all, m.wild = true, true
		for _, x := range w.everything(ask.Opts) {
			m.targets = append(m.targets, target{name: x, kind: anIndex, members: []string{x}, wild: true})
		}
		return m, true
	}
	wildcards := false
	for _, e := range local {
		if e == "" || e[0] == '_' {
			return m, false
		}
		wildcards = r.read(e, wildcards) || wildcards
	}
	m.targets, m.absent = r.targets(), sorted(r.absent)
	return m, true
}

// everything lists the indices that "*" alone means: here a visible stream shows its
// hidden indices.
func (w *World) everything(opts names.Options) []string {
	var list []string
	for _, x := range w.Indices {
		visible := !x.Hidden || opts.Expand&names.ExpandHidden != 0
		for _, s := range w.Streams {
			visible = visible || !s.Hidden && slices.Contains(s.Indices, x.Name)
		}
		if visible && w.wanted(x.Name, opts) {
			list = append(list, x.Name)
		}
	}
	return list
}

// read reads one expression behind others, of which some were wildcards or not. It reports
// whether it is a wildcard.
func (r *reading) read(e string, behindWildcards bool) bool {
	if r.ask.Opts.Expand.Nothing() { // then all is taken as it is written
		r.write(e)
		return false
	}
	excluded, minus := strings.CutPrefix(e, "-")
	switch exclusion := minus && behindWildcards; {
	case exclusion && strings.Contains(excluded, "*"):
		r.without(excluded)
	case exclusion:
		if r.visible(excluded) {
			delete(r.concrete, excluded)
			delete(r.named, excluded)
		}
	case strings.Contains(e, "*"):
		r.find(e)
		return true
	default:
		r.write(e)
	}
	return false
}

// visible reports whether a name exists and is seen.
func (r *reading) visible(name string) bool {
	t, _ := r.lookup(name)
	return t.kind != missing && (r.seen == nil || r.seen(t))
}

// write takes a name that was written out.
func (r *reading) write(name string) {
	switch {
	case r.visible(name):
		r.concrete[name], r.named[name] = true, true
	case !strings.Contains(name, "*"):
		r.absent = append(r.absent, name)
	}
}

// meant lists the names that a wildcard means.
func (r *reading) meant(wildcard string) (list []target) {
	if strings.ContainsAny(wildcard, "?/<>") || strings.HasPrefix(wildcard, "-") || strings.HasPrefix(wildcard, "_") {
		return nil // no name is like that
	}
	for _, name := range r.everyName() {
		t, hidden := r.lookup(name)
		passed := t.kind == anAlias && r.ask.Opts.IgnoreAliases || t.kind == aStream && r.ask.Opts.IgnoreDataStreams
		if !passed && glob(wildcard, name) && r.visible(name) && shows(wildcard, name, hidden, r.ask.Opts) {
			list = append(list, t)
		}
	}
	return list
}

// find takes what a wildcard means.
func (r *reading) find(wildcard string) {
	add := func(s set, text string) { s[text] = s[text] || false }
	for _, t := range r.meant(wildcard) {
		if t.kind != anIndex || r.wanted(t.name, r.ask.Opts) {
			add(r.named, t.name)
		}
		for _, x := range t.members {
			if r.wanted(x, r.ask.Opts) {
				add(r.concrete, x)
			}
		}
	}
}

// without takes out what a wildcard means.
func (r *reading) without(wildcard string) {
	for _, t := range r.meant(wildcard) {
		delete(r.named, t.name)
		for _, x := range t.members {
			if r.wanted(x, r.ask.Opts) {
				delete(r.concrete, x)
			}
		}
	}
}

// targets says of the names that stand which are meant as a whole, and which indices stand
// for themselves.
func (r *reading) targets() []target {
	var list, whole []target
	for name := range r.named {
		t, _ := r.lookup(name)
		if t.kind == anIndex {
			continue
		}
		_, written := r.concrete[name]
		part := slices.ContainsFunc(t.members, func(x string) bool { _, ok := r.concrete[x]; return !ok })
		if written || !part {
			t.wild = !written
			whole = append(whole, t)
		}
	}
	list = append(list, whole...)
	for _, x := range r.Indices {
		if r.searched(x.Name) && r.standsAlone(x.Name, whole) {
			list = append(list, target{name: x.Name, kind: anIndex, members: []string{x.Name}, wild: !r.concrete[x.Name], ways: r.filters(x.Name)})
		}
	}
	return list
}

// searched reports whether an index is behind any text that is searched.
func (r *reading) searched(index string) bool {
	for text := range r.concrete {
		if t, _ := r.lookup(text); slices.Contains(t.members, index) {
			return true
		}
	}
	return false
}

// waysTo lists the aliases and streams that stand and lead to an index.
func (r *reading) waysTo(index string) (ways []string) {
	for name := range r.named {
		if t, _ := r.lookup(name); t.kind != anIndex && slices.Contains(t.members, index) {
			ways = append(ways, name)
		}
	}
	return sorted(ways)
}

// standsAlone reports whether the groups that are whole do not say all about an index.
func (r *reading) standsAlone(index string, whole []target) bool {
	if _, named := r.named[index]; named {
		return true
	}
	ways := r.waysTo(index)
	shown := 0
	for _, t := range whole {
		if slices.Contains(t.members, index) {
			if !r.filtered(t.name) {
				return false // it shows all documents
			}
			shown++
		}
	}
	return shown == 0 || shown < len(ways)
}

// filters lists the filtered aliases that lead to an index, if nothing else does.
func (r *reading) filters(index string) []string {
	ways := r.waysTo(index)
	_, named := r.named[index]
	if named || slices.ContainsFunc(ways, func(a string) bool { return !r.filtered(a) }) {
		return nil
	}
	return ways
}
