package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Where the documented results are, from the root of the repository.
const (
	documentedResults = "bench/results/documented.json"
	page              = "docs/benchmarks.md"
	images            = "docs/img"
)

// Marks around the part of the page that is made of the results.
const (
	pageOpen = "<!-- figures: go run ./bench -render -->\n"
	pageShut = "<!-- end of figures -->\n"
)

// document makes the parts of r that were measured the documented ones, and keeps the
// other as it is.
func (r results) document(root string) error {
	path := filepath.Join(root, documentedResults)
	kept, err := readResults(path)
	if err != nil {
		return err
	}
	if r.Comparison == nil {
		r.Comparison = kept.Comparison
	}
	if r.Memory == nil {
		r.Memory = kept.Memory
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("cannot make the folder for results: %w", err)
	}
	return errors.Join(r.save(path), render(root))
}

// render writes the documentation of the documented results anew.
func render(root string) error {
	files, err := rendered(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, images), 0o750); err != nil {
		return fmt.Errorf("cannot make the folder for plots: %w", err)
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(root, path), text, 0o644); err != nil { //nolint:gosec // G306: documentation is public
			return fmt.Errorf("cannot write documentation: %w", err)
		}
	}
	return nil
}

// rendered returns the page and the plots as the documented results want them, by path.
func rendered(root string) (map[string][]byte, error) {
	r, err := readResults(filepath.Join(root, documentedResults))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return nil, fmt.Errorf("cannot read the page of the figures: %w", err)
	}
	before, rest, opened := strings.Cut(string(text), pageOpen)
	_, after, shut := strings.Cut(rest, pageShut)
	if !opened || !shut {
		return nil, fmt.Errorf("%s has no part between %q and %q", page, pageOpen, pageShut)
	}
	files := map[string][]byte{}
	b := bytes.NewBufferString(before + pageOpen)
	if r.Comparison != nil {
		for _, p := range r.Comparison.plots() {
			files[filepath.Join(images, p.file)] = p.svg
			fmt.Fprintf(b, "![%s](img/%s)\n\n", p.title, p.file)
		}
	}
	if err := r.write(b); err != nil {
		return nil, fmt.Errorf("cannot write the tables: %w", err)
	}
	b.WriteString(pageShut + after)
	files[page] = b.Bytes()
	return files, nil
}
