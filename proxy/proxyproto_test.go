package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/gate"
	"guard/internal/ask"
)

// binaryHeader returns a header of version 2.
func binaryHeader(command, family byte, block string) string {
	b := append([]byte(binarySignature), command, family)
	b = binary.BigEndian.AppendUint16(b, uint16(len(block))) //nolint:gosec // G115: blocks of tests are short
	return string(b) + block
}

var (
	block4 = "\xc0\x00\x02\x07" + "\x0a\x00\x00\x01" + "\x01\xbb\x23\xf0"
	block6 = "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x07" + strings.Repeat("\x00", 16) + "\x01\xbb\x23\xf0"
)

// announcements are good headers with the client that they name; empty: none.
var announcements = []struct{ header, client string }{
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 9200\r\n", "192.0.2.7"},
	{"PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"},
	{"PROXY TCP4 1.1.1.1 1.1.1.1 0 0\r\n", "1.1.1.1"},
	{"PROXY TCP6 2001:db8::7 2001:db8::1 443 9200\r\n", "2001:db8::7"},
	{"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	{"PROXY TCP6 ::ffff:192.0.2.7 ::1 1 1\r\n", "192.0.2.7"},
	{"PROXY UNKNOWN\r\n", ""},
	{"PROXY UNKNOWN ffff::1 whatever 65535\r\n", ""},
	{binaryHeader(0x21, 0x11, block4), "192.0.2.7"},
	{binaryHeader(0x21, 0x11, block4+"\x04\x00\x01\x00"), "192.0.2.7"}, // with an extension
	{binaryHeader(0x21, 0x11, block4+strings.Repeat("x", 536-16-12)), "192.0.2.7"},
	{binaryHeader(0x21, 0x21, block6), "2001:db8::7"},
	{binaryHeader(0x21, 0x21, strings.Repeat("\x00", 10)+"\xff\xff\xc0\x00\x02\x07"+block6[16:]), "192.0.2.7"},
	{binaryHeader(0x21, 0x31, strings.Repeat("a", 216)), ""},
	{binaryHeader(0x21, 0x00, ""), ""},
	{binaryHeader(0x21, 0x00, "whatever"), ""},
	{binaryHeader(0x20, 0x00, ""), ""},
	{binaryHeader(0x20, 0x11, block4), ""}, // LOCAL: the addresses are skipped
}

// notAnnouncements are what is refused, with a part of the reason.
var notAnnouncements = []struct{ header, reason string }{
	{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "no header of the PROXY protocol"},
	{"proxy tcp4 1.1.1.1 1.1.1.1 1 1\r\n", "no header of the PROXY protocol"},
	{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00", "no header of the PROXY protocol"},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 9200\n\n\n", "a line end within"},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 9200\rX\r\n", "a line end within"},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 9200", "unexpected EOF"},
	{"PROXY TCP4 ", "unexpected EOF"},
	{"PROXY \r\nGET / HTTP/1.1\r\n", "a line end within"},
	{"PROXY TCP4 \r\nxxx", "want a protocol, two addresses and two ports"},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 9200 1\r\n", "want a protocol"},
	{"PROXY  TCP4 192.0.2.7 10.0.0.1 443 9200\r\n", "want a protocol"},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443\r\n", "want a protocol"},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 9200 \r\n", "want a protocol"},
	{"PROXY UDP4 192.0.2.7 10.0.0.1 443 9200\r\n", `protocol "UDP4"`},
	{"PROXY TCP4 2001:db8::7 2001:db8::1 443 9200\r\n", `address "2001:db8::7"`},
	{"PROXY TCP6 192.0.2.7 10.0.0.1 443 9200\r\n", `address "192.0.2.7"`},
	{"PROXY TCP4 192.0.2.7 2001:db8::1 443 9200\r\n", `address "2001:db8::1"`},
	{"PROXY TCP4 192.0.02.7 10.0.0.1 443 9200\r\n", `address "192.0.02.7"`},
	{"PROXY TCP4 192.0.2 10.0.0.1 443 9200\r\n", `address "192.0.2"`},
	{"PROXY TCP6 fe80::1%eth0 ::1 443 9200\r\n", `address "fe80::1%eth0"`},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 0443 9200\r\n", `port "0443"`},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 443 65536\r\n", `port "65536"`},
	{"PROXY TCP4 192.0.2.7 10.0.0.1 +443 9200\r\n", `port "+443"`},
	{"PROXY TCP4 192.0.2.7 10.0.0.1  9200\r\n", `port ""`},
	{"PROXY UNKNOWN " + strings.Repeat("x", 107-16+1) + "\r\n", "no line end in"},
	{"PROXY UNKNOWNS\r\n", "want a protocol"},
	{binaryHeader(0x21, 0x11, block4)[:20], "unexpected EOF"},
	{binaryHeader(0x21, 0x11, block4)[:14], "unexpected EOF"},
	{binarySignature, "unexpected EOF"},
	{binaryHeader(0x11, 0x11, block4), "version and command 0x11"},
	{binaryHeader(0x22, 0x11, block4), "version and command 0x22"},
	{binaryHeader(0x31, 0x11, block4), "version and command 0x31"},
	{binaryHeader(0x21, 0x11, block4[:11]), "family 0x11 with 11 bytes"},
	{binaryHeader(0x21, 0x21, block4), "family 0x21 with 12 bytes"},
	{binaryHeader(0x21, 0x31, block4), "family 0x31 with 12 bytes"},
	{binaryHeader(0x21, 0x12, block4), "family 0x12"}, // datagrams
	{binaryHeader(0x21, 0x01, block4), "family 0x01"},
	{binaryHeader(0x21, 0x41, block4), "family 0x41"},
	{binaryHeader(0x21, 0x11, block4+strings.Repeat("x", 536-16-12+1)), "537 bytes; want at most 536"},
	{binaryHeader(0x20, 0x00, strings.Repeat("x", 600)), "616 bytes"},
}

