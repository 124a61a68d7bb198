package naive_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"guard/internal/names"
	"guard/test/naive"
	"guard/test/naive/worlds"
	"guard/test/resolution"
)

// verdicts is the table of verdicts that were measured on the plugin.
type verdicts struct {
	Groups map[string]struct {
		Allowed []string `yaml:"allowed_actions"`
	} `yaml:"action_groups"`
	Worlds map[string]struct {
		Indices, Unseen, Filtered []string
		Aliases, Streams          map[string][]string
	}
	Roles map[string]struct {
		Cluster []string `yaml:"cluster_permissions"`
		Entries []struct {
			Patterns []string `yaml:"index_patterns"`
			Actions  []string `yaml:"allowed_actions"`
		} `yaml:"index_permissions"`
	}
	Ask   map[string][]string
	Cases []struct {
		ID, As, Ask, On, Note  string
		Lenient, Single, Fixed bool
		L                      any `yaml:"L"`
		Ld                     any `yaml:"Ld"`
		Le                     any `yaml:"Le"`
		V4                     any `yaml:"v4"`
	}
}

// elsewhere are cases of the table whose world has simpler rules for wildcards.
var elsewhere = []string{
	"X22", // a wildcard that begins with a dot finds hidden names that do
}

// TestVerdicts holds both evaluators to the measured verdicts.
func TestVerdicts(t *testing.T) {
	text, err := os.ReadFile("../../authz/testdata/verdicts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var v verdicts
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, c := range v.Cases {
		for mode, want := range map[string]any{"L": c.L, "Ld": c.Ld, "Le": c.Le, "v4": c.V4} {
			if want == nil || slices.Contains(elsewhere, c.ID) {
				continue
			}
			checked++
			question := v.question(i, mode)
			if diff := worlds.Differ(question); diff != "" {
				t.Errorf("%s %s: %s", c.ID, mode, diff)
			}
			checkVerdict(t, c.ID+" "+mode, question, want)
		}
	}
	if checked < 400 {
		t.Errorf("only %d verdicts were checked", checked)
	}
}

// checkVerdict compares with "deny", "any" or a list of names, which say behind "by" which
// aliases bind them. Where everything was asked, only the indices behind them count: the
// table's world means names by that, and a cluster indices.
func checkVerdict(t *testing.T, id string, c naive.Case, want any) {
	t.Helper()
	got := naive.Evaluate(c)
	list, some := want.([]any)
	if got.Allow != (want != "deny") {
		t.Errorf("%s: allowed: %v; want %v", id, got.Allow, want)
	}
	if !some {
		return
	}
	wanted := []string{}
	for _, item := range list {
		name, by, bound := strings.Cut(item.(string), " by ")
		wanted = append(wanted, name)
		if bound && len(got.Bound[name].Filters) != len(strings.Split(by, ",")) {
			t.Errorf("%s: %s is bound by %v; want the filters of %s", id, name, got.Bound[name], by)
		}
	}
	have := got.Names
	if len(wanted) > 0 && (c.Ask.Exprs == nil || slices.Equal(c.Ask.Exprs, []string{"*"})) {
		found, _ := naive.Searched(c.World, naive.Ask{Exprs: wanted, Opts: names.Options{Expand: names.ExpandOpen}})
		wanted, have = nil, nil
		for name := range found {
			wanted = append(wanted, name)
		}
		for name := range got.Bound {
			have = append(have, name)
		}
	}
	slices.Sort(wanted)
	slices.Sort(have)
	if !slices.Equal(wanted, have) {
		t.Errorf("%s: names %v; want %v", id, have, wanted)
	}
}

// question makes case i of the table by one of the ways to configure the rules.
func (v *verdicts) question(i int, mode string) naive.Case {
	c := &v.Cases[i]
	q := naive.Case{Who: naive.Who{Name: c.As, OwnRoles: []string{c.As}}}
	q.Policy = naive.Policy{V4: mode == "v4", Reduces: mode != "L", ReducesToNil: mode == "Le", Groups: map[string][]string{}, Roles: map[string]naive.Role{}}
	for name, g := range v.Groups {
		q.Policy.Groups[name] = g.Allowed
	}
	for name, r := range v.Roles {
		role := naive.Role{Cluster: r.Cluster}
		for _, e := range r.Entries {
			role.Entries = append(role.Entries, naive.Entry{Patterns: e.Patterns, Actions: e.Actions})
		}
		q.Policy.Roles[name] = role
	}
	in, ok := v.Worlds[c.ID[:1]]
	if !ok {
		in = v.Worlds["A"]
	}
	for _, name := range in.Indices {
		x := naive.Index{Name: name, Hidden: slices.Contains(in.Unseen, name)}
		for alias, members := range in.Aliases {
			if slices.Contains(members, name) {
				a := naive.Alias{Name: alias}
				if slices.Contains(in.Filtered, alias) {
					a.Filter = `{"term":{"c":"` + alias + `"}}`
				}
				x.Aliases = append(x.Aliases, a)
			}
		}
		q.World.Indices = append(q.World.Indices, x)
	}
	for name, members := range in.Streams {
		q.World.Streams = append(q.World.Streams, naive.Stream{Name: name, Indices: members})
	}
	q.Ask = naive.Ask{
		Single: c.Single, Fixed: c.Fixed, Now: worlds.Noon,
		Opts: names.Options{Expand: names.ExpandOpen, AllowNoIndices: true, IgnoreUnavailable: c.Lenient},
	}
	for _, action := range v.Ask[c.Ask] {
		missing, isMissing := strings.CutPrefix(action, "missing:")
		onCluster, isCluster := strings.CutPrefix(missing, "cluster:")
		if isCluster && !strings.HasPrefix(onCluster, "indices:") && !strings.HasPrefix(onCluster, "cluster:") {
			onCluster = "cluster:" + onCluster
		}
		q.Ask.Privileges = append(q.Ask.Privileges, naive.Privilege{Action: onCluster, Cluster: isCluster, IfMissing: isMissing})
	}
	if c.On != "" && c.On != "none" {
		q.Ask.Exprs = strings.Split(c.On, ",")
	}
	return q
}

// measuredWorld is the cluster on which the table of the resolver was measured.
func measuredWorld() naive.World {
	in := func(aliases ...string) (list []naive.Alias) {
		for _, a := range aliases {
			list = append(list, naive.Alias{Name: a, Hidden: a == "alhid" || a == ".aldothid"})
		}
		return list
	}
	return naive.World{
		Indices: []naive.Index{
			{Name: "a1", Aliases: append(in("al", "almix", "alhid", "alw"), naive.Alias{Name: "alf", Filter: `{"term":{"k":"none"}}`, Routing: "1"})},
			{Name: "a2", Aliases: in("al", "alw")},
			{Name: "a3", Closed: true, Aliases: in("alclosed", "almix")},
			{Name: "b1", Aliases: in(".aldot", "zal", ".aldothid")},
			{Name: "hid", Hidden: true, Aliases: in("althid")},
			{Name: ".dot"}, {Name: ".dothid", Hidden: true},
			{Name: "x+y"}, {Name: "c-1"}, {Name: "sys"},
			{Name: ".ds-ds1-000001", Hidden: true}, {Name: ".ds-ds1-000002", Hidden: true}, {Name: ".ds-ds2-000001", Hidden: true}, {Name: ".ds-hds-000001", Hidden: true},
		},
		Streams: []naive.Stream{
			{Name: "ds1", Indices: []string{".ds-ds1-000001", ".ds-ds1-000002"}},
			{Name: "ds2", Indices: []string{".ds-ds2-000001"}},
			{Name: "hds", Indices: []string{".ds-hds-000001"}},
		},
	}
}

// TestSearchedAsMeasured holds the plain evaluator to what a real cluster searched, where
// that answered with documents. The filter of alf matches none.
func TestSearchedAsMeasured(t *testing.T) {
	text, err := os.ReadFile("../../indexresolver/testdata/search.tsv")
	if err != nil {
		t.Fatal(err)
	}
	w, checked := measuredWorld(), 0
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || strings.Contains(parts[0], ":") || strings.Contains(parts[2], " ") {
			continue // a comment, a remote name, an error
		}
		opts, err := resolution.Options(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		a := naive.Ask{Opts: opts, Now: time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)}
		for _, e := range names.Split(parts[0]) {
			a.Exprs = append(a.Exprs, string(e))
		}
		found, ok := naive.Searched(w, a)
		var list []string
		for _, x := range w.Indices {
			if bound, reached := found[x.Name]; reached && !x.Closed && len(bound.Filters) == 0 {
				list = append(list, x.Name)
			}
		}
		slices.Sort(list)
		if got := strings.Join(list, ","); !ok || got != parts[2] {
			t.Errorf("%q with %q searches %s; the cluster searched %s", parts[0], parts[1], got, parts[2])
		}
		checked++
	}
	if checked < 100 {
		t.Errorf("only %d searches were checked", checked)
	}
}

// TestCases repeats questions on which the evaluators once differed.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // G304: from the pattern above
		if err != nil {
			t.Fatal(err)
		}
		c, err := worlds.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if diff := worlds.Differ(c); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
