package guardproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"guard/test/testbed"
)

// RaceEnv is the variable that, set to 1, has the binary built with the race detector.
const RaceEnv = "GUARD_RACE"

// build makes the binary when the first test asks, for all of this test binary.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "guardproc-")
	if err != nil {
		return "", fmt.Errorf("cannot make a folder for the binary: %w", err)
	}
	testbed.AtExit(func() error { return os.RemoveAll(dir) })
	binary := filepath.Join(dir, "guard")
	args := []string{"build", "-o", binary}
	if os.Getenv(RaceEnv) == "1" {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "guard/cmd/guard")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build guard: %w\n%s", err, out)
	}
	return binary, nil
})

// Binary returns the path of the guard binary. Packages that use it run their tests
// by testbed.Main, which removes it in the end.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Check runs `guard check` on a security folder and returns what it objects to.
func Check(t testing.TB, security string) error {
	t.Helper()
	out, err := exec.Command(Binary(t), "check", "--security", security, "--upstream", "http://127.0.0.1:1").CombinedOutput()
	if err != nil {
		return fmt.Errorf("guard check: %w\n%s", err, out)
	}
	return nil
}
