package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"guard/test/testbed"
)

// Contents is what a cluster holds: for each index its documents and its aliases.
type Contents map[string]held

type held struct {
	docs    map[string]any // id to source
	aliases any
}

// ReadContents reads all that open and hidden indices hold.
func ReadContents(c testbed.Client) (Contents, error) {
	if err := send(c, "POST", "/_refresh", ""); err != nil {
		return nil, err
	}
	var aliases map[string]struct{ Aliases any }
	if err := get(c, "/_all/_alias?expand_wildcards=all", &aliases); err != nil {
		return nil, err
	}
	all := Contents{}
	for name, a := range aliases {
		all[name] = held{docs: map[string]any{}, aliases: a.Aliases}
	}
	var found struct {
		Hits struct {
			Hits []struct {
				Index  string `json:"_index"`
				ID     string `json:"_id"`
				Source any    `json:"_source"`
			}
		}
	}
	if err := get(c, "/_all/_search?expand_wildcards=open,hidden&size=9999", &found); err != nil {
		return nil, err
	}
	for _, h := range found.Hits.Hits {
		all[h.Index].docs[h.ID] = h.Source
	}
	return all, nil
}

func get(c testbed.Client, path string, into any) error {
	res, err := c.Do("GET", path, "")
	if err != nil {
		return err
	}
	if res.Status != 200 {
		return fmt.Errorf("GET %s: status %d: %.300s", path, res.Status, res.Body)
	}
	return json.Unmarshal(res.Body, into)
}

// Effect says what became of before, in the form of the recordings: for each index
// that changed its documents with "+", "-" or "~", or what happened to it as a whole.
func Effect(before, after Contents) map[string]any {
	out := map[string]any{}
	names := maps.Clone(before)
	maps.Copy(names, after)
	for name := range names {
		was, had := before[name]
		is, has := after[name]
		switch {
		case !has:
			out[name] = "deleted"
		case !had:
			out[name] = map[string]any{"created": is.docs}
		case len(changes(was.docs, is.docs)) > 0:
			out[name] = changes(was.docs, is.docs)
		case !reflect.DeepEqual(was.aliases, is.aliases):
			out[name] = "metadata"
		}
	}
	return out
}

func changes(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for id, doc := range after {
		switch old, ok := before[id]; {
		case !ok:
			out[id] = "+"
		case !reflect.DeepEqual(old, doc):
			out[id] = "~"
		}
	}
	for id := range before {
		if _, ok := after[id]; !ok {
			out[id] = "-"
		}
	}
	return out
}

// Undo makes the indices of an effect as they were in the world.
func (w World) Undo(c testbed.Client, effect map[string]any) error {
	streams := map[string]bool{}
	for name := range effect {
		path := "/" + name
		if stream, ok := w.streamOf(name); ok {
			if streams[stream] {
				continue
			}
			streams[stream] = true
			path = "/_data_stream/" + stream
		}
		if effect[name] == "deleted" {
			continue
		}
		if err := send(c, "DELETE", path, ""); err != nil {
			return err
		}
	}
	for stream := range streams {
		if err := w.LoadStream(c, stream); err != nil {
			return err
		}
	}
	for name := range effect {
		if x, ok := w.Indices[name]; ok {
			if err := x.load(c, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// streamOf returns the data stream that a backing index belongs to.
func (w World) streamOf(index string) (string, bool) {
	for name := range w.Streams {
		if strings.HasPrefix(index, ".ds-"+name+"-") {
			return name, true
		}
	}
	return "", false
}
