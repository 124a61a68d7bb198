package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/endpoint"
	"guard/indexresolver"
	"guard/internal/ask"
)

// fuzzRole grants a part of the names, two of them under rules.
const fuzzRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["logs-a*", "x*", staff], allowed_actions: ["*"]}
    - {index_patterns: [hr], dls: '{"term":{"dept":"hidden-value"}}', allowed_actions: ["*"]}
    - {index_patterns: [fielded], fls: ["~ssn"], allowed_actions: ["*"]}
`

func fuzzWorld() []indexresolver.Index {
	return append(staff(), indexresolver.Index{Name: "fielded", Mapping: []byte(staffMapping)},
		indexresolver.Index{Name: "foreign", Aliases: []indexresolver.Membership{{Alias: "theirs"}}})
}

// granted reports whether a name of fuzzWorld, or one that does not exist, is granted
// to fuzzRole.
func granted(name string) bool {
	return name == "hr" || name == "fielded" || strings.HasPrefix(name, "logs-a") || name == "staff" || name == "eng" ||
		strings.HasPrefix(name, "x")
}

var (
	fuzzNames = []string{
		"hr", "fielded", "logs-a-1", "logs-b-1", "secret", "foreign", "staff", "eng", "logs-a", "theirs", "xnew", "nosuch",
		"*", "_all", "logs-*", "x*", "s*", "f*", "h*,-hr", "logs-*,-logs-a-1", "hr,secret", "staff,eng", "-hr", "<x-{now/d}>", "other:x", "a,,b", "hr*", "e*,-eng",
	}
	fuzzBodies = []string{
		"", "{}", `{"query":{"match_all":{}}}`, `{"query":{"term":{"ssn":"1"}}}`, `{"query":{"terms":{"a":{"index":"secret","id":"1","path":"p"}}}}`,
		`{"size":0,"aggs":{"a":{"terms":{"field":"dept"}}}}`, `{"suggest":{"s":{"text":"a","term":{"field":"a"}}}}`, `{"docs":[{"_index":"hr","_id":"1"},{"_index":"secret","_id":"1"}]}`,
		`{"ids":["1","2"]}`, `{"actions":[{"add":{"index":"s*","alias":"x"}},{"add":{"indices":["logs-a*","-secret"],"alias":"xx"}}]}`,
		`{"actions":[{"remove_index":{"index":"x*"}}]}`, `{"doc":{"a":1}}`, `{"script":"x"}`, `{"settings":{},"aliases":{"theirs":{}}}`, `{"index":"secret"}`, `{"index_filter":{"term":{"ssn":"1"}}}`,
		"{}\n{}\n", "{\"index\":\"secret\"}\n{}\n{\"index\":[\"hr\",\"logs-*\"]}\n{\"query\":{\"match_all\":{}}}\n", "{\"index\":{\"_index\":\"secret\",\"_id\":\"1\"}}\n{}\n{\"create\":{\"_index\":\"hr\",\"_id\":\"1\"}}\n{}\n",
		`[]`, `{`, `{"a":1,"a":2}`, "null",
	}
	fuzzValues = []string{"", "true", "false", "1", "a", "ssn", "*", "json", "yaml", "none", "all", "open,closed", "create", "_none", "hits.hits._source", "cluster", "indices", "ssn:desc"}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// fittingBodies are bodies that an endpoint takes; others come from fuzzBodies.
var fittingBodies = map[endpoint.Body][]string{
	endpoint.SearchBody:    {"", "{}", fuzzBodies[2], fuzzBodies[3], fuzzBodies[5]},
	endpoint.CountBody:     {"", "{}", fuzzBodies[2], fuzzBodies[3]},
	endpoint.FieldCapsBody: {"", "{}", fuzzBodies[15]},
	endpoint.Document:      {"{}", `{"name":"x"}`},
	endpoint.UpdateBody:    {fuzzBodies[11], fuzzBodies[12]},
	endpoint.MgetBody:      {fuzzBodies[7], fuzzBodies[8]},
	endpoint.AliasesBody:   {fuzzBodies[9], fuzzBodies[10], `{"actions":[{"add":{"index":"logs-*","alias":"x"}}]}`, `{"actions":[{"remove":{"indices":["x*","logs-a*","-secret"],"alias":"logs-a"}}]}`},
	endpoint.AliasDetails:  {"", "{}", `{"routing":"1"}`},
	endpoint.CreateBody:    {"", "{}", fuzzBodies[13], `{"aliases":{"xs":{}}}`},
	endpoint.RolloverBody:  {"", "{}", `{"conditions":{"max_docs":1}}`, `{"aliases":{"xs":{}}}`},
	endpoint.RestoreBody:   {"", `{"include_aliases":false}`, `{"include_aliases":false,"indices":"xa","rename_pattern":"x","rename_replacement":"y"}`},
	endpoint.ResizeBody:    {"", "{}", `{"settings":{"index.blocks.write":null}}`, `{"aliases":{"xs":{}}}`},
	endpoint.SettingsBody:  {"{}", `{"index":{"refresh_interval":"5s"}}`, `{"settings":{"index.number_of_replicas":0}}`, `{"index.final_pipeline":null}`},
	endpoint.NDJSONMsearch: {fuzzBodies[16], fuzzBodies[17]},
	endpoint.NDJSONBulk:    {""},
}

// randomParam is a parameter that a row takes, mostly with a value that it takes.
func randomParam(r *rand.Rand, row *endpoint.Route) ask.Param {
	if len(row.Params) == 0 || r.IntN(12) == 0 {
		return ask.Param{Name: pick(r, []string{"unknown", "q", "pretty"}), HasValue: true}
	}
	p := row.Params[r.IntN(len(row.Params))]
	value := pick(r, fuzzValues)
	switch {
	case r.IntN(6) == 0:
	case p.Kind == endpoint.Flag, p.Kind == endpoint.Formatting, p.Kind == endpoint.AnswerForm:
		value = pick(r, fuzzValues[:3])
	case p.Name == "expand_wildcards":
		value = pick(r, []string{"open", "closed", "all", "none", "open,hidden"})
	case p.Kind == endpoint.IndexOption:
		value = pick(r, fuzzValues[1:3])
	case p.Kind == endpoint.IndexName:
		value = pick(r, fuzzNames)
	case p.Kind == endpoint.AnswerFormat:
		value = "json"
	}
	return ask.Param{Name: p.Name, Value: value, HasValue: value != "" || r.IntN(2) == 0}
}

// randomRequest is a request along a row of the catalogue: many are half right.
func randomRequest(r *rand.Rand, rows []endpoint.Route) *ask.Request {
	row := rows[r.IntN(len(rows))]
	for row.NotBuilt && r.IntN(1000) > 0 {
		row = rows[r.IntN(len(rows))]
	}
	q := &ask.Request{Method: pick(r, strings.Split(row.Methods, ",")), Now: recordedAt}
	var raw []string
	for s := range strings.SplitSeq(strings.TrimPrefix(pick(r, row.Paths), "/"), "/") {
		switch s {
		case "":
			continue
		case "{index}":
			s = pick(r, fuzzNames)
		case "{name}":
			s = pick(r, []string{"x", "eng", "staff", "*", "theirs", "logs-*", "secret"})
		case "{id}":
			s = pick(r, []string{"1", "a/b", "_doc", "é"})
		}
		q.Path = append(q.Path, s)
		raw = append(raw, url.PathEscape(s))
	}
	for range max(0, r.IntN(5)-2) {
		q.Params = append(q.Params, randomParam(r, &row))
	}
	q.RawTarget = "/" + strings.Join(raw, "/")
	switch fitting := fittingBodies[row.Body]; {
	case len(fitting) > 0 && r.IntN(5) > 0:
		q.Body = []byte(pick(r, fitting))
	case row.Body != endpoint.NoBody || r.IntN(10) == 0:
		q.Body = []byte(pick(r, fuzzBodies))
	}
	if len(q.Body) > 0 || row.Body == endpoint.NDJSONBulk {
		q.Header.ContentType = "application/json"
		if r.IntN(20) == 0 {
			q.Header.ContentType = pick(r, []string{"application/x-ndjson", "text/plain"})
		}
	}
	return q
}

// FuzzPlan states the laws of plans, for requests along the whole catalogue: Plan
// never panics; what is planned for somebody who is bound is never the client's own
// bytes; what is forwarded names only what was granted (law 3); a document rule is in
// every body that can reach its index; and the same request has the same plan.
func FuzzPlan(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	var worlds []*Snapshot
	f.Fuzz(func(t *testing.T, seed uint64) {
		if worlds == nil {
			worlds = []*Snapshot{worldWith(t, fuzzRole, fuzzWorld()), worldBy(t, config.EvaluationV4, fuzzRole, fuzzWorld())}
		}
		s := worlds[seed%2]
		who := s.Principal(ask.Identity{Name: "u"})
		rows := endpoint.Catalogue()
		r := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // G404: the fuzzer's own bytes
		for range 200 {
			q := randomRequest(r, rows)
			out := s.Plan(who, q, Known{Fresh: true})
			if err := lawful(&out, q); err != nil {
				t.Fatalf("%s %v %v %q: %v", q.Method, q.Path, q.Params, q.Body, err)
			}
			again := s.Plan(who, q, Known{Fresh: true})
			if again.Kind != out.Kind || again.Forward.Target != out.Forward.Target || string(again.Forward.Body) != string(out.Forward.Body) {
				t.Fatalf("%s %v: two plans of one request differ", q.Method, q.Path)
			}
			if _, err := s.Intake(who, q); err == nil && out.Kind == Reject && out.Route == "" {
				t.Fatalf("%s %v: the body is read and no route is known", q.Method, q.Path)
			}
		}
	})
}

// lawful returns which law an outcome breaks.
func lawful(out *Outcome, q *ask.Request) error {
	calls := slices.Clone(out.Needs)
	switch out.Kind {
	case Reject:
		if code := out.Rejection.Status.Code(); code < 400 || out.Rejection.Reason == ask.ReasonInternal {
			return fmt.Errorf("refused with %d %s: %w", code, out.Rejection.Public, out.Rejection.Cause)
		}
		return nil
	case Local:
		if len(out.Local.Body) > 0 && !json.Valid(out.Local.Body) {
			return fmt.Errorf("local answer %s is no JSON", out.Local.Body)
		}
		return nil
	case Forward:
		calls = append(calls, out.Forward.Call)
		if out.Forward.Lines != nil {
			return lawfulLines(out.Forward.Lines)
		}
	case Need:
		if out.NeedState {
			return fmt.Errorf("newer state is needed twice")
		}
	}
	for i := range calls {
		if err := lawfulCall(&calls[i], out); err != nil {
			return fmt.Errorf("%s %s %s: %w", calls[i].Method, calls[i].Target, calls[i].Body, err)
		}
	}
	return nil
}

func lawfulCall(c *Call, out *Outcome) error {
	if c.Source == ClientBody {
		return fmt.Errorf("the client's own bytes are forwarded")
	}
	if (c.Source == PlannedBody) != (out.Forward.Lines != nil) {
		return fmt.Errorf("source %d with lines %v", c.Source, out.Forward.Lines != nil)
	}
	target, query, _ := strings.Cut(c.Target, "?")
	for p := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(p, "="); name == "index" || name == "source" || name == "unknown" {
			return fmt.Errorf("parameter %s is forwarded", name)
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	list, err := url.PathUnescape(first)
	if err != nil {
		return err
	}
	if out.Route == "indices.resolve_index" || out.Route == "cluster.health" || out.Route == "cat.indices" {
		parts := strings.Split(target, "/")
		list = ""
		if len(parts) > 3 {
			if list, err = url.PathUnescape(parts[3]); err != nil {
				return err
			}
		}
	}
	if err := onlyGranted(list); err != nil {
		return err
	}
	switch out.Route {
	case "search", "count":
		return filtered(list, string(c.Body))
	case "msearch", "mget", "indices.update_aliases", "indices.put_alias", "indices.put_alias_unnamed":
		return namesNothingElse(string(c.Body))
	default:
		return nil
	}
}

// namesNothingElse returns which name of an index in a body is not granted.
func namesNothingElse(body string) error {
	for _, name := range []string{"secret", "foreign", "logs-b-1", "theirs"} {
		if strings.Contains(body, `"`+name+`"`) {
			return fmt.Errorf("name %q is not granted", name)
		}
	}
	return nil
}

// lawfulLines returns whether a bulk over granted and other names sends the others.
func lawfulLines(lines Lines) error {
	sent, err := feed(lines, "{\"index\":{\"_index\":\"secret\",\"_id\":\"1\"}}\n{}\n{\"create\":{\"_index\":\"hr\",\"_id\":\"1\"}}\n{}\n{\"delete\":{\"_index\":\"theirs\",\"_id\":\"1\"}}")
	if err == nil {
		err = namesNothingElse(string(sent))
	}
	return err
}

// onlyGranted returns which of the names in a list are not granted.
func onlyGranted(list string) error {
	if list == ".none*,-*" || strings.HasPrefix(list, "_") && list != "_all" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		switch {
		case name == "" || granted(name):
		case strings.HasPrefix(name, "-"): // takes something out
		default:
			return fmt.Errorf("name %q is not granted", name)
		}
	}
	return nil
}

// filtered returns whether a search that reaches hr lacks its rule.
func filtered(list, body string) error {
	for name := range strings.SplitSeq(list, ",") {
		if (name == "hr" || name == "staff" || name == "eng") && !strings.Contains(body, "hidden-value") {
			return fmt.Errorf("the rule of hr is not in the body")
		}
	}
	return nil
}

// TestUnrestrictedPasses holds that for somebody whom nothing binds every request
// passes as it is, whether the catalogue knows it or not.
func TestUnrestrictedPasses(t *testing.T) {
	snap, sec := planned(t)
	admin := snap.Principal(identityOf("admin", sec.Users["admin"]))
	r := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // G404: a test that repeats itself
	for range 2000 {
		q := randomRequest(r, endpoint.Catalogue())
		q.RawTarget += "?raw=" + fmt.Sprint(r.IntN(100))
		out := snap.Plan(admin, q, Known{})
		if out.Kind != Forward || out.Forward.Source != ClientBody || out.Forward.Target != q.RawTarget || out.Forward.Method != q.Method || out.Forward.Treat != nil && out.Route != endpoint.NodesInfo {
			t.Fatalf("%s %s: %+v; want it as it came", q.Method, q.RawTarget, out)
		}
		if in, err := snap.Intake(admin, q); in != IntakeStream || err != nil {
			t.Fatalf("%s %s: intake %d, %v; want it streamed", q.Method, q.RawTarget, in, err)
		}
	}
}

// TestPlansTogether holds that one snapshot serves many requests at once, and that its
// memo tables change no plan.
func TestPlansTogether(t *testing.T) {
	const workers, each = 4, 300
	s := worldWith(t, fuzzRole, fuzzWorld())
	plans := func(s *Snapshot, seed uint64) (list []string) {
		r := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // G404: a test that repeats itself
		for range each {
			out := s.Plan(s.Principal(ask.Identity{Name: "u"}), randomRequest(r, endpoint.Catalogue()), Known{Fresh: true})
			list = append(list, fmt.Sprint(out.Kind, out.Rejection.Public, out.Forward.Target, string(out.Forward.Body), out.Needs))
		}
		return list
	}
	got := make([][]string, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { got[i] = plans(s, uint64(i)) }) //nolint:gosec // G115: a small number
	}
	all.Wait()
	alone := worldWith(t, fuzzRole, fuzzWorld())
	for i := range workers {
		if diff := cmp.Diff(plans(alone, uint64(i)), got[i]); diff != "" { //nolint:gosec // G115: a small number
			t.Errorf("worker %d (-alone +together):\n%s", i, diff)
		}
	}
}
