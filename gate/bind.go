package gate

import (
	"slices"

	"guard/authz"
	"guard/dls"
	"guard/fls"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/internal/query"
)

// binding is what the restrictions on the targets of one part mean for a search.
type binding struct {
	rules query.Rules
	// views are what each index shows; nil if no field rule applies anywhere.
	views map[string]*fls.View
	// bound tells that a document rule applies somewhere.
	bound bool
	// narrowed tells that the cluster is asked to leave out all that is hidden of a
	// source; else the answer filter decides alone.
	narrowed bool
	// hides tells that shards of the request may hold documents that it must not find.
	hides bool
	// indices are all concrete names that an answer may come from, sorted.
	indices []string
	// alike are indices, but of those with equal fields and one restriction a single one.
	alike []string
	// hits filters answers, if it was made already: it follows from views and indices.
	hits  *fls.Answer
	known knownFields // of indices, if that was found already
	// found treats the answer of a search, if it was made already: it follows from hits and
	// the filter.
	found  Treatment
	mapped mappedIn // of alike, for rules
	// checked tells that hits are looked at though nothing binds them: a name that was
	// forwarded could come to mean an index that is not granted, or is under a rule.
	checked bool
}

// free reports whether nothing binds: neither documents nor fields.
func (b *binding) free() bool { return !b.bound && b.views == nil }

// bind derives the rules for the targets of a decision. If open is set the names that
// are forwarded could come to mean other indices, so each document is bound to the
// indices that were decided, even where no rule applies. The result is the caller's
// own, but not what it points to.
func (pl *plan) bind(j *judged, open bool) (*binding, *ask.Rejection) {
	if j.kept != nil {
		return j.kept.bind(pl, j, open)
	}
	return pl.bindAnew(j, open)
}

func (pl *plan) bindAnew(j *judged, open bool) (*binding, *ask.Rejection) {
	// A name that is no concrete index could come to mean one that is restricted, or not granted.
	open = open && len(j.Groups) > 0 && (pl.s.policy.Ruled(pl.who) || pl.heldByMembers(j))
	key, single := pl.s.bindingKey(j, open)
	if !single {
		made, rej := pl.makeBinding(j, open)
		return pl.own(made, j, open), rej
	}
	known, ok := pl.s.memo.bindings.Get(key)
	if !ok {
		made, rej := pl.makeBinding(j, open)
		if rej != nil {
			return nil, rej
		}
		made.keepTreatment()
		pl.s.memo.bindings.Add(key, made)
		known = made
	}
	return pl.own(known, j, open), nil
}

// keepTreatment makes what treats answers under b, for all copies of it.
func (b *binding) keepTreatment() {
	b.hits = b.answer()
	b.found = searchTreatment{answer: b.hits, told: told{filter: b.rules.Filter}}
}

// heldByMembers reports whether an alias that keeps its name is granted by what is behind
// it: its name does not grant what else may come to stand there.
func (pl *plan) heldByMembers(j *judged) bool {
	for i := range j.Allowed {
		t := &j.Allowed[i]
		if t.Kind != ask.Alias || !t.Filtered {
			continue
		}
		if !pl.grantsByName(j, t.Name) {
			return true
		}
	}
	return false
}

// own returns a copy of b for one request, which may add to it.
func (pl *plan) own(b *binding, j *judged, open bool) *binding {
	if b == nil {
		return nil
	}
	c := b.again()
	c.rules.NamesOnly = open && !b.bound && !pl.bindsByAlias(j)
	c.hides = b.rules.Filter != query.Free || slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Filtered })
	c.rules.Order = pl.s.orderTold(c)
	c.checked = c.free() && pl.mayMove(j)
	return c
}

// mayMove reports whether a name of j could come to mean what is not granted alike.
func (pl *plan) mayMove(j *judged) bool {
	if pl.s.policy.Ruled(pl.who) {
		return true
	}
	covered := pl.coveredPatterns(j)
	for i := range j.Allowed {
		t := &j.Allowed[i]
		if isComparable(t.Name) && slices.ContainsFunc(covered, func(p names.Pattern) bool { return p.Match(t.Name) }) {
			continue // it is granted by name, as all that p matches
		}
		byMembers := t.Kind == ask.Alias && !slices.ContainsFunc(t.Members, func(m string) bool { return !pl.grantsByName(j, m) })
		if !byMembers && !pl.grantsByName(j, t.Name) {
			return true
		}
	}
	return false
}