func TestReadAnnouncement(t *testing.T) {
	for _, a := range announcements {
		r := strings.NewReader(a.header + "behind")
		said, err := readAnnouncement(r)
		got := ""
		if said.client.IsValid() {
			got = said.client.String()
		}
		if local := strings.HasPrefix(a.header, binarySignature+"\x20"); said.relayed == local {
			t.Errorf("%q: relayed %v; want all that are not LOCAL", a.header, said.relayed)
		}
		if err != nil || got != a.client {
			t.Errorf("%q: got %q, %v; want %q", a.header, got, err, a.client)
		}
		if r.Len() != len("behind") {
			t.Errorf("%q: %d bytes are left; want those behind the header", a.header, r.Len())
		}
	}
	for _, a := range notAnnouncements {
		if said, err := readAnnouncement(strings.NewReader(a.header)); err == nil || !strings.Contains(err.Error(), a.reason) || said != (announcement{}) {
			t.Errorf("%q: got %v, %v; want an error with %q", a.header, said, err, a.reason)
		}
	}
	if _, err := readAnnouncement(strings.NewReader("")); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("not a byte: %v; want EOF", err)
	}
}

// FuzzAnnouncement: what is accepted says the same to a reader that has all of it at
// once, in pieces of any size, and not a byte behind the header is read.
func FuzzAnnouncement(f *testing.F) {
	for _, a := range announcements {
		f.Add([]byte(a.header))
	}
	for _, a := range notAnnouncements {
		f.Add([]byte(a.header))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := bytes.NewReader(text)
		said, err := readAnnouncement(r)
		if err != nil {
			if said != (announcement{}) {
				t.Fatalf("%q: %v in spite of %v", text, said, err)
			}
			return
		}
		header := text[:len(text)-r.Len()]
		if again, err := readAnnouncement(&dripping{header}); err != nil || again != said {
			t.Fatalf("%q: %v alone and in drips, %v; %v before", header, again, err, said)
		}
		for cut := range header {
			if _, err := readAnnouncement(bytes.NewReader(header[:cut])); err == nil {
				t.Fatalf("%q is a header and so is its start of %d bytes", header, cut)
			}
		}
		if want, err := naiveAnnouncement(header); err != nil || want != said.client {
			t.Fatalf("%q: got %v; read naively it is %v, %v", header, said, want, err)
		}
	})
}

// dripping gives a byte at a time.
type dripping struct{ rest []byte }

func (d *dripping) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1], d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// naiveAnnouncement reads a whole header with other means.
func naiveAnnouncement(header []byte) (netip.Addr, error) {
	if text, isText := strings.CutSuffix(string(header), "\r\n"); isText && text[0] == 'P' {
		if strings.HasPrefix(text, "PROXY UNKNOWN") {
			return netip.Addr{}, nil
		}
		var source, target string
		var from, to uint16
		if _, err := fmt.Sscanf(text, "PROXY TCP4 %s %s %d %d", &source, &target, &from, &to); err != nil {
			if _, err := fmt.Sscanf(text, "PROXY TCP6 %s %s %d %d", &source, &target, &from, &to); err != nil {
				return netip.Addr{}, err
			}
		}
		return netip.MustParseAddr(net.ParseIP(source).String()).Unmap(), nil
	}
	size := map[byte]int{0x11: 4, 0x21: 16}[header[13]]
	if header[12] == 0x20 || size == 0 {
		return netip.Addr{}, nil
	}
	addr, _ := netip.AddrFromSlice(header[16 : 16+size])
	return addr.Unmap(), nil
}

