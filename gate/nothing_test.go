package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"guard/indexresolver"
)

// nothingRole shows nothing of hr, by a field rule that may apply or by a document rule that
// lacks a variable, and all of logs-*.
const nothingRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [hr, old, "logs-*"], allowed_actions: ["*"]}
    - {index_patterns: ["h${attr.internal.team}"], fls: ["~ssn"], allowed_actions: ["read"]}
    - {index_patterns: [old], dls: '{"term":{"dept":"${attr.internal.dept}"}}', allowed_actions: ["read"]}
`

// TestNothingIsShown states the law of a restriction that shows nothing: neither do lists
// of fields, and it takes nothing from what other indices show.
func TestNothingIsShown(t *testing.T) {
	s := worldWith(t, nothingRole, append(staff(), indexresolver.Index{Name: "old", Mapping: []byte(staffMapping)}))
	f := func(target, answer, want string) {
		t.Helper()
		out := planFor(t, s, "GET", target, "")
		if out.Kind != Forward || out.Forward.Treat == nil {
			t.Fatalf("GET %s: %s; want its answer to be filtered", target, gist(t, out))
		}
		got, err := out.Forward.Treat.Treat(Answer{Status: 200, Body: []byte(answer)})
		if err != nil || string(got.Body) != want {
			t.Errorf("GET %s: %s, %v; want %s", target, got.Body, err, want)
		}
	}
	for _, index := range []string{"hr", "old"} {
		f("/"+index+"/_mapping", `{"`+index+`":{"mappings":`+staffMapping+`}}`, `{"`+index+`":{"mappings":{"properties":{}}}}`)
		f("/"+index, `{"`+index+`":{"settings":{"index":{"sort":{"field":"ssn"}}},"mappings":`+staffMapping+`}}`, `{"`+index+`":{"settings":{"index":{}},"mappings":{"properties":{}}}}`)
		f("/"+index+"/_field_caps?fields=*", `{"indices":["`+index+`"],"fields":{"ssn":{"keyword":{"type":"keyword"}},"name":{"text":{"type":"text"}}}}`, `{"indices":["`+index+`"],"fields":{}}`)
	}
	if got := gist(t, planFor(t, s, "GET", "/hr,logs-a-1,old/_field_caps?fields=*", "")); !strings.HasPrefix(got, "GET /logs-a-1/_field_caps") {
		t.Errorf("fields of three indices: %s; want those of the index that shows any", got)
	}
	if got := gist(t, planFor(t, s, "POST", "/hr,logs-a-1/_search", `{"sort":["level"],"query":{"term":{"ssn":"1"}}}`)); !strings.HasPrefix(got, "POST ") || !strings.Contains(got, `"level"`) {
		t.Errorf("a sort of what one index shows: %s", got)
	}
}

// TestHidesFieldsIsAsked: who asks for the field entries of a restriction alone forgets that
// one without any may show nothing.
func TestHidesFieldsIsAsked(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // G304: of this folder
		if err != nil {
			t.Fatal(err)
		}
		for _, asks := range []string{"len(r.FLS)", "Rules.FLS)", "len(r.DLS) > 0", "Rules.DLS) > 0"} {
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), asks) {
				t.Errorf("%s asks for %s; want HidesFields or HidesDocuments", file, asks)
			}
		}
	}
}
