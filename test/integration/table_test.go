package integration_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/integration"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

var update = flag.Bool("update", false, "write what the targets answer into the table")

// password is that of every account in testdata/security.
const password = "Orac1e!pass-2026"

const (
	casesFile = "testdata/cases.yml"
	worldFile = "testdata/world.yml"
)

// policy returns the files of the shared policy in a mode.
func policy(t *testing.T, mode integration.Mode) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := filepath.Glob("testdata/security/*.yml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no policy: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	if mode == integration.DNFOF {
		files["config.yml"] = strings.Replace(files["config.yml"], "do_not_fail_on_forbidden: false", "do_not_fail_on_forbidden: true", 1)
	}
	return files
}

// start starts a node of its own and loads the world; it ends with the test.
func start(t *testing.T, o testbed.Options) *testbed.Node {
	t.Helper()
	node := testbed.Own(t, o)
	steps, err := integration.ReadWorld(worldFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := integration.Load(node, o.Kind, steps); err != nil {
		t.Fatal(err)
	}
	return node
}

// TestTable runs the table on every target, one node at a time.
func TestTable(t *testing.T) {
	cases, err := integration.ReadCases(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	var secrets map[string][]string
	if err := integration.ReadSecrets("testdata/secrets.yml", &secrets); err != nil {
		t.Fatal(err)
	}
	r := &run{cases: cases, secrets: secrets, got: map[string]integration.Answers{}}
	modes := []integration.Mode{integration.Strict, integration.DNFOF}
	for _, mode := range modes {
		t.Run("secured/"+string(mode), func(t *testing.T) {
			node := start(t, testbed.Options{Kind: testbed.Secured, SecurityConfig: guardproc.WriteSecurity(t, policy(t, mode))})
			r.table(t, node, node.Client, "", mode)
		})
	}
	for _, kind := range []testbed.Kind{testbed.OpenSearch, testbed.OpenSearch3, testbed.ES710} {
		t.Run(string(kind), func(t *testing.T) {
			node := start(t, testbed.Options{Kind: kind})
			for _, mode := range modes {
				guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, policy(t, mode)), Upstream: node.URL})
				t.Run(string(mode), func(t *testing.T) { r.table(t, node, guard.Client, kind, mode) })
			}
		})
	}
	if *update {
		if err := integration.Update(casesFile, r.got); err != nil {
			t.Fatal(err)
		}
	}
}

// run is the table with what was answered so far.
type run struct {
	cases   []integration.Case
	secrets map[string][]string
	got     map[string]integration.Answers // by name of the case
}

// table sends every case to a target: guard before an engine, or the plugin if
// engine is empty.
func (r *run) table(t *testing.T, node *testbed.Node, target testbed.Client, engine testbed.Kind, mode integration.Mode) {
	compared, listed := 0, 0
	for i := range r.cases {
		c := &r.cases[i]
		if !c.Runs(engine) {
			continue
		}
		got := r.send(t, node, target, c, engine)
		if r.got[c.Name] == nil {
			r.got[c.Name] = integration.Answers{}
		}
		r.got[c.Name][integration.Target{Engine: engine, Mode: mode}] = got
		want := c.Wanted(engine, mode)
		if got != want && !*update {
			t.Errorf("%s: %s as %s %.200s\n got %s\nwant %s", c.Name, c.Send, c.As, c.Body, got, want)
		}
		compared++
		if engine != "" && want != c.Wanted("", mode) {
			listed++
		}
	}
	t.Logf("%d answers compared, %d of them listed deviations", compared, listed)
}

// send sends one case and takes its effect back.
func (r *run) send(t *testing.T, node *testbed.Node, target testbed.Client, c *integration.Case, engine testbed.Kind) string {
	t.Helper()
	for _, line := range c.Before {
		if err := integration.Apply(node.Client, line); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
	}
	res, err := c.Do(target, password)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return ""
	}
	for _, line := range c.After {
		if err := integration.Apply(node.Client, line); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if found := c.Leaked(res, r.secrets[c.As]); engine != "" && len(found) > 0 {
		t.Errorf("LEAK in %s: %s as %s shows %q:\n%.1000s", c.Name, c.Send, c.As, found, res.Body)
	}
	return c.Summary(res)
}

// TestReasons holds that every listed deviation has its reason.
func TestReasons(t *testing.T) {
	cases, err := integration.ReadCases(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]int{}
	for _, c := range cases {
		for _, e := range c.Else {
			if e.Why == "" {
				t.Errorf("%s: the deviation on %s has no reason", c.Name, e.Who)
			}
			reasons[e.Why]++
		}
		if c.Want == "" {
			t.Errorf("%s: no answer is wanted", c.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		t.Logf("%4d %s", reasons[why], why)
	}
}
