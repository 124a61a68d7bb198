package conformance_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/test/conformance"
	"guard/test/guardproc"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

var (
	whole = flag.Bool("whole", false, "run all cases on all engines, instead of a sample on two")
	only  = flag.String("only", "", "run just the cases with this in file or name, on all engines")
)

// TestSuites: an engine's own tests end through guard as on the node itself, and no answer differs.
func TestSuites(t *testing.T) {
	kinds := []testbed.Kind{testbed.OpenSearch, testbed.ES710}
	if *whole || *only != "" {
		kinds = testbed.SuiteKinds()
	}
	rows := make([]string, len(kinds))
	t.Run("on", func(t *testing.T) {
		for i, kind := range kinds {
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel()
				rows[i] = try(t, kind)
			})
		}
	})
	t.Logf("\n%s%s", conformance.TableHead, strings.Join(rows, ""))
}

// try runs the suite for a kind of node and returns its line of the table.
func try(t *testing.T, kind testbed.Kind) string {
	t.Helper()
	jar, trial := inFront(t, kind)
	cases := chosen(trial.Suite)
	begin := time.Now()
	trial.Tell = func(d conformance.Difference) { t.Error(d) }
	trial.Progress = func(done int) {
		t.Logf("%d of %d cases after %v", done, len(cases), time.Since(begin).Round(time.Second))
	}
	r, err := trial.Try(cases)
	if err != nil {
		t.Fatal(err)
	}
	if *only == "" && (r.Calls < len(cases) || r.Warned == 0) {
		t.Errorf("%d cases made %d calls, %d answers had warnings; want more: what does not come is not compared", len(cases), r.Calls, r.Warned)
	}
	for _, f := range r.Failures {
		t.Logf("fails on the node itself: %s", f)
	}
	t.Logf("%d cases in %v, of which %d ran more often on the node to tell noise; %d answers had warnings",
		len(cases), time.Since(begin).Round(time.Second), r.Repeats, r.Warned)
	return r.Row(trial.Name(jar))
}

// chosen returns the cases that the flags ask for.
func chosen(s *conformance.Suite) []*conformance.Case {
	switch {
	case *only != "":
		return slices.DeleteFunc(s.Cases, func(c *conformance.Case) bool { return !strings.Contains(c.ID(), *only) })
	case *whole:
		return s.Cases
	default:
		return s.Sample()
	}
}

// inFront returns the suite for a kind of node with such a node and guard in front of it.
func inFront(t *testing.T, kind testbed.Kind) (string, *conformance.Trial) {
	t.Helper()
	jar, err := testbed.FetchSuite(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	suite, err := conformance.ReadSuite(jar)
	if err != nil {
		t.Fatal(err)
	}
	node := testbed.Shared(t, conformance.Node(kind))
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, everything(t)), Upstream: node.URL})
	return jar, &conformance.Trial{Suite: suite, Node: node, Guard: guard.As("ada", "secret")}
}

// everything is a policy with one user, who may do all on all.
func everything(t *testing.T) map[string]string {
	t.Helper()
	all := []string{"*"}
	return map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{"ada": map[string]any{"hash": guardproc.Hash(t, "secret")}}),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", map[string]any{"everything": map[string]any{"users": []string{"ada"}}}),
		"roles.yml": guardproc.Section(t, "roles", map[string]any{"everything": map[string]any{
			"cluster_permissions": all,
			"index_permissions":   []any{map[string]any{"index_patterns": all, "allowed_actions": all}},
		}}),
	}
}

// TestSample: the bounded part is the same in each run and has something of each folder.
func TestSample(t *testing.T) {
	jar, err := testbed.FetchSuite(t.Context(), testbed.OpenSearch)
	if err != nil {
		t.Fatal(err)
	}
	var ids [2][]string
	folders := map[string]bool{}
	for i := range ids {
		suite, err := conformance.ReadSuite(jar)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range suite.Cases {
			folders[c.Folder()] = true
		}
		for _, c := range suite.Sample() {
			ids[i] = append(ids[i], c.ID())
		}
	}
	if !slices.Equal(ids[0], ids[1]) || len(ids[0]) != len(folders) {
		t.Errorf("samples of %d and %d cases; want the same one of each of %d folders", len(ids[0]), len(ids[1]), len(folders))
	}
}
