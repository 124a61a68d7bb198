package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guard/test/testbed"
)

// asked counts the requests to the node below: what it makes of that is noise.
var asked = 0

// node answers like one: with an echo, warnings, times and names that are new each time.
func node(w http.ResponseWriter, r *http.Request) {
	asked++
	h := w.Header()
	h.Set("X-Opaque-Id", r.Header.Get("X-Opaque-Id"))
	h.Set("Content-Type", "application/json; charset=UTF-8")
	switch r.URL.Path {
	case "/a/_doc/1":
		h.Add("Warning", `299 OpenSearch-2 "first"`)
		h.Add("Warning", `299 OpenSearch-2 "second"`)
		fmt.Fprintf(w, `{"took":%d,"uuid":"u%d","n":1,"list":["a","b"],"tasks":{"t%d":{"action":"x"}},"sent":"%s"}`,
			asked, asked, asked, r.Header.Get("X-Opaque-Id"))
	case "/_search":
		h.Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "green a %d\ngreen b 2\n", asked)
	default:
		h.Set("Content-Length", "17")
		w.WriteHeader(http.StatusNotFound)
	}
}

// altered returns a place where the node's answers come with a change.
func altered(t *testing.T, change func(a *httptest.ResponseRecorder)) testbed.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := httptest.NewRecorder()
		node(a, r)
		change(a)
		for name, lines := range a.Header() {
			w.Header()[name] = lines
		}
		w.Header()["Date"] = nil // nodes send none
		w.WriteHeader(a.Code)
		_, _ = w.Write(a.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	return testbed.Client{URL: server.URL}
}

// everyAnswer has JSON, text, and an answer without a body.
const everyAnswer = `---
case:
  - do: {get: {index: a, id: 1}}
  - do: {search: {}}
  - do: {exists: {index: a, id: 2}}
`

// TestCompare: what a proxy can do to answers is found, and noise is not.
func TestCompare(t *testing.T) {
	s := suiteOf(t, everyAnswer)
	direct := altered(t, func(*httptest.ResponseRecorder) {})
	f := func(name string, change func(a *httptest.ResponseRecorder), want ...string) {
		t.Helper()
		c := s.Cases[0]
		runs := []*Run{s.Run(c, direct), s.Run(c, direct)}
		var got []string
		for _, d := range Compare(c, runs, s.Run(c, altered(t, change))) {
			got = append(got, d.What)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: found %q; want %q", name, got, want)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s: found %q; want %q", name, got[i], want[i])
			}
		}
	}
	body := func(old, new string) func(a *httptest.ResponseRecorder) {
		return func(a *httptest.ResponseRecorder) {
			text := strings.Replace(a.Body.String(), old, new, 1)
			a.Body.Reset()
			a.Body.WriteString(text)
		}
	}
	header := func(name string, lines ...string) func(a *httptest.ResponseRecorder) {
		return func(a *httptest.ResponseRecorder) {
			if a.Header().Get("Warning") == "" {
				return // the first answer is enough
			}
			if a.Header()[name] = lines; lines == nil {
				a.Header().Del(name)
			}
		}
	}
	const w1, w2 = `299 OpenSearch-2 "first"`, `299 OpenSearch-2 "second"`
	f("nothing", func(*httptest.ResponseRecorder) {})
	f("a header added", header("Via", "guard"), "header.Via: missing at the node")
	f("Warning dropped", header("Warning"), "header.Warning: array")
	f("one Warning dropped", header("Warning", w1), "header.Warning: 2 elements at the node, 1 through guard")
	f("Warnings in another order", header("Warning", w2, w1), "header.Warning.0: string", "header.Warning.1: string")
	f("Warnings in one line", header("Warning", w1+", "+w2), "header.Warning: 2 elements")
	f("content type without charset", header("Content-Type", "application/json"), "header.Content-Type.0: string")
	f("another id", header("X-Opaque-Id", "conformance-000000000"), "header.X-Opaque-Id.0: string")
	f("no id", header("X-Opaque-Id"), "header.X-Opaque-Id: array")
	f("another number", body(`"n":1`, `"n":2`), "body.n: number 1 at the node, number 2 through guard")
	f("another spelling", body(`"n":1`, `"n":1.0`), "body.n: number 1 at the node, number 1.0 through guard")
	f("another kind", body(`"n":1`, `"n":"1"`), "body.n: number 1 at the node, string")
	f("a null", body(`"n":1`, `"n":null`), "body.n: number 1 at the node, null")
	f("a member less", body(`"n":1,`, ``), "body.n: number 1 at the node, missing")
	f("a member more", body(`"n":1`, `"n":1,"m":2`), "body.m: missing at the node, number 2 through guard")
	f("an element more", body(`["a","b"]`, `["a","b","c"]`), "body.list: 2 elements at the node, 3 through guard")
	f("another order of elements", body(`["a","b"]`, `["b","a"]`), "body.list.0: string", "body.list.1: string")
	f("noise of another kind", body(`"uuid":"`, `"uuid":1,"u":"`), "body.uuid: string", "body.u: missing at the node")
	f("noise of another form", body(`"action":"x"`, `"action":"x","user":"y"`), "body.tasks.")
	f("noise that says something else", body(`"action":"x"`, `"action":"y"`), "body.tasks.")
	f("a column less", body("green b 2", "green b"), "body.1: 3 elements at the node, 2 through guard")
	f("a line less", body("green b 2\n", ""), "body: 2 elements at the node, 1 through guard")
	f("a word in a table", body("green b 2", "red b 2"), `body.1.0: string "green" at the node, string "red"`)
	f("the length behind HEAD", func(a *httptest.ResponseRecorder) {
		if a.Code == http.StatusNotFound {
			a.Header().Set("Content-Length", "18")
		}
	}, "header.Content-Length.0")
	f("the status behind HEAD", func(a *httptest.ResponseRecorder) {
		if a.Code == http.StatusNotFound {
			a.Code = http.StatusOK
		}
	}, "status is 404 Not Found at the node, 200 OK through guard")
	f("the status", func(a *httptest.ResponseRecorder) {
		if a.Header().Get("Warning") != "" {
			a.Code = http.StatusBadGateway
		}
	}, "the case ends at the node with success after 3 answers, through guard with a failure in step 0", "status is 200 OK")
}

