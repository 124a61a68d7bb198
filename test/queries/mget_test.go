package queries_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/test/testbed"
)

// What a multi-get can say of its items: of the URL, of each item, and what stands beside an
// item. INDEX is the twin that is asked, ID the document in question.
var (
	mgetParams = []string{
		"", "?_source=false", "?_source=order,show", "?_source_includes=o*&_source_excludes=o.t", "?stored_fields=show", "?stored_fields=o", "?stored_fields=o&_source=true",
		"?routing=x", "?realtime=false", "?refresh=true", "?preference=_local", "?stored_fields=_none_",
	}
	mgetWishes = []string{
		``, `,"_source":false`, `,"_source":["order"]`, `,"_source":{"includes":["o*"],"excludes":["order"]}`, `,"stored_fields":["order"]`, `,"stored_fields":["o"]`,
		`,"stored_fields":["kids","_routing"],"_source":true`, `,"stored_fields":["nosuch"]`, `,"stored_fields":"_none_"`, `,"routing":"x"`, `,"_source":"kids.*"`,
		`,"_source":["` + strings.Repeat("a*b*c*", 400) + `*"]`, `,"stored_fields":["o*"]`, `,"stored_fields":["kids*","o"],"_source":["order"]`,
	}
	mgetBeside = []string{
		``, `{"_id":"1"}`, `{"_id":"1"W}`, `{"_id":"0"W},{"_id":"z"W}`, `{"_index":"INDEX-nosuch","_id":"1"}`, `{"_index":"INDEX-both","_id":"1"W}`, `{"_index":"INDEX-closed","_id":"1"W}`,
		`{"_index":"INDEX-routed","_id":"1"W}`, `{"_id":"` + strings.Repeat("i", 600) + `"W}`, `{"_id":"` + strings.Repeat("i", 600) + `"},{"_id":"1"W}`,
		`{"_index":"INDEX-one","_id":"1"W}`, `{"_index":"INDEX-far","_id":"1"}`, `{"_index":"INDEX-Bad","_id":"1"}`, `{"_id":"1","stored_fields":["o"]}`,
	}
	mgetItems = []string{`{"_id":"ID"W}`, `{"_index":"INDEX","_id":"ID"W}`, `{"_index":"INDEX-one","_id":"ID"W}`, `{"_index":"INDEX-both","_id":"ID"W}`,
		`{"_index":"INDEX-closed","_id":"ID"W}`, `{"_index":"INDEX-routed","_id":"ID"W}`}
)

// fillMget makes what the items of a multi-get name beside the twins.
func fillMget(t *testing.T, node *testbed.Node) {
	t.Helper()
	for _, index := range []string{"whole", "twin"} {
		more := `{"mappings":{"properties":{"show":{"type":"boolean","store":true},"o":{"properties":{"t":{"type":"text","store":true}}}}},"settings":{"number_of_shards":1,"number_of_replicas":0}}`
		node.Must(t, "PUT", "/"+index+"-other", more)
		node.Must(t, "PUT", "/"+index+"-closed", more)
		node.Must(t, "POST", "/"+index+"-closed/_close", "")
		node.Must(t, "PUT", "/"+index+"-routed", strings.Replace(more, `"mappings":{`, `"mappings":{"_routing":{"required":true},`, 1))
		docs := []string{"1", "h0"}
		if index == "twin" {
			docs = docs[:1]
		}
		for i, id := range docs {
			node.Must(t, "PUT", "/"+index+"-routed/_doc/"+id+"?routing=x&refresh=true", fmt.Sprintf(`{"show":%v,"o":{"t":"red"}}`, i == 0))
		}
		node.Must(t, "POST", "/_aliases", strings.ReplaceAll(`{"actions":[{"add":{"indices":["INDEX","INDEX-other"],"alias":"INDEX-both"}},{"add":{"index":"INDEX","alias":"INDEX-one"}},
			{"add":{"index":"INDEX","alias":"INDEX-far","routing":"x"}}]}`, "INDEX", index))
	}
}

