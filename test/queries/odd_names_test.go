package queries_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"guard/fls"
	"guard/internal/esjson"
	"guard/internal/mapping"
	"guard/internal/query"
	"guard/test/testbed"
)

// syntaxNames are names of fields that some place reads as something else. Each stands in an
// index beside a hidden field ssn that it could reach.
var syntaxNames = []string{"*", "*n", "s*", `\*`, "ssn^1", "salary^2.5", "sal*^3", "_exists_", "_geoDistance", "_script", "_shard_doc", "_none_"}

// readsAsSyntax are places where a cluster reads a name so by itself.
var readsAsSyntax = map[string]string{
	"*":        `{"query":{"query_string":{"query":"ink","fields":["$N"]}}}`,
	"*n":       `{"query":{"multi_match":{"query":"red","fields":["$N"],"lenient":true}}}`,
	"ssn^1":    `{"query":{"simple_query_string":{"query":"red","fields":["$N"]}}}`,
	"_exists_": `{"query":{"query_string":{"query":"salary","default_field":"$N"}}}`,
}

// strangeNames are names of fields that look like syntax and mean themselves in every place.
var strangeNames = []string{
	"two words", "a:asc", "ssn,zz", "ssn#epoch_millis", "s?n|", "-ssn", "+ssn", "!ssn", "ssn~2", "/s.s/", "(ssn)", "[ssn]", "{ssn}", `"ssn"`, `ssn\`, "ssn&&zz", "AND",
	">=ssn", "<ssn-{now/d}>", "_all", "@${ssn}", "%73sn", "SSN", "ssn\u3000", "\tssn\n", "größe", "boost", "order",
}

// oddPlaces are searches that name a field: N stands for its name, T for its name as a text of
// query_string has it, P for a pattern that matches it.
var oddPlaces = []string{
	`{"query":{"term":{"$N":"red"}}}`,
	`{"query":{"term":{"$N":{"value":"red"}}}}`,
	`{"query":{"terms":{"$N":["red","blue"]}}}`,
	`{"query":{"range":{"$N":{"gte":"r"}}}}`,
	`{"query":{"prefix":{"$N":{"value":"r"}}}}`,
	`{"query":{"wildcard":{"$N":{"value":"r*"}}}}`,
	`{"query":{"match":{"$N":{"query":"red"}}}}`,
	`{"query":{"exists":{"field":"$N"}}}`,
	`{"query":{"exists":{"field":"$P"}}}`,
	`{"query":{"multi_match":{"query":"red","fields":["$N"]}}}`,
	`{"query":{"multi_match":{"query":"red","fields":["$N^3","title"]}}}`,
	`{"query":{"multi_match":{"query":"red","fields":["$P"]}}}`,
	`{"query":{"multi_match":{"query":"red","fields":["$P^2"],"type":"cross_fields"}}}`,
	`{"query":{"multi_match":{"query":"red","fields":"$N"}}}`,
	`{"query":{"multi_match":{"query":"red"}}}`,
	`{"query":{"combined_fields":{"query":"red","fields":["$P"]}}}`,
	`{"query":{"simple_query_string":{"query":"red","fields":["$N"]}}}`,
	`{"query":{"simple_query_string":{"query":"re*","fields":["$P^2"]}}}`,
	`{"query":{"simple_query_string":{"query":"red"}}}`,
	`{"query":{"query_string":{"query":"red","fields":["$N"]}}}`,
	`{"query":{"query_string":{"query":"re*","fields":["$P"]}}}`,
	`{"query":{"query_string":{"query":"red"}}}`,
	`{"query":{"query_string":{"query":"red","default_field":"$N"}}}`,
	`{"query":{"query_string":{"query":"salary","default_field":"$N"}}}`,
	`{"query":{"query_string":{"query":"salary","default_field":"$P"}}}`,
	`{"query":{"query_string":{"query":"re*","default_field":"$P"}}}`,
	`{"query":{"query_string":{"query":"$T:red"}}}`,
	`{"query":{"query_string":{"query":"$T:re*"}}}`,
	`{"query":{"query_string":{"query":"$T:salary OR tag:none"}}}`,
	`{"query":{"query_string":{"query":"$T:(red blue)"}}}`,
	`{"query":{"query_string":{"query":"$T:\"red\""}}}`,
	`{"query":{"query_string":{"query":"$T:>=r"}}}`,
	`{"query":{"query_string":{"query":"$T:[a TO z]"}}}`,
	`{"query":{"query_string":{"query":"$T:*"}}}`,
	`{"query":{"query_string":{"query":"_exists_:$T"}}}`,
	`{"query":{"query_string":{"query":"\\*:salary"}}}`,
	`{"query":{"query_string":{"query":"*:salary"}}}`,
	`{"query":{"query_string":{"query":"_e\\*:salary"}}}`,
	`{"query":{"more_like_this":{"fields":["$N"],"like":"red","min_term_freq":1,"min_doc_freq":1}}}`,
	`{"query":{"span_term":{"$N":"red"}}}`,
	`{"query":{"field_masking_span":{"query":{"span_term":{"tag":"a"}},"field":"$N"}}}`,
	`{"sort":["$N"]}`,
	`{"sort":[{"$N":"desc"}]}`,
	`{"sort":[{"$N":{"order":"desc","unmapped_type":"keyword"}}]}`,
	`{"collapse":{"field":"$N"}}`,
	`{"docvalue_fields":["$N"]}`,
	`{"docvalue_fields":["$P"]}`,
	`{"docvalue_fields":[{"field":"$N"}]}`,
	`{"docvalue_fields":[{"field":"$P"}]}`,
	`{"stored_fields":["$N"]}`,
	`{"stored_fields":"$N"}`,
	`{"stored_fields":["$P","tag"]}`,
	`{"fields":["$N"]}`,
	`{"fields":[{"field":"$P"}]}`,
	`{"query":{"match":{"title":"red"}},"highlight":{"require_field_match":false,"fields":{"$N":{}}}}`,
	`{"query":{"match":{"title":"red"}},"highlight":{"require_field_match":false,"fields":{"$P":{"type":"plain"}}}}`,
	`{"query":{"match":{"title":"red"}},"highlight":{"require_field_match":false,"fields":[{"*":{}}]}}`,
	`{"query":{"match":{"title":"red"}},"highlight":{"fields":{"title":{"type":"fvh","matched_fields":["title","$N"]}}}}`,
	`{"aggs":{"x":{"terms":{"field":"$N"}}}}`,
	`{"aggs":{"x":{"cardinality":{"field":"$N"}}}}`,
	`{"aggs":{"x":{"missing":{"field":"$N"}}}}`,
	`{"aggs":{"x":{"composite":{"sources":[{"a":{"terms":{"field":"$N"}}}]}}}}`,
	`{"aggs":{"x":{"significant_text":{"field":"title","source_fields":["$N"]}}}}`,
	`{"aggs":{"x":{"top_hits":{"_source":false,"docvalue_fields":["$N"],"sort":[{"$N":"asc"}]}}}}`,
}

// oddURLs are parameters of a search that name a field in a list; $N, T and P stand there
// percent-encoded.
var oddURLs = []string{
	"q=$T:red", "q=red&df=$N", "q=salary&df=$N", "q=salary&df=$P", "q=red", "sort=$N", "sort=$N:desc", "docvalue_fields=$N", "docvalue_fields=tag,$P",
	"stored_fields=$N", "stored_fields=tag,$P",
}

// makeOdd makes an index with a visible field called name beside hidden ones; secret is what
// these hold, if they are there. It reports whether the cluster takes the name.
func makeOdd(t *testing.T, node *testbed.Node, index, name, secret string) bool {
	t.Helper()
	fields := map[string]any{
		"title": map[string]any{"type": "text", "term_vector": "with_positions_offsets"}, "tag": map[string]any{"type": "keyword"},
		"n": map[string]any{"type": "integer"},
	}
	odd := map[string]any{"type": "keyword", "store": true}
	if secret != "" {
		fields["ssn"], fields["salary"] = odd, map[string]any{"type": "integer"}
		fields["secret"] = map[string]any{"properties": map[string]any{"value": map[string]any{"type": "text"}}}
	}
	if name != "" {
		fields[name] = odd
	}
	res, err := node.Do("PUT", "/"+index, toJSON(t, map[string]any{
		"settings": map[string]any{"number_of_shards": 1, "number_of_replicas": 0}, "mappings": map[string]any{"properties": fields}}))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status == 400 {
		return false
	}
	for i, word := range []string{"red", "blue", "", "red"} {
		doc := map[string]any{"title": "red fox", "tag": "a", "n": i}
		if name != "" && word != "" {
			doc[name] = word
		}
		if secret != "" && i != 1 {
			doc["ssn"] = secret
			doc["secret"] = map[string]any{"value": secret + " fox"}
		}
		if secret == "red" {
			doc["salary"] = i // the others have no such value
		}
		node.Must(t, "PUT", fmt.Sprintf("/%s/_doc/%d", index, i), toJSON(t, doc))
	}
	node.Must(t, "POST", "/"+index+"/_refresh", "")
	return true
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// oddRules returns the rule on index that hides what it has to hide.
func oddRules(t *testing.T, node *testbed.Node, index string) query.Rules {
	t.Helper()
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, node.Must(t, "GET", "/"+index+"/_mapping", "").Body, esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	of, _ := v.Lookup(index)
	m, err := mapping.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fls.Compile([]string{"~ssn", "~salary", "~secret"})
	if err != nil {
		t.Fatal(err)
	}
	return query.Rules{Filter: query.Free, Fields: fls.NewViews([]*fls.View{fls.NewView(r, m)})}
}

// fillOdd puts a name into a place, as code writes it there.
func fillOdd(place, name string, code func(string) string) string {
	return strings.NewReplacer("$N", code(name), "$T", code(luceneWord(name)), "$P", code(patternOf(name))).Replace(place)
}

func inJSON(s string) string {
	b := esjson.AppendString(nil, s)
	return string(b[1 : len(b)-1])
}

// luceneWord returns name as a text names it, what could have a meaning after a backslash.
func luceneWord(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r < unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' || r == '\u3000' || i == 0 && r != 'u' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// patternOf returns a pattern that matches name, and of names without a syntax nothing else
// that is visible.
func patternOf(name string) string {
	runes := []rune(name)
	if len(runes) > 1 && query.IsPlain(name) {
		return string(runes[:len(runes)-1]) + "*"
	}
	return string(runes[:1]) + "*"
}

// usualName is the name of the field in an index without odd names; answers show it for odd ones.
const usualName = "zed"

// ask sends a search to an index, and what r makes of it if r is not nil. It returns what
// was sent and the answer; sent is empty where the rule refuses.
func ask(t *testing.T, node *testbed.Node, index, place, name string, r *query.Rules) (sent, got string) {
	t.Helper()
	names := &query.Names{}
	if r != nil {
		r.Replaced = names
	}
	path, body := "/"+index+"/_search", ""
	if place[0] == '{' {
		body = `{"_source":false,` + fillOdd(place, name, inJSON)[1:]
	} else {
		path += "?_source=false&" + fillOdd(place, name, url.QueryEscape)
	}
	if r != nil {
		var err error
		if path, body, err = rewriteAll(path, body, r); err != nil {
			return "", ""
		}
	}
	res, err := node.Do("POST", path, body)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(names.AppendRestored(nil, res.Body)), `"`+inJSON(name)+`"`, `"`+usualName+`"`)
	text = varying.ReplaceAllString(strings.ReplaceAll(text, index, "INDEX"), `"_":0`)
	return path + " " + body, fmt.Sprintf("%d %s", res.Status, inOrder(t, text))
}

// inOrder returns an answer with the keys of its objects in order: that of the cluster follows
// from the names of fields.
func inOrder(t *testing.T, answer string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	return toJSON(t, v)
}

// rewriteAll is rewrite for a search with parameters.
func rewriteAll(path, body string, r *query.Rules) (string, string, error) {
	path, given, _ := strings.Cut(path, "?")
	var params []query.Param
	for _, one := range strings.Split(given, "&") {
		if name, value, has := strings.Cut(one, "="); has {
			text, err := url.QueryUnescape(value)
			if err != nil {
				return "", "", err
			}
			params = append(params, query.Param{Name: name, Value: text, HasValue: true})
		}
	}
	p, err := query.CheckParams(query.Search, params, r)
	if err != nil {
		return "", "", err
	}
	var tape esjson.Tape
	var v esjson.Value
	if body != "" {
		if v, err = esjson.Parse(&tape, []byte(body), esjson.RequestLimits()); err != nil {
			return "", "", err
		}
	}
	out, err := query.AppendSearch(nil, v, p, r)
	return path, string(out), err
}

// TestOddNames plays all places with fields of odd names.
func TestOddNames(t *testing.T) {
	onEach(t, func(t *testing.T, node *testbed.Node) {
		t.Run("syntax", func(t *testing.T) { testNamesWithSyntax(t, node) })
		t.Run("strange", func(t *testing.T) { testStrangeNames(t, node) })
	})
}

// testNamesWithSyntax: a visible field whose name a place reads as something else is, to the
// letter, a field that the index does not have: it reaches no hidden field. The cluster by
// itself reads such names, else the test would tell nothing.
func testNamesWithSyntax(t *testing.T, node *testbed.Node) {
	makeOdd(t, node, "bare", "", "")
	bare := oddRules(t, node, "bare")
	for i, name := range syntaxNames {
		one, other := fmt.Sprintf("one-%d", i), fmt.Sprintf("other-%d", i)
		if !makeOdd(t, node, one, name, "red") || !makeOdd(t, node, other, name, "ink") {
			t.Logf("the cluster takes no field called %q", name)
			continue
		}
		r := oddRules(t, node, one)
		for _, place := range append(oddPlaces, oddURLs...) {
			sent, got := ask(t, node, one, place, name, &r)
			if again := second(ask(t, node, other, place, name, &r)); got != again {
				t.Errorf("%s of %q depends on what is hidden\nsent as %s\n got %s\n and %s", place, name, sent, got, again)
			}
			if want := second(ask(t, node, "bare", place, name, &bare)); got != want {
				t.Errorf("%s of %q is answered otherwise where the index has such a field\nsent as %s\n got %s\nwant %s", place, name, sent, got, want)
			}
		}
		if place, control := readsAsSyntax[name]; control && second(ask(t, node, one, place, name, nil)) == second(ask(t, node, other, place, name, nil)) {
			t.Errorf("%s reads %q as nothing but a name", place, name)
		}
	}
}

// testStrangeNames: a visible field of any other name can be searched wherever a field can,
// and is the same field everywhere.
func testStrangeNames(t *testing.T, node *testbed.Node) {
	makeOdd(t, node, "usual", usualName, "")
	want := map[string]string{}
	for _, place := range append(oddPlaces, oddURLs...) {
		want[place] = second(ask(t, node, "usual", place, usualName, nil))
	}
	compared := 0
	for i, name := range strangeNames {
		index := fmt.Sprintf("strange-%d", i)
		if !makeOdd(t, node, index, name, "red") {
			t.Logf("the cluster takes no field called %q", name)
			continue
		}
		r := oddRules(t, node, index)
		for _, place := range append(oddPlaces, oddURLs...) {
			if place[0] != '{' && strings.ContainsAny(name, ",:") {
				continue // it cannot be told in a list
			}
			sent, got := ask(t, node, index, place, name, &r)
			if sent == "" {
				continue
			}
			compared++
			if !sameAnswer(got, want[place]) {
				t.Errorf("%s of %q\nsent as %s\n got %s\nwant %s", place, name, sent, got, want[place])
			}
		}
	}
	if t.Logf("%d answers compared", compared); compared < 1000 {
		t.Errorf("%d answers compared; want many", compared)
	}
}

func second(_, b string) string { return b }

// sameAnswer reports whether two answers are equal; of errors the status counts.
func sameAnswer(a, b string) bool { return a == b || a[0] != '2' && a[:3] == b[:3] }
