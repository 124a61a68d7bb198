package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"guard/test/testbed"
)

// clusterUsers are those members of the matrix who work on real nodes.
func clusterUsers() []member {
	all := members()
	return []member{all[0], all[1], all[5]}
}

// login is the name by which a member logs in, and that of its one role.
func (m member) login() string { return m.role(0) }

// clusterPolicy writes the folder that guard and the plugin both are given.
func (m *machine) clusterPolicy() (string, error) {
	dir, err := os.MkdirTemp(m.dir, "security-")
	if err != nil {
		return "", fmt.Errorf("cannot make a folder for the policy: %w", err)
	}
	meta := func(kind string) string { return "_meta: {type: " + kind + ", config_version: 2}\n" }
	users, roles, mapping := meta("internalusers"), meta("roles"), meta("rolesmapping")
	for _, u := range clusterUsers() {
		users += fmt.Sprintf("%s: {hash: '%s'}\n", u.login(), passwordHash)
		roles += fmt.Sprintf("%s: {%s}\n", u.login(), u.roles[0])
		mapping += fmt.Sprintf("%s: {users: [%s]}\n", u.login(), u.login())
	}
	files := map[string]string{
		"internal_users.yml": users, "roles.yml": roles, "roles_mapping.yml": mapping, "config.yml": clusterConfig,
		"action_groups.yml": meta("actiongroups"), "tenants.yml": meta("tenants"),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("cannot write the policy: %w", err)
		}
	}
	return dir, nil
}

// passwordHash is of password, at the lowest cost: guard and the plugin remember that it was verified.
const passwordHash = "$2a$04$Z5jLifyw.pFIahkQ1I4BSOLpkxPZDmoJFPRewDLVTj.ILYIR1AmFS" //nolint:gosec // G101: of an account of the benchmark

// clusterConfig is of the evaluator that both have, as in the matrix.
const clusterConfig = `_meta: {type: config, config_version: 2}
config:
  dynamic:
    do_not_fail_on_forbidden: true
    authc:
      basic:
        http_enabled: true
        order: 0
        http_authenticator: {type: basic, challenge: true}
        authentication_backend: {type: internal}
`

// nodes are the two that are compared. Both hold the same indices.
type nodes struct{ open, secured *testbed.Node }

// startNodes starts both at once.
func (b clusterBreadth) startNodes(ctx context.Context, security string) (n nodes, err error) {
	err = n.both(func(kind testbed.Kind, node **testbed.Node) (err error) {
		o := testbed.Options{
			Kind: kind, Heap: b.heap, FullSpeed: b.fullSpeed,
			Settings: map[string]string{"cluster.max_shards_per_node": "5000", "cluster.routing.allocation.node_initial_primaries_recoveries": "50"},
		}
		if kind == testbed.Secured {
			o.SecurityConfig = security
		}
		if *node, err = testbed.Start(ctx, o); err != nil {
			return fmt.Errorf("cannot start the node %s: %w", kind, err)
		}
		return nil
	})
	if err != nil {
		return nodes{}, errors.Join(err, n.stop())
	}
	return n, nil
}

// both does the same for both nodes at once.
func (n *nodes) both(f func(testbed.Kind, **testbed.Node) error) error {
	var all sync.WaitGroup
	var open, secured error
	all.Go(func() { open = f(testbed.OpenSearch, &n.open) })
	all.Go(func() { secured = f(testbed.Secured, &n.secured) })
	all.Wait()
	return errors.Join(open, secured)
}

func (n *nodes) stop() error {
	return n.both(func(_ testbed.Kind, node **testbed.Node) error {
		if *node == nil {
			return nil
		}
		return (*node).Stop()
	})
}

// documents is how many an index has. Every second one is of the region that matrixRule wants.
const documents = 10

// clusterIndex makes an index whose documents are seen when it is told to, and no log of
// which waits for the disk: neither is what is compared.
const clusterIndex = `{"settings":{"number_of_shards":1,"number_of_replicas":0,"refresh_interval":"-1","translog.durability":"async"},"mappings":` +
	matrixMapping + `}`

