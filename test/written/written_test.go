package written

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBlock: the text takes the place of the old one, and nothing else changes.
func TestBlock(t *testing.T) {
	const before, after = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n", "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	var told teller
	Block(&told, path, "x", "new\n", false)
	if told.errors != 1 {
		t.Errorf("a document that says something else: %d errors; want 1", told.errors)
	}
	Block(t, path, "x", "new\n", true)
	Block(t, path, "x", "new\n", false)
	if text, err := os.ReadFile(path); err != nil || string(text) != after {
		t.Errorf("got %q, %v", text, err)
	}
	for _, text := range []string{"", "<!-- x -->\n", "<!-- end of x -->\n<!-- x -->\n", "<!-- y -->\n<!-- end of x -->\n"} {
		if _, err := with(text, "x", "new\n"); err == nil || !strings.Contains(err.Error(), "no block") {
			t.Errorf("%q: got %v; want that there is no block", text, err)
		}
	}
}

// teller counts what a test is told.
type teller struct {
	testing.TB
	errors int
}

func (c *teller) Helper()               {}
func (c *teller) Errorf(string, ...any) { c.errors++ }
