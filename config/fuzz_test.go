package config

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// FuzzParseSecurity holds that no file makes the loader panic, that each fault
// names file and line, and that a folder with faults gives nothing.
func FuzzParseSecurity(f *testing.F) {
	for i, file := range securityFiles {
		data, err := os.ReadFile(filepath.Join("testdata", "security", file.name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint(i), data)
	}
	f.Add(uint(1), []byte("_meta: &a {type: roles, config_version: 2}\nr: *a\n<<: *a\n"))
	f.Add(uint(1), []byte("_meta: {type: roles, config_version: 2}\n? {a: b}\n: [~, !x y, ${env.A}]\n"))
	f.Add(uint(1), []byte("a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["))
	f.Add(uint(0), []byte("--- \n%YAML 1.2\n---\n...\n"))
	sample := sampleFolder(f, nil)
	f.Fuzz(func(t *testing.T, i uint, data []byte) {
		folder := Folder{Files: maps.Clone(sample.Files)}
		folder.Files[securityFiles[i%uint(len(securityFiles))].name] = data
		s, warnings, err := ParseSecurity(folder, Options{LookupEnv: testEnv})
		if (s == nil) != (err != nil) {
			t.Fatalf("Security %v with error %v", s, err)
		}
		var faults Faults
		if err != nil && (!errors.As(err, &faults) || len(faults) == 0) {
			t.Fatalf("error %v without faults", err)
		}
		for _, fault := range append(faults, warnings...) {
			if fault.File == "" || fault.Line < 1 || fault.Msg == "" {
				t.Fatalf("fault without file, line or text: %+v", fault)
			}
			if lines := bytes.Count(folder.Files[fault.File], []byte("\n")) + 1; fault.Line > lines+1 {
				t.Fatalf("fault in line %d of %d: %s", fault.Line, lines, fault)
			}
		}
	})
}

// plainRoles is roles.yml as the YAML package's own decoder reads it.
type plainRoles struct {
	Meta    map[string]any  `yaml:"_meta"`
	Entries map[string]Role `yaml:",inline"`
}

// FuzzTwoRoads holds that a file which is accepted means what another reader takes
// it for: the plain decoder of the YAML package, where that accepts it too.
func FuzzTwoRoads(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "security", "roles.yml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("_meta: {type: roles, config_version: 2}\nr: {cluster_permissions: [0x10, 1_000, 010, on, null, 2001-01-01, .inf, '''']}\n"))
	f.Add([]byte("_meta: {type: roles, config_version: 2}\nr:\n  description: >-\n    a\n\n    b\n"))
	sample := sampleFolder(f, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := Folder{Files: maps.Clone(sample.Files)}
		folder.Files["roles.yml"] = data
		s, _, err := ParseSecurity(folder, Options{Policy: Policy{DisableEnvReplacement: true}})
		if err != nil {
			return
		}
		var plain plainRoles
		if err := yaml.Unmarshal(data, &plain); err != nil {
			return
		}
		own := map[string]Role{}
		for name, role := range s.Roles {
			if role.Pos.File != "" {
				own[name] = role
			}
		}
		for name := range builtInRoles() {
			delete(plain.Entries, name)
		}
		if len(plain.Entries) == 0 {
			plain.Entries = map[string]Role{}
		}
		if diff := cmp.Diff(plain.Entries, own, ignorePos, emptyIsNil); diff != "" {
			t.Fatalf("%q (-plain +ours):\n%s", data, diff)
		}
	})
}

// A list that is null in the file is no list to one reader and an empty one to another.
var emptyIsNil = cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
