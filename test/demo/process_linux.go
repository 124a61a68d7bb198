package main

import "syscall"

// tied has the process killed when the thread that starts it ends, and lead a group
// of its own, so that an interrupt from the terminal reaches the demo alone, which
// then stops guard in order.
func tied() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
