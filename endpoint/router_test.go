package endpoint

import (
	"errors"
	"strings"
	"testing"

	"guard/internal/ask"
)

var testRouter = func() *Router {
	r, err := Compile(Catalogue())
	if err != nil {
		panic(err)
	}
	return r
}()

// split cuts a plain path without escapes.
func split(path string) []string {
	if path == "/" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(path, "/"), "/")
}

// rejected returns err as the rejection that it must be.
func rejected(t *testing.T, err error) *ask.Rejection {
	t.Helper()
	var r *ask.Rejection
	if !errors.As(err, &r) {
		t.Fatalf("got error %v; want an *ask.Rejection", err)
	}
	return r
}

func TestMatch(t *testing.T) {
	f := func(verb, path, id string) {
		t.Helper()
		m, err := testRouter.Match(verb, split(path))
		if err != nil {
			t.Fatalf("%s %s: %v", verb, path, err)
		}
		if m.Route.ID != id {
			t.Fatalf("%s %s matches %q; want %q", verb, path, m.Route.ID, id)
		}
	}
	f("GET", "/", "info")
	f("HEAD", "/", "ping")
	f("GET", "/_cluster/health", "cluster.health")
	f("GET", "/_cluster/health/logs-*", "cluster.health")
	f("GET", "/_cat/indices", "cat.indices")
	f("GET", "/_cat/indices/logs-*", "cat.indices")
	f("GET", "/_search", "search")
	f("POST", "/_search", "search")
	f("GET", "/logs/_search", "search")
	f("POST", "/logs/_search/", "search") // the clusters ignore a trailing slash
	f("GET", "/_all/_search", "search")
	f("GET", "/-logs-1,logs-*/_search", "search")
	f("GET", "/.hidden/_search", "search")
	f("GET", "/<logs-{now/_search", "search")
	f("POST", "/_count", "count")
	f("GET", "/logs/_count", "count")
	f("GET", "/logs/_doc/1", "get")
	f("HEAD", "/logs/_doc/1", "exists")
	f("PUT", "/logs/_doc/1", "index")
	f("POST", "/logs/_doc/1", "index")
	f("POST", "/logs/_doc", "index_new")
	f("POST", "/logs/_doc/", "index_new")
	f("DELETE", "/logs/_doc/1", "delete")
	f("PUT", "/logs/_create/1", "create")
	f("POST", "/logs/_create/1", "create")
	f("GET", "/logs/_source/1", "get_source")
	f("HEAD", "/logs/_source/1", "exists_source")
	f("POST", "/logs/_update/1", "update")
	f("GET", "/logs/_doc/_search", "get") // a word of the API is an id here
	f("GET", "/_mget", "mget")
	f("POST", "/logs/_mget", "mget")
	f("POST", "/_bulk", "bulk")
	f("PUT", "/logs/_bulk", "bulk")
	f("GET", "/_msearch", "msearch")
	f("POST", "/logs/_msearch", "msearch")
	f("GET", "/_mapping", "indices.get_mapping")
	f("GET", "/logs/_mapping", "indices.get_mapping")
	f("GET", "/logs/_mappings", "indices.get_mapping")
	f("GET", "/_field_caps", "field_caps")
	f("POST", "/logs/_field_caps", "field_caps")
	f("PUT", "/logs", "indices.create")
	f("DELETE", "/logs", "indices.delete")
	f("HEAD", "/logs", "indices.exists")
	f("GET", "/logs", "indices.get")
	f("GET", "/_all", "indices.get")
	f("POST", "/_refresh", "indices.refresh")
	f("GET", "/logs/_refresh", "indices.refresh")
	f("GET", "/_aliases", "indices.get_aliases")
	f("POST", "/_aliases", "indices.update_aliases")
	f("GET", "/_alias", "indices.get_alias")
	f("GET", "/_alias/al", "indices.get_alias")
	f("GET", "/logs/_alias/al", "indices.get_alias")
	f("HEAD", "/_alias/al", "indices.exists_alias")
	f("HEAD", "/logs/_alias/al", "indices.exists_alias")
	f("PUT", "/logs/_alias/al", "indices.put_alias")
	f("PUT", "/_alias", "indices.put_alias_unnamed")
	f("DELETE", "/logs/_alias/al", "indices.delete_alias")
	f("GET", "/_resolve/index/logs-*", "indices.resolve_index")
	f("POST", "/_search/scroll", "scroll")
	f("GET", "/_cat/shards", "cat.shards")
	f("POST", "/logs/_update_by_query", "update_by_query")
	f("GET", "/views/_search", "views.get")
}

