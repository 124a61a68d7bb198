package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"guard/test/oracle/answer"
	"guard/test/testbed"
)

// CaseFile is one part of the measured cases: a world, who asks, and what the plugin
// of two versions answered to each request.
type CaseFile struct {
	Groups []CaseGroup
	World  []CaseStep
	Roles  map[string]any
	Users  map[string]CaseUser
	Cases  []Case
}

// A CaseGroup is the cases that run one after the other under one configuration, in
// a world of their own. A case belongs to the first group that its id matches.
type CaseGroup struct {
	Name  string
	Cases *Pattern
	// Modes are the ways in which the policy is run: "" says nothing of it, L has the
	// default flags, Ld do_not_fail_on_forbidden, Le do_not_fail_on_forbidden_empty as well.
	Modes    []string
	Settings string // of guard.yml
	// Skip says why guard can't run these at all.
	Skip string
}

// A CaseStep makes a piece of the world.
type CaseStep struct{ Send, Body string }

// CaseUser is an account; its roles are given by their names.
type CaseUser struct {
	Roles        []string       `yaml:"roles"`
	Attributes   map[string]any `yaml:"attributes"`
	BackendRoles []string       `yaml:"backend_roles"`
}

// A Case is one request with the measured answers.
type Case struct {
	ID, As, Send, Body string
	Headers            map[string]string
	Want               []CaseAnswer
}

// CaseAnswer is what the plugin answered, in the notation of Short.
type CaseAnswer struct {
	In []string // "2.19.4", or "2.19.4 Ld" with the mode
	Is string
}

// ReadCases reads one part.
func ReadCases(path string) (*CaseFile, error) {
	f := &CaseFile{}
	if err := readStrict(path, f); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range f.Cases {
		if seen[c.ID] {
			return nil, fmt.Errorf("%s: two cases are called %s", path, c.ID)
		}
		seen[c.ID] = true
	}
	return f, nil
}

func readStrict(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the cases: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	return nil
}

// Group returns the group that a case belongs to; nil if there is none.
func (f *CaseFile) Group(id string) *CaseGroup {
	i := slices.IndexFunc(f.Groups, func(g CaseGroup) bool { return g.Cases.MatchString(id) })
	if i < 0 {
		return nil
	}
	return &f.Groups[i]
}

// Load makes the world in an empty cluster.
func (f *CaseFile) Load(c testbed.Client) error {
	for _, s := range f.World {
		method, path, _ := strings.Cut(s.Send, " ")
		if err := send(c, method, path, s.Body); err != nil {
			return err
		}
	}
	return nil
}

// Security returns the policy as the files of a security folder.
func (f *CaseFile) Security(mode string) (map[string]string, error) {
	users, mapping := map[string]any{}, map[string]map[string]any{}
	for name, u := range f.Users {
		users[name] = map[string]any{"hash": passwordHash, "attributes": u.Attributes, "backend_roles": u.BackendRoles}
		for _, role := range u.Roles {
			if mapping[role] == nil {
				mapping[role] = map[string]any{"users": []string{}}
			}
			list, _ := mapping[role]["users"].([]string)
			mapping[role]["users"] = append(list, name)
		}
	}
	mapped := map[string]any{}
	for role, m := range mapping {
		mapped[role] = m
	}
	dynamic := map[string]any{
		"do_not_fail_on_forbidden": mode == "Ld" || mode == "Le", "do_not_fail_on_forbidden_empty": mode == "Le",
		"authc": map[string]any{"basic": map[string]any{
			"order": 0, "http_authenticator": map[string]any{"type": "basic", "challenge": true},
			"authentication_backend": map[string]any{"type": "internal"},
		}},
	}
	files := map[string]string{}
	for _, s := range []struct {
		name, kind string
		entries    map[string]any
	}{
		{"config.yml", "config", map[string]any{"config": map[string]any{"dynamic": dynamic}}},
		{"roles.yml", "roles", f.Roles},
		{"roles_mapping.yml", "rolesmapping", mapped},
		{"internal_users.yml", "internalusers", users},
	} {
		all := map[string]any{"_meta": map[string]any{"type": s.kind, "config_version": 2}}
		for name, e := range s.entries {
			all[name] = e
		}
		text, err := json.Marshal(all)
		if err != nil {
			return nil, fmt.Errorf("cannot write %s: %w", s.name, err)
		}
		files[s.name] = string(text)
	}
	return files, nil
}

// Wanted returns what a version answered in a mode; empty if that was not measured.
func (c *Case) Wanted(version, mode string) string {
	for _, w := range c.Want {
		if slices.Contains(w.In, version) || mode != "" && slices.Contains(w.In, version+" "+mode) {
			return w.Is
		}
	}
	return ""
}

// Cut reports whether a measured answer was too long to be kept whole.
func Cut(is string) bool { return strings.HasSuffix(is, "…") }

// asWritten is an error without its JSON: its type and its reason.
var asWritten = regexp.MustCompile(`^([a-z_]+_exception): (.*)$`)

