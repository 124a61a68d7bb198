package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"guard/authz"
	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/mapping"
)

// worldWith is a snapshot of indices under one role, which every user called u has.
// role is the indented body of that role.
func worldWith(t testing.TB, role string, indices []indexresolver.Index, streams ...indexresolver.DataStream) *Snapshot {
	t.Helper()
	return worldBy(t, config.EvaluationLegacy, role, indices, streams...)
}

// worldBy is worldWith by the rules of one evaluator.
func worldBy(t testing.TB, by config.Evaluation, role string, indices []indexresolver.Index, streams ...indexresolver.DataStream) *Snapshot {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"action_groups.yml", "config.yml", "tenants.yml", "internal_users.yml"} {
		text, err := os.ReadFile(filepath.Join("testdata/security", name)) //nolint:gosec // G304: a constant list
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), strings.Replace(string(text), "  dynamic:\n", "  dynamic:\n    privileges_evaluation_type: "+string(by)+"\n", 1))
	}
	writeFile(t, filepath.Join(dir, "roles.yml"), "_meta: {type: roles, config_version: 2}\nu:\n"+role)
	writeFile(t, filepath.Join(dir, "roles_mapping.yml"), "_meta: {type: rolesmapping, config_version: 2}\nu: {users: [u]}\n")
	policy := policyOf(t, readSecurity(t, dir), 512)
	state, err := indexresolver.New(indexresolver.Contents{
		ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: recordedAt, Indices: indices, DataStreams: streams,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewSnapshot(1, policy, state)
}

// readSecurity reads a security folder without a fault.
func readSecurity(t testing.TB, dir string) *config.Security {
	t.Helper()
	folder, err := config.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	sec, _, err := config.ParseSecurity(folder, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sec
}

// policyOf compiles sec for a cluster that takes request lines of so many bytes.
func policyOf(t testing.TB, sec *config.Security, maxURI int) *Policy {
	t.Helper()
	compiled, _, err := authz.Compile(sec, config.Policy{RolesMappingResolution: config.MappingOnly})
	if err != nil {
		t.Fatal(err)
	}
	policy, _, err := NewPolicy(compiled, Settings{MaxUpstreamURI: maxURI, MaxDepth: 64, MaxStateAge: time.Minute, MaxKept: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// planFor plans a request of u, whose names are as fresh as can be.
func planFor(t *testing.T, s *Snapshot, method, target, body string) Outcome {
	t.Helper()
	return s.Plan(s.Principal(ask.Identity{Name: "u"}), requestFor(t, method, target, body), Known{Fresh: true})
}

func requestFor(t *testing.T, method, target, body string) *ask.Request {
	t.Helper()
	kind := "application/json"
	if strings.Contains(target, "_bulk") || strings.Contains(target, "_msearch") {
		kind = "application/x-ndjson"
	}
	return newRequest(t, method, target, kind, []byte(body))
}

// gist is an outcome in one line: what is sent, or why not.
func gist(t *testing.T, out Outcome) string {
	t.Helper()
	lines := show(t, out, nil)
	if out.Kind == Forward {
		lines = lines[1:]
	}
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "= ")
	}
	return strings.Join(lines, " | ")
}

func parsed(t testing.TB, text string) esjson.Value {
	t.Helper()
	v, err := esjson.Parse(new(esjson.Tape), []byte(text), answerLimits())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mappingFrom(t testing.TB, text string) *mapping.Mapping {
	t.Helper()
	m, err := mapping.Parse(parsed(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// staff are the indices of the tests: hr with two aliases, of which one has a filter,
// and some logs.
func staff() []indexresolver.Index {
	logs := func(name string, aliases ...indexresolver.Membership) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(`{"properties":{"msg":{"type":"text"},"level":{"type":"keyword"}}}`), Aliases: aliases}
	}
	return []indexresolver.Index{
		{Name: "hr", Mapping: []byte(staffMapping), Aliases: []indexresolver.Membership{{Alias: "staff"}, {Alias: "eng", Filter: []byte(`{"term":{"dept":"eng"}}`)}}},
		logs("logs-a-1", indexresolver.Membership{Alias: "logs-a"}), logs("logs-a-2", indexresolver.Membership{Alias: "logs-a"}),
		logs("logs-b-1"), {Name: "secret", Mapping: []byte(`{"properties":{"x":{"type":"keyword"}}}`)},
	}
}
