package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"guard/config"
	"guard/indexresolver/source"
	"guard/proxy"
)

func serveCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve clients in front of the cluster", Args: cobra.NoArgs,
		Long: `serve reads the configuration and the security folder, learns the cluster's indices,
and serves clients until it is told to stop (SIGINT, SIGTERM). A security folder that
changes is picked up; one with a fault changes nothing and is reported.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return serve(ctx, s)
		},
	}
	s.addFlags(cmd)
	return cmd
}

// server is what serve runs; each part has this owner, who stops it and waits.
type server struct {
	config    *config.Config
	log       *zap.Logger
	level     zap.AtomicLevel
	transport *proxy.Transport
	source    *source.Source
	current   *current
	reloads   *reloads
	proxy     *proxy.Server
	registry  *prometheus.Registry
}

func serve(ctx context.Context, s settings) error {
	c, warnings, err := config.Load(s.file, s.overrides)
	if err != nil {
		printWarnings(os.Stderr, warnings) // there is no log yet, and a warning may explain the fault
		return err
	}
	collectorFor(c.Limits, os.Getenv).use()
	srv, err := newServer(c, warnings)
	if err != nil {
		return err
	}
	defer srv.transport.Close()
	return srv.run(ctx)
}

// newServer wires the parts; it opens no socket.
func newServer(c *config.Config, warnings []config.Warning) (*server, error) {
	srv := &server{config: c, registry: prometheus.NewRegistry()}
	srv.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	var err error
	if srv.log, srv.level, err = newLogger(c.Log); err != nil {
		return nil, err
	}
	logWarnings(srv.log, warnings)
	fitDescriptors(c, descriptorLimit(), srv.log)
	verifier, err := newVerifier(c)
	if err != nil {
		return nil, err
	}
	p, warnings, err := loadPolicy(c, verifier)
	logWarnings(srv.log, warnings)
	if err != nil {
		return nil, err
	}
	if srv.transport, err = proxy.NewTransport(c.Upstream, c.Timeouts); err != nil {
		return nil, err
	}
	srv.source = source.New(srv.transport, source.Config{
		Poll: c.State.Poll, MinPause: c.State.MinInterval, Timeout: c.State.Timeout, OnError: srv.stateFailed,
	})
	srv.current = &current{source: srv.source}
	srv.current.setPolicy(p)
	srv.source.OnChange(srv.current.setState)
	srv.reloads = newReloads(srv.registry, c, verifier, srv.current, srv.log)
	registerState(srv.registry, srv.source)
	srv.proxy, err = proxy.New(proxy.Options{
		Config: c, Transport: srv.transport, Snapshots: srv.current,
		Log: srv.log, Metrics: srv.registry,
	})
	if err != nil {
		return nil, err
	}
	return srv, nil
}

// stateFailed reports a read of the cluster's state that failed. The last state stays.
func (srv *server) stateFailed(err error) {
	srv.log.Warn("cannot read the state of the cluster", zap.Error(err))
}

// run serves until ctx ends, then drains.
func (srv *server) run(ctx context.Context) error {
	mode, err := srv.config.ListenMode.Perm()
	if err != nil {
		return err
	}
	clients, err := proxy.Listen(ctx, srv.config.Listen, mode)
	if err != nil {
		return fmt.Errorf("cannot listen for clients: %w", err)
	}
	internal, err := net.Listen("tcp", srv.config.Internal)
	if err != nil {
		_ = clients.Close() // the other error is the one to report
		return fmt.Errorf("cannot listen for probes: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	probes := proxy.Internal{Ready: srv.ready, Draining: srv.proxy.Draining, Metrics: srv.registry, Level: srv.level}.Server()

	var parts sync.WaitGroup
	parts.Go(func() { cancelOn(cancel, probes.Serve(internal)) })
	parts.Go(func() { cancelOn(cancel, srv.source.Run(ctx)) })
	parts.Go(func() { srv.reloads.run(ctx) })
	parts.Go(func() { srv.proxy.Watch(ctx) })
	parts.Go(func() { srv.warnIfOpen(ctx) })
	if d := srv.config.Upstream.Discovery; d.Enabled {
		parts.Go(func() { srv.transport.Discover(ctx, d.Interval) })
	}
	parts.Go(func() { cancelOn(cancel, srv.proxy.Serve(clients)) })
	srv.log.Info("serving", zap.String("listen", clients.Addr().String()), zap.String("internal", internal.Addr().String()),
		zap.Strings("upstream", srv.config.Upstream.URLs), zap.Bool("tls", srv.config.TLS.Enabled()))

	<-ctx.Done()
	failed := context.Cause(ctx)
	if errors.Is(failed, context.Canceled) {
		failed = nil // it was told to stop
	}
	srv.log.Info("draining", zap.Duration("at_most", srv.config.Timeouts.Drain))
	drain, done := context.WithTimeout(context.WithoutCancel(ctx), srv.config.Timeouts.Drain)
	defer done()
	err = srv.proxy.Shutdown(drain)
	_ = probes.Close() // probes are over
	parts.Wait()
	srv.log.Info("stopped")
	_ = srv.log.Sync() // fails on terminals
	return errors.Join(failed, err)
}

// cancelOn ends the server if one of its parts fails.
func cancelOn(cancel context.CancelCauseFunc, err error) {
	if err != nil {
		cancel(err)
	}
}

// ready says why guard cannot serve: before the cluster was seen, and when what it
// knows is too old.
func (srv *server) ready() error {
	state := srv.source.State()
	if state.Empty() {
		return errors.New("the cluster was not reached yet")
	}
	if age := state.Age(time.Now()); age > srv.config.State.MaxAge {
		return fmt.Errorf("the state of the cluster is %v old", age.Round(time.Second))
	}
	return nil
}
