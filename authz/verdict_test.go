package authz

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// verdictFile is testdata/verdicts.yml.
type verdictFile struct {
	securityYAML `yaml:",inline"`
	Worlds       map[string]*world   `yaml:"worlds"`
	Ask          map[string][]string `yaml:"ask"`
	Cases        []verdictCase       `yaml:"cases"`
}

type verdictCase struct {
	ID      string   `yaml:"id"`
	As      string   `yaml:"as"`
	Ask     string   `yaml:"ask"`
	On      string   `yaml:"on"`
	Lenient bool     `yaml:"lenient"` // ignore_unavailable
	Single  bool     `yaml:"single"`
	Fixed   bool     `yaml:"fixed"`
	Note    string   `yaml:"note"`
	L       *verdict `yaml:"L"`
	Ld      *verdict `yaml:"Ld"`
	Le      *verdict `yaml:"Le"`
	V4      *verdict `yaml:"v4"`
}

// verdict is "deny", "any" (allowed, whatever the names) or a list of names.
type verdict struct {
	word  string
	names []string
}

func (v *verdict) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&v.word)
	}
	v.names = []string{}
	return n.Decode(&v.names)
}

// modes are the four ways to configure the rules.
var modes = map[string]func(*config.Dynamic){
	"L":  func(*config.Dynamic) {},
	"Ld": func(d *config.Dynamic) { d.DoNotFailOnForbidden = true },
	"Le": func(d *config.Dynamic) { d.DoNotFailOnForbidden, d.DoNotFailOnForbiddenEmpty = true, true },
	"v4": func(d *config.Dynamic) { d.PrivilegesEvaluationType = config.EvaluationV4 },
}

func TestVerdicts(t *testing.T) {
	var file verdictFile
	readYAML(t, "verdicts.yml", &file)
	for mode, set := range modes {
		sec := file.security()
		set(&sec.Dynamic)
		policy := compile(t, sec, config.Policy{})
		for _, c := range file.Cases {
			want := map[string]*verdict{"L": c.L, "Ld": c.Ld, "Le": c.Le, "v4": c.V4}[mode]
			if want == nil {
				continue
			}
			t.Run(c.ID+"/"+mode, func(t *testing.T) { checkVerdict(t, &file, policy, c, want) })
		}
	}
}

func checkVerdict(t *testing.T, file *verdictFile, policy *Policy, c verdictCase, want *verdict) {
	t.Helper()
	w := file.Worlds[c.ID[:1]]
	if w == nil {
		w = file.Worlds["A"]
	}
	part := ask.Part{
		Privileges: on(file.Ask[c.Ask]...),
		Exprs:      exprs(c.On),
		Opts:       names.Options{Expand: names.ExpandOpen, AllowNoIndices: true, IgnoreUnavailable: c.Lenient},
		Single:     c.Single,
		Fixed:      c.Fixed,
	}
	if len(part.Privileges) == 0 {
		t.Fatalf("case asks %q, which the file does not list", c.Ask)
	}
	var res ask.Resolved
	if c.On != "none" {
		res = w.resolve(part.Exprs)
	}
	d := policy.Decide(as(c.As, c.As), w, part, res, noon)
	if want.word == "deny" {
		if d.Effect != Deny || d.Reason != ask.ReasonNoPrivilege {
			t.Fatalf("got %v %q with %v; want deny", d.Effect, d.Reason, targetNames(d.Allowed))
		}
		return
	}
	if d.Effect != Allow {
		t.Fatalf("denied; want %s%v", want.word, want.names)
	}
	if want.word == "any" {
		return
	}
	if diff := cmp.Diff(want.names, targetNames(d.Allowed)); diff != "" {
		t.Fatalf("allowed names (-want +got):\n%s", diff)
	}
}
