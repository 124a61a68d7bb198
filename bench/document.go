package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Where the documented results are, from the root of the repository.
const (
	documentedResults = "bench/results/documented.json"
	page              = "docs/benchmarks.md"
	images            = "docs/img"
)

// Marks around the parts of the page that are made of the results.
const (
	pageOpen    = "<!-- figures: go run ./bench -render -->\n"
	pageShut    = "<!-- end of figures -->\n"
	matrixOpen  = "<!-- matrix: go run ./bench -render -->\n"
	matrixShut  = "<!-- end of matrix -->\n"
	clusterOpen = "<!-- cluster: go run ./bench -render -->\n"
	clusterShut = "<!-- end of cluster -->\n"
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
	if r.Matrix == nil {
		r.Matrix = kept.Matrix
	}
	if r.Cluster == nil {
		r.Cluster = kept.Cluster
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
	files := map[string][]byte{}
	for _, part := range []struct {
		open, shut string
		results    results
	}{
		{pageOpen, pageShut, results{Comparison: r.Comparison, Memory: r.Memory}},
		{matrixOpen, matrixShut, results{Matrix: r.Matrix}},
		{clusterOpen, clusterShut, results{Cluster: r.Cluster}},
	} {
		var b bytes.Buffer
		if err := part.results.render(&b, files); err != nil {
			return nil, err
		}
		if text, err = between(text, part.open, part.shut, b.Bytes()); err != nil {
			return nil, err
		}
	}
	files[page] = text
	return files, nil
}

// render writes plots and tables to b, and the plots themselves to files.
func (r results) render(b *bytes.Buffer, files map[string][]byte) error {
	for _, p := range r.plots() {
		files[filepath.Join(images, p.file+".svg")] = p.svg()
		fmt.Fprintf(b, "![%s](img/%s.svg)\n\n", p.title, p.file)
		if p.png {
			files[filepath.Join(images, p.file+".png")] = p.pixels.png()
			fmt.Fprintf(b, "[The same as PNG](img/%s.png).\n\n", p.file)
		}
	}
	if err := r.write(b); err != nil {
		return fmt.Errorf("cannot write the tables: %w", err)
	}
	return nil
}

// plots are the pictures of all that was measured.
func (r results) plots() (list []plot) {
	if r.Comparison != nil {
		list = append(list, r.Comparison.plots()...)
	}
	if r.Matrix != nil {
		list = append(list, r.Matrix.plots()...)
	}
	return list
}

// between puts part between two marks of the page.
func between(text []byte, open, shut string, part []byte) ([]byte, error) {
	before, rest, opened := bytes.Cut(text, []byte(open))
	_, after, found := bytes.Cut(rest, []byte(shut))
	if !opened || !found {
		return nil, fmt.Errorf("%s has no part between %q and %q", page, open, shut)
	}
	return slices.Concat(before, []byte(open), part, []byte(shut), after), nil
}
