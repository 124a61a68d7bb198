// Package indexresolver answers one question: which targets does an index
// expression name? It holds the cluster's names as an immutable State and expands
// by the clusters' own rules. What it cannot resolve is an error, never a guess.
package indexresolver

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

// Distribution says whose software the cluster runs.
type Distribution uint8

// The distributions. The zero value is none that we know.
const (
	UnknownDistribution Distribution = iota
	OpenSearch
	Elasticsearch
)

// Engine is the software of the cluster.
type Engine struct {
	Distribution Distribution
	Version      string // as it says itself: "2.19.4"
	Major, Minor int
}

// Contents are the facts that a State is made of, as they were fetched.
type Contents struct {
	ClusterUUID string
	StateUUID   string
	// Term and Version order the states of one ClusterUUID: elections first, then the
	// master's own counter.
	Term, Version uint64
	Generation    uint64 // ours: counts the states of this process
	FetchedAt     time.Time
	Engine        Engine

	Indices     []Index
	DataStreams []DataStream
}

// Index is one concrete index.
type Index struct {
	Name, UUID string
	Closed     bool
	Hidden     bool // the setting; a visible data stream shows its indices all the same
	System     bool
	Aliases    []Membership
	Mapping    []byte   // JSON of the mapping without a type name, nil if there is none
	Sort       []string // the fields that it is sorted by: the setting index.sort.field
	Analyzers  []string // the names of the analysers that it defines, sorted
}

// Membership is what an alias says about one of its indices.
type Membership struct {
	Alias         string
	Filter        []byte // JSON of a query, nil if there is none
	IndexRouting  string
	SearchRouting string
	Hidden        bool
}

// DataStream is a data stream.
type DataStream struct {
	Name    string
	Hidden  bool
	Indices []string
}

// MappingID is the content of a mapping, hashed: equal mappings are kept once.
type MappingID [sha256.Size]byte

// State is what is known about the cluster at one moment. It is immutable, but for
// the time at which it was last confirmed, and safe for concurrent use. The zero
// value resolves nothing: every question is an error.
type State struct {
	ClusterUUID   string
	StateUUID     string
	Term, Version uint64
	Generation    uint64
	FetchedAt     time.Time
	Engine        Engine

	confirmed *atomic.Pointer[time.Time] // see Confirm
	entries   map[string]*entry
	sorted    []*entry // by name
	mappings  map[MappingID]content
	all       [names.ExpandAll + 1]func() []ask.Target // what "*" means, by states

	serial  uint64   // see Serial
	history []change // the steps that led to s, the latest last
}

// content is a mapping, kept once.
type content struct {
	raw   []byte
	timed bool // it may have a field called @timestamp
}

// entry is a name: an index, an alias or a data stream.
type entry struct {
	name     string
	kind     ask.TargetKind
	hidden   bool
	filtered bool
	members  []*entry     // sorted; of an index itself
	names    []string     // of members
	itself   []ask.Target // the one target that the name written out is

	index   *Index    // of an index
	stream  *entry    // of an index that belongs to one
	mapping MappingID // of an index
	timed   bool      // see content
}

// New builds a State from c, which it keeps: the caller must not change it
// afterwards. What prev holds already is shared with it; prev may be nil.
func New(c Contents, prev *State) (*State, error) {
	s := &State{
		ClusterUUID: c.ClusterUUID, StateUUID: c.StateUUID, Term: c.Term, Version: c.Version,
		Generation: c.Generation, FetchedAt: c.FetchedAt, Engine: c.Engine, confirmed: new(atomic.Pointer[time.Time]),
		entries: make(map[string]*entry, len(c.Indices)), mappings: make(map[MappingID]content),
	}
	s.confirmed.Store(&c.FetchedAt)
	if prev == nil {
		prev = &State{}
	}
	for i := range c.Indices {
		if err := s.addIndex(&c.Indices[i], prev); err != nil {
			return nil, err
		}
	}
	for i := range c.Indices {
		if err := s.addAliases(&c.Indices[i]); err != nil {
			return nil, err
		}
	}
	for _, d := range c.DataStreams {
		if err := s.addDataStream(d); err != nil {
			return nil, err
		}
	}
	s.finish()
	s.follow(prev)
	return s, nil
}

