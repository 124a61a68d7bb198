package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"guard/test/testbed"
)

// Load makes w in an empty cluster.
func (w World) Load(c testbed.Client) error {
	for _, name := range slices.Sorted(maps.Keys(w.Templates)) {
		if err := send(c, "PUT", "/_index_template/"+name, string(w.Templates[name])); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Indices)) {
		if err := w.Indices[name].load(c, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Streams)) {
		if err := w.LoadStream(c, name); err != nil {
			return err
		}
	}
	return nil
}

func (x Index) load(c testbed.Client, name string) error {
	body, err := json.Marshal(map[string]any{"settings": x.Settings, "mappings": x.Mappings, "aliases": x.Aliases})
	if err != nil {
		return err
	}
	if err := send(c, "PUT", "/"+name, string(body)); err != nil {
		return err
	}
	if err := send(c, "POST", "/"+name+"/_bulk?refresh=true", lines("index", x.Docs)); err != nil {
		return err
	}
	if x.Closed {
		return send(c, "POST", "/"+name+"/_close", "")
	}
	return nil
}

// LoadStream makes the data stream with all its generations.
func (w World) LoadStream(c testbed.Client, name string) error {
	if err := send(c, "PUT", "/_data_stream/"+name, ""); err != nil {
		return err
	}
	for n, docs := range w.Streams[name] {
		if n > 0 {
			if err := send(c, "POST", "/"+name+"/_rollover", ""); err != nil {
				return err
			}
		}
		if err := send(c, "POST", "/"+name+"/_bulk?refresh=true", lines("create", docs)); err != nil {
			return err
		}
	}
	return nil
}

// lines writes documents as the body of a bulk.
func lines(op string, docs map[string]json.RawMessage) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(docs)) {
		fmt.Fprintf(&b, "{%q:{\"_id\":%q}}\n%s\n", op, id, docs[id])
	}
	return b.String()
}

// send makes a request that has to succeed; a bulk without a line is none.
func send(c testbed.Client, method, path, body string) error {
	if strings.Contains(path, "_bulk") && body == "" {
		return nil
	}
	res, err := c.Do(method, path, body)
	if err != nil {
		return err
	}
	if res.Status >= 300 || strings.Contains(path, "_bulk") && strings.Contains(string(res.Body), `"errors":true`) {
		return fmt.Errorf("%s %s: status %d: %.500s", method, path, res.Status, res.Body)
	}
	return nil
}
