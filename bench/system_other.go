//go:build !linux

package main

import (
	"errors"
	"syscall"
	"time"
)

var errLinux = errors.New("CPU time and memory of a process are asked of Linux: the benchmark runs on Linux alone")

func cpuTime(int) (time.Duration, error) { return 0, errLinux }

func threadTime() (time.Duration, error) { return 0, errLinux }

func resident(int) (now, peak int64, err error) { return 0, 0, errLinux }

func (p process) forgetPeak() (int64, error) { return 0, errLinux }

func descriptors() int { return 1024 }

func exactTimers() {}

func sleep(d time.Duration) { time.Sleep(d) }

func tied() *syscall.SysProcAttr { return nil }
