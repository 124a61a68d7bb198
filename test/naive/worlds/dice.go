// Package worlds makes questions for the two evaluators, plain and compiled: random
// policies, clusters and requests from small vocabularies, so that things meet. A question
// on which the two differ it makes as small as it can.
package worlds

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"guard/internal/names"
	"guard/test/naive"
)

// Dice makes random things.
type Dice struct{ *rand.Rand }

// Roll returns the dice of a seed.
func Roll(seed uint64) Dice {
	return Dice{rand.New(rand.NewPCG(seed, 17))} //nolint:gosec // G404: a test that repeats itself
}

func (d Dice) pick(list ...string) string { return list[d.IntN(len(list))] }
func (d Dice) once(n int) bool            { return d.IntN(n) == 0 }

// some returns up to n of list, each once.
func (d Dice) some(n int, list ...string) []string {
	var out []string
	for range d.IntN(n + 1) {
		out = append(out, d.pick(list...))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Noon is the time of questions, but for some a day later.
var Noon = time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)

// The vocabularies. Of a system index there is one of each kind: an index, a stream, and
// the index that is nobody's.
var (
	indexNames  = []string{"a1", "a2", "a3", "b1", "b2", ".h", ".sys1", ".opendistro_security", "logs-2026.11.29", "logs-2026.11.30", "x"}
	aliasNames  = []string{"al", "al1", "alf", "alg", ".alh", "bal", "alr"}
	streamNames = []string{"s1", "s2", ".sys-s"}

	indexPatterns = []string{
		"a*", "a1", "a2", "b?", "*", "al*", "al", "al1", "alf", "s1", "s*", ".ds-*", ".ds-s1-1", "/^(?!a).*/", "/a[12]/", "new*", "*1", "?1", "b*1", ".*", "-a1", "", " ",
		".sys*", ".sys1", "<logs-{now/d}>", "<logs-{now+1d/d}>", "logs-*", "${attr.internal.x}*", "${attr.internal.none}1", "a${attr.internal.bad}", "${attr_internal_x}1",
		"/${attr.internal.dot}.*/", "${user.name}*", "${attr.internal.none:-b}1", "a${user.roles}", "*${attr.internal.none}",
		"east:a*", "*:b1",
	}
	actions = []string{
		"indices:data/read/search", "indices:data/read/search", "indices:data/read/get", "indices:admin/create", "indices:admin/delete", "indices:data/write/index",
		"indices:data/read*", "indices:data/read/*", "indices:*", "*", "reader", "loop", "system:admin/system_index", "system:*", "/indices:(?!admin).*/", "indices:data/write/bulk", "indices:monitor/stats",
	}
	asked = []string{
		"indices:data/read/search", "indices:data/read/search", "indices:data/read/search", "indices:data/read/get", "indices:admin/create", "indices:admin/delete",
		"indices:data/write/index", "indices:monitor/stats", "indices:admin/resolve/index", "indices:admin/mappings/get",
	}
	further = []naive.Privilege{
		{Action: "indices:admin/create", IfMissing: true}, {Action: "indices:data/read/get"}, {Action: "indices:data/write/bulk"},
		{Action: "indices:data/read/search", Cluster: true}, {Action: "cluster:monitor/main"}, {Action: "indices:admin/template/put"},
		{Action: "indices:data/read/point_in_time/readall"}, {Action: "indices:data/read/scroll/x"},
	}
	expressions = []string{
		"a*", "*", "_all", "al*", "al", "al1", "alf", "alg", "alr", "bal", ".alh", "s1", "s*", "s2", "nosuch", "nosuch*", "new1", ".s*", ".*", ".sys*", ".sys-s", ".sys1", "*1", "b*", "*a*", ".ds-*", ".ds-s1-1", "x",
		"a1", "a2", "a3", "b1", ".h", ".opendistro_security", "logs-*", "<logs-{now/d}>", "<a*>", "<l*-{now/d}>", "a?", "**",
	}
	oddExpressions = []string{"", "_foo", "a1,a2", "a::b", "<a-{now/q}>", "<>", "<-a1>", "east:a1", "east:a*", "west:b1", "e*:*", "A1"}
)

// protect has some policies protect indices. It draws nothing: what was drawn decides, so
// that the questions of a seed stay what they are.
func protect(p *naive.Policy) {
	n := len(p.Mappings)
	for _, r := range p.Roles {
		for _, e := range r.Entries {
			n += len(e.Patterns) + len(e.Actions)
		}
	}
	if n%4 == 0 {
		p.Protected, p.Protectors = []string{".sys*"}, []string{[]string{"r1", "r*", "nobody"}[n/4%3]}
	}
}

// Policy makes a policy.
func (d Dice) Policy() naive.Policy {
	p := naive.Policy{
		V4: d.once(2), Reduces: !d.once(3), ReducesToNil: d.once(2), EmptyFrees: d.once(3),
		Groups:   map[string][]string{"reader": {"indices:data/read/*", "loop"}, "loop": {"reader", "indices:admin/create"}},
		Roles:    map[string]naive.Role{},
		Mappings: map[string]naive.Mapping{},
	}
	if !d.once(4) {
		p.System, p.SystemOpens = []string{".sys*"}, d.once(2)
	}
	p.BackendRoles = d.pick("", "", "", "only", "both")
	wide := d.once(3) // one role that grants much beside others that hide something
	for _, name := range []string{"r1", "r2", "r3"} {
		p.Roles[name] = d.role()
		if !d.once(4) {
			p.Mappings[name] = d.mapping()
		}
	}
	if d.once(3) { // nobody is under a rule
		for _, r := range p.Roles {
			for i := range r.Entries {
				r.Entries[i].DLS, r.Entries[i].FLS, r.Entries[i].Masks = "", nil, nil
			}
		}
	}
	if wide {
		r := p.Roles["r1"]
		r.Entries = append(r.Entries, naive.Entry{Patterns: []string{d.pick("*", "a*", "al*", "b*", "?1", "/^(?!al).*/", "/^(?!al|b).*/")}, Actions: []string{d.pick("*", "indices:*", "indices:data/*")}})
		p.Roles["r1"] = r
	}
	protect(&p)
	return p
}

func (d Dice) role() naive.Role {
	r := naive.Role{Cluster: d.some(2, append([]string{"cluster:*", "indices:data/write/bulk"}, actions...)...)}
	for range d.IntN(4) {
		r.Entries = append(r.Entries, d.entry())
	}
	return r
}

func (d Dice) entry() naive.Entry {
	e := naive.Entry{Patterns: d.some(3, indexPatterns...), Actions: d.some(3, actions...)}
	if d.once(4) {
		e.DLS = d.pick(`{"term":{"c":"red"}}`, `{"term":{"c":"blue"}}`, `{"term": {"c": "red"}}`, `{"term":{"o":"${user.name}"}}`, `{"term":{"o":"${attr.internal.none}"}}`,
			`{"terms":{"o":[${user.roles}]}}`, `{"term":{"n":${attr.internal.n}}}`, `{"term":{"o":"${attr.internal.quote}"}}`, `{"term":{"n":${attr.internal.x}}}`)
	}
	if d.once(5) {
		e.FLS = d.some(2, "f", "~g", "h")
	}
	if d.once(8) {
		e.Masks = d.some(2, "m", "n")
	}
	return e
}

func (d Dice) mapping() naive.Mapping {
	return naive.Mapping{
		Hidden:          d.once(6),
		Users:           d.some(1, "anna", "anna", "b*", "*", "bob"),
		BackendRoles:    d.some(1, "staff", "dev*", "nobody"),
		AndBackendRoles: d.some(2, "staff", "dev*", "nobody"),
		Hosts:           d.some(1, "10.0.0.?", "*", "10.0.0.1"),
	}
}

// Who makes somebody.
func (d Dice) Who() naive.Who {
	w := naive.Who{
		Name:         d.pick("anna", "anna", "bob", "*", "a"),
		Address:      d.pick("", "", "10.0.0.1"),
		BackendRoles: d.some(2, "staff", "dev1", "r3", "*"),
		OwnRoles:     d.some(3, "r1", "r1", "r2", "r3", "unheard"),
		Attributes: map[string]string{
			"attr.internal.x": d.pick("a", "a", "b", ".s", ""), "attr.internal.bad": d.pick("*", "1", "/"), "attr.internal.dot": d.pick("a", ".h"), "attr.internal.n": d.pick("5", "red", "1.5"),
			"attr.internal.quote": d.pick(`red"}},{"x`, "blue", "${user.name}"),
		},
	}
	if d.once(12) {
		w.Attributes["attr.internal.service"] = "true"
	}
	return w
}

// World makes a cluster.
func (d Dice) World() naive.World {
	var w naive.World
	for _, name := range indexNames {
		if !d.once(6) {
			w.Indices = append(w.Indices, naive.Index{Name: name, Closed: d.once(6), Hidden: d.once(6)})
		}
	}
	for _, name := range streamNames {
		s := naive.Stream{Name: name, Hidden: d.once(4)}
		for _, generation := range []string{"1", "2"}[:1+d.IntN(2)] {
			x := ".ds-" + name + "-" + generation
			w.Indices = append(w.Indices, naive.Index{Name: x, Hidden: true})
			s.Indices = append(s.Indices, x)
		}
		if !d.once(4) {
			w.Streams = append(w.Streams, s)
		}
	}
	for _, alias := range aliasNames {
		hidden := alias == ".alh" || d.once(6)
		for range d.IntN(4) {
			d.join(&w, naive.Alias{Name: alias, Hidden: hidden})
		}
	}
	return w
}

// join puts a random index of w under an alias, with a filter or routing as its name says.
func (d Dice) join(w *naive.World, a naive.Alias) {
	x := &w.Indices[d.IntN(len(w.Indices))]
	taken := slices.ContainsFunc(w.Indices, func(x naive.Index) bool { return x.Name == a.Name }) ||
		slices.ContainsFunc(w.Streams, func(s naive.Stream) bool { return s.Name == a.Name })
	if taken || slices.ContainsFunc(x.Aliases, func(o naive.Alias) bool { return o.Name == a.Name }) {
		return
	}
	switch a.Name {
	case "alf", "alg":
		if !d.once(5) {
			a.Filter = `{"term":{"c":"` + map[string]string{"alf": "red", "alg": "blue"}[a.Name] + `"}}`
		}
	case "alr":
		a.Routing = d.pick("1", "2")
	}
	x.Aliases = append(x.Aliases, a)
}

// Ask makes a question.
func (d Dice) Ask() naive.Ask {
	ask := naive.Ask{
		Privileges: []naive.Privilege{{Action: d.pick(asked...)}},
		Exprs:      d.Exprs(),
		Opts:       d.Options(),
		Single:     d.once(8),
		Fixed:      d.once(8),
		Now:        Noon,
	}
	if d.once(4) {
		ask.Privileges = append(ask.Privileges, further[d.IntN(len(further))])
	}
	if d.once(60) {
		ask.Privileges = nil
	}
	if d.once(5) {
		ask.Now = Noon.Add(24 * time.Hour)
	}
	return ask
}

// Exprs makes a list of expressions.
func (d Dice) Exprs() []string {
	var list []string
	for range d.IntN(4) {
		e := d.pick(expressions...)
		switch {
		case d.once(30):
			e = d.pick(oddExpressions...)
		case d.once(4):
			e = "-" + e
		}
		list = append(list, e)
	}
	return list
}

// Options makes index options: mostly those of a search.
func (d Dice) Options() names.Options {
	o := names.Options{Expand: names.ExpandOpen, AllowNoIndices: !d.once(4), IgnoreUnavailable: d.once(3)}
	if d.once(2) {
		o.Expand = names.Expand(d.IntN(8)) //nolint:gosec // G115: below 8
	}
	o.IgnoreAliases, o.IgnoreDataStreams = d.once(12), d.once(12)
	return o
}

// Later makes what a cluster could be a moment later: some indices, streams and aliases
// more, or an alias less. It gives no new alias to a system index: only who has it could,
// and what guard forwards is not bound against that. What was asked for changes most.
func (d Dice) Later(w naive.World, asked []string) naive.World {
	w = clone(naive.Case{World: w}).World
	for range 1 + d.IntN(3) {
		switch d.IntN(5) {
		case 0:
			d.add(&w, d.pick("a9", "ab9", "b9", "al9", "x9", "new9", "b99", "a2", "b2", "nosuch", ".sys9"))
		case 1:
			name := d.pick(append([]string{"a8", "new8", "al8", "b8", "nosuch"}, aliasNames...)...)
			if len(asked) > 0 && d.once(2) {
				if name = d.pick(asked...); strings.ContainsAny(name, "*-?<:_") {
					continue
				}
			}
			d.joinLater(&w, naive.Alias{Name: name})
		case 2:
			d.rollOver(&w)
		case 3:
			if x := &w.Indices[d.IntN(len(w.Indices))]; len(x.Aliases) > 0 {
				x.Aliases = x.Aliases[1:]
			}
		default:
			name := d.pick("s3", ".sys-t", "as3", "nosuch")
			if generation := ".ds-" + name + "-1"; free(w, name) && d.add(&w, generation) {
				w.Streams = append(w.Streams, naive.Stream{Name: name, Indices: []string{generation}})
			}
		}
	}
	return w
}

// joinLater is join, but for system indices.
func (d Dice) joinLater(w *naive.World, a naive.Alias) {
	before := clone(naive.Case{World: *w}).World
	d.join(w, a)
	for i, x := range w.Indices {
		if isSystem(x.Name) {
			w.Indices[i].Aliases = before.Indices[i].Aliases
		}
	}
}

// Change makes what a cluster could be after a while: what Later makes, and indices that are
// closed, opened, hidden, shown or gone.
func (d Dice) Change(w naive.World) naive.World {
	w = d.Later(w, nil)
	for range d.IntN(3) {
		i := d.IntN(len(w.Indices))
		x := &w.Indices[i]
		inStream := slices.ContainsFunc(w.Streams, func(s naive.Stream) bool { return slices.Contains(s.Indices, x.Name) })
		switch {
		case d.once(3):
			x.Closed = !x.Closed
		case d.once(2):
			x.Hidden = !x.Hidden
		case !inStream && len(w.Indices) > 1:
			w.Indices = slices.Delete(w.Indices, i, i+1)
		}
	}
	return w
}

// rollOver adds a generation to each stream.
func (d Dice) rollOver(w *naive.World) {
	for i := range w.Streams {
		name := ".ds-" + w.Streams[i].Name + "-9"
		if d.add(w, name) {
			w.Streams[i].Indices = append(w.Streams[i].Indices, name)
		}
	}
}

// free reports whether nothing has a name.
func free(w naive.World, name string) bool {
	return !slices.ContainsFunc(w.Indices, func(x naive.Index) bool {
		return x.Name == name || slices.ContainsFunc(x.Aliases, func(a naive.Alias) bool { return a.Name == name })
	}) && !slices.ContainsFunc(w.Streams, func(s naive.Stream) bool { return s.Name == name })
}

// isSystem reports whether an index may be, or belong to, a system index.
func isSystem(name string) bool {
	return name == ".opendistro_security" || strings.Contains(name, ".sys")
}

// add adds an index, if its name is free, and reports whether it did.
func (d Dice) add(w *naive.World, name string) bool {
	if !free(*w, name) {
		return false
	}
	w.Indices = append(w.Indices, naive.Index{Name: name, Hidden: d.once(6)})
	return true
}