// mgetRequests are the multi-gets for one document of an index, each with its path.
func mgetRequests(index, id string) (list [][2]string) {
	fill := func(text, wish string) string {
		return strings.NewReplacer("INDEX", index, "ID", id, "W}", wish+"}").Replace(text)
	}
	add := func(params, body string) { list = append(list, [2]string{"/" + index + "/_mget" + params, body}) }
	for i, params := range mgetParams {
		add(params, fill(`{"ids":["ID"]}`, ""))
		add(params, fill(`{"ids":["1","ID","nosuch"]}`, ""))
		for n := i % 4; n < len(mgetBeside); n += 4 {
			add(params, docsOf(fill(mgetItems[0], ""), fill(mgetBeside[n], "")))
		}
	}
	for i, wish := range mgetWishes {
		for n, beside := range mgetBeside {
			item := mgetItems[1+(i+n)%(len(mgetItems)-1)]
			switch (i + n) % 4 { // the slots do not depend on each other otherwise
			case 0:
				add("", docsOf(fill(mgetItems[0], wish), fill(beside, wish)))
			case 2:
				add("", docsOf(fill(beside, wish), fill(item, wish)))
			}
		}
	}
	return list
}

func docsOf(items ...string) string {
	list := items[:0:0]
	for _, item := range items {
		if item != "" {
			list = append(list, item)
		}
	}
	return `{"docs":[` + strings.Join(list, ",") + `]}`
}

// counted is what counts the writes of a shard, and told what an error says beside its type.
var (
	writesCounted = regexp.MustCompile(`"_(seq_no|version|primary_term)":\d+,?`)
	errorsTold    = regexp.MustCompile(`"error":\{"root_cause":\[.*?\],"type":("[^"]*")[^}]*\}`)
)

// TestMget: the slot of a hidden document is to the byte that of one that is not there, and
// the whole answer that of a cluster without it.
func TestMget(t *testing.T) {
	for _, kind := range []testbed.Kind{testbed.OpenSearch, testbed.ES710} {
		t.Run(string(kind), func(t *testing.T) {
			node := testbed.Own(t, testbed.Options{Kind: kind})
			fillTwins(t, node, kind)
			fillMget(t, node)
			checkMget(t, node)
		})
	}
}

func checkMget(t *testing.T, node *testbed.Node) {
	guard := behindRule(t, node)
	ask := func(c testbed.Client, r [2]string) string {
		res, err := c.Do("POST", r[0], r[1])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s", res.Status, writesCounted.ReplaceAll(res.Body, nil))
	}
	typed := func(answer, index string) string {
		return strings.ReplaceAll(errorsTold.ReplaceAllString(answer, `"error":$1`), index, "twin")
	}
	hidden, missing, twin := mgetRequests("whole", "h0"), mgetRequests("whole", "m0"), mgetRequests("twin", "m0")
	found, refused := 0, map[string]int{}
	for i := range hidden {
		got, absent := ask(guard, hidden[i]), ask(guard, missing[i])
		if diff := cmp.Diff(absent, strings.ReplaceAll(got, "h0", "m0")); diff != "" {
			t.Errorf("%s: a hidden document tells of itself (-missing +hidden):\n%s", hidden[i], diff)
		}
		if at := strings.Index(got, "security_exception"); at >= 0 {
			refused[got[at:min(len(got), at+200)]]++
			continue
		}
		if got, want := typed(absent, "whole"), typed(ask(node.Client, twin[i]), "twin"); got != want {
			t.Errorf("%s:\n got %.600s\nwant %.600s", missing[i], got, want)
		}
		found++
	}
	t.Logf("%d answers are those of a cluster without the document", found)
	for why, n := range refused {
		t.Logf("%d refused: %s", n, why)
	}
}
