package guard_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"guard/config"
	"guard/test/written"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation anew")

// TestConfiguration holds docs/configuration.md to the structs of guard.yml.
func TestConfiguration(t *testing.T) {
	c, _, err := config.Load("", config.Overrides{Upstream: []string{"http://127.0.0.1:9201"}})
	if err != nil {
		t.Fatal(err)
	}
	c.Upstream.URLs = nil // it was given to have a valid configuration; there is no default
	r := reference{comments: comments(t)}
	r.section("", reflect.ValueOf(*c))
	for _, key := range r.silent {
		t.Errorf("setting %s has no comment in config/guard.go and no line in plain", key)
	}
	written.Block(t, "docs/configuration.md", "settings", r.text.String(), *update)
}

// plain explains the settings whose names say it nearly all; the others are explained
// by the comments of config/guard.go.
var plain = map[string]string{
	"upstream.ca_file":                         "PEM file; who may sign the cluster's certificates",
	"upstream.client_certificate":              "PEM file; guard's own certificate towards the cluster",
	"upstream.client_key":                      "PEM file",
	"upstream.username":                        "guard's account on the cluster",
	"upstream.password":                        "of that account",
	"tls.client_auth":                          "none, optional or required: whether clients show a certificate",
	"timeouts.read_header":                     "the head of a request",
	"timeouts.connect":                         "a connection to the cluster",
	"auth.cache_size":                          "verified passwords that are remembered",
	"policy.dfm_empty_overrides_all":           "a role without a document or field rule frees from those of other roles",
	"policy.roles_mapping_resolution":          "MAPPING_ONLY, BACKENDROLES_ONLY or BOTH: whether a backend role is a role by itself",
	"policy.system_indices.enabled":            "whether the indices below are protected; the security index is in any case",
	"policy.system_indices.permission_enabled": "whether a role opens them by system:admin/system_index; if not, nobody does",
	"policy.system_indices.indices":            "patterns",
	"log.level":                                "debug, info, warn or error; can be changed while serving",
}

// reference writes one table row a setting.
type reference struct {
	comments map[string]string // by struct and field
	text     strings.Builder
	silent   []string // settings that nobody explains
}

func (r *reference) section(prefix string, v reflect.Value) {
	if prefix == "" {
		r.text.WriteString("| key | default | meaning |\n|---|---|---|\n")
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		key := field.Tag.Get("yaml")
		if key == "-" {
			continue
		}
		key = prefix + key
		if field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[config.Secret]() {
			r.section(key+".", v.Field(i))
			continue
		}
		meaning := cmp.Or(plain[key], r.comments[v.Type().Name()+"."+field.Name])
		if meaning == "" {
			r.silent = append(r.silent, key)
		}
		fmt.Fprintf(&r.text, "| `%s` | %s | %s |\n", key, shown(v.Field(i)), meaning)
	}
}

// TestSettings: a setting that no code reads says so. A name that other code has for
// something else passes unseen; most settings have names of their own.
func TestSettings(t *testing.T) {
	read := map[string]bool{}
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "config/") && strings.HasSuffix(path, "guard.go") {
			return // guard.go, load_guard.go and check_guard.go set and check the settings
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				read[s.Sel.Name] = true
			}
			return true
		})
	})
	explained := comments(t)
	var check func(v reflect.Type)
	check = func(v reflect.Type) {
		for i := range v.NumField() {
			field := v.Field(i)
			switch {
			case field.Tag.Get("yaml") == "-":
			case field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[config.Secret]():
				check(field.Type)
			case read[field.Name] == strings.Contains(explained[v.Name()+"."+field.Name], "not used yet"):
				t.Errorf("%s.%s: read by code is %v, and its comment says %q", v.Name(), field.Name, read[field.Name], explained[v.Name()+"."+field.Name])
			}
		}
	}
	check(reflect.TypeFor[config.Config]())
}

// shown writes a default as a reader would set it.
func shown(v reflect.Value) string {
	if v.IsZero() && v.Kind() != reflect.Bool || v.Type() == reflect.TypeFor[config.Secret]() {
		return "–"
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return "`" + strings.Replace(strings.Replace(x.String(), "m0s", "m", 1), "h0m", "h", 1) + "`"
	default:
		return fmt.Sprintf("`%v`", x)
	}
}

// comments reads what stands behind the fields of the structs in config/guard.go.
func comments(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "config/guard.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				if field.Comment != nil {
					out[spec.Name.Name+"."+field.Names[0].Name] = strings.TrimSpace(field.Comment.Text())
				}
			}
		}
		return true
	})
	return out
}

// A metric stands in the code as Name: "guard_…", Help: "…".
var metric = regexp.MustCompile(`Name:\s*"(guard_[a-z_]+)",\s*Help:\s*"([^"]+)"`)

// TestMetrics holds the README's list of metrics to the code.
func TestMetrics(t *testing.T) {
	rows := []string{}
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metric.FindAllStringSubmatch(string(text), -1) {
			rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", m[1], m[2]))
		}
	})
	slices.Sort(rows)
	if len(rows) < 8 {
		t.Fatalf("found %d metrics; the search is broken", len(rows))
	}
	written.Block(t, "README.md", "metrics", "| metric | meaning |\n|---|---|\n"+strings.Join(rows, ""), *update)
}

