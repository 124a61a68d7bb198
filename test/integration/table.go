package integration

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"guard/test/testbed"
)

// A Case is one request of one user.
type Case struct {
	Name string
	As   string // user; "-" sends no credentials, "user:password" these
	Send string // method and path
	Body string
	// Before and After are sent to the node as its administrator: what the case needs,
	// and what takes its effect back.
	Before, After []string
	Not           []testbed.Kind // engines that lack what the case is about

	Want  string // the plugin's answer, as a summary
	DNFOF string // the same with do_not_fail_on_forbidden, if it differs
	Else  []Else
}

// Else is a listed deviation: who answers otherwise, and why.
type Else struct {
	Who  string // a kind of engine behind guard; "guard" for all of them
	Mode Mode   // empty: both
	Want string
	Why  string
}

// Mode is how the policy is run.
type Mode string

// The modes differ in do_not_fail_on_forbidden.
const (
	Strict Mode = "strict"
	DNFOF  Mode = "dnfof"
)

// Wanted returns the summary that a target has to give: guard before an engine, or
// the plugin if engine is empty.
func (c *Case) Wanted(engine testbed.Kind, mode Mode) string {
	for _, e := range c.Else {
		if engine != "" && (e.Who == string(engine) || e.Who == "guard") && (e.Mode == "" || e.Mode == mode) {
			return e.Want
		}
	}
	if mode == DNFOF && c.DNFOF != "" {
		return c.DNFOF
	}
	return c.Want
}

// Runs reports whether the case makes sense on the engine.
func (c *Case) Runs(kind testbed.Kind) bool { return !slices.Contains(c.Not, kind) }

// A Step is one request that makes the world.
type Step struct {
	Send, Body string
	Not        []testbed.Kind
}

// readYAML reads a file strictly.
func readYAML(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the table: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	return nil
}

// ReadCases reads the table. Each deviation in it has a reason.
func ReadCases(path string) ([]Case, error) {
	var cases []Case
	if err := readYAML(path, &cases); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.Name] {
			return nil, fmt.Errorf("%s: two cases are called %q", path, c.Name)
		}
		seen[c.Name] = true
	}
	return cases, nil
}

// ReadWorld reads the steps that make the world.
func ReadWorld(path string) ([]Step, error) {
	var steps []Step
	return steps, readYAML(path, &steps)
}

// dates puts real dates where the data has placeholders, and back.
type dates struct{ today, yesterday string }

func now() dates {
	t := time.Now().UTC()
	return dates{today: t.Format("2006.01.02"), yesterday: t.AddDate(0, 0, -1).Format("2006.01.02")}
}

func (d dates) in(s string) string {
	return strings.NewReplacer("{today}", d.today, "{yesterday}", d.yesterday).Replace(s)
}

func (d dates) out(s string) string {
	return strings.NewReplacer(d.today, "{today}", d.yesterday, "{yesterday}").Replace(s)
}

// Load makes the world on a node.
func Load(node *testbed.Node, kind testbed.Kind, steps []Step) error {
	d := now()
	for _, s := range steps {
		if slices.Contains(s.Not, kind) {
			continue
		}
		if err := Apply(node.Client, d.in(s.Send+" "+s.Body)); err != nil {
			return err
		}
	}
	return nil
}

// Apply sends "METHOD PATH BODY", which has to succeed.
func Apply(c testbed.Client, line string) error {
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	res, err := c.Do(method, path, body)
	if err != nil {
		return err
	}
	if res.Status >= 300 && (method != "DELETE" || res.Status != 404) || bytes.Contains(res.Body, []byte(`"errors":true`)) {
		return fmt.Errorf("%.200s: status %d: %.500s", line, res.Status, res.Body)
	}
	return nil
}

// Do sends the request of the case.
func (c *Case) Do(target testbed.Client, password string) (testbed.Response, error) {
	user, other, own := strings.Cut(c.As, ":")
	switch {
	case user == "-":
		user, password = "", ""
	case own:
		password = other
	}
	method, path, _ := strings.Cut(now().in(c.Send), " ")
	return target.As(user, password).Do(method, path, c.Body)
}

// Summary is what the answer shows, with placeholders for dates.
func (c *Case) Summary(res testbed.Response) string { return now().out(Summary(c.Send, res)) }

// Leaked returns those of the secrets that the answer shows and the request does not hold.
func (c *Case) Leaked(res testbed.Response, secrets []string) []string {
	return slices.DeleteFunc(contains(res, secrets), func(s string) bool { return strings.Contains(c.Send+c.Body, s) })
}

// ReadSecrets reads what no answer to a user may hold.
func ReadSecrets(path string, into *map[string][]string) error { return readYAML(path, into) }

// Opaque lists the requests whose answer shows that guard stands before the cluster.
type Opaque []struct{ Send, Why string }

// ReadOpaque reads the list. Send is a regular expression for method, path and body.
func ReadOpaque(path string) (Opaque, error) {
	var o Opaque
	if err := readYAML(path, &o); err != nil {
		return nil, err
	}
	for _, e := range o {
		if _, err := regexp.Compile(e.Send); err != nil || e.Why == "" {
			return nil, fmt.Errorf("%s: %q has no reason or is no pattern: %w", path, e.Send, err)
		}
	}
	return o, nil
}

// Explains reports whether the case is listed.
func (o Opaque) Explains(c Case) bool {
	for _, e := range o {
		if regexp.MustCompile(e.Send).MatchString(strings.TrimSpace(c.Send + " " + c.Body)) {
			return true
		}
	}
	return false
}
