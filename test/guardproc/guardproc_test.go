package guardproc_test

import (
	"net/http"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

// policy has one user, who may do all or nothing.
func policy(t *testing.T, user, role string) map[string]string {
	t.Helper()
	return map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{
			user: map[string]any{"hash": guardproc.Hash(t, "secret"), "backend_roles": []string{"team"}},
		}),
		"roles_mapping.yml": guardproc.Section(t, "rolesmapping", map[string]any{
			role: map[string]any{"backend_roles": []string{"team"}},
		}),
	}
}

// One life of guard in front of a real node: requests, reloads, a bad policy, the end.
func TestLife(t *testing.T) {
	node := testbed.Cluster(t, testbed.OpenSearch)
	p := guardproc.Start(t, guardproc.Options{
		Security: guardproc.WriteSecurity(t, policy(t, "ada", "all_access")), Upstream: node.URL, Config: "log: {level: debug}\n",
	})
	f := func(user string, want int) {
		t.Helper()
		res, err := p.As(user, "secret").Do("GET", "/_cluster/health", "")
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != want {
			t.Errorf("%s gets status %d; want %d: %s", user, res.Status, want, res.Body)
		}
	}
	f("ada", http.StatusOK)
	f("bob", http.StatusUnauthorized)

	p.UpdateSecurity(t, policy(t, "bob", "all_access"))
	f("ada", http.StatusUnauthorized)
	f("bob", http.StatusOK)
	if n := p.Metric(t, "guard_config_reloads_total"); n != 1 {
		t.Errorf("%v reloads; want 1", n)
	}
	p.UpdateSecurity(t, map[string]string{"tenants.yml": guardproc.Section(t, "tenants", nil)})

	p.BreakSecurity(t, map[string]string{"roles.yml": "{"})
	f("bob", http.StatusOK)
	if !strings.Contains(p.Log(), "roles.yml") {
		t.Errorf("the log does not name the file that is bad:\n%s", p.Log())
	}
	p.Stop(t)
	p.Stop(t)
	if _, err := p.Do("GET", "/", ""); err == nil {
		t.Errorf("guard still answers after Stop")
	}
}

// TestTwo runs two at once: each has ports of its own, and one binary is enough.
func TestTwo(t *testing.T) {
	if a, b := guardproc.Binary(t), guardproc.Binary(t); a != b {
		t.Errorf("two binaries: %s and %s", a, b)
	}
	node := testbed.Cluster(t, testbed.OpenSearch)
	o := guardproc.Options{Security: guardproc.WriteSecurity(t, nil), Upstream: node.URL}
	if a, b := guardproc.Start(t, o), guardproc.Start(t, o); a.URL == b.URL || a.Internal == b.Internal {
		t.Errorf("both serve at %s and %s", a.URL, a.Internal)
	}
}
