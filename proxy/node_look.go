package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// verdict says what a look at a node has found: a closed set, a metric label. The zero
// value is none.
type verdict string

const (
	verdictGood        verdict = "good"
	verdictBusy        verdict = "busy"        // it can't be told now: the node answers 429, or guard lacks descriptors
	verdictUnreachable verdict = "unreachable" // no connection
	verdictSilent      verdict = "silent"      // a connection, and no whole answer in time
	verdictGarbage     verdict = "garbage"     // what answers is no node
	verdictDenied      verdict = "denied"      // a 4xx: guard's account is refused, or that it has sent none
	verdictUnavailable verdict = "unavailable" // a 5xx
	verdictUnformed    verdict = "unformed"    // it has not joined a cluster yet
	verdictLeaderless  verdict = "leaderless"  // it knows no cluster manager
	verdictForeign     verdict = "foreign"     // it is of another cluster
	verdictUnproven    verdict = "unproven"    // it can't prove that it is of the cluster before it gets guard's account
)

func verdicts() []verdict {
	return []verdict{
		verdictGood, verdictBusy, verdictUnreachable, verdictSilent, verdictGarbage, verdictDenied,
		verdictUnavailable, verdictUnformed, verdictLeaderless, verdictForeign, verdictUnproven,
	}
}

// newLooks counts by verdict, each shown from the start, so that a first one is a rise.
func newLooks() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "guard_upstream_looks_total", Help: "Looks of guard at nodes of the cluster, and at those that may become one, by what was found.",
	}, []string{"verdict"})
	for _, s := range verdicts() {
		v.WithLabelValues(string(s))
	}
	return v
}

// sight is what a look at a node has found.
type sight struct {
	verdict verdict
	cluster string // of which the node is; empty if it did not say so
	err     error  // more about it; nil if it is good
	hint    string // what to change, if somebody has asked
}

const (
	// lookTarget is answered by the node from what it knows itself, to whoever may read the
	// state of the cluster: which cluster that is, and whether it can serve.
	lookTarget = "/_cluster/state/blocks?local=true&filter_path=cluster_uuid,blocks.global"
	// rootTarget names the cluster as well. It is asked where nobody may read the state, as
	// some services have it; whether such a node can serve shows in the calls.
	rootTarget  = "/"
	lookTimeout = 10 * time.Second
	lookPause   = time.Second      // the least between two for which calls gave the reason
	glanceEvery = 10 * time.Second // looks at each node that is up
	looksAtOnce = 64               // of all nodes
	maxLook     = 64 << 10         // bytes of an answer

	// lookHeader is refused by every guard. One that the cluster publishes as the address of
	// its nodes, as one does for clients that sniff, must not be taken for one of them.
	lookHeader = "x-guard-look"
)

// look looks at a node over a connection of its own.
func (h *host) look(ctx context.Context) sight {
	select {
	case h.nodes.looking <- struct{}{}:
		defer func() { <-h.nodes.looking }()
	case <-ctx.Done():
		return sight{verdict: verdictBusy, err: context.Cause(ctx)}
	}
	made := h.shown.load()
	c, err := h.open(ctx, made)
	if err != nil {
		v := verdictUnreachable
		if isOurs(err) {
			v = verdictBusy
		}
		return sight{verdict: v, err: &wireError{faultConnect, dialFault(err)}}
	}
	w := newWire(c, h, made)
	w.bare = true
	defer w.shut()
	s, _ := w.see(ctx)
	return s
}

// see asks who is at the end of a connection that carries no call yet. open reports
// whether it may carry one afterwards.
func (w *wire) see(outer context.Context) (s sight, open bool) {
	ctx, cancel := context.WithTimeout(outer, lookTimeout)
	defer cancel()
	s, open = w.seeAt(ctx, lookTarget)
	var status answered
	errors.As(s.err, &status)
	if s.verdict != verdictDenied || status == http.StatusUnauthorized || !open {
		return s, open
	}
	named, open := w.seeAt(ctx, rootTarget)
	if named.verdict == verdictGood {
		return named, open
	}
	return s, open
}

// seeAt asks at lookTarget or rootTarget.
func (w *wire) seeAt(ctx context.Context, target string) (s sight, open bool) {
	c := lookCall(target)
	c.anonymous = w.host.anonymous
	if w.host.found {
		c.fields = append(c.fields, newField(lookHeader, "1"))
	}
	a, err := w.exchange(ctx, c)
	if err != nil {
		return unseen(err), false
	}
	body, err := io.ReadAll(io.LimitReader(a.body, maxLook+1))
	if b, ok := a.body.(*answerBody); ok {
		open = b.over()
	}
	if err != nil {
		return unseen(err), false
	}
	return readSight(a.status, body), open
}

