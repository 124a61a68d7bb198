//go:build !linux

package guardproc

import "syscall"

// tied keeps the terminal's interrupts away. Systems without a death signal end the
// process by the cleanup of the test alone.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
