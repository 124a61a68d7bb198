package queries_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"guard/fls"
	"guard/internal/esjson"
	"guard/internal/mapping"
	"guard/internal/query"
	"guard/test/testbed"
)

// The two indices: "whole" has the hidden fields, "lacks" was made without them.
const (
	visibleFields = `"title":{"type":"text","fields":{"raw":{"type":"keyword"}}},"tag":{"type":"keyword"},"n":{"type":"integer"},
		"d":{"type":"date"},"place":{"type":"geo_point"},"person":{"properties":{"nick":{"type":"keyword"}%s}},
		"kids":{"type":"nested","properties":{"k":{"type":"keyword"}}}`
	hiddenFields = `,"ssn":{"type":"keyword"},"salary":{"type":"integer"},"spot":{"type":"geo_point"},"rank":{"type":"rank_feature"},
		"born":{"type":"date"},"secret":{"properties":{"value":{"type":"text"}}},"deep":{"type":"nested","properties":{"x":{"type":"keyword"}}},
		"title_copy":{"type":"text"}`
)

var hidden = []string{"~ssn", "~salary", "~spot", "~rank", "~born", "~secret", "~deep", "~title_copy", "~person.pass"}

// docs are the visible parts of the documents and the hidden ones beside them.
var docs = [][2]string{
	{`"title":"red fox jumps","tag":"a","n":1,"d":"2020-01-01","place":"1,1","person":{"nick":"foxy"%s},"kids":[{"k":"x"}]`,
		`,"ssn":"red","salary":10,"spot":"1,1","rank":3,"born":"1990-01-01","secret":{"value":"red fox"},"deep":[{"x":"red"}],"title_copy":"blue"`},
	{`"title":"blue fox","tag":"b","n":5,"d":"2021-01-01","person":{"nick":"bluey"%s}`, `,"ssn":"fox","salary":5,"secret":{"value":"green"}`},
	{`"title":"green hill AND valley","tag":"a","n":7`, `,"ssn":"5","salary":1,"title_copy":"red fox"`},
	{`"tag":"a:b","n":-3,"title":"red"`, ``},
	{`"tag":"only"`, `,"ssn":"only","title_copy":"only"`},
	{`"n":10`, `,"salary":7`},
}

func fill(t *testing.T, node *testbed.Node) {
	t.Helper()
	put := func(index string, hiddenToo bool) {
		fields, pass := "", ""
		if hiddenToo {
			fields, pass = hiddenFields, `,"pass":{"type":"keyword"}`
		}
		// One shard: the order of hits with equal scores is that of the documents.
		node.Must(t, "PUT", "/"+index, `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{`+
			fmt.Sprintf(visibleFields, pass)+fields+`}}}`)
		for i, d := range docs {
			shown, more, pass := d[0], "", ""
			if hiddenToo {
				more, pass = d[1], `,"pass":"red"`
			}
			if regexp.MustCompile(`%s`).MatchString(shown) {
				shown = fmt.Sprintf(shown, pass)
			}
			node.Must(t, "PUT", fmt.Sprintf("/%s/_doc/%d", index, i), "{"+shown+more+"}")
		}
		node.Must(t, "POST", "/"+index+"/_refresh", "")
	}
	put("whole", true)
	put("lacks", false)
}

// rules returns the field rule on the index "whole" as the gate would make it.
func rules(t *testing.T, node *testbed.Node) query.Rules {
	t.Helper()
	var got map[string]struct{ Mappings json.RawMessage }
	if err := json.Unmarshal(node.Must(t, "GET", "/whole/_mapping", "").Body, &got); err != nil {
		t.Fatal(err)
	}
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, got["whole"].Mappings, esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Parse(v)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := fls.Compile(hidden)
	if err != nil {
		t.Fatal(err)
	}
	views := fls.NewViews([]*fls.View{fls.NewView(compiled, m)})
	return query.Rules{Filter: query.Free, Fields: views}
}

// rewrite returns body as it is forwarded under r.
func rewrite(body string, r *query.Rules) (string, error) {
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(body), esjson.RequestLimits())
	if err != nil {
		return "", err
	}
	out, err := query.AppendSearch(nil, v, nil, r)
	return string(out), err
}

// varying is what differs between any two answers.
var varying = regexp.MustCompile(`"took":\d+|"index_uuid":"[^"]*"|"node":"[^"]*"|"index":"[^"]*"|"_index":"[^"]*"|index_uuid:\S*|\[(whole|lacks)[^\]]*\]`)

// answer sends a search and returns its status and body without what varies.
func answer(t *testing.T, node *testbed.Node, index, body string, n *query.Names) string {
	t.Helper()
	res, err := node.Do("POST", "/"+index+"/_search", body)
	if err != nil {
		t.Fatal(err)
	}
	text := n.AppendRestored(nil, res.Body)
	return fmt.Sprintf("%d %s", res.Status, varying.ReplaceAll(text, nil))
}

// onEach runs f on a node of each engine.
func onEach(t *testing.T, f func(t *testing.T, node *testbed.Node)) {
	for _, kind := range []testbed.Kind{testbed.OpenSearch, testbed.ES710} {
		t.Run(string(kind), func(t *testing.T) {
			node := testbed.Own(t, testbed.Options{Kind: kind})
			fill(t, node)
			f(t, node)
		})
	}
}

var sourceText = regexp.MustCompile(`,?"_source":(\{[^{}]*(\{[^{}]*(\{[^{}]*\}[^{}]*)*\}[^{}]*)*\})`)

// withoutSource drops the source of hits: the answer's filter has it, not the request's.
func withoutSource(text string) string { return sourceText.ReplaceAllString(text, "") }
