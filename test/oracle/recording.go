package oracle

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"guard/test/oracle/answer"
)

// Recording is what a cluster with the security plugin answered to a set of requests,
// each sent as every user of a generated policy.
type Recording struct {
	Scenario Scenario
	// DNFOF tells that do_not_fail_on_forbidden was set.
	DNFOF bool

	Answers []Recorded
}

// Scenario is the cluster, the policy and the requests.
type Scenario struct {
	World    World
	Policies struct{ Groups, Roles, Mapping, Users map[string]json.RawMessage }
	Requests []Request
}

// World is what the cluster held.
type World struct {
	Indices   map[string]Index
	Streams   map[string][]map[string]json.RawMessage // backing indices in order: id to source
	Templates map[string]json.RawMessage
}

// Index is one index with its documents.
type Index struct {
	Settings, Mappings json.RawMessage
	Docs               map[string]json.RawMessage
	Aliases            json.RawMessage
	Closed             bool
}

// Request is one request, of one or more steps.
type Request struct {
	ID    int
	EP    string // kind of request
	RW    string // "r" or "w"
	Steps []Step
}

// Step is one HTTP request.
type Step struct {
	M, P string
	B    json.RawMessage
	ND   []json.RawMessage
}

// Writes reports whether the request may change something.
func (r Request) Writes() bool { return r.RW == "w" }

// Body returns the body as it was sent.
func (s Step) Body() string {
	if s.ND == nil {
		return string(s.B)
	}
	var b strings.Builder
	for _, line := range s.ND {
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Recorded is the answer to one request of one user.
type Recorded struct {
	R int
	U string
	S any // status; a list of them for several steps
	A any // canonical answer
	E any // effect of a write, if it had one
}

// Status returns the status of the first step.
func (r Recorded) Status() int {
	s := r.S
	if list, ok := s.([]any); ok {
		s = list[0]
	}
	n, _ := s.(float64)
	return int(n)
}

// Read reads a recording from a file.
func Read(file string) (*Recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot open the recording: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20) // the header holds the whole scenario
	rec := &Recording{}
	if !lines.Scan() {
		return nil, fmt.Errorf("cannot read %s: it is empty: %w", file, lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), rec); err != nil {
		return nil, fmt.Errorf("cannot read the header of %s: %w", file, err)
	}
	for lines.Scan() {
		var a Recorded
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", file, err)
		}
		rec.Answers = append(rec.Answers, a)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, err)
	}
	return rec, rec.resolve()
}

// resolve puts the earlier answer where a line says that it is the same.
func (rec *Recording) resolve() error {
	seen := map[string]any{}
	for i := range rec.Answers {
		a := &rec.Answers[i]
		if m, ok := a.A.(map[string]any); ok && m["="] != nil {
			earlier, ok := seen[fmt.Sprint(m["="])]
			if !ok {
				return fmt.Errorf("answer %d/%s refers to %v, which does not stand before it", a.R, a.U, m["="])
			}
			a.A = earlier
		} else {
			a.A = answer.Sorted(a.A)
		}
		seen[fmt.Sprintf("%d/%s", a.R, a.U)] = a.A
	}
	return nil
}

// Password is that of every recorded user, passwordHash its hash.
const (
	Password     = "Orac1e!pass-2026"
	passwordHash = "$2b$04$abcdefghijklmnopqrstuu.wC5ZXXj4XvEmzFj79lQ57tESOWGPIK"
)

// A role with a rule that reads another document, or with masks, has this in its text.
// Guard builds neither yet: it refuses the first at its start, the second per request.
const (
	Lookup = `\"index\":`
	Masks  = `"masked_fields"`
)

// Without takes the roles that hold text out of the policy and returns their users.
func (rec *Recording) Without(text string) map[string]bool {
	users := rec.HoldersOf(text)
	p := rec.Scenario.Policies
	maps.DeleteFunc(p.Roles, func(_ string, role json.RawMessage) bool { return strings.Contains(string(role), text) })
	maps.DeleteFunc(p.Mapping, func(name string, _ json.RawMessage) bool { return p.Roles[name] == nil })
	return users
}

// HoldersOf returns the users who have a role that holds text.
func (rec *Recording) HoldersOf(text string) map[string]bool {
	users := map[string]bool{}
	p := rec.Scenario.Policies
	for role, def := range p.Roles {
		if !strings.Contains(string(def), text) {
			continue
		}
		for name, u := range p.Users {
			if mapped(p.Mapping[role], name, u) || strings.Contains(string(u), strconv.Quote(role)) {
				users[name] = true
			}
		}
	}
	return users
}

// mapped reports whether a mapping gives its role to the user.
func mapped(mapping json.RawMessage, name string, user json.RawMessage) bool {
	var m struct {
		Users       []string
		Backend     []string `json:"backend_roles"`
		AndBackends []string `json:"and_backend_roles"`
	}
	var u struct {
		Backend []string `json:"backend_roles"`
	}
	if json.Unmarshal(mapping, &m) != nil || json.Unmarshal(user, &u) != nil {
		return false
	}
	has := func(pattern string) bool {
		return slices.ContainsFunc(u.Backend, func(role string) bool { ok, _ := path.Match(pattern, role); return ok })
	}
	return slices.Contains(m.Users, name) || slices.ContainsFunc(m.Backend, has) ||
		len(m.AndBackends) > 0 && !slices.ContainsFunc(m.AndBackends, func(p string) bool { return !has(p) })
}

// Security returns the recorded policy as files of a security folder.
func (rec *Recording) Security() (map[string]string, error) {
	p := rec.Scenario.Policies
	users := map[string]json.RawMessage{}
	for name, u := range p.Users {
		users[name] = json.RawMessage(strings.Replace(string(u), "{", fmt.Sprintf(`{"hash":%q,`, passwordHash), 1))
	}
	dynamic := fmt.Sprintf(`{"dynamic":{"do_not_fail_on_forbidden":%v,"authc":{"basic":{"order":0,`+
		`"http_authenticator":{"type":"basic","challenge":true},"authentication_backend":{"type":"internal"}}}}}`, rec.DNFOF)
	files := map[string]string{}
	for _, f := range []struct {
		name, kind string
		entries    map[string]json.RawMessage
	}{
		{"config.yml", "config", map[string]json.RawMessage{"config": json.RawMessage(dynamic)}},
		{"roles.yml", "roles", p.Roles},
		{"roles_mapping.yml", "rolesmapping", p.Mapping},
		{"internal_users.yml", "internalusers", users},
		{"action_groups.yml", "actiongroups", p.Groups},
		{"tenants.yml", "tenants", nil},
	} {
		all := map[string]any{"_meta": map[string]any{"type": f.kind, "config_version": 2}}
		for name, e := range f.entries {
			all[name] = e
		}
		text, err := json.Marshal(all)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", f.name, err)
		}
		files[f.name] = string(text)
	}
	return files, nil
}
