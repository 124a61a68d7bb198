package proxy

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"guard/config"
)

const (
	maxIdleTime = 30 * time.Second // an older pooled connection is not trusted any more
	deadTime    = 2 * time.Second  // how long a node that refused a connection is passed over
	maxHosts    = 64               // nodes: a bit for each in connect
)

// Transport sends calls to the nodes of the cluster over pooled connections. It never
// repeats a call whose bytes may have arrived, unless the call says that it may.
type Transport struct {
	hosts []*host
	next  atomic.Uint32
}

var _ upstream = (*Transport)(nil)

// NewTransport makes a transport for the nodes of a configuration. It opens no
// connection; it does read the certificate files.
func NewTransport(c config.Upstream, t config.Timeouts) (*Transport, error) {
	conf, err := clientTLS(c)
	if err != nil {
		return nil, err
	}
	account, err := accountLine(c)
	if err != nil {
		return nil, err
	}
	if n := len(c.URLs); n == 0 || n > maxHosts {
		return nil, fmt.Errorf("%d upstream URLs; want 1 to %d", n, maxHosts)
	}
	tr := &Transport{}
	for _, raw := range c.URLs {
		u, err := url.Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("cannot read upstream URL: %w", err)
		}
		h, err := newHost(u, c.MaxConns, t)
		if err != nil {
			return nil, err
		}
		h.account = account
		if u.Scheme == "https" {
			h.tls = conf.Clone()
			h.tls.ServerName = u.Hostname()
		}
		tr.hosts = append(tr.hosts, h)
	}
	return tr, nil
}

// Do sends c to one of the nodes.
func (t *Transport) Do(ctx context.Context, c *call) (*answer, error) {
	var err error
	again := c.repeatable && c.body == nil
	for try := range 2 {
		w, cerr := t.connect(ctx, pick{fresh: try > 0, sure: !again})
		if cerr != nil {
			return nil, cerr
		}
		var a *answer
		var started bool
		a, started, err = w.exchange(ctx, c)
		if err == nil {
			return a, nil
		}
		var we *wireError
		cut := errors.As(err, &we) && we.kind == faultCut
		if started || !cut || !again {
			return nil, err
		}
	}
	return nil, err
}

// pick says what connection a call wants.
type pick struct {
	fresh bool // a new one
	sure  bool // one that the node has not closed: the call can't be repeated
}

// connect returns a connection to a node: those thought to be alive are tried first,
// each once. Only here is another node tried without being asked to, since nothing has
// been sent yet.
func (t *Transport) connect(ctx context.Context, p pick) (w *wire, err error) {
	start, n := int(t.next.Add(1)), len(t.hosts)
	var tried uint64
	for i := range 2 * n {
		at := (start + i) % n
		h := t.hosts[at]
		if tried&(1<<at) != 0 || i < n && h.isDead(time.Now()) {
			continue
		}
		tried |= 1 << at
		if w, err = h.get(ctx, p); err == nil {
			return w, nil
		}
		if ctx.Err() != nil {
			return nil, &wireError{faultGone, context.Cause(ctx)}
		}
	}
	return nil, err
}

// Close ends all idle connections.
func (t *Transport) Close() {
	for _, h := range t.hosts {
		h.closeIdle()
	}
}

// Open returns how many connections to the cluster are open, in use or idle.
func (t *Transport) Open() (n int) {
	for _, h := range t.hosts {
		n += len(h.slots)
	}
	return n
}

// host is one node: its address, its pool, its health.
type host struct {
	name    string // as in the URL, for Host
	addr    string
	tls     *tls.Config // nil: plain
	account string      // header line with guard's own credentials, or empty
	connect time.Duration
	timeout time.Duration
	slots   chan struct{} // holds a token for each open connection
	deadTo  atomic.Int64  // Unix nanoseconds until when it is passed over

	handover chan *wire // from a request that ends to one that waits for a connection

	mu   sync.Mutex // guards idle
	idle []*wire    // the last used is taken first, so that those not needed grow old
}

