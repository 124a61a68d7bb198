package resolution_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"guard/indexresolver"
	"guard/test/guardproc"
	"guard/test/testbed"
)

const (
	manyIndices = 150
	manyAliases = 30 // of each index
)

// TestMany holds that guard knows a cluster of some hundred indices and some thousand aliases
// as the cluster itself lists it, and keeps up with it.
func TestMany(t *testing.T) {
	node := testbed.Own(t, testbed.Options{Kind: testbed.OpenSearch, Heap: "1g"})
	began := time.Now()
	fill(t, node)
	t.Logf("%d indices and %d aliases took %v", manyIndices, manyIndices*manyAliases, time.Since(began).Round(time.Second))

	s := watch(t, node.URL)
	checkListed(t, node, s.State())
	checkListed(t, node, watch(t, newService(t, node, http.StatusForbidden).URL).State())

	node.Must(t, "PUT", "/late-0?wait_for_active_shards=0", "")
	created := time.Now()
	for known := false; !known; _, known = s.State().Lookup("late-0") {
		if time.Since(created) > 10*time.Second {
			t.Fatal("a new index is not learnt of")
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("a new index was known %v after it was acknowledged", time.Since(created).Round(time.Millisecond))
	checkUnknown(t, node)
}

// fill makes the indices without shards that have to be started: it is about their names.
func fill(t *testing.T, node *testbed.Node) {
	t.Helper()
	node.Must(t, "PUT", "/_cluster/settings", `{"transient":{"cluster.max_shards_per_node":100000,"cluster.routing.allocation.enable":"none"}}`)
	var group errgroup.Group
	group.SetLimit(8)
	for i := range manyIndices {
		group.Go(func() error {
			body := fmt.Sprintf(`{"settings":{"number_of_shards":1,"number_of_replicas":0,"index.hidden":%v},"mappings":{"properties":{"@timestamp":{"type":"date"},"f%d":{"type":"keyword"}}}}`, i%10 == 0, i%20)
			res, err := node.Do("PUT", fmt.Sprintf("/logs.app-%d?wait_for_active_shards=0", i), body)
			if err == nil && res.Status != http.StatusOK {
				err = fmt.Errorf("index %d: %d %s", i, res.Status, res.Body)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	var actions []string
	for i := range manyIndices {
		for j := range manyAliases {
			more := ""
			if j == 1 {
				more = fmt.Sprintf(`,"filter":{"term":{"f%d":"x"}},"routing":"r%d"`, i%20, i)
			}
			actions = append(actions, fmt.Sprintf(`{"add":{"index":"logs.app-%d","alias":"al-%d-%d"%s}}`, i, (i+j)%manyIndices, j, more))
		}
	}
	node.Must(t, "POST", "/_aliases", `{"actions":[`+strings.Join(actions, ",")+`]}`)
	node.Must(t, "PUT", "/_cluster/settings", `{"transient":{"cluster.routing.allocation.enable":null}}`)
}

// checkListed compares with what _cat lists.
func checkListed(t *testing.T, node *testbed.Node, s *indexresolver.State) {
	t.Helper()
	var indices []struct{ Index, Status, UUID string }
	list(t, node, "/_cat/indices?format=json&expand_wildcards=all&h=index,status,uuid", &indices)
	want, got := map[string]string{}, map[string]string{}
	for _, x := range indices {
		want[x.Index] = x.UUID + " " + x.Status
	}
	var aliases []struct {
		Alias, Index, Filter string
		Search               string `json:"routing.search"`
	}
	list(t, node, "/_cat/aliases?format=json&expand_wildcards=all&h=alias,index,filter,routing.search", &aliases)
	for _, a := range aliases {
		want[a.Alias+" of "+a.Index] = fmt.Sprint(a.Filter == "*", " ", a.Search)
	}
	for target := range s.Targets() {
		x, ok := s.Index(target.Name)
		if !ok {
			continue
		}
		status := map[bool]string{true: "close", false: "open"}[x.Closed]
		got[x.Name] = x.UUID + " " + status
		for _, a := range x.Aliases {
			routing := a.SearchRouting
			if routing == "" {
				routing = "-"
			}
			got[a.Alias+" of "+x.Name] = fmt.Sprint(a.Filter != nil, " ", routing)
		}
	}
	if len(want) < manyIndices*(1+manyAliases) {
		t.Errorf("the cluster lists %d indices and aliases", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("indices and aliases (-cluster +guard):\n%.4000s", diff)
	}
}

func list(t *testing.T, node *testbed.Node, path string, into any) {
	t.Helper()
	if err := json.Unmarshal(node.Must(t, "GET", path, "").Body, into); err != nil {
		t.Fatal(err)
	}
}

// checkUnknown: a name that guard does not know makes it look at once, and many at the same
// time share their looks.
func checkUnknown(t *testing.T, node *testbed.Node) {
	t.Helper()
	s := newService(t, node, 0)
	g := guardproc.Start(t, guardproc.Options{Upstream: s.URL, Security: guardproc.WriteSecurity(t, map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{"ada": map[string]any{"hash": guardproc.Hash(t, "secret"), "backend_roles": []string{"a"}}}),
		"roles.yml": guardproc.Section(t, "roles", map[string]any{
			"a": map[string]any{"index_permissions": []any{map[string]any{"index_patterns": []string{"late-*"}, "allowed_actions": []string{"read"}, "dls": `{"match_all":{}}`}}},
		}),
		"roles_mapping.yml": guardproc.Section(t, "rolesmapping", map[string]any{"a": map[string]any{"backend_roles": []string{"a"}}}),
	})})
	ask := func(name string) int {
		res, err := g.As("ada", "secret").Do("POST", "/"+name+"/_count", "{}")
		if err != nil {
			t.Error(err)
			return 0
		}
		return res.Status
	}
	for i := range 5 {
		name := fmt.Sprintf("late-%d", i+1)
		node.Must(t, "PUT", "/"+name, `{"settings":{"number_of_shards":1,"number_of_replicas":0}}`)
		if status := ask(name); status != http.StatusOK {
			t.Errorf("%s, made at the cluster just now: status %d; want 200", name, status)
		}
	}
	before := s.looks.Load()
	const many = 200
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() {
			if status := ask(fmt.Sprintf("late-no-%d", i)); status != http.StatusNotFound {
				t.Errorf("a name that does not exist: status %d; want 404", status)
			}
		})
	}
	wait.Wait()
	n := s.looks.Load() - before
	t.Logf("%d requests for unknown names made guard look %d times", many, n)
	if n == 0 || n > many/4 {
		t.Errorf("%d looks at the state for %d requests; want some, shared", n, many)
	}
}