// TestProxyProtocol: a trusted proxy names its client before TLS or HTTP begins, or gets
// no answer; of anybody else such a header is what any garbage is.
func TestProxyProtocol(t *testing.T) {
	a := newAuthority(t)
	const v1 = "PROXY TCP4 192.0.2.7 10.0.0.1 443 9200\r\n"
	f := func(trusted []string, secure bool, header string, status int, peer, forwarded string, counted float64) {
		t.Helper()
		node := newFake(t)
		conf := testConfig(node.url())
		conf.ProxyProtocol, conf.TrustedProxies = true, trusted
		if secure {
			conf.TLS.Certificate, conf.TLS.Key = a.issue("guard", []string{"guard.test"})
		}
		var peers []string
		gate := &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
			peers = append(peers, r.Peer.String())
			return passAll(r)
		}}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if slices.Contains(trusted, "unix") {
			ln, err = Listen(t.Context(), "unix:"+socketPath(t), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		g := startGuardOn(t, gate, conf, fakeAuth{}, ln)
		c := g.dial()
		if _, err := io.WriteString(c, header); err != nil {
			t.Fatal(err)
		}
		if secure {
			c = tls.Client(c, &tls.Config{RootCAs: a.pool(), ServerName: "guard.test"})
		}
		raw := request("GET", "/", "", "")
		_, _ = io.WriteString(c, raw+raw) // it may be closed already
		first, second := readTwo(t, c)
		if first != status || status == 200 && second != 200 {
			t.Errorf("%q: got %d and %d; want %d", header, first, second, status)
		}
		for _, p := range peers {
			if p != peer {
				t.Errorf("%q: the peer is %q; want %q", header, p, peer)
			}
		}
		for _, seen := range node.requests() {
			if got := seen.header.Get("X-Forwarded-For"); got != forwarded {
				t.Errorf("%q: X-Forwarded-For is %q; want %q", header, got, forwarded)
			}
		}
		if got := g.metric("guard_proxy_protocol_errors_total", ""); got != counted {
			t.Errorf("%q: %v errors are counted; want %v", header, got, counted)
		}
	}
	loopback, others := []string{"127.0.0.0/8"}, []string{"10.0.0.1", "192.0.2.0/24"}
	for _, secure := range []bool{false, true} {
		f(loopback, secure, v1, 200, "192.0.2.7", "192.0.2.7", 0)
		f(loopback, secure, binaryHeader(0x21, 0x21, block6+"\x04\x00\x00"), 200, "2001:db8::7", "2001:db8::7", 0)
		f(loopback, secure, binaryHeader(0x20, 0, ""), 200, "127.0.0.1", "127.0.0.1", 0)
		f(loopback, secure, "PROXY UNKNOWN\r\n", 200, "127.0.0.1", "127.0.0.1", 0)
		f([]string{"unix"}, secure, v1, 200, "192.0.2.7", "192.0.2.7", 0)
		f([]string{"unix"}, secure, "PROXY UNKNOWN\r\n", 200, "invalid IP", "", 0)
		f(loopback, secure, "", 0, "", "", 1)
		f([]string{"unix"}, secure, "", 0, "", "", 1)
		f(loopback, secure, "PROXY TCP4 192.0.2.7 10.0.0.1 443 92000\r\n", 0, "", "", 1)
		f(loopback, secure, binaryHeader(0x21, 0x11, strings.Repeat("x", 1000)), 0, "", "", 1)
		f(others, secure, "", 200, "127.0.0.1", "127.0.0.1", 0)
	}
	f(loopback, false, v1+v1, 501, "", "", 0) // one alone: PROXY is no method
	f(others, false, v1, 501, "", "", 0)
	f(others, false, binaryHeader(0x20, 0, ""), 400, "", "", 0)
	f(others, true, v1, 0, "", "", 0)
	f(loopback, false, "\r\n\r\n\x00\r\nQUIT", 0, "", "", 1)
}

// readTwo returns the status of two answers, 0 for none.
func readTwo(t *testing.T, c net.Conn) (first, second int) {
	t.Helper()
	br := bufio.NewReader(c)
	first = readGot(t, c, br, "GET").status
	return first, readGot(t, c, br, "GET").status
}

