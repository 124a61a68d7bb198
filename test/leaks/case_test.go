package leaks

import (
	"strings"
	"testing"
)

const fixtureLine = `{"id":"fixtures","indices":{"a":{"docs":[{"_id":"1","_source":{}}]}}}` + "\n"

func TestRead(t *testing.T) {
	c := &Catalogue{}
	text := fixtureLine + "\n" + `{"id":"A-01a","leak_if":["x"],"setup":{"fixtures":["a"]}}` + "\n"
	if err := c.Read("one", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if len(c.Cases) != 1 || len(c.Indices["a"].Docs) != 1 {
		t.Errorf("read %d cases and %v", len(c.Cases), c.Indices)
	}
	f := func(line, want string) {
		t.Helper()
		c := &Catalogue{}
		if err := c.Read("some", strings.NewReader(text+line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want %q in it", line, err, want)
		}
	}
	f(`{`, "some:4: not a case")
	f(`{"id":"A-01a","leak_if":["x"]}`, "the id is taken")
	f(`{"id":"B","leek_if":["x"]}`, `unknown field "leek_if"`)
	f(`{"id":"B"}`, "nothing would be a leak")
	f(`{"id":"B","leak_if":["x"],"setup":{"fixtures":["b"]}}`, `no fixture "b"`)
	f(`{"id":"B","leak_if":["x"],"pre":[{"as":"root"}]}`, `a step as "root"`)
	f(`{"id":"B","leak_if":["$.a"]}`, "want a path")
}

func TestGenerated(t *testing.T) {
	c := &Catalogue{}
	line := `{"id":"fixtures","indices":{"a":{"generate":{"count":2,"template":{"_id":"${i}","_source":{"n":"${i}"}}}}}}`
	if err := c.Read("one", strings.NewReader(line)); err != nil {
		t.Fatal(err)
	}
	docs, err := c.Indices["a"].docs()
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[1].ID != "2" || string(docs[1].Source) != `{"n":"2"}` {
		t.Errorf("generated %v", docs)
	}
}
