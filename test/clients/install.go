package clients

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"guard/test/testbed"
)

// errNoTool means that the machine lacks a program that a client is installed or run with.
var errNoTool = errors.New("not on this machine")

// An install is the making of the home of one client.
type install struct {
	ctx      context.Context
	home     string // to fill
	testdata string
	folder   string // of testdata
}

// Install makes sure that the client is in the cache of the test bed and returns its home.
func (c Client) Install(ctx context.Context, testdata string) (string, error) {
	sum, err := c.sum(testdata)
	if err != nil {
		return "", fmt.Errorf("cannot name the home of %s: %w", c.Dir(), err)
	}
	home, err := testbed.Keep(ctx, filepath.Join("clients", c.Dir()+"-"+sum), func(dir string) error {
		return c.install(install{ctx, dir, testdata, filepath.Join(testdata, c.Folder)})
	})
	if err != nil {
		return "", fmt.Errorf("cannot install %s: %w", c.Dir(), err)
	}
	return home, nil
}

// sum is a hash of all that goes into the home.
func (c Client) sum(testdata string) (string, error) {
	h := sha256.New()
	files, err := filepath.Glob(filepath.Join(testdata, c.Folder, "*"))
	if err != nil {
		return "", err
	}
	for _, source := range c.Sources {
		files = append(files, filepath.Join(testdata, source))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(file), len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// run runs a tool in dir. What it said goes into the error when it fails.
func (in install) run(dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(in.ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s: %w", name, errNoTool)
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, tail(string(out)))
	}
	return nil
}

// tail returns the end of what a program said.
func tail(said string) string {
	const most = 2 << 10 // bytes
	if len(said) > most {
		said = "..." + said[len(said)-most:]
	}
	return strings.TrimSpace(said)
}

// bring copies files into dir.
func (in install) bring(dir string, files ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// byPip installs what requirements.txt lists, all of it by hash, into an environment of its own.
func byPip(in install) error {
	if err := in.run(in.home, nil, "python3", "-m", "venv", "venv"); err != nil {
		return err
	}
	return in.run(in.home, nil, filepath.Join(in.home, "venv", "bin", "python"), "-m", "pip", "install", "-q",
		"--require-hashes", "--no-deps", "-r", filepath.Join(in.folder, "requirements.txt"))
}

// byNpm installs what package-lock.json lists, by its hashes.
func byNpm(in install) error {
	if err := in.bring(in.home, filepath.Join(in.folder, "package.json"), filepath.Join(in.folder, "package-lock.json")); err != nil {
		return err
	}
	return in.run(in.home, nil, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
}

// byGo compiles a program in a module of its own, pinned by its go.sum. Some clients
// are so large that compiling them takes minutes.
func byGo(program, major string) func(install) error {
	return func(in install) error {
		module, err := os.MkdirTemp("", "guard-client-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(module)
		source := filepath.Join(in.testdata, "go", program, "main.go")
		if err := in.bring(module, source, filepath.Join(in.folder, "go.mod"), filepath.Join(in.folder, "go.sum")); err != nil {
			return err
		}
		if err := in.bring(filepath.Join(module, "scenario"), filepath.Join(in.testdata, "go", "scenario", "scenario.go")); err != nil {
			return err
		}
		if err := setMajor(filepath.Join(module, "main.go"), major); err != nil {
			return err
		}
		return in.run(module, []string{"GOWORK=off", "GOFLAGS="}, "go", "build", "-p", "1", "-o", filepath.Join(in.home, "client"), ".")
	}
}

// setMajor changes the major version of go-elasticsearch in a program, if one is given.
func setMajor(file, major string) error {
	if major == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "go-elasticsearch/v8", "go-elasticsearch/"+major)), 0o644)
}

// copyPlugin copies the jars that a project needs; lib.sha256 says what they are.
const copyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies"

// byMaven compiles a program against the jars of pom.xml, if there is one.
func byMaven(program string) func(install) error {
	return func(in install) error {
		lib := filepath.Join(in.home, "lib")
		if pom := filepath.Join(in.folder, "pom.xml"); exists(pom) {
			if err := in.bring(in.home, pom); err != nil {
				return err
			}
			if err := in.run(in.home, nil, "mvn", "-q", "-B", copyPlugin, "-DincludeScope=runtime", "-DoutputDirectory="+lib); err != nil {
				return err
			}
			if err := checkSums(filepath.Join(in.folder, "lib.sha256"), lib); err != nil {
				return err
			}
		}
		return in.run(in.home, nil, "javac", "-nowarn", "-cp", filepath.Join(lib, "*"), "-d", filepath.Join(in.home, "classes"),
			filepath.Join(in.testdata, program))
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkSums returns an error unless dir holds the files that list names, with those bytes, and no other.
func checkSums(list, dir string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	wanted := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		wanted[name] = sum
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		sum, err := sumOf(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		if want := wanted[f.Name()]; sum != want {
			return fmt.Errorf("%s has SHA-256 %s; want %q", f.Name(), sum, want)
		}
		delete(wanted, f.Name())
	}
	if len(wanted) > 0 {
		return fmt.Errorf("%d jars are missing: %v", len(wanted), wanted)
	}
	return nil
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// debianPackages are those of rsyslog that a small system lacks.
var debianPackages = []string{"rsyslog", "rsyslog-elasticsearch", "libestr0", "libfastjson4", "liblognorm5", "libcurl4"}

// byDebian unpacks Debian's packages without installing them. apt checks their signatures.
func byDebian(in install) error {
	if err := in.run(in.home, nil, "apt-get", append([]string{"download", "-q"}, debianPackages...)...); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(in.home, "*.deb"))
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := errors.Join(in.run(in.home, nil, "dpkg-deb", "-x", p, "root"), os.Remove(p)); err != nil {
			return err
		}
	}
	return nil
}
