// Package written holds documents to what they are written from: tables of the code, and
// what tests have found.
package written

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Block holds that text stands between the marks of a block in a document; with update it
// is put there.
func Block(t testing.TB, path, name, text string, update bool) {
	t.Helper()
	whole, err := os.ReadFile(path) //nolint:gosec // G304: a document of the repository
	if err != nil {
		t.Fatal(err)
	}
	want, err := with(string(whole), name, text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	File(t, path, want, update)
}

// with returns a document in which text is that block.
func with(whole, name, text string) (string, error) {
	open, shut := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, opened := strings.Cut(whole, open)
	_, after, closed := strings.Cut(rest, shut)
	if !opened || !closed {
		return "", fmt.Errorf("no block between %q and %q", open, shut)
	}
	return before + open + text + shut + after, nil
}

// File is Block for a document as a whole.
func File(t testing.TB, path, text string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // G306: documentation is public
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path) //nolint:gosec // G304: a document of the repository
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != text {
		t.Errorf("%s does not say what it is written from; run this test with -update, and read the difference", path)
	}
}
