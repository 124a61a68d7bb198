// Command elasticsearch runs the scenario with go-elasticsearch. For other major
// versions of it the number in the import paths is changed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	es "github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/elastic/go-elasticsearch/v8/esutil"

	"client/scenario"
)

var index = scenario.Index

// An apiError is an answer that the client calls an error; the low-level client has no type for it.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return fmt.Sprintf("%d: %s", e.status, e.text) }

func statusOf(err error) int {
	if e := (*apiError)(nil); errors.As(err, &e) {
		return e.status
	}
	return 0
}

// hits are the part of an answer to a search that is looked at.
type hits struct {
	ScrollID string `json:"_scroll_id"`
	Hits     struct {
		Total json.RawMessage
		Hits  []struct {
			ID     string          `json:"_id"`
			Source json.RawMessage `json:"_source"`
			Sort   json.RawMessage
		}
	}
	Aggregations json.RawMessage
	Status       int
	Error        struct{ Type string }
}

// into reads an answer.
func into[T any](res *esapi.Response, err error) (T, error) {
	var v T
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	if res.IsError() {
		return v, &apiError{res.StatusCode, res.String()}
	}
	if b, ok := any(&v).(*bool); ok { // a question by HEAD
		*b = true
		return v, nil
	}
	return v, json.NewDecoder(res.Body).Decode(&v)
}

type object = map[string]any

func field(name string, o object, err error) (any, error) { return o[name], err }

