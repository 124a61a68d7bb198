package plugin

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/test/testbed"
)

// TestRulesAreDocumented holds that operators are told each rule.
func TestRulesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules {
		if row := fmt.Sprintf("| %s | %s |\n", r.Name, r.Why); !strings.Contains(string(doc), row) {
			t.Errorf("docs/compatibility.md lacks the row\n%s", row)
		}
	}
}

// TestExplain: a rule takes what is meant and nothing near it.
func TestExplain(t *testing.T) {
	w := World{
		Indices: map[string]Index{"a1": {Docs: 2}, "b1": {Docs: 1, Hidden: true}, ".sys-1": {Docs: 1}},
		Aliases: map[string]Alias{"al-a": {Members: []string{"a1"}}, "al-two": {Members: []string{"a1", "c9"}}},
	}
	refusal := func(reason string) string {
		return fmt.Sprintf(`{"error":{"type":"security_exception","root_cause":[{"type":"security_exception"}],"reason":%q},"status":403}`, reason)
	}
	missing := refusal("no permissions for [indices:data/read/search] and User [name=u1]")
	f := func(want, kind, line string, dnfof bool, guardStatus int, guard string, pluginStatus int, plugin string) {
		t.Helper()
		read := func(status int, body string) Outcome {
			return Read(line, testbed.Response{Status: status, Header: http.Header{}, Body: []byte(body)})
		}
		d := Difference{Kind: kind, Line: line, DNFOF: dnfof, World: w, Guard: read(guardStatus, guard), Plugin: read(pluginStatus, plugin)}
		if got := Explain(d); got != want {
			t.Errorf("%s: %d and %d are explained by %q; want %q", line, guardStatus, pluginStatus, got, want)
		}
	}
	f("options of the request", "count", "GET /b*/_count", false, 200, `{"count":0}`, 403, missing)
	f("", "count", "GET /a*/_count", false, 200, `{"count":0}`, 403, missing) // nothing there is hidden
	f("", "count", "GET /b1/_count", false, 200, `{"count":1}`, 403, missing) // no wildcard
	f("", "count", "GET /b*/_count", false, 403, missing, 200, `{"count":1}`)
	f("options of the request", "count", "GET /*/_count", true, 200, `{"count":2}`, 200, `{"count":3}`)
	f("", "count", "GET /*/_count", true, 200, `{"count":2}`, 200, `{"count":4}`) // more than what is hidden
	f("missing name beside wildcards", "count", "GET /a*,nosuch/_count", false, 404, `{"error":{"type":"index_not_found_exception"},"status":404}`, 403, missing)
	f("", "count", "GET /a1,nosuch/_count", false, 404, `{"error":{"type":"index_not_found_exception"},"status":404}`, 403, missing)
	f("missing name beside wildcards", "count", "GET /al-a,-nosuch/_count", false, 200, `{"count":2}`, 403, missing)
	f("", "count", "GET /a1,-nosuch/_count", false, 200, `{"count":2}`, 403, missing) // an index is no alias
	f("missing name beside wildcards", "count", "GET /a*,nosuch/_count", true, 200, `{"count":2}`, 200, `{"count":0}`)
	f("", "count", "GET /a*,nosuch/_count", true, 200, `{"count":2}`, 200, `{"count":1}`)
	f("system index among others", "get_mapping", "GET /_mapping", false, 200, `{"a1":{}}`, 200, `{"a1":{},".sys-1":{}}`)
	f("", "get_mapping", "GET /_mapping", false, 200, `{"a1":{}}`, 200, `{"a1":{},"b2":{},".sys-1":{}}`)
	f("expression for another cluster", "count", "GET /other:a1/_count", false, 403, missing, 404, `{"error":{"type":"index_not_found_exception"},"status":404}`)
	f("", "count", "GET /other:a1/_count", false, 403, missing, 200, `{"count":2}`)
	f("expression for another cluster", "count", "GET /a1,other:a1/_count", true, 200, `{"count":2}`, 404, `{"error":{"type":"index_not_found_exception"},"status":404}`)
	f("alias of several for one document", "get", "GET /al-two/_doc/1", true, 403, missing, 200, `{"_index":"a1","_id":"1","found":true}`)
	f("", "get", "GET /al-a/_doc/1", true, 403, missing, 200, `{"_index":"a1","_id":"1","found":true}`)
	f("`_all` in resolve", "resolve", "GET /_resolve/index/_all", true, 200, `{"indices":[]}`, 200, `{"indices":[{"name":"a1"}]}`)
	f("", "resolve", "GET /_resolve/index/zz*", true, 200, `{"indices":[]}`, 200, `{"indices":[{"name":"a1"}]}`)
	f("system index among others", "count", "GET /*/_count", false, 200, `{"count":2}`, 403, refusal("no permissions for [] and User [name=u1]"))
	f("no such endpoint", "count", "GET /_all,al-a/_count", true, 403, refusal("unknown endpoint [GET /_all,al-a/_count]"), 200, `{"count":2}`)
	f("", "count", "GET /_all,al-a/_count", false, 403, refusal("unknown endpoint [GET /_all,al-a/_count]"), 200, `{"count":2}`)
	f("not built", "settings", "GET /_settings", false, 403, refusal("endpoint [GET /_settings] is not built yet"), 200, `{}`)

	beyond := Difference{
		Kind: "count", Line: "GET /b*/_count", World: w, Beyond: []string{"b1/b1-0"},
		Guard:  Read("GET /b*/_count", testbed.Response{Status: 200, Header: http.Header{}, Body: []byte(`{"count":0}`)}),
		Plugin: Read("GET /b*/_count", testbed.Response{Status: 403, Header: http.Header{}, Body: []byte(missing)}),
	}
	if got := Explain(beyond); got != "" {
		t.Errorf("documents that the plugin never shows are explained by %q; want a fault", got)
	}

	docs := func(error string) string {
		return fmt.Sprintf(`{"docs":[{"_index":"b2","_id":"1","error":{"type":%q}},{"_index":"a1","_id":"1","found":true}]}`, error)
	}
	f("refused before it is looked at", "mget", "POST /_mget {}", false, 200, docs("security_exception"), 200, docs("index_not_found_exception"))
	f("", "mget", "POST /_mget {}", false, 200, docs("index_not_found_exception"), 200, docs("security_exception"))
}

