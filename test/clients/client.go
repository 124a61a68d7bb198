package clients

import (
	"os"
	"path/filepath"
)

// A Client is one version of a client, or of a program that has one inside.
type Client struct {
	Name    string
	Version string // as wanted; the program tells the one that ran
	Folder  string // of testdata, with what pins the client
	Sources []string
	Reads   bool // it has the half of the scenario that only reads
	Trusted bool // it needs endpoints that guard serves to those alone who may do everything

	install func(install) error
	command func(home, testdata string) []string
}

// Clients returns all clients, in the order of the table.
func Clients() []Client {
	return []Client{
		python("opensearch-py", "3.2"),
		javascript("@opensearch-project/opensearch", "opensearch", "3.9"),
		golang("opensearch-go", "opensearch", "4.8", ""),
		java("opensearch-java", "opensearch", "2.23"),
		bare(),
		python("elasticsearch-py", "7.13"),
		python("elasticsearch-py", "7.17"),
		python("elasticsearch-py", "8.19"),
		python("elasticsearch-py", "9.4"),
		javascript("@elastic/elasticsearch", "elasticsearch", "7.13"),
		javascript("@elastic/elasticsearch", "elasticsearch", "8.19"),
		javascript("@elastic/elasticsearch", "elasticsearch", "9.4"),
		golang("go-elasticsearch", "elasticsearch", "7.17", "v7"),
		golang("go-elasticsearch", "elasticsearch", "8.19", "v8"),
		golang("go-elasticsearch", "elasticsearch", "9.5", "v9"),
		golang("olivere/elastic", "olivere", "7.0", ""),
		elasticdump("6.125"),
		curator("curator-opensearch", "0.0.13"),
		curator("elasticsearch-curator", "5.8"),
		curator("elasticsearch-curator", "9.0"),
		rsyslog(),
	}
}

// Dir is the name of the client's folder in the cache, without its hash.
func (c Client) Dir() string {
	return filepath.Base(filepath.Dir(c.Folder)) + "-" + filepath.Base(c.Folder)
}

func python(name, version string) Client {
	folder := map[string]string{"opensearch-py": "opensearch", "elasticsearch-py": "elasticsearch"}[name]
	return Client{
		Name: name, Version: version, Folder: "python/" + folder + "-" + version, Reads: true, install: byPip,
		command: venvRuns("python/scenario.py"),
	}
}

func curator(name, version string) Client {
	return Client{Name: name, Version: version, Folder: "python/" + name + "-" + version, Trusted: true, install: byPip, command: venvRuns("python/curator.py")}
}

// venvRuns runs a program of testdata with the Python of the client's home.
func venvRuns(program string) func(home, testdata string) []string {
	return func(home, testdata string) []string {
		return []string{filepath.Join(home, "venv", "bin", "python"), "-W", "ignore", filepath.Join(testdata, program)}
	}
}

func javascript(name, folder, version string) Client {
	return Client{
		Name: name, Version: version, Folder: "js/" + folder + "-" + version, Reads: true, install: byNpm,
		command: nodeRuns("js/scenario.mjs"),
	}
}

func elasticdump(version string) Client {
	return Client{
		Name: "elasticdump", Version: version, Folder: "js/elasticdump-" + version, Trusted: true, install: byNpm,
		command: nodeRuns("js/elasticdump.mjs"),
	}
}

// nodeRuns runs a program of testdata, which finds the client in the working directory.
func nodeRuns(program string) func(home, testdata string) []string {
	return func(_, testdata string) []string { return []string{"node", filepath.Join(testdata, program)} }
}

// golang is a client whose program is compiled; major replaces the major version in the
// import paths of the program.
func golang(name, program, version, major string) Client {
	return Client{
		Name: name, Version: version, Folder: "go/" + program + "-" + version, Reads: true,
		Sources: []string{"go/" + program + "/main.go", "go/scenario/scenario.go"},
		install: byGo(program, major),
		command: func(home, _ string) []string { return []string{filepath.Join(home, "client")} },
	}
}

func java(name, folder, version string) Client {
	return Client{
		Name: name, Version: version, Folder: "java/" + folder + "-" + version, Reads: true,
		Sources: []string{"java/Scenario.java"},
		install: byMaven("java/Scenario.java"),
		command: javaRuns("Scenario"),
	}
}

// bare is the HTTP client of the JDK, which asks for an upgrade to HTTP/2 with each first request.
func bare() Client {
	return Client{
		Name: "java.net.http", Version: "JDK", Folder: "java/jdk", Reads: true,
		Sources: []string{"java/Bare.java"},
		install: byMaven("java/Bare.java"),
		command: javaRuns("Bare"),
	}
}

func javaRuns(class string) func(home, testdata string) []string {
	return func(home, _ string) []string {
		classPath := filepath.Join(home, "classes") + string(os.PathListSeparator) + filepath.Join(home, "lib", "*")
		return []string{"java", "-XX:TieredStopAtLevel=1", "-cp", classPath, class}
	}
}

// rsyslog is what Debian has: its package tool pins it.
func rsyslog() Client {
	return Client{
		Name: "rsyslog omelasticsearch", Version: "Debian", Folder: "debian/rsyslog", install: byDebian,
		command: func(_, testdata string) []string {
			return []string{"python3", filepath.Join(testdata, "debian/rsyslog.py")}
		},
	}
}
