package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"guard/internal/esjson"
)

// Fetcher sends a request of guard's own account to the cluster. target is a path with its
// query. The proxy owns the sockets.
//
// read is given the answer as it comes. If it returns an error the answer makes no sense,
// and another node may be asked: read is then called again, and begins anew. Stream returns
// the last error.
type Fetcher interface {
	Stream(ctx context.Context, method, target string, read func(status int, body io.Reader) error) error
}

const (
	// maxQuoted bounds what an error quotes of an answer.
	maxQuoted = 200
	// maxSmall bounds the answers that are read whole.
	maxSmall = 1 << 20 // 1 MiB
	// maxValue bounds the longest value of an answer: a mapping.
	maxValue = 64 << 20 // 64 MiB
)

// statusError tells that the cluster has not answered what it was asked.
type statusError struct {
	target string
	status int
	body   []byte // its begin
}

func (e *statusError) Error() string {
	return fmt.Sprintf("cannot get %s: status %d, %q", e.target, e.status, e.body)
}

// refused reports whether an answer says that a question is not let through: by a managed
// service, or by a proxy before the cluster.
func (e *statusError) refused() bool {
	return slices.Contains([]int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented,
	}, e.status)
}

// isRefused reports whether err says so.
func isRefused(err error) bool {
	var e *statusError
	return errors.As(err, &e) && e.refused()
}

// get reads the small answer to target.
func (r *reader) get(ctx context.Context, target string, into any) error {
	return r.ask(ctx, target, func(body io.Reader) error {
		text, err := io.ReadAll(io.LimitReader(body, maxSmall))
		if err != nil {
			return err
		}
		return json.Unmarshal(text, into)
	})
}

// stream has walk go through the answer to target, which may be large.
func (r *reader) stream(ctx context.Context, target string, walk func(*esjson.Stream) error) error {
	return r.ask(ctx, target, func(body io.Reader) error {
		s := esjson.NewStream(body, maxValue)
		if err := walk(s); err != nil {
			return err
		}
		return s.End()
	})
}

// ask hands the answer to target to read.
func (r *reader) ask(ctx context.Context, target string, read func(io.Reader) error) error {
	answered := false // of what failed then, the error says more
	err := r.fetch.Stream(ctx, http.MethodGet, target, func(status int, body io.Reader) error {
		answered = true
		if status != http.StatusOK {
			return refusal(target, status, body)
		}
		if err := read(body); err != nil {
			return fmt.Errorf("cannot read the answer to %s: %w", target, err)
		}
		return nil
	})
	if err != nil && !answered {
		return fmt.Errorf("cannot get %s: %w", target, err)
	}
	return err
}

// refusal makes an error of an answer that is none.
func refusal(target string, status int, body io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(body, maxSmall)) // it is only quoted; read to its end it leaves the connection open
	return &statusError{target, status, text[:min(len(text), maxQuoted)]}
}
