package proxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
)

func headOf(t *testing.T, lines ...string) *head {
	t.Helper()
	h, rej := parseHead("GET / HTTP/1.1\r\nHost: a\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n")
	if rej != nil {
		t.Fatal(rej)
	}
	return &h
}

func TestRequestFields(t *testing.T) {
	f := func(p passing, want []string, lines ...string) {
		t.Helper()
		var got []string
		for _, f := range headOf(t, lines...).requestFields(p) {
			got = append(got, f.name+": "+f.value)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v %q (-want +got):\n%s", p, lines, d)
		}
	}
	all := []string{"ACCEPT: a", "accept: b", "Accept-Encoding: gzip", "X-Opaque-Id: 1", "Content-Type: x", "Content-Encoding: gzip", "Authorization: b", "X-Unknown: 1", "Cookie: c"}
	f(passing{}, []string{"ACCEPT: a", "accept: b", "Accept-Encoding: gzip", "X-Opaque-Id: 1"}, all...)
	f(passing{body: true}, []string{"ACCEPT: a", "accept: b", "Accept-Encoding: gzip", "X-Opaque-Id: 1", "Content-Encoding: gzip"}, all...)
	f(passing{plain: true}, []string{"X-Opaque-Id: 1"}, all...)
	f(passing{plain: true}, []string{"Cache-Control: 1"}, "If-Match: a", "IF-NONE-MATCH: a", "If-Modified-Since: a", "If-Unmodified-Since: a", "If-Range: a", "Range: a", "Cache-Control: 1")
	f(passing{own: true}, []string{"X-Opaque-Id: 1"}, all...)
	f(passing{own: true, plain: true, body: true}, []string{"X-Opaque-Id: 1"}, all...)
	f(passing{}, nil, "Connection: close, Accept , x-opaque-id", "Accept: a", "X-Opaque-Id: 1") // what Connection names stays
	f(passing{}, nil, "Connection: accept", "Connection: user-agent", "Accept: a", "User-Agent: 1")
	f(passing{}, []string{"Range: bytes=0-1", "If-None-Match: x", "traceparent: 00-1"}, "Range: bytes=0-1", "If-None-Match: x", "traceparent: 00-1")
}

func TestForgery(t *testing.T) {
	f := func(internal bool, inName string, lines ...string) {
		t.Helper()
		i, names := headOf(t, lines...).forgery()
		if got := strings.Join(names, ","); i != internal || got != inName {
			t.Errorf("%q: got %v %q", lines, i, got)
		}
	}
	f(false, "", "X-A: 1")
	f(true, "", "_opendistro_security_user: a")
	f(true, "", "_OPENDISTRO-Security_User_Header: a")
	f(true, "", "opendistro_security_injected_user: a")
	f(false, "b", "opendistro_security_impersonate_as: b")
	f(false, "b", "OpenDistro-Security-Impersonate-As: b")
	f(false, "b,c", "opendistro_security_impersonate_as: b", "opendistro-security-impersonate-as: c")
	f(false, "", "opendistro_security_impersonate_as:")
	f(true, "", "_opendistro_security_impersonate_as: b") // by which nodes tell each other
	f(true, "", "_opendistro_security_impersonate_as:", "_opendistro_security_ssl_principal: x")
	f(false, "", "x-opendistro_security_user: a") // no prefix that a node knows
}

func TestAskHeader(t *testing.T) {
	got := headOf(t, "content-TYPE: application/json", "Accept: x", "x-opaque-id: 7").askHeader()
	if d := cmp.Diff(ask.Header{Host: "a", ContentType: "application/json"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// FuzzRequestFields holds that only headers of the closed list reach the cluster,
// whatever a client calls its headers: none of a connection, none that Connection names,
// and each as the client sent it.
func FuzzRequestFields(f *testing.F) {
	f.Add("X-Proxy-User: a\r\nx_proxy_user: b\r\nAccept: c\r\nConnection: accept\r\n")
	f.Add("AUTHORIZATION: a\r\nauthorization\x00: b\r\n")
	f.Add("Connection: close,\tX-Opaque-Id ,, accept\r\nConnection: Origin\r\nX-Opaque-Id: 1\r\nOrigin: x\r\n")
	for _, head := range heads() {
		if _, lines, ok := strings.Cut(head, "\r\n"); ok {
			f.Add(strings.TrimSuffix(lines, "\r\n"))
		}
	}
	f.Fuzz(func(t *testing.T, lines string) {
		h, rej := parseHead("POST / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n")
		if rej != nil {
			return
		}
		connection := ""
		for _, f := range h.fields {
			if strings.EqualFold(f.name, "connection") {
				connection += f.value + ","
			}
		}
		for _, p := range []passing{{}, {plain: true}, {body: true}, {own: true}} {
			for _, f := range h.requestFields(p) {
				name := strings.ToLower(f.name)
				listed := forwarded[name] || p.body && name == "content-encoding"
				if !listed || hopByHop[name] || name == "authorization" || namedIn(connection, name) || !slices.Contains(h.fields, f) {
					t.Fatalf("%q: header %q reaches the cluster with %q", lines, f.name, f.value)
				}
			}
		}
	})
}
