package testbed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestWriteConfig(t *testing.T) {
	f := func(kind Kind, file string, o Options, want map[string]string) {
		t.Helper()
		dir := t.TempDir()
		if err := writeConfig(dir, t.TempDir(), builds[kind], o); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "config", file))
		if err != nil {
			t.Fatal(err)
		}
		var settings map[string]string
		if err := yaml.Unmarshal(text, &settings); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if settings[name] != value {
				t.Errorf("%s: %s is %q; want %q", kind, name, settings[name], value)
			}
		}
	}
	f(OpenSearch, "opensearch.yml", Options{}, map[string]string{"http.port": "0", "network.host": "127.0.0.1", "discovery.type": "single-node"})
	f(ES710, "elasticsearch.yml", Options{Port: 9201}, map[string]string{"http.port": "9201"})
	// the caller's settings win, also where the text has a meaning in YAML
	f(OpenSearch, "opensearch.yml", Options{Settings: map[string]string{"cluster.name": "mine: yes", "node.attr.x": "#"}},
		map[string]string{"cluster.name": "mine: yes", "node.attr.x": "#"})
}

// TestWarnings: warnings get into answers by the log's configuration, in each product's words.
func TestWarnings(t *testing.T) {
	f := func(kind Kind, o Options, want bool, logger string) {
		t.Helper()
		dir := t.TempDir()
		if err := writeConfig(dir, t.TempDir(), builds[kind], o); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "config", "log4j2.properties"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), "logger.deprecation.name = "+logger+"\n"); got != want {
			t.Errorf("%s with %+v: %s warns in answers: %v; want %v", kind, o, logger, got, want)
		}
	}
	f(OpenSearch, Options{}, false, "org.opensearch.deprecation")
	f(OpenSearch, Options{Warnings: true}, true, "org.opensearch.deprecation")
	f(ES710, Options{Warnings: true}, true, "org.elasticsearch.deprecation")
}

func TestWriteConfigNeedsAWholeHome(t *testing.T) {
	if err := writeConfig(t.TempDir(), t.TempDir(), builds[Secured], Options{}); err == nil {
		t.Error("a secured node was configured from an empty home")
	}
}

func TestJavaArgs(t *testing.T) {
	f := func(kind Kind, major int, o Options, arg string, want bool) {
		t.Helper()
		args := javaArgs("/run", "/home", builds[kind], jdk{major: major}, o)
		if got := slices.Contains(args, arg); got != want {
			t.Errorf("%s on Java %d with %+v: %s given: %v; want %v in %q", kind, major, o, arg, got, want, args)
		}
	}
	f(OpenSearch, 17, Options{}, "-Xmx768m", true)
	f(OpenSearch, 17, Options{Heap: "2g"}, "-Xmx2g", true)
	f(OpenSearch, 17, Options{Heap: "2g"}, "-Xms2g", true)
	f(OpenSearch, 17, Options{}, "-XX:TieredStopAtLevel=1", true)
	f(OpenSearch, 17, Options{FullSpeed: true}, "-XX:TieredStopAtLevel=1", false)
	f(OpenSearch, 17, Options{}, "--add-modules=jdk.incubator.vector", false)
	f(OpenSearch3, 25, Options{}, "--add-modules=jdk.incubator.vector", true)
	f(OpenSearch3, 25, Options{}, "--sun-misc-unsafe-memory-access=allow", true)
	f(OpenSearch3, 21, Options{}, "--sun-misc-unsafe-memory-access=allow", false) // Java 21 does not know it
	f(Secured3, 21, Options{}, "--enable-native-access=ALL-UNNAMED", true)
	f(ES710, 17, Options{}, "--add-opens=java.base/java.lang=ALL-UNNAMED", true)

	args := javaArgs("/run", "/home", builds[OpenSearch], jdk{major: 17}, Options{})
	end := []string{"-cp", "/home/main:/home/lib/*", "NodeMain", "/home", "/run/config"}
	if diff := cmp.Diff(end, args[len(args)-len(end):]); diff != "" {
		t.Errorf("end of the command line (-want +got):\n%s", diff)
	}
}

func TestParseKind(t *testing.T) {
	for _, kind := range Kinds() {
		if got, err := ParseKind(string(kind)); got != kind || err != nil {
			t.Errorf("parse %q: %q, %v", kind, got, err)
		}
	}
	const want = `unknown kind of node "solr"; want one of [opensearch es710 opensearch3 secured secured3]`
	if _, err := ParseKind("solr"); err == nil || err.Error() != want {
		t.Errorf("parse solr: %v; want %s", err, want)
	}
}
