package proxy

import (
	"context"
	"fmt"
	"io"
)

// maxFetched bounds an answer to guard's own questions: the state of a cluster with
// 100,000 indices is some hundred megabytes.
const maxFetched = 1 << 30 // 1 GiB

// Fetch asks the cluster on guard's own account, with a read that may be repeated, and
// returns the whole answer. target is a path with its query.
func (t *Transport) Fetch(ctx context.Context, method, target string) (status int, body []byte, err error) {
	c := &call{method: method, target: target, fields: []field{newField("Accept", "application/json")}, repeatable: true, own: true}
	status, body, err = t.fetch(ctx, c)
	if c.again(err) {
		status, body, err = t.fetch(ctx, c)
	}
	return status, body, err
}

func (t *Transport) fetch(ctx context.Context, c *call) (status int, body []byte, err error) {
	a, err := t.Do(ctx, c)
	if err != nil {
		return 0, nil, err
	}
	defer a.body.Close()
	body, err = io.ReadAll(io.LimitReader(a.body, maxFetched+1))
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read the cluster's answer to %s: %w", c.target, err)
	}
	if len(body) > maxFetched {
		return 0, nil, fmt.Errorf("cannot read the cluster's answer to %s: it is larger than %d bytes", c.target, maxFetched)
	}
	return a.status, body, nil
}
