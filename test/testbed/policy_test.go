package testbed_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"guard/test/testbed"
)

// policy is a whole security folder: clerk may search orders, but not see those of others.
var policy = map[string]string{
	"config.yml": `---
_meta: {type: config, config_version: 2}
config:
  dynamic:
    authc:
      basic:
        http_enabled: true
        order: 0
        http_authenticator: {type: basic, challenge: true}
        authentication_backend: {type: internal}
`,
	"internal_users.yml": `_meta: {type: internalusers, config_version: 2}
clerk:
  hash: "$2a$04$LX8U9BEGWPiZgOEIzntCLu0nxUg2wg4VbqOFv7tuWtL4ojpBrgicS"
  backend_roles: [shop]
...
`,
	"roles.yml": `_meta: {type: roles, config_version: 2}
orders:
  index_permissions:
    - index_patterns: [orders]
      dls: '{"term":{"owner":"clerk"}}'
      allowed_actions: [read]
`,
	"roles_mapping.yml": `_meta: {type: rolesmapping, config_version: 2}
orders: {backend_roles: [shop]}
`,
	"action_groups.yml": "_meta: {type: actiongroups, config_version: 2}\n",
	"tenants.yml":       "_meta: {type: tenants, config_version: 2}\n",
}

// writeFolder writes policy with the changes into a new folder; an empty text leaves the file out.
func writeFolder(t *testing.T, changes map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range policy {
		if changed, ok := changes[name]; ok {
			text = changed
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkPolicy checks a node that was given policy unchanged.
func checkPolicy(t *testing.T, node *testbed.Node) {
	t.Helper()
	checkDenies(t, node)
	node.Must(t, "PUT", "/orders/_doc/1", `{"owner":"clerk"}`)
	node.Must(t, "PUT", "/orders/_doc/2?refresh=true", `{"owner":"other"}`)
	node.Must(t, "GET", "/_plugins/_security/api/roles", "") // the account may change the policy too

	clerk := node.As("clerk", "clerk-password")
	res := clerk.Must(t, "GET", "/orders/_search?filter_path=hits.hits._id", "")
	if got, want := string(res.Body), `{"hits":{"hits":[{"_id":"1"}]}}`; got != want {
		t.Errorf("clerk sees %s; want %s", got, want)
	}
	if res, err := clerk.Do("DELETE", "/orders", ""); err != nil || res.Status != http.StatusForbidden {
		t.Errorf("clerk deletes: %d, %v; want 403", res.Status, err)
	}
	if res, err := node.As("admin", "admin").Do("GET", "/", ""); err != nil || res.Status != http.StatusUnauthorized {
		t.Errorf("the plugin's own admin: %d, %v; want 401, for the folder replaces all of its users", res.Status, err)
	}
}

// A policy that the plugin does not take leaves a node closed for ever: the start has to say so at once.
func TestStartTellsWhyAPolicyIsRefused(t *testing.T) {
	dir := writeFolder(t, map[string]string{"roles.yml": policy["roles.yml"] + "broken: {cluster_permissions: 7, unknown: [}\n"})
	_, err := testbed.Start(t.Context(), testbed.Options{Kind: testbed.Secured, SecurityConfig: dir})
	if err == nil {
		t.Fatal("a broken policy started")
	}
	for _, want := range []string{"refuses its configuration", "Exception"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q; want %q in it", err, want)
		}
	}
}

func TestStartRefuses(t *testing.T) {
	f := func(o testbed.Options, want string) {
		t.Helper()
		node, err := testbed.Start(t.Context(), o)
		if err == nil {
			t.Errorf("start %+v: a node; want an error: %v", o, node.Stop())
			return
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("start %+v: %v; want %q in it", o, err, want)
		}
	}
	f(testbed.Options{}, `unknown kind of node ""`)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	f(testbed.Options{Kind: testbed.OpenSearch, Port: port}, fmt.Sprintf("cannot use port %d: ", port))
	f(testbed.Options{Kind: testbed.OpenSearch, SecurityConfig: "x"}, "kind opensearch has no security plugin")
	f(testbed.Options{Kind: testbed.Secured, SecurityConfig: "missing"}, "missing/action_groups.yml")
	f(testbed.Options{Kind: testbed.Secured, SecurityConfig: writeFolder(t, map[string]string{"tenants.yml": ""})}, "tenants.yml")
	taken := policy["internal_users.yml"] + testbed.AdminUser + ": {}\n"
	f(testbed.Options{Kind: testbed.Secured, SecurityConfig: writeFolder(t, map[string]string{"internal_users.yml": taken})}, "is there already")
}
