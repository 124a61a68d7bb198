package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns what all threads of a process have used of the CPU.
func cpuTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED: user and system time as the scheduler counts them
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &used); err != nil { // see clock_getcpuclockid(3)
		return 0, fmt.Errorf("cannot read the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

// threadTime returns what this thread has used of the CPU.
func threadTime() (time.Duration, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		return 0, fmt.Errorf("cannot read the CPU time of a thread: %w", err)
	}
	return time.Duration(used.Nano()), nil
}

// resident returns how much memory of a process is in RAM, now and at most since its
// start or forgetPeak.
func resident(pid int) (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("cannot read the memory of a process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &now) // other lines do not match
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &peak)
	}
	if now == 0 || peak == 0 {
		return 0, 0, fmt.Errorf("process %d shows no memory", pid)
	}
	return now << 10, peak << 10, nil
}

// forgetPeak has the peak start anew, and returns where.
func (p process) forgetPeak() (int64, error) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid), []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("cannot forget the peak of a process: %w", err)
	}
	now, _, err := resident(p.pid)
	return now, err
}

// descriptors returns how many this process may open. Programs in Go take as many as
// they may.
func descriptors() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 1024
	}
	return int(min(l.Cur, 1<<20))
}

// exactTimers has the kernel wake this thread when it asked for, and not up to 50 µs later.
func exactTimers() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else it comes later, which is measured
}

// sleep is time.Sleep without the runtime, whose timers are as coarse as a millisecond
// where nothing else happens.
func sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	left := unix.NsecToTimespec(d.Nanoseconds())
	for unix.Nanosleep(&left, &left) == unix.EINTR { //nolint:errorlint // an errno as it is
	}
}

// tied has a process killed when the thread that started it ends.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
