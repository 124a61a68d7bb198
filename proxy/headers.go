package proxy

import (
	"strings"

	"guard/internal/ask"
)

// hopByHop are headers that belong to one connection and never pass through, in lower
// case. So is every header that Connection names.
var hopByHop = map[string]bool{
	"connection": true, "http2-settings": true, "keep-alive": true, "proxy-authenticate": true, "proxy-authorization": true,
	"proxy-authentication-info": true, "proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
}

// forwarded are the request headers that reach the cluster, in lower case. The list is
// closed (law 11): identity, tenant, impersonation and internal headers, in any spelling,
// are simply not on it, nor are the client's credentials. Nor is Upgrade: clients that
// would rather speak HTTP/2 ask with each first request, as the JDK's does, and go on
// with HTTP/1.1 where no 101 comes (RFC 9110, 7.8).
var forwarded = map[string]bool{
	"accept": true, "accept-encoding": true, "accept-language": true, "cache-control": true, "pragma": true,
	"access-control-request-headers": true, "access-control-request-method": true, "origin": true,
	"if-match": true, "if-modified-since": true, "if-none-match": true, "if-range": true, "if-unmodified-since": true, "range": true,
	"traceparent": true, "tracestate": true, "user-agent": true, "x-elastic-client-meta": true, "x-opaque-id": true,
}

// aboutForm are the request headers that ask for a form of an answer, for a part of it, or
// for one only if it has changed. They do not go with a call whose answer is read here and
// becomes another.
var aboutForm = map[string]bool{
	"accept": true, "accept-encoding": true,
	"if-match": true, "if-modified-since": true, "if-none-match": true, "if-range": true, "if-unmodified-since": true, "range": true,
}

// exact are the headers of an answer that are about its very bytes: one that becomes
// another loses them.
var exact = map[string]bool{
	"accept-ranges": true, "content-digest": true, "content-md5": true, "content-range": true, "digest": true, "etag": true,
	"last-modified": true, "repr-digest": true,
}

// withoutNamed returns fields without those that a Connection header names. It reuses
// the slice.
func withoutNamed(fields []field, connection string) []field {
	kept := fields[:0]
	for _, f := range fields {
		if !hasToken(connection, f.name) {
			kept = append(kept, f)
		}
	}
	return kept
}

// passing says which of a client's headers go with a call.
type passing struct {
	plain bool // the answer is read here: it must be whole and not compressed
	typed bool // with plain: it may be of any type, and need not be JSON
	body  bool // the client's body goes along as it is, with its encoding
	own   bool // guard's own call: X-Opaque-Id alone
	cors  bool // guard answers browsers itself: the cluster does not see that they ask
}

// requestFields returns the client's headers that go to the cluster.
func (h *head) requestFields(p passing) []field {
	connection, accepts := "", 0
	for _, f := range h.fields {
		switch f.key {
		case "connection":
			connection += "," + f.value
		case "accept":
			accepts++
		}
	}
	out := make([]field, 0, len(h.fields)+3)
	for _, f := range h.fields {
		name := f.key
		pass := forwarded[name] || p.body && name == "content-encoding"
		if p.plain {
			pass = pass && !aboutForm[name] || name == "accept" && (p.typed || accepts == 1 && asksVendorJSON(f.value))
		}
		if p.cors && corsRequest[name] {
			pass = false
		}
		if p.own {
			pass = name == "x-opaque-id"
		}
		if pass && (connection == "" || !hasToken(connection, name)) {
			out = append(out, f)
		}
	}
	return out
}

// The plugin refuses requests that carry its internal headers, and impersonation that
// is not allowed.
const (
	internalWord   = "opendistro"
	internalPrefix = internalWord + "_security_"
	impersonation  = internalPrefix + "impersonate_as"
)

// forgery reports whether a client sent a header by which nodes tell each other who
// asks, and in whose names it wants to ask: those of all headers for that which hold one.
func (h *head) forgery() (internal bool, inName []string) {
	for _, f := range h.fields {
		if !strings.Contains(f.key, internalWord) {
			continue
		}
		name := strings.ReplaceAll(f.key, "-", "_")
		rest, ofNodes := strings.CutPrefix(name, "_")
		switch {
		case rest == impersonation && !ofNodes:
			if f.value != "" { // else it is passed over, as there
				inName = append(inName, f.value)
			}
		case strings.HasPrefix(rest, internalPrefix):
			internal = true
		}
	}
	return internal, inName
}

// askHeader is the part of the headers that a decision may look at.
func (h *head) askHeader() ask.Header {
	return ask.Header{Host: h.value("host"), ContentType: h.value("content-type")}
}

// headerSize is the length of header lines as a node counts it: without their ends.
func headerSize(fields []field) int {
	n := 0
	for _, f := range fields {
		n += len(f.name) + len(": ") + len(f.value)
	}
	return n
}