func newHost(u *url.URL, maxConns int, t config.Timeouts) (*host, error) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("upstream URL %q; want http or https, a host and nothing else", u.Redacted())
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // net.Dial knows both names
	}
	return &host{
		name:    u.Host,
		addr:    net.JoinHostPort(u.Hostname(), port),
		connect: t.Connect,
		timeout: t.Upstream,
		slots:   make(chan struct{}, max(maxConns, 1)),

		handover: make(chan *wire),
	}, nil
}

func (h *host) isDead(now time.Time) bool { return now.UnixNano() < h.deadTo.Load() }

// get returns a pooled connection that is still alive, or a new one.
func (h *host) get(ctx context.Context, p pick) (*wire, error) {
	for !p.fresh {
		w := h.take()
		if w == nil {
			break
		}
		if time.Since(w.idle) < maxIdleTime && (!p.sure || w.quiet()) {
			return w, nil
		}
		w.kill()
	}
	return h.dial(ctx)
}

func (h *host) take() *wire {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.idle)
	if n == 0 {
		return nil
	}
	w := h.idle[n-1]
	h.idle[n-1] = nil
	h.idle = h.idle[:n-1]
	return w
}

func (h *host) put(w *wire) {
	w.idle = time.Now()
	select {
	case h.handover <- w:
		return
	default:
	}
	h.mu.Lock()
	var old *wire
	if len(h.idle) > 0 && w.idle.Sub(h.idle[0].idle) > maxIdleTime {
		old = h.idle[0]
		h.idle = append(h.idle[:0], h.idle[1:]...)
	}
	h.idle = append(h.idle, w)
	h.mu.Unlock()
	if old != nil {
		old.kill()
	}
}

// drop gives back the slot of a connection that was closed.
func (h *host) drop() { <-h.slots }

func (h *host) closeIdle() {
	for w := h.take(); w != nil; w = h.take() {
		w.kill()
	}
}

// dial opens a connection, waiting for a slot if there is none. No byte of a call is
// sent before it returns.
func (h *host) dial(ctx context.Context) (*wire, error) {
	ctx, cancel := context.WithTimeout(ctx, h.connect)
	defer cancel()
	select {
	case h.slots <- struct{}{}:
	default:
		if w, err := h.wait(ctx); w != nil || err != nil {
			return w, err
		}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", h.addr)
	if err == nil && h.tls != nil {
		tc := tls.Client(c, h.tls)
		if err = tc.HandshakeContext(ctx); err != nil {
			_ = c.Close()
		}
		c = tc
	}
	if err != nil {
		h.drop()
		h.deadTo.Store(time.Now().Add(deadTime).UnixNano())
		return nil, &wireError{faultConnect, fmt.Errorf("cannot connect to node %s: %w", h.name, err)}
	}
	h.deadTo.Store(0)
	return newWire(c, h, h.timeout), nil
}

// wait waits until a slot is free (then it returns nothing) or a connection idle.
func (h *host) wait(ctx context.Context) (*wire, error) {
	// put hands a connection over only to one who already waits; the tick finds those
	// that came to the pool just before.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var w *wire
		select {
		case h.slots <- struct{}{}:
			return nil, nil //nolint:nilnil // the caller dials in the slot it now has
		case <-ctx.Done():
			return nil, &wireError{faultBusy, fmt.Errorf("all %d connections to node %s are in use", cap(h.slots), h.name)}
		case w = <-h.handover:
		case <-tick.C:
			w = h.take()
		}
		if w != nil && w.quiet() {
			return w, nil
		}
		if w != nil {
			w.kill()
		}
	}
}

// accountLine returns the header line that shows guard to the cluster.
func accountLine(c config.Upstream) (string, error) {
	password := c.Password.Reveal()
	if c.PasswordFile != "" {
		text, err := readPassword(c.PasswordFile)
		if err != nil {
			return "", err
		}
		password = text
	}
	if c.Username == "" {
		return "", nil
	}
	cred := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + password))
	return "Authorization: Basic " + cred + "\r\n", nil
}