// TestProxyProtocolInTime: the header has the time of a head, and a look whether the
// port is open is no fault.
func TestProxyProtocolInTime(t *testing.T) {
	conf := testConfig(newFake(t).url())
	conf.ProxyProtocol, conf.TrustedProxies = true, []string{"127.0.0.1"}
	conf.Timeouts.ReadHeader = 50 * time.Millisecond
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	_ = g.dial().Close()
	for i, start := range []string{"PROXY TCP4 1", ""} {
		c := g.dial()
		_, _ = io.WriteString(c, start)
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || isTimeout(err) {
			t.Errorf("%q: read %d, %v; want the connection closed without an answer", start, n, err)
		}
		eventually(t, "it is counted", func() bool { return g.metric("guard_proxy_protocol_errors_total", "") == float64(i+1) })
	}
}

// TestAnnouncedBound: the bound of an address holds for clients that a proxy names, of
// IPv6 for their network; others behind the same proxy are not touched, nor is the proxy.
func TestAnnouncedBound(t *testing.T) {
	a := newAuthority(t)
	for _, secure := range []bool{false, true} {
		conf := testConfig(newFake(t).url())
		conf.ProxyProtocol, conf.TrustedProxies, conf.Limits.MaxAddressConns = true, []string{"127.0.0.1"}, 2
		if secure {
			conf.TLS.Certificate, conf.TLS.Key = a.issue("guard", []string{"guard.test"})
		}
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
		f := func(header string, status int) net.Conn {
			t.Helper()
			socket := g.dial()
			_, _ = io.WriteString(socket, header)
			c := socket
			if secure {
				c = tls.Client(socket, &tls.Config{RootCAs: a.pool(), ServerName: "guard.test"})
			}
			_, _ = io.WriteString(c, request("GET", "/", "", ""))
			got := readGot(t, c, bufio.NewReader(c), "GET")
			if want := status; got.status != want && !(secure && status == 429 && got.status == 0) {
				t.Errorf("%q, TLS %v: got %+v; want %d", header, secure, got, want)
			}
			return socket
		}
		const one, six = "PROXY TCP4 203.0.113.7 10.0.0.1 443 9200\r\n", "PROXY TCP6 2001:db8::%s 2001:db8:1::1 443 9200\r\n"
		first := f(one, 200)
		f(one, 200)
		f(one, 429)
		f(one, 429)
		f(strings.Replace(one, "113.7", "113.8", 1), 200)
		f(strings.Replace(six, "%s", "7", 1), 200)
		f(strings.Replace(six, "%s", "8", 1), 200)
		f(strings.Replace(six, "%s", "9", 1), 429)
		for range 3 {
			f("PROXY UNKNOWN\r\n", 200)
		}
		if n := g.hits(ask.LimitAddressConnections); n != 3 {
			t.Errorf("TLS %v: the limit was met %v times; want 3", secure, n)
		}
		_ = first.Close()
		eventually(t, "the place is free", func() bool {
			g.srv.door.mu.Lock()
			defer g.srv.door.mu.Unlock()
			return g.srv.door.from[netip.MustParseAddr("203.0.113.7")] == 1
		})
		f(one, 200)
	}
}

// TestUnnamedClient: who is relayed without a name is not believed what only its proxy may
// say; a proxy that speaks for itself is.
func TestUnnamedClient(t *testing.T) {
	f := func(header, forwarded string) {
		t.Helper()
		node := newFake(t)
		conf := testConfig(node.url())
		conf.ProxyProtocol, conf.TrustedProxies = true, []string{"127.0.0.1", "unix"}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if forwarded == "" {
			ln, err = Listen(t.Context(), "unix:"+socketPath(t), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		g := startGuardOn(t, &fakeGate{intake: gate.IntakeStream}, conf, fakeAuth{}, ln)
		if a := g.send(header + request("GET", "/", "X-Forwarded-For: 198.51.100.66\r\n", "")); a.status != 200 {
			t.Errorf("%q: got %+v", header, a)
		}
		if got := node.requests()[0].header.Get("X-Forwarded-For"); got != forwarded {
			t.Errorf("%q: X-Forwarded-For is %q; want %q", header, got, forwarded)
		}
	}
	unnamed := []string{"PROXY UNKNOWN\r\n", binaryHeader(0x21, 0, ""), binaryHeader(0x21, 0x31, strings.Repeat("a", 216))}
	for _, header := range unnamed {
		f(header, "127.0.0.1")
		f(header, "")
	}
	f(binaryHeader(0x20, 0, ""), "198.51.100.66, 127.0.0.1")
	f("PROXY TCP4 127.0.0.1 10.0.0.1 1 1\r\n", "198.51.100.66, 127.0.0.1") // a proxy of the proxy
}