func main() {
	hosts := &scenario.Hosts{}
	config := es.Config{Addresses: []string{scenario.URL}, Username: scenario.User, Password: scenario.Password, Transport: hosts}
	client, err := es.NewClient(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config.CompressRequestBody = true
	zipped, err := es.NewClient(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := calls{client, hosts}
	z := calls{zipped, hosts}
	scenario.Run("github.com/elastic/go-elasticsearch/v8", scenario.Calls{
		Info: c.info, Ping: c.ping, CreateIndex: c.createIndex, Index: c.index, Create: c.create, Update: c.update,
		ReadBack: c.get("2"), Conflict: c.conflict, Delete: c.delete, Bulk: c.bulk, BulkGzip: z.bulk, BulkConflict: c.bulkConflict,
		Get: c.get("3"), Mget: c.mget, Missing: c.missing, Search: c.search, Msearch: c.msearch, Count: c.count, Scan: c.scan,
		SearchAfter: c.searchAfter, FieldCaps: c.fieldCaps, Mapping: c.mapping, Gzip: z.msearch,
		Aliases: c.aliases, Sniff: c.sniff, DeleteIndex: c.deleteIndex, Forbidden: c.forbidden,
	})
}

// calls makes the calls of the scenario.
type calls struct {
	es    *es.Client
	hosts *scenario.Hosts
}

func (c calls) info() (any, error) {
	o, err := into[struct {
		Version struct{ Number, Distribution string }
		Tagline string
	}](c.es.Info())
	return o, err
}

func (c calls) ping() (any, error) { return into[bool](c.es.Ping()) }

func (c calls) createIndex() (any, error) {
	return into[object](c.es.Indices.Create(index, c.es.Indices.Create.WithBody(strings.NewReader(scenario.Mapping))))
}

func (c calls) index() (any, error) {
	o, err := into[object](c.es.Index(index, strings.NewReader(`{"n":1,"tag":"a"}`), c.es.Index.WithDocumentID("1")))
	return field("result", o, err)
}

func (c calls) create() (any, error) {
	o, err := into[object](c.es.Create(index, "2", strings.NewReader(`{"n":2,"tag":"b"}`)))
	return field("result", o, err)
}

func (c calls) update() (any, error) {
	o, err := into[object](c.es.Update(index, "2", strings.NewReader(`{"doc":{"tag":"c"}}`)))
	return field("_version", o, err)
}

func (c calls) get(id string) scenario.Call {
	return func() (any, error) {
		o, err := into[object](c.es.Get(index, id))
		return field("_source", o, err)
	}
}

func (c calls) conflict() (any, error) {
	_, err := c.create()
	return scenario.Fails(409, err, statusOf)
}

func (c calls) delete() (any, error) {
	return scenario.All(
		func() (any, error) {
			o, err := into[object](c.es.Delete(index, "1"))
			return field("result", o, err)
		},
		func() (any, error) {
			_, err := into[object](c.es.Delete(index, "1"))
			return scenario.Fails(404, err, statusOf)
		})
}

func (c calls) forbidden() (any, error) {
	_, err := c.index()
	return scenario.Fails(403, err, statusOf)
}

// indexer runs the bulk helper over n documents.
func (c calls) indexer(action string, n int) (any, error) {
	var failed []string
	var broken error
	b, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{
		Client: c.es, Index: index, NumWorkers: 1, FlushBytes: 8000, FlushInterval: time.Minute, Refresh: "true",
		OnError: func(_ context.Context, err error) { broken = err },
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		id, doc := scenario.Document(i)
		err := b.Add(context.Background(), esutil.BulkIndexerItem{
			Action: action, DocumentID: id, Body: strings.NewReader(doc),
			OnFailure: func(_ context.Context, it esutil.BulkIndexerItem, res esutil.BulkIndexerResponseItem, err error) {
				failed = append(failed, fmt.Sprint(it.DocumentID, " ", res.Status, " ", res.Error.Type, " ", err))
			},
		})
		if err != nil {
			return nil, err
		}
	}
	if err := b.Close(context.Background()); err != nil {
		return nil, err
	}
	s := b.Stats()
	return []any{s.NumAdded, s.NumFlushed, s.NumFailed, failed}, broken
}

func (c calls) bulk() (any, error) {
	saw, err := c.indexer("index", scenario.Documents)
	if err == nil && saw.([]any)[1] != uint64(scenario.Documents) {
		err = fmt.Errorf("%v", saw)
	}
	return saw, err
}

func (c calls) bulkConflict() (any, error) {
	saw, err := c.indexer("create", 2)
	if err == nil && saw.([]any)[2] != uint64(2) {
		err = fmt.Errorf("%v", saw)
	}
	return saw, err
}

func (c calls) mget() (any, error) {
	type docs struct {
		Docs []struct {
			ID     string `json:"_id"`
			Found  bool
			Source json.RawMessage `json:"_source"`
		}
	}
	return into[docs](c.es.Mget(strings.NewReader(scenario.IDs), c.es.Mget.WithIndex(index)))
}

func (c calls) missing() (any, error) {
	return scenario.All(
		func() (any, error) { return into[bool](c.es.Indices.Exists([]string{index})) },
		func() (any, error) {
			_, err := into[object](c.es.Get(index, scenario.Absent()))
			return scenario.Fails(404, err, statusOf)
		},
		func() (any, error) {
			_, err := into[hits](c.es.Search(c.es.Search.WithIndex(scenario.Nowhere)))
			return scenario.Fails(404, err, statusOf)
		},
		func() (any, error) {
			_, err := into[bool](c.es.Exists(index, scenario.Absent()))
			return scenario.Fails(404, err, statusOf)
		})
}

func (c calls) ask(body string) (hits, error) {
	return into[hits](c.es.Search(c.es.Search.WithIndex(index), c.es.Search.WithBody(strings.NewReader(body))))
}

func (c calls) search() (any, error) { return c.ask(scenario.Search) }

func (c calls) msearch() (any, error) {
	return into[struct{ Responses []hits }](c.es.Msearch(strings.NewReader(scenario.Lines()), c.es.Msearch.WithIndex(index)))
}

func (c calls) count() (any, error) {
	o, err := into[object](c.es.Count(c.es.Count.WithIndex(index), c.es.Count.WithBody(strings.NewReader(scenario.Tagged))))
	return field("count", o, err)
}

func (c calls) scan() (any, error) {
	page, err := into[hits](c.es.Search(c.es.Search.WithIndex(index), c.es.Search.WithScroll(time.Minute), c.es.Search.WithSize(70)))
	seen, pages := 0, 0
	for ; err == nil && len(page.Hits.Hits) > 0; pages++ {
		seen += len(page.Hits.Hits)
		page, err = into[hits](c.es.Scroll(c.es.Scroll.WithScrollID(page.ScrollID), c.es.Scroll.WithScroll(time.Minute)))
	}
	if err != nil {
		return nil, err
	}
	_, err = into[object](c.es.ClearScroll(c.es.ClearScroll.WithScrollID(page.ScrollID)))
	return []any{seen, pages}, err
}

func (c calls) searchAfter() (any, error) {
	page, err := c.ask(scenario.Page(nil))
	seen := 0
	for err == nil && len(page.Hits.Hits) > 0 {
		seen += len(page.Hits.Hits)
		page, err = c.ask(scenario.Page(page.Hits.Hits[len(page.Hits.Hits)-1].Sort))
	}
	return seen, err
}

func (c calls) fieldCaps() (any, error) {
	o, err := into[struct{ Fields map[string]object }](c.es.FieldCaps(c.es.FieldCaps.WithIndex(index), c.es.FieldCaps.WithFields("*")))
	var names []string
	for name := range o.Fields {
		if name[0] != '_' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, err
}

func (c calls) mapping() (any, error) {
	return into[object](c.es.Indices.GetMapping(c.es.Indices.GetMapping.WithIndex(index)))
}

func (c calls) aliases() (any, error) {
	return scenario.All(
		func() (any, error) { return into[object](c.es.Indices.PutAlias([]string{index}, scenario.Alias)) },
		func() (any, error) {
			return into[object](c.es.Indices.GetAlias(c.es.Indices.GetAlias.WithIndex(index)))
		},
		func() (any, error) {
			o, err := into[object](c.es.Count(c.es.Count.WithIndex(scenario.Alias)))
			return field("count", o, err)
		},
		func() (any, error) {
			return into[object](c.es.Indices.UpdateAliases(strings.NewReader(scenario.Unalias)))
		},
		func() (any, error) {
			_, err := into[bool](c.es.Indices.ExistsAlias([]string{scenario.Alias}))
			return scenario.Fails(404, err, statusOf)
		})
}

// sniff asks for the nodes and then tells whom the client asks.
func (c calls) sniff() (any, error) {
	if err := c.es.DiscoverNodes(); err != nil {
		return nil, err
	}
	c.hosts.Asked()
	count, err := c.count()
	return []any{c.hosts.Asked(), count}, err
}

func (c calls) deleteIndex() (any, error) { return into[object](c.es.Indices.Delete([]string{index})) }
