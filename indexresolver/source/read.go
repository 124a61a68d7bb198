package source

import (
	"context"
	"errors"
	"fmt"
	"time"

	"guard/indexresolver"
)

// reader reads the state of the cluster. It belongs to one goroutine, but for
// version.
type reader struct {
	fetch    Fetcher
	engine   indexresolver.Engine // unknown until the cluster told it
	unsteady time.Time            // since when no state and aliases were of one moment; zero if the last were
	lists    lists                // what is read instead of the state where that is forbidden
	retry    time.Duration        // after which a state that is forbidden is asked for again
	turned   func(error)          // told of a refusal, when the lists are read instead, and of nil when the state is again
}

// The targets that are asked. Of the state only what is used: the filter is on names of
// members, so a name of an index with dots in it is matched by the star as any other.
const (
	rootTarget    = "/"
	versionTarget = "/_cluster/state/version"
	stateTarget   = "/_cluster/state/version,metadata?filter_path=cluster_uuid,state_uuid,version,metadata.cluster_coordination.term" +
		",metadata.indices.*.state,metadata.indices.*.aliases,metadata.indices.*.aliases_version,metadata.indices.*.mappings" +
		",metadata.indices.*.settings.index.uuid,metadata.indices.*.settings.index.hidden,metadata.indices.*.settings.index.sort.field" +
		",metadata.indices.*.settings.index.analysis.analyzer,metadata.data_stream"
	aliasTarget = "/_alias?expand_wildcards=all"
)

// maxTries is how often state and aliases are read until both are of one moment. Where that
// has not happened for longer than patience, or nothing is known yet, the last state counts all
// the same: see [doubted].
const (
	maxTries = 4
	patience = 15 * time.Second
)

// errUnsteady tells that the cluster changed between two of its lists each time.
var errUnsteady = errors.New("the names of the cluster change faster than they can be read")

// contents reads the state, or the lists where it is forbidden, or returns nil if nothing
// has changed since seen.
func (r *reader) contents(ctx context.Context, seen *stamp, old *indexresolver.State) (*indexresolver.Contents, stamp, error) {
	l := &r.lists
	if l.refused != nil && time.Now().Before(l.until) {
		return r.fromLists(ctx, seen, old)
	}
	c, now, err := r.fromState(ctx, seen, old)
	if !isRefused(err) {
		if err == nil && l.refused != nil {
			*l = lists{count: l.count}
			r.turn(nil)
		}
		return c, now, err
	}
	refused := err
	if c, now, err = r.fromLists(ctx, seen, old); err != nil {
		return nil, stamp{}, fmt.Errorf("%w; nor can its lists be read instead: %w", refused, err)
	}
	if l.refused == nil {
		r.turn(refused)
	}
	l.refused, l.until = refused, time.Now().Add(r.retry)
	return c, now, nil
}

func (r *reader) turn(why error) {
	if r.turned != nil {
		r.turned(why)
	}
}

// fromState reads the state, or returns nil if it is still seen. Filters of aliases stand in no answer
// that has the rest, so two are read. They are of one moment if the state around the
// second is the same, or at least every index's count of changes to its aliases:
// moving shards change the state all the time.
// old is what is known; what has stayed the same is shared with it.
func (r *reader) fromState(ctx context.Context, seen *stamp, old *indexresolver.State) (*indexresolver.Contents, stamp, error) {
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
	kept := newKept(old)
	mayDoubt := old.Empty() || !r.unsteady.IsZero() && time.Since(r.unsteady) > patience
	var last *clusterState
	for try := 1; ; try++ {
		aliases, err := r.aliases(ctx, kept)
		if err != nil {
			return nil, stamp{}, err
		}
		state, err := r.state(ctx, kept, aliases, last, mayDoubt && try == maxTries)
		if err != nil {
			return nil, stamp{}, err
		}
		steady := state.sameState(before) || last != nil && state.aliasChanges == last.aliasChanges
		if !steady && try < maxTries {
			before, last = state.stamp, &clusterState{stamp: state.stamp, aliasChanges: state.aliasChanges, counts: state.counts}
			continue
		}
		if r.noteSteady(steady); !steady && !mayDoubt {
			return nil, stamp{}, errUnsteady
		}
		state.doubts, state.streamDoubts = !steady, state.streamDoubts && !steady
		c, err := state.contents(aliases)
		if err != nil {
			return nil, stamp{}, err
		}
		c.Engine = r.engine
		if !steady {
			state.StateUUID = doubtful
		}
		return c, state.stamp, nil
	}
}

func (r *reader) noteSteady(steady bool) {
	switch {
	case steady:
		r.unsteady = time.Time{}
	case r.unsteady.IsZero():
		r.unsteady = time.Now()
	}
}

// doubtful stands in the stamp of a state that has to be read again, though nothing changes.
const doubtful = "-"

// stamp identifies a state of a cluster.
type stamp struct {
	ClusterUUID string `json:"cluster_uuid"`
	StateUUID   string `json:"state_uuid"`
	Version     uint64 `json:"version"`
	term        uint64 // stands in the metadata alone
	listed      bool   // it is of the lists, and its version our own count
}

func (s stamp) sameState(o stamp) bool {
	return s.ClusterUUID == o.ClusterUUID && s.StateUUID == o.StateUUID
}

// olderThan reports whether s comes before o in the history of one cluster. Another
// cluster_uuid is another cluster and never older. What the lists tell has no place in it.
func (s stamp) olderThan(o stamp) bool {
	if s.ClusterUUID != o.ClusterUUID || s.listed != o.listed {
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

// clusterState is what is used of the answer to stateTarget. The indices are those of the
// other answer too, see decode.go.
type clusterState struct {
	stamp
	indices      []indexresolver.Index
	aliasChanges uint64              // hash of how often the aliases of each index have changed
	counts       map[uint64]struct{} // the hashes that it is the sum of
	doubts       bool                // the two answers are of different moments
	streamDoubts bool                // and the aliases of streams may not be the same in both
	unequal      error               // in what the two answers differ, if they do
	Metadata     struct {
		DataStreams struct {
			Streams map[string]dataStreamMetadata `json:"data_stream"`
			Aliases map[string]streamAlias        `json:"data_stream_aliases"`
		} `json:"data_stream"`
	} `json:"metadata"`
}

type dataStreamMetadata struct {
	Hidden  bool `json:"hidden"`
	Indices []struct {
		Name string `json:"index_name"`
	} `json:"indices"`
}

// contents joins the state with the aliases of the other answer.
func (s *clusterState) contents(aliases aliasAnswer) (*indexresolver.Contents, error) {
	c := &indexresolver.Contents{ClusterUUID: s.ClusterUUID, StateUUID: s.StateUUID, Term: s.term, Version: s.Version, Indices: s.indices}
	if s.unequal != nil {
		return nil, s.unequal
	}
	if err := s.knows(aliases); err != nil {
		return nil, err
	}
	ofStreams, err := s.streamAliases(aliases)
	if err != nil {
		return nil, err
	}
	for name, m := range s.Metadata.DataStreams.Streams {
		d := indexresolver.DataStream{Name: name, Hidden: m.Hidden}
		for _, x := range m.Indices {
			d.Indices = append(d.Indices, x.Name)
		}
		c.DataStreams = append(c.DataStreams, d)
	}
	withStreamAliases(c, ofStreams)
	return c, nil
}
