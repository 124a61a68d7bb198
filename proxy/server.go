package proxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"guard/config"
	"guard/internal/ask"
)

// Options are what a server is made of. All but Now are needed.
type Options struct {
	Config    *config.Config
	Transport *Transport
	Snapshots Snapshots
	Log       *zap.Logger
	Metrics   prometheus.Registerer
	Now       func() time.Time // the clock of requests; nil: time.Now
}

// Server serves clients.
type Server struct {
	limits   config.Limits
	timeouts config.Timeouts
	snaps    Snapshots
	cluster  upstream
	log      *zap.Logger
	denyLog  *rate.Limiter
	metrics  *metrics
	// ownHeader tells how many bytes of headers a call gets from the transport.
	ownHeader func() int
	compat    config.Compatibility
	now       func() time.Time

	http      *fasthttp.Server
	front     front
	files     *materials
	cors      *cors           // nil: the cluster's
	base      context.Context //nolint:containedctx // ends requests that outlive the drain
	cut       context.CancelCauseFunc
	watch     watcher
	budget    budget
	shared    shared
	admission *admission
	door      *doorway
	idBase    string
	idNext    atomic.Uint64
	draining  atomic.Bool // it is told to stop: answers are the last of their connections
	closed    atomic.Bool // no more connections are accepted

	mu        sync.Mutex // guards listeners
	listeners []*listener
}

// lastWord is how long requests that are cut at the end of the drain have to tell their
// clients what became of them.
const lastWord = 2 * lingerTime

var errDrainOver = errors.New("guard is stopping and the time to drain is over")

// New makes a server; it opens no socket.
func New(o Options) (*Server, error) {
	if o.Config == nil || o.Transport == nil || o.Snapshots == nil || o.Log == nil || o.Metrics == nil {
		return nil, errors.New("proxy: options are incomplete; want all but Now")
	}
	shown, err := serverMaterial(o.Config.TLS)
	if err != nil {
		return nil, err
	}
	s := &Server{
		limits: o.Config.Limits, timeouts: o.Config.Timeouts,
		snaps: o.Snapshots, cluster: o.Transport, log: o.Log,
		denyLog:   rate.NewLimiter(50, 200), // records a second, and at once
		now:       o.Now,
		ownHeader: o.Transport.ownHeader,
		compat:    o.Config.Compatibility,
	}
	if s.cors, err = newCORS(o.Config.CORS); err != nil {
		return nil, err
	}
	if s.front, err = s.newFront(o.Config, shown); err != nil {
		return nil, err
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.budget.left.Store(s.limits.MaxInFlight)
	s.budget.each = s.limits.MaxUserInFlight
	s.admission = newAdmission(s.limits.MaxConcurrent, s.limits.MaxUserConcurrent)
	s.door = newDoorway(s.limits.MaxConnections, s.limits.MaxAddressConns, s.turnedAway)
	if err = s.register(o, shown); err != nil {
		return nil, fmt.Errorf("cannot register metrics: %w", err)
	}
	var id [4]byte
	_, _ = rand.Read(id[:]) // never fails
	s.idBase = hex.EncodeToString(id[:]) + "-"
	s.base, s.cut = context.WithCancelCause(context.Background())
	s.http = &fasthttp.Server{
		Handler:                       s.handle,
		Logger:                        quietLogger{s.log},
		Concurrency:                   1 << 20, // connections; admission bounds requests
		ReadBufferSize:                512,     // holds a substitute head
		WriteBufferSize:               8 << 10,
		NoDefaultServerHeader:         true,
		NoDefaultDate:                 true,
		NoDefaultContentType:          true,
		DisableHeaderNamesNormalizing: true,
		DisablePreParseMultipartForm:  true,
		CloseOnShutdown:               true,
		LazyRequestTime:               true,
		ReduceMemoryUsage:             true, // while a connection waits
	}
	return s, nil
}

// register makes and registers what is counted, of the server and of its nodes.
func (s *Server) register(o Options, shown *material) (err error) {
	held := func() float64 { return float64(s.limits.MaxInFlight - s.budget.left.Load()) }
	open := func() float64 { return float64(o.Transport.Open()) }
	if s.metrics, err = newMetrics(o.Metrics, open, held); err != nil {
		return err
	}
	if s.files, err = newMaterials(o.Metrics, o.Log, shown, o.Transport.common.shown); err != nil {
		return err
	}
	if err = o.Transport.nodes.report(o.Metrics, o.Log); err != nil {
		return err
	}
	return s.door.register(o.Metrics)
}

// newFront makes what connections have in common.
func (s *Server) newFront(c *config.Config, shown *material) (front, error) {
	trusted, err := newProxies(c)
	if err != nil {
		return front{}, err
	}
	return front{shown: shown, proxies: trusted, announced: c.ProxyProtocol, refused: func(peer string, err error) {
		s.metrics.unannounced.Inc()
		if s.denyLog.Allow() {
			s.log.Warn("connection closed: its proxy named no client", zap.String("peer", peer), zap.Error(err))
		}
	}}, nil
}

// quietLogger takes what fasthttp says about connections that ended early.
type quietLogger struct{ log *zap.Logger }

func (q quietLogger) Printf(format string, args ...any) {
	if e := q.log.Check(zap.DebugLevel, "connection ended"); e != nil {
		e.Write(zap.String("detail", fmt.Sprintf(format, args...)))
	}
}

// Serve serves the clients of ln until Shutdown, or until ln fails.
func (s *Server) Serve(ln net.Listener) error {
	lim := &connLimits{
		maxHead: s.limits.MaxHeader,
		idle:    s.timeouts.Idle, header: s.timeouts.ReadHeader, read: s.timeouts.Read, write: s.timeouts.Write,
		sends: paceOf(s.limits.MinRate, s.timeouts.Stall, s.timeouts.Read, ask.LimitRead),
		takes: paceOf(s.limits.MinRate, s.timeouts.Stall, s.timeouts.Write, ask.LimitWrite),
		met:   s.metrics.met, fell: s.connFell, stopped: &s.closed,
	}
	warn := func(err error) { s.log.Warn("cannot accept a connection", zap.Error(err)) }
	l := &listener{Listener: ln, lim: lim, front: &s.front, base: s.base, log: warn, door: s.door}
	if !s.enlist(l) {
		return l.Close()
	}
	if err := s.http.Serve(l); err != nil {
		return fmt.Errorf("cannot serve clients: %w", err)
	}
	return nil
}

// Watch looks every few seconds at the files of certificates, keys, CAs and the cluster's
// password, of both sides, until ctx ends. A change is put to work without a lost
// request; one with a fault changes nothing and is reported.
func (s *Server) Watch(ctx context.Context) { s.files.watch(ctx, lookEvery) }

// Reload puts to work what the files of certificates, keys and CAs for clients hold now,
// and reports whether that is something else than before. On an error those at work stay.
func (s *Server) Reload(ctx context.Context) (changed bool, err error) {
	return s.front.shown.reload(ctx)
}

// Faulty returns the sides whose certificates, keys, CAs or password can't be used as they
// are now.
func (s *Server) Faulty() []FaultyPart { return s.files.atFault() }

// turnedAway records a connection that met a limit.
func (s *Server) turnedAway(met ask.Limit, from netip.Addr) {
	s.metrics.met(met)
	if s.denyLog.Allow() {
		s.log.Warn("connection turned away", zap.String("limit", string(met)), zap.Stringer("from", from))
	}
}

// enlist notes a listener for Shutdown. It reports whether the server still serves.
func (s *Server) enlist(l *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
	return !s.closed.Load()
}

// closeListeners ends every Serve, also one that fasthttp has not heard of yet: its
// own Shutdown would leave that one running.
func (s *Server) closeListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	for _, l := range s.listeners {
		if err := l.Close(); err != nil {
			s.log.Warn("cannot close a listener", zap.Error(err))
		}
	}
}

