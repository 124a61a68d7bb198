package endpoint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
	"guard/internal/names"
)

// asking returns what a request asks.
func asking(t testing.TB, r *ask.Request, rules Rules) (Asked, error) {
	t.Helper()
	m, err := testRouter.MatchRequest(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.RawTarget, err)
	}
	q, err := m.Query(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.RawTarget, err)
	}
	return m.Ask(q, rules)
}

// part writes a part as one line: slot, privileges, names, options, and whether the
// names are single or fixed.
func partText(p ask.Part) string {
	var b strings.Builder
	if p.Slot == ask.WholeRequest {
		b.WriteString("whole")
	} else {
		b.WriteByte(byte('0' + p.Slot))
	}
	for _, pr := range p.Privileges {
		b.WriteByte(' ')
		if pr.When == ask.IndexMissing {
			b.WriteString("missing?")
		}
		if pr.When == ask.NewField {
			b.WriteString("field?")
		}
		if pr.Scope == ask.ScopeCluster {
			b.WriteString("cluster!")
		}
		b.WriteString(strings.TrimPrefix(pr.Action, "indices:"))
	}
	b.WriteString(" @")
	for i, e := range p.Exprs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(e))
	}
	if p.Single {
		b.WriteString(" single")
	}
	if p.Fixed {
		b.WriteString(" fixed")
	}
	return b.String()
}

func texts(parts []ask.Part) []string {
	var list []string
	for _, p := range parts {
		list = append(list, partText(p))
	}
	return list
}

const write = " cluster!data/write/bulk data/write/bulk[s] missing?admin/create field?admin/mapping/put @"

func TestAsk(t *testing.T) {
	f := func(verb, target, body string, want ...string) {
		t.Helper()
		a, err := asking(t, request(t, verb, target, body), Rules{})
		if err != nil {
			t.Fatalf("%s %s: %v", verb, target, err)
		}
		if diff := cmp.Diff(want, texts(a.Parts)); diff != "" {
			t.Fatalf("%s %s: -want +got\n%s", verb, target, diff)
		}
	}
	f("GET", "/", "", "whole cluster!cluster:monitor/main @")
	f("GET", "/_cluster/health", "", "whole cluster!cluster:monitor/health @")
	f("GET", "/_cluster/health/a,b", "", "whole cluster!cluster:monitor/health @a,b")
	f("GET", "/_cat/indices/a*", "", "whole monitor/settings/get monitor/stats cluster!cluster:monitor/state cluster!cluster:monitor/health @a*")
	f("GET", "/_search", "", "whole data/read/search @")
	f("GET", "/_all/_search", "", "whole data/read/search @_all")
	f("GET", "/_search?index=a,b", "", "whole data/read/search @a,b")
	f("GET", "/%3Clogs-%7Bnow%2Fd%7D%3E,-x,other:y/_search", "", "whole data/read/search @<logs-{now/d}>,-x,other:y")
	f("POST", "/a/_count", `{}`, "whole data/read/search @a")
	f("GET", "/a*/_field_caps?fields=*", "", "whole data/read/field_caps @a*")
	f("GET", "/a/_doc/1", "", "whole data/read/get @a single fixed")
	f("HEAD", "/a/_doc/1", "", "whole data/read/get @a single fixed")
	f("GET", "/a/_source/1", "", "whole data/read/get @a single fixed")
	f("PUT", "/a/_doc/1", `{}`, "whole data/write/index"+write+"a single fixed")
	f("POST", "/a/_doc", `{}`, "whole data/write/index"+write+"a single fixed")
	f("PUT", "/a/_create/1", `{}`, "whole data/write/index"+write+"a single fixed")
	f("POST", "/a/_update/1", `{}`, "whole data/write/update"+write+"a single fixed")
	f("DELETE", "/a/_doc/1", "", "whole data/write/delete cluster!data/write/bulk data/write/bulk[s] @a single fixed")
	f("POST", "/a/_bulk", "{}\n", "whole cluster!data/write/bulk @ fixed")
	f("GET", "/a", "", "whole admin/get @a")
	f("HEAD", "/a,b*", "", "whole admin/get @a,b*")
	f("DELETE", "/a,b*", "", "whole admin/delete @a,b*")
	f("GET", "/_mapping", "", "whole admin/mappings/get @")
	f("GET", "/a/_mapping", "", "whole admin/mappings/get @a")
	f("POST", "/_refresh", "", "whole admin/refresh @")
	f("GET", "/_resolve/index/a*,b", "", "whole admin/resolve/index @a*,b")
	f("GET", "/_alias/al", "", "whole admin/aliases/get @")
	f("GET", "/a/_alias", "", "whole admin/aliases/get @a")
	f("GET", "/_aliases", "", "whole admin/aliases/get @")
	f("PUT", "/a", "", "whole admin/create @a single fixed")
	f("DELETE", "/a,b*/_alias/al", "", "whole admin/aliases @a,b* fixed")
}

