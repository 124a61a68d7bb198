// Package guard_test holds what is true of the repository as a whole: which way
// imports point, that each package says what it promises, and that the documentation
// says what the code does.
package guard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of the Go module.
const module = "guard"

// below lists for each package what it may import of the module; "x/..." is x and all
// below it. Packages of one level do not know each other. What stands nowhere here
// is a program or a test and may import everything; nobody may import it.
var below = map[string][]string{
	"policytest":           {"explain", "gate", "authz", "config", "internal/..."},
	"explain":              {"proxy", "gate", "authz", "indexresolver", "config", "internal/..."},
	"proxy":                {"gate", "authn", "config", "internal/..."},
	"gate":                 {"authn", "authz", "dls", "fls", "indexresolver", "endpoint", "config", "internal/..."},
	"authn":                {"config", "internal/..."},
	"authz":                {"config", "internal/..."},
	"dls":                  {"internal/..."},
	"fls":                  {"internal/..."},
	"indexresolver":        {"internal/..."},
	"indexresolver/source": {"indexresolver", "internal/..."},
	"endpoint":             {"internal/..."},
	"config":               {"internal/..."},
	"internal/query":       {"internal/esjson", "internal/querystring"},
	"internal/querystring": {},
	"internal/mapping":     {"internal/esjson"},
	"internal/ask":         {"internal/names"},
	"internal/esjson":      {},
	"internal/names":       {},
	"test/naive":           {"internal/names"}, // neither authz nor indexresolver, with which it is compared
}

// apart are the trees that hold programs and tests.
var apart = []string{"cmd", "test", "bench"}

// goFile is a parsed file; only its comment and its imports are read.
type goFile struct {
	path, dir string
	test      bool
	file      *ast.File
}

// goFiles parses all Go files of the repository.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var list []goFile
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		list = append(list, goFile{path, filepath.ToSlash(filepath.Dir(path)), strings.HasSuffix(path, "_test.go"), f})
	})
	if len(list) < 100 {
		t.Fatalf("found %d Go files; the walk is broken", len(list))
	}
	return list
}

// walk calls f for each file of the repository, but for what was built.
func walk(t *testing.T, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == "bin" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case !d.IsDir():
			f(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLayers: imports point down only (see docs/architecture.md).
func TestLayers(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue // tests may look at neighbours
		}
		allowed, layered := below[f.dir]
		if !layered && !isApart(f.dir) {
			t.Errorf("%s has no place among the layers; give it one in layers_test.go and docs/architecture.md", f.path)
		}
		for _, imp := range f.file.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			target, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			if layered && !slices.ContainsFunc(allowed, func(a string) bool { return within(target, a) }) {
				t.Errorf("%s imports %s; it may import %v", f.path, target, allowed)
			}
		}
	}
}

// within reports whether a package is named by an entry of below.
func within(pkg, entry string) bool {
	tree, all := strings.CutSuffix(entry, "/...")
	return pkg == tree || all && strings.HasPrefix(pkg, tree+"/")
}

func isApart(dir string) bool {
	return slices.ContainsFunc(apart, func(tree string) bool { return within(dir, tree+"/...") })
}

// TestWithin: a prefix of a name is no folder.
func TestWithin(t *testing.T) {
	f := func(pkg, entry string, want bool) {
		t.Helper()
		if got := within(pkg, entry); got != want {
			t.Errorf("within(%q, %q) = %v; want %v", pkg, entry, got, want)
		}
	}
	f("gate", "gate", true)
	f("gatekeeper", "gate", false)
	f("gate/inner", "gate", false)
	f("internal/ask", "internal/...", true)
	f("internals", "internal/...", false)
}

// TestPromises: every package says in one file, and only there, what it promises.
func TestPromises(t *testing.T) {
	promises, tests := map[string][]string{}, map[string][]string{}
	code := map[string]bool{}
	for _, f := range goFiles(t) {
		code[f.dir] = code[f.dir] || !f.test
		if f.file.Doc == nil {
			continue
		}
		first, _, _ := strings.Cut(f.file.Doc.Text(), "\n")
		want := "Package " + f.file.Name.Name + " "
		if f.file.Name.Name == "main" {
			want = "Command "
		}
		if !strings.HasPrefix(first, want) {
			t.Errorf("%s: the package's comment starts with %q; want %q", f.path, first, want)
		}
		if f.test {
			tests[f.dir] = append(tests[f.dir], f.path)
		} else {
			promises[f.dir] = append(promises[f.dir], f.path)
		}
	}
	for dir, hasCode := range code {
		list := promises[dir]
		if !hasCode {
			list = tests[dir] // nothing but tests: one of them says what they hold
		}
		if len(list) != 1 {
			t.Errorf("%s has %d promises, in %v; want one", dir, len(list), list)
		}
	}
}

// TestFasthttp: fasthttp reuses what it hands out, so it stays below proxy; the
// benchmarks compare with it.
func TestFasthttp(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, imp := range f.file.Imports {
			if strings.Contains(imp.Path.Value, "/fasthttp") && !within(f.dir, "proxy/...") && !within(f.dir, "bench/...") {
				t.Errorf("%s imports fasthttp; only proxy may", f.path)
			}
		}
	}
}

// local are words that mean something on one machine only. They are put together
// here, so that this file has none.
var local = []string{"/" + "work/", "/" + "tmp/", "../" + "shared"}

// TestLocal: the repository stands alone.
func TestLocal(t *testing.T) {
	texts := []string{".go", ".md", ".yml", ".yaml", ".sh", ".mod", ".tsv", ".java"}
	walk(t, func(path string) {
		if !slices.Contains(texts, filepath.Ext(path)) && filepath.Base(path) != "Makefile" {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, word := range local {
				if strings.Contains(line, word) {
					t.Errorf("%s:%d names %q, which exists on one machine only", path, i+1, word)
				}
			}
		}
	})
}
