package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"guard/test/testbed"
)

// answerer gives answers of all sorts: what a case can look at.
func answerer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.Path {
	case "/a/_doc/1":
		w.Header().Add("Warning", `299 OpenSearch-2 "old \"thing\""`)
		_, _ = w.Write([]byte(`{"n":1,"f":2.0,"list":[{"a":1,"b":2}],"empty":"","no":false,"o":{}}`))
	case "/_search":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"root_cause":[],"type":"parsing_exception","reason":"no [x]"},"status":400}`))
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestSteps: each kind of step fails when what it says is not so. A runner that can't
// fail would find nothing.
func TestSteps(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(answerer))
	defer server.Close()
	f := func(step, want string) {
		t.Helper()
		s := suiteOf(t, "---\ncase:\n- do: {get: {index: a, id: 1}}\n- set: {n: one}\n- "+step+"\n")
		run := s.Run(s.Cases[0], testbed.Client{URL: server.URL})
		if run.Failed != (want != "") || !strings.Contains(run.Why, want) {
			t.Errorf("%s ends with %q; want %q", step, run.Why, want)
		}
		if run.Failed && run.Step != 2 {
			t.Errorf("%s: step %d failed; want 2", step, run.Step)
		}
	}
	f("match: {n: 1}", "")
	f("match: {n: $one}", "")
	f("match: {f: 2}", "")
	f("match: {n: 2}", "n is 1; want 2")
	f(`match: {n: "1"}`, "n is 1; want 1")
	f("match: {n: /^1$/}", "")
	f("match: {n: /^2$/}", "does not match")
	f("match: {gone: null}", "")
	f("match: {gone: 1}", "there is no such value")
	f("match: {list.0: {a: 1}}", "want map[a:1]")
	f("match: {list: [{b: 2, a: 1.0}]}", "")
	f("length: {list: 1}", "")
	f("length: {list: 2}", "list has length 1; want 2")
	f("length: {n: 1}", "n has length -1; want 1")
	f("contains: {list: {a: 1}}", "")
	f("contains: {list: {a: 2}}", "want map[a:2] in it")
	f("is_true: o", "")
	for _, path := range []string{"gone", "empty", "no"} {
		f("is_true: "+path, "want it to be true")
		f("is_false: "+path, "")
	}
	f("is_false: n", "want it to be false")
	f("gt: {n: 0}", "")
	f("gt: {n: 1}", "want gt 1")
	f("gte: {n: 1}", "")
	f("gte: {n: 2}", "want gte 2")
	f("lt: {n: 1}", "want lt 1")
	f("lte: {n: 0.5}", "want lte 0.5")
	f("lt: {list: 1}", "want a number lt 1")
	f("set: {gone: x}", "there is no such value")
	f("do: {search: {}}", "status 400")
	f("do: {search: {ignore: 400}}", "")
	f("do: {catch: bad_request, search: {}}", "")
	f("do: {catch: missing, search: {}}", "status 400; want 404")
	f("do: {catch: request, search: {}}", "")
	f(`do: {catch: '/type=parsing_exception.*no \[x\]/', search: {}}`, "")
	f("do: {catch: '/no y/', search: {}}", "does not match")
	f("do: {catch: '/x/', get: {index: a, id: 1}}", "status 200; want an error")
	f("do: {catch: request, get: {index: a, id: 1}}", "status 200; want an error")
	f("do: {catch: param, get: {index: a}}", "")
	f("do: {catch: param, get: {index: a, id: 1}}", `want "param"`)
	f("do: {get: {index: a}}", "needs more parts")
	f("do: {get: {index: a, id: 2}}", "status 404")
	f("do: {exists: {index: a, id: 2}}", "")
	f(`do: {warnings: ['old "thing"'], get: {index: a, id: 1}}`, "")
	f("do: {warnings: [another], get: {index: a, id: 1}}", `want "another"`)
}

// TestExists: behind HEAD the answer is yes or no.
func TestExists(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(answerer))
	defer server.Close()
	s := suiteOf(t, `---
teardown:
  - do: {get: {index: a, id: 3}}
---
case:
  - do: {exists: {index: a, id: 1}}
  - is_true: ''
  - do: {exists: {index: a, id: 2}}
  - is_false: ''
`)
	run := s.Run(s.Cases[0], testbed.Client{URL: server.URL})
	if run.Step != 4 || len(run.Answers) != 3 || !strings.Contains(run.Why, "teardown") {
		t.Errorf("step %d failed after %d answers: %s; want the teardown", run.Step, len(run.Answers), run.Why)
	}
}

// TestBodies: objects, lines of objects, lines as text and texts arrive as written.
func TestBodies(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer server.Close()
	f := func(call, want string) {
		t.Helper()
		s := suiteOf(t, "---\ncase:\n- do: "+call+"\n")
		if run := s.Run(s.Cases[0], testbed.Client{URL: server.URL}); run.Failed || got != want {
			t.Errorf("%s sends %q, %s; want %q", call, got, run.Why, want)
		}
	}
	f("{search: {body: {query: {match_all: {}}}}}", `application/json {"query":{"match_all":{}}}`)
	f("{bulk: {body: [{index: {}}, {a: 1.0}]}}", "application/x-ndjson {\"index\":{}}\n{\"a\":1.0}\n")
	f(`{bulk: {body: ['{"index": {}}', '{"a": 1}']}}`, "application/x-ndjson {\"index\": {}}\n{\"a\": 1}\n")
	f(`{bulk: {body: "{}\n{}\n"}}`, "application/x-ndjson {}\n{}\n")
}
