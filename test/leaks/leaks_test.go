package leaks_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/leaks"
	"guard/test/testbed"
)

var (
	update = flag.Bool("update", false, "rewrite testdata/expected-*.tsv with what was found")
	only   = flag.String("case", "", "run only the cases whose id matches this regular expression")
	shown  = flag.Bool("show", false, "show each request with its answer")
)

// enginesEnv names the engines to run, by commas; all of them if it is not set.
const enginesEnv = "GUARD_LEAKS_ENGINES"

func TestMain(m *testing.M) { testbed.Main(m) }

// engines are the kinds that are attacked, with the names that cases give them.
var engines = []struct {
	kind testbed.Kind
	name string
}{{testbed.OpenSearch, "os2"}, {testbed.OpenSearch3, "os3"}, {testbed.ES710, "es7"}}

// optional are useful requests that guard does not have to serve yet: masks, handles,
// by-query, copying and rollover.
var optional = regexp.MustCompile(`^USE-(03.*|01i|04i|04j|04r)$`)

// TestLeaks attacks guard in front of each engine, one node at a time.
func TestLeaks(t *testing.T) {
	catalogue := read(t)
	wanted := os.Getenv(enginesEnv)
	for _, engine := range engines {
		if wanted != "" && !slices.Contains(strings.Split(wanted, ","), string(engine.kind)) {
			continue
		}
		t.Run(string(engine.kind), func(t *testing.T) { attack(t, catalogue, engine.kind, engine.name) })
	}
}

func read(t *testing.T) *leaks.Catalogue {
	t.Helper()
	catalogue := &leaks.Catalogue{}
	for _, name := range []string{"leaks.jsonl", "own.jsonl"} {
		file, err := os.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		err = catalogue.Read(name, file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	// Cases of equal setup follow each other: it is loaded once, as long as none writes.
	slices.SortStableFunc(catalogue.Cases, func(a, b *leaks.Case) int { return strings.Compare(a.SetupName, b.SetupName) })
	return catalogue
}

// attack starts a node and guard in front of it, and plays all cases.
func attack(t *testing.T, catalogue *leaks.Catalogue, kind testbed.Kind, name string) {
	node := start(t, kind)
	has, err := leaks.Ask(node)
	if err != nil {
		t.Fatal(err)
	}
	policy := leaks.NewPolicy(t, catalogue.Cases)
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, policy.Files), Upstream: node.URL})
	world := leaks.NewWorld(node, catalogue)
	direct := leaks.Target{Host: strings.TrimPrefix(node.URL, "http://"), World: world}
	through := leaks.Target{Host: strings.TrimPrefix(guard.URL, "http://"), World: world, Policy: policy}
	admin := through.As(leaks.Admin)
	world.Loaded = through.CatchUp

	filter := regexp.MustCompile(*only)
	found := map[string]leaks.Expected{}
	begin, controlled := time.Now(), 0
	for _, c := range catalogue.Cases {
		if !filter.MatchString(c.ID) {
			continue
		}
		if need := has.Lacks(c.Needs); need != "" {
			found[c.ID] = leaks.Expected{Verdict: leaks.Skipped, Reason: "needs " + need}
			continue
		}
		leaking := slices.Contains(c.FiresOn, name)
		if leaking {
			controlled++
		}
		if leaking || plain(c) {
			bare(t, direct, admin, c, leaking)
		}
		found[c.ID] = play(t, through, c)
	}
	t.Logf("%s: %d cases in %.0f s, %d loads, %d controls: %s", kind, len(found), time.Since(begin).Seconds(), world.Loads, controlled, count(found))
	compare(t, kind, found)
}

// start starts the node of an engine. Copying from a remote address is allowed, since that is one of the attacks.
func start(t *testing.T, kind testbed.Kind) *testbed.Node {
	t.Helper()
	remote := "reindex.remote.allowlist"
	if kind == testbed.ES710 {
		remote = "reindex.remote.whitelist"
	}
	return testbed.Own(t, testbed.Options{Kind: kind, Settings: map[string]string{remote: "127.0.0.1:*"}})
}

// play sends the case through guard.
func play(t *testing.T, through leaks.Target, c *leaks.Case) leaks.Expected {
	t.Helper()
	if fault := through.Policy.Fault(c); fault != "" {
		if *shown {
			t.Logf("%s: not loaded: %s", c.ID, fault)
		}
		if len(c.Must) > 0 {
			return leaks.Expected{Verdict: leaks.Broken}
		}
		return leaks.Expected{Verdict: leaks.NotLoaded}
	}
	if err := through.World.Prepare(c); err != nil {
		t.Errorf("%s: %v", c.ID, err)
		return leaks.Expected{Verdict: leaks.Unexpected}
	}
	got, err := through.Run(c)
	if err != nil {
		t.Errorf("%s: %v", c.ID, err)
	}
	bad := slices.Contains([]leaks.Verdict{leaks.Leak, leaks.Unexpected, leaks.Broken}, got.Verdict)
	if *shown || bad {
		t.Logf("%s %s (%s)\n%s\n%s\n%s", c.ID, got.Verdict, got.Why, c.Role, c.Request.String(), show(got))
	}
	return leaks.Expected{Verdict: got.Verdict}
}

func show(o leaks.Outcome) string {
	if o.Answer == nil {
		return o.Why
	}
	return fmt.Sprintf("%d %.1500s", o.Answer.Status, o.Answer.Body)
}

// count sums up verdicts.
func count(found map[string]leaks.Expected) string {
	counts := map[leaks.Verdict]int{}
	for _, f := range found {
		counts[f.Verdict]++
	}
	var all []string
	for _, v := range []leaks.Verdict{leaks.Leak, leaks.Unexpected, leaks.Broken, leaks.Useful, leaks.Answered, leaks.Refused, leaks.NotLoaded, leaks.Skipped} {
		all = append(all, fmt.Sprintf("%s %d", v, counts[v]))
	}
	return strings.Join(all, ", ")
}

// compare holds what was found against what is committed: nothing may leak or get
// worse, and what is odd has its reason.
func compare(t *testing.T, kind testbed.Kind, found map[string]leaks.Expected) {
	t.Helper()
	name := filepath.Join("testdata", "expected-"+string(kind)+".tsv")
	text, err := os.ReadFile(name)
	if err != nil && !*update {
		t.Fatal(err)
	}
	expected, err := leaks.ParseExpected(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for id, f := range found {
		was, known := expected[id]
		if f.Reason == "" && was.Verdict == f.Verdict {
			f.Reason = was.Reason
			found[id] = f
		}
		switch {
		case f.Verdict == leaks.Leak:
			t.Errorf("%s leaks", id)
		case f.Verdict == leaks.Unexpected && f.Reason == "":
			t.Errorf("%s is neither refused nor answered as it should be, and %s gives no reason", id, name)
		case f.Verdict == leaks.Broken && !optional.MatchString(id):
			t.Errorf("%s has no useful answer", id)
		case *update:
		case !known:
			t.Errorf("%s is not in %s; run with -update and review the difference", id, name)
		case f.Verdict.Worse(was.Verdict):
			t.Errorf("%s was %s and is %s", id, was.Verdict, f.Verdict)
		case f.Verdict != was.Verdict:
			t.Logf("%s was %s and is %s: run with -update to keep it so", id, was.Verdict, f.Verdict)
		}
	}
	if *update && *only == "" {
		if err := os.WriteFile(name, []byte(leaks.FormatExpected(found)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
