//go:build !linux

package main

import "syscall"

// tied keeps the terminal's interrupts away. Systems without a death signal end the
// process by the demo alone.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
