package testbed

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// logConfig sends all of a node's log to its standard output, which is kept in one file.
const logConfig = `status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}][%node_name]%marker %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
`

// warningConfig has a deprecated use logged into the answer too, as a distribution does. %s is the server's package.
const warningConfig = `appender.warning.type = HeaderWarningAppender
appender.warning.name = warning
logger.deprecation.name = %s.deprecation
logger.deprecation.level = info
logger.deprecation.additivity = false
logger.deprecation.appenderRef.console.ref = console
logger.deprecation.appenderRef.warning.ref = warning
`

// writeConfig fills the folder config of a run from the home and the options.
func writeConfig(dir, home string, b build, o Options) error {
	config := filepath.Join(dir, "config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return fmt.Errorf("cannot make the configuration folder: %w", err)
	}
	settings := map[string]any{
		"cluster.name":   "guard-testbed",
		"node.name":      "node-" + filepath.Base(dir),
		"node.portsfile": "true", // the node tells its ports in logs/http.ports
		"network.host":   "127.0.0.1",
		"http.port":      strconv.Itoa(o.Port),
		"transport.port": "0",
		"path.data":      filepath.Join(dir, "data"),
		"path.logs":      filepath.Join(dir, "logs"),
		"path.repo":      filepath.Join(dir, "repo"),
		"discovery.type": "single-node",
		"cluster.routing.allocation.disk.threshold_enabled": "false",
	}
	if b.plugin != "" {
		if err := writeSecurity(config, home, settings, o); err != nil {
			return err
		}
	}
	for name, value := range o.Settings {
		settings[name] = value
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		return fmt.Errorf("cannot write settings: %w", err)
	}
	product := "opensearch.yml"
	if b.pkg == "org.elasticsearch" {
		product = "elasticsearch.yml"
	}
	logging := logConfig
	if o.Warnings {
		logging += fmt.Sprintf(warningConfig, b.pkg)
	}
	for name, text := range map[string][]byte{product: text, "log4j2.properties": []byte(logging)} {
		if err := os.WriteFile(filepath.Join(config, name), text, 0o600); err != nil {
			return fmt.Errorf("cannot write configuration: %w", err)
		}
	}
	return nil
}

// writeSecurity adds to settings what the demo script wrote into the home, and copies certificates and policy.
func writeSecurity(config, home string, settings map[string]any, o Options) error {
	text, err := os.ReadFile(filepath.Join(home, "config", "opensearch.yml"))
	if err != nil {
		return fmt.Errorf("cannot read the plugin's settings: %w", err)
	}
	demo := map[string]any{}
	if err := yaml.Unmarshal(text, &demo); err != nil {
		return fmt.Errorf("cannot read the plugin's settings: %w", err)
	}
	maps.Copy(settings, demo)
	delete(settings, "node.max_local_storage_nodes")
	settings["plugins.security.ssl.http.enabled"] = "false"
	settings["plugins.security.restapi.roles_enabled"] = []string{"all_access", "security_rest_api_access", adminRole}
	settings["plugins.security.audit.type"] = "noop" // else its index answers to wildcards
	for _, name := range []string{"esnode.pem", "esnode-key.pem", "root-ca.pem"} {
		pem, err := os.ReadFile(filepath.Join(home, "config", name))
		if err != nil {
			return fmt.Errorf("cannot copy certificates: %w", err)
		}
		if err := os.WriteFile(filepath.Join(config, name), pem, 0o600); err != nil {
			return fmt.Errorf("cannot copy certificates: %w", err)
		}
	}
	policy := o.SecurityConfig
	if policy == "" {
		policy = filepath.Join(home, "config", "opensearch-security")
	}
	return writePolicy(policy, filepath.Join(config, "opensearch-security"))
}

// javaArgs returns the command line that runs a node of b from home with the files in dir.
func javaArgs(dir, home string, b build, java jdk, o Options) []string {
	smallest, largest := "512m", "768m"
	if o.Heap != "" {
		smallest, largest = o.Heap, o.Heap
	}
	args := []string{
		"-Xms" + smallest, "-Xmx" + largest,
		"-Djava.awt.headless=true",
		"-Djava.io.tmpdir=" + filepath.Join(dir, "tmp"),
		"-Dio.netty.noUnsafe=true",
		"-Dio.netty.noKeySetOptimization=true",
		"-Dio.netty.recycler.maxCapacityPerThread=0",
		"-Dlog4j2.disable.jmx=true",
		"-Dlog4j.shutdownHookEnabled=false",
	}
	if !o.FullSpeed {
		args = append(args, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
	}
	switch {
	case b.modern && java.major >= 24:
		args = append(args, "--sun-misc-unsafe-memory-access=allow")
		fallthrough
	case b.modern:
		args = append(args, "--enable-native-access=ALL-UNNAMED", "--add-modules=jdk.incubator.vector")
	case b.pkg == "org.elasticsearch":
		args = append(args, "--add-opens=java.base/java.lang=ALL-UNNAMED")
	}
	classPath := filepath.Join(home, "main") + ":" + filepath.Join(home, "lib") + "/*"
	return append(args, "-cp", classPath, "NodeMain", home, filepath.Join(dir, "config"))
}
