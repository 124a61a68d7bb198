package gate

import (
	"bytes"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"

	"guard/authz"
	"guard/indexresolver"
	"guard/internal/esjson"
	"guard/internal/mapping"
)

// cluster is the state as decisions see it.
type cluster struct{ state *indexresolver.State }

var _ authz.Cluster = cluster{}

// Aliases returns the aliases of an index.
func (c cluster) Aliases(name string) []string { return c.state.AliasesOf(name) }

// Stream returns the data stream that an index is a generation of, or "".
func (c cluster) Stream(index string) string {
	name, _ := c.state.StreamOf(index)
	return name
}

// storesQueries reports whether documents of an index can hold queries. The cluster runs
// the lookups in such a query when it is written, with rights of its own.
func (s *Snapshot) storesQueries(index string) bool {
	raw, id, ok := s.state.Mapping(index)
	if !ok {
		return false
	}
	if yes, ok := s.memo.percolators.Get(id); ok {
		return yes
	}
	yes := bytes.Contains(raw, []byte(`"percolator"`)) // as a type, or in a dynamic template
	s.memo.percolators.Add(id, yes)
	return yes
}

// computedIn lists the fields of indices that scripts compute. All fields of a mapping that
// cannot be read may be such.
func (s *Snapshot) computedIn(indices []string) []string {
	return s.fieldsIn(indices, s.memo.computed, []string{`"derived"`, `"runtime"`, `"script"`},
		func(f mapping.Field) bool { return f.Kind == mapping.Runtime || f.Scripted })
}

// thinnedIn lists the texts of indices of which the clusters leave out rare or frequent words.
func (s *Snapshot) thinnedIn(indices []string) []string {
	return s.fieldsIn(indices, s.memo.thinned, []string{`"fielddata_frequency_filter"`}, func(f mapping.Field) bool { return f.Thinned })
}

// fieldsIn lists the fields of indices for which is holds, and aliases of such. Only mappings
// in which one of words stands can have any; of one that cannot be read, all may be such.
func (s *Snapshot) fieldsIn(indices []string, known *lru.Cache[indexresolver.MappingID, []string], words []string, is func(mapping.Field) bool) []string {
	var all []string
	for _, index := range indices {
		raw, id, ok := s.state.Mapping(index)
		if !ok {
			continue
		}
		list, done := known.Get(id)
		if !done {
			list = s.readFields(index, raw, words, is)
			known.Add(id, list)
		}
		all = append(all, list...)
	}
	return all
}

func (s *Snapshot) readFields(index string, raw []byte, words []string, is func(mapping.Field) bool) []string {
	if !slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(raw, []byte(w)) }) {
		return nil
	}
	m, err := s.mappingOf(index)
	if err != nil {
		return []string{"*"}
	}
	var list []string
	for f := range m.All() {
		if target, ok := m.Lookup(f.AliasOf); is(f) || ok && is(target) {
			list = append(list, f.Path)
		}
	}
	return list
}

// mappingOf returns the fields of an index: none if it does not exist, for then it may
// when the cluster is asked. A mapping that cannot be read is an error: what it hides
// is unknown.
func (s *Snapshot) mappingOf(index string) (*mapping.Mapping, error) {
	raw, id, ok := s.state.Mapping(index)
	if !ok {
		raw = []byte("{}") // no field yet, or no such index
	}
	if m, ok := s.memo.mappings.Get(id); ok {
		return m, nil
	}
	v, err := esjson.Parse(new(esjson.Tape), raw, answerLimits())
	if err != nil {
		return nil, fmt.Errorf("cannot read the mapping of %q: %w", index, err)
	}
	m, err := mapping.Parse(v)
	if err != nil {
		return nil, fmt.Errorf("cannot read the mapping of %q: %w", index, err)
	}
	s.memo.mappings.Add(id, m)
	return m, nil
}
