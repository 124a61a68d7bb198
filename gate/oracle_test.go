package gate

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
)

// The recordings hold what a real cluster with the OpenSearch Security plugin 2.19.4
// answered to 150 requests of 30 users, with and without do_not_fail_on_forbidden.
type recording struct {
	DNFOF    bool
	Scenario struct {
		World struct {
			Indices map[string]struct {
				Settings map[string]any
				Mappings json.RawMessage
				Aliases  map[string]struct {
					Filter json.RawMessage `json:"filter"`
				}
				Closed bool
			}
			Streams   map[string][]json.RawMessage
			Templates map[string]struct {
				Template struct{ Mappings json.RawMessage }
			}
		}
		Policies struct {
			Groups, Roles, Mapping, Users map[string]json.RawMessage
		}
		Requests []recordedRequest
	}
}

type recordedRequest struct {
	ID    int
	EP    string
	Steps []struct {
		M, P string
		B    json.RawMessage
		ND   []json.RawMessage
		As   string
	}
}

type recordedAnswer struct {
	R int
	U string
	S any
	A json.RawMessage
}

// status of the first step: later ones need answers of the earlier.
func (a recordedAnswer) status() int {
	if list, ok := a.S.([]any); ok {
		return int(list[0].(float64))
	}
	return int(a.S.(float64))
}

