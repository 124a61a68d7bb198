package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"guard/indexresolver"
)

// Elasticsearch knows aliases of data streams since 7.14. The list of aliases has them under
// the names of their streams, with their filters; the state has them apart, by alias. To
// whoever asks by such a name it means the indices of its streams, so each of these counts as
// a member. (From the sources of Elasticsearch 7.17 and 8: DataStreamAlias, DataStreamMetadata.)

// streamAlias is such an alias as the state has it.
type streamAlias struct {
	Streams []string        `json:"data_streams"`
	Filter  json.RawMessage `json:"filter"` // by stream; until 7.15 one for all
}

// unreadable is a filter that can't be read: what would need it is refused.
var unreadable = []byte(`"unreadable"`)

// withStreamAliases adds the aliases of data streams to their indices.
func withStreamAliases(c *indexresolver.Contents, aliases aliasAnswer) {
	at := make(map[string]int)
	for _, d := range c.DataStreams {
		if len(aliases[d.Name]) == 0 {
			continue
		}
		if len(at) == 0 {
			for i := range c.Indices {
				at[c.Indices[i].Name] = i
			}
		}
		for _, name := range d.Indices {
			if i, ok := at[name]; ok {
				x := &c.Indices[i]
				x.Aliases = slices.Concat(x.Aliases, aliases[d.Name])
				slices.SortFunc(x.Aliases, func(a, b indexresolver.Membership) int { return strings.Compare(a.Alias, b.Alias) })
			}
		}
	}
}

// streamAliases returns the list of aliases of which the state tells the same about streams.
// A filter that the list lacks and the state has can't be read, and none can that may have
// changed between the two.
func (s *clusterState) streamAliases(aliases aliasAnswer) (aliasAnswer, error) {
	told := aliasAnswer{}
	for alias, m := range s.Metadata.DataStreams.Aliases {
		for _, stream := range m.Streams {
			i := slices.IndexFunc(aliases[stream], func(m indexresolver.Membership) bool { return m.Alias == alias })
			var own indexresolver.Membership
			switch {
			case s.streamDoubts:
				own = doubted(alias, aliases[stream])
			case i < 0:
				return nil, fmt.Errorf("cannot read data stream %q: the list of aliases lacks %q", stream, alias)
			default:
				own = aliases[stream][i]
			}
			if own.Filter == nil && m.filters(stream) {
				own.Filter = unreadable
			}
			told[stream] = append(told[stream], own)
		}
	}
	for stream := range s.Metadata.DataStreams.Streams {
		if !s.streamDoubts && len(told[stream]) != len(aliases[stream]) {
			return nil, fmt.Errorf("cannot read data stream %q: it has %d aliases in the state and %d in the list of aliases", stream, len(told[stream]), len(aliases[stream]))
		}
	}
	return told, nil
}

// filters reports whether the alias may have a filter on a stream.
func (m *streamAlias) filters(stream string) bool {
	if len(m.Filter) == 0 || string(m.Filter) == "null" {
		return false
	}
	var by map[string]json.RawMessage
	if json.Unmarshal(m.Filter, &by) != nil {
		return true
	}
	// One that is under no stream's name is for all.
	_, own := by[stream]
	named := slices.ContainsFunc(m.Streams, func(other string) bool { _, ok := by[other]; return ok })
	return own || !named && len(by) > 0
}
