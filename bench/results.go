package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// results are all that the tables and plots are made of. A part that
// was not measured is nil.
type results struct {
	Comparison *comparison `json:",omitempty"`
	Memory     *memory     `json:",omitempty"`
	Matrix     *matrix     `json:",omitempty"`
	Cluster    *cluster    `json:",omitempty"`
}

// surroundings are where and when a part was measured.
type surroundings struct {
	Date    string
	Commit  string
	Cores   int
	CPU     string   // kind of it
	Kernel  string   // kind of it
	Others  []string // programs with their versions
	Load    string   // the load average before
	Pinned  bool     // the proxy had a core of its own
	Profile bool     // guard was the build with the profiler
}

// kernelVersion leaves out who built it.
var kernelVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+`)

// look returns what is around m.
func (m *machine) look() surroundings {
	s := surroundings{
		Date: time.Now().UTC().Format(time.DateOnly), Commit: "unknown", Cores: runtime.NumCPU(), CPU: "CPU", Kernel: runtime.GOOS,
		Others: []string{strings.Replace(runtime.Version(), "go", "Go ", 1)}, Load: "unknown", Pinned: m.pinned,
	}
	if out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude", "*").Output(); err == nil {
		s.Commit = strings.TrimSpace(string(out))
	}
	for _, f := range foreign {
		if v := f.version(); v != "" {
			s.Others = append(s.Others, v)
		}
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := bytes.Cut(text, []byte("model name\t: ")); ok {
			line, _, _ := bytes.Cut(after, []byte("\n"))
			s.CPU = string(line)
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		s.Kernel = "Linux " + kernelVersion.FindString(string(text))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		s.Load, _, _ = strings.Cut(string(text), " ")
	}
	return s
}

func (s surroundings) String() string {
	return fmt.Sprintf("Commit %s, %s, %s, %d cores of an %s, load average %s before the run, %s.",
		s.Commit, strings.Join(s.Others, ", "), s.Kernel, s.Cores, s.CPU, s.Load, s.Date)
}

// readResults reads a file of results; one that is not there has none.
func readResults(path string) (results, error) {
	var r results
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("cannot read results: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("cannot read results %s: %w", path, err)
	}
	return r, nil
}

func (r results) save(path string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return fmt.Errorf("cannot write results: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil { //nolint:gosec // G306: results are public
		return fmt.Errorf("cannot write results: %w", err)
	}
	return nil
}
