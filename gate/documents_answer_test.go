package gate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/fls"
	"guard/internal/ask"
	"guard/internal/query"
)

// boundTo is what binds the documents of index under a document rule.
func boundTo(index string) *binding {
	return &binding{rules: query.Rules{Filter: `{"term":{"dept":"eng"}}`}, bound: true, indices: []string{index}}
}

// freeOf is an index that no rule binds.
func freeOf(index string) *binding {
	return &binding{rules: query.Rules{Filter: query.Free}, indices: []string{index}}
}

// hit is a document as a search shows it.
func hit(index, id string, seq int, rest string) string {
	return fmt.Sprintf(`{"_index":%q,"_id":%q,"_version":1,"_seq_no":%d,"_primary_term":1,"_score":1.0%s}`, index, id, seq, rest)
}

// held is a document as a realtime read shows it.
func held(index, id string, seq int, rest string) string {
	return fmt.Sprintf(`{"_index":%q,"_id":%q,"_version":1,"_seq_no":%d,"_primary_term":1,"found":true%s}`, index, id, seq, rest)
}

func gone(index, id string) string {
	return fmt.Sprintf(`{"_index":%q,"_id":%q,"found":false}`, index, id)
}

const allShards = `"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0}`

func searched(hits ...string) string {
	return `{` + allShards + `,"hits":{"max_score":1.0,"hits":[` + strings.Join(hits, ",") + `]},"status":200}`
}

// answered is a multi-search: for each batch what the filtered search and the one
// without filter saw. They are asked the other way round.
func answered(list ...string) Answer {
	list = slices.Clone(list)
	for i := 0; i+1 < len(list); i += 2 {
		list[i], list[i+1] = list[i+1], list[i]
	}
	return Answer{Status: 200, Body: []byte(`{"took":1,"responses":[` + strings.Join(list, ",") + `]}`)}
}

func got(docs ...string) Answer {
	return Answer{Status: 200, Body: []byte(`{"docs":[` + strings.Join(docs, ",") + `]}`)}
}

