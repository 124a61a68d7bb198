package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options say which node is wanted. Only Kind must be set.
type Options struct {
	Kind Kind

	// Port is the HTTP port on 127.0.0.1; 0 lets the system choose a free one.
	Port int

	// Heap is the size of the Java heap, as in "1g"; empty means 512 to 768 MiB,
	// which is enough for some hundred indices.
	Heap string

	// Settings are lines of opensearch.yml or elasticsearch.yml; they win over those of the test bed.
	Settings map[string]string

	// SecurityConfig is a folder with the security plugin's files, for secured kinds.
	// Empty means those that the plugin comes with. It is copied, with the account
	// AdminUser added, and never written to.
	SecurityConfig string

	// Warnings has the node send Warning headers for deprecated requests, as a
	// distribution does. OpenSearch sends each once for each X-Opaque-Id, so that the
	// second of two equal requests is answered otherwise.
	Warnings bool

	// FullSpeed leaves the Java compiler and collector at their defaults: for
	// benchmarks. Without it a node starts sooner and runs slower.
	FullSpeed bool
}

// readyTimeout is how long a node may take: 5 to 15 seconds on two idle cores, 45 were seen on busy ones.
const readyTimeout = 3 * time.Minute

// A Node is a running cluster of one node. Its Client speaks as AdminUser on
// secured kinds and without credentials on the others.
type Node struct {
	Client
	Kind      Kind
	Version   string
	Transport string // host:port of the transport protocol
	LogPath   string // log of the node; removed by Stop

	cmd    *exec.Cmd
	parent io.Closer // standard input of the node: it halts when this closes
	exited chan struct{}
	run    *runDir
	stop   sync.Once
	err    error // of stop
}

// Start fetches what the kind needs, starts a node and returns when it is ready.
// The caller stops it; it also ends with the calling process, however that ends.
func Start(ctx context.Context, o Options) (*Node, error) {
	if err := checkPort(o.Port); err != nil {
		return nil, err
	}
	home, err := Fetch(ctx, o.Kind)
	if err != nil {
		return nil, err
	}
	b := builds[o.Kind]
	if o.SecurityConfig != "" && b.plugin == "" {
		return nil, fmt.Errorf("kind %s has no security plugin to give %q to; want %s or %s", o.Kind, o.SecurityConfig, Secured, Secured3)
	}
	java, err := findJDK(o.Kind, b.java)
	if err != nil {
		return nil, err
	}
	run, err := newRunDir(ctx, o.Kind)
	if err != nil {
		return nil, err
	}
	n := &Node{Kind: o.Kind, Version: b.version, LogPath: run.log(), run: run, exited: make(chan struct{})}
	if b.plugin != "" {
		n.Client = n.As(AdminUser, AdminPassword)
	}
	if err := writeConfig(run.path, home, b, o); err != nil {
		return nil, errors.Join(err, run.release(false))
	}
	progress("starting %s %s ...", o.Kind, b.version)
	begin := time.Now()
	if err := n.launch(java, javaArgs(run.path, home, b, java, o)); err != nil {
		return nil, errors.Join(err, run.release(false))
	}
	if err := n.awaitReady(ctx, b); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) { // nobody waits for it any more: its log explains nothing
			return nil, errors.Join(fmt.Errorf("starting %s %s was given up: %w", o.Kind, b.version, ctx.Err()), n.Stop())
		}
		err = fmt.Errorf("%s %s did not start: %w\nend of %s:\n%s", o.Kind, b.version, err, n.LogPath, logDigest(n.LogPath))
		return nil, errors.Join(err, n.end(true))
	}
	progress("%s %s is ready at %s after %.1f s", o.Kind, b.version, n.URL, time.Since(begin).Seconds())
	return n, nil
}

// checkPort returns an error if somebody listens on port already: the node would say
// so too, after seconds and inside a stack trace.
func checkPort(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("cannot use port %d: %w", port, err)
	}
	return l.Close()
}

// launch starts the process. It leads a group of its own, so that an interrupt
// from the terminal reaches only us, and all of the group can be killed.
func (n *Node) launch(java jdk, args []string) error {
	log, err := os.Create(n.LogPath)
	if err != nil {
		return fmt.Errorf("cannot write the node's log: %w", err)
	}
	defer log.Close() // the process has its own copy
	n.cmd = exec.Command(java.tool("java"), args...)
	n.cmd.Dir = n.run.path
	n.cmd.Stdout, n.cmd.Stderr = log, log // a file, not a pipe: nobody has to read it
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if n.parent, err = n.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("cannot tie the node to this process: %w", err)
	}
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("cannot start java: %w", err)
	}
	go func() {
		_ = n.cmd.Wait() // it is killed in the end: the status says nothing
		close(n.exited)
	}()
	return nil
}

// awaitReady polls until the node answers as one that can be worked with.
func (n *Node) awaitReady(ctx context.Context, b build) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		last := n.ready(b)
		if last == nil || errors.Is(last, errPolicy) {
			return last
		}
		select {
		case <-n.exited:
			return fmt.Errorf("its process ended: %w", last)
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w: %w", ctx.Err(), last)
		case <-tick.C:
		}
	}
}

// ready returns nil if the node is ready, else what it still lacks.
func (n *Node) ready(b build) error {
	if n.URL == "" {
		transport, err := n.portOf("transport")
		if err != nil {
			return err
		}
		http, err := n.portOf("http")
		if err != nil {
			return err
		}
		n.Transport, n.URL = transport, "http://"+http
	}
	if b.plugin != "" {
		if err := n.expect("/_plugins/_security/health", "status", "UP"); err != nil {
			return errors.Join(policyFault(n.LogPath), err)
		}
	}
	return n.expect("/_cluster/health?wait_for_status=yellow&timeout=1s", "timed_out", false)
}

// portOf reads the address that the node wrote down, as 127.0.0.1:port.
func (n *Node) portOf(protocol string) (string, error) {
	text, err := os.ReadFile(filepath.Join(n.run.path, "logs", protocol+".ports"))
	if err != nil {
		return "", fmt.Errorf("it opened no port: %w", err)
	}
	for address := range strings.FieldsSeq(string(text)) {
		if strings.HasPrefix(address, "127.0.0.1:") {
			return address, nil
		}
	}
	return "", fmt.Errorf("it listens on %q, not on 127.0.0.1", text)
}

// expect returns an error unless path answers with 200 and the member has the value.
func (n *Node) expect(path, member string, value any) error {
	res, err := n.Do(http.MethodGet, path, "")
	if err != nil {
		return err
	}
	var body map[string]any
	if err := json.Unmarshal(res.Body, &body); err != nil || res.Status != http.StatusOK || body[member] != value {
		return fmt.Errorf("%s answers %d %s; want %s=%v", path, res.Status, bytes.TrimSpace(res.Body), member, value)
	}
	return nil
}

// PID is the node's process: for those who measure what it uses.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Stop ends the node and removes all that it wrote. Further calls do nothing.
func (n *Node) Stop() error { return n.end(false) }

// end is Stop, and for a run that failed keeps logs and configuration for a day, and a
// line tells where.
func (n *Node) end(keep bool) error {
	n.stop.Do(func() {
		_ = n.parent.Close()
		// The data is thrown away, so there is no reason to wait for a clean end.
		if err := syscall.Kill(-n.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			n.err = fmt.Errorf("cannot kill node %d: %w", n.cmd.Process.Pid, err)
			return
		}
		<-n.exited
		httpClient.CloseIdleConnections()
		if keep {
			progress("the log of %s is kept at %s", n.Kind, n.LogPath)
		}
		n.err = n.run.release(keep)
	})
	return n.err
}
