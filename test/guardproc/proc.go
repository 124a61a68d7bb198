package guardproc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"guard/test/testbed"
)

// Options say how guard is started.
type Options struct {
	// Security is the folder with the policy; WriteSecurity makes one.
	Security string

	// Upstream is the URL of the cluster.
	Upstream string

	// Config is further text of guard.yml; listen, internal, upstream.urls and security are set.
	Config string
}

// Proc is a running guard. Its Client speaks without credentials; As gives others.
type Proc struct {
	testbed.Client        // URL is where clients are served
	Internal       string // URL of probes and metrics
	Security       string // the folder in use

	log    string
	cmd    *exec.Cmd
	exited chan struct{}
}

const (
	startTimeout  = 30 * time.Second
	reloadTimeout = 15 * time.Second
	stopTimeout   = 15 * time.Second
	pause         = 10 * time.Millisecond // between two looks
)

// Start runs guard and returns when it is ready: it has seen the cluster. It is
// stopped when the test ends; if that failed, its log is shown. A guard that does
// not start fails the test.
func Start(t testing.TB, o Options) *Proc {
	t.Helper()
	dir := t.TempDir()
	// Port 0 is free by nature; the log tells which one it became.
	args := []string{"serve", "--listen", "127.0.0.1:0", "--internal", "127.0.0.1:0", "--upstream", o.Upstream, "--security", o.Security}
	if o.Config != "" {
		file := filepath.Join(dir, "guard.yml")
		if err := os.WriteFile(file, []byte(o.Config), 0o600); err != nil {
			t.Fatalf("cannot write guard.yml: %v", err)
		}
		args = append(args, "--config", file)
	}
	p := &Proc{Security: o.Security, log: filepath.Join(dir, "guard.log"), exited: make(chan struct{})}
	p.cmd = exec.Command(Binary(t), args...)
	p.cmd.SysProcAttr = tied()
	if err := p.launch(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Stop(t)
		if t.Failed() {
			t.Logf("end of guard's log:\n%s", tail(p.Log()))
		}
	})
	if err := p.await(startTimeout, p.ready); err != nil {
		t.Fatalf("guard did not start: %v\n%s", err, p.Log())
	}
	return p
}

// launch starts the process. The thread that starts it stays until it has ended,
// since on Linux it takes the process with it.
func (p *Proc) launch() error {
	log, err := os.Create(p.log)
	if err != nil {
		return fmt.Errorf("cannot write guard's log: %w", err)
	}
	defer log.Close() // the process has its own copy
	p.cmd.Stdout, p.cmd.Stderr = log, log
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // Stop looks at the status
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("cannot start guard: %w", err)
	}
	return nil
}

// ready returns nil if guard serves, else what is missing.
func (p *Proc) ready() error {
	if p.URL == "" {
		if err := p.readAddresses(); err != nil {
			return err
		}
	}
	status, body, err := p.internal("/readyz")
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("/readyz answers %d: %s", status, body)
	}
	return nil
}

// readAddresses finds the line of the log that tells where guard listens.
func (p *Proc) readAddresses() error {
	for line := range strings.Lines(p.Log()) {
		var said struct{ Msg, Listen, Internal string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Listen != "" && said.Internal != "" {
			p.URL, p.Internal = "http://"+said.Listen, "http://"+said.Internal
			return nil
		}
	}
	return errors.New("it does not listen yet")
}

// await calls f until it returns nil, guard ends or the time is over.
func (p *Proc) await(limit time.Duration, f func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("guard ended: %v: %w", p.cmd.ProcessState, err)
		case <-time.After(pause):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %v: %w", limit, err)
		}
	}
}

// Stop ends guard as an operator would and waits for it. Further calls do nothing.
func (p *Proc) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-p.exited:
		return
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended just now
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.exited
		t.Errorf("guard did not end within %v of being told", stopTimeout)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("guard ended with %v; want exit code 0\n%s", p.cmd.ProcessState, tail(p.Log()))
	}
}

// Log returns what guard has logged so far.
func (p *Proc) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	return string(text)
}

// tail returns the last lines of a log.
func tail(log string) string {
	const most = 8 << 10 // bytes
	if len(log) > most {
		log = "..." + log[len(log)-most:]
	}
	return log
}

// Metric returns the sum of all series of the metric; 0 if there is none.
func (p *Proc) Metric(t testing.TB, name string) float64 {
	t.Helper()
	sum, err := p.metric(name)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func (p *Proc) metric(name string) (float64, error) {
	_, body, err := p.internal("/metrics")
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		series, value, ok := cutLast(lines.Text(), ' ')
		if metric, _, _ := strings.Cut(series, "{"); !ok || metric != name {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("metric %q has the value %q; want a number", series, value)
		}
		sum += v
	}
	return sum, nil
}

// cutLast is strings.Cut at the last sep.
func cutLast(s string, sep byte) (before, after string, found bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// internal asks the internal listener.
func (p *Proc) internal(path string) (int, string, error) {
	res, err := http.Get(p.Internal + path)
	if err != nil {
		return 0, "", fmt.Errorf("cannot ask guard's internal listener: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, "", fmt.Errorf("cannot read the answer to %s: %w", path, err)
	}
	return res.StatusCode, string(body), nil
}
