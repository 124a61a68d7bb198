package guardproc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// defaults are the files that a policy needs and most tests do not care about: Basic
// against internal_users.yml, and forbidden indices left out of a search.
var defaults = map[string]string{
	"config.yml": `_meta: {type: config, config_version: 2}
config:
  dynamic:
    do_not_fail_on_forbidden: true
    authc:
      basic:
        http_enabled: true
        order: 0
        http_authenticator: {type: basic, challenge: true}
        authentication_backend: {type: internal}
`,
	"roles.yml":          "_meta: {type: roles, config_version: 2}\n",
	"roles_mapping.yml":  "_meta: {type: rolesmapping, config_version: 2}\n",
	"internal_users.yml": "_meta: {type: internalusers, config_version: 2}\n",
	"action_groups.yml":  "_meta: {type: actiongroups, config_version: 2}\n",
	"tenants.yml":        "_meta: {type: tenants, config_version: 2}\n",
}

// WriteSecurity makes a security folder of files, and of defaults for those that
// are missing. It goes with the test.
func WriteSecurity(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, set := range []map[string]string{defaults, files} {
		if err := write(dir, set); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("cannot write the policy: %w", err)
		}
	}
	return nil
}

// Section makes a file of the policy: entries under their names, in JSON, which YAML contains.
func Section(t testing.TB, kind string, entries map[string]any) string {
	t.Helper()
	all := map[string]any{"_meta": map[string]any{"type": kind, "config_version": 2}}
	for name, entry := range entries {
		all[name] = entry
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatalf("cannot write the section %s: %v", kind, err)
	}
	return string(text)
}

// Hash makes a password hash that is cheap to check: tests have many users.
func Hash(t testing.TB, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatalf("cannot hash: %v", err)
	}
	return string(hash)
}

// UpdateSecurity writes files into the folder of the policy and returns when guard
// works by them. A policy that guard refuses fails the test.
func (p *Proc) UpdateSecurity(t testing.TB, files map[string]string) {
	t.Helper()
	if err := p.update(files, "guard_config_reloads_total", "guard_config_reload_errors_total"); err != nil {
		t.Fatal(err)
	}
}

// BreakSecurity is UpdateSecurity for a policy that guard has to refuse.
func (p *Proc) BreakSecurity(t testing.TB, files map[string]string) {
	t.Helper()
	if err := p.update(files, "guard_config_reload_errors_total", "guard_config_reloads_total"); err != nil {
		t.Fatal(err)
	}
}

// holds reports whether the folder has files already.
func (p *Proc) holds(files map[string]string) bool {
	for name, text := range files {
		if have, err := os.ReadFile(filepath.Join(p.Security, name)); err != nil || string(have) != text {
			return false
		}
	}
	return true
}

// errOther ends the waiting for a reload that went the other way.
var errOther = errors.New("the reload went the other way")

// update writes files and returns when the counter want has moved.
func (p *Proc) update(files map[string]string, want, other string) error {
	if p.holds(files) {
		return nil // the same bytes are no change
	}
	wanted, err := p.metric(want)
	if err != nil {
		return err
	}
	others, err := p.metric(other)
	if err != nil {
		return err
	}
	if err := write(p.Security, files); err != nil {
		return err
	}
	err = p.await(reloadTimeout, func() error {
		if now, err := p.metric(want); err != nil || now > wanted {
			return err
		}
		if now, err := p.metric(other); err == nil && now > others {
			return nil
		}
		return errors.New("the policy is not reloaded yet")
	})
	if err != nil {
		return fmt.Errorf("waited for %s: %w", want, err)
	}
	if now, err := p.metric(want); err != nil || now <= wanted {
		return errors.Join(fmt.Errorf("waited for %s: %w\n%s", want, errOther, tail(p.Log())), err)
	}
	return nil
}