// Measured reads a measured answer: its status, and the canonical form of the rest.
// Of an answer that was cut the form is nil.
func Measured(send, is string) (int, any, error) {
	code, rest, _ := strings.Cut(is, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read %q: want a status before the answer: %w", is, err)
	}
	if reason, ok := strings.CutPrefix(rest, "SEC "); ok {
		return status, map[string]any{"error": []any{"security_exception", reason}}, nil
	}
	if m := asWritten.FindStringSubmatch(rest); m != nil {
		return status, map[string]any{"error": []any{m[1], m[2]}}, nil
	}
	if rest == "(empty body)" || rest == "" {
		return status, map[string]any{}, nil
	}
	if Cut(rest) {
		return status, nil, nil
	}
	var m map[string]any
	if json.Unmarshal([]byte(rest), &m) == nil {
		return status, measured(formOf(send), status, m, []byte(rest)), nil
	}
	return status, answer.Canonical(formOf(send), status, []byte(strings.ReplaceAll(rest, "⏎", "\n"))), nil
}

func formOf(send string) answer.Form {
	_, path, _ := strings.Cut(send, " ")
	return answer.FormOf(path)
}

// measured is the canonical form of an answer whose searches are written in short.
func measured(form answer.Form, status int, m map[string]any, text []byte) any {
	if _, ok := m["hits"].([]any); ok && m["error"] == nil {
		return answer.Sorted(measuredSearch(m))
	}
	if form != answer.MultiSearch || m["responses"] == nil {
		return answer.Canonical(form, status, text)
	}
	out := map[string]any{}
	list, _ := m["responses"].([]any)
	for i, r := range list {
		slot, _ := r.(map[string]any)
		if slot["error"] == nil {
			out[strconv.Itoa(i)] = measuredSearch(slot)
			continue
		}
		one, err := json.Marshal(slot)
		if err != nil {
			panic(fmt.Sprintf("BUG: JSON that was read can't be written: %v", err))
		}
		out[strconv.Itoa(i)] = answer.Canonical(answer.Search, 400, one)
	}
	return answer.Sorted(map[string]any{"responses": out})
}

// measuredSearch names each hit, with what the measurement kept of it.
func measuredSearch(m map[string]any) map[string]any {
	out := map[string]any{"total": m["total"]}
	if a, ok := m["aggregations"]; ok {
		out["aggregations"] = a
	}
	hits := map[string]any{}
	list, _ := m["hits"].([]any)
	for _, h := range list {
		switch h := h.(type) {
		case string:
			hits[h] = nil
		case map[string]any:
			for id, shown := range h {
				hits[id] = shown
			}
		}
	}
	out["hits"] = hits
	return out
}

var (
	ownID   = regexp.MustCompile(`^(\.ds-.*/)[\w-]{20}$`)
	theUser = regexp.MustCompile(`User \[name=[^]]*\], requestedTenant=null\]`)
)

// Anonymous puts USER for the user whom the reason of a refusal names.
func Anonymous(v any) any {
	switch v := v.(type) {
	case string:
		return theUser.ReplaceAllString(v, "USER")
	case []any:
		for i := range v {
			v[i] = Anonymous(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = Anonymous(v[key])
		}
	}
	return v
}

// Alike brings guard's answer to what a measurement keeps: ids that clusters make,
// the hits of which only the ids are known, and whatever the measurement left out.
func Alike(got, want any) any {
	if want == "…" || want == "ID" {
		return want
	}
	switch w := want.(type) {
	case nil:
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return got
		}
		out := make([]any, len(g))
		for i := range g {
			out[i] = Alike(g[i], w[i])
		}
		return out
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		return alikeMembers(g, w)
	}
	return got
}

func alikeMembers(g, w map[string]any) any {
	out := map[string]any{}
	for key, v := range g {
		if key == "status" && w["error"] != nil && w[key] == nil {
			continue // of a slot that failed the measurement has no status beside its error
		}
		name := key
		if m := ownID.FindStringSubmatch(key); m != nil {
			name = m[1] + "ID"
		}
		wanted, ok := w[name]
		if !ok {
			if key == "status" {
				continue
			}
			out[name] = Comparable(v)
			continue
		}
		out[name] = Alike(Comparable(v), wanted)
	}
	return out
}

// CaseDeviation is a reason why guard answers other than the plugin, with the cases
// and what guard answers to each. A key is the id of a case, or more closely
// "A22f 3.4.0" or "A22f 3.4.0 Ld".
type CaseDeviation struct {
	Why   string
	Cases map[string]string
}

// ReadCaseDeviations reads the list of them. No case stands in it twice.
func ReadCaseDeviations(path string) ([]CaseDeviation, error) {
	var list []CaseDeviation
	if err := readStrict(path, &list); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, d := range list {
		if d.Why == "" {
			return nil, fmt.Errorf("%s: a deviation has no reason: %v", path, d.Cases)
		}
		for id := range d.Cases {
			if seen[id] {
				return nil, fmt.Errorf("%s: %s is listed twice", path, id)
			}
			seen[id] = true
		}
	}
	return list, nil
}

// ListedAnswer returns what guard is listed to answer to a case, under which key.
func ListedAnswer(list []CaseDeviation, id, version, mode string) (key, is string) {
	for _, key := range []string{id + " " + version + " " + mode, id + " " + version, id} {
		for _, d := range list {
			if is, ok := d.Cases[key]; ok {
				return key, is
			}
		}
	}
	return "", ""
}
