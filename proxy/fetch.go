package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// maxFetched bounds an answer to guard's own questions: the state of a cluster with
// 100,000 indices is some hundred megabytes.
const maxFetched = 1 << 30 // 1 GiB

// mostAsked bounds the nodes that a question is put to.
const mostAsked = 4

// Fetch asks the cluster on guard's own account, with a read that may be repeated, and
// returns the whole answer. target is a path with its query. A node that gives none, or
// one that a node gives which can't serve, is left for another that is up; if all do, that
// is the answer.
func (t *Transport) Fetch(ctx context.Context, method, target string) (status int, body []byte, err error) {
	var shunned []*host
	for {
		c := &call{method: method, target: target, fields: []field{newField("Accept", "application/json")}, repeatable: true, claim: claim{own: true}, shunned: shunned}
		var sense bool
		status, body, sense, err = t.fetch(ctx, c)
		if c.again(err) {
			status, body, sense, err = t.fetch(ctx, c)
		}
		if sense || ctx.Err() != nil || c.node == nil {
			return status, body, err
		}
		if shunned = append(shunned, c.node); len(shunned) >= mostAsked || !t.nodes.upBut(shunned) {
			return status, body, err
		}
	}
}

// fetch returns an answer, and whether it makes sense as one of a node that can serve.
func (t *Transport) fetch(ctx context.Context, c *call) (status int, body []byte, sense bool, err error) {
	a, err := t.Do(ctx, c)
	if err != nil {
		return 0, nil, false, err
	}
	defer a.body.Close()
	body, err = io.ReadAll(io.LimitReader(a.body, maxFetched+1))
	if err != nil {
		return 0, nil, false, fmt.Errorf("cannot read the cluster's answer to %s: %w", c.target, err)
	}
	if len(body) > maxFetched {
		return 0, nil, true, fmt.Errorf("cannot read the cluster's answer to %s: it is larger than %d bytes", c.target, maxFetched)
	}
	return a.status, body, !a.odd() && isObject(body), nil
}

// isObject reports whether an answer begins and ends as a JSON object does; who reads it
// finds out the rest.
func isObject(body []byte) bool {
	b := bytes.TrimSpace(body)
	return len(b) > 1 && b[0] == '{' && b[len(b)-1] == '}'
}

// upBut reports whether a node is up that is none of these.
func (n *nodes) upBut(these []*host) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.list, func(h *host) bool { return h.health.up() && !slices.Contains(these, h) })
}
