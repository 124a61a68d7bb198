package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"guard/test/testbed"
)

// The ports of the demo, where they are free.
const (
	guardPort    = 9200
	nodePort     = 9201
	internalPort = 9290
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 15 * time.Second
	pause        = 20 * time.Millisecond // between two looks
)

// freePort returns port if nothing listens there, else 0, for which the system
// chooses another.
func freePort(port int) int {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		progress("port %d is taken; another one will do", port)
		return 0
	}
	_ = l.Close() // it was only asked for
	return port
}

// repository returns the root of the repository that the working folder is in.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot find the repository: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("cannot find the repository: no go.mod here or above; run the demo inside it")
		}
	}
}

// buildGuard builds the binary into dir, with the flags of `make build`, so that
// what it compiled is used again.
func buildGuard(ctx context.Context, root, dir string) (string, error) {
	binary := filepath.Join(dir, "guard")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "./cmd/guard")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build guard: %w\n%s", err, out)
	}
	return binary, nil
}

// A guardProcess is a running guard.
type guardProcess struct {
	client   testbed.Client // without credentials
	internal string         // URL of probes and metrics
	logPath  string
	cmd      *exec.Cmd
	exited   chan struct{}
}

// startGuard returns when guard is ready. A guard that was started is returned with
// an error as well, to be stopped.
func startGuard(ctx context.Context, root, dir, binary, upstream string) (*guardProcess, error) {
	g := &guardProcess{logPath: filepath.Join(dir, "guard.log"), exited: make(chan struct{})}
	g.cmd = exec.Command(binary, "serve", "--config", filepath.Join(root, "deploy", "sample", "guard.yml"), "--upstream", upstream,
		"--listen", fmt.Sprintf("127.0.0.1:%d", freePort(guardPort)), "--internal", fmt.Sprintf("127.0.0.1:%d", freePort(internalPort)))
	g.cmd.SysProcAttr = tied()
	if err := g.launch(); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(startTimeout)
	for {
		last := g.ready()
		if last == nil {
			return g, nil
		}
		select {
		case <-ctx.Done():
			return g, ctx.Err()
		case <-g.exited:
			return g, fmt.Errorf("guard did not start: %v\n%s", g.cmd.ProcessState, g.log())
		case <-time.After(pause):
		}
		if time.Now().After(deadline) {
			return g, fmt.Errorf("guard is not ready after %v: %w\n%s", startTimeout, last, g.log())
		}
	}
}

// launch starts the process. The thread that starts it stays until it has ended,
// since on Linux it takes the process with it.
func (g *guardProcess) launch() error {
	log, err := os.Create(g.logPath)
	if err != nil {
		return fmt.Errorf("cannot write guard's log: %w", err)
	}
	defer log.Close() // the process has its own copy
	g.cmd.Stdout, g.cmd.Stderr = log, log
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := g.cmd.Start()
		started <- err
		if err == nil {
			_ = g.cmd.Wait() // stop looks at the status
			close(g.exited)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("cannot start guard: %w", err)
	}
	return nil
}

// ready returns nil if guard has seen the cluster, else what is missing.
func (g *guardProcess) ready() error {
	for line := range strings.Lines(g.log()) {
		var said struct{ Listen, Internal string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Listen != "" {
			g.client.URL, g.internal = "http://"+said.Listen, "http://"+said.Internal
		}
	}
	if g.internal == "" {
		return errors.New("it does not listen yet")
	}
	res, err := http.Get(g.internal + "/readyz")
	if err != nil {
		return fmt.Errorf("cannot ask whether guard is ready: %w", err)
	}
	_ = res.Body.Close() // the status is enough
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answers %d", res.StatusCode)
	}
	return nil
}

// log returns what guard has logged so far.
func (g *guardProcess) log() string {
	text, err := os.ReadFile(g.logPath)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	return string(text)
}

// stop ends guard as an operator would and waits for it.
func (g *guardProcess) stop() error {
	_ = g.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended already
	select {
	case <-g.exited:
		return nil
	case <-time.After(stopTimeout):
		_ = g.cmd.Process.Kill() // fails if it has ended just now
		<-g.exited
		return fmt.Errorf("guard did not end within %v of being told, and was killed", stopTimeout)
	}
}
