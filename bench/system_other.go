//go:build !linux

package main

import (
	"errors"
	"syscall"
	"time"
)

func cpuTime(int) (time.Duration, error) {
	return 0, errors.New("the CPU time of a process is read from /proc: the benchmark runs on Linux alone")
}

func tied() *syscall.SysProcAttr { return nil }
