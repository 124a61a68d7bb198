package main

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"go.uber.org/zap"
)

// signals are what an operator tells guard while it serves.
type signals struct {
	stop   <-chan os.Signal // SIGINT, SIGTERM: drain
	again  <-chan os.Signal // a second one: end at once
	reload <-chan os.Signal // SIGHUP
}

// listenToSignals takes over what would end the process, until stop is called. A log
// whose reader has gone is an error of the log, not a signal.
func listenToSignals() (heard signals, stop func()) {
	ends, reloads := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(reloads, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	first, second, over := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	go func() {
		for _, to := range []chan os.Signal{first, second} {
			select {
			case s := <-ends:
				to <- s
			case <-over:
				return
			}
		}
	}()
	return signals{stop: first, again: second, reload: reloads}, func() {
		close(over)
		signal.Stop(ends)
		signal.Stop(reloads)
		signal.Reset(syscall.SIGPIPE)
	}
}

// endAtOnce ends the process when it is told to stop a second time, whatever it is at or
// hangs in, until it is over. The log is nil as long as there is none.
func endAtOnce(again <-chan os.Signal, over <-chan struct{}, log *atomic.Pointer[zap.Logger]) {
	select {
	case <-over:
	case s := <-again:
		if log := log.Load(); log != nil {
			log.Error("told to stop a second time; what is under way is cut", zap.Stringer("signal", s))
			_ = log.Sync() // never fails, and waits a second at most
		}
		os.Exit(1)
	}
}