// coveredPatterns returns the wildcards of j that are granted whatever they come to match.
func (pl *plan) coveredPatterns(j *judged) []names.Pattern {
	if len(j.Allowed) < 2 {
		return nil
	}
	var list []names.Pattern
	for _, e := range j.part.Exprs {
		if p, ok := e.Pattern(); ok && e.IsWildcard() && pl.grantsByName(j, string(e)) {
			list = append(list, p)
		}
	}
	return list
}

// again returns a copy of b to which one request may add.
func (b *binding) again() *binding {
	c := *b
	if c.views != nil {
		c.rules.Replaced = new(query.Names)
	}
	return &c
}

// bindsByAlias reports whether an alias hides documents by its filter or its routing,
// which its name brings: where no other name of j leads to its index.
func (pl *plan) bindsByAlias(j *judged) bool {
	return slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Filtered }) &&
		len(pl.s.state.Bindings(ask.Resolved{Targets: j.Allowed})) > 0
}

// bindingKey is all that the binding of one index depends on.
type bindingKey struct {
	restriction ask.RestrictionID
	index       string
	mapping     indexresolver.MappingID // zero if no field rule looks at it
	open        bool
}

// bindingKey returns the key of j's binding and reports whether j is of one index that
// is there and that no alias binds: the usual case, whose binding is remembered.
func (s *Snapshot) bindingKey(j *judged, open bool) (bindingKey, bool) {
	if len(j.Groups) != 1 || len(j.Groups[0].Indices) != 1 || len(j.Allowed) != 1 || len(j.Allowed[0].Via) > 0 {
		return bindingKey{}, false
	}
	g := &j.Groups[0]
	_, id, known := s.state.Mapping(g.Indices[0])
	if !known {
		return bindingKey{}, false // a name that the client made up is not kept
	}
	key := bindingKey{restriction: g.Restriction, index: g.Indices[0], open: open}
	if g.Rules.HidesFields() {
		key.mapping = id
	}
	return key, true
}

// makeBinding is bind without memory.
func (pl *plan) makeBinding(j *judged, open bool) (*binding, *ask.Rejection) {
	b := &binding{rules: query.Rules{Filter: query.Free}, indices: groupedIndices(j.Groups)}
	list := make([]dls.Group, 0, len(j.Groups)+1)
	aliased, rej := pl.aliasFilters(j)
	if rej != nil {
		return nil, rej
	}
	for _, g := range j.Groups {
		if len(g.Rules.Masks) > 0 {
			return nil, notBuilt("an index with masked fields")
		}
		f, err := pl.s.filter(g.Rules)
		if err != nil {
			return nil, asRejection(err)
		}
		there := g.Indices
		if open {
			there = pl.existing(there)
		}
		plain := there
		if len(aliased) > 0 {
			plain = nil
		}
		for _, name := range there[len(plain):] {
			if a, ok := aliased[name]; ok {
				list = append(list, dls.Group{Indices: []string{name}, Filter: dls.And(f, a)})
			} else {
				plain = append(plain, name)
			}
		}
		b.bound = b.bound || f != query.Free || len(plain) < len(there)
		list = append(list, dls.Group{Indices: plain, Filter: f})
		if alike := pl.s.state.Alike(g.Indices); b.alike == nil {
			b.alike = alike
		} else {
			b.alike = slices.Concat(b.alike, alike)
		}
	}
	if open {
		list = append(list, dls.Group{}) // a second group makes each be bound by name
	}
	if b.bound || open {
		var err error
		if b.rules.Filter, err = dls.Groups(list...); err != nil {
			return nil, badRequest("%v", err)
		}
	}
	return b, pl.bindFields(b, j.Groups)
}

// existing returns those of some names that are indices. A name that is missing can come to
// be an alias, by which the field _index would find whatever is behind it.
func (pl *plan) existing(list []string) []string {
	missing := func(name string) bool { _, ok := pl.s.state.Index(name); return !ok }
	if !slices.ContainsFunc(list, missing) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), missing)
}

// groupedIndices returns the indices of all groups, sorted.
func groupedIndices(groups []authz.Group) []string {
	if len(groups) == 1 {
		return groups[0].Indices
	}
	var all []string
	for _, g := range groups {
		all = append(all, g.Indices...)
	}
	slices.Sort(all)
	return all
}

