package testbed

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// metadata is the part of the cluster state that names what a test can leave behind.
type metadata struct {
	Indices     map[string]any `json:"indices"`
	DataStreams struct {
		Named map[string]any `json:"data_stream"`
	} `json:"data_stream"`
	Legacy    map[string]any `json:"templates"`
	Templates struct {
		Named map[string]any `json:"index_template"`
	} `json:"index_template"`
	Components struct {
		Named map[string]any `json:"component_template"`
	} `json:"component_template"`
	Ingest          pipelines      `json:"ingest"`
	SearchPipelines pipelines      `json:"search_pipeline"`
	Scripts         map[string]any `json:"stored_scripts"`
	Repositories    map[string]any `json:"repositories"`
}

type pipelines struct {
	Pipelines []struct {
		ID string `json:"id"`
	} `json:"pipeline"`
}

func (p pipelines) names() []string {
	var names []string
	for _, pipeline := range p.Pipelines {
		names = append(names, pipeline.ID)
	}
	return names
}

// securityIndex holds the policy of secured kinds; without it they are closed for good.
const securityIndex = ".opendistro_security"

// remains returns a DELETE path for each thing in m, in an order in which the
// cluster agrees: backing indices go with their stream, templates after the streams that need them.
func (m metadata) remains() []string {
	var paths []string
	add := func(prefix string, names []string) {
		slices.Sort(names)
		for _, name := range names {
			paths = append(paths, prefix+url.PathEscape(name))
		}
	}
	keys := func(named map[string]any) []string { return slices.Collect(maps.Keys(named)) }
	var indices []string
	for name := range m.Indices {
		if name != securityIndex && !m.backing(name) {
			indices = append(indices, name)
		}
	}
	add("/_data_stream/", keys(m.DataStreams.Named))
	slices.Sort(indices)
	for _, list := range joinNames(indices) {
		paths = append(paths, "/"+list)
	}
	add("/_index_template/", keys(m.Templates.Named))
	add("/_component_template/", keys(m.Components.Named))
	add("/_template/", keys(m.Legacy))
	add("/_ingest/pipeline/", m.Ingest.names())
	add("/_search/pipeline/", m.SearchPipelines.names())
	add("/_scripts/", keys(m.Scripts))
	add("/_snapshot/", keys(m.Repositories))
	return paths
}

// backing reports whether the index belongs to a data stream, with which it goes.
func (m metadata) backing(index string) bool {
	for _, stream := range m.DataStreams.Named {
		members, _ := stream.(map[string]any)["indices"].([]any)
		for _, member := range members {
			if named, ok := member.(map[string]any); ok && named["index_name"] == index {
				return true
			}
		}
	}
	return false
}

// maxNames bounds a list of names in a path: a node takes 4 KiB of request line.
const maxNames = 3 << 10

// joinNames makes comma-separated lists of names that fit into a path each.
func joinNames(names []string) []string {
	var lists []string
	var list strings.Builder
	for _, name := range names {
		name = url.PathEscape(name)
		if list.Len()+len(name) > maxNames {
			lists = append(lists, list.String())
			list.Reset()
		}
		if list.Len() > 0 {
			list.WriteByte(',')
		}
		list.WriteString(name)
	}
	if list.Len() > 0 {
		lists = append(lists, list.String())
	}
	return lists
}

// metadata asks the node for what there is.
func (n *Node) metadata() (metadata, error) {
	// Of an index only its state is asked for: the names are wanted, not the mappings.
	const path = "/_cluster/state/metadata?filter_path=metadata.indices.*.state,metadata.data_stream,metadata.templates," +
		"metadata.index_template,metadata.component_template,metadata.ingest,metadata.search_pipeline," +
		"metadata.stored_scripts,metadata.repositories"
	var state struct {
		Metadata metadata `json:"metadata"`
	}
	res, err := n.Do(http.MethodGet, path, "")
	if err != nil {
		return metadata{}, err
	}
	if res.Status != http.StatusOK {
		return metadata{}, fmt.Errorf("GET %s: status %d: %s", path, res.Status, res.Body)
	}
	if err := json.Unmarshal(res.Body, &state); err != nil {
		return metadata{}, fmt.Errorf("cannot read the cluster state: %w", err)
	}
	return state.Metadata, nil
}

// Reset makes the cluster as new: it ends scrolls and PITs and deletes every
// index with its aliases, data stream, template, pipeline, script, repository
// and cluster setting. The security plugin's own index stays.
func (n *Node) Reset() error {
	m, err := n.metadata()
	if err != nil {
		return fmt.Errorf("cannot reset %s: %w", n.Kind, err)
	}
	errs := []error{n.remove("/_search/scroll/_all")}
	if n.Kind != ES710 {
		errs = append(errs, n.remove("/_search/point_in_time/_all")) // there a PIT is part of a licence we don't take
	}
	for _, path := range m.remains() {
		errs = append(errs, n.remove(path))
	}
	errs = append(errs, n.resetSettings())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot reset %s: %w", n.Kind, err)
	}
	return nil
}

// remove deletes what path names; what is gone already is fine.
func (n *Node) remove(path string) error {
	res, err := n.Do(http.MethodDelete, path, "")
	if err != nil {
		return err
	}
	if res.Status != http.StatusOK && res.Status != http.StatusNotFound {
		return fmt.Errorf("DELETE %s: status %d: %s", path, res.Status, res.Body)
	}
	return nil
}

// resetSettings takes back cluster settings, if there are any: a write of none would still make a new state.
func (n *Node) resetSettings() error {
	res, err := n.Do(http.MethodGet, "/_cluster/settings?flat_settings=true", "")
	if err != nil {
		return err
	}
	var set struct{ Persistent, Transient map[string]any }
	if err := json.Unmarshal(res.Body, &set); err != nil {
		return fmt.Errorf("cannot read cluster settings: %w", err)
	}
	if len(set.Persistent)+len(set.Transient) == 0 {
		return nil
	}
	const none = `{"persistent":{"*":null},"transient":{"*":null}}`
	res, err = n.Do(http.MethodPut, "/_cluster/settings", none)
	if err != nil {
		return err
	}
	if res.Status != http.StatusOK {
		return fmt.Errorf("PUT /_cluster/settings: status %d: %s", res.Status, res.Body)
	}
	return nil
}
