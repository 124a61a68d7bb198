package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"guard/config"
)

const (
	nodesTarget      = "/_nodes/_all/http?filter_path=_nodes.failed,nodes.*.roles,nodes.*.http.publish_address"
	discoveryTimeout = 10 * time.Second // of one look
	discoveryPause   = 2 * time.Second  // the least between two, whatever happens
	discoveryAgain   = 5 * time.Second  // after one that failed
	probesAtOnce     = 16
	openEvery        = time.Hour // is the cluster asked whether it answers without guard's account
)

// discovery is what is known between two looks. One goroutine looks.
type discovery struct {
	refused map[address]verdict // what the cluster has named and was not taken up
	open    bool                // the cluster answers without guard's account
	asked   time.Time           // when it was asked for that
}

// Discover keeps the list of nodes to what the cluster says of itself until ctx ends,
// with a look every so often, and at once when no node can be reached any more.
func (t *Transport) Discover(ctx context.Context, every time.Duration) {
	t.Meet(ctx)
	for ctx.Err() == nil {
		pause := every
		if err := t.discover(ctx); err != nil && ctx.Err() == nil {
			t.nodes.log.Load().Warn("cannot discover the nodes of the cluster", zap.Error(err))
			pause = min(discoveryAgain, every)
		}
		least := min(discoveryPause, pause)
		sleep(ctx, least, nil)
		sleep(ctx, jitter(pause-least), t.nodes.lost)
	}
}

// sleep waits, but no longer than ctx or until it is woken.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// discover looks once. What is not understood, or can't be reached, changes nothing; if no
// node is fit for calls at all, those of the configuration are used again: what was found
// may be somebody else by now, and the names of the configuration mean other machines.
func (t *Transport) discover(ctx context.Context) error {
	err := t.find(ctx)
	if err != nil && t.nodes.noneUp() {
		t.discovery.asked = time.Time{}
		return errors.Join(err, t.setNodes(t.configured))
	}
	return err
}

// find takes up the nodes that the cluster names.
func (t *Transport) find(ctx context.Context) error {
	look, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	t.learnOpen(look)
	status, body, err := t.Fetch(look, "GET", nodesTarget)
	if err != nil {
		return err
	}
	if status != 200 {
		return fmt.Errorf("the cluster answers %s with status %d; want 200, for which its account needs cluster:monitor/nodes/info", nodesTarget, status)
	}
	found, whole, err := parseNodes(body, t.configured[0].secure)
	if err != nil {
		return err
	}
	usable := t.proven(ctx, found)
	if len(usable) == 0 {
		return fmt.Errorf("none of the %d nodes that the cluster names can be used; want their http.publish_address to be reachable from here, and to be theirs", len(found))
	}
	if !whole { // who did not answer the cluster may well answer guard
		usable = append(usable, t.nodes.addresses()...)
	}
	return t.setNodes(usable)
}

// nodesAnswer is what is read of the cluster's answer.
type nodesAnswer struct {
	Summary struct {
		Failed int `json:"failed"`
	} `json:"_nodes"`
	Nodes map[string]struct {
		Roles []string `json:"roles"`
		HTTP  struct {
			Address string `json:"publish_address"`
		} `json:"http"`
	} `json:"nodes"`
}

// parseNodes reads where the nodes are that take requests; whole tells that the cluster
// has heard of all. One address that is not understood spoils the answer.
func parseNodes(body []byte, secure bool) (found []address, whole bool, err error) {
	var a nodesAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, false, fmt.Errorf("cannot read the nodes of the cluster: %w", err)
	}
	for _, n := range a.Nodes {
		if n.HTTP.Address == "" || !takesRequests(n.Roles) {
			continue // its HTTP is off, or it has other work
		}
		at, err := parsePublished(n.HTTP.Address, secure)
		if err != nil {
			return nil, false, err
		}
		found = append(found, at)
	}
	if len(found) > maxNodes {
		return nil, false, fmt.Errorf("the cluster names %d nodes; want %d at most", len(found), maxNodes)
	}
	slices.SortFunc(found, func(a, b address) int { return strings.Compare(a.dial, b.dial) })
	return found, a.Summary.Failed == 0, nil
}

