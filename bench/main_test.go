package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"guard/test/testbed"
)

// TestMain lets the test binary play the roles that the program has.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && roles[os.Args[1]] != nil {
		main()
		return
	}
	testbed.Main(m)
}

// TestBench runs the whole comparison with few requests: every column is checked to
// measure what its name says.
func TestBench(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	s := settings{rounds: 2, conns: 4, requests: 200, rate: 500, paced: 100 * time.Millisecond}
	if err := bench(t.Context(), s, dir, false, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	written, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil || len(written) != 1 {
		t.Fatalf("files %q, %v; want one", written, err)
	}
	text, err := os.ReadFile(written[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range []string{bareName, "guard unrestricted", "guard limited", "guard DLS", "guard DLS+FLS"} {
		if n := strings.Count(string(text), "| "+column+" "); n != len(sizes) {
			t.Errorf("column %q has %d rows; want %d:\n%s", column, n, len(sizes), text)
		}
	}
	if !strings.Contains(string(text), "| nginx") && !strings.Contains(out.String(), errNoNginx.Error()) {
		t.Errorf("nginx has no column and nobody says why:\n%s", &out)
	}
}

// TestProfile holds that the profiler still fits into guard.
func TestProfile(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	s := settings{rounds: 1, conns: 2, requests: 100, rate: 100, paced: 10 * time.Millisecond}
	if err := bench(t.Context(), s, dir, true, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, name := range []string{"guard-DLS-FLS-people.cpu", "guard-limited-archive.allocs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("profile %s: %v", name, err)
		}
	}
}

func TestSettingsRefuse(t *testing.T) {
	good := settings{rounds: 1, conns: 1, requests: 1, rate: 1, paced: 1}
	if err := good.check(nil); err != nil {
		t.Errorf("good settings: %v", err)
	}
	f := func(what string, change func(*settings), rest ...string) {
		t.Helper()
		s := good
		change(&s)
		if err := s.check(rest); err == nil {
			t.Errorf("%s passed", what)
		}
	}
	f("no rounds", func(s *settings) { s.rounds = 0 })
	f("no requests", func(s *settings) { s.requests = 0 })
	f("no connections", func(s *settings) { s.conns = 0 })
	f("no rate", func(s *settings) { s.rate = 0 })
	f("no time", func(s *settings) { s.paced = 0 })
	f("an argument", func(*settings) {}, "stubb")
}
