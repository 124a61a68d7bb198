package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/crypto/bcrypt"
)

// The account that the test bed adds to every secured node, so that a test can
// load data whatever the policy under test says. Its role grants everything and
// belongs to nobody else.
const (
	AdminUser     = "testbed-admin"
	AdminPassword = "loads-the-data"
	adminRole     = "testbed_admin"
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
	if err := os.MkdirAll(to, 0o700); err != nil {
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
		if text, err = addAccount(name, text); err != nil {
			return fmt.Errorf("cannot add %s to %s: %w", AdminUser, filepath.Join(from, name), err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			return fmt.Errorf("cannot write %s: %w", name, err)
		}
	}
	return nil
}

// addAccount appends the test bed's entry to the text of the file called name,
// if that is one of the three that need one. What stands there stays byte for byte:
// the plugin is the judge of it.
func addAccount(name string, text []byte) ([]byte, error) {
	key, entry := adminRole, ""
	switch name {
	case "internal_users.yml":
		hash, err := bcrypt.GenerateFromPassword([]byte(AdminPassword), bcrypt.MinCost)
		if err != nil {
			return nil, err
		}
		key, entry = AdminUser, fmt.Sprintf("{hash: %q}", hash)
	case "roles.yml":
		entry = `{cluster_permissions: ["*"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}`
	case "roles_mapping.yml":
		entry = fmt.Sprintf("{users: [%q]}", AdminUser)
	default:
		return text, nil
	}
	if bytes.HasPrefix(text, []byte(key+":")) || bytes.Contains(text, []byte("\n"+key+":")) {
		return nil, fmt.Errorf("%q is there already; the name is the test bed's", key)
	}
	text = bytes.TrimRight(text, "\n\t ")
	text = bytes.TrimSuffix(text, []byte("\n...")) // behind the end of a document nothing may follow
	return fmt.Appendf(text, "\n\n%s: %s\n", key, entry), nil
}
