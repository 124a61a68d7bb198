package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errNoLongPoll means that the cluster, or what stands before it, does not wait for
// us. Then it is polled.
var errNoLongPoll = errors.New("the cluster does not wait for a metadata version")

// watch asks for a read whenever the cluster's metadata has changed. The clusters
// tell no number of it: it is found by trying, and then waited for the next one.
func (s *Source) watch(ctx context.Context) error {
	pause, told := s.config.MinPause, false
	for {
		began := time.Now()
		err := survive(func() error { return s.watchVersions(ctx) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > s.config.MaxPause {
			pause = s.config.MinPause // it worked for a while: the fault is a new one
		}
		if errors.Is(err, errNoLongPoll) {
			if !told {
				s.config.OnError(fmt.Errorf("polling instead: %w", err))
			}
			told = true
			if err := s.poll(ctx); err != nil {
				return err
			}
			continue
		}
		told = false
		// Who restarted may count from lower numbers: begin anew.
		s.failed(err)
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, s.config.MaxPause)
	}
}

// watchVersions returns on the first error.
func (s *Source) watchVersions(ctx context.Context) error {
	version := uint64(0)
	for {
		// The number first and the state after it, so that the state is not older.
		found, err := s.findVersion(ctx, version)
		if err != nil {
			return err
		}
		version = found
		if _, err := s.Refresh(ctx); err != nil {
			return err
		}
		if err := s.awaitVersion(ctx, version); err != nil {
			return err
		}
	}
}

// awaitVersion returns when the metadata is newer than version. Between two waits
// it makes sure that version is not one of a time before a restart.
func (s *Source) awaitVersion(ctx context.Context, version uint64) error {
	for {
		began := time.Now()
		reached, err := s.reached(ctx, version+1, s.config.Wait)
		if err != nil || reached {
			return err
		}
		answered := time.Now()
		if err := s.confirm(ctx, version, began, answered); err != nil {
			return err
		}
		if s.lists.Load() {
			// What waits here is the state, so it is not forbidden any more: it need not change
			// to be read again.
			if _, err := s.Refresh(ctx); err != nil {
				return err
			}
		}
		if answered.Sub(began) < s.config.Wait/2 {
			// It says that a wait is over which it has not made: what does not wait is polled.
			if err := sleep(ctx, s.config.Poll); err != nil {
				return err
			}
		}
	}
}

// confirm notes how long the state is known to be that of the cluster, of which a wait
// for what follows version has brought nothing. It is never a time that is still to come.
func (s *Source) confirm(ctx context.Context, version uint64, began, answered time.Time) error {
	seen := s.seen.Load()
	now, err := s.read.version(ctx)
	switch {
	case err != nil:
		return err
	case now.ClusterUUID != seen.ClusterUUID:
		return fmt.Errorf("the cluster is another one, %q instead of %q", now.ClusterUUID, seen.ClusterUUID)
	case now.StateUUID == seen.StateUUID:
		s.State().Confirm(answered) // it was the same after that
		return nil
	case now.Version < seen.Version && !seen.listed:
		// Behind, or it counts anew after an election: that stands in the whole state alone.
		return fmt.Errorf("cannot tell whether the state of the cluster is still known: %w", errOlder)
	}
	reached, err := s.reached(ctx, version, time.Millisecond)
	if err != nil {
		return err
	}
	if !reached {
		return fmt.Errorf("the cluster counts its metadata from below %d again", version)
	}
	// The state moved on, maybe its metadata too, but not before the wait was over.
	if over := began.Add(s.config.Wait); over.Before(answered) {
		began = over
	}
	s.State().Confirm(began)
	return nil
}

// findVersion returns the number of the metadata, which is at least low.
func (s *Source) findVersion(ctx context.Context, low uint64) (uint64, error) {
	high := low + 1
	for step := uint64(1); ; step *= 2 {
		reached, err := s.reached(ctx, high, time.Millisecond)
		if err != nil {
			return 0, err
		}
		if !reached {
			break
		}
		low, high = high, high+step
		if step > 1<<40 {
			return 0, fmt.Errorf("%w: it answers every number", errNoLongPoll)
		}
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		reached, err := s.reached(ctx, middle, time.Millisecond)
		if err != nil {
			return 0, err
		}
		if reached {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// reached reports whether the metadata got to version before wait was over. All
// engines answer a wait that is over with 500 and a null pointer.
func (s *Source) reached(ctx context.Context, version uint64, wait time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+s.config.Timeout)
	defer cancel()
	target := fmt.Sprintf("/_cluster/state/version?wait_for_metadata_version=%d&wait_for_timeout=%dms", version, wait.Milliseconds())
	answered, reached := false, false
	err := s.read.fetch.Stream(ctx, http.MethodGet, target, func(status int, body io.Reader) error {
		answered = true
		switch text, err := io.ReadAll(io.LimitReader(body, maxSmall)); {
		case err != nil:
			return err
		case status == http.StatusOK:
			reached = true
		case status != http.StatusInternalServerError || !bytes.Contains(text, []byte(`"null_pointer_exception"`)):
			return refusal(target, status, bytes.NewReader(text))
		}
		return nil
	})
	if answered && isRefused(err) {
		return false, fmt.Errorf("%w: %w", errNoLongPoll, err)
	}
	return reached && err == nil, err
}

// restful is how many times as long as a question took it is not asked again.
const restful = 4

// poll asks again and again, with a cheap question first, until it is time to try a long
// poll. Where the question is not cheap, as that for the lists of a large cluster, it is
// asked less often.
func (s *Source) poll(ctx context.Context) error {
	for over := time.Now().Add(s.config.Retry); time.Now().Before(over); {
		began := time.Now()
		// An error was told of already and keeps its own pause.
		if _, err := s.Refresh(ctx); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := sleep(ctx, max(s.config.Poll, min(restful*time.Since(began), s.config.Wait))); err != nil {
			return err
		}
	}
	return nil
}