func TestAskRefusesNames(t *testing.T) {
	f := func(verb, target, body, text string) {
		t.Helper()
		_, err := asking(t, request(t, verb, target, body), Rules{})
		r := rejected(t, err)
		if r.Status != 400 || r.Public != text {
			t.Fatalf("%s: got %d %q; want 400 %q", target, r.Status, r.Public, text)
		}
	}
	f("GET", "/,/_search", "", "Invalid index name [], must not be empty")
	f("GET", "/%2C/_search", "", "Invalid index name [], must not be empty")
	f("GET", "/a,/_search", "", "Invalid index name [], must not be empty")
	f("GET", "/a,,b/_search", "", "Invalid index name [], must not be empty")
	f("GET", "/a,_all/_search", "", "Invalid index name [_all], must not start with '_'.")
	f("GET", "/a,_b/_search", "", "Invalid index name [_b], must not start with '_'.")
	f("GET", "/_search?index=_b", "", "Invalid index name [_b], must not start with '_'.")
	f("GET", "/_all/_doc/1", "", "Invalid index name [_all], must not start with '_'.")
	f("GET", "/a,b/_doc/1", "", "Invalid index name [a,b], must not contain ','")
	f("PUT", "/a,b", "", "Invalid index name [a,b], must not contain ','")
	f("GET", "/_resolve/index/a,", "", "Invalid index name [], must not be empty")
	f("GET", "/_alias/,", "", "Invalid index name [], must not be empty")
}

