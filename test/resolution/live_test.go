package resolution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guard/indexresolver"
	"guard/indexresolver/source"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/resolution"
	"guard/test/testbed"
)

// TestLive compares with a real node of each engine, one after the other.
func TestLive(t *testing.T) {
	f := func(kind testbed.Kind, distribution indexresolver.Distribution, major int) {
		t.Run(string(kind), func(t *testing.T) {
			node := testbed.Own(t, testbed.Options{Kind: kind})
			streams := build(t, node)
			s := watch(t, node)
			if e := s.State().Engine; e.Distribution != distribution || e.Major != major {
				t.Errorf("the engine is %+v", e)
			}
			checkState(t, s.State(), streams)
			checkSearches(t, node, s.State(), streams)
			checkResolveIndex(t, node, s.State(), streams)
			checkDateMath(t, node)
			checkChanges(t, node, s)
		})
	}
	f(testbed.OpenSearch, indexresolver.OpenSearch, 2)
	f(testbed.ES710, indexresolver.Elasticsearch, 7)
	f(testbed.OpenSearch3, indexresolver.OpenSearch, 3)
}

// fetcher is the smallest source.Fetcher.
type fetcher string

func (f fetcher) Fetch(ctx context.Context, method, target string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, string(f)+target, nil)
	if err != nil {
		return 0, nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// watch starts a Source on node and returns when it knows the state.
func watch(t *testing.T, node *testbed.Node) *source.Source {
	t.Helper()
	s := source.New(fetcher(node.URL), source.Config{
		Wait: 2 * time.Second, OnError: func(err error) { t.Logf("source: %v", err) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	if _, err := s.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	return s
}

// build makes the cluster that the tables of the resolver's own tests describe. Its
// open build of Elasticsearch knows no data streams: it reports whether there are.
func build(t *testing.T, node *testbed.Node) (streams bool) {
	t.Helper()
	put := func(name, settings string) {
		t.Helper()
		node.Must(t, "PUT", "/"+url.PathEscape(name), `{"settings":{"index.number_of_shards":1,"index.number_of_replicas":0`+settings+`}}`)
		node.Must(t, "PUT", "/"+url.PathEscape(name)+"/_doc/1?refresh=true", `{"k":"x"}`)
	}
	for _, name := range []string{"a1", "a2", "a3", "b1", ".dot", "x+y", "c-1", "sys"} {
		put(name, "")
	}
	put("hid", `,"index.hidden":true`)
	put(".dothid", `,"index.hidden":true`)
	add := func(index, alias, more string) string {
		return fmt.Sprintf(`{"add":{"index":%q,"alias":%q%s}}`, index, alias, more)
	}
	node.Must(t, "POST", "/_aliases", `{"actions":[`+strings.Join([]string{
		add("a1", "al", ""), add("a2", "al", ""), add("a1", "alhid", `,"is_hidden":true`), add("a3", "alclosed", ""),
		add("a1", "almix", ""), add("a3", "almix", ""), add("b1", ".aldot", ""), add("b1", ".aldothid", `,"is_hidden":true`),
		add("hid", "althid", ""), add("a1", "alf", `,"filter":{"term":{"k":"none"}},"routing":"1"`),
		add("a1", "alw", `,"is_write_index":true`), add("a2", "alw", ""), add("b1", "zal", ""),
	}, ",")+`]}`)
	node.Must(t, "POST", "/a3/_close", "")

	template := `{"index_patterns":["ds*","hds*"],"data_stream":{},"template":{"settings":{"index.number_of_shards":1,"index.number_of_replicas":0}}}`
	res, err := node.Do("PUT", "/_index_template/streams", template)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != http.StatusOK {
		return false
	}
	doc := `{"@timestamp":"2026-01-01T00:00:00Z","k":"x"}`
	for _, name := range []string{"ds1", "ds2", "hds"} {
		node.Must(t, "PUT", "/_data_stream/"+name, "")
		node.Must(t, "POST", "/"+name+"/_doc?refresh=true", doc)
	}
	node.Must(t, "POST", "/ds1/_rollover", "")
	node.Must(t, "POST", "/ds1/_doc?refresh=true", doc)
	return true
}

func checkState(t *testing.T, s *indexresolver.State, streams bool) {
	t.Helper()
	got := map[string]string{}
	for target := range s.Targets() {
		got[target.Name] = strings.Join(target.Members, " ")
	}
	wanted := map[string]string{
		"a1": "a1", "a2": "a2", "a3": "a3", "b1": "b1", ".dot": ".dot", "x+y": "x+y", "c-1": "c-1", "sys": "sys", "hid": "hid", ".dothid": ".dothid",
		"al": "a1 a2", "alhid": "a1", "alclosed": "a3", "almix": "a1 a3", ".aldot": "b1", ".aldothid": "b1", "althid": "hid", "alf": "a1", "alw": "a1 a2", "zal": "b1",
	}
	if streams {
		maps.Copy(wanted, map[string]string{
			".ds-ds1-000001": ".ds-ds1-000001", ".ds-ds1-000002": ".ds-ds1-000002", ".ds-ds2-000001": ".ds-ds2-000001", ".ds-hds-000001": ".ds-hds-000001",
			"ds1": ".ds-ds1-000001 .ds-ds1-000002", "ds2": ".ds-ds2-000001", "hds": ".ds-hds-000001",
		})
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if x, ok := s.Index("a3"); !ok || !x.Closed {
		t.Errorf("a3 is %+v; want it closed", x)
	}
	if x, ok := s.Index("hid"); !ok || !x.Hidden {
		t.Errorf("hid is %+v; want it hidden", x)
	}
	x, _ := s.Index("a1")
	for _, m := range x.Aliases {
		if m.Alias == "alf" && (string(m.Filter) != `{"term":{"k":"none"}}` || m.SearchRouting != "1" || m.IndexRouting != "1") {
			t.Errorf("alf on a1 is %+v", m)
		}
		if m.Hidden != (m.Alias == "alhid") {
			t.Errorf("alias %q is hidden: %v", m.Alias, m.Hidden)
		}
	}
	if raw, _, ok := s.Mapping("a1"); !ok || !strings.HasPrefix(string(raw), `{"properties":{"k":{`) {
		t.Errorf("the mapping of a1 is %s", raw)
	}
}

// grammar are the single expressions; lists are made of them.
var grammar = []string{
	"a1", "a2", "a3", "hid", ".dot", "al", "almix", "alf", "alhid", "alclosed", "nosuch", "A1", "a?",
	"*", "a*", "al*", "alm*", "alf*", "*1", "*al*", ".*", ".d*", "h*", "z*", "nosuch*", "**", "-*", "a3*",
	"_all", "_foo", "<a1>", "<a*>", "<-a1>", "<nosuch-{now/d}>", "+a1", "x+y", "c-1", "ds1", "ds*", ".ds-ds1*", "*ds-ds1*", "",
}

// expressions returns each production alone, and lists drawn from them.
func expressions() []string {
	rnd := rand.New(rand.NewPCG(11, 12))
	out := slices.Clone(grammar)
	for range 160 {
		var parts []string
		for range 2 + rnd.IntN(3) {
			e := grammar[rnd.IntN(len(grammar))]
			if len(parts) > 0 && rnd.IntN(2) == 0 {
				e = "-" + e
			}
			parts = append(parts, e)
		}
		out = append(out, strings.Join(parts, ","))
	}
	return out
}

var expands = []string{"", "open", "closed", "none", "hidden", "open,closed", "open,hidden", "all"}

func checkSearches(t *testing.T, node *testbed.Node, s *indexresolver.State, streams bool) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(13, 14))
	n := 0
	for i, expr := range expressions() {
		if !streams && strings.Contains(expr, "ds") {
			continue
		}
		for j, expand := range expands {
			if i >= len(grammar) && rnd.IntN(4) > 0 {
				continue
			}
			query := []string{}
			if expand != "" {
				query = append(query, "expand_wildcards="+expand)
			}
			if (i+j)%2 == 1 {
				query = append(query, "ignore_unavailable=true")
			}
			if rnd.IntN(3) == 0 {
				query = append(query, "allow_no_indices=false")
			}
			checkSearch(t, node, s, expr, strings.Join(query, "&"))
			n++
		}
	}
	t.Logf("%d searches compared", n)
	if n < 300 {
		t.Errorf("only %d searches were compared", n)
	}
}

func checkSearch(t *testing.T, node *testbed.Node, s *indexresolver.State, expr, query string) {
	t.Helper()
	path := "/_search"
	if expr != "" {
		path = "/" + url.PathEscape(expr) + path
	}
	res, err := node.Do("POST", path+"?size=100&filter_path=hits.hits._index&"+query, "{}")
	if err != nil {
		t.Fatal(err)
	}
	want := resolution.Answer{Status: res.Status}
	if res.Status == http.StatusOK {
		want.Indices = hits(t, res.Body)
	}
	o, err := resolution.Options(query)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	got := resolution.Predict(s, names.Split(expr), o, now)
	if r, err := s.Resolve(names.Split(expr), o, now); err == nil {
		got.Indices = unbound(s, r, got.Indices)
	}
	if got.Status >= 400 && want.Status >= 400 {
		return // of two faults the cluster tells one
	}
	if got != want {
		t.Errorf("%q with %q: %v; the cluster %v", expr, query, got, want)
	}
}

// unbound leaves out the indices that the filter of "alf" binds: it matches no
// document.
func unbound(s *indexresolver.State, r ask.Resolved, indices string) string {
	bindings := s.Bindings(r)
	list := slices.DeleteFunc(strings.Split(indices, ","), func(x string) bool { return len(bindings[x].Filters) > 0 })
	return strings.Join(list, ",")
}

func hits(t *testing.T, body []byte) string {
	t.Helper()
	var answer struct {
		Hits struct {
			Hits []struct {
				Index string `json:"_index"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, h := range answer.Hits.Hits {
		set[h.Index] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ",")
}

// checkResolveIndex compares wildcards with _resolve/index. It lists aliases and
// streams by name, so the indices behind them are compared.
func checkResolveIndex(t *testing.T, node *testbed.Node, s *indexresolver.State, streams bool) {
	t.Helper()
	for _, expr := range grammar {
		if !strings.Contains(expr, "*") || expr == "*" || strings.HasPrefix(expr, "<") || !streams && strings.Contains(expr, "ds") {
			continue // "*" alone shows indices of visible streams elsewhere, here the streams
		}
		for _, expand := range []string{"open", "closed", "open,closed", "open,hidden", "all"} {
			o := resolution.Search
			o.Expand, _ = names.ParseExpand(strings.Split(expand, ",")...)
			r, err := s.Resolve(names.Split(expr), o, time.Now())
			if err != nil {
				t.Errorf("%q: %v", expr, err)
				continue
			}
			res := node.Must(t, "GET", "/_resolve/index/"+url.PathEscape(expr)+"?expand_wildcards="+expand, "")
			if diff := cmp.Diff(listed(t, s, o.Expand, res.Body), indexresolver.Indices(r)); diff != "" {
				t.Errorf("%q expanded to %s (-cluster +guard):\n%s", expr, expand, diff)
			}
		}
	}
}

func listed(t *testing.T, s *indexresolver.State, states names.Expand, body []byte) []string {
	t.Helper()
	type named struct {
		Name string `json:"name"`
	}
	var answer struct {
		Indices     []named `json:"indices"`
		Aliases     []named `json:"aliases"`
		DataStreams []named `json:"data_streams"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, n := range slices.Concat(answer.Indices, answer.Aliases, answer.DataStreams) {
		target, ok := s.Lookup(n.Name)
		if !ok {
			t.Errorf("the cluster knows %q, the state does not", n.Name)
		}
		for _, m := range target.Members {
			x, _ := s.Index(m)
			if x.Closed && states&names.ExpandClosed != 0 || !x.Closed && states&names.ExpandOpen != 0 {
				set[m] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// dates are the forms of date math; the node says what it made of one when it does
// not find the index. Weeks are left out: they follow the JVM options of the node.
var dates = []string{
	"<x-{now}>", "<x-{now/d}>", "<x-{now/y}>", "<x-{now/M}>", "<x-{now/w}>", "<x-{now-1M/M{yyyy.MM}}>", "<x-{now+3M}>", "<x-{now-13M-2d}>",
	"<x-{now-5d/w}>", "<x-{now-1y/d{uuuu-MM-dd}}>", "<x-{now/h{yyyy.MM.dd.HH}}>", "<x-{now-2h/H{HH}}>", "<x-{now/d{yyyy.MM.dd|+12:00}}>",
	"<x-{now/d{yyyy.MM.dd|-11:00}}>", "<x-{now/h{HH|Europe/Berlin}}>", "<x-{now-200d/h{HH|America/New_York}}>", "<x-{now/h{HH|UTC+9}}>",
	"<x-{now/h{HH|GMT+05:30}}>", "<x-{now/h{HH|Z}}>", "<x-{now/h{HH|CET}}>", "<x-{now/d{yy.M.d}}>", "<x-{now/d{y}}>", "<x-{now/d{yyyyy}}>",
	"<x-{now/d{yyyy-DDD}}>", "<x-{now/d{QQ}}>", "<x-{now/h{hh.KK.kk.h}}>", "<x-{now/d{SSS}}>", "<x-{now/d{'lit'yyyy''MM}}>",
	"<x-{now/d{basic_date}}>", "<x-{now/d{strict_year_month}}>", "<x-{now/d{basic_ordinal_date}}>", `<x-\{now\}>`, `<x\\y\a>`, "<{now/d}-{now/M{MM}}>",
	"<x-{now/d{8yyyy}}>", "<x-{now/h{HH|EST}}>",
}

func checkDateMath(t *testing.T, node *testbed.Node) {
	t.Helper()
	for _, expr := range dates {
		for {
			before, err := names.Expr(expr).DateMath(time.Now())
			if err != nil {
				t.Errorf("%q: %v", expr, err)
				break
			}
			res, err := node.Do("GET", "/_resolve/index/"+url.PathEscape(expr), "")
			if err != nil {
				t.Fatal(err)
			}
			after, _ := names.Expr(expr).DateMath(time.Now())
			if before != after {
				continue // the hour changed meanwhile
			}
			if want := "no such index [" + string(before) + "]"; !strings.Contains(string(res.Body), want) && !strings.Contains(string(res.Body), strings.ReplaceAll(want, `\`, `\\`)) {
				t.Errorf("%q is %q; the cluster says %s", expr, before, res.Body)
			}
			break
		}
	}
}

// checkChanges makes changes and waits until the source has seen them by itself.
func checkChanges(t *testing.T, node *testbed.Node, s *source.Source) {
	t.Helper()
	f := func(method, path, body string, seen func(*indexresolver.State) bool) {
		t.Helper()
		node.Must(t, method, path, body)
		acknowledged := time.Now()
		for !seen(s.State()) {
			if time.Since(acknowledged) > 10*time.Second {
				t.Fatalf("%s %s was not seen", method, path)
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Logf("%s %s was seen %v after it was acknowledged", method, path, time.Since(acknowledged).Round(time.Millisecond))
	}
	exists := func(name string, want bool) func(*indexresolver.State) bool {
		return func(s *indexresolver.State) bool { _, ok := s.Lookup(name); return ok == want }
	}
	f("PUT", "/new1", "", exists("new1", true))
	f("PUT", "/new1/_alias/newalias", "", exists("newalias", true))
	f("PUT", "/new1/_alias/New%C3%84lias%09%00", "", exists("NewÄlias\t\x00", true)) // clusters let an alias have such a name
	f("PUT", "/new1/_mapping", `{"properties":{"added":{"type":"keyword"}}}`, func(s *indexresolver.State) bool {
		raw, _, _ := s.Mapping("new1")
		return strings.Contains(string(raw), "added")
	})
	f("POST", "/new1/_close", "", func(s *indexresolver.State) bool { x, ok := s.Index("new1"); return ok && x.Closed })
	f("DELETE", "/new1", "", exists("newalias", false))

	node.Must(t, "PUT", "/new2", "")
	state, err := s.Refresh(t.Context())
	if err != nil || !exists("new2", true)(state) {
		t.Errorf("new2 is not in the state that was read after it was made, %v", err)
	}
}