// add refuses a second meaning of a name: the cluster has none, so the state would
// be a mixture of two.
func (s *State) add(e *entry) error {
	if err := names.CheckName(e.name); err != nil {
		return fmt.Errorf("cannot use the cluster state: %w", err)
	}
	if other, ok := s.entries[e.name]; ok {
		return fmt.Errorf("cannot use the cluster state: %q is %s and %s", e.name, kindName(other.kind), kindName(e.kind))
	}
	s.entries[e.name] = e
	return nil
}

func kindName(k ask.TargetKind) string {
	switch k {
	case ask.Index:
		return "an index"
	case ask.Alias:
		return "an alias"
	case ask.DataStream:
		return "a data stream"
	default:
		return "unknown"
	}
}

func (s *State) addIndex(x *Index, prev *State) error {
	e := &entry{name: x.Name, kind: ask.Index, hidden: x.Hidden, index: x}
	e.members = []*entry{e}
	if x.Mapping != nil {
		e.mapping = sha256.Sum256(x.Mapping)
		c, known := prev.mappings[e.mapping]
		if !known {
			c, known = s.mappings[e.mapping]
		}
		if !known {
			c = content{raw: x.Mapping, timed: bytes.Contains(x.Mapping, timestamp)}
		}
		s.mappings[e.mapping] = c
		x.Mapping, e.timed = c.raw, c.timed
	}
	return s.add(e)
}

func (s *State) addAliases(x *Index) error {
	index := s.entries[x.Name]
	for i := range x.Aliases {
		m := &x.Aliases[i]
		a, ok := s.entries[m.Alias]
		if !ok || a.kind != ask.Alias {
			a = &entry{name: m.Alias, kind: ask.Alias, hidden: m.Hidden}
			if err := s.add(a); err != nil {
				return err
			}
		}
		a.members = append(a.members, index)
		a.filtered = a.filtered || m.Filter != nil || m.SearchRouting != "" || m.IndexRouting != ""
		// One hidden membership hides the alias: the cluster wants all of them alike.
		a.hidden = a.hidden || m.Hidden
	}
	return nil
}

func (s *State) addDataStream(d DataStream) error {
	e := &entry{name: d.Name, kind: ask.DataStream, hidden: d.Hidden}
	for _, name := range d.Indices {
		index, ok := s.entries[name]
		if !ok || index.kind != ask.Index {
			return fmt.Errorf("cannot use the cluster state: data stream %q has the unknown index %q", d.Name, name)
		}
		index.stream = e
		e.members = append(e.members, index)
	}
	return s.add(e)
}

