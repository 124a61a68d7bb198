package guardproc

import "syscall"

// tied has the process killed when the thread that starts it ends, and leads a
// group of its own, so that an interrupt from the terminal reaches only the test.
func tied() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
