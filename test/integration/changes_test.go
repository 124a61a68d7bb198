package integration_test

import (
	"strings"
	"testing"
	"time"

	"guard/test/integration"
)

// within fails the test if the wanted answer does not come in time.
func within(t *testing.T, limit time.Duration, want string, got func() string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for last := got(); last != want; last = got() {
		if time.Now().After(deadline) {
			t.Errorf("after %v got %s\nwant %s", limit, last, want)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestStateChanges: what happens on the cluster without guard is seen by name at once
// and by wildcard soon.
func TestStateChanges(t *testing.T) {
	node := shared(t)
	guard := inFront(t, node).Client
	const soon = 2 * time.Second
	search := func(user, names string) func() string {
		return func() string {
			t.Helper()
			return ask(t, guard, user, "GET /"+names+"/_search?_source=false", "")
		}
	}
	t.Cleanup(func() { apply(t, node, "DELETE /orders-fresh"); apply(t, node, "DELETE /orders-fresh2") })

	wants(t, guard, "dls", "GET /orders-fresh/_search", "", "404 index_not_found_exception")
	apply(t, node, `PUT /orders-fresh/_doc/1?refresh=true {"tenant":"red"}`)
	apply(t, node, `PUT /orders-fresh/_doc/2?refresh=true {"tenant":"blue"}`)
	wants(t, guard, "dls", "GET /orders-fresh/_search?_source=false", "", "200 total=1 hits=[orders-fresh/1]")
	apply(t, node, `PUT /orders-fresh2/_doc/1?refresh=true {"tenant":"red"}`)
	within(t, soon, "200 total=2 hits=[orders-fresh/1 orders-fresh2/1]", search("dls", "orders-fresh*"))

	// An alias that is moved, and one that gets a filter. filtered holds orders-red alone.
	within(t, soon, "200 total=2 hits=[orders-eu/1 orders-eu/3]", search("filtered", "orders-red"))
	apply(t, node, `POST /_aliases {"actions":[{"remove":{"index":"orders-eu","alias":"orders-red"}},{"add":{"index":"orders-fresh","alias":"orders-red","filter":{"term":{"tenant":"blue"}}}}]}`)
	t.Cleanup(func() {
		apply(t, node, `POST /_aliases {"actions":[{"add":{"index":"orders-eu","alias":"orders-red","filter":{"term":{"tenant":"red"}}}}]}`)
	})
	within(t, soon, "200 total=1 hits=[orders-fresh/2]", search("filtered", "orders-red"))
	within(t, soon, "403 security_exception [indices:data/read/search]", search("filtered", "orders-eu"))

	apply(t, node, "DELETE /orders-fresh2")
	within(t, soon, "200 total=1 hits=[orders-fresh/1]", search("dls", "orders-fresh*"))
	wants(t, guard, "dls", "GET /orders-fresh2/_search", "", "404 index_not_found_exception")

	// Through guard a user sees what he has just made.
	wants(t, guard, "worker", "PUT /work-fresh", "", `200 {"acknowledged":true,"index":"work-fresh","shards_acknowledged":true}`)
	wants(t, guard, "worker", "GET /work-fresh*/_count", "", `200 {"count":0}`)
	wants(t, guard, "worker", "DELETE /work-fresh*", "", `200 {"acknowledged":true}`)
	wants(t, guard, "worker", "HEAD /work-fresh", "", "404")
}

// TestReload: a policy that changes is put to work while serving; a bad one changes
// nothing; the same bytes do nothing.
func TestReload(t *testing.T) {
	node := shared(t)
	guard := inFront(t, node)
	files := policy(t, integration.Strict)
	roles := files["roles.yml"]
	const search = "GET /orders-eu/_search?_source=false"
	const red, green = "200 total=2 hits=[orders-eu/1 orders-eu/3]", "200 total=1 hits=[orders-eu/4]"

	wants(t, guard.Client, "dls", search, "", red)
	changed := strings.Replace(roles, `dls: '{"term":{"tenant":"red"}}'`, `dls: '{"term":{"tenant":"green"}}'`, 1)
	guard.UpdateSecurity(t, map[string]string{"roles.yml": changed})
	wants(t, guard.Client, "dls", search, "", green)

	for _, bad := range []string{"{", changed + "\nbroken: [", strings.Replace(changed, `{"tenant":"green"}`, `{"tenant":`, 1), changed + "\ndls_rows: {index_permissions: 7}\n"} {
		guard.BreakSecurity(t, map[string]string{"roles.yml": bad})
		wants(t, guard.Client, "dls", search, "", green)
	}
	guard.UpdateSecurity(t, map[string]string{"roles.yml": roles})
	wants(t, guard.Client, "dls", search, "", red)

	// A user who goes, and one who comes, while his password is remembered.
	users := files["internal_users.yml"]
	guard.UpdateSecurity(t, map[string]string{"internal_users.yml": strings.Replace(users, "\ndls: ", "\ndls2: ", 1)})
	wants(t, guard.Client, "dls", search, "", "401 text")
	wants(t, guard.Client, "dls2", search, "", "403 security_exception [indices:data/read/search]")
	guard.UpdateSecurity(t, map[string]string{"roles_mapping.yml": strings.Replace(files["roles_mapping.yml"], "users: [dls, multi]", "users: [dls2]", 1)})
	wants(t, guard.Client, "dls2", search, "", red)
}