func TestAskMsearch(t *testing.T) {
	r := request(t, "POST", "/p1,p2/_msearch?ignore_unavailable=true", strings.Join([]string{
		`{"index":"a","preference":1234,"routing":"r"}`, `{"size":1}`,
		``, `{"size":2}`,
		`{}`, `{"size":3}`,
		`{"indices":["b*","-b1"],"ignoreUnavailable":false,"expand_wildcards":"open,hidden","types":[]}`, "{\"size\":4}\r",
		`{"index":"c,d","expandWildcards":["none"],"allow_no_indices":"false","search_type":"query_then_fetch"}`, ` {} `,
	}, "\n")+"\n")
	a, err := asking(t, r, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"whole cluster!data/read/msearch @ fixed",
		"0 data/read/search @a",
		"1 data/read/search @p1,p2",
		"2 data/read/search @p1,p2",
		"3 data/read/search @b*,-b1",
		"4 data/read/search @c,d",
	}
	if diff := cmp.Diff(want, texts(a.Parts)); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	opts := names.Options{Expand: names.ExpandOpen, AllowNoIndices: true, IgnoreUnavailable: true}
	if diff := cmp.Diff(opts, a.Parts[2].Opts); diff != "" {
		t.Fatalf("options of the URL: -want +got\n%s", diff)
	}
	opts.Expand, opts.IgnoreUnavailable = names.ExpandOpen|names.ExpandHidden, false
	if diff := cmp.Diff(opts, a.Parts[4].Opts); diff != "" {
		t.Fatalf("options of a header: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(names.Options{IgnoreUnavailable: true}, a.Parts[5].Opts); diff != "" {
		t.Fatalf("options of the last header: -want +got\n%s", diff)
	}
	for i, want := range []string{`{"size":1}`, `{"size":2}`, `{"size":3}`, `{"size":4}`, ` {} `} {
		if got := string(a.Searches[i].Body); got != want {
			t.Fatalf("body %d is %q; want %q", i, got, want)
		}
	}
	header := func(slot int, want string) {
		t.Helper()
		if got := string(a.Searches[slot].AppendHeader(nil, []string{"x", "y"})); got != want {
			t.Fatalf("header %d is\n%s; want\n%s", slot, got, want)
		}
	}
	header(0, `{"index":["x","y"],"ignore_unavailable":true,"allow_no_indices":true,"expand_wildcards":"open","preference":1234,"routing":"r"}`)
	header(3, `{"index":["x","y"],"ignore_unavailable":false,"allow_no_indices":true,"expand_wildcards":"open,hidden"}`)
	header(4, `{"index":["x","y"],"ignore_unavailable":true,"allow_no_indices":false,"expand_wildcards":"none","search_type":"query_then_fetch"}`)
}

// TestAskBoundsNames: every list of names is bounded, wherever it stands.
func TestAskBoundsNames(t *testing.T) {
	const want = "index expression holds 1001 names; want at most 1000, or a wildcard"
	list := func(n int) string { return strings.TrimSuffix(strings.Repeat("a*,", n), ",") }
	array := func(n int) string { return `["` + strings.ReplaceAll(list(n), ",", `","`) + `"]` }
	f := func(verb, target, body string, over bool) {
		t.Helper()
		_, err := asking(t, request(t, verb, target, body), Rules{})
		if !over {
			if err != nil {
				t.Fatalf("%s %.20s: %v", verb, target, err)
			}
			return
		}
		if r := rejected(t, err); r.Status != 413 || r.Public != want || r.Reason != ask.ReasonTooLarge {
			t.Fatalf("%s %.20s: got %d %q; want 413 %q", verb, target, r.Status, r.Public, want)
		}
	}
	for _, n := range []int{maxNames, maxNames + 1} {
		over := n > maxNames
		f("GET", "/"+list(n)+"/_search", "", over)
		f("GET", "/_search?index="+list(n), "", over)
		f("GET", "/_resolve/index/"+list(n), "", over)
		f("GET", "/_alias/"+list(n), "", over)
		f("POST", "/_msearch", `{"index":`+array(n)+"}\n{}\n", over)
		f("POST", "/_msearch", `{"index":"`+list(n)+"\"}\n{}\n", over)
		f("POST", "/_aliases", `{"actions":[{"remove_index":{"indices":`+array(n)+`}}]}`, over)
	}
}

func TestAskMsearchRefuses(t *testing.T) {
	f := func(body, text string) {
		t.Helper()
		_, err := asking(t, request(t, "POST", "/_msearch", body), Rules{})
		if r := rejected(t, err); r.Public != text {
			t.Fatalf("%q: got %q; want %q", body, r.Public, text)
		}
	}
	const end = `The msearch request must be terminated by a newline [\n]`
	f(`{"index":"a"}`, end)
	f("{\"index\":\"a\"}\n{}", end)
	f("{\"index\":\"a\"}\n\n", "search 0 of the msearch request has no body; want an object")
	f("{\"index\":\"a\"}\n{}\n{}\n", "search 1 of the msearch request has no body; want an object")
	f("{}\n{}\n\n\n", "search 1 of the msearch request has no body; want an object")
	f("\n", "Validation Failed: 1: no requests added;")
	f("\n\n", "Validation Failed: 1: no requests added;")
	f("\n{\"size\":0}\n", "unknown key [size] in header 0 of the msearch request") // the first newline is nothing
	f("{\"index\":\"a\",\"index\":\"b\"}\n{}\n", `cannot parse JSON: duplicate key "index" at offset 13; want each key of an object once`)
	f("{\"index\":\"a\",\"indices\":[\"b\"]}\n{}\n", "[index] stands in header 0 of the msearch request twice")
	f("{\"ignore_unavailable\":true,\"ignoreUnavailable\":false}\n{}\n", "[ignore_unavailable] stands in header 0 of the msearch request twice")
	f("{}\n{}\n{\"index\":\"a\",\"Index\":\"b\"}\n{}\n", "unknown key [Index] in header 1 of the msearch request")
	f("{\"index_names\":\"a\"}\n{}\n", "unknown key [index_names] in header 0 of the msearch request")
	f("{\"types\":[\"x\"]}\n{}\n", "unknown key [types] in header 0 of the msearch request")
	f("{\"type\":\"x\"}\n{}\n", "unknown key [type] in header 0 of the msearch request")
	f("{\"index\":[]}\n{}\n", "cannot use an empty list as [index] of header 0 of the msearch request; want at least one name")
	f("{\"index\":\"\"}\n{}\n", "Invalid index name [], must not be empty")
	f("{\"index\":[\"a\",\"\"]}\n{}\n", "Invalid index name [], must not be empty")
	f("{\"index\":[\"a,b\"]}\n{}\n", "Invalid index name [a,b], must not contain ','")
	f("{\"index\":[\"a\",\"_all\"]}\n{}\n", "Invalid index name [_all], must not start with '_'.")
	f("{\"index\":null}\n{}\n", "cannot use null as [index] of header 0 of the msearch request; want a string")
	f("{\"index\":[1]}\n{}\n", "cannot use a number as [index] of header 0 of the msearch request; want a string")
	f("{\"preference\":[]}\n{}\n", "cannot use an array as [preference] of header 0 of the msearch request; want one value")
	f("{\"ignore_unavailable\":\"yes\"}\n{}\n", "[ignore_unavailable] of header 0 of the msearch request: Failed to parse value [yes] as only [true] or [false] are allowed.")
	f("{\"expand_wildcards\":\"some\"}\n{}\n", "[expand_wildcards] of header 0 of the msearch request: No valid expand wildcard value [some]")
	f("{\"expand_wildcards\":1}\n{}\n", "cannot use a number as [expand_wildcards] of header 0 of the msearch request; want a string")
	f("[]\n{}\n", "cannot use an array as header 0 of the msearch request; want an object")
	f("{\"index\":\"a\"} {}\n{}\n", "cannot parse JSON: unexpected '{' at offset 14; want the end of the text")
}

// TestMsearchBlankLines holds readings measured on OpenSearch 2.19.4 and
// Elasticsearch 7.10.2.
func TestMsearchBlankLines(t *testing.T) {
	f := func(body string, want ...string) {
		t.Helper()
		searches, err := parseMsearch([]byte(body), []names.Expr{"p"}, names.Options{})
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		var got []string
		for _, s := range searches {
			got = append(got, string(s.Exprs[0])+string(s.Body))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -want +got\n%s", body, diff)
		}
	}
	f("{\"index\":\"a\"}\n{}\n", "a{}")
	f("\n{\"index\":\"a\"}\n{}\n", "a{}")
	f("\n\n{}\n", "p{}")
	f("\r\n{}\r\n", "p{}")
	f(" \n{}\n", "p{}")
	f("{\"index\":\"a\"}\n{}\n\n", "a{}")
	f("{\"index\":\"a\"}\n{}\n\r\n", "a{}")
	f("{\"index\":\"a\"}\n{}\n\n{\"size\":1}\n", "a{}", "p{\"size\":1}")
	f("{\"index\":\"a\",\"preference\":null,\"expand_wildcards\":null}\n{}\n", "a{}")
}

func TestMsearchHeaderNeedsNames(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a header without names was written: it means all indices")
		}
	}()
	Search{}.AppendHeader(nil, nil)
}

