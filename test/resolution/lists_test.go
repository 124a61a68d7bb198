package resolution_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/indexresolver"
	"guard/test/guardproc"
	"guard/test/testbed"
)

// service stands before a node as a managed service does: it lets nobody read the state.
type service struct {
	*httptest.Server
	status atomic.Int64 // of its refusals; 0 lets all through
	asked  atomic.Int64 // how often the state was asked for
	looks  atomic.Int64 // how often it was let be asked for its number
}

func newService(t *testing.T, node *testbed.Node, status int) *service {
	t.Helper()
	at, err := url.Parse(node.URL)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{}
	s.status.Store(int64(status))
	pass := httputil.NewSingleHostReverseProxy(at)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := int(s.status.Load()); n != 0 && strings.HasPrefix(r.URL.Path, "/_cluster/state") {
			s.asked.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(n)
			_, _ = fmt.Fprintf(w, `{"Message":"Your request: '%s' is not allowed."}`, r.URL.Path) // who is gone does not read it
			return
		}
		if r.URL.Path == "/_cluster/state/version" && r.URL.RawQuery == "" {
			s.looks.Add(1)
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestLists holds, on a node of each engine, that the lists tell what the state tells.
func TestLists(t *testing.T) {
	for _, kind := range []testbed.Kind{testbed.OpenSearch, testbed.ES710, testbed.OpenSearch3} {
		t.Run(string(kind), func(t *testing.T) {
			node := testbed.Own(t, testbed.Options{Kind: kind})
			build(t, node)
			odd(t, node)
			whole := watch(t, node.URL)
			for _, status := range []int{400, 401, 403, 404, 405} {
				sameByLists(t, whole.State(), newService(t, node, status))
			}
			s := watch(t, newService(t, node, 403).URL)
			if !s.Stats().Lists || whole.Stats().Lists {
				t.Errorf("lists are read: %v before the service, %v at the node", s.Stats().Lists, whole.Stats().Lists)
			}
			checkChanges(t, node, s)
			checkGuard(t, node)
		})
	}
}

// odd adds what the tables do not have: a sorted index, analysers, names with dots, and a
// mapping that no text can hold.
func odd(t *testing.T, node *testbed.Node) {
	t.Helper()
	node.Must(t, "PUT", "/s.or.ted", `{"settings":{"number_of_shards":1,"number_of_replicas":0,"index.sort.field":["k","n.m"],"index.sort.order":["asc","desc"],
		"analysis":{"analyzer":{"own":{"type":"custom","tokenizer":"standard"},"default":{"type":"keyword"}}}},
		"mappings":{"dynamic":"strict","_meta":{"z":1,"a":{"y":[],"b":{}}},"properties":{"k":{"type":"keyword"},"n.m":{"type":"long"},"t":{"type":"text","analyzer":"own"}}}}`)
	node.Must(t, "PUT", "/s.one", `{"settings":{"index.sort.field":"k"},"mappings":{"properties":{"k":{"type":"keyword"}}}}`)
	node.Must(t, "PUT", "/half", `{"mappings":{"properties":{"x\ud83dy":{"type":"keyword"}}}}`)
}

func sameByLists(t *testing.T, want *indexresolver.State, s *service) {
	t.Helper()
	got := watch(t, s.URL)
	if !got.State().SameNames(want) {
		t.Errorf("status %d: the lists tell\n%s\nand the state\n%s", s.status.Load(), saved(t, got.State()), saved(t, want))
	}
	asked := s.asked.Load()
	for range 3 {
		if _, err := got.Refresh(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := got.Stats().Readings; n != 1 {
		t.Errorf("status %d: %d readings of lists that did not change; want 1", s.status.Load(), n)
	}
	if n := s.asked.Load() - asked; n > 0 {
		t.Errorf("status %d: the state was asked for %d times more; want no more for a minute", s.status.Load(), n)
	}
}

func saved(t *testing.T, s *indexresolver.State) string {
	t.Helper()
	var b strings.Builder
	if err := s.Save(&b); err != nil {
		t.Error(err)
	}
	return b.String()
}

// checkGuard: guard before such a service decides as before a cluster, sees what is made
// through it at once, and reads the state as soon as it may.
func checkGuard(t *testing.T, node *testbed.Node) {
	t.Helper()
	s := newService(t, node, 403)
	g := guardproc.Start(t, guardproc.Options{Upstream: s.URL, Security: guardproc.WriteSecurity(t, map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{
			"ada": map[string]any{"hash": guardproc.Hash(t, "secret"), "backend_roles": []string{"a"}},
			"bob": map[string]any{"hash": guardproc.Hash(t, "secret"), "backend_roles": []string{"b"}},
		}),
		"roles.yml": guardproc.Section(t, "roles", map[string]any{
			"a": map[string]any{"cluster_permissions": []string{"*"}, "index_permissions": []any{map[string]any{"index_patterns": []string{"a1", "mine*"}, "allowed_actions": []string{"*"}}}},
			"b": map[string]any{"index_permissions": []any{map[string]any{"index_patterns": []string{"b1"}, "allowed_actions": []string{"read"}, "dls": `{"term":{"k":"none"}}`}}},
		}),
		"roles_mapping.yml": guardproc.Section(t, "rolesmapping", map[string]any{
			"a": map[string]any{"backend_roles": []string{"a"}}, "b": map[string]any{"backend_roles": []string{"b"}},
		}),
	})})
	f := func(user, method, path, body string, status int, want string) {
		t.Helper()
		res, err := g.As(user, "secret").Do(method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if res.Status == http.StatusOK && strings.Contains(path, "_search") {
			got = hits(t, res.Body)
		}
		if res.Status != status || got != want {
			t.Errorf("%s: %s %s: %d %s %s; want %d %s", user, method, path, res.Status, got, res.Body, status, want)
		}
	}
	f("ada", "POST", "/a*/_search", "{}", 200, "a1")
	f("ada", "POST", "/a2/_search", "{}", 403, "")
	f("bob", "POST", "/b1/_search", "{}", 200, "")
	f("bob", "POST", "/a1/_search", "{}", 403, "")
	f("ada", "PUT", "/mine-1", "{}", 200, "")
	f("ada", "PUT", "/mine-1/_doc/1?refresh=true", `{"k":"x"}`, 201, "")
	f("ada", "POST", "/mine*/_search", "{}", 200, "mine-1")
	f("ada", "POST", "/mine-1/_search", "{}", 200, "mine-1")
	f("ada", "DELETE", "/mine-1", "", 200, "")
	if n := g.Metric(t, "guard_cluster_state_lists"); n != 1 {
		t.Errorf("guard_cluster_state_lists is %v; want 1", n)
	}
	if n := g.Metric(t, "guard_cluster_state_errors_total"); n != 0 {
		t.Errorf("%v errors; want none\n%s", n, g.Log())
	}
	if !strings.Contains(g.Log(), "the cluster answers without guard's credentials") {
		t.Errorf("guard does not warn of a cluster that is open:\n%s", g.Log())
	}
	if !strings.Contains(g.Log(), "the state of the cluster is refused") || strings.Contains(g.Log(), "can't serve") {
		t.Errorf("the log:\n%s", g.Log())
	}
	if age := g.Metric(t, "guard_cluster_state_age_seconds"); age < 0 || age > 20 {
		t.Errorf("the state is %v s old", time.Duration(age*1e9))
	}
}