// TestTasks: what a list of tasks holds is of the moment, that it is one is not.
func TestTasks(t *testing.T) {
	answer := func(request, body string, status int) *Run {
		return &Run{Answers: []*Answer{{Request: request, ID: "-", Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}}}
	}
	f := func(request string, status, found int) {
		t.Helper()
		direct := answer(request, `{"tasks":{}}`, 200)
		if d := Compare(&Case{}, []*Run{direct, direct}, answer(request, `{"tasks":{"n:1":{}}}`, status)); len(d) != found {
			t.Errorf("%s: %v; want %d differences", request, d, found)
		}
	}
	f("GET /_tasks?detailed=true", 200, 0)
	f("GET /_cat/tasks", 200, 0)
	f("GET /_tasks", 404, 1)
	f("GET /_tasks/n:1", 200, 1)
	f("GET /_search?q=/_tasks", 200, 1)
}

// TestSpelling: where the node answers the same bytes twice, guard has to as well.
func TestSpelling(t *testing.T) {
	f := func(want1, want2, got string, found int) {
		t.Helper()
		answer := func(body string) *Run {
			return &Run{Answers: []*Answer{{ID: "-", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}}}
		}
		if d := Compare(&Case{}, []*Run{answer(want1), answer(want2)}, answer(got)); len(d) != found {
			t.Errorf("%s, %s and through guard %s: %v; want %d differences", want1, want2, got, d, found)
		}
	}
	f(`{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"a":1,"b":2}`, 0)
	f(`{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"b":2,"a":1}`, 1)
	f(`{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"a":1, "b":2}`, 1)
	f(`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a":1, "b":2}`, 0)
	f(`{"took":1}`, `{"took":1}`, `{"took":27}`, 0)
	f(`{"took":1}`, `{"took":1}`, `{"took": 27}`, 1)
	f(`{"took":1}`, `{"took":1}`, `{"took":"1"}`, 1)
	f(`{"time_in_millis" : 1}`, `{"time_in_millis" : 1}`, `{"time_in_millis" : 2}`, 0)
	f(`{"number_of_pending_tasks":1}`, `{"number_of_pending_tasks":1}`, `{"number_of_pending_tasks":0}`, 0)
	f(`{"estimated_size":"0b"}`, `{"estimated_size":"0b"}`, `{"estimated_size":"16.5kb"}`, 0)
	f(`{"estimated_size":"0b"}`, `{"estimated_size":"0b"}`, `{"estimated_size":"much"}`, 1)
	nodes := func(section, address string) string {
		return `{"nodes":{"a":{"` + section + `" : {"bound_address":["[::]:9200"],"publish_address" : ` + address + `,"n":1}}}}`
	}
	f(nodes("http", `"es/127.0.0.1:9200"`), nodes("http", `"es/127.0.0.1:9200"`), nodes("http", `"guard:9200"`), 0) // guard says where it is itself
	f(nodes("http", `"es:9200"`), nodes("http", `"es:9200"`), nodes("http", `"guard"`), 1)
	f(nodes("http", `"es:9200"`), nodes("http", `"es:9200"`), nodes("http", `null`), 1)
	f(nodes("transport", `"es:9200"`), nodes("transport", `"es:9200"`), nodes("transport", `"guard:9200"`), 1)
	f(`{"l":[1]}`, `{"l":[1,2]}`, `{"l":[1,2,3]}`, 0) // a list that grows at the node
	f(`{"l":[1]}`, `{"l":[1,2]}`, `{"l":["x"]}`, 1)
	f(`{"l":[1]}`, `{"l":[1,2]}`, `{"l":[]}`, 1)
	f(`{"o":{"x":1}}`, `{"o":{"y":2}}`, `{"o":{"z":3}}`, 0) // names that are new each time
	f(`{"o":{"x":1}}`, `{"o":{"y":2}}`, `{"o":{}}`, 1)
	f(`{}`, `{"a":1}`, `{}`, 0)
	f(`{}`, `{}`, ``, 1)
	f(``, ``, `{}`, 1)
}

// TestWithoutThreads: the numbers of pools of threads are noise in their table and nowhere else,
// and the rest of the table is none.
func TestWithoutThreads(t *testing.T) {
	f := func(request, table, want string) {
		t.Helper()
		if got := string(withoutThreads(request, []byte(table))); got != want {
			t.Errorf("%s: %q became %q; want %q", request, table, got, want)
		}
	}
	f("GET /_cat/thread_pool", "node-0 search 1 0 12\n", "node-0 search 0 0 0\n")
	f("GET /_cat/thread_pool/search?h=name,active", "search 3\n", "search 0\n")
	f("GET /_cat/indices", "green a 2\n", "green a 2\n")
}