func TestAskMget(t *testing.T) {
	f := func(target, body string, want ...string) {
		t.Helper()
		a, err := asking(t, request(t, "POST", target, body), Rules{})
		if err != nil {
			t.Fatal(err)
		}
		want = append([]string{"whole cluster!data/read/mget @ fixed"}, want...)
		got := texts(a.Parts)
		for i, d := range a.Docs {
			got[i+1] += " #" + d.ID
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: -want +got\n%s", body, diff)
		}
	}
	f("/_mget", `{"docs":[{"_index":"a","_id":"1"},{"_id":2,"_index":"b","routing":"r","_source":["x"],"stored_fields":"y","version":3,"version_type":"external"}]}`,
		"0 data/read/mget[shard] @a single fixed #1", "1 data/read/mget[shard] @b single fixed #2")
	f("/a/_mget", `{"docs":[{"_type":"_doc","_id":"1"}]}`, "0 data/read/mget[shard] @a single fixed #1")
	f("/a/_mget", `{"ids":["1",2.50,"x/y"]}`,
		"0 data/read/mget[shard] @a single fixed #1", "1 data/read/mget[shard] @a single fixed #2.50", "2 data/read/mget[shard] @a single fixed #x/y")
	f("/a/_mget", `{"docs":[{"_id":"1"},{"_index":"b","_id":"2"}],"ids":["3"]}`,
		"0 data/read/mget[shard] @a single fixed #1", "1 data/read/mget[shard] @b single fixed #2", "2 data/read/mget[shard] @a single fixed #3")
	f("/_mget?index=a", `{"ids":["1"]}`, "0 data/read/mget[shard] @a single fixed #1")
	f("/_mget", `{"docs":[{"_index":"<a-{now/d}>","_id":"1"}]}`, "0 data/read/mget[shard] @<a-{now/d}> single fixed #1")
}

