package main

import (
	"os"
	"os/signal"
	"syscall"
)

// signals are what an operator tells guard while it serves.
type signals struct {
	stop   <-chan os.Signal // SIGINT, SIGTERM: drain; a second one: at once
	reload <-chan os.Signal // SIGHUP
}

// listenToSignals takes over what would end the process, until stop is called. A log
// whose reader has gone is an error of the log, not a signal.
func listenToSignals() (heard signals, stop func()) {
	ends, reloads := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(reloads, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	return signals{stop: ends, reload: reloads}, func() {
		signal.Stop(ends)
		signal.Stop(reloads)
		signal.Reset(syscall.SIGPIPE)
	}
}
