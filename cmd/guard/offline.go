package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"guard/config"
	"guard/gate"
	"guard/indexresolver"
	"guard/indexresolver/source"
	"guard/proxy"
)

// offline is a policy and a state of a cluster that placeholder serves with.
type offline struct {
	config   *config.Config
	policy   *policy
	snapshot *gate.Snapshot
}

// placeholder stands for the cluster where a saved state is asked instead.
const placeholder = "http://127.0.0.1:9200"

// newOffline reads the policy, and the state of the cluster: a saved one, if a file is
// named, or that of the cluster itself. A saved state counts as that of now.
func newOffline(ctx context.Context, out io.Writer, s settings, stateFile string) (*offline, error) {
	if stateFile != "" && s.file == "" && len(s.overrides.Upstream) == 0 {
		s.overrides.Upstream = []string{placeholder}
	}
	c, warnings, err := config.Load(s.file, s.overrides)
	printWarnings(out, warnings)
	if err != nil {
		return nil, err
	}
	v, err := newVerifier(c)
	if err != nil {
		return nil, err
	}
	p, warnings, err := loadPolicy(c, v)
	printWarnings(out, warnings)
	if err != nil {
		return nil, err
	}
	state, err := stateOf(ctx, out, c, stateFile)
	if err != nil {
		return nil, err
	}
	return &offline{c, p, gate.NewSnapshot(1, p.rules, state)}, nil
}

func stateOf(ctx context.Context, out io.Writer, c *config.Config, file string) (*indexresolver.State, error) {
	if file == "" {
		return askState(ctx, out, c)
	}
	f, err := os.Open(file) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return nil, fmt.Errorf("cannot open the saved state: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	state, err := indexresolver.Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	state.Confirm(time.Now())
	return state, nil
}

// liveTimeout bounds how long the cluster is asked.
const liveTimeout = 30 * time.Second

// askState reads the state of the cluster itself, and warns of nodes that can't serve it.
func askState(ctx context.Context, out io.Writer, c *config.Config) (*indexresolver.State, error) {
	ctx, cancel := context.WithTimeout(ctx, liveTimeout)
	defer cancel()
	t, err := proxy.NewTransport(c.Upstream, c.Timeouts)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	t.Meet(ctx)
	troubles := troubled(c, t.Troubles(ctx))
	if len(troubles) == len(c.Upstream.URLs) {
		return nil, troubles.Err()
	}
	printWarnings(out, troubles)
	return readState(ctx, t)
}

// troubled puts what is wrong with nodes in the form of faults of what names them.
func troubled(c *config.Config, list []proxy.Trouble) (faults config.Faults) {
	for _, x := range list {
		at := c.Upstream.Pos.Item("urls", x.URL)
		faults = append(faults, at.Fault(fmt.Sprintf("%s: %s", c.Upstream.URLs[x.URL], x.Reason), x.Want))
	}
	return faults
}

// readState reads the state of the cluster once.
func readState(ctx context.Context, f source.Fetcher) (*indexresolver.State, error) {
	ctx, cancel := context.WithCancel(ctx)
	src := source.New(f, source.Config{})
	ended := make(chan error, 1)
	go func() { ended <- src.Run(ctx) }()
	state, err := src.Refresh(ctx)
	cancel()
	return state, errors.Join(err, <-ended)
}
