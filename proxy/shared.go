package proxy

import (
	"context"
	"errors"
	"sync"
	"time"

	"guard/gate"
)

// sharedPause is the least time between the starts of two shared calls to one target:
// a client cannot make the cluster refresh an index faster than that.
const sharedPause = 100 * time.Millisecond

// shared makes calls that many requests want at a time once for all of them. A request
// gets the answer to a call that began after it asked.
type shared struct {
	mu    sync.Mutex               // guards lines
	lines map[string]*sharedTarget // by target; dropped when nobody waits
}

// sharedTarget is the line of one target.
type sharedTarget struct {
	next  *sharedCall   // the call that has not begun yet; nil if nobody waits for one
	turn  chan struct{} // holds a token while no call runs
	users int           // requests that look at this
	began time.Time     // when the last call did; whoever holds the token reads and writes it
}

// sharedCall is one call and its answer, valid after done.
type sharedCall struct {
	done   chan struct{}
	answer gate.Answer
	err    error
}

// errSharedCut is what those who wait get if the request that made their call ended in
// a panic.
var errSharedCut = errors.New("the call that others shared was not made")

// do returns the answer to a call that begins after do was called. The first request
// that wants it makes it, with run and under base, which outlives that request; the
// others wait until their own ctx ends.
func (s *shared) do(ctx, base context.Context, target string, run func(context.Context) (gate.Answer, error)) (gate.Answer, error) {
	line, call, mine := s.join(target)
	defer s.leave(target, line)
	if !mine {
		select {
		case <-call.done:
			return call.answer, call.err
		case <-ctx.Done():
			return gate.Answer{}, givenUp(ctx)
		}
	}
	call.err = errSharedCut
	defer close(call.done)
	if call.err = s.begin(base, line); call.err == nil {
		call.err = errSharedCut
		defer func() { line.turn <- struct{}{} }()
		call.answer, call.err = run(base)
	}
	return call.answer, call.err
}

// begin waits for the turn of a line and for its pause. From then on newcomers wait for
// the next call.
func (s *shared) begin(base context.Context, line *sharedTarget) error {
	var err error
	select {
	case <-line.turn:
	case <-base.Done():
		err = givenUp(base)
	}
	if err == nil {
		pause := time.NewTimer(sharedPause - time.Since(line.began))
		defer pause.Stop()
		select {
		case <-pause.C:
			line.began = time.Now()
		case <-base.Done():
			line.turn <- struct{}{}
			err = givenUp(base)
		}
	}
	s.mu.Lock()
	line.next = nil
	s.mu.Unlock()
	return err
}

// join returns the call of target that has not begun; mine tells that it is new, and
// the caller's to make.
func (s *shared) join(target string) (line *sharedTarget, call *sharedCall, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[string]*sharedTarget{}
	}
	line = s.lines[target]
	if line == nil {
		line = &sharedTarget{turn: make(chan struct{}, 1)}
		line.turn <- struct{}{}
		s.lines[target] = line
	}
	line.users++
	if line.next == nil {
		line.next, mine = &sharedCall{done: make(chan struct{})}, true
	}
	return line, line.next, mine
}

// leave forgets a line that nobody uses any more. One that is used again at once has
// forgotten its pause; it had at least the time of a call.
func (s *shared) leave(target string, line *sharedTarget) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line.users--; line.users == 0 {
		delete(s.lines, target)
	}
}
