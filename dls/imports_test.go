package dls_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports: dls knows the walker and nothing above it.
func TestImports(t *testing.T) {
	allowed := map[string]bool{"guard/internal/query": true, "guard/internal/esjson": true}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(path, ".") || strings.HasPrefix(path, "guard/") && !allowed[path] {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}
