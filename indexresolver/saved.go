package indexresolver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"guard/internal/ask"
)

// savedFormat is the version of the form in which a state is saved.
const savedFormat = 1

// saved is a State as JSON: the names of the cluster and what guard uses of them, and
// nothing else of the cluster's metadata. Somebody who has no cluster can write one.
type saved struct {
	Format      int           `json:"guard_state"`
	Engine      savedEngine   `json:"engine"`
	ClusterUUID string        `json:"cluster_uuid"`
	StateUUID   string        `json:"state_uuid,omitempty"`
	Term        uint64        `json:"term,omitempty"`
	Version     uint64        `json:"version,omitempty"`
	FetchedAt   time.Time     `json:"fetched_at"`
	Indices     []savedIndex  `json:"indices"`
	DataStreams []savedStream `json:"data_streams,omitempty"`
}

type savedEngine struct {
	Distribution string `json:"distribution"` // "opensearch" or "elasticsearch"
	Version      string `json:"version"`
}

type savedIndex struct {
	Name      string          `json:"name"`
	UUID      string          `json:"uuid,omitempty"`
	Closed    bool            `json:"closed,omitempty"`
	Hidden    bool            `json:"hidden,omitempty"`
	Sort      []string        `json:"sort,omitempty"`
	Analyzers []string        `json:"analyzers,omitempty"`
	Aliases   []savedAlias    `json:"aliases,omitempty"`
	Mapping   json.RawMessage `json:"mapping,omitempty"`
}

type savedAlias struct {
	Alias         string          `json:"alias"`
	Filter        json.RawMessage `json:"filter,omitempty"`
	IndexRouting  string          `json:"index_routing,omitempty"`
	SearchRouting string          `json:"search_routing,omitempty"`
	Hidden        bool            `json:"hidden,omitempty"`
}

type savedStream struct {
	Name    string   `json:"name"`
	Hidden  bool     `json:"hidden,omitempty"`
	Indices []string `json:"indices"`
}

// Save writes s as JSON, which Load reads.
func (s *State) Save(w io.Writer) error {
	if s.Empty() {
		return errors.New("cannot save the state of the cluster: nothing is known of it")
	}
	out := saved{
		Format: savedFormat, Engine: savedEngine{s.Engine.Distribution.String(), s.Engine.Version},
		ClusterUUID: s.ClusterUUID, StateUUID: s.StateUUID, Term: s.Term, Version: s.Version, FetchedAt: s.FetchedAt.UTC(),
		Indices: []savedIndex{},
	}
	for _, e := range s.sorted {
		switch {
		case e.index != nil:
			out.Indices = append(out.Indices, saveIndex(e.index))
		case e.kind == ask.DataStream:
			out.DataStreams = append(out.DataStreams, e.saveStream())
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("cannot save the state of the cluster: %w", err)
	}
	return nil
}

func saveIndex(x *Index) savedIndex {
	out := savedIndex{
		Name: x.Name, UUID: x.UUID, Closed: x.Closed, Hidden: x.Hidden, Sort: x.Sort, Analyzers: x.Analyzers, Mapping: x.Mapping,
	}
	for _, m := range x.Aliases {
		out.Aliases = append(out.Aliases, savedAlias{m.Alias, m.Filter, m.IndexRouting, m.SearchRouting, m.Hidden})
	}
	return out
}

func (e *entry) saveStream() savedStream { return savedStream{e.name, e.hidden, e.names} }

// Load reads what Save wrote, or somebody wrote by hand: an unknown key is an error, and a
// name that comes twice. The state is as old as it was when it was saved.
func Load(r io.Reader) (*State, error) {
	var in saved
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return nil, fmt.Errorf("cannot read the saved state: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("cannot read the saved state: something follows it; want one JSON object")
	}
	if in.Format != savedFormat {
		return nil, fmt.Errorf("cannot read the saved state: guard_state is %d; want %d, as guard state save writes it", in.Format, savedFormat)
	}
	engine, err := ParseEngine(in.Engine.Distribution, in.Engine.Version)
	if err != nil {
		return nil, fmt.Errorf("cannot read the saved state: %w", err)
	}
	c := Contents{
		ClusterUUID: in.ClusterUUID, StateUUID: in.StateUUID, Term: in.Term, Version: in.Version, Generation: 1,
		FetchedAt: in.FetchedAt, Engine: engine,
	}
	for i := range in.Indices {
		c.Indices = append(c.Indices, in.Indices[i].load())
	}
	for _, d := range in.DataStreams {
		c.DataStreams = append(c.DataStreams, DataStream(d))
	}
	return New(c, nil)
}

func (x *savedIndex) load() Index {
	out := Index{
		Name: x.Name, UUID: x.UUID, Closed: x.Closed, Hidden: x.Hidden, Sort: x.Sort, Analyzers: x.Analyzers,
		Mapping: compact(x.Mapping),
	}
	if out.Mapping == nil {
		out.Mapping = []byte("{}")
	}
	for _, a := range x.Aliases {
		out.Aliases = append(out.Aliases, Membership{a.Alias, compact(a.Filter), a.IndexRouting, a.SearchRouting, a.Hidden})
	}
	return out
}

// compact takes the blanks out of JSON that was read, as the clusters print it.
func compact(raw json.RawMessage) []byte {
	if raw == nil {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		panic(fmt.Sprintf("BUG: JSON that was read is none: %v", err))
	}
	return b.Bytes()
}

// String returns "opensearch" or "elasticsearch"; nothing for what is unknown.
func (d Distribution) String() string {
	switch d {
	case OpenSearch:
		return "opensearch"
	case Elasticsearch:
		return "elasticsearch"
	default:
		return ""
	}
}

// ParseEngine reads the name of a distribution, as String gives it, and a version.
func ParseEngine(distribution, version string) (Engine, error) {
	e := Engine{Version: version}
	for _, d := range []Distribution{OpenSearch, Elasticsearch} {
		if distribution == d.String() {
			e.Distribution = d
		}
	}
	if e.Distribution == UnknownDistribution {
		return Engine{}, fmt.Errorf("distribution %q of the cluster is unknown; want opensearch or elasticsearch", distribution)
	}
	parts := strings.SplitN(version, ".", 3)
	var err1, err2 error
	if len(parts) > 1 {
		e.Major, err1 = strconv.Atoi(parts[0])
		e.Minor, err2 = strconv.Atoi(parts[1])
	}
	if len(parts) < 2 || err1 != nil || err2 != nil {
		return Engine{}, fmt.Errorf("cannot read the version %q of the cluster; want a number such as 2.19.4", version)
	}
	return e, nil
}
