package conformance

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// writeJar makes a suite of files, by their names below rest-api-spec, and reads it.
func writeJar(t *testing.T, files map[string]string) *Suite {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suite.jar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create("rest-api-spec/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSuite(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// api are a few calls as suites describe them.
var api = map[string]string{
	"api/_common.json": `{"params":{"pretty":{}}}`,
	"api/get.json":     `{"get":{"url":{"paths":[{"path":"/{index}/_doc/{id}","methods":["GET"],"parts":{"index":{},"id":{}}}]},"params":{"routing":{}}}}`,
	"api/exists.json":  `{"exists":{"url":{"paths":[{"path":"/{index}/_doc/{id}","methods":["HEAD"],"parts":{"index":{},"id":{}}}]},"params":{}}}`,
	"api/search.json": `{"search":{"url":{"paths":[{"path":"/_search","methods":["GET","POST"]},
		{"path":"/{index}/_search","methods":["GET","POST"],"parts":{"index":{}}}]},"params":{"q":{}},"body":{}}}`,
	"api/bulk.json": `{"bulk":{"url":{"paths":[{"path":"/_bulk","methods":["POST"]}]},"params":{},"body":{"required":true,"serialize":"bulk"}}}`,
}

// suiteOf makes a suite with one file of cases.
func suiteOf(t *testing.T, cases string) *Suite {
	t.Helper()
	files := map[string]string{"test/a/10_basic.yml": cases, "test/README.md": "no case"}
	for name, text := range api {
		files[name] = text
	}
	return writeJar(t, files)
}

func TestRequest(t *testing.T) {
	s := suiteOf(t, "---\nnothing: []\n")
	f := func(call string, values map[string]string, body bool, want string) {
		t.Helper()
		req, err := s.request(call, values, body, "x")
		got := req.method + " " + req.target
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s of %v is %q; want %q", call, values, got, want)
		}
	}
	f("get", map[string]string{"index": "a", "id": "1"}, false, "GET /a/_doc/1")
	f("get", map[string]string{"index": "a,b*", "id": "x/%y <z>", "routing": "r&s"}, false, "GET /a,b*/_doc/x%2F%25y%20%3Cz%3E?routing=r%26s")
	f("get", map[string]string{"index": "a"}, false, "get needs more parts of the path")
	f("get", map[string]string{"index": "a", "id": "1", "q": "x"}, false, `get takes no "q"`)
	f("bulk", map[string]string{"pretty": ""}, true, "POST /_bulk?pretty=")
	f("bulk", nil, false, "bulk needs a body")
	f("frob", nil, false, `the suite describes no call "frob"`)
	if req, err := s.request("search", map[string]string{"index": "a"}, true, "x"); err != nil || req.target != "/a/_search" {
		t.Errorf("search of an index goes to %q, %v; want the path with the most parts", req.target, err)
	}
}

// TestMethods: where several methods are allowed, all of them are used, and each place always uses the same one.
func TestMethods(t *testing.T) {
	s := suiteOf(t, "---\nnothing: []\n")
	used := map[string]bool{}
	for _, place := range []string{"a:1", "a:2", "a:3", "a:4", "a:5", "a:6", "a:7", "a:8"} {
		first, err := s.request("search", nil, true, place)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := s.request("search", nil, true, place); again != first {
			t.Errorf("at %s search is %v, then %v", place, first, again)
		}
		used[first.method] = true
	}
	if len(used) != 2 {
		t.Errorf("search used %v; want GET and POST", used)
	}
}

func TestSkips(t *testing.T) {
	f := func(openSearch bool, version, r string, want bool) {
		t.Helper()
		if got := (engine{openSearch, version}).within(r); got != want {
			t.Errorf("%s (OpenSearch: %v) within %q: %v; want %v", version, openSearch, r, got, want)
		}
	}
	f(false, "7.10.2", " - 6.99.99", false)
	f(false, "7.10.2", " - 7.10.1", false)
	f(false, "7.10.2", " - 7.10.2", true)
	f(false, "7.10.2", "7.4.0 - ", true)
	f(false, "7.10.2", "all", true)
	f(false, "7.10.2", "-", true)
	f(true, "2.19.4", " - 6.99.99", false) // older than any OpenSearch
	f(true, "2.19.4", "7.4.0 - ", true)
	f(true, "2.19.4", "- 2.99.99", true)
	f(true, "2.19.4", "3.0.0 -", false)
	f(true, "2.19.4", " - 2.9.99", false) // by number, not by text

	s := suiteOf(t, `---
setup:
  - skip: {version: " - 2.0.99", reason: x}
---
feature: [{skip: {features: [warnings, telepathy]}}]
---
version: [{skip: {version: "1.0.0 - 1.9.99,2.19.0 -"}}]
---
neither: [{skip: {features: warnings}}]
`)
	for i, want := range []string{"the runner has no telepathy", "version is within 2.19.0 -", ""} {
		if got := s.Cases[i].because(engine{true, "2.19.4"}); got != want {
			t.Errorf("%s is skipped because %q; want %q", s.Cases[i].ID(), got, want)
		}
	}
	if got := s.Cases[2].because(engine{true, "1.3.0"}); got == "" {
		t.Error("what skips the setup does not skip the case")
	}
}
