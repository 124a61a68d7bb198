package clients

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// The users of the policy. All have the same password.
const (
	password = "secret"
	all      = "ada" // may do everything
	limited  = "lim" // may do everything on the indices of the scenario, and look at the cluster
	filtered = "fay" // sees two of three documents of ReadName, without the field secret
)

// policy is what guard works by.
func policy(t testing.TB) map[string]string {
	t.Helper()
	type object = map[string]any
	every := []string{"*"}
	monitor := []string{"cluster_composite_ops", "cluster_monitor", "indices:data/read/scroll*"}
	user := object{"hash": guardproc.Hash(t, password)}
	is := func(name string) object { return object{"users": []string{name}} }
	return map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", object{all: user, limited: user, filtered: user}),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", object{all: is(all), limited: is(limited), filtered: is(filtered)}),
		"roles.yml": guardproc.Section(t, "roles", object{
			all: object{
				"cluster_permissions": every,
				"index_permissions":   []object{{"index_patterns": every, "allowed_actions": every}},
			},
			limited: object{
				"cluster_permissions": monitor,
				"index_permissions":   []object{{"index_patterns": []string{"clients-*"}, "allowed_actions": every}},
			},
			filtered: object{
				"cluster_permissions": monitor,
				"index_permissions": []object{
					{
						"index_patterns": []string{ReadName}, "allowed_actions": []string{"read", "indices:admin/get", "indices:admin/mappings/get*"},
						"dls": `{"terms":{"tag":["t0","t2"]}}`, "fls": []string{"~secret"},
					},
					{"index_patterns": []string{"clients-none"}, "allowed_actions": []string{"read"}},
				},
			},
		}),
	}
}

// seen makes ReadName of what the user filtered may see of it; with all, of the rest as well.
func seen(node testbed.Client, all bool) error {
	properties := `"n":{"type":"integer"},"tag":{"type":"keyword"},"text":{"type":"text"}`
	if all {
		properties += `,"secret":{"type":"keyword"}`
	}
	var lines strings.Builder
	for n := range 500 {
		tag := fmt.Sprintf("t%d", n%3)
		switch {
		case all:
			fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d,\"tag\":%q,\"secret\":\"s%d\",\"text\":\"common word%d\"}\n", n, n, tag, n, n)
		case tag != "t1":
			fmt.Fprintf(&lines, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d,\"tag\":%q,\"text\":\"common word%d\"}\n", n, n, tag, n)
		}
	}
	return errors.Join(
		ask(node, http.MethodPut, "/"+ReadName, `{"mappings":{"properties":{`+properties+`}}}`),
		ask(node, http.MethodPost, "/"+ReadName+"/_bulk?refresh=true", lines.String()))
}

// ask sends a request that has to succeed.
func ask(node testbed.Client, method, path, body string) error {
	res, err := node.Do(method, path, body)
	if err == nil && res.Status/100 != 2 {
		err = fmt.Errorf("%s %s: %d %s", method, path, res.Status, res.Body)
	}
	return err
}
