package leaks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"guard/test/testbed"
)

// A World is a real node in the state that a case starts from.
type World struct {
	node    *testbed.Node
	indices map[string]Index
	loaded  string // name of the setup
	stamp   string // of the cluster when it was loaded

	// Loaded is called after each load: who watches the cluster can catch up.
	Loaded func() error
	Loads  int
}

// NewWorld makes the world of a catalogue on a node.
func NewWorld(node *testbed.Node, c *Catalogue) *World { return &World{node: node, indices: c.Indices} }

// Prepare brings the node into the state of setup. Nothing is done if it is there
// already and nobody has written since.
func (w *World) Prepare(c *Case) error {
	if w.loaded == c.SetupName && !w.Written() {
		return nil
	}
	w.loaded = ""
	w.Loads++
	if err := w.dropSnapshots(); err != nil {
		return err
	}
	if err := w.node.Reset(); err != nil {
		return err
	}
	if err := w.load(c.Setup); err != nil {
		return fmt.Errorf("cannot load the setup: %w", err)
	}
	if w.Loaded != nil {
		if err := w.Loaded(); err != nil {
			return err
		}
	}
	stamp, err := w.look()
	if err != nil {
		return err
	}
	w.loaded, w.stamp = c.SetupName, stamp
	return nil
}

// Written reports whether somebody has written since the world was prepared.
func (w *World) Written() bool {
	now, err := w.look()
	return err != nil || now != w.stamp
}

// dropSnapshots empties the repositories, since the files of a repository outlive it.
func (w *World) dropSnapshots() error {
	var repositories map[string]any
	if err := w.read("/_snapshot", &repositories); err != nil {
		return err
	}
	for repository := range repositories {
		var in struct {
			Snapshots []struct{ Snapshot string }
		}
		// A repository that cannot be read holds nothing of ours.
		if err := w.read("/_snapshot/"+repository+"/_all", &in); err != nil {
			continue
		}
		for _, s := range in.Snapshots {
			if err := w.must("DELETE", "/_snapshot/"+repository+"/"+s.Snapshot, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) read(path string, into any) error {
	res, err := w.node.Do("GET", path, "")
	if err != nil {
		return err
	}
	if res.Status != http.StatusOK {
		return fmt.Errorf("GET %s: status %d: %s", path, res.Status, res.Body)
	}
	if err := json.Unmarshal(res.Body, into); err != nil {
		return fmt.Errorf("GET %s: cannot read the answer: %w", path, err)
	}
	return nil
}

// look returns a text that changes with each write: of metadata or of documents.
func (w *World) look() (string, error) {
	var all []string
	for _, path := range []string{
		"/_cluster/state/version?filter_path=state_uuid",
		"/_stats/indexing?expand_wildcards=all&filter_path=_all.total.indexing.index_total,_all.total.indexing.delete_total",
	} {
		res, err := w.node.Do("GET", path, "")
		if err != nil {
			return "", err
		}
		all = append(all, string(res.Body))
	}
	return strings.Join(all, "\n"), nil
}

func (w *World) load(s Setup) error {
	all := maps.Clone(s.Indices)
	if all == nil {
		all = map[string]Index{}
	}
	for _, name := range s.Fixtures {
		all[name] = w.indices[name]
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := w.create(name, all[name]); err != nil {
			return err
		}
	}
	if err := w.fill(all); err != nil {
		return err
	}
	if len(s.Aliases) > 0 {
		var actions []any
		for _, alias := range s.Aliases {
			actions = append(actions, map[string]any{"add": alias})
		}
		if err := w.must("POST", "/_aliases", map[string]any{"actions": actions}); err != nil {
			return err
		}
	}
	for _, r := range s.Requests {
		r := r.replaced(w.places().Replace)
		if len(r.Body) > 0 && len(r.Headers) == 0 {
			r.Headers = map[string]string{"Content-Type": "application/json"}
		}
		a, err := Send(w.host(), "", r)
		if err != nil {
			return err
		}
		if a.Status/100 != 2 {
			return fmt.Errorf("%s %s answers %d: %s", r.Method, r.Path, a.Status, a.Body)
		}
	}
	return nil
}

func (w *World) create(name string, index Index) error {
	body := map[string]any{}
	if len(index.Settings) > 0 {
		body["settings"] = index.Settings
	}
	if len(index.Mappings) > 0 {
		body["mappings"] = index.Mappings
	}
	return w.must("PUT", "/"+name, body)
}

// fill writes all documents in one bulk.
func (w *World) fill(all map[string]Index) error {
	var bulk bytes.Buffer
	lines := json.NewEncoder(&bulk)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		docs, err := all[name].docs()
		if err != nil {
			return fmt.Errorf("index %q: %w", name, err)
		}
		for _, d := range docs {
			item := map[string]any{"_index": name, "_id": d.ID}
			if d.Routing != "" {
				item["routing"] = d.Routing
			}
			if err := lines.Encode(map[string]any{"index": item}); err != nil {
				return fmt.Errorf("index %q: %w", name, err)
			}
			if err := lines.Encode(d.Source); err != nil {
				return fmt.Errorf("index %q: %w", name, err)
			}
		}
	}
	if bulk.Len() == 0 {
		return nil
	}
	res, err := w.node.Do("POST", "/_bulk?refresh=true", bulk.String())
	if err != nil {
		return err
	}
	if res.Status != http.StatusOK || bytes.Contains(res.Body, []byte(`"errors":true`)) {
		return fmt.Errorf("cannot write the documents: status %d: %.2000s", res.Status, res.Body)
	}
	return nil
}

// docs returns the documents, generated ones too.
func (i Index) docs() ([]Doc, error) {
	docs := i.Docs
	if i.Generate == nil {
		return docs, nil
	}
	for n := 1; n <= i.Generate.Count; n++ {
		var d Doc
		text := strings.ReplaceAll(string(i.Generate.Template), "${i}", fmt.Sprint(n))
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			return nil, fmt.Errorf("cannot generate document %d: %w", n, err)
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func (w *World) must(method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if body == nil {
		text = nil
	}
	res, err := w.node.Do(method, path, string(text))
	if err != nil {
		return err
	}
	if res.Status/100 != 2 {
		return fmt.Errorf("%s %s: status %d: %s", method, path, res.Status, res.Body)
	}
	return nil
}

func (w *World) host() string { return strings.TrimPrefix(w.node.URL, "http://") }

// places are those of setups, which speak of nothing but the node.
func (w *World) places() *strings.Replacer {
	return strings.NewReplacer("{BACKEND}", w.host(), "{TRANSPORT}", w.node.Transport)
}
