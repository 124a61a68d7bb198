package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// parts are what serve runs beside each other. The first that fails is told of, and all
// end together. One that falls is run again. Their owner alone calls run and end.
type parts struct {
	ctx    context.Context //nolint:containedctx // the parts live no longer than this
	cancel context.CancelFunc
	log    *zap.Logger
	failed chan error // gets the first fault

	running map[string]chan struct{} // by name; closed when the part has ended
}

func newParts(ctx context.Context, log *zap.Logger) *parts {
	ctx, cancel := context.WithCancel(ctx)
	return &parts{ctx: ctx, cancel: cancel, log: log, failed: make(chan error, 1), running: map[string]chan struct{}{}}
}

// run starts a part, by a name of its own. It ends when its context does, or by itself; an error is told of. A
// panic, over what nobody foresaw, ends no more than what the part was at.
func (p *parts) run(name string, f func(context.Context) error) {
	ended := make(chan struct{})
	p.running[name] = ended
	go func() {
		defer close(ended)
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
	}()
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

// end ends all parts and waits for them, but not for ever: what hangs is named.
func (p *parts) end(most time.Duration) error {
	p.cancel()
	late, done := context.WithTimeout(context.Background(), most)
	defer done()
	var hang []string
	for _, name := range slices.Sorted(maps.Keys(p.running)) {
		ended := p.running[name]
		select {
		case <-ended:
			continue
		case <-late.Done():
		}
		select {
		case <-ended:
		default:
			hang = append(hang, name)
		}
	}
	if len(hang) > 0 {
		return fmt.Errorf("did not end within %v: %s", most.Round(time.Second), strings.Join(hang, ", "))
	}
	return nil
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
