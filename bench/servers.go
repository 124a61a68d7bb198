package main

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// policy is the security folder of the guard that is measured.
//
//go:embed testdata/security
var policy embed.FS

// password is that of all users in testdata/security.
const password = "bench"

func basic(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// patient has idle connections wait until all are there and looked at.
const patient = "timeouts: {idle: 10m}\n"

// startGuard runs a guard binary in front of upstream, with the policy of testdata/security;
// settings are added to its guard.yml.
func (m *machine) startGuard(ctx context.Context, binary, upstream, settings string) (process, error) {
	files, err := fs.Sub(policy, "testdata/security")
	if err != nil {
		return process{}, fmt.Errorf("cannot read the policy: %w", err)
	}
	security, err := os.MkdirTemp(m.dir, "security-")
	if err != nil {
		return process{}, fmt.Errorf("cannot make a folder for the policy: %w", err)
	}
	if err := os.CopyFS(security, files); err != nil {
		return process{}, fmt.Errorf("cannot write the policy: %w", err)
	}
	return m.startGuardWith(ctx, binary, upstream, security, settings)
}

// startGuardWith is startGuard with the policy of a folder.
func (m *machine) startGuardWith(ctx context.Context, binary, upstream, security, settings string) (process, error) {
	dir, err := os.MkdirTemp(m.dir, "guard-")
	if err != nil {
		return process{}, fmt.Errorf("cannot make guard's folder: %w", err)
	}
	config, profile := filepath.Join(dir, "guard.yml"), filepath.Join(dir, "profile")
	if err := os.WriteFile(config, []byte(patient+settings), 0o600); err != nil {
		return process{}, fmt.Errorf("cannot write guard's settings: %w", err)
	}
	cmd := m.command(ctx, proxyCore, binary, "serve", "--config", config, "--listen", "127.0.0.1:0", "--internal", "127.0.0.1:0",
		"--upstream", "http://"+upstream, "--security", security)
	cmd.Env = append(os.Environ(), profileEnv+"="+profile)
	p, err := m.logged(ctx, cmd, guardReady)
	p.profile = profile
	return p, err
}

// guardReady finds in guard's log where it listens, and asks whether it is ready.
func guardReady(log string) (process, error) {
	for line := range strings.Lines(log) {
		var said struct{ Listen, Internal string }
		if json.Unmarshal([]byte(line), &said) != nil || said.Listen == "" || said.Internal == "" {
			continue
		}
		res, err := http.Get("http://" + said.Internal + "/readyz")
		if err != nil {
			return process{}, fmt.Errorf("cannot ask whether guard is ready: %w", err)
		}
		_ = res.Body.Close() // the status is enough
		if res.StatusCode != http.StatusOK {
			return process{}, fmt.Errorf("/readyz answers %d", res.StatusCode)
		}
		return process{addr: said.Listen, internal: said.Internal}, nil
	}
	return process{}, errors.New("guard does not listen yet")
}

// buildGuard makes the binary that is measured. With profile it gets a file more,
// which the product does not have: on a signal it writes profiles.
func (m *machine) buildGuard(ctx context.Context, profile bool) (string, error) {
	binary := filepath.Join(m.dir, "guard")
	if profile {
		binary += "-profiled"
	}
	args := []string{"build", "-trimpath", "-o", binary}
	if profile {
		overlay, err := m.overlay()
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, "guard/cmd/guard")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build guard: %w\n%s", err, out)
	}
	return binary, nil
}