// grow makes the indices from one number to another, with their documents, on both nodes.
func (n *nodes) grow(ctx context.Context, from, to int) error {
	var names []string
	for i := from; i < to; i++ {
		names = append(names, indexName(i))
	}
	return n.both(func(_ testbed.Kind, node **testbed.Node) error { return fill(ctx, (*node).Client, names) })
}

// renew makes the indices that were written to anew.
func (n *nodes) renew(ctx context.Context, names []string) error {
	return n.both(func(_ testbed.Kind, node **testbed.Node) error {
		if err := must((*node).Client, http.MethodDelete, "/"+strings.Join(names, ","), ""); err != nil {
			return err
		}
		return fill(ctx, (*node).Client, names)
	})
}

// fill makes indices and their documents. Some at once, and without waiting for each: the
// node then starts several shards with one new state, which is what takes it long.
func fill(ctx context.Context, c testbed.Client, names []string) error {
	const makers, together = 8, 50
	var next atomic.Int64
	err := each(make([]struct{}, makers), func(int, struct{}) error {
		for i := next.Add(1); i <= int64(len(names)) && ctx.Err() == nil; i = next.Add(1) {
			if err := must(c, http.MethodPut, "/"+names[i-1]+"?wait_for_active_shards=0", clusterIndex); err != nil {
				return err
			}
		}
		return nil
	})
	if err = firstOf(err, ctx.Err()); err != nil {
		return err
	}
	for some := range slices.Chunk(names, together) {
		if err := must(c, http.MethodPost, "/_bulk?refresh=true", documentsOf(some)); err != nil {
			return err
		}
	}
	return nil
}

// documentsOf is a bulk of all documents of some indices.
func documentsOf(names []string) string {
	var b strings.Builder
	for _, name := range names {
		for k := range documents {
			fmt.Fprintf(&b, `{"index":{"_index":"%s","_id":"%d"}}`+"\n"+`{"name":"Anna Berg","region":"%s","amount":%d}`+"\n", name, k, []string{"eu", "us"}[k%2], k)
		}
	}
	return b.String()
}

// must is a request that has to succeed.
func must(c testbed.Client, method, path, body string) error {
	res, err := c.Do(method, path, body)
	if err != nil {
		return err
	}
	if res.Status != http.StatusOK || strings.Contains(string(res.Body), `"errors":true`) {
		return fmt.Errorf("%s %.100s: status %d: %.500s", method, path, res.Status, res.Body)
	}
	return nil
}

// clusterBody is the search that is measured. It finds every document that the user may see.
const clusterBody = `{"query":{"match":{"name":"anna"}},"size":10}`

// httpRequest is an operation as a client of a user sends it; no user, no credentials.
func (o operation) httpRequest(user, body string) []byte {
	credentials, kind := "", "application/json"
	if user != "" {
		credentials = "Authorization: " + basic(user) + "\r\n"
	}
	if o.items > 0 {
		kind = "application/x-ndjson"
	}
	return fmt.Appendf(nil, "POST /%s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: application/json\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		strings.Join(o.path, "/"), credentials, kind, len(body), body)
}

// answers is what stands in each right answer in a world of so many indices.
func (o operation) answers(indices int, user member) string {
	if o.items > 0 {
		return `"errors":false`
	}
	found := 0
	for i := range indices {
		if matchesOne(o.path[0], indexName(i)) {
			found += documents
		}
	}
	if user.filters != "" {
		found /= 2
	}
	return fmt.Sprintf(`"total":{"value":%d,`, found)
}

// matchesOne reports whether a name is that of the pattern, which has one star at most.
func matchesOne(pattern, name string) bool {
	head, tail, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	return len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
}

// await sends a loop's request until it is answered rightly: what was made on a node is
// known to guard a moment later.
func (l loop) await(ctx context.Context) error {
	for deadline := time.Now().Add(l.Limit); ; {
		err := l.probe()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (l loop) probe() error {
	c, err := (job{Addr: l.Addr, Limit: l.Limit}).dial()
	if err != nil {
		return err
	}
	defer c.Close()
	return l.once(c)
}
