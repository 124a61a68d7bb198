package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// profileEnv names the file, without its ending, that a guard with the profiler writes.
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
func (m *machine) profileOf(ctx context.Context, p process, j job, to string) error {
	if err := syscall.Kill(p.pid, syscall.SIGUSR1); err != nil {
		return fmt.Errorf("cannot start the profile: %w", err)
	}
	if _, err := m.load(ctx, j); err != nil {
		return err
	}
	if _, err := p.collect(); err != nil {
		return err
	}
	return errors.Join(p.keep(".cpu", to), p.keep(".allocs", to))
}

// held is what a guard with the profiler holds after it has collected its garbage.
type held struct {
	Heap   int64 // bytes in use
	Stacks int64
}

// collect has guard end its profile and collect its garbage, and returns what is left.
func (p process) collect() (held, error) {
	var h held
	if err := syscall.Kill(p.pid, syscall.SIGUSR2); err != nil {
		return h, fmt.Errorf("cannot end the profile: %w", err)
	}
	for deadline := time.Now().Add(10 * time.Second); os.Remove(p.profile+".done") != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return h, errors.New("guard wrote no profile within 10 s")
		}
	}
	text, err := os.ReadFile(p.profile + ".held")
	if err != nil {
		return h, fmt.Errorf("cannot read what guard holds: %w", err)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("cannot read what guard holds: %w", err)
	}
	return h, nil
}

// keep copies a profile out of the scratch folder.
func (p process) keep(kind, to string) error {
	text, err := os.ReadFile(p.profile + kind)
	if err != nil {
		return fmt.Errorf("cannot read a profile: %w", err)
	}
	if err := os.WriteFile(to+kind, text, 0o600); err != nil {
		return fmt.Errorf("cannot keep a profile: %w", err)
	}
	return nil
}