func lookCall(target string) *call {
	return &call{method: http.MethodGet, target: target, fields: []field{newField("Accept", "application/json")}}
}

// unseen is the sight of a node from which no answer came.
func unseen(err error) sight {
	var we *wireError
	if errors.As(err, &we) && we.kind == faultGarbage {
		return sight{verdict: verdictGarbage, err: err}
	}
	return sight{verdict: verdictSilent, err: err}
}

// The blocks that a node puts on itself; see GatewayService and NoMasterBlockService
// (NoClusterManagerBlockService) of the engines.
const (
	blockNotRecovered = "1"
	blockLeaderless   = "2"
)

// readSight reads the answer to a look.
func readSight(status int, body []byte) sight {
	switch {
	case status == http.StatusTooManyRequests:
		return sight{verdict: verdictBusy, err: answered(status)}
	case status >= http.StatusInternalServerError:
		return sight{verdict: verdictUnavailable, err: answered(status)}
	case status >= http.StatusBadRequest:
		return sight{verdict: verdictDenied, err: answered(status)}
	case status != http.StatusOK || len(body) > maxLook:
		return sight{verdict: verdictGarbage, err: fmt.Errorf("it answers %d with %d bytes that are no state of a cluster", status, len(body))}
	}
	var a struct {
		Cluster string `json:"cluster_uuid"`
		Blocks  struct {
			Global map[string]json.RawMessage `json:"global"`
		} `json:"blocks"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return sight{verdict: verdictGarbage, err: fmt.Errorf("it answers no state of a cluster: %w", err)}
	}
	switch {
	case a.Cluster == "":
		return sight{verdict: verdictGarbage, err: errors.New("it answers no state of a cluster: no cluster_uuid")}
	case a.Cluster == "_na_" || a.Blocks.Global[blockNotRecovered] != nil:
		return sight{verdict: verdictUnformed, err: errors.New("it has not joined a cluster yet")}
	case a.Blocks.Global[blockLeaderless] != nil:
		return sight{verdict: verdictLeaderless, cluster: a.Cluster, err: errors.New("it knows no cluster manager")}
	}
	return sight{verdict: verdictGood, cluster: a.Cluster}
}

// errUnproven is for a call that found no node of its cluster at the end of a connection.
var errUnproven = errors.New("it has not proved to be of the cluster")

// proved lets a connection that was opened for a call prove where it leads; the call is
// sent to no other cluster than the one by whose state it was decided. last tells that no
// better node is known.
func (h *host) proved(ctx context.Context, w *wire, p *pick, last bool) (*wire, error) {
	w.bare = true // the slot is given back by who has asked for the connection
	s, open := w.see(ctx)
	if ctx.Err() != nil {
		w.shut()
		return nil, givenUp(ctx)
	}
	h.judge(s)
	if err := h.accepts(s, p, last); err != nil {
		w.shut()
		return nil, &wireError{faultConnect, fmt.Errorf("node %s: %w", h.name, err)}
	}
	if !open { // it ends each connection after one answer: the next one is taken to lead there as well
		w.shut()
		if h.found && !h.secure {
			return nil, &wireError{faultConnect, fmt.Errorf("node %s: %w: it ends its connections after one answer", h.name, errUnproven)}
		}
		var err error
		if w, err = h.dialed(ctx); err != nil {
			return nil, err
		}
	}
	w.bare = false
	if s.cluster != "" {
		w.cluster = p.cluster
	}
	return w, nil
}

// accepts returns nil if a call may be sent to who has shown itself as s. If no better
// node is known, one of the configuration may have it that answers with a refusal of its
// own and names no other cluster: so the client sees what the cluster has to say. As long
// as another may be known, the error for that is errUnproven.
func (h *host) accepts(s sight, p *pick, last bool) error {
	switch s.verdict {
	case verdictGood, verdictLeaderless:
		if p.cluster == "" || s.cluster == p.cluster {
			return nil
		}
		return fmt.Errorf("it is of cluster %q, and the call is for %q", clip(s.cluster), p.cluster)
	case verdictBusy, verdictDenied, verdictUnavailable, verdictUnformed:
		switch {
		case h.found:
		case last:
			return nil
		default:
			return fmt.Errorf("%w: %w", errUnproven, s.err)
		}
	}
	return s.err
}
