package testbed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeJDK makes a folder that looks like a JDK of that release.
func fakeJDK(t *testing.T, release string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/javac": "", "release": release} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func TestMajorOf(t *testing.T) {
	f := func(release string, want int) {
		t.Helper()
		if got := majorOf(fakeJDK(t, release)); got != want {
			t.Errorf("release file %q: %d; want %d", release, got, want)
		}
	}
	f("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"25.0.3\"\n", 25)
	f(`JAVA_VERSION="17"`, 17)
	f(`JAVA_VERSION="1.8.0_402"`, 1) // no kind wants it
	f(`VERSION="17"`, 0)
	f("", 0)

	runtime := fakeJDK(t, `JAVA_VERSION="21.0.1"`)
	if err := os.Remove(filepath.Join(runtime, "bin", "javac")); err != nil {
		t.Fatal(err)
	}
	if got := majorOf(runtime); got != 0 {
		t.Errorf("a runtime without compiler counts as %d", got)
	}
}

// TestLacks: what is missing is said once, whatever needs it.
func TestLacks(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("GUARD_TESTBED_CACHE", t.TempDir())
	err := Lacks([]Kind{OpenSearch, OpenSearch3, Secured3})
	if err == nil || strings.Count(err.Error(), "no Maven") != 1 || strings.Count(err.Error(), "apt-get install maven") != 1 {
		t.Errorf("without Maven: %v", err)
	}
	builds[Kind("future")] = build{java: []int{98, 97}}
	builds[Kind("future too")] = build{java: []int{98}}
	defer func() { delete(builds, "future"); delete(builds, "future too") }()
	if err := Lacks([]Kind{"future", "future too"}); err == nil || strings.Count(err.Error(), "no JDK for future: want 98") != 1 || strings.Count(err.Error(), "no JDK") != 1 {
		t.Errorf("without Java: %v", err)
	}
}

// The environment names a JDK that lies anywhere; the order of preference decides, not that of discovery.
func TestFindJDK(t *testing.T) {
	home, err := filepath.EvalSymlinks(fakeJDK(t, `JAVA_VERSION="99.1"`))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA25_HOME", home)
	if j, err := findJDK(OpenSearch3, []int{99, 17}); err != nil || j.home != home || j.major != 99 {
		t.Errorf("find 99: %+v, %v; want %s", j, err, home)
	}
	if !slices.Contains(installedJDKs(), jdk{home: home, major: 99}) {
		t.Errorf("%s is not among %v", home, installedJDKs())
	}
}

func TestMissingJDKTellsHowToGetOne(t *testing.T) {
	f := func(version int, want ...string) {
		t.Helper()
		err := missingJDK(OpenSearch3, version, []jdk{{home: "/jvm/17", major: 17}})
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("missing %d: %v; want %q in it", version, err, w)
			}
		}
	}
	f(25, "no JDK for opensearch3: want 25", "found 17 at /jvm/17", "Temurin 25", "JAVA25_HOME", jvmFolder)
	f(17, "openjdk-17-jdk-headless", "JAVA17_HOME")
	if _, err := findJDK(ES710, []int{3}); err == nil {
		t.Error("found a Java 3")
	}
}
