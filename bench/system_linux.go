package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// tick is the unit of times in /proc: USER_HZ, 100 a second on every Linux.
const tick = 10 * time.Millisecond

// cpuTime returns what a process has used of the CPU, by the clock that
// /proc/PID/stat shows.
func cpuTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("cannot read the CPU time of a process: %w", err)
	}
	// The name of the program, in parentheses, may hold anything.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const user, system = 11, 12 // counted from the state
	if len(fields) <= system {
		return 0, fmt.Errorf("cannot read /proc/%d/stat: %q", pid, text)
	}
	var ticks int64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cannot read /proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// tied has a process killed when the thread that started it ends.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
