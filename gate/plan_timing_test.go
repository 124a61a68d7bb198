package gate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
)

// timed is the policy of testdata/security over hr and twenty indices of logs.
func timed(b *testing.B) (*Snapshot, *config.Security) {
	b.Helper()
	sec := readSecurity(b, "testdata/security")
	policy := policyOf(b, sec, 4096)
	c := indexresolver.Contents{ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: recordedAt}
	c.Indices = append(c.Indices, indexresolver.Index{Name: "hr", Mapping: []byte(staffMapping)})
	for i := range 20 {
		c.Indices = append(c.Indices, indexresolver.Index{Name: fmt.Sprintf("logs-a-%02d", i), Mapping: []byte(`{"properties":{"msg":{"type":"text"}}}`)})
	}
	state, err := indexresolver.New(c, nil)
	if err != nil {
		b.Fatal(err)
	}
	return NewSnapshot(1, policy, state), sec
}

const timedSearch = `{"query":{"bool":{"must":[{"match":{"name":"ada"}}],"filter":[{"range":{"age":{"gte":30}}}]}},"size":10,"sort":[{"age":"desc"}]}`

// BenchmarkPlan is the whole way from a request to what is forwarded, and for a bulk
// also that of its lines. It begins with a principal that is known and warm tables.
func BenchmarkPlan(b *testing.B) {
	snap, sec := timed(b)
	for _, c := range []struct {
		name, user, method string
		path               []string
		body               string
		kind               Kind
	}{
		{"search-unrestricted", "admin", "POST", []string{"hr", "_search"}, timedSearch, Forward},
		{"search-limited-one-index", "reader", "POST", []string{"hr", "_search"}, timedSearch, Forward},
		{"search-limited-no-body", "reader", "GET", []string{"hr", "_search"}, "", Forward},
		{"search-limited-pattern-of-20", "reader", "POST", []string{"logs-a*", "_search"}, `{"query":{"match":{"msg":"x"}}}`, Forward},
		{"search-dls", "documents", "POST", []string{"hr", "_search"}, timedSearch, Forward},
		{"search-fls", "fields", "POST", []string{"hr", "_search"}, timedSearch, Forward},
		{"search-refused", "nobody", "POST", []string{"hr", "_search"}, timedSearch, Reject},
		{"msearch-10-dls", "documents", "POST", []string{"_msearch"}, strings.Repeat(`{"index":"hr"}`+"\n"+timedSearch+"\n", 10), Forward},
		{"get-dls-first-round", "documents", "GET", []string{"hr", "_doc", "1"}, "", Need},
		{"bulk-1000-over-20", "writer", "POST", []string{"_bulk"}, timedBulk(1000), Forward},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := &ask.Request{Method: c.method, RawTarget: "/" + strings.Join(c.path, "/"), Path: c.path, Now: recordedAt, Body: []byte(c.body)}
			if c.body != "" {
				r.Header.ContentType = "application/json"
			}
			lines := bytes.Split(bytes.TrimSuffix(r.Body, []byte("\n")), []byte("\n"))
			if c.path[0] == "_bulk" || c.path[0] == "_msearch" {
				r.Header.ContentType = "application/x-ndjson"
			}
			if c.path[0] == "_bulk" {
				r.Body = nil
			}
			who := snap.Principal(identityOf(c.user, sec.Users[c.user]))
			var sent []byte
			b.ReportAllocs()
			for b.Loop() {
				out := snap.Plan(who, r, Known{Fresh: true})
				if out.Kind != c.kind {
					b.Fatalf("kind %d, %s; want %d", out.Kind, out.Rejection.Public, c.kind)
				}
				if out.Forward.Lines != nil {
					sent = timedLines(b, sent[:0], out.Forward.Lines, lines)
				}
			}
		})
	}
}

// timedBulk is a bulk of n documents over twenty indices.
func timedBulk(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"index":{"_index":"logs-a-%02d","_id":"%d"}}`+"\n"+`{"msg":"something happened on host %d"}`+"\n", i%20, i, i)
	}
	return b.String()
}

// timedLines runs pairs of an action and a document; all have to be sent.
func timedLines(b *testing.B, dst []byte, l Lines, lines [][]byte) []byte {
	b.Helper()
	for i := 0; i < len(lines); i += 2 {
		before := len(dst)
		document, err := l.Action(lines[i])
		if err != nil || !document {
			b.Fatalf("action %q: document %v, %v", lines[i], document, err)
		}
		if dst, err = l.Item(dst, lines[i+1]); err != nil || len(dst) == before {
			b.Fatalf("item %q is not sent: %v", lines[i], err)
		}
	}
	if local, err := l.End(); err != nil || local != nil {
		b.Fatalf("end: %v, %v", local, err)
	}
	return dst
}
