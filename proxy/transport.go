package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"guard/config"
)

const (
	maxIdleTime = 30 * time.Second // an older pooled connection is not trusted any more
	maxNodes    = 1024
)

// Transport sends calls to the nodes of the cluster over pooled connections. It never
// repeats a call whose bytes may have arrived, unless the call says that it may.
type Transport struct {
	common     hostCommon
	configured []address // the URLs of the configuration
	nodes      *nodes
	meeting    sync.Once
	discovery  discovery
}

var _ upstream = (*Transport)(nil)

// NewTransport makes a transport for the nodes of a configuration. It opens no
// connection; it does read the certificate files.
func NewTransport(c config.Upstream, t config.Timeouts) (*Transport, error) {
	shown, err := clientMaterial(c)
	if err != nil {
		return nil, err
	}
	tr := &Transport{
		common: hostCommon{shown: shown, connect: t.Connect, timeout: t.Upstream},
		nodes: newNodes(nodeLimits{
			maxConns: max(c.MaxConns, 1), userConns: c.MaxUserConns, maxQueue: c.MaxQueue, queueTime: c.QueueTimeout, slowStart: c.SlowStart,
			idleTime: maxIdleTime, connect: t.Connect, lookPause: lookPause,
		}),
	}
	shown.swapped = tr.nodes.retire
	for _, raw := range c.URLs {
		at, err := parseAddress(raw)
		if err != nil {
			return nil, err
		}
		tr.configured = append(tr.configured, at)
	}
	return tr, tr.setNodes(tr.configured)
}

// setNodes makes list the nodes that calls go to. A node that is not among them drains:
// calls under way on it end as they would, and it is forgotten.
func (t *Transport) setNodes(list []address) error {
	if n := len(list); n == 0 || n > maxNodes {
		return fmt.Errorf("%d upstream URLs; want 1 to %d", n, maxNodes)
	}
	t.nodes.set(list, t.newHost)
	return nil
}

// Do sends c to one of the nodes.
func (t *Transport) Do(ctx context.Context, c *call) (*answer, error) {
	p := pick{claim: c.claim, cluster: c.cluster}
	if p.cluster == "" {
		p.cluster = t.nodes.ours()
	}
	for {
		if ctx.Err() != nil { // a connection that lies ready must not tempt it
			return nil, givenUp(ctx)
		}
		p.avoid, p.tried = c.node, slices.Clone(c.shunned)
		w, err := t.nodes.acquire(ctx, p)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil { // it came free because all calls under way are cut
			w.kill()
			return nil, givenUp(ctx)
		}
		c.node = w.host
		a, err := w.exchange(ctx, c)
		if err == nil {
			w.host.answered()
			if a.odd() {
				w.host.doubt()
			}
			return a, nil
		}
		w.host.suspect(err)
		if !c.again(err) {
			return nil, err
		}
	}
}

// mayRepeat reports whether c may still be made a second time.
func (c *call) mayRepeat() bool { return c.repeatable && c.body == nil }

// again reports whether c may be made once more after err, and spends that chance.
func (c *call) again(err error) bool {
	if err == nil || !c.mayRepeat() {
		return false
	}
	var we *wireError
	if !errors.As(err, &we) || we.kind != faultCut && we.kind != faultGarbage {
		return false
	}
	c.repeatable = false
	return true
}

// Reload puts to work what the files of certificates, keys, CAs and the password hold
// now, and reports whether that is something else than before. On an error those at work stay.
func (t *Transport) Reload(ctx context.Context) (changed bool, err error) {
	return t.common.shown.reload(ctx)
}

// ownHeader returns how many bytes of header lines, without their ends, the transport adds
// to a call at most. Nodes that were discovered are taken to have names as long as those
// of the configuration.
func (t *Transport) ownHeader() int {
	n := 0
	for _, at := range t.configured {
		n = max(n, len("Host: ")+len(at.name))
	}
	return n + len(strings.TrimSuffix(t.common.shown.load().account, "\r\n")) + len("Content-Length: 999999999999999999")
}

// Close ends all idle connections and what looks after the nodes. Calls under way end
// as they would, and their connections with them; no call begins any more.
func (t *Transport) Close() { t.nodes.close() }

// Open returns how many connections to the cluster are open, in use or idle.
func (t *Transport) Open() int { return t.nodes.open() }

// address says where a node is.
type address struct {
	secure bool   // https
	name   string // for Host
	server string // whom its certificate must name
	dial   string // host and port
}

func parseAddress(raw string) (address, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return address{}, fmt.Errorf("cannot read upstream URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" {
		return address{}, fmt.Errorf("upstream URL %q; want http or https, a host and nothing else", u.Redacted())
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme // net.Dial knows both names
	}
	return address{u.Scheme == "https", u.Host, u.Hostname(), net.JoinHostPort(u.Hostname(), port)}, nil
}

// hostCommon is what all nodes have in common.
type hostCommon struct {
	shown   *material // to the node: certificate, CAs, account
	connect time.Duration
	timeout time.Duration
}

func (t *Transport) newHost(at address) *host {
	h := &host{address: at, hostCommon: t.common, nodes: t.nodes, found: !slices.Contains(t.configured, at)}
	h.anonymous = h.found && (!h.secure || t.discovery.open)
	return h
}

// deadPeer notices within half a minute that the far end of a connection is gone
// without a word.
var deadPeer = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// open connects to the node; nothing of a call is sent. By TLS its name is always
// checked.
func (h *host) open(ctx context.Context, shown *generation) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, h.connect)
	defer cancel()
	d := net.Dialer{KeepAliveConfig: deadPeer}
	c, err := d.DialContext(ctx, "tcp", h.dial)
	if err != nil || !h.secure {
		return c, err
	}
	conf := shown.tls.Clone()
	conf.ServerName = h.server
	tc := tls.Client(c, conf)
	if err := tc.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return tc, nil
}
