package testbed

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeLog(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPolicyFault(t *testing.T) {
	f := func(log, want string) {
		t.Helper()
		err := policyFault(writeLog(t, log))
		if want == "" && err != nil || want != "" && (!errors.Is(err, errPolicy) || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("log %q: %v; want %q", log, err, want)
		}
	}
	const refused = "[2026-01-01][ERROR][o.o.s.c] Cannot apply default config (this is maybe not an error!)\n"
	f("[2026-01-01][INFO ] started\n", "")
	f(refused+"x.PrivilegedActionException: null\n\tat a\nCaused by: x.Mismatched: no list\n\tat b\n[2026-01-01] next Caused by: other\n", "Caused by: x.Mismatched: no list")
	f(refused+"x.UnrecognizedPropertyException: field \"v4\"\n\tat a\n", `x.UnrecognizedPropertyException: field "v4"`)
	f(refused, "its configuration: ")
	f(refused+"x.LongException: "+strings.Repeat("y", 2*maxCause)+"\n", "y")
}

func TestLogDigest(t *testing.T) {
	f := func(log, want string) {
		t.Helper()
		if got := string(logDigest(writeLog(t, log))); got != want {
			t.Errorf("digest of %q: %q; want %q", log, got, want)
		}
	}
	f("a\nb\n", "a\nb")
	f("[x][ERROR] bad\n\tat frame\nend\n", "[x][ERROR] bad\n...\n[x][ERROR] bad\nend")
	f(strings.Repeat("l\n", 30), strings.TrimSuffix(strings.Repeat("l\n", 20), "\n"))
	if got := string(logDigest("missing")); !strings.Contains(got, "no such file") {
		t.Errorf("digest of a missing log: %q", got)
	}
}

func TestTail(t *testing.T) {
	f := func(text string, n int, want string) {
		t.Helper()
		if got := string(tail([]byte(text), n)); got != want {
			t.Errorf("tail(%q, %d) = %q; want %q", text, n, got, want)
		}
	}
	f("", 3, "")
	f("a", 1, "a")
	f("a\nb\nc\n\n", 2, "b\nc")
	f("a\nb", 5, "a\nb")
}
