package endpoint

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
)

func TestTarget(t *testing.T) {
	f := func(verb, target, want string, indices ...string) {
		t.Helper()
		m, q, err := query(t, request(t, verb, target, ""))
		if err != nil {
			t.Fatal(err)
		}
		got := m.TargetAsNamed(q.Params)
		if len(indices) > 0 {
			got = m.Target(indices, q.Params)
		}
		if got != want {
			t.Fatalf("%s: got %s; want %s", target, got, want)
		}
	}
	f("GET", "/_search?q=a%20b%2Bc&pretty&size=", "/_search?q=a%20b%2Bc&pretty&size=")
	f("GET", "/_search?size=1", "/x,y*/_search?size=1", "x", "y*")
	f("GET", "/a,b/_search", "/x/_search", "x")
	f("GET", "/_search?index=a&size=1", "/a/_search?size=1", "a")
	f("GET", "/a/_search/", "/a/_search")
	f("GET", "/%3Clogs-%7Bnow%2Fd%7D%3E/_search", "/%3Clogs-%7Bnow%2Fd%7D%3E/_search")
	f("GET", "/a/_search", "/.none*,-*/_search", ".none*", "-*")
	f("GET", "/_cat/indices?h=index", "/_cat/indices/x?h=index", "x")
	f("GET", "/_cluster/health", "/_cluster/health/x", "x")
	f("GET", "/_mapping", "/x/_mapping", "x")
	f("GET", "/_mappings", "/x/_mappings", "x")
	f("GET", "/_alias", "/x/_alias", "x")
	f("GET", "/_alias/al", "/x/_alias/al", "x")
	f("GET", "/_aliases", "/x/_alias", "x") // there is no GET /{index}/_aliases
	f("GET", "/a/_alias/al", "/x/_alias/al", "x")
	f("GET", "/_resolve/index/a*", "/_resolve/index/x,y", "x", "y")
	f("GET", "/a/_doc/x%2Fy%20%3F%23%25", "/b/_doc/x%2Fy%20%3F%23%25", "b")
	f("GET", "/a/_doc/%E2%82%AC", "/a/_doc/%E2%82%AC")
	f("GET", "/a*", "/%76iews", "views") // GET /views is the list of views of OpenSearch 3
	f("GET", "/a*/_search", "/%76iews/_search", "views")
	f("GET", "/a*/_search", "/views,b/_search", "views", "b")
	f("GET", "/a/_doc/views", "/a/_doc/views")
	f("GET", "/a/_doc/_bulk", "/a/_doc/%5Fbulk") // POST /a/_doc/_bulk is the typed bulk of Elasticsearch 7
	f("GET", "/a/_source/_search", "/b/_source/%5Fsearch", "b")
	f("GET", "/", "/")
	f("GET", "/?pretty", "/?pretty")
}

func TestTargetNeverNamesNothing(t *testing.T) {
	f := func(target string, write func(Match) string) {
		t.Helper()
		m, _, err := query(t, request(t, "GET", target, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if text, _ := recover().(string); !strings.HasPrefix(text, "BUG: ") {
				t.Fatalf("got panic %q; want a BUG", text)
			}
		}()
		t.Fatalf("wrote %s", write(m))
	}
	f("/a/_search", func(m Match) string { return m.Target(nil, nil) })
	f("/a/_search", func(m Match) string { return m.Target([]string{}, nil) })
	f("/", func(m Match) string { return m.Target([]string{"a"}, nil) })
}

func TestSetParam(t *testing.T) {
	given := params(t, "a=1&b")
	f := func(got []ask.Param, want string) {
		t.Helper()
		if diff := cmp.Diff(params(t, want), got); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
	f(SetParam(given, "a", "2"), "a=2&b")
	f(SetParam(given, "b", ""), "a=1&b=")
	f(SetParam(given, "c", "3"), "a=1&b&c=3")
	f(DropParam(given, "a"), "b")
	f(DropParam(given, "x"), "a=1&b")
	f(given, "a=1&b") // not modified
}

// decode splits and decodes a target as the frame check does.
func decode(target string) (path []string, list []ask.Param, ok bool) {
	raw, query, _ := strings.Cut(target, "?")
	if raw != "/" {
		for _, s := range strings.Split(strings.TrimPrefix(raw, "/"), "/") {
			u, err := url.PathUnescape(s)
			if err != nil {
				return nil, nil, false
			}
			path = append(path, u)
		}
	}
	for _, pair := range strings.Split(query, "&") {
		if pair == "" {
			continue
		}
		name, value, has := strings.Cut(pair, "=")
		n, err1 := url.QueryUnescape(name)
		v, err2 := url.QueryUnescape(value)
		if err1 != nil || err2 != nil {
			return nil, nil, false
		}
		list = append(list, ask.Param{Name: n, Value: v, HasValue: has})
	}
	return path, list, true
}

// FuzzTarget states law 2 for the request target: it is refused, or what is written
// anew names the same route, values and parameters.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{
		"/_search", "/a,b/_search?q=x%20y&pretty", "//_search", "/a/../b/_search", "/a%2f..%2fb/_search", "/%3Ca-%7Bnow%2Fd%7D%3E/_search?size=",
		"/a/_doc/%2E%2E", "/a/_doc/x%2Fy", "/_alias/x?index=y", "/_all/_search", "/_search?index=a", "/_cat/indices/a?h=index&s=index",
		"/a/_search?source=%7B%7D&source_content_type=application/json", "/%5Fsearch", "/a/_search?a=%00&=&%26=1", "/a/_doc/\xff", "/",
	} {
		f.Add("GET", s)
	}
	f.Add("PUT", "/a/_alias/b?timeout=1s")
	f.Add("DELETE", "/a*,-b/_doc/1?refresh")
	f.Fuzz(func(t *testing.T, verb, text string) {
		path, list, ok := decode(text)
		if !ok || !strings.HasPrefix(text, "/") {
			return
		}
		r := &ask.Request{Method: verb, Path: path, Params: list, RawTarget: text}
		m, err := testRouter.MatchRequest(r)
		if err != nil {
			rejected(t, err)
			return
		}
		q, err := m.Query(r)
		if err != nil {
			rejected(t, err)
			return
		}
		sameAgain(t, verb, m, q, m.TargetAsNamed(q.Params))
		if index, named := m.Index(); named {
			sameAgain(t, verb, m, q, m.Target([]string{index}, q.Params))
		}
	})
}

func sameAgain(t *testing.T, verb string, m Match, q Query, target string) {
	t.Helper()
	path, list, ok := decode(target)
	if !ok {
		t.Fatalf("%q does not decode", target)
	}
	again, err := testRouter.MatchRequest(&ask.Request{Method: verb, Path: path, Params: list, RawTarget: target})
	if err != nil {
		t.Fatalf("%q is refused: %v", target, err)
	}
	if again.Route != m.Route {
		t.Fatalf("%q is %q; want %q", target, again.Route.ID, m.Route.ID)
	}
	for slot := range slots {
		a, _ := m.value(slot)
		if b, _ := again.value(slot); a != b {
			t.Fatalf("%q has %q for %s; want %q", target, b, slotNames[slot], a)
		}
	}
	if diff := cmp.Diff(q.Params, list); diff != "" && len(list)+len(q.Params) > 0 {
		t.Fatalf("%q: parameters -want +got\n%s", target, diff)
	}
}
