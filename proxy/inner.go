package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/internal/ask"
)

// Connections to the internal listener: enough for whoever has to do with it, and no way to
// take the descriptors that clients and the cluster are reached by.
const (
	maxInternal        = 256
	maxInternalAddress = 64 // from one address
)

// innerRefusal says why a request to the internal listener was refused: a closed set, a
// metric label.
type innerRefusal string

const (
	refusedOrigin innerRefusal = "origin" // a page in a browser sent it
	refusedHost   innerRefusal = "host"   // for a name that is not known to be guard's
)

// screen refuses what a page in somebody's browser may have sent: nobody logs in here, so to
// reach the listener is to be allowed, and a browser within reach lends that to pages. A
// page of another site shows itself by the headers that no script can leave out. One whose
// own name was made to lead here counts as the same site, but it is by that name that
// it asks: only names that are known to be guard's are served, and addresses, which
// nobody can make lead elsewhere. That is for what changes something; what is read is
// served to every name unless names were configured, since it is by a name of its own
// network that metrics are read.
func (in Internal) screen(next http.Handler) (http.Handler, error) {
	refusals := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "guard_internal_refusals_total", Help: "Requests to the internal listener that a page in a browser may have sent, by what told so: an origin, or a host that is not guard's.",
	}, []string{"reason"})
	if err := in.Metrics.Register(refusals); err != nil {
		return nil, err
	}
	for _, why := range []innerRefusal{refusedOrigin, refusedHost} {
		refusals.WithLabelValues(string(why))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		changes := r.Method != http.MethodGet && r.Method != http.MethodHead
		var why innerRefusal
		var public string
		switch {
		case changes && fromPage(r.Header):
			why, public = refusedOrigin, "requests of web pages are refused"
		case (changes || len(in.Hosts) > 0) && !in.isHere(r.Host):
			why, public = refusedHost, "the host is neither an address, nor localhost, nor one of internal_hosts"
		default:
			next.ServeHTTP(w, r)
			return
		}
		refusals.WithLabelValues(string(why)).Inc()
		in.Log.Warn("internal request refused", zap.String("reason", string(why)), zap.String("method", r.Method), zap.String("path", clip(r.URL.Path)),
			zap.String("host", clip(r.Host)), zap.String("origin", clip(r.Header.Get("Origin"))), zap.String("peer", r.RemoteAddr))
		writeJSON(w, http.StatusForbidden, struct {
			Status string `json:"status"`
			Reason string `json:"reason"`
		}{"refused", public})
	}), nil
}

// fromPage reports whether a browser says that a page sent a request.
func fromPage(h http.Header) bool {
	site := h.Get("Sec-Fetch-Site")
	return len(h["Origin"]) > 0 || site != "" && site != "none"
}

// isHere reports whether a Host header can name nobody but guard.
func (in Internal) isHere(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.ContainsFunc(append([]string{"localhost"}, in.Hosts...), func(name string) bool { return strings.EqualFold(name, host) })
}

// innerListener bounds the connections to the internal listener.
type innerListener struct {
	net.Listener
	door *doorway
}

// Listen opens the listener for probes and metrics.
func (in Internal) Listen(address string) (net.Listener, error) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	turned := func(met ask.Limit, from netip.Addr) {
		in.Log.Warn("internal connection turned away", zap.String("limit", string(met)), zap.Stringer("from", from))
	}
	return &innerListener{ln, newDoorway(maxInternal, maxInternalAddress, turned)}, nil
}

// Accept returns the next connection that is let in.
func (l *innerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from := addressOf(c); l.door.admit(c, from, true) {
			return &innerConn{Conn: c, place: place{door: l.door, from: from}}, nil
		}
	}
}

// Close also waits for who is being turned away.
func (l *innerListener) Close() error {
	err := l.Listener.Close()
	l.door.wait()
	return err
}

// innerConn gives its place back when it is closed.
type innerConn struct {
	net.Conn
	place place
	once  sync.Once
}

func (c *innerConn) Close() error {
	c.once.Do(c.place.leave)
	return c.Conn.Close()
}
