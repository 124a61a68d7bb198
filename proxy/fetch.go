package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxFetched bounds an answer to guard's own questions: the state of a cluster with
// 100,000 indices is some hundred megabytes.
const maxFetched = 1 << 30 // 1 GiB

// mostAsked bounds the nodes that a question is put to.
const mostAsked = 4

// Stream asks the cluster on guard's own account, with a read that may be repeated, and
// hands the answer to read as it comes. target is a path with its query. A node that gives
// none, or one that a node gives which can't serve, or one that read returns an error for,
// is left for another that is up, and read begins anew; if all do, that is the answer.
func (t *Transport) Stream(ctx context.Context, method, target string, read func(status int, body io.Reader) error) error {
	var shunned []*host
	for {
		c := &call{method: method, target: target, fields: []field{newField("Accept", "application/json")}, repeatable: true, claim: claim{own: true}, shunned: shunned}
		sense, err := t.stream(ctx, c, read)
		if c.again(err) {
			sense, err = t.stream(ctx, c, read)
		}
		if sense || ctx.Err() != nil || c.node == nil {
			return err
		}
		if shunned = append(shunned, c.node); len(shunned) >= mostAsked || !t.nodes.upBut(shunned) {
			return err
		}
	}
}

// stream makes one call, and reports whether its answer makes sense as one of a node that
// can serve.
func (t *Transport) stream(ctx context.Context, c *call, read func(status int, body io.Reader) error) (sense bool, err error) {
	a, err := t.Do(ctx, c)
	if err != nil {
		return false, err
	}
	defer a.body.Close()
	body := &bounded{src: a.body, left: maxFetched, target: c.target}
	err = read(a.status, body)
	switch {
	case body.err != nil && err == nil:
		err = body.err // it was hidden
	case err == nil: // what follows, if anything, is none of the answer that was read: a connection is kept by its end
		_, err = io.Copy(io.Discard, body)
	}
	return !a.odd() && (err == nil || body.left < 0), err // all nodes give one that is too large
}

// bounded reads up to left bytes of an answer to guard's own questions.
type bounded struct {
	src    io.Reader
	left   int
	target string
	err    error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.src.Read(p)
	if b.left -= n; b.left < 0 {
		b.err = fmt.Errorf("cannot read the cluster's answer to %s: it is larger than %d bytes", b.target, maxFetched)
		return 0, b.err
	}
	if err != nil && err != io.EOF { //nolint:errorlint // one that is wrapped is a fault
		err = fmt.Errorf("cannot read the cluster's answer to %s: %w", b.target, err)
		b.err = err
	}
	return n, err
}

// errSenseless stands for an answer that is no JSON object.
var errSenseless = errors.New("the answer is no JSON object")

// Fetch is Stream for an answer that is wanted whole. One that makes no sense is returned
// if no node gives another.
func (t *Transport) Fetch(ctx context.Context, method, target string) (status int, body []byte, err error) {
	err = t.Stream(ctx, method, target, func(s int, r io.Reader) error {
		status, body = s, nil
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if body = text; !isObject(text) {
			return errSenseless
		}
		return nil
	})
	if err != nil && !errors.Is(err, errSenseless) {
		return 0, nil, err
	}
	return status, body, nil
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