// Drain makes each answer from now on the last of its connection, so that clients go
// elsewhere before Shutdown closes what is left. Connections are still accepted.
func (s *Server) Drain() { s.draining.Store(true) }

// Draining reports whether Drain or Shutdown was called.
func (s *Server) Draining() bool { return s.draining.Load() }

// Shutdown stops accepting, lets running requests end until ctx does, and cuts those
// that are left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	s.closeListeners()
	s.door.endIdle()
	err := s.http.ShutdownWithContext(ctx)
	s.cut(errDrainOver)
	if err != nil {
		s.door.emptied(lastWord)
	}
	s.watch.stop()
	s.door.wait()
	if err != nil {
		return fmt.Errorf("requests were cut at the end of the drain: %w", err)
	}
	return nil
}

// handle is the one handler: what goes in is on the connection, what comes out is
// written by reply.
func (s *Server) handle(out *fasthttp.RequestCtx) {
	c := out.Conn().(*conn) //nolint:forcetypeassert // the listener makes no other
	t := &turn{srv: s, conn: c, origin: origin{client: c.peer}, start: time.Now()}
	t.share.from = &s.budget
	s.metrics.inFlight.Inc()
	if p := t.safely(&out.Response); p != nil {
		out.Response.Reset()
		r := t.panicked(p)
		t.write(&out.Response, &r)
	}
}

// safely runs the request and writes its answer. It returns a panic of either.
func (t *turn) safely(out *fasthttp.Response) (p *panicError) {
	defer func() {
		if v := recover(); v != nil {
			p = &panicError{v, debug.Stack()}
		}
	}()
	r := t.run()
	t.write(out, &r)
	return nil
}

// panicked makes the answer to a request that ended in a panic: 500, and the connection
// ends, not the process.
func (t *turn) panicked(p *panicError) reply {
	t.fell(p)
	return t.refuse(internalFault(p))
}

// fell records a panic of a request. Nothing more is read from its connection.
func (t *turn) fell(p *panicError) {
	t.conn.bye = true
	t.srv.metrics.panics.Inc()
	t.srv.log.Error("request ended in a panic", zap.String("id", t.req.ID), zap.Any("panic", p.value), zap.ByteString("stack", p.stack))
}

// connFell records a panic of a connection outside of its requests.
func (s *Server) connFell(p *panicError) {
	s.metrics.panics.Inc()
	s.log.Error("connection ended in a panic", zap.Any("panic", p.value), zap.ByteString("stack", p.stack))
}

func (s *Server) requestID() string {
	var id [32]byte
	return string(strconv.AppendUint(append(id[:0], s.idBase...), s.idNext.Add(1), 36))
}
