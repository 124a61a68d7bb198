package proxy

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestImports holds that fasthttp stays within this package: what it gives out is
// reused after a handler returns, and its defaults are not guard's.
func TestImports(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, filepath.Join("..", "proxy")) || strings.HasPrefix(path, filepath.Join("..", "bench")) {
			return nil // the benchmarks compare with a bare fasthttp proxy
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return nil //nolint:nilerr // what does not parse does not build
		}
		files++
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, "valyala/fasthttp") {
				t.Errorf("%s imports fasthttp; only proxy may", path)
			}
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}