// TestShownMore: documents count as shown by hits, by a found document and by a bucket.
func TestShownMore(t *testing.T) {
	f := func(kind, line, guard, plugin string, want ...string) {
		t.Helper()
		read := func(body string) Outcome {
			return Read(line, testbed.Response{Status: 200, Header: http.Header{}, Body: []byte(body)})
		}
		d := Difference{Kind: kind, Line: line, Guard: read(guard), Plugin: read(plugin)}
		got := d.ShownMore()
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s and %s (-want +got):\n%s", line, guard, plugin, diff)
		}
	}
	one := `{"_index":"a1","_id":"1","_source":{}}`
	hits := func(list string) string { return `{"hits":{"total":{"value":1},"hits":[` + list + `]}}` }
	f("search", "GET /a*/_search", hits(one), hits(""), "a1/#1", "a1/1")
	f("search", "GET /a*/_search", hits(one), hits(one))
	f("search", "GET /a*/_search", hits(""), hits(one))
	buckets := func(list string) string {
		return `{"hits":{"total":{"value":1},"hits":[]},"aggregations":{"i":{"buckets":[` + list + `]}}}`
	}
	f("search", "POST /a*/_search", buckets(`{"key":"a1","doc_count":2}`), buckets(`{"key":"a1","doc_count":1}`), "a1/#2")
	found := `{"_index":"a1","_id":"1","found":true,"_source":{}}`
	f("mget", "POST /_mget {}", `{"docs":[`+found+`]}`, `{"docs":[{"_index":"a1","_id":"1","found":false}]}`, "a1/1")
}

func TestShorter(t *testing.T) {
	f := func(line string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, Shorter(line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	f("GET /a,b/_search?size=100&ignore_unavailable=true", "GET /a,b/_search?size=100", "GET /b/_search?size=100&ignore_unavailable=true", "GET /a/_search?size=100&ignore_unavailable=true")
	f("POST /_msearch {}\n{\"size\":1}\n{}\n{\"size\":2}\n", "POST /_msearch {}\n{\"size\":2}\n", "POST /_msearch {}\n{\"size\":1}\n")
	f("GET /a/_count")
}

// TestSameSeed: what is made follows from the seed alone.
func TestSameSeed(t *testing.T) {
	made := func() string {
		r := rand.New(rand.NewPCG(3, 4))
		text := strings.Join(NewWorld(r).Steps(), "\n") + fmt.Sprint(NewPolicy(r, 10))
		for range 50 {
			text += NewRequest(r).Line
		}
		return text
	}
	if diff := cmp.Diff(made(), made()); diff != "" {
		t.Errorf("two worlds of one seed differ:\n%s", diff)
	}
}
