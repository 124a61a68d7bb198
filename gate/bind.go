package gate

import (
	"guard/authz"
	"guard/dls"
	"guard/fls"
	"guard/internal/ask"
	"guard/internal/query"
)

// binding is what the restrictions on the targets of one part mean for a search.
type binding struct {
	rules query.Rules
	// views are what each index shows; nil if no field rule applies anywhere.
	views map[string]*fls.View
	// bound tells that a document rule applies somewhere.
	bound bool
	// indices are all concrete names that an answer may come from.
	indices map[string]bool
}

// free reports whether nothing binds: neither documents nor fields.
func (b *binding) free() bool { return !b.bound && b.views == nil }

// bind derives the rules for the targets of a decision. If open is set the names that
// are forwarded could come to mean other indices, so each document is bound to the
// indices that were decided, even where no rule applies.
func (pl *plan) bind(j *judged, open bool) (*binding, *ask.Rejection) {
	b := &binding{rules: query.Rules{Filter: query.Free}, indices: map[string]bool{}}
	list := make([]dls.Group, 0, len(j.Groups))
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
		var plain []string
		for _, name := range g.Indices {
			b.indices[name] = true
			if a, ok := aliased[name]; ok {
				list = append(list, dls.Group{Indices: []string{name}, Filter: dls.And(f, a)})
			} else {
				plain = append(plain, name)
			}
		}
		b.bound = b.bound || f != query.Free || len(plain) < len(g.Indices)
		list = append(list, dls.Group{Indices: plain, Filter: f})
	}
	// A name that is no concrete index could come to mean one that is restricted.
	if open = open && len(list) > 0 && pl.s.policy.Ruled(pl.who); open {
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
		filters := make([]query.Filter, len(bound.Filters))
		for i, raw := range bound.Filters {
			filters[i] = query.Filter(raw)
		}
		out[index] = dls.Or(filters...)
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
		ruled = ruled || len(g.Rules.FLS) > 0
	}
	if !ruled {
		return nil
	}
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
			if !seen[v] {
				seen[v] = true
				list = append(list, v)
			}
		}
	}
	views := fls.NewViews(list)
	b.rules.Fields = views
	b.rules.SourceIncludes, b.rules.SourceExcludes = views.SourcePatterns()
	return nil
}

// view returns what a restriction shows of an index.
func (s *Snapshot) view(r *authz.Restriction, index string) (*fls.View, error) {
	m, err := s.mappingOf(index)
	if err != nil {
		return nil, err
	}
	id := r.ID
	if len(r.FLS) == 0 {
		id = ask.Free
	}
	key := viewKey{restriction: id, mapping: m.Hash()}
	if v, ok := s.memo.views.Get(key); ok {
		return v, nil
	}
	rules := fls.Everything()
	if len(r.FLS) > 0 {
		if rules, err = s.fieldRules(r); err != nil {
			return nil, err
		}
	}
	v := fls.NewView(rules, m)
	s.memo.views.Add(key, v)
	return v, nil
}

func (s *Snapshot) fieldRules(r *authz.Restriction) (fls.Rules, error) {
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
