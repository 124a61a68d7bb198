package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	zeroSum  = "0000000000000000000000000000000000000000000000000000000000000000"
	emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of no bytes
)

func TestParseArtefacts(t *testing.T) {
	text := "# head\n\n[server-1]\n" + zeroSum + "  .  org.a:server:1:zip\n[x]\n" + emptySum + " modules/m org.b:m:2\n"
	got, err := parseArtefacts(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]artefact{
		"server-1": {{sha256: zeroSum, folder: ".", group: "org.a", name: "server", version: "1", ext: "zip"}},
		"x":        {{sha256: emptySum, folder: "modules/m", group: "org.b", name: "m", version: "2", ext: "jar"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(artefact{})); diff != "" {
		t.Errorf("artefacts (-want +got):\n%s", diff)
	}
}

func TestParseArtefactsRefuses(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := parseArtefacts(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse %q: %v; want %q in it", text, err, want)
		}
	}
	f(zeroSum+" . a:b:1", "artefacts.txt:1: a:b:1:jar stands before the first [section]")
	f("[s]\n"+zeroSum+" a:b:1", "artefacts.txt:2: ")
	f("[s]\n"+zeroSum+" a:b:1", "has 2 columns; want sha256, folder and coordinates")
	f("[s]\nabc . a:b:1", `"abc" is no SHA-256`)
	f("[s]\n"+zeroSum[1:]+"g . a:b:1", "is no SHA-256")
	f("[s]\n"+zeroSum+" ../x a:b:1", `folder "../x" leaves the home`)
	f("[s]\n"+zeroSum+" /x a:b:1", `folder "/x" leaves the home`)
	f("[s]\n"+zeroSum+" . a:b", `cannot read coordinates "a:b"`)
	f("[s]\n"+zeroSum+" . a:b:1:tar", `cannot read coordinates "a:b:1:tar"`)
}

// Every kind must find its sections, and every module folder its description.
func TestCommittedArtefactsFitTheKinds(t *testing.T) {
	sections, err := parseArtefacts(artefactsText)
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{".": true, pluginFolder: true}
	for _, m := range modules {
		described["modules/"+m.name] = true
	}
	for _, kind := range Kinds() {
		b := builds[kind]
		if !strings.HasSuffix(b.base, b.version) {
			t.Errorf("%s: version %s is made of section %s", kind, b.version, b.base)
		}
		for _, section := range []string{b.base, b.plugin} {
			if section != "" && len(sections[section]) == 0 {
				t.Errorf("%s: artefacts.txt has no section %q", kind, section)
			}
			for _, a := range sections[section] {
				if !described[a.folder] {
					t.Errorf("%v goes to %s, which no module is called", a, a.folder)
				}
			}
		}
	}
}

// fakeMaven puts a program called mvn before all others, that runs the shell text in Maven's place.
func fakeMaven(t *testing.T, text string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mvn"), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestFetchAllVerifies(t *testing.T) {
	f := func(maven, sum, want string) {
		t.Helper()
		fakeMaven(t, maven)
		a := artefact{sha256: sum, folder: "modules/m", group: "g", name: "m", version: "1", ext: "jar"}
		err := fetchAll(t.Context(), filepath.Join(t.TempDir(), "fetched"), t.TempDir(), []artefact{a})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("fetch by %q: %v; want %q in it", maven, err, want)
		}
	}
	const write = "mkdir -p jar/modules/m && : >jar/modules/m/m-1.jar"
	f(write, emptySum, "")
	f(write, zeroSum, "checksum mismatch: g:m:1:jar has SHA-256 "+emptySum+"; artefacts.txt wants "+zeroSum)
	f(write, zeroSum, "hint: delete ")
	f("exit 0", emptySum, "g:m:1:jar was not fetched")
	f("echo the mirror is down; exit 3", emptySum, "maven could not fetch: mvn: exit status 3\nthe mirror is down")
	f("grep -q '<outputDirectory>.*/jar/modules/m</outputDirectory>' pom.xml && "+write, emptySum, "")
}

func TestMissingMavenTellsWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := fetchAll(t.Context(), t.TempDir(), t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "hint: install") {
		t.Errorf("fetch without Maven: %v; want a hint", err)
	}
}
