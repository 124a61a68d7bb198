package authz

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// noon is the time of all tests.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// world is a small cluster with a resolver that is as simple as it can be.
type world struct {
	Indices  []string            `yaml:"indices"`
	Unseen   []string            `yaml:"unseen"` // not found by wildcards: hidden or closed
	AliasMap map[string][]string `yaml:"aliases"`
	Filtered []string            `yaml:"filtered"`
	Streams  map[string][]string `yaml:"streams"`
}

var _ Cluster = (*world)(nil)

func (w *world) Aliases(name string) []string {
	var out []string
	for alias, members := range w.AliasMap {
		if slices.Contains(members, name) {
			out = append(out, alias)
		}
	}
	return out
}

func (w *world) Stream(index string) string {
	for stream, members := range w.Streams {
		if slices.Contains(members, index) {
			return stream
		}
	}
	return ""
}

func (w *world) target(name string, wildcard bool) ask.Target {
	t := ask.Target{Name: name, Wildcard: wildcard}
	switch {
	case slices.Contains(w.Indices, name):
		t.Kind, t.Members = ask.Index, []string{name}
	case w.AliasMap[name] != nil:
		t.Kind, t.Members = ask.Alias, slices.Sorted(slices.Values(w.AliasMap[name]))
		t.Filtered = slices.Contains(w.Filtered, name)
	case w.Streams[name] != nil:
		t.Kind, t.Members = ask.DataStream, slices.Sorted(slices.Values(w.Streams[name]))
	}
	return t
}

// all returns the names that "*" finds.
func (w *world) all() []string {
	list := slices.Concat(w.Indices, slices.Collect(maps.Keys(w.AliasMap)), slices.Collect(maps.Keys(w.Streams)))
	return slices.DeleteFunc(list, func(s string) bool { return slices.Contains(w.Unseen, s) })
}

// resolve reads expressions: wildcards over open names, exclusions behind a
// wildcard, everything else by its name.
func (w *world) resolve(exprs []names.Expr) ask.Resolved {
	res := ask.Resolved{All: len(exprs) == 0 || len(exprs) == 1 && (exprs[0] == "*" || exprs[0] == "_all")}
	if res.All {
		exprs = []names.Expr{"*"}
	}
	found := make(map[string]ask.Target)
	wild := false
	for _, e := range exprs {
		text := string(e)
		drop := wild && strings.HasPrefix(text, "-")
		pattern := names.MustParsePattern(strings.TrimPrefix(text, map[bool]string{true: "-"}[drop]))
		switch {
		case drop:
			maps.DeleteFunc(found, func(name string, _ ask.Target) bool { return pattern.Match(name) })
		case strings.Contains(text, "*"):
			wild = true
			for _, name := range w.all() {
				if _, ok := found[name]; !ok && pattern.Match(name) {
					found[name] = w.target(name, true)
				}
			}
		default:
			found[text] = w.target(text, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if t := found[name]; t.Kind == ask.Missing {
			res.Unknown = append(res.Unknown, name)
		} else {
			res.Targets = append(res.Targets, t)
		}
	}
	return res
}

// securityYAML is the part of a security folder that tests write in one file.
type securityYAML struct {
	Groups   map[string]config.ActionGroup `yaml:"action_groups"`
	Roles    map[string]config.Role        `yaml:"roles"`
	Mappings map[string]config.Mapping     `yaml:"mappings"`
}

func (s *securityYAML) security() *config.Security {
	sec := &config.Security{Roles: s.Roles, Mappings: s.Mappings, ActionGroups: s.Groups}
	sec.Dynamic.SetDefaults()
	return sec
}

// readYAML decodes a file of testdata strictly.
func readYAML(t testing.TB, name string, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("cannot read %s: %v", name, err)
	}
}

// parseSecurity reads roles and the like from text.
func parseSecurity(t testing.TB, text string) *config.Security {
	t.Helper()
	var s securityYAML
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil {
		t.Fatalf("cannot read the test's policy: %v", err)
	}
	return s.security()
}

// compile makes a policy; options change the dynamic part and the settings.
func compile(t testing.TB, sec *config.Security, set config.Policy) *Policy {
	t.Helper()
	p, _, err := Compile(sec, set)
	if err != nil {
		t.Fatalf("cannot compile: %v", err)
	}
	return p
}

// as returns a principal with the given roles.
func as(name string, roles ...string) *ask.Principal {
	return &ask.Principal{Identity: ask.Identity{Name: name}, Roles: roles}
}

// on makes privileges on names.
func on(actions ...string) []ask.Privilege {
	var list []ask.Privilege
	for _, a := range actions {
		list = append(list, privilege(a))
	}
	return list
}

// privilege reads "cluster:ACTION", "missing:ACTION" or "ACTION".
func privilege(text string) ask.Privilege {
	if action, ok := strings.CutPrefix(text, "missing:"); ok {
		return ask.Privilege{Action: action, When: ask.IndexMissing}
	}
	if action, ok := strings.CutPrefix(text, "cluster:indices:"); ok {
		return ask.Privilege{Action: "indices:" + action, Scope: ask.ScopeCluster}
	}
	if action, ok := strings.CutPrefix(text, "cluster:cluster:"); ok {
		return ask.Privilege{Action: "cluster:" + action, Scope: ask.ScopeCluster}
	}
	return ask.Privilege{Action: text}
}

// exprs splits a list of expressions at commas.
func exprs(text string) []names.Expr {
	if text == "" {
		return nil
	}
	var list []names.Expr
	for _, e := range strings.Split(text, ",") {
		list = append(list, names.Expr(e))
	}
	return list
}

// targetNames returns the names of targets, never nil, with the filtered aliases
// that bind them.
func targetNames(targets []ask.Target) []string {
	list := []string{}
	for _, t := range targets {
		name := t.Name
		if len(t.Via) > 0 {
			name += " by " + strings.Join(t.Via, ",")
		}
		list = append(list, name)
	}
	return list
}
