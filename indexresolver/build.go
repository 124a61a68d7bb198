package indexresolver

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"guard/internal/ask"
	"guard/internal/names"
)

// builder makes a State of what is new in the facts and of what the last one has already.
// Most of 100,000 indices are as they were when one is born: their entries are shared by
// both states. Entries are never changed once a state has them, so whatever leads to one
// that is new is new as well: a stream with one new index, with all indices of it, and an
// alias with one.
type builder struct {
	prev, next *State
	streams    map[string]*DataStream // of the facts, by index

	stays []uint64 // by ordinal: entries of prev that next shares
	found []uint64 // by ordinal: indices of prev that the facts have

	indices []*entry            // new ones
	groups  []*entry            // new aliases and streams
	joined  map[string][]*entry // by alias: those of indices that are in it
}

// build adds what c says to b.next.
func (b *builder) build(c *Contents) error {
	n := int(b.prev.ordinals)/64 + 1
	b.stays, b.found = make([]uint64, n), make([]uint64, n)
	b.streams = make(map[string]*DataStream)
	for i := range c.DataStreams {
		for _, index := range c.DataStreams[i].Indices {
			b.streams[index] = &c.DataStreams[i]
		}
	}
	if err := b.readIndices(c.Indices); err != nil {
		return err
	}
	b.renewStreams(c.DataStreams)
	b.renewAliases()
	return b.join(c.DataStreams)
}

func has(set []uint64, n uint32) bool { return set[n/64]&(1<<(n%64)) != 0 }
func put(set []uint64, n uint32)      { set[n/64] |= 1 << (n % 64) }
func drop(set []uint64, n uint32)     { set[n/64] &^= 1 << (n % 64) }

// readIndices finds out which indices stay as they were and makes entries of the others.
func (b *builder) readIndices(list []Index) error {
	for i := range list {
		x := &list[i]
		old := b.prev.index(x.Name)
		if old != nil {
			if has(b.found, old.ordinal) {
				return twice(x.Name, ask.Index, ask.Index)
			}
			put(b.found, old.ordinal)
		}
		if old != nil && old.index.same(x) && (old.stream == nil) == (b.streams[x.Name] == nil) {
			put(b.stays, old.ordinal)
			continue
		}
		b.add(x, old)
	}
	return nil
}

// add makes the entry of x, which old was. It keeps a copy: x itself would keep the facts of
// all indices that were read with it in memory, as long as any state has this one.
func (b *builder) add(x *Index, old *entry) {
	own := *x
	e := &entry{name: x.Name, kind: ask.Index, hidden: x.Hidden, closed: x.Closed, index: &own}
	e.tuned = len(x.Sort)+len(x.Analyzers) > 0
	e.members, e.names = []*entry{e}, []string{e.name}
	e.mapping = mappingID(x, old)
	for i := range x.Aliases {
		e.aliases = append(e.aliases, x.Aliases[i].Alias)
	}
	b.indices = append(b.indices, e)
}

// mappingID hashes the mapping of x, unless it is the one that old had.
func mappingID(x *Index, old *entry) MappingID {
	switch {
	case x.Mapping == nil:
		return MappingID{}
	case old != nil && bytes.Equal(x.Mapping, old.index.Mapping):
		return old.mapping
	}
	return sha256.Sum256(x.Mapping)
}

// renewStreams has the streams stay that are as they were, with all of their indices, and
// renews the indices of others.
func (b *builder) renewStreams(list []DataStream) {
	for i := range list {
		d := &list[i]
		if old, ok := b.prev.entries[d.Name]; ok && old.kind == ask.DataStream && b.streamStays(old, d) {
			put(b.stays, old.ordinal)
		}
	}
	for _, e := range b.prev.sorted {
		if e.kind == ask.DataStream && !has(b.stays, e.ordinal) {
			b.renew(e.members)
		}
	}
}

func (b *builder) streamStays(old *entry, d *DataStream) bool {
	if old.hidden != d.Hidden || len(old.names) != len(d.Indices) {
		return false
	}
	for _, name := range d.Indices {
		m := b.prev.index(name)
		if m == nil || !has(b.stays, m.ordinal) || m.stream != old || b.streams[name] != d {
			return false
		}
	}
	return true
}

// renew makes new entries of indices that would have stayed.
func (b *builder) renew(list []*entry) {
	for _, e := range list {
		if has(b.stays, e.ordinal) {
			drop(b.stays, e.ordinal)
			b.add(e.index, e)
		}
	}
}

// renewAliases has the aliases stay of which all indices do, and joins new indices to
// theirs, with those that stay.
func (b *builder) renewAliases() {
	b.joined = make(map[string][]*entry)
	for _, e := range b.indices {
		for i, alias := range e.aliases {
			if !slices.Contains(e.aliases[:i], alias) {
				b.joined[alias] = append(b.joined[alias], e)
			}
		}
	}
	for _, e := range b.prev.sorted {
		if e.kind == ask.Index && !has(b.stays, e.ordinal) { // it left, or is new
			for _, alias := range e.aliases {
				if _, ok := b.joined[alias]; !ok {
					b.joined[alias] = nil
				}
			}
		}
	}
	for _, e := range b.prev.sorted {
		if e.kind != ask.Alias {
			continue
		}
		fresh, renewed := b.joined[e.name]
		if !renewed {
			put(b.stays, e.ordinal)
			continue
		}
		for _, m := range e.members {
			if has(b.stays, m.ordinal) {
				fresh = append(fresh, m)
			}
		}
		b.joined[e.name] = fresh
	}
}

