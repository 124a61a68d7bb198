package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"guard/indexresolver"
	"guard/internal/ask"
)

// writerRole writes to x*, may not bring new fields to narrow, and is bound on hr.
const writerRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["x*"], allowed_actions: ["*"]}
    - {index_patterns: [narrow, half, taken], allowed_actions: ["indices:data/write/*"]}
    - {index_patterns: [hr], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: [fielded], fls: ["~ssn"], allowed_actions: ["*"]}
`

func writable() []indexresolver.Index {
	logs := []byte(`{"properties":{"msg":{"type":"text"},"at":{"type":"geo_point"},"p":{"properties":{"q":{"type":"long"}}}}}`)
	return []indexresolver.Index{
		{Name: "hr", Mapping: []byte(staffMapping)},
		{Name: "narrow", Mapping: logs, Aliases: []indexresolver.Membership{{Alias: "one"}}},
		{Name: "xa", Mapping: logs, Aliases: []indexresolver.Membership{{Alias: "xs"}}},
		{Name: "xb", Mapping: logs, Aliases: []indexresolver.Membership{{Alias: "xs"}}},
		{Name: "stored", Mapping: []byte(`{"properties":{"q":{"type":"percolator"}}}`)},
		{Name: "fielded", Mapping: []byte(staffMapping)}, {Name: "secret"},
	}
}

// linesFor returns the plan of the lines of a bulk of u.
func linesFor(t *testing.T, s *Snapshot, target string) Forwarding {
	t.Helper()
	r := newRequest(t, "POST", target, "application/x-ndjson", []byte("x"))
	r.Body = nil // the lines are not read by Plan
	out := s.Plan(s.Principal(ask.Identity{Name: "u"}), r, Known{Fresh: true})
	if out.Kind != Forward || out.Forward.Source != PlannedBody || out.Forward.Lines == nil {
		t.Fatalf("POST %s: %s; want planned lines", target, gist(t, out))
	}
	return out.Forward
}

// feed runs lines through their plan as the proxy does: in buffers that are used again.
func feed(lines Lines, text string) ([]byte, error) {
	var dst, action, document []byte
	rest := strings.Split(text, "\n")
	for len(rest) > 0 {
		action = append(action[:0], rest[0]...)
		rest = rest[1:]
		hasDocument, err := lines.Action(action)
		if err != nil {
			return dst, err
		}
		document = document[:0]
		if hasDocument {
			document = append(document, rest[0]...)
			rest = rest[1:]
		}
		if dst, err = lines.Item(dst, document); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// TestBulkItems holds what becomes of one item.
func TestBulkItems(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	f := func(target, text, want string) {
		t.Helper()
		got, err := feed(linesFor(t, s, target).Lines, text)
		if err != nil || strings.TrimSuffix(string(got), "\n") != want {
			t.Errorf("%s of %s sends %s, error %v; want %s", text, target, got, err, want)
		}
	}
	same := func(text string) { t.Helper(); f("/_bulk", text, text) }
	refused := func(text string) { t.Helper(); f("/_bulk", text, "") }

	same("{\"index\":{\"_index\":\"xa\",\"_id\":\"1\"}}\n{\"a\":1}")
	same("{\"index\":{\"_index\":\"xa\"}}\n{\"a\": 1 }") // documents are copied byte for byte
	same("{\"create\":{\"_index\":\"xa\",\"_id\":\"1\",\"routing\":\"r\",\"require_alias\":true}}\n{}")
	same("{\"update\":{\"_index\":\"xa\",\"_id\":\"1\",\"retry_on_conflict\":3}}\n{\"doc\":{\"a\":1}}")
	same(`{"delete":{"_index":"xa","_id":"1"}}`)
	same("{\"index\":{\"_index\":\"xnew\"}}\n{\"a\":1}")
	same("{\"index\":{\"_index\":\"xs\"}}\n{\"a\":1}") // the cluster knows which index takes it
	f("/xa/_bulk", "{\"index\":{}}\n{}", "{\"index\":{\"_index\":\"xa\"}}\n{}")
	f("/secret/_bulk", "{\"index\":{\"_index\":\"xa\"}}\n{}", "{\"index\":{\"_index\":\"xa\"}}\n{}")
	f("/_bulk", "{\"index\":{\"_index\":\"xa\",\"op_type\":\"create\"}}\n{}", "{\"create\":{\"_index\":\"xa\"}}\n{}")
	f("/_bulk", "{\"index\":{\"_index\":\"<x-{now/d}>\"}}\n{}", "{\"index\":{\"_index\":\"x-2026.11.30\"}}\n{}")

	refused("{\"index\":{\"_index\":\"secret\"}}\n{}")
	refused("{\"index\":{\"_index\":\"nosuch\"}}\n{}")
	refused("{\"index\":{\"_index\":\"x*\"}}\n{}")
	refused(`{"delete":{"_index":"secret","_id":"1"}}`)
	refused("{\"index\":{\"_index\":\"xa\",\"pipeline\":\"p\"}}\n{}")
	refused("{\"index\":{\"_index\":\"stored\"}}\n{}")

	// Under a rule only new documents.
	same("{\"create\":{\"_index\":\"hr\",\"_id\":\"1\"}}\n{}")
	same("{\"index\":{\"_index\":\"hr\"}}\n{}")
	refused("{\"index\":{\"_index\":\"hr\",\"_id\":\"1\"}}\n{}")
	refused(`{"delete":{"_index":"hr","_id":"1"}}`)
	refused("{\"update\":{\"_index\":\"hr\",\"_id\":\"1\"}}\n{\"doc\":{}}")
	same("{\"create\":{\"_index\":\"fielded\",\"_id\":\"1\"}}\n{}")
	same("{\"index\":{\"_index\":\"fielded\"}}\n{}")
	refused("{\"index\":{\"_index\":\"fielded\",\"_id\":\"1\"}}\n{}")
	refused(`{"delete":{"_index":"fielded","_id":"1"}}`)
	refused("{\"update\":{\"_index\":\"fielded\",\"_id\":\"1\"}}\n{\"doc\":{}}")

	// Whoever may not change mappings brings no new field, and whoever may not read
	// gets no document back.
	same("{\"index\":{\"_index\":\"narrow\"}}\n{\"msg\":\"x\",\"at\":{\"lat\":1,\"lon\":2},\"p\":{\"q\":[1,2]},\"gone\":null}")
	refused("{\"index\":{\"_index\":\"narrow\"}}\n{\"other\":1}")
	refused("{\"index\":{\"_index\":\"narrow\"}}\n{\"p\":[{\"q\":1},{\"r\":1}]}")
	refused("{\"index\":{\"_index\":\"one\"}}\n{\"p.r\":1}")
	refused("{\"index\":{\"_index\":\"narrow\"}}\n{\"msg\":")
	same("{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\"}}\n{\"doc\":{\"msg\":\"x\"}}")
	refused("{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\"}}\n{\"doc\":{\"other\":1}}")
	refused("{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\"}}\n{\"doc\":{},\"upsert\":{\"other\":1}}")
	refused("{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\"}}\n{\"script\":\"ctx._source.other=1\"}")
	refused("{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\"}}\n{\"doc\":{\"msg\":\"x\"},\"_source\":true}")
	refused("{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\",\"_source\":true}}\n{\"doc\":{\"msg\":\"x\"}}")
	f("/_bulk?_source=true", "{\"update\":{\"_index\":\"narrow\",\"_id\":\"1\"}}\n{\"doc\":{\"msg\":\"x\"}}", "")
}

// TestBulkFaults holds that a line which is not understood ends the body: nothing of
// it is executed then.
func TestBulkFaults(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	f := func(line, want string) {
		t.Helper()
		_, err := linesFor(t, s, "/_bulk").Lines.Action([]byte(line))
		var rej *ask.Rejection
		if !errors.As(err, &rej) || !strings.Contains(rej.Public, want) {
			t.Errorf("%s: error %v; want one with %q", line, err, want)
		}
	}
	f(`{"index":{"_index":"xa"}`, "")
	f(`{"reindex":{"_index":"xa"}}`, "unknown action [reindex]")
	f(`{"index":{"_index":"xa"},"delete":{}}`, "want an object with one of")
	f(`{"index":{"_index":"xa","_index":"secret"}}`, "")
	f(`{"index":{"_index":"xa","unknown":1}}`, "unknown key [unknown]")
	f(`{"index":{}}`, "index is missing")
	f(`{"delete":{"_index":"xa"}}`, "id is missing")

	empty, err := linesFor(t, s, "/_bulk").Lines.End()
	if empty != nil || err == nil || !strings.Contains(err.Error(), "request body is required") {
		t.Errorf("no line at all: %v, %v; want a refusal", empty, err)
	}
}

// TestBulkMemory holds that what is remembered of an index does not change with the
// buffer that its first line stood in: else a later line says where an earlier
// decision sends its document.
func TestBulkMemory(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	text := strings.Join([]string{
		`{"index":{"_index":"xnew-1"}}`, `{}`,
		`{"index":{"_id":"1secret-secret-secret","_index":"xnew-1"}}`, `{}`,
		`{"index":{"_id":"secret","_index":"narrow-no"}}`, `{}`,
		`{"index":{"_id":"nothing-to-see-here","_index":"narrow-no"}}`, `{}`,
		`{"index":{"_index":"xnew-1"}}`, `{}`,
	}, "\n")
	fw := linesFor(t, s, "/_bulk")
	got, err := feed(fw.Lines, text)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(got), `"_index":"xnew-1"`); n != 3 || strings.Count(string(got), `"_index"`) != 3 {
		t.Errorf("sent %s; want three lines for xnew-1", got)
	}
	if fw.ChangesState == nil || !fw.ChangesState() {
		t.Error("an index was made and the state is not looked at again")
	}
	answer, err := fw.Treat.Treat(Answer{Status: 200, Body: []byte(`{"took":1,"errors":false,"items":[1,2,3]}`)})
	if err != nil || strings.Count(string(answer.Body), "on [narrow-no]") != 2 {
		t.Errorf("answer %s, %v; want two refusals that name narrow-no", answer.Body, err)
	}
}

// TestBulkAnswer holds order and number of the items of a long bulk, over more names
// than are remembered.
func TestBulkAnswer(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	fw := linesFor(t, s, "/_bulk?filter_path=errors,items.*.error")
	if strings.Contains(fw.Target, "filter_path") {
		t.Errorf("target %s; want every item in the answer", fw.Target)
	}
	const items = maxKnown + 500
	var dst []byte
	var want, from []string
	for i := range items {
		name := fmt.Sprintf("x%d", i)
		if i%3 == 1 {
			name = fmt.Sprintf("secret%d", i)
		}
		line := fmt.Sprintf(`{"index":{"_index":%q,"_id":"%d"}}`, name, i)
		if _, err := fw.Lines.Action([]byte(line)); err != nil {
			t.Fatal(err)
		}
		var err error
		if dst, err = fw.Lines.Item(dst[:0], []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
		switch {
		case i%3 != 1:
			if string(dst) != line+"\n{}\n" {
				t.Fatalf("item %d sends %s", i, dst)
			}
			from = append(from, fmt.Sprintf(`{"index":{"_id":"%d","status":201}}`, i))
			want = append(want, from[len(from)-1])
		case len(dst) > 0:
			t.Fatalf("item %d sends %s; want nothing", i, dst)
		default:
			want = append(want, fmt.Sprintf(`{"index":{"_index":%q,"_id":"%d","status":403,`, name, i))
		}
	}
	if local, err := fw.Lines.End(); local != nil || err != nil {
		t.Fatalf("end: %v, %v", local, err)
	}
	got, err := fw.Treat.Treat(Answer{Status: 200, Body: []byte(`{"took":1,"errors":false,"items":[` + strings.Join(from, ",") + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	v := parsed(t, string(got.Body))
	if e, _ := v.Lookup("errors"); e.String() != "true" {
		t.Error("errors is not true beside refused items")
	}
	list, _ := v.Lookup("items")
	if list.Len() != items {
		t.Fatalf("%d items; want %d", list.Len(), items)
	}
	for i, item := range list.Elements() {
		if !strings.HasPrefix(string(item.Raw()), want[i]) {
			t.Fatalf("item %d is %s; want %s", i, item.Raw(), want[i])
		}
	}
	if _, err := fw.Treat.Treat(Answer{Status: 200, Body: []byte(`{"errors":false,"items":[]}`)}); err == nil {
		t.Error("an answer that lacks items is taken")
	}
}

// TestBulkNumber holds that an answer with another number of items than were sent is not
// passed on, also where no item is refused or treated: whoever reads it by position would
// take one item for another.
func TestBulkNumber(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	f := func(status int, body string, passes bool) {
		t.Helper()
		fw := linesFor(t, s, "/_bulk")
		if _, err := feed(fw.Lines, "{\"index\":{\"_index\":\"xa\"}}\n{}\n{\"delete\":{\"_index\":\"xa\",\"_id\":\"1\"}}"); err != nil {
			t.Fatal(err)
		}
		got, err := fw.Treat.Treat(Answer{Status: status, Body: []byte(body)})
		if (err == nil) != passes || passes && string(got.Body) != body {
			t.Errorf("%d %s became %s, %v; want it passed: %v", status, body, got.Body, err, passes)
		}
	}
	f(200, `{"took":1,"errors":false,"items":[{"index":{"status":201}},{"delete":{"status":200}}]}`, true)
	f(200, ` { "items" : [ {"index":{"x":[1,2]}} , {"delete":{"y":"],["}} ] } `, true)
	f(200, `{"items":[{"index":{}}]}`, false)
	f(200, `{"items":[{"index":{}},{"delete":{}},{"delete":{}}]}`, false)
	f(200, `{"items":[]}`, false)
	f(200, `{"items":[],"items":[1,2]}`, false)
	f(200, `{"items":{"a":1,"b":2}}`, false)
	f(200, `{"took":1}`, false)
	f(200, `{"error":"no"}`, false)
	f(200, `<html>`, false)
	f(429, `{"error":{"type":"x"},"status":429}`, true)
	f(502, `<html>`, true)
	f(500, `{"items":[{"index":{}},{"delete":{}}]}`, false)
}

// TestBulkAllRefused holds that a bulk of refused items alone is answered by guard.
func TestBulkAllRefused(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	lines := linesFor(t, s, "/_bulk").Lines
	sent, err := feed(lines, "{\"index\":{\"_index\":\"secret\"}}\n{}\n{\"delete\":{\"_index\":\"secret\",\"_id\":7}}")
	if err != nil || len(sent) > 0 {
		t.Fatalf("sent %s, %v; want nothing", sent, err)
	}
	local, err := lines.End()
	if err != nil || local == nil {
		t.Fatalf("end: %v, %v; want an answer", local, err)
	}
	no := func(action string) string {
		return `"status":403,"error":{"type":"security_exception","reason":"no permissions for [` + action + `] and User [name=u, backend_roles=[], requestedTenant=null] on [secret]"}}`
	}
	want := `{"took":0,"errors":true,"items":[{"index":{"_index":"secret","_id":null,` + no("indices:data/write/bulk[s], indices:data/write/index") +
		`},{"delete":{"_index":"secret","_id":"7",` + no("indices:data/write/bulk[s], indices:data/write/delete") + `}]}`
	if string(local.Body) != want {
		t.Errorf("answer %s\nwant   %s", local.Body, want)
	}
}

// TestBulkRefusedBound holds that refused items cost no memory without end.
func TestBulkRefusedBound(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	lines := linesFor(t, s, "/_bulk").Lines
	for i := range maxRefused + 1 {
		if _, err := lines.Action([]byte(`{"delete":{"_index":"secret","_id":"1"}}`)); err != nil {
			t.Fatal(err)
		}
		_, err := lines.Item(nil, nil)
		if over := i == maxRefused; over != (err != nil) {
			t.Fatalf("item %d: error %v", i, err)
		}
	}
}

// TestBulkConflicts holds that a conflict under a document rule tells nothing of the
// document that has the id.
func TestBulkConflicts(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	fw := linesFor(t, s, "/_bulk")
	if _, err := feed(fw.Lines, "{\"create\":{\"_index\":\"hr\",\"_id\":\"1\"}}\n{}\n{\"create\":{\"_index\":\"xa\",\"_id\":\"1\"}}\n{}"); err != nil {
		t.Fatal(err)
	}
	conflict := `{"create":{"_index":"%s","_id":"1","status":409,"error":{"type":"version_conflict_engine_exception","reason":"[1]: version conflict, document already exists%s","index":"%s","shard":"0"}}}`
	hr, xa := fmt.Sprintf(conflict, "hr", " (current version [7])", "hr"), fmt.Sprintf(conflict, "xa", " (current version [7])", "xa")
	got, err := fw.Treat.Treat(Answer{Status: 200, Body: []byte(`{"errors":true,"items":[` + hr + `,` + xa + `]}`)})
	want := `{"errors":true,"items":[` + fmt.Sprintf(conflict, "hr", "", "hr") + `,` + xa + `]}`
	if err != nil || string(got.Body) != want {
		t.Errorf("answer %s, %v\nwant   %s", got.Body, err, want)
	}
}
