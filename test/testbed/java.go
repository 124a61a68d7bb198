package testbed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A jdk is a Java development kit on this machine.
type jdk struct {
	home  string
	major int
}

func (j jdk) tool(name string) string { return filepath.Join(j.home, "bin", name) }

// jvmFolder is where Debian and the packages of Temurin put their JDKs.
const jvmFolder = "/usr/lib/jvm"

// findJDK returns the first JDK found of the versions, which are in order of preference.
func findJDK(kind Kind, versions []int) (jdk, error) {
	found := installedJDKs()
	for _, major := range versions {
		for _, j := range found {
			if j.major == major {
				return j, nil
			}
		}
	}
	return jdk{}, missingJDK(kind, versions[0], found)
}

// missingJDK says which JDK is wanted and how to get it.
func missingJDK(kind Kind, want int, found []jdk) error {
	have := "none"
	if len(found) > 0 {
		var names []string
		for _, j := range found {
			names = append(names, fmt.Sprintf("%d at %s", j.major, j.home))
		}
		have = strings.Join(names, ", ")
	}
	hint := "install the package openjdk-17-jdk-headless"
	if want > 17 {
		hint = "unpack an OpenJDK 25 or 21 (Debian 13 and Ubuntu 24.04 have openjdk-21-jdk-headless; Debian 12 has none: " +
			"take Eclipse Temurin 25, as the package temurin-25-jdk or as an archive)"
	}
	return fmt.Errorf("no JDK for %s: want %d, found %s\nhint: %s; it is found below %s, or by JAVA%d_HOME",
		kind, want, have, hint, jvmFolder, want)
}

// installedJDKs returns the JDKs named by JAVAnn_HOME and JAVA_HOME, then those
// beside the java on the PATH and in the system's folder.
func installedJDKs() []jdk {
	var homes []string
	for _, name := range []string{"JAVA25_HOME", "JAVA21_HOME", "JAVA17_HOME", "JAVA11_HOME", "JAVA_HOME"} {
		if home := os.Getenv(name); home != "" {
			homes = append(homes, home)
		}
	}
	folders := []string{jvmFolder}
	if java, err := exec.LookPath("java"); err == nil {
		if java, err = filepath.EvalSymlinks(java); err == nil {
			home := filepath.Dir(filepath.Dir(java))
			homes = append(homes, home)
			folders = append(folders, filepath.Dir(home))
		}
	}
	for _, folder := range folders {
		beside, _ := filepath.Glob(filepath.Join(folder, "*")) // the pattern is well-formed: no error
		homes = append(homes, beside...)
	}
	var found []jdk
	for _, home := range homes {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		j := jdk{home: home, major: majorOf(home)}
		if j.major > 0 && !slices.Contains(found, j) {
			found = append(found, j)
		}
	}
	return found
}

var javaVersion = regexp.MustCompile(`(?m)^JAVA_VERSION="(\d+)`)

// majorOf returns the major version of the JDK at home, 0 where there is none.
// A bare runtime does not count: NodeMain has to be compiled.
func majorOf(home string) int {
	if _, err := os.Stat(filepath.Join(home, "bin", "javac")); err != nil {
		return 0
	}
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	m := javaVersion.FindSubmatch(release)
	if m == nil {
		return 0
	}
	major, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0
	}
	return major
}
