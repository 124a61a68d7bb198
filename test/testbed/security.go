package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/bcrypt"
)

// The account that the test bed adds to every secured node, so that a test can
// load data whatever the policy under test says. It reaches the plugin's static
// role all_access by a backend role, which no other account should carry.
const (
	AdminUser     = "testbed-admin"
	AdminPassword = "loads-the-data"
	adminBackend  = "testbed_all_access"
)

const pluginFolder = "plugins/opensearch-security"

// extendedPlugins is a line of the plugin's descriptor. That of 3.4.0.0 names
// rule-framework, which is not published; the plugin works without.
var extendedPlugins = regexp.MustCompile(`(?m)^extended\.plugins=.*$`)

// secureHome turns a home whose plugin folder has been unpacked into one that
// starts secured: certificates and settings are those of the plugin's own demo.
func secureHome(ctx context.Context, home string, java jdk) error {
	plugin := filepath.Join(home, pluginFolder)
	descriptor := filepath.Join(plugin, "plugin-descriptor.properties")
	text, err := os.ReadFile(descriptor)
	if err != nil {
		return fmt.Errorf("the security plugin came without descriptor: %w", err)
	}
	if err := os.WriteFile(descriptor, extendedPlugins.ReplaceAll(text, []byte("extended.plugins=")), 0o644); err != nil {
		return fmt.Errorf("cannot mend the plugin's descriptor: %w", err)
	}
	// The folder is made anew: its files are links to those of the home without
	// security, and the demo script writes into them.
	config := filepath.Join(home, "config")
	if err := os.RemoveAll(config); err != nil {
		return fmt.Errorf("cannot clear the configuration: %w", err)
	}
	if err := os.CopyFS(filepath.Join(config, "opensearch-security"), os.DirFS(filepath.Join(plugin, "config"))); err != nil {
		return fmt.Errorf("cannot copy the plugin's configuration: %w", err)
	}
	if err := os.WriteFile(filepath.Join(config, "opensearch.yml"), nil, 0o644); err != nil {
		return fmt.Errorf("cannot write settings: %w", err)
	}
	env := []string{"JAVA_HOME=" + java.home, "OPENSEARCH_JAVA_HOME=" + java.home, "OPENSEARCH_HOME=" + home,
		"OPENSEARCH_INITIAL_ADMIN_PASSWORD=" + demoAdminPassword}
	script := filepath.Join(plugin, "tools", "install_demo_configuration.sh")
	if err := run(ctx, home, env, "bash", script, "-y", "-i", "-s", "-t"); err != nil {
		return fmt.Errorf("cannot install the plugin's demo configuration: %w", err)
	}
	if !exists(filepath.Join(config, "esnode.pem")) {
		return errors.New("the plugin's demo script wrote no certificate config/esnode.pem")
	}
	return nil
}

// demoAdminPassword is the password of user admin in the plugin's own
// configuration; the demo script refuses a weak one.
const demoAdminPassword = "Testbed-0f-guard!"

// optionalPolicy are the files that the plugin goes without; all others of a policy must be there.
var (
	requiredPolicy = []string{"action_groups.yml", "config.yml", "internal_users.yml", "roles.yml", "roles_mapping.yml", "tenants.yml"}
	optionalPolicy = []string{"allowlist.yml", "audit.yml", "nodes_dn.yml", "whitelist.yml"}
)

// writePolicy copies the security configuration at from to the folder to and
// adds the test bed's account. Files that the plugin does not know are left out.
func writePolicy(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("cannot make the security folder: %w", err)
	}
	for _, name := range slices.Concat(requiredPolicy, optionalPolicy) {
		text, err := os.ReadFile(filepath.Join(from, name))
		if errors.Is(err, os.ErrNotExist) && slices.Contains(optionalPolicy, name) {
			continue
		}
		if err != nil {
			return fmt.Errorf("security folder lacks a file that the plugin needs: %w", err)
		}
		switch name {
		case "internal_users.yml":
			text, err = addUser(text)
		case "roles_mapping.yml":
			text, err = addMapping(text)
		}
		if err != nil {
			return fmt.Errorf("cannot add %s to %s: %w", AdminUser, name, err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	return nil
}

// addUser appends the test bed's account to the text of an internal_users.yml.
// The text itself stays as it is: the plugin is the judge of it.
func addUser(text []byte) ([]byte, error) {
	var users map[string]any
	if err := yaml.Unmarshal(text, &users); err != nil {
		return nil, err
	}
	if _, taken := users[AdminUser]; taken {
		return nil, fmt.Errorf("the name is taken")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(AdminPassword), bcrypt.MinCost)
	if err != nil {
		return nil, err
	}
	entry := fmt.Sprintf("\n%s:\n  hash: %q\n  backend_roles: [%q]\n", AdminUser, hash, adminBackend)
	return append(trimDocument(text), entry...), nil
}

// addMapping adds the account's backend role to the all_access entry of a roles_mapping.yml.
func addMapping(text []byte) ([]byte, error) {
	mappings := map[string]map[string]any{}
	if err := yaml.Unmarshal(text, &mappings); err != nil {
		return nil, err
	}
	entry := mappings["all_access"]
	if entry == nil {
		added := fmt.Sprintf("\nall_access:\n  backend_roles: [%q]\n", adminBackend)
		return append(trimDocument(text), added...), nil
	}
	roles, _ := entry["backend_roles"].([]any)
	entry["backend_roles"] = append(roles, adminBackend)
	return yaml.Marshal(mappings)
}

// trimDocument drops blank lines and an end-of-document mark, behind which nothing may be appended.
func trimDocument(text []byte) []byte {
	s := strings.TrimRight(string(text), "\n\t ")
	return []byte(strings.TrimSuffix(s, "\n...") + "\n")
}
