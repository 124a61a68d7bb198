package endpoint

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
	"guard/internal/names"
)

func TestBulkAction(t *testing.T) {
	f := func(fallback, line, part string, want BulkAction, again string) {
		t.Helper()
		p := BulkParser{Fallback: names.Expr(fallback)}
		got, err := p.Parse([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if s := string(got.AppendLine(nil, got.Op.AppendHead(nil, "x"))); s != again {
			t.Fatalf("%s: written anew\n%s; want\n%s", line, s, again)
		}
		if s := partText(BulkPart(got, 3)); s != part {
			t.Fatalf("%s: asks %q; want %q", line, s, part)
		}
		want.meta = got.meta
		if got != want {
			t.Fatalf("%s: got %+v; want %+v", line, got, want)
		}
	}
	const onWrite = " missing?admin/create field?admin/mapping/put @"
	f("", `{"index":{"_index":"a","_id":"1"}}`, "3 data/write/bulk[s] data/write/index"+onWrite+"a single fixed",
		BulkAction{Op: BulkIndex, Index: "a", ID: "1", HasID: true}, `{"index":{"_index":"x","_id":"1"}}`)
	f("p", `{"index":{}}`, "3 data/write/bulk[s] data/write/index"+onWrite+"p single fixed",
		BulkAction{Op: BulkIndex, Index: "p", Creates: true}, `{"index":{"_index":"x"}}`)
	f("p", ` { "create" : { "_index" : "a" , "_id" : 7 } } `, "3 data/write/bulk[s] data/write/index"+onWrite+"a single fixed",
		BulkAction{Op: BulkCreate, Index: "a", ID: "7", HasID: true, Creates: true}, `{"create":{"_index":"x","_id":7}}`)
	f("p", `{"index":{"_id":"1","op_type":"create"}}`, "3 data/write/bulk[s] data/write/index"+onWrite+"p single fixed",
		BulkAction{Op: BulkCreate, Index: "p", ID: "1", HasID: true, Creates: true}, `{"create":{"_index":"x","_id":"1"}}`)
	f("p", `{"index":{"_id":1e5,"_type":"_doc"}}`, "3 data/write/bulk[s] data/write/index"+onWrite+"p single fixed",
		BulkAction{Op: BulkIndex, Index: "p", ID: "1e5", HasID: true}, `{"index":{"_index":"x","_id":1e5,"_type":"_doc"}}`)
	f("p", `{"update":{"_id":"1","_source":true,"retry_on_conflict":3,"routing":"r"}}`, "3 data/write/bulk[s] data/write/update"+onWrite+"p single fixed",
		BulkAction{Op: BulkUpdate, Index: "p", ID: "1", HasID: true, Returns: true}, `{"update":{"_index":"x","_id":"1","_source":true,"retry_on_conflict":3,"routing":"r"}}`)
	f("p", `{"delete":{"_id":"1","if_seq_no":0,"if_primary_term":1}}`, "3 data/write/bulk[s] data/write/delete @p single fixed",
		BulkAction{Op: BulkDelete, Index: "p", ID: "1", HasID: true}, `{"delete":{"_index":"x","_id":"1","if_seq_no":0,"if_primary_term":1}}`)
	f("p", `{"index":{"_id":null,"pipeline":"q","require_alias":true,"dynamic_templates":{"a":"b"}}}`, "3 data/write/bulk[s] data/write/index"+onWrite+"p single fixed",
		BulkAction{Op: BulkIndex, Index: "p", Creates: true, Pipeline: true}, `{"index":{"_index":"x","pipeline":"q","require_alias":true,"dynamic_templates":{"a":"b"}}}`)
	f("p", `{"index":{"_index":"a\u002fb"}}`, "3 data/write/bulk[s] data/write/index"+onWrite+"a/b single fixed",
		BulkAction{Op: BulkIndex, Index: "a/b", Creates: true}, `{"index":{"_index":"x"}}`)
}

func TestBulkActionRefuses(t *testing.T) {
	f := func(line, text string) {
		t.Helper()
		var p BulkParser
		a, err := p.Parse([]byte(line))
		if err == nil {
			t.Fatalf("%s: got %+v; want %q", line, a, text)
		}
		if r := rejected(t, err); r.Public != text || r.Status != 400 {
			t.Fatalf("%s: got %d %q; want 400 %q", line, r.Status, r.Public, text)
		}
	}
	const malformed = "Malformed action/metadata line: want an object with one of [index, create, update, delete]"
	f(``, "cannot parse JSON: unexpected end of text at offset 0; want a value")
	f(`[]`, malformed)
	f(`{}`, malformed)
	f(`{"index":{"_index":"logs-a-1","_id":"x1"},"delete":{"_index":"logs-b-1","_id":"b1"}}`, malformed)
	f(`{"noop":{"_index":"a"}}`, "Malformed action/metadata line: unknown action [noop]; want one of [index, create, update, delete]")
	f(`{"INDEX":{"_index":"a"}}`, "Malformed action/metadata line: unknown action [INDEX]; want one of [index, create, update, delete]")
	f(`{"index":null}`, "cannot use null as [index] of the action line of a bulk; want an object")
	f(`{"index":{"_index":"a"}} {"delete":{}}`, "cannot parse JSON: unexpected '{' at offset 25; want the end of the text")
	f(`{"index":{"_index":"logs-a-1","_index":"logs-b-1"}}`, `cannot parse JSON: duplicate key "_index" at offset 30; want each key of an object once`)
	f(`{"index":{"_index":"a","_INDEX":"b"}}`, "unknown key [_INDEX] in the action line of a bulk")
	f(`{"index":{"_index":"a","_type":"t"}}`, "unknown [_type] in the action line of a bulk; want [_doc] or none")
	f(`{"index":{"_index":"a","_routing":"r"}}`, "unknown key [_routing] in the action line of a bulk")
	f(`{"index":{"_index":"a","_parent":"t"}}`, "unknown key [_parent] in the action line of a bulk")
	f(`{"index":{"_index":"a","_source":true}}`, "unknown key [_source] in the action line of a bulk")
	f(`{"index":{"_index":"a,b"}}`, "Invalid index name [a,b], must not contain ','")
	f(`{"index":{"_index":""}}`, "Invalid index name [], must not be empty")
	f(`{"index":{"_index":"_all"}}`, "Invalid index name [_all], must not start with '_'.")
	f(`{"index":{"_index":["a"]}}`, "cannot use an array as [_index] of the action line of a bulk; want a string")
	f(`{"index":{"_index":1}}`, "cannot use a number as [_index] of the action line of a bulk; want a string")
	f(`{"index":{"_index":"a","_id":["1"]}}`, "cannot use an array as [_id] in the action line of a bulk; want a string or a number")
	f(`{"index":{"_index":"a","_id":""}}`, "if _id is specified it must not be empty")
	f(`{"index":{"_index":"a","op_type":"delete"}}`, "cannot use op_type [delete] in [index] of the action line of a bulk")
	f(`{"delete":{"_index":"a","_id":"1","op_type":"create"}}`, "cannot use op_type [create] in [delete] of the action line of a bulk")
	f(`{"index":{"_index":"a","op_type":1}}`, "cannot use a number as [op_type] of the action line of a bulk; want a string")
	f(`{"index":{"_index":"a","pipeline":1}}`, "cannot use a number as [pipeline] of the action line of a bulk; want a string")
	f(`{"index":{"_index":"a","routing":["x"]}}`, "cannot use an array as [routing] of the action line of a bulk; want a string or a number")
	f(`{"index":{"_index":"a","require_alias":"yes"}}`, "cannot use a string as [require_alias] of the action line of a bulk; want a boolean")
	f(`{"index":{"_index":"a","dynamic_templates":"x"}}`, "cannot use a string as [dynamic_templates] of the action line of a bulk; want an object")
	f(`{"index":{"_id":"1"}}`, "Validation Failed: 1: index is missing;")
	f(`{"update":{"_index":"a"}}`, "Validation Failed: 1: id is missing;")
	f(`{"delete":{"_index":"a","_id":null}}`, "Validation Failed: 1: id is missing;")
}

func TestIsBlank(t *testing.T) {
	f := func(line string, want bool) {
		t.Helper()
		if got := isBlank([]byte(line)); got != want {
			t.Fatalf("%q: got %v; want %v", line, got, want)
		}
	}
	f("", true)
	f(" \t\r", true)
	f("{}", false)
}

func TestBulkOp(t *testing.T) {
	f := func(op BulkOp, text string, document bool) {
		t.Helper()
		if op.String() != text || op.HasDocument() != document {
			t.Fatalf("got %q, document %v; want %q, %v", op, op.HasDocument(), text, document)
		}
	}
	f(BulkIndex, "index", true)
	f(BulkCreate, "create", true)
	f(BulkUpdate, "update", true)
	f(BulkDelete, "delete", false)
}

func TestBulkFallback(t *testing.T) {
	f := func(target, want, text string) {
		t.Helper()
		r := request(t, "POST", target, "{}\n")
		m, q, err := query(t, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.BulkFallback(q)
		if text != "" {
			if rej := rejected(t, err); rej.Public != text {
				t.Fatalf("%s: got %q; want %q", target, rej.Public, text)
			}
			return
		}
		if err != nil || string(got) != want {
			t.Fatalf("%s: got %q, %v; want %q", target, got, err, want)
		}
	}
	f("/_bulk", "", "")
	f("/a/_bulk", "a", "")
	f("/_bulk?index=a", "a", "")
	f("/a,b/_bulk", "", "Invalid index name [a,b], want one index for a document")
	f("/_all/_bulk", "", "Invalid index name [_all], must not start with '_'.")
}

// TestBulkParserReusesMemory: a bulk of many lines does not cost memory for each.
func TestBulkParserReusesMemory(t *testing.T) {
	p := BulkParser{Fallback: "logs"}
	line := []byte(`{"index":{"_index":"logs-2026.11","_id":"1"}}`)
	n := testing.AllocsPerRun(200, func() {
		if _, err := p.Parse(line); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Fatalf("Parse allocates %v times; want 0", n)
	}
}

// TestBulkPartKeepsSlot: the part of an item stands for its position.
func TestBulkPartKeepsSlot(t *testing.T) {
	got := BulkPart(BulkAction{Op: BulkDelete, Index: "a"}, 7)
	want := ask.Part{Slot: 7, Privileges: bulkPrivileges[BulkDelete], Exprs: []names.Expr{"a"}, Single: true, Fixed: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
}

func BenchmarkBulkParse(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"with-id", `{"index":{"_index":"logs-2026.11","_id":"abcdefgh"}}`},
		{"path-index", `{"create":{}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := BulkParser{Fallback: "logs"}
			line := []byte(c.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Parse(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