// finish sorts and links what was added.
func (s *State) finish() {
	s.sorted = slices.SortedFunc(maps.Values(s.entries), func(a, b *entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range s.sorted {
		slices.SortFunc(e.members, func(a, b *entry) int { return strings.Compare(a.name, b.name) })
		e.names = make([]string, len(e.members))
		for i, m := range e.members {
			e.names[i] = m.name
		}
		e.itself = []ask.Target{e.target(false)}
	}
	for states := range s.all {
		s.all[states] = sync.OnceValue(func() []ask.Target { return s.everything(names.Expand(states)) }) //nolint:gosec // G115: below 8
	}
}

// SameNames reports whether s and o hold the same facts, when and wherever they were
// fetched: no answer of theirs differs.
func (s *State) SameNames(o *State) bool {
	if s.Empty() || o.Empty() {
		return s.Empty() == o.Empty()
	}
	return s.ClusterUUID == o.ClusterUUID && s.Engine == o.Engine && slices.EqualFunc(s.sorted, o.sorted, (*entry).same)
}

func (e *entry) same(o *entry) bool {
	if e.name != o.name || e.kind != o.kind || e.hidden != o.hidden || !slices.Equal(e.names, o.names) {
		return false
	}
	if e.index == nil {
		return true
	}
	x, y := e.index, o.index
	return x.UUID == y.UUID && x.Closed == y.Closed && x.System == y.System && (x.Mapping == nil) == (y.Mapping == nil) &&
		e.mapping == o.mapping && slices.Equal(x.Sort, y.Sort) && slices.Equal(x.Analyzers, y.Analyzers) && slices.EqualFunc(x.Aliases, y.Aliases, Membership.same)
}

func (m Membership) same(o Membership) bool {
	return m.Alias == o.Alias && bytes.Equal(m.Filter, o.Filter) && (m.Filter == nil) == (o.Filter == nil) &&
		m.IndexRouting == o.IndexRouting && m.SearchRouting == o.SearchRouting && m.Hidden == o.Hidden
}

// Empty reports whether s holds no state at all, as opposed to one without names.
func (s *State) Empty() bool { return s == nil || s.entries == nil }

// Lookup returns the target that name is, if it is an index, alias or data stream.
func (s *State) Lookup(name string) (ask.Target, bool) {
	if s == nil {
		return ask.Target{}, false
	}
	e, ok := s.entries[name]
	if !ok {
		return ask.Target{}, false
	}
	return e.target(false), true
}

// Targets yields every index, alias and data stream, by name.
func (s *State) Targets() iter.Seq[ask.Target] {
	return func(yield func(ask.Target) bool) {
		for _, e := range s.sorted {
			if !yield(e.target(false)) {
				return
			}
		}
	}
}

// Index returns the concrete index called name. It is read-only.
func (s *State) Index(name string) (*Index, bool) {
	if s == nil {
		return nil, false
	}
	e, ok := s.entries[name]
	if !ok || e.kind != ask.Index {
		return nil, false
	}
	return e.index, true
}

// StreamOf returns the data stream that the index called name belongs to.
func (s *State) StreamOf(name string) (string, bool) {
	if s == nil {
		return "", false
	}
	e, ok := s.entries[name]
	if !ok || e.stream == nil {
		return "", false
	}
	return e.stream.name, true
}

// Mapping returns the mapping of the concrete index called name as JSON, without a
// type name, and its identity. It is read-only.
func (s *State) Mapping(name string) (raw []byte, id MappingID, ok bool) {
	if s == nil {
		return nil, MappingID{}, false
	}
	e, ok := s.entries[name]
	if !ok || e.index == nil || e.index.Mapping == nil {
		return nil, MappingID{}, false
	}
	return e.index.Mapping, e.mapping, true
}

// Mappings yields each different mapping once.
func (s *State) Mappings() iter.Seq2[MappingID, []byte] {
	return func(yield func(MappingID, []byte) bool) {
		for id, c := range s.mappings {
			if !yield(id, c.raw) {
				return
			}
		}
	}
}

// Confirm notes that the cluster was still in this state at that time. Snapshots
// that hold s see it. A time before the last one changes nothing.
func (s *State) Confirm(at time.Time) {
	for {
		last := s.confirmed.Load()
		if !at.After(*last) || s.confirmed.CompareAndSwap(last, &at) {
			return
		}
	}
}

// Age is the time since the cluster was last known to be in this state. The state
// that nothing is known of is older than any limit. Of the two clocks of the system the
// one counts by which it is older: the one of the wall can be set back, which would make
// an old state a new one, and the monotonic one rests while the system sleeps.
func (s *State) Age(now time.Time) time.Duration {
	if s.Empty() {
		return math.MaxInt64
	}
	last := *s.confirmed.Load()
	return max(now.Sub(last), now.Round(0).Sub(last.Round(0)))
}

func (e *entry) target(wildcard bool) ask.Target {
	return ask.Target{Name: e.name, Kind: e.kind, Members: e.names, Wildcard: wildcard, Filtered: e.filtered}
}