// TestEndpoints holds the README's short list of endpoints to the catalogue's document.
func TestEndpoints(t *testing.T) {
	text, err := os.ReadFile("docs/endpoints.md")
	if err != nil {
		t.Fatal(err)
	}
	_, built, _ := strings.Cut(string(text), "## Working now")
	built, _, _ = strings.Cut(built, "## URL parameters")
	var list []string
	for line := range strings.Lines(built) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[2], "/") {
			continue
		}
		list = append(list, fmt.Sprintf("|%s|%s|%s|\n", cells[1], cells[2], cells[len(cells)-2]))
	}
	if len(list) < 20 {
		t.Fatalf("found %d endpoints; the reading is broken", len(list))
	}
	written.Block(t, "README.md", "endpoints", "| methods | paths | answer |\n|---|---|---|\n"+strings.Join(list, ""), *update)
}

// documents are the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var list []string
	walk(t, func(path string) {
		if strings.HasSuffix(path, ".md") {
			list = append(list, path)
		}
	})
	return list
}

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

// TestLinks: what the documentation links to in the repository is there.
func TestLinks(t *testing.T) {
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
			}
		}
	}
}

var (
	makeCall   = regexp.MustCompile("`make ([a-z]+)")
	makeTarget = regexp.MustCompile(`(?m)^([a-z]+):`)

	phonyTargets = regexp.MustCompile(`(?m)^\.PHONY: (.*)$`)
)

// TestMake: the targets that the documentation names exist, and the README's table of
// commands has each of them.
func TestMake(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	phony := strings.Fields(phonyTargets.FindStringSubmatch(string(makefile))[1])
	if want := slices.Sorted(maps.Keys(targets)); len(want) < 10 || !slices.Equal(want, slices.Sorted(slices.Values(phony))) {
		t.Errorf(".PHONY names %v; the Makefile has %v", phony, want)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "\n## Develop\n")
	for target := range targets {
		if !strings.Contains(table, "`make "+target+"`") {
			t.Errorf("the table of commands in README.md lacks make %s", target)
		}
	}
	for _, path := range documents(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range makeCall.FindAllStringSubmatch(string(text), -1) {
			if !targets[m[1]] {
				t.Errorf("%s names make %s, which the Makefile lacks", path, m[1])
			}
		}
	}
}

// TestHelp: what `make help` prints fits on a screen.
func TestHelp(t *testing.T) {
	cmd := exec.Command("make", "--no-print-directory", "help")
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=") // not those of a `make test` around
	out, err := cmd.Output()
	if err != nil || bytes.Count(out, []byte("\n")) < 10 {
		t.Fatalf("make help: %v, %q", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if n := len(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("make help prints a line of %d columns; want at most 100: %s", n, line)
		}
	}
}

// TestPackages: docs/architecture.md names every folder that holds a package.
func TestPackages(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.dir != "." && !strings.Contains(f.dir, "testdata") { // programs that tests build hold no part of guard
			dirs[f.dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if !strings.Contains(string(text), "`"+dir+"`") {
			t.Errorf("docs/architecture.md does not name the folder %s", dir)
		}
	}
}

var (
	lawNamed  = regexp.MustCompile(`\b[Ll]aw[\s/]+([0-9]+)`) // also across two lines of a comment
	lawStated = regexp.MustCompile(`(?m)^([0-9]+)\. \*\*`)
)

// TestLaws: docs/architecture.md numbers its laws without a gap, and states each one that
// the code or a document names.
func TestLaws(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Laws\n")
	section, _, _ = strings.Cut(section, "\n## ")
	stated := map[string]bool{}
	for i, m := range lawStated.FindAllStringSubmatch(section, -1) {
		stated[m[1]] = true
		if m[1] != strconv.Itoa(i+1) {
			t.Errorf("law %d of docs/architecture.md has the number %s", i+1, m[1])
		}
	}
	found := 0
	walk(t, func(path string) {
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lawNamed.FindAllStringSubmatch(string(text), -1) {
			found++
			if !stated[m[1]] {
				t.Errorf("%s names law %s, which docs/architecture.md does not state", path, m[1])
			}
		}
	})
	if found < 20 {
		t.Fatalf("found %d laws named; the search is broken", found)
	}
}

var (
	required = regexp.MustCompile(`(?m)^(?:require )?\s*([a-z][^ \t]+) v[^ \t\n]+$`) // without "// indirect"
	reason   = regexp.MustCompile(`(?m)^\| ([a-z][^ |]*/[^ |]*) \|`)
)

// TestDependencies: each direct dependency has a line of reason, and no other has.
func TestDependencies(t *testing.T) {
	read := func(path string, row *regexp.Regexp) []string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, m := range row.FindAllStringSubmatch(string(text), -1) {
			list = append(list, m[1])
		}
		slices.Sort(list)
		return list
	}
	direct, reasons := read("go.mod", required), read("docs/dependencies.md", reason)
	if len(direct) < 5 || !slices.Equal(direct, reasons) {
		t.Errorf("go.mod requires %v; docs/dependencies.md has reasons for %v", direct, reasons)
	}
}
