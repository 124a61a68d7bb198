package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"guard/indexresolver"
)

// reader reads the state of the cluster. It belongs to one goroutine, but for
// version.
type reader struct {
	fetch  Fetcher
	engine indexresolver.Engine // unknown until the cluster told it
}

// The targets that are asked.
const (
	rootTarget    = "/"
	versionTarget = "/_cluster/state/version"
	stateTarget   = "/_cluster/state/version,metadata"
	aliasTarget   = "/_alias?expand_wildcards=all"
)

// maxTries is how often state and aliases are read until both are of one moment.
const maxTries = 4

// errUnsteady tells that the cluster changed between two answers each time.
var errUnsteady = errors.New("the names of the cluster change faster than they can be read")

// contents reads the state, or returns nil if it is still seen. Filters of aliases stand in no answer
// that has the rest, so two are read. They are of one moment if the state around the
// second is the same, or at least every index's count of changes to its aliases:
// moving shards change the state all the time.
func (r *reader) contents(ctx context.Context, seen *stamp) (*indexresolver.Contents, stamp, error) {
	before, err := r.version(ctx)
	if err != nil {
		r.engine = indexresolver.Engine{} // whoever answers next may be another
		return nil, stamp{}, err
	}
	if seen != nil && before.sameState(*seen) {
		return nil, *seen, nil
	}
	if r.engine.Distribution == indexresolver.UnknownDistribution {
		if r.engine, err = r.root(ctx); err != nil {
			return nil, stamp{}, err
		}
	}
	var counted map[string]aliasCount
	for range maxTries {
		aliases, err := r.aliases(ctx)
		if err != nil {
			return nil, stamp{}, err
		}
		state, err := r.state(ctx)
		if err != nil {
			return nil, stamp{}, err
		}
		counts := state.aliasCounts()
		steady := state.sameState(before) || maps.Equal(counts, counted)
		before, counted = state.stamp, counts
		if steady {
			c, err := state.contents(aliases)
			if err != nil {
				return nil, stamp{}, err
			}
			c.Engine = r.engine
			return c, state.stamp, nil
		}
	}
	return nil, stamp{}, errUnsteady
}

// aliasCount tells whether the aliases of an index have changed.
type aliasCount struct {
	uuid    string
	version uint64
}

func (s *clusterState) aliasCounts() map[string]aliasCount {
	out := make(map[string]aliasCount, len(s.Metadata.Indices))
	for name, m := range s.Metadata.Indices {
		out[name] = aliasCount{m.Settings.Index.UUID, m.AliasesVersion}
	}
	return out
}

func (r *reader) get(ctx context.Context, target string, into any) error {
	status, body, err := r.fetch.Fetch(ctx, http.MethodGet, target)
	if err != nil {
		return fmt.Errorf("cannot get %s: %w", target, err)
	}
	if status != http.StatusOK {
		return statusError(target, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("cannot read the answer to %s: %w", target, err)
	}
	return nil
}

// maxQuoted bounds what an error quotes of an answer.
const maxQuoted = 200

func statusError(target string, status int, body []byte) error {
	return fmt.Errorf("cannot get %s: status %d, %q", target, status, body[:min(len(body), maxQuoted)])
}

// stamp identifies a state of a cluster.
type stamp struct {
	ClusterUUID string `json:"cluster_uuid"`
	StateUUID   string `json:"state_uuid"`
	Version     uint64 `json:"version"`
	term        uint64 // stands in the metadata alone
}

func (s stamp) sameState(o stamp) bool {
	return s.ClusterUUID == o.ClusterUUID && s.StateUUID == o.StateUUID
}

// olderThan reports whether s comes before o in the history of one cluster. Another
// cluster_uuid is another cluster and never older.
func (s stamp) olderThan(o stamp) bool {
	if s.ClusterUUID != o.ClusterUUID {
		return false
	}
	return s.term < o.term || s.term == o.term && s.Version < o.Version
}

func (r *reader) version(ctx context.Context) (stamp, error) {
	var s stamp
	if err := r.get(ctx, versionTarget, &s); err != nil {
		return stamp{}, err
	}
	return s, s.check(versionTarget)
}

func (s stamp) check(target string) error {
	if s.ClusterUUID == "" || s.ClusterUUID == "_na_" || s.StateUUID == "" {
		return fmt.Errorf("the answer to %s names no state: cluster_uuid %q, state_uuid %q", target, s.ClusterUUID, s.StateUUID)
	}
	return nil
}

func (r *reader) root(ctx context.Context) (indexresolver.Engine, error) {
	var answer struct {
		Version struct {
			Distribution string `json:"distribution"`
			Number       string `json:"number"`
		} `json:"version"`
	}
	if err := r.get(ctx, rootTarget, &answer); err != nil {
		return indexresolver.Engine{}, err
	}
	distribution := answer.Version.Distribution
	if distribution == "" { // Elasticsearch names none
		distribution = indexresolver.Elasticsearch.String()
	}
	return indexresolver.ParseEngine(distribution, answer.Version.Number)
}

// aliasDetails is an alias as one index has it.
type aliasDetails struct {
	Filter        json.RawMessage `json:"filter"`
	IndexRouting  string          `json:"index_routing"`
	SearchRouting string          `json:"search_routing"`
	IsHidden      bool            `json:"is_hidden"`
}

// aliases returns the aliases of each index.
func (r *reader) aliases(ctx context.Context) (map[string]map[string]aliasDetails, error) {
	var answer map[string]struct {
		Aliases map[string]aliasDetails `json:"aliases"`
	}
	if err := r.get(ctx, aliasTarget, &answer); err != nil {
		return nil, err
	}
	out := make(map[string]map[string]aliasDetails, len(answer))
	for index, a := range answer {
		out[index] = a.Aliases
	}
	return out, nil
}

// clusterState is what is used of the answer to stateTarget.
type clusterState struct {
	stamp
	Metadata struct {
		Coordination struct {
			Term uint64 `json:"term"`
		} `json:"cluster_coordination"`
		Indices     map[string]indexMetadata `json:"indices"`
		DataStreams struct {
			Streams map[string]dataStreamMetadata `json:"data_stream"`
			Aliases map[string]json.RawMessage    `json:"data_stream_aliases"`
		} `json:"data_stream"`
	} `json:"metadata"`
}

type indexMetadata struct {
	State          string                     `json:"state"`
	System         bool                       `json:"system"`
	Aliases        []string                   `json:"aliases"`
	AliasesVersion uint64                     `json:"aliases_version"`
	Mappings       map[string]json.RawMessage `json:"mappings"`
	Settings       struct {
		Index struct {
			Hidden string `json:"hidden"`
			UUID   string `json:"uuid"`
			Sort   struct {
				Field settingList `json:"field"`
			} `json:"sort"`
			Analysis struct {
				Analyzer settingNames `json:"analyzer"`
			} `json:"analysis"`
		} `json:"index"`
	} `json:"settings"`
}

// settingList is a setting with several values, as it was set: a list of them or one text
// with commas between them.
type settingList []string

// UnmarshalJSON reads both forms.
func (l *settingList) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*[]string)(l))
	}
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			*l = append(*l, s)
		}
	}
	return nil
}