// TestReadOneDocument holds what the three views of one document come to: the
// filtered search, the search without filter, and the realtime read.
func TestReadOneDocument(t *testing.T) {
	f := func(name, shown, seen, now, want string) {
		t.Helper()
		d := &docRead{items: []docItem{{name: "hr", id: "1", b: boundTo("hr")}}}
		list := func(s string) []string {
			if s == "" {
				return nil
			}
			return []string{s}
		}
		out, err := d.read(answered(searched(list(shown)...), searched(list(seen)...)), got(now))
		switch {
		case want == "unequal":
			if !errors.Is(err, errUnequal) {
				t.Errorf("%s: error %v; want that the views differ", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case string(out.docs[0]) != want:
			t.Errorf("%s: %s; want %s", name, out.docs[0], want)
		case out.found[0] != strings.Contains(want, `"found":true`):
			t.Errorf("%s: found %v beside %s", name, out.found[0], want)
		}
	}
	source := `,"_source":{"dept":"eng"}`
	whole := `{"_index":"hr","_id":"1","_version":1,"_seq_no":7,"_primary_term":1,"found":true,"_source":{"dept":"eng"}}`
	missing := `{"_index":"hr","_id":"1","found":false}`

	f("visible", hit("hr", "1", 7, source), hit("hr", "1", 7, ""), held("hr", "1", 7, ""), whole)
	f("hidden", "", hit("hr", "1", 7, ""), held("hr", "1", 7, ""), missing)
	f("not there", "", "", gone("hr", "1"), missing)
	f("deleted, still searched", hit("hr", "1", 7, source), hit("hr", "1", 7, ""), gone("hr", "1"), missing)
	f("written and not refreshed", "", "", held("hr", "1", 7, ""), "unequal")
	f("changed and not refreshed", hit("hr", "1", 6, source), hit("hr", "1", 6, ""), held("hr", "1", 7, ""), "unequal")
	f("changed, the old version hidden", "", hit("hr", "1", 6, ""), held("hr", "1", 7, ""), "unequal")
	f("searched before the realtime read saw it", hit("hr", "1", 8, source), hit("hr", "1", 8, ""), held("hr", "1", 7, ""), "unequal")

	// The same id can stand in several shards, one for each routing.
	routed := `,"_routing":"r"`
	f("visible by its routing", hit("hr", "1", 7, routed+source), hit("hr", "1", 7, routed), held("hr", "1", 7, routed),
		`{"_index":"hr","_id":"1","_version":1,"_seq_no":7,"_primary_term":1,"_routing":"r","found":true,"_source":{"dept":"eng"}}`)
	f("visible only with another routing", hit("hr", "1", 7, `,"_routing":"s"`+source),
		hit("hr", "1", 7, `,"_routing":"s"`)+","+hit("hr", "1", 7, routed), held("hr", "1", 7, routed), missing)

	// Another primary term is another history.
	f("same number of another term", strings.Replace(hit("hr", "1", 7, source), `_term":1`, `_term":2`, 1),
		strings.Replace(hit("hr", "1", 7, ""), `_term":1`, `_term":2`, 1), held("hr", "1", 7, ""), "unequal")
	// What stands in the stored fields comes from the search as well.
	f("stored fields", hit("hr", "1", 7, `,"fields":{"age":[3]}`), hit("hr", "1", 7, ""), held("hr", "1", 7, ""),
		`{"_index":"hr","_id":"1","_version":1,"_seq_no":7,"_primary_term":1,"found":true,"fields":{"age":[3]}}`)
	// Elasticsearch 7 names a type.
	f("typed", "", hit("hr", "1", 7, ""), `{"_index":"hr","_type":"_doc","_id":"1","_version":1,"_seq_no":7,"_primary_term":1,"found":true}`,
		`{"_index":"hr","_type":"_doc","_id":"1","found":false}`)
}

// TestReadDistrusts holds that an answer which is not what was asked for is never
// read as one about documents.
func TestReadDistrusts(t *testing.T) {
	d := &docRead{items: []docItem{{name: "hr", id: "1", b: boundTo("hr")}}}
	f := func(name string, search, get Answer, want string) {
		t.Helper()
		out, err := d.read(search, get)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v; want one with %q", name, out, err, want)
		}
	}
	fine := answered(searched(), searched())
	f("search fails", Answer{Status: 503, Body: []byte(`{"error":"x"}`)}, got(gone("hr", "1")), "answered 503")
	f("read fails", fine, Answer{Status: 429, Body: []byte(`{"error":"x"}`)}, "answered 429")
	f("search is no JSON", Answer{Status: 200, Body: []byte(`<html>`)}, got(gone("hr", "1")), "cannot read the cluster's answer")
	f("read is no JSON", fine, Answer{Status: 200, Body: []byte(``)}, "cannot read the cluster's answer")
	f("one response", answered(searched()), got(gone("hr", "1")), "1 responses; want 2")
	f("three responses", answered(searched(), searched(), searched()), got(gone("hr", "1")), "3 responses; want 2")
	f("no responses", Answer{Status: 200, Body: []byte(`{}`)}, got(gone("hr", "1")), "0 responses; want 2")
	f("no documents", fine, got(), "only 0 documents")
	f("another document", fine, got(gone("hr", "2")), `document "2"; want "1"`)
	f("a version is missing", fine, got(`{"_index":"hr","_id":"1","found":true,"_seq_no":1}`), `"_primary_term" is missing`)
	f("a hit has no version", answered(searched(`{"_index":"hr","_id":"1"}`), searched()), got(gone("hr", "1")), `"_seq_no" is missing`)
	f("an id is a number", fine, got(`{"_index":"hr","_id":1,"found":false}`), "want a string")
	f("no hits", answered(`{`+allShards+`}`, searched()), got(gone("hr", "1")), "has no hits")
	failed := strings.Replace(searched(), `"failed":0`, `"failed":1`, 1)
	f("a shard failed", answered(failed, searched()), got(gone("hr", "1")), "a shard did not answer")
	f("a shard failed without filter", answered(searched(), failed), got(gone("hr", "1")), "a shard did not answer")
	f("too late", answered(strings.Replace(searched(), `"timed_out":false`, `"timed_out":true`, 1), searched()), got(gone("hr", "1")), "a shard did not answer")
	f("no word of shards", answered(`{"hits":{"hits":[]}}`, searched()), got(gone("hr", "1")), "a shard did not answer")
}

// TestReadManyDocuments holds order and number of a multi-get, with its refused items
// and those that no rule binds.
func TestReadManyDocuments(t *testing.T) {
	refused := &ask.Rejection{Status: 403, Public: "no"}
	d := &docRead{items: []docItem{
		{name: "hr", id: "b", b: boundTo("hr")},
		{name: "secret", id: "1", refused: refused},
		{name: "logs", id: "2", b: freeOf("logs"), plain: []byte(`{"_index":"logs","_id":"2"}`)},
		{name: "hr", id: "a", b: boundTo("hr")},
		{name: "hr", id: "b", b: boundTo("hr")}, // asked twice, answered twice
	}}
	out, err := d.read(
		answered(searched(hit("hr", "b", 2, `,"_source":{"n":"b"}`)), searched(hit("hr", "a", 1, ""), hit("hr", "b", 2, ""))),
		got(held("hr", "b", 2, ""), held("logs", "2", 9, `,"_source":{"m":1}`), held("hr", "a", 1, ""), held("hr", "b", 2, "")))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, doc := range out.docs {
		list = append(list, string(doc))
	}
	b := `{"_index":"hr","_id":"b","_version":1,"_seq_no":2,"_primary_term":1,"found":true,"_source":{"n":"b"}}`
	want := []string{
		b,
		`{"_index":"secret","_id":"1","error":{"root_cause":[{"type":"security_exception","reason":"no"}],"type":"security_exception","reason":"no"}}`,
		held("logs", "2", 9, `,"_source":{"m":1}`),
		gone("hr", "a"),
		b,
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("docs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, false, true, false, true}, out.found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// TestReadFiltersFields holds the second barrier: what a search shows of a bound
// document goes through the view of its index.
func TestReadFiltersFields(t *testing.T) {
	rules, err := fls.Compile([]string{"~ssn"})
	if err != nil {
		t.Fatal(err)
	}
	b := boundTo("hr")
	b.views = map[string]*fls.View{"hr": fls.NewView(rules, mappingFrom(t, staffMapping))}
	d := &docRead{items: []docItem{{name: "hr", id: "1", b: b}}}
	out, err := d.read(answered(searched(hit("hr", "1", 1, `,"_source":{"name":"ada","ssn":"x"}`)), searched(hit("hr", "1", 1, ""))), got(held("hr", "1", 1, "")))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_index":"hr","_id":"1","_version":1,"_seq_no":1,"_primary_term":1,"found":true,"_source":{"name":"ada"}}`
	if string(out.docs[0]) != want {
		t.Errorf("document %s; want %s", out.docs[0], want)
	}
}

// TestReadItemError holds that an item which the cluster could not read says why
// without the inside of the cluster.
func TestReadItemError(t *testing.T) {
	d := &docRead{items: []docItem{{name: "hr", id: "1", b: boundTo("hr")}}}
	out, err := d.read(answered(searched(), searched()),
		got(`{"_index":"hr","_id":"1","error":{"type":"routing_missing_exception","reason":"routing is required for [hr]/[1]","node":"n1","stack_trace":"at x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_index":"hr","_id":"1","error":{"root_cause":[{"type":"routing_missing_exception","reason":"routing is required for [hr]/[1]"}],"type":"routing_missing_exception","reason":"routing is required for [hr]/[1]"}}`
	if string(out.docs[0]) != want || out.found[0] {
		t.Errorf("document %s, found %v; want %s", out.docs[0], out.found[0], want)
	}
}

// TestReadRounds holds the rounds of a read: one retry behind one refresh, then 503.
func TestReadRounds(t *testing.T) {
	s := worldWith(t, ruledRole, staff())
	who := s.Principal(ask.Identity{Name: "u"})
	behind := []Answer{answered(searched(), searched()), got(held("hr", "1", 7, ""))}
	level := []Answer{answered(searched(hit("hr", "1", 7, "")), searched(hit("hr", "1", 7, ""))), got(held("hr", "1", 7, ""))}
	refreshed := Answer{Status: 200, Body: []byte(`{}`)}
	join := func(lists ...[]Answer) (all []Answer) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	f := func(target string, known []Answer, want Kind, calls, status int) {
		t.Helper()
		out := s.Plan(who, newRequest(t, "GET", target, "", nil), Known{Fresh: true, Answers: known})
		code := out.Local.Status
		if out.Kind == Reject {
			code = out.Rejection.Status.Code()
		}
		if out.Kind != want || len(out.Needs) != calls || code != status {
			t.Errorf("%s with %d answers: kind %d, %d calls, status %d (%s); want %d, %d, %d", target, len(known), out.Kind, len(out.Needs), code, out.Rejection.Public, want, calls, status)
		}
	}
	again := []Answer{refreshed}
	f("/hr/_doc/1", nil, Need, 2, 0)
	f("/hr/_doc/1", level, Local, 0, 200)
	f("/hr/_doc/1", behind, Need, 3, 0)
	f("/hr/_doc/1", join(behind, again, level), Local, 0, 200)
	f("/hr/_doc/1", join(behind, again, behind), Reject, 0, 503)
	f("/hr/_doc/1", join(behind, []Answer{{Status: 500}}, behind), Reject, 0, 502)
	// A refresh that the client wants comes first, and does not count as the retry.
	f("/hr/_doc/1?refresh=true", nil, Need, 3, 0)
	f("/hr/_doc/1?refresh=true", join(again, level), Local, 0, 200)
	f("/hr/_doc/1?refresh=true", join(again, behind), Need, 3, 0)
	f("/hr/_doc/1?refresh=true", join(again, behind, again, level), Local, 0, 200)
	f("/hr/_doc/1?refresh=true", join(again, behind, again, behind), Reject, 0, 503)
	f("/hr/_doc/1?refresh=true", join([]Answer{{Status: 500}}, level), Reject, 0, 502)
	f("/hr/_doc/1?refresh=false", nil, Need, 2, 0)
}

// ruledRole binds the documents of hr and leaves logs free.
const ruledRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [hr], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: ["logs*"], allowed_actions: ["*"]}
`

// TestReadAgainstModel compares reads with a naive model: some documents, of which
// searches see an older state until a refresh, and of which a rule hides some.
func TestReadAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: a test that repeats itself
	outcomes := map[string]int{}
	for range 3000 {
		checkModel(t, r, outcomes)
	}
	for _, want := range []string{"shown", "missing", "unequal"} {
		if outcomes[want] < 100 {
			t.Errorf("outcomes %v; want many of each", outcomes)
		}
	}
}

// modelDoc is one document: what a search sees, what is there now, who may see which.
type modelDoc struct {
	id               string
	searched, now    int // sequence numbers; 0: not there
	seesOld, seesNow bool
}

func checkModel(t *testing.T, r *rand.Rand, outcomes map[string]int) {
	t.Helper()
	d := &docRead{}
	var shown, seen, now []string
	var docs []modelDoc
	for n := range 1 + r.IntN(3) {
		m := modelDoc{id: fmt.Sprint(n), now: r.IntN(3), seesNow: r.IntN(2) == 0}
		m.searched, m.seesOld = m.now, m.seesNow
		if r.IntN(4) == 0 {
			m.searched, m.seesOld = r.IntN(3), r.IntN(2) == 0
		}
		if m.searched == m.now {
			m.seesOld = m.seesNow
		}
		docs = append(docs, m)
		d.items = append(d.items, docItem{name: "hr", id: m.id, b: boundTo("hr")})
		if m.searched > 0 {
			seen = append(seen, hit("hr", m.id, m.searched, ""))
			if m.seesOld {
				shown = append(shown, hit("hr", m.id, m.searched, fmt.Sprintf(`,"_source":{"v":%d}`, m.searched)))
			}
		}
		if m.now > 0 {
			now = append(now, held("hr", m.id, m.now, ""))
		} else {
			now = append(now, gone("hr", m.id))
		}
	}
	out, err := d.read(answered(searched(shown...), searched(seen...)), got(now...))
	if behind := modelBehind(docs); behind != errors.Is(err, errUnequal) || err != nil && !behind {
		t.Fatalf("%+v: error %v; want unequal %v", docs, err, behind)
	}
	if err != nil {
		outcomes["unequal"]++
		return
	}
	for i, m := range docs {
		visible := m.now > 0 && m.seesNow
		if out.found[i] != visible || strings.Contains(string(out.docs[i]), fmt.Sprintf(`"v":%d`, m.now)) != visible {
			t.Fatalf("%+v: %s, found %v", m, out.docs[i], out.found[i])
		}
		if visible {
			outcomes["shown"]++
		} else {
			outcomes["missing"]++
		}
	}
}

func modelBehind(docs []modelDoc) bool {
	for _, m := range docs {
		if m.now > 0 && m.searched != m.now {
			return true
		}
	}
	return false
}

// TestReadFailedSearch holds that a search which fails costs its own items alone.
func TestReadFailedSearch(t *testing.T) {
	d := &docRead{items: []docItem{{name: "hr", index: "hr", id: "1", b: boundTo("hr")}, {name: "logs", index: "logs", id: "1", b: boundTo("logs")}}}
	closed := `{"error":{"type":"index_closed_exception","reason":"closed"},"status":400}`
	out, err := d.read(answered(closed, closed, searched(hit("logs", "1", 1, "")), searched(hit("logs", "1", 1, ""))),
		got(`{"_index":"hr","_id":"1","error":{"type":"index_closed_exception","reason":"closed"}}`, held("logs", "1", 1, "")))
	if err != nil {
		t.Fatal(err)
	}
	if out.failed[0] == nil || out.failed[1] != nil || !out.found[1] {
		t.Errorf("failed %v, found %v; want the first item alone to fail", out.failed, out.found)
	}
	want := `{"_index":"hr","_id":"1","error":{"root_cause":[{"type":"index_closed_exception","reason":"closed"}],"type":"index_closed_exception","reason":"closed"}}`
	if string(out.docs[0]) != want {
		t.Errorf("document %s; want %s", out.docs[0], want)
	}
}
