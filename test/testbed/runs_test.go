package testbed

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// age makes the folder look as if nothing had been written to it for that long.
func age(t *testing.T, path string, d time.Duration) {
	t.Helper()
	then := time.Now().Add(-d)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// A run is one of: owned by a living process, left by a dead one, or left long ago.
func TestSweepClearsOnlyTheDead(t *testing.T) {
	runs := t.TempDir()
	newRun := func() *runDir {
		t.Helper()
		r, err := makeRunDir(runs, OpenSearch)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.log(), []byte("log"), 0o600); err != nil {
			t.Fatal(err)
		}
		return r
	}
	living, dead, old := newRun(), newRun(), newRun()
	for _, r := range []*runDir{dead, old} {
		if err := r.owner.Close(); err != nil { // as the system does with a process that ends
			t.Fatal(err)
		}
	}
	age(t, living.path, 2*keepLogs)
	age(t, old.path, 2*keepLogs)
	if err := sweep(runs); err != nil {
		t.Fatal(err)
	}

	f := func(path string, want bool) {
		t.Helper()
		if got := exists(path); got != want {
			t.Errorf("%s exists: %v; want %v", path, got, want)
		}
	}
	f(filepath.Join(living.path, "data"), true)
	f(filepath.Join(dead.path, "data"), false)
	f(dead.log(), true)
	f(old.path, false)

	if err := living.release(false); err != nil {
		t.Fatal(err)
	}
	f(living.path, false)
}

func TestReleaseKeepsLogs(t *testing.T) {
	r, err := makeRunDir(t.TempDir(), ES710)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.release(true); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(r.path, "data")) || !exists(filepath.Join(r.path, "logs")) {
		t.Error("release(true) must remove data and keep logs")
	}
}
