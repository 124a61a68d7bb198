// Command opensearch runs the scenario with opensearch-go.
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

	"github.com/opensearch-project/opensearch-go/v4"
	api "github.com/opensearch-project/opensearch-go/v4/opensearchapi"
	"github.com/opensearch-project/opensearch-go/v4/opensearchutil"

	"client/scenario"
)

var (
	ctx   = context.Background()
	index = scenario.Index
	named = []string{scenario.Index}
)

// statusOf tells the status of the client's errors.
func statusOf(err error) int {
	if e := (*opensearch.StructError)(nil); errors.As(err, &e) {
		return e.Status
	}
	if e := (*opensearch.StringError)(nil); errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// calls makes the calls of the scenario.
type calls struct {
	os    *api.Client
	hosts *scenario.Hosts
}

func connect(hosts *scenario.Hosts, zipped bool) calls {
	client, err := api.NewClient(api.Config{Client: opensearch.Config{
		Addresses: []string{scenario.URL}, Username: scenario.User, Password: scenario.Password,
		Transport: hosts, CompressRequestBody: zipped,
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return calls{client, hosts}
}

func main() {
	hosts := &scenario.Hosts{}
	c, z := connect(hosts, false), connect(hosts, true)
	scenario.Run("github.com/opensearch-project/opensearch-go/v4", scenario.Calls{
		Info: c.info, Ping: c.ping, CreateIndex: c.createIndex, Index: c.index, Create: c.create, Update: c.update,
		ReadBack: c.get("2"), Conflict: c.conflict, Delete: c.delete, Bulk: c.bulk, BulkGzip: z.bulk, BulkConflict: c.bulkConflict,
		Get: c.get("3"), Mget: c.mget, Missing: c.missing, Search: c.search, Msearch: c.msearch, Count: c.count, Scan: c.scan,
		SearchAfter: c.searchAfter, FieldCaps: c.fieldCaps, Mapping: c.mapping, Gzip: z.msearch,
		Aliases: c.aliases, Sniff: c.sniff, DeleteIndex: c.deleteIndex, Forbidden: c.forbidden,
	})
}

func (c calls) info() (any, error) {
	r, err := c.os.Info(ctx, nil)
	if err != nil {
		return nil, err
	}
	return []any{r.Version.Number, r.Version.Distribution, r.Tagline}, nil
}

func (c calls) ping() (any, error) {
	r, err := c.os.Ping(ctx, nil)
	if err != nil {
		return nil, err
	}
	if r.IsError() {
		return nil, fmt.Errorf("%s", r.Status())
	}
	return r.StatusCode, nil
}

func (c calls) createIndex() (any, error) {
	r, err := c.os.Indices.Create(ctx, api.IndicesCreateReq{Index: index, Body: strings.NewReader(scenario.Mapping)})
	if err != nil {
		return nil, err
	}
	return []any{r.Index, r.Acknowledged, r.ShardsAcknowledged}, nil
}

func (c calls) index() (any, error) {
	r, err := c.os.Index(ctx, api.IndexReq{Index: index, DocumentID: "1", Body: strings.NewReader(`{"n":1,"tag":"a"}`)})
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

func (c calls) create() (any, error) {
	r, err := c.os.Document.Create(ctx, api.DocumentCreateReq{Index: index, DocumentID: "2", Body: strings.NewReader(`{"n":2,"tag":"b"}`)})
	if err != nil {
		return nil, err
	}
	return r.Result, nil
}

func (c calls) update() (any, error) {
	r, err := c.os.Update(ctx, api.UpdateReq{Index: index, DocumentID: "2", Body: strings.NewReader(`{"doc":{"tag":"c"}}`)})
	if err != nil {
		return nil, err
	}
	return []any{r.Result, r.Version}, nil
}

func (c calls) get(id string) scenario.Call {
	return func() (any, error) {
		r, err := c.os.Document.Get(ctx, api.DocumentGetReq{Index: index, DocumentID: id})
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
		r, err := c.os.Document.Delete(ctx, api.DocumentDeleteReq{Index: index, DocumentID: "1"})
		if err != nil {
			return nil, err
		}
		return r.Result, nil
	}
	return scenario.All(remove, func() (any, error) {
		saw, err := remove() // this client takes a 404 with a result for an answer
		return fmt.Sprint(saw, " ", err), nil
	})
}

func (c calls) forbidden() (any, error) {
	_, err := c.index()
	return scenario.Fails(403, err, statusOf)
}

// indexer runs the bulk helper over n documents.
func (c calls) indexer(action string, n int) (opensearchutil.BulkIndexerStats, []string, error) {
	var failed []string
	var broken error
	b, err := opensearchutil.NewBulkIndexer(opensearchutil.BulkIndexerConfig{
		Client: c.os, Index: index, NumWorkers: 1, FlushBytes: 8000, FlushInterval: time.Minute, Refresh: "true",
		OnError: func(_ context.Context, err error) { broken = err },
	})
	if err != nil {
		return opensearchutil.BulkIndexerStats{}, nil, err
	}
	for i := range n {
		id, doc := scenario.Document(i)
		err := b.Add(ctx, opensearchutil.BulkIndexerItem{
			Action: action, DocumentID: id, Body: strings.NewReader(doc),
			OnFailure: func(_ context.Context, it opensearchutil.BulkIndexerItem, r api.BulkRespItem, err error) {
				failed = append(failed, fmt.Sprint(it.DocumentID, " ", r.Status, " ", r.Error, " ", err))
			},
		})
		if err != nil {
			return opensearchutil.BulkIndexerStats{}, nil, err
		}
	}
	err = b.Close(ctx)
	return b.Stats(), failed, errors.Join(err, broken)
}

func (c calls) bulk() (any, error) {
	s, failed, err := c.indexer("index", scenario.Documents)
	if err == nil && s.NumFlushed != scenario.Documents {
		err = fmt.Errorf("%+v %v", s, failed)
	}
	return s.NumFlushed, err
}

func (c calls) bulkConflict() (any, error) {
	s, failed, err := c.indexer("create", 2)
	if err == nil && s.NumFailed != 2 {
		err = fmt.Errorf("%+v %v", s, failed)
	}
	return len(failed), err
}

func (c calls) mget() (any, error) {
	r, err := c.os.MGet(ctx, api.MGetReq{Index: index, Body: strings.NewReader(scenario.IDs)})
	if err != nil {
		return nil, err
	}
	var saw []any
	for _, d := range r.Docs {
		saw = append(saw, []any{d.ID, d.Found, d.Source})
	}
	return saw, nil
}

func (c calls) missing() (any, error) {
	return scenario.All(
		func() (any, error) {
			r, err := c.os.Indices.Exists(ctx, api.IndicesExistsReq{Indices: named})
			if err != nil {
				return nil, err
			}
			return r.StatusCode, nil
		},
		func() (any, error) {
			r, err := c.os.Document.Get(ctx, api.DocumentGetReq{Index: index, DocumentID: scenario.Absent()})
			if err != nil {
				return fmt.Sprintf("%T", err), nil
			}
			return r.Found, nil
		},
		func() (any, error) {
			_, err := c.os.Search(ctx, &api.SearchReq{Indices: []string{scenario.Nowhere}})
			return scenario.Fails(404, err, statusOf)
		},
		func() (any, error) {
			r, err := c.os.Document.Exists(ctx, api.DocumentExistsReq{Index: index, DocumentID: scenario.Absent()})
			if r != nil {
				return []any{r.StatusCode, fmt.Sprintf("%T", err)}, nil
			}
			return nil, err
		})
}

// rows are what is looked at of hits.
func rows(hits []api.SearchHit) []any {
	var saw []any
	for _, h := range hits {
		saw = append(saw, []any{h.ID, h.Source, h.Sort})
	}
	return saw
}

func (c calls) search() (any, error) {
	r, err := c.os.Search(ctx, &api.SearchReq{Indices: named, Body: strings.NewReader(scenario.Search)})
	if err != nil {
		return nil, err
	}
	return []any{r.Hits.Total, rows(r.Hits.Hits), r.Aggregations}, nil
}

func (c calls) msearch() (any, error) {
	r, err := c.os.MSearch(ctx, api.MSearchReq{Indices: named, Body: strings.NewReader(scenario.Lines())})
	if err != nil {
		return nil, err
	}
	var saw []any
	for _, a := range r.Responses {
		saw = append(saw, []any{a.Status, a.Hits.Total, rows(a.Hits.Hits), a.Aggregations, a.Error})
	}
	return saw, nil
}

func (c calls) count() (any, error) { return c.countOf(index, scenario.Tagged) }

func (c calls) countOf(index, body string) (any, error) {
	r, err := c.os.Indices.Count(ctx, &api.IndicesCountReq{Indices: []string{index}, Body: strings.NewReader(body)})
	if err != nil {
		return nil, err
	}
	return r.Count, nil
}

func (c calls) scan() (any, error) {
	size := 70
	first, err := c.os.Search(ctx, &api.SearchReq{Indices: named, Params: api.SearchParams{Scroll: time.Minute, Size: &size}})
	if err != nil {
		return nil, err
	}
	seen, pages, id := len(first.Hits.Hits), 1, *first.ScrollID
	for {
		page, err := c.os.Scroll.Get(ctx, api.ScrollGetReq{ScrollID: id, Params: api.ScrollGetParams{Scroll: time.Minute}})
		if err != nil {
			return nil, err
		}
		id = *page.ScrollID
		if len(page.Hits.Hits) == 0 {
			break
		}
		seen, pages = seen+len(page.Hits.Hits), pages+1
	}
	_, err = c.os.Scroll.Delete(ctx, api.ScrollDeleteReq{ScrollIDs: []string{id}})
	return []any{seen, pages}, err
}

func (c calls) searchAfter() (any, error) {
	seen := 0
	for after := json.RawMessage(nil); ; {
		r, err := c.os.Search(ctx, &api.SearchReq{Indices: named, Body: strings.NewReader(scenario.Page(after))})
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
	r, err := c.os.Indices.FieldCaps(ctx, api.IndicesFieldCapsReq{Indices: named, Params: api.IndicesFieldCapsParams{Fields: []string{"*"}}})
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range r.Fields {
		if name[0] != '_' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (c calls) mapping() (any, error) {
	r, err := c.os.Indices.Mapping.Get(ctx, &api.MappingGetReq{Indices: named})
	if err != nil {
		return nil, err
	}
	return r.GetIndices(), nil
}

func (c calls) aliases() (any, error) {
	return scenario.All(
		func() (any, error) {
			_, err := c.os.Indices.Alias.Put(ctx, api.AliasPutReq{Indices: named, Alias: scenario.Alias})
			return nil, err
		},
		func() (any, error) {
			r, err := c.os.Indices.Alias.Get(ctx, api.AliasGetReq{Indices: named})
			if err != nil {
				return nil, err
			}
			return r.GetIndices(), nil
		},
		func() (any, error) { return c.countOf(scenario.Alias, `{}`) },
		func() (any, error) {
			_, err := c.os.Aliases(ctx, api.AliasesReq{Body: strings.NewReader(scenario.Unalias)})
			return nil, err
		},
		func() (any, error) {
			r, err := c.os.Indices.Alias.Exists(ctx, api.AliasExistsReq{Alias: []string{scenario.Alias}})
			if r != nil {
				return r.StatusCode, nil
			}
			return nil, err
		})
}

// sniff asks for the nodes and then tells whom the client asks.
func (c calls) sniff() (any, error) {
	if err := c.os.Client.DiscoverNodes(ctx); err != nil {
		return nil, err
	}
	c.hosts.Asked()
	count, err := c.count()
	return []any{c.hosts.Asked(), count}, err
}

func (c calls) deleteIndex() (any, error) {
	r, err := c.os.Indices.Delete(ctx, api.IndicesDeleteReq{Indices: named})
	if err != nil {
		return nil, err
	}
	return r.Acknowledged, nil
}
