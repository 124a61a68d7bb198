package resolution_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	"guard/test/testbed"
)

// TestLive compares with a real node of each engine.
func TestLive(t *testing.T) {
	t.Run("engines", func(t *testing.T) {
		f := func(kind testbed.Kind, distribution indexresolver.Distribution, major int) {
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel() // most of the time nodes start
				checkEngine(t, testbed.Own(t, testbed.Options{Kind: kind}), distribution, major)
			})
		}
		f(testbed.OpenSearch, indexresolver.OpenSearch, 2)
		f(testbed.ES710, indexresolver.Elasticsearch, 7)
		f(testbed.OpenSearch3, indexresolver.OpenSearch, 3)
	})
	for _, row := range rows() {
		if _, ok := used.Load(row); !ok {
			t.Errorf("no difference is explained by %q: it can go from explained.go and docs/compatibility.md", row)
		}
	}
}

func checkEngine(t *testing.T, node *testbed.Node, distribution indexresolver.Distribution, major int) {
	t.Helper()
	streams := build(t, node)
	s := watch(t, node.URL)
	if e := s.State().Engine; e.Distribution != distribution || e.Major != major {
		t.Errorf("the engine is %+v", e)
	}
	checkState(t, s.State(), streams)
	checkGrammar(t, node, s.State(), streams)
	checkDateMath(t, node)
	checkChanges(t, node, s)
}

// fetcher is the smallest source.Fetcher.
type fetcher string

func (f fetcher) Stream(ctx context.Context, method, target string, read func(int, io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, string(f)+target, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return read(res.StatusCode, res.Body)
}

// watch starts a Source on what stands at a URL and returns when it knows the state.
func watch(t *testing.T, at string) *source.Source {
	t.Helper()
	s := source.New(fetcher(at), source.Config{
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

// thisYear is the index that date math names.
func thisYear() string { return fmt.Sprintf("log-%d", time.Now().UTC().Year()) }

// build makes the cluster that the tables of the resolver's own tests describe. Its
// open build of Elasticsearch knows no data streams: it reports whether there are.
func build(t *testing.T, node *testbed.Node) (streams bool) {
	t.Helper()
	put := func(name, settings string) {
		t.Helper()
		node.Must(t, "PUT", "/"+url.PathEscape(name), `{"settings":{"index.number_of_shards":1,"index.number_of_replicas":0`+settings+`}}`)
		node.Must(t, "PUT", "/"+url.PathEscape(name)+"/_doc/1?refresh=true", `{"k":"x"}`)
	}
	for _, name := range []string{"a1", "a2", "a3", "b1", ".dot", "x+y", "c-1", "sys", "größe", "100%", "p%2cq", ".tasks", ".kibana_1", "log-2000.01.01", thisYear()} {
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
		add("a1", "alfmix", `,"filter":{"term":{"k":"none"}}`), add("b1", "alfmix", ""), add("a1", "Al", ""), add("größe", "größen", ""),
		add("hid", "hidf", `,"filter":{"term":{"k":"none"}}`), add("a1", ".alfdot", `,"is_hidden":true,"filter":{"term":{"k":"none"}}`),
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
		"größe": "größe", "100%": "100%", "p%2cq": "p%2cq", ".tasks": ".tasks", ".kibana_1": ".kibana_1", "log-2000.01.01": "log-2000.01.01", thisYear(): thisYear(),
		"alfmix": "a1 b1", "Al": "a1", "größen": "größe", "hidf": "hid", ".alfdot": "a1",
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
		if m.Hidden != (m.Alias == "alhid" || m.Alias == ".alfdot") {
			t.Errorf("alias %q is hidden: %v", m.Alias, m.Hidden)
		}
	}
	if raw, _, ok := s.Mapping("a1"); !ok || !strings.HasPrefix(string(raw), `{"properties":{"k":{`) {
		t.Errorf("the mapping of a1 is %s", raw)
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
