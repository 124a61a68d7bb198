package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
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
		Use: "serve", Short: "Serve clients in front of the cluster", Args: noArguments,
		Long: `serve reads the configuration and the security folder, learns the cluster's indices,
and serves clients until it is told to stop (SIGINT, SIGTERM): then it lets running
requests end; told a second time it ends at once. A security folder that changes is
picked up, at once if it is told to (SIGHUP, or POST /-/reload on the internal
listener); one with a fault changes nothing and is reported.

Flags win over the file of --config; what neither gives has its default, in brackets
below. All settings: docs/configuration.md. The log is JSON on standard error.`,
		Example: `  guard serve --upstream http://127.0.0.1:9201 --security ./security
  guard serve --config guard.yml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			heard, stop := listenToSignals()
			defer stop()
			return serve(cmd.Context(), s, heard)
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
	sink      *sink
	transport *proxy.Transport
	source    *source.Source
	current   *current
	reloads   *reloads
	proxy     *proxy.Server
	registry  *prometheus.Registry
}

func serve(ctx context.Context, s settings, heard signals) error {
	var log atomic.Pointer[zap.Logger]
	over := make(chan struct{})
	defer close(over) // after all else
	go endAtOnce(heard.again, over, &log)
	c, warnings, err := config.Load(s.file, s.overrides)
	if err != nil {
		printWarnings(os.Stderr, warnings) // there is no log yet, and a warning may explain the fault
		return err
	}
	collectorFor(c.Limits, os.Getenv).use()
	srv, err := newServer(c, warnings, os.Stderr)
	if err != nil {
		return err
	}
	log.Store(srv.log)
	defer srv.sink.close()
	defer srv.transport.Close()
	return srv.run(ctx, heard)
}

// newServer wires the parts; it opens no socket. Its log goes to out.
func newServer(c *config.Config, warnings []config.Warning, out io.Writer) (_ *server, err error) {
	srv := &server{config: c, registry: prometheus.NewRegistry()}
	srv.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if srv.log, srv.level, srv.sink, err = newLogger(c.Log, out, srv.registry); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			srv.sink.close()
		}
	}()
	logWarnings(srv.log, warnings)
	fitDescriptors(c, descriptorLimit(), srv.log)
	verifier, err := newVerifier(c)
	if err != nil {
		return nil, err
	}
	p, warnings, err := prepare(c, verifier)
	logWarnings(srv.log, warnings)
	if err != nil {
		return nil, err
	}
	if srv.transport, err = proxy.NewTransport(c.Upstream, c.Timeouts); err != nil {
		return nil, err
	}
	srv.source = source.New(srv.transport, source.Config{
		Poll: c.State.Poll, MinPause: c.State.MinInterval, Timeout: c.State.Timeout, OnError: srv.stateFailed, OnLists: srv.stateRefused,
	})
	srv.current = &current{source: srv.source}
	srv.current.setPolicy(p)
	srv.source.OnChange(srv.current.setState)
	srv.reloads = newReloads(srv.registry, c, verifier, srv.current, srv.log)
	registerState(srv.registry, srv.source)
	registerKept(srv.registry, srv.current)
	srv.proxy, err = proxy.New(proxy.Options{
		Config: c, Transport: srv.transport, Snapshots: srv.current,
		Log: srv.log, Metrics: srv.registry,
	})
	if err != nil {
		return nil, err
	}
	srv.reloads.others = []part{{"client_files", srv.proxy.Reload}, {"upstream_files", srv.transport.Reload}}
	return srv, nil
}

// faulty returns what could not be loaded anew.
func (srv *server) faulty() []proxy.FaultyPart {
	return append(srv.reloads.Faulty(), srv.proxy.Faulty()...)
}

// stateFailed reports a read of the cluster's state that failed. The last state, if there is
// one, stays.
func (srv *server) stateFailed(err error) {
	if srv.current.source.State().Empty() {
		srv.log.Warn("the cluster could not be read yet; requests are refused until it is", zap.Error(err))
		return
	}
	srv.log.Warn("what is known of the cluster stays and grows older", zap.Error(err))
}

// stateRefused reports that the cluster's state is not read but its lists, or is again.
func (srv *server) stateRefused(why error) {
	if why == nil {
		srv.log.Info("the state of the cluster is read again, instead of its lists")
		return
	}
	srv.log.Warn("the state of the cluster is refused; its lists of names, aliases and mappings are compared instead", zap.Error(why))
}

// run serves until it is told to stop or ctx ends, then drains.
func (srv *server) run(ctx context.Context, heard signals) error {
	mode, err := srv.config.ListenMode.Perm()
	if err != nil {
		return err
	}
	clients, err := proxy.Listen(ctx, srv.config.Listen, mode)
	if err != nil {
		return cannotListen(srv.config.Pos.At("listen"), srv.config.Listen, err)
	}
	internal, probes, err := srv.inner()
	if err != nil {
		_ = clients.Close() // the other error is the one to report
		return cannotListen(srv.config.Pos.At("internal"), srv.config.Internal, err)
	}

	// Requests under way need all parts to the end: none ends before the drain has.
	parts := newParts(context.WithoutCancel(ctx), srv.log)
	parts.run("probes", func(context.Context) error { return closed(probes.Serve(internal)) })
	parts.run("cluster state", func(ctx context.Context) error { srv.transport.Meet(ctx); return srv.source.Run(ctx) })
	parts.run("nodes", func(ctx context.Context) error { srv.transport.Watch(ctx); return nil })
	parts.run("reloads", func(ctx context.Context) error { srv.reloads.run(ctx); return nil })
	parts.run("SIGHUP", func(ctx context.Context) error { srv.reloadOn(ctx, heard.reload); return nil })
	parts.run("open cluster", func(ctx context.Context) error { srv.warnIfOpen(ctx); return nil })
	parts.run("files", func(ctx context.Context) error { srv.proxy.Watch(ctx); return nil })
	if d := srv.config.Upstream.Discovery; d.Enabled {
		parts.run("discovery", func(ctx context.Context) error { srv.transport.Discover(ctx, d.Interval); return nil })
	}
	parts.run("clients", func(context.Context) error { return srv.proxy.Serve(clients) })
	srv.log.Info("serving", zap.String("listen", clients.Addr().String()), zap.String("internal", internal.Addr().String()),
		zap.Strings("upstream", srv.config.Upstream.URLs), zap.Bool("tls", srv.config.TLS.Enabled()))

	var failed error
	select {
	case <-ctx.Done():
	case s := <-heard.stop:
		srv.log.Info("told to stop", zap.Stringer("signal", s))
	case failed = <-parts.failed:
	}
	t := srv.config.Timeouts
	late := time.Now().Add(t.DrainDelay + t.Drain)
	err = srv.drain()
	_ = probes.Close() // probes are over
	if hang := parts.end(max(time.Until(late), partsTime)); hang != nil {
		srv.log.Error("parts of guard hang and are left behind", zap.Error(hang))
		err = errors.Join(err, hang)
	}
	srv.log.Info("stopped")
	return errors.Join(failed, err)
}

// cannotListen is the fault of the setting that names the address.
func cannotListen(at config.Pos, address string, err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "listen" {
		err = op.Err // the address is said once
	}
	var sys *os.SyscallError
	if errors.As(err, &sys) && sys.Syscall == "bind" {
		err = sys.Err
	}
	want := "an address of this machine"
	switch {
	case strings.HasPrefix(address, "unix:"):
		want = "a path at which guard can make a socket"
	case errors.Is(err, syscall.EADDRINUSE):
		want = "an address that no other process listens on"
	case errors.Is(err, fs.ErrPermission):
		want = "an address that guard may listen on, such as a port above 1023"
	}
	return config.Faults{at.Fault(fmt.Sprintf("cannot listen on %q: %v", address, err), want)}
}

// inner opens the internal listener and makes its server.
func (srv *server) inner() (net.Listener, *http.Server, error) {
	in := proxy.Internal{
		Ready: srv.ready, Draining: srv.proxy.Draining, Faulty: srv.faulty, Reload: srv.reloads.Reload,
		Hosts: srv.config.InternalHosts, Metrics: srv.registry, Level: srv.level, Log: srv.log,
	}
	probes, err := in.Server()
	if err != nil {
		return nil, nil, err
	}
	ln, err := in.Listen(srv.config.Internal)
	return ln, probes, err
}

// partsTime is the least that parts have to end after the drain, which may have used all
// of its time.
const partsTime = 5 * time.Second

// reloadOn reloads at each signal.
func (srv *server) reloadOn(ctx context.Context, heard <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-heard:
			srv.log.Info("told to reload", zap.Stringer("signal", s))
			_, _ = srv.reloads.Reload(ctx) // the log says what came of it
		}
	}
}

// drain ends what clients have under way: guard is not ready from now on, then takes no
// more connections, then cuts what has not ended in time.
func (srv *server) drain() error {
	srv.proxy.Drain()
	t := srv.config.Timeouts
	srv.log.Info("draining", zap.Duration("delay", t.DrainDelay), zap.Duration("at_most", t.Drain))
	time.Sleep(t.DrainDelay)
	ctx, done := context.WithTimeout(context.Background(), t.Drain)
	defer done()
	return srv.proxy.Shutdown(ctx)
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