// recordedAt is the day of the recordings: date math depends on it.
var recordedAt = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func readRecording(t *testing.T, name string) (recording, []recordedAnswer) {
	t.Helper()
	f, err := os.Open("testdata/oracle/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	var rec recording
	var answers []recordedAnswer
	for lines.Scan() {
		if rec.Scenario.Requests == nil {
			err = json.Unmarshal(lines.Bytes(), &rec)
		} else {
			var a recordedAnswer
			err = json.Unmarshal(lines.Bytes(), &a)
			answers = append(answers, a)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil || len(answers) < 4000 {
		t.Fatalf("read %d answers, error %v", len(answers), err)
	}
	return rec, answers
}

// security writes the recorded entries as a folder and loads it as guard does.
func (rec recording) security(t *testing.T) *config.Security {
	t.Helper()
	dir := t.TempDir()
	write := func(file, kind string, entries map[string]json.RawMessage) {
		all := map[string]any{"_meta": map[string]any{"type": kind, "config_version": 2}}
		for name, e := range entries {
			all[name] = e
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := rec.Scenario.Policies
	users := map[string]json.RawMessage{}
	for name, u := range p.Users {
		users[name] = json.RawMessage(strings.Replace(string(u), "{", `{"hash":"$2b$04$abcdefghijklmnopqrstuu.wC5ZXXj4XvEmzFj79lQ57tESOWGPIK",`, 1))
	}
	dynamic := fmt.Sprintf(`{"dynamic":{"do_not_fail_on_forbidden":%v,"authc":{"basic":{"order":0,"http_authenticator":{"type":"basic","challenge":true},"authentication_backend":{"type":"internal"}}}}}`, rec.DNFOF)
	write("config.yml", "config", map[string]json.RawMessage{"config": json.RawMessage(dynamic)})
	write("roles.yml", "roles", p.Roles)
	write("roles_mapping.yml", "rolesmapping", p.Mapping)
	write("internal_users.yml", "internalusers", users)
	write("action_groups.yml", "actiongroups", p.Groups)
	write("tenants.yml", "tenants", nil)
	return readSecurity(t, dir)
}

// state is the recorded world as guard would have read it from the cluster.
func (rec recording) state(t *testing.T) *indexresolver.State {
	t.Helper()
	c := indexresolver.Contents{ClusterUUID: "recorded", StateUUID: "1", Version: 1, FetchedAt: recordedAt}
	for name, x := range rec.Scenario.World.Indices {
		index := indexresolver.Index{Name: name, UUID: name, Closed: x.Closed, Mapping: x.Mappings}
		index.Hidden, _ = x.Settings["index.hidden"].(bool)
		for alias, a := range x.Aliases {
			index.Aliases = append(index.Aliases, indexresolver.Membership{Alias: alias, Filter: a.Filter})
		}
		c.Indices = append(c.Indices, index)
	}
	for _, stream := range slices.Sorted(maps.Keys(rec.Scenario.World.Streams)) {
		ds := indexresolver.DataStream{Name: stream}
		for n := range rec.Scenario.World.Streams[stream] {
			name := fmt.Sprintf(".ds-%s-%06d", stream, n+1)
			c.Indices = append(c.Indices, indexresolver.Index{Name: name, UUID: name, Hidden: true, Mapping: rec.Scenario.World.Templates["or-ds"].Template.Mappings})
			ds.Indices = append(ds.Indices, name)
		}
		c.DataStreams = append(c.DataStreams, ds)
	}
	s, err := indexresolver.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (rec recording) snapshot(t *testing.T) (*Snapshot, *config.Security) {
	t.Helper()
	sec := rec.security(t)
	return NewSnapshot(1, policyOf(t, sec, 4096), rec.state(t)), sec
}

// request makes the first step of a recorded request.
func (r recordedRequest) request(t *testing.T) *ask.Request {
	t.Helper()
	step := r.Steps[0]
	body := []byte(step.B)
	contentType := "application/json"
	if step.ND != nil {
		contentType = "application/x-ndjson"
		for _, line := range step.ND {
			body = append(append(body, line...), '\n')
		}
	}
	return newRequest(t, step.M, step.P, contentType, body)
}

func newRequest(t *testing.T, method, target, contentType string, body []byte) *ask.Request {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	r := &ask.Request{Method: method, RawTarget: target, Now: recordedAt, Body: body}
	if len(body) > 0 {
		r.Header.ContentType = contentType
	}
	unescape := func(s string, f func(string) (string, error)) string {
		out, err := f(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for s := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		r.Path = append(r.Path, unescape(s, url.PathUnescape))
	}
	if len(r.Path) == 1 && r.Path[0] == "" {
		r.Path = nil
	}
	for p := range strings.SplitSeq(query, "&") {
		if p != "" {
			name, value, has := strings.Cut(p, "=")
			r.Params = append(r.Params, ask.Param{Name: unescape(name, url.QueryUnescape), Value: unescape(value, url.QueryUnescape), HasValue: has})
		}
	}
	return r
}

func identityOf(name string, u config.User) ask.Identity {
	id := ask.Identity{Name: name, BackendRoles: u.BackendRoles, SecurityRoles: u.SecurityRoles, Attributes: map[string]string{}}
	for k, v := range u.Attributes {
		id.Attributes["attr.internal."+k] = v
	}
	return id
}

// deviations are recorded requests whose verdict differs on purpose, with the reason
// that docs/compatibility.md gives. The plugin expands wildcards by options of its own
// (open and hidden indices, whatever the request says) and takes the wildcards of a
// list literally if one name in it does not exist; guard asks for the names that the
// request can reach.
var deviations = map[string]string{
	"POST /hid*/_refresh":                                ownOptions,
	"POST /*-2026.11.30/_search?expand_wildcards=closed": ownOptions,
	"GET /.ds-*/_search?size=300&expand_wildcards=none":  ownOptions,
	"POST /*/_search":                                    ownOptions,
	"GET /_all/_mapping":                                 ownOptions,
	"POST /a*,nosuch/_search":                            literalWildcards,
	"POST /a*,nosuch/_search?expand_wildcards=open,closed&ignore_unavailable=true":            literalWildcards,
	"POST /hid*/_delete_by_query?refresh=true&conflicts=proceed&expand_wildcards=open,hidden": askedBefore,
	"POST /a1,a2/_update_by_query?refresh=true&conflicts=proceed&ignore_unavailable=true":     askedBefore,
	"POST /a1,al-one,ds-app/_update_by_query?refresh=true&conflicts=proceed":                  askedBefore,
	"GET /_cluster/health/nosuch?timeout=1s&filter_path=status":                               "the health of an index is told to those who may monitor it",
}

const (
	ownOptions       = "wildcards are expanded by the options of the request"
	askedBefore      = "all that the work may need is asked before it begins"
	literalWildcards = "a name that does not exist changes nothing for the others"
)

// TestOracleVerdicts holds the verdicts against the recordings: who is refused there
// is refused here, who is answered there is answered here, but for what guard
// refuses by its own rules and says so.
func TestOracleVerdicts(t *testing.T) {
	for _, name := range []string{"os-2.19.4-seed21.jsonl.gz", "os-2.19.4-seed21-dnfof.jsonl.gz"} {
		t.Run(name, func(t *testing.T) { checkRecording(t, name) })
	}
}

func checkRecording(t *testing.T, name string) {
	rec, answers := readRecording(t, name)
	snap, sec := rec.snapshot(t)
	requests := map[int]recordedRequest{}
	for _, r := range rec.Scenario.Requests {
		requests[r.ID] = r
	}
	count := map[string]int{}
	shown := 0
	for _, a := range answers {
		req := requests[a.R]
		who := snap.Principal(identityOf(a.U, sec.Users[a.U]))
		out := snap.Plan(who, req.request(t), Known{Fresh: true})
		verdict := compare(out, a.status())
		if strings.HasPrefix(verdict, "WRONG") && deviations[req.Steps[0].M+" "+req.Steps[0].P] != "" {
			verdict = "deviation"
		}
		count[verdict]++
		if strings.HasPrefix(verdict, "WRONG") {
			if shown++; shown <= 40 {
				t.Errorf("%s: %s %s %s: recorded %d, got kind %d: %s (roles %v)", verdict, a.U, req.Steps[0].M, req.Steps[0].P, a.status(), out.Kind, out.Rejection.Public, who.Roles)
			}
		}
	}
	t.Logf("%s: %v", name, count)
	if count["same refused"] < 500 || count["same answered"] < 500 {
		t.Errorf("too few verdicts were compared: %v", count)
	}
}

// compare says how an outcome relates to the recorded status.
func compare(out Outcome, recorded int) string {
	refused := out.Kind == Reject
	switch {
	case !refused && recorded == 403:
		return "WRONG allowed"
	case !refused:
		return "same answered"
	case out.Rejection.Reason != ask.ReasonNoPrivilege:
		return "own refusal: " + string(out.Rejection.Reason)
	case recorded == 403, recorded == 500: // there a restricted update ends with 500
		return "same refused"
	default:
		return "WRONG refused"
	}
}
