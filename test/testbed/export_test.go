package testbed

import (
	"context"
	"errors"
)

// Sweep does what the start of a node does first: it clears dead runs.
func Sweep(ctx context.Context) error {
	r, err := newRunDir(ctx, OpenSearch)
	if err != nil {
		return err
	}
	return errors.Join(r.release(false))
}
