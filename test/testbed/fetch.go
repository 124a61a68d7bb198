package testbed

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// dependencyPlugin copies exactly what it is told, without transitive
// dependencies: artefacts.txt is the whole truth about what is fetched.
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy"

// The types below are the part of a Maven project file that names artefacts.
type (
	pomProject struct {
		XMLName      xml.Name  `xml:"project"`
		ModelVersion string    `xml:"modelVersion"`
		Group        string    `xml:"groupId"`
		Artifact     string    `xml:"artifactId"`
		Version      string    `xml:"version"`
		Packaging    string    `xml:"packaging"`
		Plugin       pomPlugin `xml:"build>plugins>plugin"`
	}
	pomPlugin struct {
		Group    string    `xml:"groupId"`
		Artifact string    `xml:"artifactId"`
		Items    []pomItem `xml:"configuration>artifactItems>artifactItem"`
	}
	pomItem struct {
		Group    string `xml:"groupId"`
		Artifact string `xml:"artifactId"`
		Version  string `xml:"version"`
		Type     string `xml:"type"`
		Folder   string `xml:"outputDirectory"`
	}
)

// fetched returns where fetchAll puts a.
func (a artefact) fetched(dir string) string {
	return filepath.Join(dir, a.ext, a.folder, a.file())
}

// fetchAll lets Maven copy the artefacts below dir, in one call, and verifies
// each. Maven uses the mirrors of its own settings and a repository in the cache.
func fetchAll(ctx context.Context, dir, cache string, artefacts []artefact) error {
	pom := pomProject{ModelVersion: "4.0.0", Group: "guard", Artifact: "testbed", Version: "1", Packaging: "pom"}
	pom.Plugin = pomPlugin{Group: "org.apache.maven.plugins", Artifact: "maven-dependency-plugin"}
	for _, a := range artefacts {
		pom.Plugin.Items = append(pom.Plugin.Items, pomItem{
			Group: a.group, Artifact: a.name, Version: a.version, Type: a.ext,
			Folder: filepath.Dir(a.fetched(dir)),
		})
	}
	text, err := xml.Marshal(pom)
	if err != nil {
		return fmt.Errorf("cannot write the project file for Maven: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder to fetch into: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), text, 0o644); err != nil {
		return fmt.Errorf("cannot write the project file for Maven: %w", err)
	}
	if err := findMaven(); err != nil {
		return err
	}
	repository := filepath.Join(cache, "maven")
	if err := run(ctx, dir, nil, "mvn", "-q", "-B", "-Dmaven.repo.local="+repository, dependencyPlugin); err != nil {
		return fmt.Errorf("maven could not fetch: %w", err)
	}
	for _, a := range artefacts {
		if err := a.verify(a.fetched(dir)); err != nil {
			return fmt.Errorf("%w\nhint: delete %s and try again; if it stays so, the mirror serves other bytes", err, repository)
		}
	}
	return nil
}

// findMaven returns an error if there is no Maven, with how to get it.
func findMaven() error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return fmt.Errorf("no Maven, from whose repository the nodes come: %w\nhint: install Maven 3 (Debian, Ubuntu: apt-get install maven)", err)
	}
	return nil
}

// Lacks returns all that this machine lacks to have nodes of these kinds, each once: to be
// said at once, and not one after the other after minutes of fetching.
func Lacks(kinds []Kind) error {
	var errs []error
	missing := map[int]bool{} // versions of Java
	fetches := false
	for _, kind := range kinds {
		b := builds[kind]
		if _, err := findJDK(kind, b.java); err != nil && !missing[b.java[0]] {
			missing[b.java[0]] = true
			errs = append(errs, err)
		}
		cache, err := cacheDir()
		if err != nil {
			return err
		}
		fetches = fetches || !exists(filepath.Join(cache, "homes", homeName(b)))
	}
	if fetches {
		errs = append(errs, findMaven())
	}
	return errors.Join(errs...)
}

// run runs a program in dir and puts what it said into the error when it fails.
func run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, tail(out.Bytes(), 20))
	}
	return nil
}
