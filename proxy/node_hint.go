package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
)

// Trouble is why a node of the configuration can't serve.
type Trouble struct {
	URL    int    // its place in upstream.urls
	Reason string // what a look at it has found
	Want   string // what to change
}

// Troubles looks at each node of the configuration and returns what is wrong with those
// that can't serve.
func (t *Transport) Troubles(ctx context.Context) []Trouble {
	t.nodes.mu.Lock()
	list := slices.Clone(t.nodes.list)
	t.nodes.mu.Unlock()
	var out []Trouble
	for i, at := range t.configured {
		n := slices.IndexFunc(list, func(h *host) bool { return h.address == at })
		if n < 0 {
			continue // the cluster has named others
		}
		h := list[n]
		s := h.look(ctx)
		if ours := t.nodes.ours(); s.verdict == verdictGood && ours != "" && s.cluster != ours {
			s = foreign(s.cluster, ours)
		}
		if s.verdict != verdictGood && s.verdict != verdictBusy {
			want := h.hint(s)
			if h.mayNeedTLS(s) && h.speaksTLS(ctx) {
				want = "https in upstream.urls: the node speaks TLS"
			}
			out = append(out, Trouble{URL: i, Reason: s.reason(), Want: want})
		}
	}
	return out
}

// reason says what was found, once and without the node's name.
func (s sight) reason() string {
	switch s.verdict {
	case verdictUnreachable:
		return fmt.Sprintf("the node can't be reached: %v", root(s.err))
	case verdictSilent:
		return fmt.Sprintf("the node does not answer: %v", root(s.err))
	}
	err := s.err
	if we := (*wireError)(nil); errors.As(err, &we) {
		err = we.err
	}
	return fmt.Sprintf("the node can't serve (%s): %v", s.verdict, err)
}

// root is the error that all others were made of.
func root(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

// dialFault is why a connection could not be made, without the address, which the caller says.
func dialFault(err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		err = op.Err
	}
	if sys := (*os.SyscallError)(nil); errors.As(err, &sys) && sys.Syscall == "connect" {
		err = sys.Err
	}
	return err
}

// answered is the error that a status is.
type answered int

func (a answered) Error() string { return fmt.Sprintf("it answers %d", int(a)) }

// mayNeedTLS reports whether a node that was seen like this may be one that speaks TLS, and
// was spoken to without.
func (h *host) mayNeedTLS(s sight) bool {
	var status answered
	return !h.secure && (s.verdict == verdictSilent || s.verdict == verdictGarbage ||
		errors.As(s.err, &status) && status == http.StatusBadRequest)
}

// hint says what an operator may change so that a node that was seen like this can serve.
func (h *host) hint(s sight) string {
	var status answered
	errors.As(s.err, &status) // 0 if it is none
	switch {
	case s.verdict == verdictGood, s.verdict == verdictBusy:
		return ""
	case h.secure && (s.verdict == verdictUnreachable || s.verdict == verdictSilent):
		return hintOfTLS(s.err)
	case s.verdict == verdictUnreachable:
		return "the address of a node that runs in upstream.urls"
	case h.mayNeedTLS(s):
		return "a node of OpenSearch or Elasticsearch in upstream.urls, with https if it speaks TLS"
	case status == http.StatusUnauthorized && h.shown.load().account == "":
		return "an account of the cluster in upstream.username and upstream.password_file: it asks for one"
	case status == http.StatusUnauthorized:
		return "the name and password of an account of the cluster in upstream.username and upstream.password_file: it refuses this one"
	case status == http.StatusForbidden:
		return "an account in upstream.username that may read the state of the cluster (cluster:monitor/state)"
	case s.verdict == verdictGarbage, s.verdict == verdictDenied:
		return "a node of OpenSearch or Elasticsearch in upstream.urls: something else answers there"
	case s.verdict == verdictForeign:
		return "nodes of one cluster in upstream.urls"
	default:
		return "a cluster that can serve; it may be starting"
	}
}

// hintOfTLS is the hint for a connection by TLS that could not be made.
func hintOfTLS(err error) string {
	var (
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &record):
		return "http in upstream.urls: the node does not speak TLS"
	case errors.As(err, &unknown):
		return "the CA that has signed the node's certificate in upstream.ca_file"
	case errors.As(err, &name):
		return "a name that stands in the node's certificate in upstream.urls"
	case errors.As(err, &invalid):
		return "a certificate of the node that is valid now, and for a server"
	case errors.As(err, &op) && op.Op == "remote error": // an alert: the node has refused
		return "what the node asks for: a certificate in upstream.client_certificate, or other versions of TLS"
	}
	return "the address of a node that runs in upstream.urls"
}

// speaksTLS reports whether what stands at a plain URL would make a connection by TLS. It
// is sent nothing else, so whose certificate that is does not matter. Nodes without TLS log
// such a visit, so it is made only for an operator who asks.
func (h *host) speaksTLS(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, h.connect)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ServerName: h.server}} //nolint:gosec // G402: the connection is closed at once
	c, err := d.DialContext(ctx, "tcp", h.dial)
	if err != nil {
		var alert *net.OpError
		return errors.As(err, &alert) && alert.Op == "remote error" // it has understood, and wants a certificate
	}
	_ = c.Close() // nothing was sent
	return true
}
