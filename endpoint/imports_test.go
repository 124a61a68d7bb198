package endpoint

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestImports: the catalogue knows requests, names and JSON; no decision, no socket.
func TestImports(t *testing.T) {
	allowed := []string{"guard/internal/ask", "guard/internal/esjson", "guard/internal/names", "net/http"}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			ours := strings.HasPrefix(path, "guard/") || strings.Contains(path, ".") || strings.HasPrefix(path, "net")
			if ours && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %q; want only %q and pure packages", name, path, allowed)
			}
		}
	}
}
