package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// profileEnv names the file, without its ending, that the profiled guard writes.
const profileEnv = "GUARD_BENCH_PROFILE"

// profiler is a file of guard's main package, for the profiled build alone.
//
//go:embed testdata/profiler.go.txt
var profiler []byte

// overlay writes what `go build -overlay` needs to add the profiler to guard.
func (m *machine) overlay() (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "guard/cmd/guard").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find guard's sources: %w", err)
	}
	added := filepath.Join(m.dir, "profiler.go")
	if err := os.WriteFile(added, profiler, 0o600); err != nil {
		return "", fmt.Errorf("cannot write the profiler: %w", err)
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(strings.TrimSpace(string(out)), "bench_profiler.go"): added,
	}})
	if err != nil {
		return "", fmt.Errorf("cannot write the overlay: %w", err)
	}
	path := filepath.Join(m.dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// profileOf runs a load and has guard write a CPU and an allocation profile of it.
func (m *machine) profileOf(ctx context.Context, j job, to string) error {
	if err := syscall.Kill(j.PID, syscall.SIGUSR1); err != nil {
		return fmt.Errorf("cannot start the profile: %w", err)
	}
	if _, err := m.load(ctx, j); err != nil {
		return err
	}
	if err := syscall.Kill(j.PID, syscall.SIGUSR2); err != nil {
		return fmt.Errorf("cannot end the profile: %w", err)
	}
	done := filepath.Join(m.dir, "profile.done")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if os.Remove(done) == nil {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("guard wrote no profile within 10 s")
		}
	}
	for _, kind := range []string{".cpu", ".allocs"} {
		text, err := os.ReadFile(filepath.Join(m.dir, "profile"+kind))
		if err != nil {
			return fmt.Errorf("cannot read a profile: %w", err)
		}
		if err := os.WriteFile(to+kind, text, 0o600); err != nil {
			return fmt.Errorf("cannot keep a profile: %w", err)
		}
	}
	return nil
}
