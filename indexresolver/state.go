// Package indexresolver answers one question: which targets does an index
// expression name? It holds the cluster's names as an immutable State and expands
// by the clusters' own rules. What it cannot resolve is an error, never a guess.
package indexresolver

import (
	"bytes"
	"crypto/sha256"
	"iter"
	"math"
	"slices"
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
	ordinals  uint32   // of entries are below
	free      []uint32 // those of them that no entry has
	mappings  map[MappingID]content
	all       [names.ExpandAll + 1]func() []ask.Target // what "*" means, by states

	serial  uint64   // see Serial
	history []change // the steps that led to s, the latest last
}

// content is a mapping, kept once.
type content struct {
	raw   []byte
	timed bool // it may have a field called @timestamp
	uses  int  // by so many indices
}

// entry is a name: an index, an alias or a data stream.
type entry struct {
	// What is asked of each name that a wildcard finds stands together: entries lie far
	// apart in memory.
	name     string
	aliases  []string // of an index
	stream   *entry   // of an index that belongs to one
	ordinal  uint32   // of this entry alone in all states that have it
	kind     ask.TargetKind
	hidden   bool
	filtered bool
	closed   bool // of an index
	tuned    bool // of an index with an order or analysers of its own

	members []*entry     // sorted; of an index itself
	names   []string     // of members
	itself  []ask.Target // the one target that the name written out is
	index   *Index       // of an index
	mapping MappingID    // of an index
	timed   bool         // see content
}

// New builds a State from c, which it keeps: the caller must not change it
// afterwards. What prev holds already is shared with it; prev may be nil.
func New(c Contents, prev *State) (*State, error) {
	s := &State{
		ClusterUUID: c.ClusterUUID, StateUUID: c.StateUUID, Term: c.Term, Version: c.Version,
		Generation: c.Generation, FetchedAt: c.FetchedAt, Engine: c.Engine, confirmed: new(atomic.Pointer[time.Time]),
	}
	s.confirmed.Store(&c.FetchedAt)
	if prev == nil {
		prev = &State{}
	}
	if err := (&builder{prev: prev, next: s}).build(&c); err != nil {
		return nil, err
	}
	for states := range s.all {
		s.all[states] = sync.OnceValue(func() []ask.Target { return s.everything(names.Expand(states)) }) //nolint:gosec // G115: below 8
	}
	s.follow(prev)
	return s, nil
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

// SameNames reports whether s and o hold the same facts, when and wherever they were
// fetched: no answer of theirs differs.
func (s *State) SameNames(o *State) bool {
	if s.Empty() || o.Empty() {
		return s.Empty() == o.Empty()
	}
	return s.ClusterUUID == o.ClusterUUID && s.Engine == o.Engine && slices.EqualFunc(s.sorted, o.sorted, (*entry).same)
}

func (e *entry) same(o *entry) bool {
	if e == o {
		return true
	}
	if e.name != o.name || e.kind != o.kind || e.hidden != o.hidden || !slices.Equal(e.names, o.names) {
		return false
	}
	return e.index == nil || e.index.same(o.index)
}

// same reports whether x and y tell the same of one index.
func (x *Index) same(y *Index) bool {
	return x.UUID == y.UUID && x.Closed == y.Closed && x.Hidden == y.Hidden &&
		(x.Mapping == nil) == (y.Mapping == nil) && bytes.Equal(x.Mapping, y.Mapping) &&
		slices.Equal(x.Sort, y.Sort) && slices.Equal(x.Analyzers, y.Analyzers) && slices.EqualFunc(x.Aliases, y.Aliases, Membership.same)
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

// AliasesOf returns the aliases of the concrete index called name. It is read-only.
func (s *State) AliasesOf(name string) []string {
	if e := s.index(name); e != nil {
		return e.aliases
	}
	return nil
}

// index returns the entry of the concrete index called name, or nil.
func (s *State) index(name string) *entry {
	if e, ok := s.entries[name]; ok && e.kind == ask.Index {
		return e
	}
	return nil
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
