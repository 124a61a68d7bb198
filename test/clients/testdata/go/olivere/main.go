// Command olivere runs the scenario with olivere/elastic.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/olivere/elastic/v7"

	"client/scenario"
)

var (
	ctx   = context.Background()
	index = scenario.Index
)

// statusOf tells the status of the client's errors.
func statusOf(err error) int {
	if e := (*elastic.Error)(nil); errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// calls makes the calls of the scenario.
type calls struct {
	es    *elastic.Client
	hosts *scenario.Hosts
}

func connect(options ...elastic.ClientOptionFunc) (calls, error) {
	hosts := &scenario.Hosts{}
	client, err := elastic.NewClient(append([]elastic.ClientOptionFunc{
		elastic.SetURL(scenario.URL), elastic.SetBasicAuth(scenario.User, scenario.Password),
		elastic.SetHttpClient(&http.Client{Transport: hosts}), elastic.SetSniff(false),
	}, options...)...)
	return calls{client, hosts}, err
}

func main() {
	c, err := connect()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	z, err := connect(elastic.SetGzip(true))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scenario.Run("github.com/olivere/elastic/v7", scenario.Calls{
		Info: c.info, Ping: c.ping, CreateIndex: c.createIndex, Index: c.index, Create: c.create, Update: c.update,
		ReadBack: c.get("2"), Conflict: c.conflict, Delete: c.delete, Bulk: c.bulk, BulkGzip: z.bulk, BulkConflict: c.bulkConflict,
		Get: c.get("3"), Mget: c.mget, Missing: c.missing, Search: c.search, Msearch: c.msearch, Count: c.count, Scan: c.scan,
		SearchAfter: c.searchAfter, FieldCaps: c.fieldCaps, Mapping: c.mapping, Gzip: z.msearch,
		Aliases: c.aliases, Sniff: sniff, DeleteIndex: c.deleteIndex, Forbidden: c.forbidden,
	})
}

func (c calls) info() (any, error) { return c.es.ElasticsearchVersion(scenario.URL) }

func (c calls) ping() (any, error) {
	r, status, err := c.es.Ping(scenario.URL).Do(ctx)
	if err != nil {
		return nil, err
	}
	return []any{status, r.Version.Number, r.TagLine}, nil
}

func (c calls) createIndex() (any, error) {
	return c.es.CreateIndex(index).BodyString(scenario.Mapping).Do(ctx)
}

func (c calls) index() (any, error) {
	r, err := c.es.Index().Index(index).Id("1").BodyString(`{"n":1,"tag":"a"}`).Do(ctx)
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

func (c calls) create() (any, error) {
	r, err := c.es.Index().OpType("create").Index(index).Id("2").BodyString(`{"n":2,"tag":"b"}`).Do(ctx)
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

func (c calls) update() (any, error) {
	r, err := c.es.Update().Index(index).Id("2").Doc(map[string]string{"tag": "c"}).Do(ctx)
	if err != nil {
		return nil, err
	}
	return []any{r.Result, r.Version}, nil
}

func (c calls) get(id string) scenario.Call {
	return func() (any, error) {
		r, err := c.es.Get().Index(index).Id(id).Do(ctx)
		if err != nil {
			return nil, err
		}
		return r.Source, nil
	}
}

func (c calls) conflict() (any, error) {
	_, err := c.create()
	return scenario.Fails(409, err, statusOf)
}

func (c calls) delete() (any, error) {
	remove := func() (any, error) {
		r, err := c.es.Delete().Index(index).Id("1").Do(ctx)
		if err != nil {
			return nil, err
		}
		return r.Result, nil
	}
	return scenario.All(remove, func() (any, error) {
		_, err := remove()
		return scenario.Fails(404, err, statusOf)
	})
}

func (c calls) forbidden() (any, error) {
	_, err := c.index()
	return scenario.Fails(403, err, statusOf)
}

// processor runs the bulk helper over n documents.
func (c calls) processor(action string, n int) (elastic.BulkProcessorStats, []string, error) {
	var failed []string
	var broken error
	p, err := c.es.BulkProcessor().Workers(1).BulkActions(100).Stats(true).
		After(func(_ int64, _ []elastic.BulkableRequest, r *elastic.BulkResponse, err error) {
			broken = errors.Join(broken, err)
			if r != nil {
				for _, item := range r.Failed() {
					failed = append(failed, fmt.Sprint(item.Id, " ", item.Status, " ", item.Error.Type))
				}
			}
		}).Do(ctx)
	if err != nil {
		return elastic.BulkProcessorStats{}, nil, err
	}
	for i := range n {
		id, doc := scenario.Document(i)
		p.Add(elastic.NewBulkIndexRequest().OpType(action).Index(index).Id(id).Doc(json.RawMessage(doc)))
	}
	err = errors.Join(p.Close(), broken)
	if err == nil {
		_, err = c.es.Refresh(index).Do(ctx)
	}
	return p.Stats(), failed, err
}

func (c calls) bulk() (any, error) {
	s, failed, err := c.processor("index", scenario.Documents)
	if err == nil && s.Succeeded != scenario.Documents {
		err = fmt.Errorf("%+v %v", s, failed)
	}
	return []any{s.Committed, s.Succeeded, s.Failed}, err
}

func (c calls) bulkConflict() (any, error) {
	s, failed, err := c.processor("create", 2)
	if err == nil && s.Failed != 2 {
		err = fmt.Errorf("%+v %v", s, failed)
	}
	return failed, err
}

func (c calls) mget() (any, error) {
	get := c.es.MultiGet()
	for _, id := range []string{"9", "1", "none", "4"} {
		get.Add(elastic.NewMultiGetItem().Index(index).Id(id))
	}
	r, err := get.Do(ctx)
	if err != nil {
		return nil, err
	}
	var saw []any
	for _, d := range r.Docs {
		saw = append(saw, []any{d.Id, d.Found, d.Source})
	}
	return saw, nil
}

func (c calls) missing() (any, error) {
	return scenario.All(
		func() (any, error) {
			there, err := c.es.IndexExists(index).Do(ctx)
			if err == nil && !there {
				err = errors.New("the index is missing")
			}
			return there, err
		},
		func() (any, error) {
			_, err := c.es.Get().Index(index).Id(scenario.Absent()).Do(ctx)
			return scenario.Fails(404, err, statusOf)
		},
		func() (any, error) {
			_, err := c.es.Search(scenario.Nowhere).Do(ctx)
			return scenario.Fails(404, err, statusOf)
		},
		func() (any, error) { return c.es.Exists().Index(index).Id(scenario.Absent()).Do(ctx) })
}

// saw is what is looked at of an answer to a search.
func saw(r *elastic.SearchResult) any {
	if r.Error != nil {
		return []any{r.Status, r.Error.Type}
	}
	var rows []any
	for _, h := range r.Hits.Hits {
		rows = append(rows, []any{h.Id, h.Source, h.Sort})
	}
	return []any{r.Hits.TotalHits, rows, r.Aggregations}
}

func (c calls) search() (any, error) {
	r, err := c.es.Search(index).Source(json.RawMessage(scenario.Search)).Do(ctx)
	if err != nil {
		return nil, err
	}
	return saw(r), nil
}

func (c calls) msearch() (any, error) {
	r, err := c.es.MultiSearch().Add(
		elastic.NewSearchRequest().Index(index).Source(json.RawMessage(scenario.Search)),
		elastic.NewSearchRequest().Index(index).Source(json.RawMessage(`{"query":{"term":{"tag":"t1"}},"sort":["n"],"size":2}`)),
		elastic.NewSearchRequest().Index(scenario.Nowhere).Source(json.RawMessage(`{}`)),
	).Do(ctx)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, a := range r.Responses {
		all = append(all, saw(a))
	}
	return all, nil
}

func (c calls) count() (any, error) { return c.es.Count(index).BodyString(scenario.Tagged).Do(ctx) }

func (c calls) scan() (any, error) {
	scroll := c.es.Scroll(index).Size(70)
	seen, pages := 0, 0
	for {
		r, err := scroll.Do(ctx)
		if errors.Is(err, io.EOF) {
			return []any{seen, pages}, scroll.Clear(ctx)
		}
		if err != nil {
			return nil, err
		}
		seen, pages = seen+len(r.Hits.Hits), pages+1
	}
}

func (c calls) searchAfter() (any, error) {
	seen := 0
	for after := json.RawMessage(nil); ; {
		r, err := c.es.Search(index).Source(json.RawMessage(scenario.Page(after))).Do(ctx)
		if err != nil || len(r.Hits.Hits) == 0 {
			return seen, err
		}
		seen += len(r.Hits.Hits)
		if after, err = json.Marshal(r.Hits.Hits[len(r.Hits.Hits)-1].Sort); err != nil {
			return nil, err
		}
	}
}

func (c calls) fieldCaps() (any, error) {
	r, err := c.es.FieldCaps(index).Fields("*").Do(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range r.Fields {
		if !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (c calls) mapping() (any, error) { return c.es.GetMapping().Index(index).Do(ctx) }

func (c calls) aliases() (any, error) {
	return scenario.All(
		func() (any, error) { return c.es.Alias().Add(index, scenario.Alias).Do(ctx) },
		func() (any, error) {
			r, err := c.es.Aliases().Index(index).Do(ctx)
			if err != nil {
				return nil, err
			}
			return r.Indices[index].HasAlias(scenario.Alias), nil
		},
		func() (any, error) { return c.es.Count(scenario.Alias).Do(ctx) },
		func() (any, error) { return c.es.Alias().Remove(index, scenario.Alias).Do(ctx) })
}

// sniff asks for the nodes and then tells whom the client asks.
func sniff() (any, error) {
	c, err := connect(elastic.SetSniff(true))
	if err != nil {
		return nil, err
	}
	defer c.es.Stop()
	time.Sleep(100 * time.Millisecond) // the sniffer's own requests
	c.hosts.Asked()
	count, err := c.count()
	return []any{c.hosts.Asked(), count}, err
}

func (c calls) deleteIndex() (any, error) { return c.es.DeleteIndex(index).Do(ctx) }