// aliasFilters returns the filters of aliases on the indices that were reached through
// such aliases alone and are forwarded by their own names.
func (pl *plan) aliasFilters(j *judged) (map[string]query.Filter, *ask.Rejection) {
	var via []ask.Target
	for _, t := range j.Allowed {
		if len(t.Via) > 0 {
			via = append(via, t)
		}
	}
	if len(via) == 0 {
		return nil, nil
	}
	out := map[string]query.Filter{}
	for index, bound := range pl.s.state.Bindings(ask.Resolved{Targets: via}) {
		if len(bound.Routing) > 0 {
			return nil, notBuilt("a part of an alias with a routing")
		}
		f, rej := pl.s.anyFilter(bound.Filters, isRuled(j))
		if rej != nil {
			return nil, rej
		}
		out[index] = f
	}
	return out, nil
}

// filter returns the document filter of a restriction.
func (s *Snapshot) filter(r *authz.Restriction) (query.Filter, error) {
	if r.None {
		return query.None, nil
	}
	if len(r.DLS) == 0 {
		return query.Free, nil
	}
	filters := make([]query.Filter, 0, len(r.DLS))
	for _, rule := range r.DLS {
		key := rule.Template + "\x00" + rule.Text // equal texts of different templates can mean different things
		f, ok := s.memo.filters.Get(key)
		if !ok {
			var err error
			if f, err = compileRule(rule); isNotBuilt(err) {
				return query.None, notBuilt("a document rule of one of your roles")
			} else if err != nil {
				f = query.None // a value that no query can hold shows nothing
			}
			s.memo.filters.Add(key, f)
		}
		filters = append(filters, f)
	}
	return dls.Or(filters...), nil
}

// bindFields adds the views of all indices, if a field rule applies to any of them.
func (pl *plan) bindFields(b *binding, groups []authz.Group) *ask.Rejection {
	ruled := false
	for _, g := range groups {
		ruled = ruled || g.Rules.HidesFields()
	}
	if !ruled {
		return nil
	}
	// What shows no document has no say in how fields are seen beside others.
	shown := slices.ContainsFunc(groups, func(g authz.Group) bool { return !g.Rules.None })
	b.views = map[string]*fls.View{}
	var list []*fls.View
	seen := map[*fls.View]bool{}
	for _, g := range groups {
		for _, index := range g.Indices {
			v, err := pl.s.view(g.Rules, index)
			if err != nil {
				return staleState(err)
			}
			b.views[index] = v
			if !seen[v] && !(g.Rules.None && shown) {
				seen[v] = true
				list = append(list, v)
			}
		}
	}
	views := fls.NewViews(list)
	b.rules.Fields = views
	b.rules.SourceIncludes, b.rules.SourceExcludes, b.narrowed = views.SourcePatterns()
	return nil
}

// view returns what a restriction shows of an index.
func (s *Snapshot) view(r *authz.Restriction, index string) (*fls.View, error) {
	m, err := s.mappingOf(index)
	if err != nil {
		return nil, err
	}
	id := r.ID
	if !r.HidesFields() {
		id = ask.Free
	}
	key := viewKey{restriction: id, mapping: m.Hash()}
	if v, ok := s.memo.views.Get(key); ok {
		return v, nil
	}
	rules := fls.Everything()
	if r.HidesFields() {
		if rules, err = s.fieldRules(r); err != nil {
			return nil, err
		}
	}
	v := fls.NewView(rules, m)
	s.memo.views.Add(key, v)
	return v, nil
}

func (s *Snapshot) fieldRules(r *authz.Restriction) (fls.Rules, error) {
	if r.None {
		return fls.Rules{}, nil // the zero value shows nothing
	}
	if rules, ok := s.memo.fields.Get(r.ID); ok {
		return rules, nil
	}
	rules, err := fls.Compile(r.FLS)
	if err == nil {
		s.memo.fields.Add(r.ID, rules)
	}
	return rules, err
}

// compileRule fills a document rule with the values that were found for it.
func compileRule(rule authz.DLSRule) (query.Filter, error) {
	parsed, err := dls.Parse(rule.Template)
	if err != nil {
		return query.None, err
	}
	return parsed.Compile(func(name string) ([]string, bool, bool) {
		v, ok := rule.Values[name]
		return v.Texts, v.List, ok
	})
}
