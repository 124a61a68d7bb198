package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"
)

// parts are what serve runs beside each other. The first that fails is told of, and all
// end together. One that falls is run again.
type parts struct {
	ctx    context.Context //nolint:containedctx // the parts live no longer than this
	cancel context.CancelFunc
	log    *zap.Logger
	all    sync.WaitGroup
	failed chan error // gets the first fault
}

func newParts(ctx context.Context, log *zap.Logger) *parts {
	ctx, cancel := context.WithCancel(ctx)
	return &parts{ctx: ctx, cancel: cancel, log: log, failed: make(chan error, 1)}
}

// run starts a part. It ends when its context does, or by itself; an error is told of. A
// panic, over what nobody foresaw, ends no more than what the part was at.
func (p *parts) run(name string, f func(context.Context) error) {
	p.all.Go(func() {
		err := survive(func() error { return f(p.ctx) })
		for fell := (*panicked)(nil); errors.As(err, &fell) && p.pause(); {
			p.log.Error("a part has fallen and is run again", zap.String("part", name), zap.Error(err))
			err = survive(func() error { return f(p.ctx) })
		}
		if err == nil {
			return
		}
		err = fmt.Errorf("%s: %w", name, err)
		p.log.Error("a part has failed", zap.Error(err))
		select {
		case p.failed <- err:
		default: // another one was first
		}
	})
}

// pause waits a second, and reports whether the parts go on.
func (p *parts) pause() bool {
	select {
	case <-time.After(time.Second):
		return true
	case <-p.ctx.Done():
		return false
	}
}

// end ends all parts and waits for them.
func (p *parts) end() {
	p.cancel()
	p.all.Wait()
}

// closed is err, but nil if it says that the server was closed.
func closed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// panicked is the error that a panic becomes.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("BUG: panic: %v\n%s", p.value, p.stack) }

// survive runs f; a panic in it is an error.
func survive(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return f()
}