// settingNames are the names below a setting, sorted.
type settingNames []string

// UnmarshalJSON takes what is no object for none: clusters check no setting of that kind.
func (n *settingNames) UnmarshalJSON(b []byte) error {
	var named map[string]json.RawMessage
	if json.Unmarshal(b, &named) == nil {
		*n = slices.Sorted(maps.Keys(named))
	}
	return nil
}

type dataStreamMetadata struct {
	Hidden  bool `json:"hidden"`
	Indices []struct {
		Name string `json:"index_name"`
	} `json:"indices"`
}

func (r *reader) state(ctx context.Context) (clusterState, error) {
	var s clusterState
	if err := r.get(ctx, stateTarget, &s); err != nil {
		return clusterState{}, err
	}
	if s.Metadata.Indices == nil {
		return clusterState{}, fmt.Errorf("the answer to %s has no metadata.indices", stateTarget)
	}
	s.term = s.Metadata.Coordination.Term
	return s, s.check(stateTarget)
}

// contents joins the state with the aliases of the other answer.
func (s *clusterState) contents(aliases map[string]map[string]aliasDetails) (*indexresolver.Contents, error) {
	c := &indexresolver.Contents{ClusterUUID: s.ClusterUUID, StateUUID: s.StateUUID, Term: s.term, Version: s.Version}
	for name, m := range s.Metadata.Indices {
		x, err := m.index(name, aliases[name])
		if err != nil {
			return nil, fmt.Errorf("cannot read index %q: %w", name, err)
		}
		c.Indices = append(c.Indices, x)
	}
	if n := len(s.Metadata.DataStreams.Aliases); n > 0 {
		// Their filters are stored in a form of their own; without them a filter would be lost.
		return nil, fmt.Errorf("the cluster has %d aliases of data streams; these are not supported yet", n)
	}
	for name, m := range s.Metadata.DataStreams.Streams {
		d := indexresolver.DataStream{Name: name, Hidden: m.Hidden}
		for _, x := range m.Indices {
			d.Indices = append(d.Indices, x.Name)
		}
		c.DataStreams = append(c.DataStreams, d)
	}
	return c, nil
}

func (m *indexMetadata) index(name string, details map[string]aliasDetails) (indexresolver.Index, error) {
	x := indexresolver.Index{Name: name, UUID: m.Settings.Index.UUID, System: m.System, Hidden: m.Settings.Index.Hidden == "true", Sort: m.Settings.Index.Sort.Field}
	x.Analyzers = m.Settings.Index.Analysis.Analyzer
	switch m.State {
	case "open":
	case "close":
		x.Closed = true
	default:
		return x, fmt.Errorf("state %q is unknown; want open or close", m.State)
	}
	switch len(m.Mappings) {
	case 0:
		x.Mapping = []byte("{}")
	case 1:
		for _, mapping := range m.Mappings { // under the name of its type
			x.Mapping = mapping
		}
	default:
		return x, fmt.Errorf("it has %d mapping types; want one", len(m.Mappings))
	}
	listed := slices.Sorted(slices.Values(m.Aliases))
	if told := slices.Sorted(maps.Keys(details)); !slices.Equal(listed, told) {
		return x, fmt.Errorf("its aliases are %q in the state and %q in the list of aliases", listed, told)
	}
	for _, alias := range listed {
		d := details[alias]
		x.Aliases = append(x.Aliases, indexresolver.Membership{
			Alias: alias, Filter: d.Filter, IndexRouting: d.IndexRouting, SearchRouting: d.SearchRouting,
			Hidden: d.IsHidden,
		})
	}
	return x, nil
}
