package endpoint

import (
	"bytes"
	"testing"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// checkExprs holds what is true of all names that are asked: none can be taken for
// a list, for nothing, or for everything beside others.
func checkExprs(t *testing.T, exprs []names.Expr) {
	t.Helper()
	if err := checkNames(exprs); err != nil {
		t.Fatalf("%q are asked: %v", exprs, err)
	}
}

// FuzzMsearch: a multi-search is refused, or each header that is written anew reads
// as the same search.
func FuzzMsearch(f *testing.F) {
	for _, s := range []string{
		"{}\n{}\n", "\n{}\n", "{\"index\":\"a,b\"}\n{\"query\":{}}\n{\"indices\":[\"c\"]}\r\n{}\r\n",
		"{\"index\":\"a\",\"preference\":1,\"ignore_unavailable\":\"true\"}\n{}\n", "{\"index\":\"a\"}\n{}", "{\"index\":[]}\n{}\n",
		"{\"expandWildcards\":[\"open\",\"none\"],\"types\":[]}\n{}\n", "{\"routing\":\"\\u0061\"}\n{}\n",
	} {
		f.Add([]byte(s))
	}
	opts := names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}
	f.Fuzz(func(t *testing.T, body []byte) {
		searches, err := parseMsearch(body, []names.Expr{"p"}, opts)
		if err != nil {
			rejected(t, err)
			return
		}
		for _, s := range searches {
			checkExprs(t, s.Exprs)
			if !bytes.Contains(body, s.Body) {
				t.Fatalf("body %q is not of %q", s.Body, body)
			}
			var list []string
			for _, e := range s.Exprs {
				list = append(list, string(e))
			}
			header := s.AppendHeader(nil, list)
			again, err := parseMsearch(append(append(header, '\n'), "{}\n"...), nil, names.Options{})
			if err != nil {
				t.Fatalf("%q became %q: %v", body, header, err)
			}
			if second := again[0].AppendHeader(nil, list); !bytes.Equal(header, second) {
				t.Fatalf("%q became %q and then %q", body, header, second)
			}
			if again[0].Opts != s.Opts {
				t.Fatalf("%q: options %v became %v", body, s.Opts, again[0].Opts)
			}
		}
	})
}

// FuzzBulkAction: a line is refused, or what is written anew reads as the same
// action on the same index.
func FuzzBulkAction(f *testing.F) {
	for _, s := range []string{
		`{"index":{"_index":"a","_id":"1"}}`, `{"create":{}}`, `{"delete":{"_id":"1"}}`, `{"update":{"_id":1,"_source":["a"]}}`,
		`{"index":{"op_type":"create"}}`, `{"index":{"_index":"a","_INDEX":"b"}}`, `{"index":{"_id":null}}`, `{"index":{}} {}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		p := BulkParser{Fallback: "p"}
		a, err := p.Parse(line)
		if err != nil {
			rejected(t, err)
			return
		}
		checkExprs(t, []names.Expr{a.Index})
		out := a.AppendLine(nil, a.Op.AppendHead(nil, string(a.Index)))
		var q BulkParser
		b, err := q.Parse(out)
		if err != nil {
			t.Fatalf("%q became %q: %v", line, out, err)
		}
		a.meta, b.meta = esjson.Value{}, esjson.Value{}
		if a != b {
			t.Fatalf("%q became %q: %+v is not %+v", line, out, b, a)
		}
	})
}

// FuzzAskBody: no body makes Ask panic, and what is asked names something.
func FuzzAskBody(f *testing.F) {
	targets := []struct{ verb, path string }{
		{"POST", "/_mget"}, {"POST", "/_aliases"}, {"PUT", "/_alias/x"}, {"PUT", "/a"},
	}
	for i, s := range []string{
		`{"docs":[{"_index":"a","_id":"1"}]}`, `{"actions":[{"add":{"index":"a","alias":"b"}},{"remove_index":{"indices":["c"]}}]}`,
		`{"index":"a,b","filter":{}}`, `{"aliases":{"x":{"routing":1}},"settings":{}}`,
	} {
		f.Add(uint8(i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		target := targets[int(which)%len(targets)]
		m, err := testRouter.Match(target.verb, split(target.path))
		if err != nil {
			t.Fatal(err)
		}
		a, err := m.Ask(Query{Body: body}, Rules{AliasNames: which%2 == 0})
		if err != nil {
			rejected(t, err)
			return
		}
		for i, p := range a.Parts {
			if len(p.Privileges) == 0 {
				t.Fatalf("part %d of %q asks nothing", i, body)
			}
			envelope := i == 0 && m.Route.Targets == MgetDocs
			if len(p.Exprs) == 0 && !envelope {
				t.Fatalf("part %d of %q names nothing: that would be everything", i, body)
			}
			checkExprs(t, p.Exprs)
			if (p.Slot == ask.WholeRequest) == (m.Route.Targets == MgetDocs && i > 0) {
				t.Fatalf("part %d of %q has slot %d", i, body, p.Slot)
			}
		}
	})
}