func TestAskMgetRefuses(t *testing.T) {
	f := func(target, body, text string) {
		t.Helper()
		_, err := asking(t, request(t, "POST", target, body), Rules{})
		if r := rejected(t, err); r.Public != text {
			t.Fatalf("%s: got %q; want %q", body, r.Public, text)
		}
	}
	f("/_mget", `{}`, "Validation Failed: 1: no documents to get;")
	f("/_mget", `[]`, "cannot use an array as request body; want an object")
	f("/_mget", `{"docs":[]}`, "Validation Failed: 1: no documents to get;")
	f("/_mget", `{"docs":{}}`, "cannot use an object as [docs] of the mget request; want an array")
	f("/_mget", `{"Docs":[]}`, "unknown key [Docs] in the mget request")
	f("/_mget", `{"docs":["1"]}`, "cannot use a string as item 0 of the mget request; want an object")
	f("/_mget", `{"docs":[{"_id":"1"}]}`, "Validation Failed: 1: index is missing for doc 0;")
	f("/_mget", `{"ids":["1"]}`, "Validation Failed: 1: index is missing for doc 0;")
	f("/a/_mget", `{"docs":[{"_index":"a"}]}`, "Validation Failed: 1: id is missing for doc 0;")
	f("/a/_mget", `{"ids":["1",""]}`, "Validation Failed: 1: id is missing for doc 1;")
	f("/a/_mget", `{"ids":[true]}`, "cannot use a boolean as [_id] in the ids of the mget request; want a string or a number")
	f("/a/_mget", `{"ids":[null]}`, "cannot use null as [_id] in the ids of the mget request; want a string or a number")
	f("/_mget", `{"docs":[{"_index":"a","_id":"1","_INDEX":"b"}]}`, "unknown key [_INDEX] in item 0 of the mget request")
	f("/_mget", `{"docs":[{"_index":"a","_id":"1","_type":"t"}]}`, "unknown [_type] in item 0 of the mget request; want [_doc] or none")
	f("/_mget", `{"docs":[{"_index":"a","_id":"1","_type":1}]}`, "unknown [_type] in item 0 of the mget request; want [_doc] or none")
	f("/_mget", `{"docs":[{"_index":"a","_id":"1","fields":["t"]}]}`, "unknown key [fields] in item 0 of the mget request")
	f("/_mget", `{"docs":[{"_index":"a","_id":"1","_routing":"2"}]}`, "unknown key [_routing] in item 0 of the mget request")
	f("/_mget", `{"docs":[{"_index":"a","_id":"1","routing":["1"]}]}`, "cannot use an array as [routing] of item 0 of the mget request; want a string or a number")
	f("/_mget", `{"docs":[{"_index":"a,b","_id":"1"}]}`, "Invalid index name [a,b], must not contain ','")
	f("/_mget", `{"docs":[{"_index":["a"],"_id":"1"}]}`, "cannot use an array as [_index] of item 0 of the mget request; want a string")
	f("/_mget", `{"docs":[{"_index":"logs-a-1","_index":"logs-b-1","_id":"b1"}]}`, `cannot parse JSON: duplicate key "_index" at offset 30; want each key of an object once`)
	f("/a,b/_mget", `{"ids":["1"]}`, "Invalid index name [a,b], want one index for a document")
	f("/_all/_mget", `{"ids":["1"]}`, "Invalid index name [_all], want one index for a document")
}
