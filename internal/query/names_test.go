package query

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestReplaced: each hidden name has a stand-in of its own, in the order of the
// search, and what is visible has none.
func TestReplaced(t *testing.T) {
	f := func(body, want string, names ...string) {
		t.Helper()
		r := Rules{Filter: Free, Fields: hr, Replaced: &Names{}}
		got, err := rewrite(Search, body, nil, &r)
		if err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", body, got, err, want)
		}
		if diff := cmp.Diff(names, r.Replaced.names); diff != "" || r.Replaced.Len() != len(names) {
			t.Errorf("%s: names (-want +got):\n%s", body, diff)
		}
	}
	f(`{"sort":["ssn","dept"]}`, `{"sort":["no.such.field","dept"]}`, "ssn")
	f(`{"sort":["ssn",{"phone":"asc"},"ssn"]}`, `{"sort":["no.such.field",{"no.such.field.1":"asc"},"no.such.field"]}`, "ssn", "phone")
	f(`{"sort":[{"ssn":"asc","phone":"desc","dept":"asc"}]}`, `{"sort":[{"no.such.field":"asc","no.such.field.1":"desc","dept":"asc"}]}`, "ssn", "phone")
	f(`{"query":{"span_near":{"clauses":[{"span_term":{"ssn":"a"}},{"span_term":{"ssn":"b"}}]}}}`,
		`{"query":{"span_near":{"clauses":[{"span_term":{"no.such.field":"a"}},{"span_term":{"no.such.field":"b"}}]}}}`, "ssn")
	f(`{"aggs":{"m":{"matrix_stats":{"fields":["ssn","phone"],"missing":{"ssn":1,"phone":2}}}}}`,
		`{"aggs":{"m":{"matrix_stats":{"fields":["no.such.field","no.such.field.1"],"missing":{"no.such.field":1,"no.such.field.1":2}}}}}`, "ssn", "phone")
	f(`{"query":{"multi_match":{"query":"x","fields":["zz*"]}}}`, `{"query":{"multi_match":{"fields":["no.such.field"],"query":"x"}}}`, "zz*")
	f(`{"query":{"exists":{"field":"zz*"}}}`,
		`{"query":{"constant_score":{"filter":{"bool":{"should":[{"exists":{"field":"no.such.field"}}]}}}}}`, "zz*")
	f(`{"sort":["no.such.field"]}`, `{"sort":["no.such.field"]}`, "no.such.field") // the client's own name for it
	f(`{"query":{"match_all":{}}}`, `{"query":{"match_all":{}}}`)
}

// What a parameter of the URL replaces is walked and not forwarded: its names are not
// the cluster's to speak of.
func TestReplacedAside(t *testing.T) {
	r := Rules{Filter: Free, Fields: hr, Replaced: &Names{}}
	p, err := CheckParams(Search, parseURL("q=x&df=phone"), &r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rewrite(Search, `{"query":{"term":{"ssn":1}}}`, p, &r); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"phone"}, r.Replaced.names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestAppendRestored(t *testing.T) {
	n := &Names{}
	for _, name := range []string{"ssn", `a"b\c`, "tab\there", "3", "4", "5", "6", "7", "8", "9", "ten"} {
		n.standIn("guard-x", name)
	}
	f := func(text, want string) {
		t.Helper()
		if got := string(n.AppendRestored([]byte("> "), []byte(text))); got != "> "+want {
			t.Errorf("%s\n got %s\nwant %s", text, got, "> "+want)
		}
	}
	f(`{"reason":"no mapper for [guard-x]"}`, `{"reason":"no mapper for [ssn]"}`)
	f(`{"a":"guard-x guard-x.1 guard-x.2"}`, `{"a":"ssn a\"b\\c tab\there"}`)
	f(`{"a":"guard-x.10 guard-x.3."}`, `{"a":"ten 3."}`)
	f(`{"a":"guard-x.11 guard-x.01 guard-x. guard-x.99999999999999999999"}`, `{"a":"ssn.11 ssn.01 ssn. ssn.99999999999999999999"}`)
	f(`{"a":"guard-"}`, `{"a":"guard-"}`)
	f(``, ``)

	var none Names
	if got := string(none.AppendRestored(nil, []byte(`{"a":"guard-x"}`))); got != `{"a":"guard-x"}` {
		t.Errorf("without names: %s", got)
	}
}

// FuzzRestored: JSON stays JSON, and each stand-in in it becomes its name.
func FuzzRestored(f *testing.F) {
	f.Add("ssn", `a"b`, "no [guard-x] and [guard-x.1]")
	standIns := regexp.MustCompile(`guard-x(\.[1-9][0-9]*)?`)
	f.Fuzz(func(t *testing.T, a, b, text string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || !utf8.ValidString(text) || a == b {
			return
		}
		n := &Names{}
		n.standIn("guard-x", a)
		n.standIn("guard-x", b)
		want := standIns.ReplaceAllStringFunc(text, func(s string) string {
			if s == "guard-x.1" {
				return b
			}
			return a + strings.TrimPrefix(s, "guard-x")
		})
		in, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(n.AppendRestored(nil, in), &got); err != nil || got != want {
			t.Fatalf("%s became %q, %v; want %q", in, got, err, want)
		}
	})
}

// Nothing replaced costs nothing.
func TestReplacedCost(t *testing.T) {
	n := &Names{}
	text, dst := []byte(`{"error":"guard-x"}`), make([]byte, 0, 100)
	if got := testing.AllocsPerRun(100, func() { dst = n.AppendRestored(dst[:0], text) }); got != 0 {
		t.Errorf("AppendRestored allocates %v times; want 0", got)
	}
}