func TestMatchRefuses(t *testing.T) {
	f := func(verb, path string, status int, text string) {
		t.Helper()
		_, err := testRouter.Match(verb, split(path))
		r := rejected(t, err)
		if r.Status.Code() != status || r.Public != text {
			t.Fatalf("%s %s: got %d %q; want %d %q", verb, path, r.Status, r.Public, status, text)
		}
	}
	f("GET", "/_nonexistent", 403, "unknown endpoint [GET /_nonexistent]")
	f("GET", "/_serach", 403, "unknown endpoint [GET /_serach]") // not an index
	f("GET", "/_all,-x/_search", 403, "unknown endpoint [GET /_all,-x/_search]")
	f("GET", "/logs/doc/1", 403, "unknown endpoint [GET /logs/doc/1]") // typed path
	f("GET", "/logs/_doc/1/_source", 403, "unknown endpoint [GET /logs/_doc/1/_source]")
	f("POST", "/logs/_doc/1/_update", 403, "unknown endpoint [POST /logs/_doc/1/_update]")
	f("GET", "/logs/%5Fsearch", 403, "unknown endpoint [GET /logs/%255Fsearch]") // decoded once, not twice
	f("GET", "/logs/_search/x", 403, "unknown endpoint [GET /logs/_search/x]")
	f("GET", "/_snapshots/x", 403, "unknown endpoint [GET /_snapshots/x]")
	f("DELETE", "/logs/_search", 405, "Incorrect HTTP method for uri [/logs/_search] and method [DELETE], allowed: [GET, POST]")
	f("HEAD", "/_search", 405, "Incorrect HTTP method for uri [/_search] and method [HEAD], allowed: [GET, POST]")
	f("PATCH", "/logs/_doc/1", 405, "Incorrect HTTP method for uri [/logs/_doc/1] and method [PATCH], allowed: [GET, HEAD, POST, PUT, DELETE]")
	f("get", "/_search", 405, "Incorrect HTTP method for uri [/_search] and method [get], allowed: [GET, POST]")
	f("GET", "//_search", 400, "cannot use path [//_search]: a segment is empty")
	f("GET", "///_search", 400, "cannot use path [///_search]: a segment is empty")
	f("GET", "/_search//", 400, "cannot use path [/_search/]: a segment is empty")
	f("GET", "//", 400, "cannot use path [/]: a segment is empty")
	f("GET", "/a/../b/_search", 400, `cannot use path [/a/../b/_search]: a segment is ".."`)
	f("GET", "/a/./b/_search", 400, `cannot use path [/a/./b/_search]: a segment is "."`)
	f("GET", "/\xc0\xae\xc0\xae/b/_search", 400, "cannot use path [/%C0%AE%C0%AE/b/_search]: a segment is not valid UTF-8")
	f("GET", "/"+strings.Repeat("x", 300)+"/y", 403, "unknown endpoint [GET /"+strings.Repeat("x", 255)+"...]")
}

func TestMatchRequestWantsPlainWords(t *testing.T) {
	f := func(raw string, path []string, text string) {
		t.Helper()
		m, err := testRouter.MatchRequest(&ask.Request{Method: "GET", RawTarget: raw, Path: path})
		if text == "" {
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			return
		}
		if r := rejected(t, err); r.Public != text || r.Status != 400 {
			t.Fatalf("%s: got %d %q; want 400 %q (matched %v)", raw, r.Status, r.Public, text, m.Route)
		}
	}
	f("/logs%2D1/_search?q=a%20b", []string{"logs-1", "_search"}, "")
	f("/%3Clogs-%7Bnow%2Fd%7D%3E/_search", []string{"<logs-{now/d}>", "_search"}, "")
	f("/%6Cogs/_doc/%32/", []string{"logs", "_doc", "2"}, "")
	f("/_search?q=%5F", []string{"_search"}, "")
	f("/logs-b-1/%5Fsearch", []string{"logs-b-1", "_search"}, `cannot use path [/logs-b-1/_search]: "_search" must be written without escapes`)
	f("/%5Fcat/indices?format=json", []string{"_cat", "indices"}, `cannot use path [/_cat/indices]: "_cat" must be written without escapes`)
	f("/_cat/indice%73", []string{"_cat", "indices"}, `cannot use path [/_cat/indices]: "indices" must be written without escapes`)
}

func TestMatchRequestPassesRefusalsOn(t *testing.T) {
	_, err := testRouter.MatchRequest(&ask.Request{Method: "GET", RawTarget: "/_x", Path: []string{"_x"}})
	if r := rejected(t, err); r.Reason != ask.ReasonUnknownEndpoint {
		t.Fatalf("got reason %q; want %q", r.Reason, ask.ReasonUnknownEndpoint)
	}
}

func TestMatchValues(t *testing.T) {
	f := func(verb, path, index, id, name string) {
		t.Helper()
		m, err := testRouter.Match(verb, split(path))
		if err != nil {
			t.Fatal(err)
		}
		i, _ := m.Index()
		d, _ := m.ID()
		n, _ := m.Name()
		if i != index || d != id || n != name {
			t.Fatalf("%s: got index %q, id %q, name %q; want %q, %q, %q", path, i, d, n, index, id, name)
		}
	}
	f("GET", "/logs/_doc/1", "logs", "1", "")
	f("GET", "/_search", "", "", "")
	f("GET", "/_alias/al", "", "", "al")
	f("GET", "/logs/_alias/al", "logs", "", "al")
	f("GET", "/_cat/indices/logs", "logs", "", "")
	f("GET", "/_resolve/index/logs", "", "", "logs")
}

func TestZeroMatchDenies(t *testing.T) {
	var m Match
	if _, ok := m.Index(); ok {
		t.Fatal("the zero match names an index")
	}
	if got := m.Kind("pretty"); got != Unknown {
		t.Fatalf("the zero match knows a parameter: %v", got)
	}
	_, err := m.Query(&ask.Request{Method: "GET"})
	if r := rejected(t, err); r.Reason != ask.ReasonNotBuilt {
		t.Fatalf("got reason %q; want %q", r.Reason, ask.ReasonNotBuilt)
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	path := []string{"logs-2026.11", "_doc", "42"}
	search := []string{"logs-*", "_search"}
	n := testing.AllocsPerRun(200, func() {
		if _, err := testRouter.Match("GET", path); err != nil {
			t.Fatal(err)
		}
		if _, err := testRouter.Match("POST", search); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Fatalf("Match allocates %v times; want 0", n)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, c := range []struct{ name, verb, path string }{
		{"search", "POST", "/logs-*/_search"},
		{"document", "GET", "/logs/_doc/1"},
		{"deep-fallback", "GET", "/logs/_alias/al"},
		{"unknown", "GET", "/logs/_nothing/x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := split(c.path)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = testRouter.Match(c.verb, path)
			}
		})
	}
}
