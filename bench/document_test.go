package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumented holds that the page and its plots are made of the documented results.
func TestDocumented(t *testing.T) {
	const root = ".."
	files, err := rendered(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || !same(path, got, want) {
			t.Errorf("%s is not what %s says (%v); run: go run ./bench -render", path, documentedResults, err)
		}
	}
	plots, err := filepath.Glob(filepath.Join(root, images, "benchmark-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range plots {
		if name, err := filepath.Rel(root, path); err != nil || files[name] == nil {
			t.Errorf("%s is no plot of the documented results (%v)", path, err)
		}
	}
}

// same reports whether two files say the same. How pixels are packed is up to the library.
func same(path string, a, b []byte) bool {
	if filepath.Ext(path) != ".png" {
		return bytes.Equal(a, b)
	}
	x, err1 := png.Decode(bytes.NewReader(a))
	y, err2 := png.Decode(bytes.NewReader(b))
	if err1 != nil || err2 != nil || x.Bounds() != y.Bounds() {
		return false
	}
	p, ok1 := x.(*image.RGBA)
	q, ok2 := y.(*image.RGBA)
	return ok1 && ok2 && bytes.Equal(p.Pix, q.Pix)
}

// TestDocument: a part that was not measured stays as it is documented.
func TestDocument(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, page)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	document := func(r results, want ...string) {
		t.Helper()
		if err := r.document(root); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("the page lacks %q:\n%s", w, text)
			}
		}
	}
	write("before\n" + pageOpen + "old\n" + pageShut + "after\n" + matrixOpen + matrixShut + clusterOpen + clusterShut)
	document(results{Memory: sampleMemory()}, "before\n", "after\n", "| bulk, limited ")
	document(results{Comparison: sample()}, "before\n", "after\n", "| bulk, limited ", "benchmark-cpu.svg", "× nginx")
	document(results{Matrix: sampleMatrix()}, "| bulk, limited ", "× nginx", "benchmark-matrix.svg", "benchmark-matrix.png", "Search, one alias")
	if _, err := os.Stat(filepath.Join(root, images, "benchmark-latency.svg")); err != nil {
		t.Error(err)
	}
	write("no marks")
	if err := (results{}).document(root); err == nil || !strings.Contains(err.Error(), "has no part between") {
		t.Errorf("a page without marks: %v", err)
	}
}
