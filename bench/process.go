package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// machine starts the processes of one run and ends them all. Its methods are called
// by one goroutine that is bound to its thread, since processes end with that.
type machine struct {
	dir     string // scratch
	self    string // this program, which is stub, bare proxy and load as well
	pinned  bool
	running []*exec.Cmd
}

// The cores: the proxy has one of its own, so that load and stub do not push it away.
const (
	loadCore  = "0"
	proxyCore = "1"
)

const stopTimeout = 5 * time.Second

func newMachine() (*machine, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "guard-bench-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a scratch folder: %w", err)
	}
	_, err = exec.LookPath("taskset")
	return &machine{dir: dir, self: self, pinned: err == nil && runtime.NumCPU() > 1}, nil
}

// close ends what was started and removes the scratch folder.
func (m *machine) close() error {
	for _, cmd := range m.running {
		end(cmd)
	}
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("cannot remove the scratch folder: %w", err)
	}
	return nil
}

// end tells a process to end, and makes it.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
	kill := time.AfterFunc(stopTimeout, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // a process that was told to end reports the signal
	kill.Stop()
}

// end ends one process before all others.
func (m *machine) end(p process) {
	for i, cmd := range m.running {
		if cmd.Process.Pid == p.pid {
			end(cmd)
			m.running = slices.Delete(m.running, i, i+1)
			return
		}
	}
}

// command runs a program on a core; it dies with this process and with ctx.
func (m *machine) command(ctx context.Context, core, name string, args ...string) *exec.Cmd {
	if m.pinned {
		name, args = "taskset", append([]string{"-c", core, name}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = tied()
	return cmd
}

// role starts this program in another role and returns the address where it serves.
func (m *machine) role(ctx context.Context, core string, args ...string) (process, error) {
	cmd := m.command(ctx, core, m.self, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return process{}, fmt.Errorf("cannot start %q: %w", args, err)
	}
	if err := cmd.Start(); err != nil {
		return process{}, fmt.Errorf("cannot start %q: %w", args, err)
	}
	m.running = append(m.running, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return process{}, fmt.Errorf("%q did not start: %w", args, err)
	}
	return process{addr: strings.TrimSpace(line), pid: cmd.Process.Pid}, nil
}

// process is a running server.
type process struct {
	addr     string
	internal string // address of guard's probes and metrics
	profile  string // the file, without its ending, that a guard with the profiler writes
	pid      int
}

// logged starts a server that writes a log and asks ready for its addresses
// until that has no error.
func (m *machine) logged(ctx context.Context, cmd *exec.Cmd, ready func(log string) (process, error)) (process, error) {
	log, err := os.CreateTemp(m.dir, "*.log")
	if err != nil {
		return process{}, fmt.Errorf("cannot write a log: %w", err)
	}
	defer log.Close() // the process has its own copy
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return process{}, fmt.Errorf("cannot start %q: %w", cmd.Args, err)
	}
	m.running = append(m.running, cmd)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(log.Name())
		if err != nil {
			return process{}, fmt.Errorf("cannot read a log: %w", err)
		}
		p, err := ready(string(text))
		if err == nil {
			p.pid = cmd.Process.Pid
			return p, nil
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return process{}, fmt.Errorf("%q is not ready: %w\n%s", cmd.Args, err, text)
		}
	}
}

// load runs a job in a process of its own.
func (m *machine) load(ctx context.Context, j job) (measured, error) {
	var result measured
	err := m.told(ctx, "load", j.Limit, j, &result)
	if err != nil {
		err = fmt.Errorf("load on %s: %w", j.Addr, err)
	}
	return result, err
}

// told runs this program in a role that reads one order and prints one result.
func (m *machine) told(ctx context.Context, role string, limit time.Duration, order, result any) error {
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := m.command(ctx, loadCore, m.self, role)
	text, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("cannot write an order: %w", err)
	}
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), io.MultiWriter(os.Stderr, &said)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, said.Bytes())
	}
	if err := json.Unmarshal(out, result); err != nil {
		return fmt.Errorf("cannot read a result: %w", err)
	}
	return nil
}
