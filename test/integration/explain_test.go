package integration_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/test/guardproc"
	"guard/test/integration"
)

// TestExplain: what guard explain says of requests on a node that it asks is what it says
// on the state that was saved of it, and what guard serve then does.
func TestExplain(t *testing.T) {
	node := shared(t)
	guard := inFront(t, node)
	security := guardproc.WriteSecurity(t, policy(t, integration.Strict))
	state := filepath.Join(t.TempDir(), "state.json")
	run := func(args ...string) []byte {
		t.Helper()
		cmd := exec.Command(guardproc.Binary(t), append(args, "--security", security)...) //nolint:gosec // G204: the binary that is tested
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("guard %q: %v\n%s", args, err, out)
		}
		return out
	}
	run("state", "save", "--upstream", node.URL, state)
	if info, err := os.Stat(state); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the saved state is %v, %v; want it for its owner alone", info, err)
	}
	explain := func(user, method, target string, from ...string) map[string]any {
		t.Helper()
		var report map[string]any
		out := run(append([]string{"explain", "--format", "json", "--user", user, method, target}, from...)...)
		if err := json.Unmarshal(out, &report); err != nil {
			t.Fatal(err)
		}
		delete(report["cluster"].(map[string]any), "read")
		return report
	}
	refused := map[string]bool{}
	for _, user := range []string{"limited", "dls", "fls", "filtered", "stream", "night", "nobody", "admin"} {
		for _, target := range []string{"/_search", "/t*/_count", "/_mapping", "/_cat/indices", "/_nodes"} {
			saved := explain(user, "GET", target, "--state", state)
			if diff := cmp.Diff(explain(user, "GET", target, "--upstream", node.URL), saved); diff != "" {
				t.Errorf("%s %s: live and saved differ (-live +saved):\n%s", user, target, diff)
			}
			effect := saved["verdict"].(map[string]any)["effect"]
			refused[effect.(string)] = true
			res, err := (&integration.Case{As: user, Send: "GET " + target}).Do(guard.Client, password)
			if err != nil {
				t.Fatal(err)
			}
			if (effect == "refused") != (res.Status == 403) {
				t.Errorf("%s %s: explained as %v, and answered with %d", user, target, effect, res.Status)
			}
		}
	}
	if !refused["refused"] || !refused["forwarded"] {
		t.Errorf("only %v was seen; the requests try nothing", refused)
	}
}