// join puts together what stays and what is new.
func (b *builder) join(streams []DataStream) error {
	s := b.next
	s.entries, s.mappings = maps.Clone(b.prev.entries), maps.Clone(b.prev.mappings)
	if s.entries == nil {
		s.entries, s.mappings = make(map[string]*entry, len(b.indices)), make(map[MappingID]content)
	}
	s.ordinals, s.free = b.prev.ordinals, slices.Clone(b.prev.free)
	for _, e := range b.prev.sorted {
		if !has(b.stays, e.ordinal) {
			delete(s.entries, e.name)
			s.free = append(s.free, e.ordinal)
			s.release(e)
		}
	}
	for _, e := range b.indices {
		if err := s.add(e); err != nil {
			return err
		}
		s.keep(e)
	}
	if err := b.joinAliases(); err != nil {
		return err
	}
	for i := range streams {
		if err := b.joinStream(&streams[i]); err != nil {
			return err
		}
	}
	s.sorted = b.merge(slices.Concat(b.indices, b.groups))
	return nil
}

func (b *builder) joinAliases() error {
	for _, alias := range slices.Sorted(maps.Keys(b.joined)) {
		members := b.joined[alias]
		if len(members) == 0 {
			continue
		}
		e := &entry{name: alias, kind: ask.Alias, members: members}
		for _, x := range members {
			for i := range x.index.Aliases {
				if m := &x.index.Aliases[i]; m.Alias == alias {
					// One hidden membership hides the alias: the cluster wants all of them alike.
					e.hidden = e.hidden || m.Hidden
					e.filtered = e.filtered || m.Filter != nil || m.SearchRouting != "" || m.IndexRouting != ""
				}
			}
		}
		if err := b.group(e); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) joinStream(d *DataStream) error {
	if old, ok := b.prev.entries[d.Name]; ok && old.kind == ask.DataStream && has(b.stays, old.ordinal) {
		return nil
	}
	e := &entry{name: d.Name, kind: ask.DataStream, hidden: d.Hidden}
	for _, name := range d.Indices {
		m, ok := b.next.entries[name]
		if !ok || m.kind != ask.Index {
			return fmt.Errorf("cannot use the cluster state: data stream %q has the unknown index %q", d.Name, name)
		}
		if b.streams[name] == d { // of two that claim an index the last one counts
			m.stream = e
		}
		e.members = append(e.members, m)
	}
	return b.group(e)
}

// group adds an alias or a stream.
func (b *builder) group(e *entry) error {
	slices.SortFunc(e.members, byName)
	e.names = make([]string, len(e.members))
	for i, m := range e.members {
		e.names[i] = m.name
	}
	b.groups = append(b.groups, e)
	return b.next.add(e)
}

func byName(a, b *entry) int { return strings.Compare(a.name, b.name) }

// merge returns the entries that stay and the new ones by their names.
func (b *builder) merge(fresh []*entry) []*entry {
	slices.SortFunc(fresh, byName)
	for _, e := range fresh {
		e.itself = []ask.Target{e.target(false)}
	}
	all := make([]*entry, 0, len(b.prev.sorted)+len(fresh))
	for _, e := range b.prev.sorted {
		if !has(b.stays, e.ordinal) {
			continue
		}
		for len(fresh) > 0 && fresh[0].name < e.name {
			all, fresh = append(all, fresh[0]), fresh[1:]
		}
		all = append(all, e)
	}
	return append(all, fresh...)
}

// add refuses a second meaning of a name: the cluster has none, so the state would
// be a mixture of two.
func (s *State) add(e *entry) error {
	if err := names.CheckName(e.name); err != nil {
		return fmt.Errorf("cannot use the cluster state: %w", err)
	}
	if other, ok := s.entries[e.name]; ok {
		return twice(e.name, other.kind, e.kind)
	}
	if n := len(s.free); n > 0 {
		e.ordinal, s.free = s.free[n-1], s.free[:n-1]
	} else {
		e.ordinal = s.ordinals
		s.ordinals++
	}
	s.entries[e.name] = e
	return nil
}

func twice(name string, one, other ask.TargetKind) error {
	return fmt.Errorf("cannot use the cluster state: %q is %s and %s", name, kindName(one), kindName(other))
}

// keep counts the use of the mapping of an index, which is kept once.
func (s *State) keep(e *entry) {
	if e.index.Mapping == nil {
		return
	}
	c, ok := s.mappings[e.mapping]
	if !ok {
		c = content{raw: e.index.Mapping, timed: bytes.Contains(e.index.Mapping, timestamp)}
	}
	c.uses++
	s.mappings[e.mapping] = c
	e.timed = c.timed
	if len(c.raw) > 0 && &c.raw[0] != &e.index.Mapping[0] {
		e.index.Mapping = c.raw
	}
}

// release ends a use of a mapping.
func (s *State) release(e *entry) {
	if e.index == nil || e.index.Mapping == nil {
		return
	}
	c := s.mappings[e.mapping]
	if c.uses--; c.uses > 0 {
		s.mappings[e.mapping] = c
	} else {
		delete(s.mappings, e.mapping)
	}
}
