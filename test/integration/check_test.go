package integration_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/integration"
)

// check runs guard check over a security folder, and returns what it says and its exit code.
func check(t *testing.T, dir string) (string, int) {
	t.Helper()
	out, err := exec.Command(guardproc.Binary(t), "check", "--upstream", "http://127.0.0.1:1", "--security", dir).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		return string(out), exit.ExitCode()
	}
	return string(out), 0
}

// TestCheck: guard check finds a fault, names its place and what was wanted, and ends
// with 1.
func TestCheck(t *testing.T) {
	good := policy(t, integration.Strict)
	if out, code := check(t, guardproc.WriteSecurity(t, good)); code != 0 || !strings.Contains(out, "is fine") {
		t.Errorf("the policy of this suite: exit code %d: %s", code, out)
	}
	f := func(name, file string, change func(string) string, want ...string) {
		t.Helper()
		files := policy(t, integration.Strict)
		files[file] = change(files[file])
		if files[file] == good[file] {
			t.Fatalf("%s: nothing was changed", name)
		}
		out, code := check(t, guardproc.WriteSecurity(t, files))
		if code != 1 {
			t.Errorf("%s: exit code %d; want 1: %s", name, code, out)
		}
		for _, text := range append(want, file+":") {
			if !strings.Contains(out, text) {
				t.Errorf("%s: the answer lacks %q:\n%s", name, text, out)
			}
		}
	}
	add := func(text string) func(string) string { return func(s string) string { return s + "\n" + text + "\n" } }
	swap := func(from, to string) func(string) string {
		return func(s string) string { return strings.Replace(s, from, to, 1) }
	}
	f("broken YAML", "roles.yml", add("x: [")) // the parser's own words
	f("an unknown key", "roles.yml", add("x: {index_permission: []}"), "index_permission")
	f("an anchor", "roles.yml", add("x: &a {description: y}"), "anchor")
	f("a duplicate key", "roles.yml", add("reader: {}"), "reader")
	f("a broken rule", "roles.yml", swap(`'{"term":{"tenant":"red"}}'`, `'{"term":{"tenant":"red"}'`), "red_rows", "dls")
	f("text behind a rule", "roles.yml", swap(`'{"term":{"tenant":"red"}}'`, `'{"term":{"tenant":"red"}} x'`), "red_rows", "dls")
	f("an unknown clause in a rule", "roles.yml", swap(`{"term":{"tenant":"red"}}`, `{"nosuch":{"tenant":"red"}}`), "red_rows", "nosuch")
	f("an exclusion of nothing", "roles.yml", swap(`"~card"`, `"~"`), "no_card", "fls")
	f("a list that is none", "roles_mapping.yml", swap("users: [limited]", "users: limited"), "reader")
	f("a mapping by the name of a host", "roles_mapping.yml", swap("users: [limited]", "hosts: [localhost]"), "hosts")
	f("a hash of no known form", "internal_users.yml", add("x: {hash: plain}"), "hash")
	f("two domains in one place", "config.yml", swap("    authc:\n", "    authc:\n      other: {http_enabled: true, order: 0, http_authenticator: {type: basic}, authentication_backend: {type: internal}}\n"), "order")
	f("no meta", "tenants.yml", func(string) string { return "{}" }, "_meta")
	f("the wrong type", "tenants.yml", swap("type: tenants", "type: roles"), "tenants")

	// All faults at once.
	files := policy(t, integration.Strict)
	files["roles.yml"] += "\nx: {nosuch: 1}\ny: {other: 2}\n"
	files["tenants.yml"] = "{}"
	if out, _ := check(t, guardproc.WriteSecurity(t, files)); !strings.Contains(out, "nosuch") || !strings.Contains(out, "other") || !strings.Contains(out, "tenants.yml") {
		t.Errorf("not all faults are told: %s", out)
	}
	if out, code := check(t, "/nosuch-folder"); code != 1 || !strings.Contains(out, "/nosuch-folder") {
		t.Errorf("no folder: exit code %d: %s", code, out)
	}
}