// takesRequests reports whether a node of these roles is one for clients. One that only
// manages the cluster is not: requests would take from it what the cluster needs.
func takesRequests(roles []string) bool {
	manages := false
	for _, r := range roles {
		switch {
		case r == "master" || r == "cluster_manager":
			manages = true
		case r == "data" || strings.HasPrefix(r, "data_") || r == "ingest" || strings.HasPrefix(r, "coordinating"):
			return true
		}
	}
	return !manages
}

// parsePublished reads "ip:port" or "name/ip:port". The name is what the certificate
// of the node is checked for; it is not looked up.
func parsePublished(text string, secure bool) (address, error) {
	name, at, named := strings.Cut(text, "/")
	if !named {
		name, at = "", text
	}
	ap, err := netip.ParseAddrPort(at)
	if err != nil || ap.Port() == 0 || ap.Addr().IsUnspecified() || named && !isNode(name) {
		return address{}, fmt.Errorf("cannot read http.publish_address %q; want ip:port or name/ip:port", clip(text))
	}
	ap = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	if name == "" {
		name = ap.Addr().WithZone("").String()
	}
	_, port, _ := net.SplitHostPort(ap.String()) // it has one
	return address{secure: secure, name: net.JoinHostPort(name, port), server: name, dial: ap.String()}, nil
}

// isNode reports whether a node can be known by this name in a certificate and in a Host
// header.
func isNode(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil || config.IsHostName(name)
}

// learnOpen finds out whether the cluster answers without guard's account: then what it
// names can prove itself before it gets the account. It does not ask often, since the
// cluster may take it for a login that fails.
func (t *Transport) learnOpen(ctx context.Context) {
	if time.Since(t.discovery.asked) < openEvery {
		return
	}
	c := lookCall(lookTarget)
	c.claim.own, c.anonymous = true, true
	a, err := t.Do(ctx, c)
	if err != nil {
		return // the next look finds out
	}
	defer a.body.Close()
	body, err := io.ReadAll(io.LimitReader(a.body, maxLook+1))
	if err == nil {
		s := readSight(a.status, body)
		t.discovery.open, t.discovery.asked = s.cluster != "", time.Now()
	}
}

// proven returns those of list that are in use already, and those that prove to be of the
// cluster that guard is for: what the cluster publishes may be meant for its own network,
// where other machines have these addresses, or be the address of guard itself.
func (t *Transport) proven(ctx context.Context, list []address) []address {
	known, ours := t.nodes.addresses(), t.nodes.ours()
	sights := make([]sight, len(list))
	room := make(chan struct{}, probesAtOnce)
	var probes sync.WaitGroup
	for i, at := range list {
		if slices.Contains(known, at) {
			sights[i].verdict = verdictGood
			continue
		}
		room <- struct{}{}
		probes.Go(func() {
			defer func() { <-room }()
			sights[i] = t.candidate(ctx, at, ours)
			t.nodes.looks.WithLabelValues(string(sights[i].verdict)).Inc()
		})
	}
	probes.Wait()
	var out []address
	refused := map[address]verdict{}
	for i, at := range list {
		v := sights[i].verdict
		if v == verdictGood {
			out = append(out, at)
			continue
		}
		refused[at] = v
		if t.discovery.refused[at] != v { // once
			t.nodes.log.Load().Warn("node is not taken up", zap.String("node", at.name), zap.String("verdict", string(v)), zap.Error(sights[i].err))
		}
	}
	t.discovery.refused = refused
	return out
}

// candidate looks at what may be a node of the cluster. One without a cluster manager may
// be taken up; it is known for what it is. Nothing is sent to who can't prove itself: the
// proof is the cluster_uuid, told without guard's account where the cluster does that, and
// else to the account over TLS, where a certificate has shown who gets it.
func (t *Transport) candidate(ctx context.Context, at address, ours string) sight {
	switch h := t.newHost(at); {
	case ours == "":
		return sight{verdict: verdictUnproven, err: errors.New("it is not known yet which cluster guard is for")}
	case h.found && !h.secure && !t.discovery.open:
		return sight{verdict: verdictUnproven, err: errors.New("the cluster says who it is to guard's account alone, which is not sent to a node that was found by plain http; want https")}
	default:
		s := h.look(ctx)
		switch {
		case s.cluster != "" && s.cluster != ours:
			return foreign(s.cluster, ours)
		case s.verdict == verdictLeaderless:
			s.verdict = verdictGood
		}
		return s
	}
}
