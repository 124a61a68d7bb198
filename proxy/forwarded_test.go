package proxy

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"guard/authn"
	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// trustTen returns proxies that trust 10/8 and fd00::/8.
func trustTen(t testing.TB, header config.ForwardedHeader) *proxies {
	t.Helper()
	p, err := newProxies(&config.Config{ForwardedHeader: header, TrustedProxies: []string{"10.0.0.0/8", "fd00::/8", "unix"}})
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// headWith is a head with one header in several lines.
func headWith(name string, lines ...string) *head {
	h := &head{}
	for _, line := range lines {
		h.fields = append(h.fields, newField(name, line))
	}
	return h
}

// TestOriginOf reads the chain of X-Forwarded-For behind the trusted peer 10.0.0.1. The
// wanted text is what the cluster gets; its first address is the client.
func TestOriginOf(t *testing.T) {
	p := trustTen(t, config.XForwardedFor)
	f := func(want string, lines ...string) {
		t.Helper()
		from := p.originOf(netip.MustParseAddr("10.0.0.1"), headWith("X-Forwarded-For", lines...))
		if got := from.String(); got != want {
			t.Errorf("%q: got %q; want %q", lines, got, want)
		}
	}
	f("10.0.0.1")
	f("192.0.2.7, 10.0.0.1", "192.0.2.7")
	f("192.0.2.7, 10.0.0.1", "6.6.6.6, 192.0.2.7") // what the client wrote itself
	f("192.0.2.7, 10.0.0.1", "6.6.6.6", "192.0.2.7")
	f("192.0.2.7, 10.0.0.1", "10.6.6.6, 192.0.2.7") // a trusted address does not help it
	f("192.0.2.7, 10.0.0.2, 10.0.0.1", "6.6.6.6, 192.0.2.7, 10.0.0.2")
	f("192.0.2.7, 10.0.0.2, 10.0.0.1", "6.6.6.6", "192.0.2.7,\t10.0.0.2 ")
	f("192.0.2.7, fd00::1, 10.0.0.2, 10.0.0.1", "192.0.2.7, FD00:0::1, 10.0.0.2")
	f("10.0.0.3, 10.0.0.2, 10.0.0.1", "10.0.0.3, 10.0.0.2") // all are trusted: the first
	f("10.0.0.1, 10.0.0.1", "10.0.0.1")

	f("192.0.2.7, 10.0.0.1", "192.0.2.7:4711") // ports, as some write them
	f("2001:db8::7, 10.0.0.1", "2001:db8::7")
	f("2001:db8::7, 10.0.0.1", "[2001:db8::7]")
	f("2001:db8::7, 10.0.0.1", "[2001:db8::7]:4711")
	f("192.0.2.7, 10.0.0.1", "::ffff:192.0.2.7")
	f("192.0.2.7, 10.0.0.2, 10.0.0.1", "192.0.2.7, ::ffff:10.0.0.2")

	for _, bad := range []string{
		"", ",", "unknown", "_hidden", "192.0.2", "192.0.02.7", "192.0.2.7.1", "192.0.2.7:", "192.0.2.7:65536", "192.0.2.7:x", "[192.0.2.7]", "[2001:db8::7",
		"2001:db8::7]", "[2001:db8::7]:", "[2001:db8::7]x", "fe80::1%eth0", "[fe80::1%eth0]:80", "192.0.2.7 10.0.0.2", "\"192.0.2.7\"", "for=192.0.2.7", "host.example", "0x7f.1", "2130706433", "*",
	} {
		f("10.0.0.1", bad)
		f("10.0.0.1", "192.0.2.7, "+bad) // never further left
		f("10.0.0.2, 10.0.0.1", "192.0.2.7", bad, "10.0.0.2")
		f("192.0.2.7, 10.0.0.1", bad+",192.0.2.7")
	}
	f("10.0.0.1", "192.0.2.7,")
	f("10.0.0.1"+strings.Repeat(", 10.0.0.1", maxHops), "192.0.2.7"+strings.Repeat(", 10.0.0.1", maxHops+5)) // no longer chain

	p = trustTen(t, config.ForwardedNone)
	f("10.0.0.1", "192.0.2.7")
}

// TestOriginOfForwarded is the same for Forwarded.
func TestOriginOfForwarded(t *testing.T) {
	p := trustTen(t, config.Forwarded)
	f := func(want string, lines ...string) {
		t.Helper()
		from := p.originOf(netip.MustParseAddr("10.0.0.1"), headWith("Forwarded", lines...))
		if got := from.String(); got != want {
			t.Errorf("%q: got %q; want %q", lines, got, want)
		}
	}
	f("10.0.0.1")
	f("192.0.2.7, 10.0.0.1", "for=192.0.2.7")
	f("192.0.2.7, 10.0.0.1", `For="192.0.2.7:4711";proto=https;by=10.0.0.1;host="es.example:9200"`)
	f("2001:db8::7, 10.0.0.1", `proto=https ; FOR="[2001:db8::7]"; `)
	f("2001:db8::7, 10.0.0.1", `for="[2001:db8::7]:4711"`)
	f("192.0.2.7, 10.0.0.2, 10.0.0.1", "for=6.6.6.6, for=192.0.2.7", "for=10.0.0.2")
	f("192.0.2.7, 10.0.0.1", `for=192.0.2.7;x="a,b;for=6.6.6.6"`)
	f("192.0.2.7, 10.0.0.1", `x="a\",for=6.6.6.6,\\";for=192.0.2.7`)

	// A quote that the client opened does not reach into what the proxies wrote.
	f("192.0.2.7, 10.0.0.1", `for=6.6.6.6;x="`, "for=192.0.2.7")
	f("192.0.2.7, 10.0.0.1", `for=6.6.6.6;x="a\`, `for=192.0.2.7;y="b"`)
	f("2001:db8::7, 10.0.0.1", `for=6.6.6.6;x="`, `for="[2001:db8::7]"`)
	f("192.0.2.7, fd00::1, 10.0.0.1", `for=6.6.6.6;x="`, `for="192.0.2.7:1"`, `for="[fd00::1]"`)

	for _, bad := range []string{
		"", "for=", "for", "for=unknown", `for="_hidden"`, "192.0.2.7", "for=192.0.2.7:4711", "for=[2001:db8::7]", `for="2001:db8::7"`, `for="[192.0.2.7]"`,
		"for=192.0.2.7;for=192.0.2.8", "for=192.0.2.7;by=a;By=b", `for="192.0.2.7`, `for="192.0.2.7"x`, `for=192.0.2.7"`, `for="192.0\.2.7"`, "f or=192.0.2.7", "for =192.0.2.7", "for= 192.0.2.7",
		"proto=https", "for=192.0.2.7;x", "for=192.0.2.7;=y", "for=192.0.2.7" + strings.Repeat(";a=b", 2), `for="[fe80::1%eth0]"`,
	} {
		f("10.0.0.1", "for=6.6.6.6", bad)
		f("10.0.0.2, 10.0.0.1", "for=6.6.6.6", bad, "for=10.0.0.2")
	}
	many := "for=192.0.2.7"
	for i := range maxPairs {
		many += ";a" + itoa(i) + "=b"
	}
	f("10.0.0.1", many)
	f("10.0.0.1", `for=6.6.6.6;x="`, `"`) // no string goes on in another line
}

// placed notes from where each login is said to come.
type placed struct {
	fakeAuth
	at *netip.Addr
}

func (p placed) Identify(ctx context.Context, c authn.Credentials) (ask.Identity, error) {
	*p.at = c.Address
	return p.fakeAuth.Identify(ctx, c)
}

// TestUnnamedClients: a client that a trusted proxy does not name is nowhere, so it gets
// no role that is given by address, whether or not the proxy would.
func TestUnnamedClients(t *testing.T) {
	f := func(announced string, header config.ForwardedHeader, lines, want string) {
		t.Helper()
		conf := testConfig(newFake(t).url())
		conf.TrustedProxies, conf.ForwardedHeader, conf.ProxyProtocol = []string{"127.0.0.1", "10.0.0.0/8"}, header, announced != ""
		var at netip.Addr
		g := startGuardAs(t, &fakeGate{intake: gate.IntakeStream}, conf, placed{at: &at})
		if a := g.send(announced + request("GET", "/", lines, "")); a.status != 200 {
			t.Fatalf("%q %q: got %+v", announced, lines, a)
		}
		if got := at.String(); got != want {
			t.Errorf("%q %q: its roles are those of %s; want %s", announced, lines, got, want)
		}
	}
	const nowhere = "invalid IP"
	f("", "", "", nowhere)
	f("", "", "X-Forwarded-For: unknown\r\n", nowhere)
	f("", "", "X-Forwarded-For: 192.0.2.7, unknown\r\n", nowhere)
	f("", "", "X-Forwarded-For: \r\n", nowhere)
	f("", "", "X-Forwarded-For: 10.0.0.2\r\n", nowhere)
	f("", "", "X-Forwarded-For: unknown, 10.0.0.2\r\n", nowhere)
	f("", "", "X-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7")
	f("", "", "X-Forwarded-For: 192.0.2.7, 10.0.0.2\r\n", "192.0.2.7")
	f("", config.Forwarded, "X-Forwarded-For: 192.0.2.7\r\n", nowhere)
	f("", config.Forwarded, "Forwarded: for=_hidden\r\n", nowhere)
	f("", config.Forwarded, "Forwarded: for=192.0.2.7\r\n", "192.0.2.7")
	f("", config.ForwardedNone, "X-Forwarded-For: 192.0.2.7\r\n", nowhere)
	f("PROXY TCP4 192.0.2.7 192.0.2.1 5000 443\r\n", config.ForwardedNone, "", "192.0.2.7")
	f("PROXY UNKNOWN\r\n", config.ForwardedNone, "", nowhere)
	f("PROXY UNKNOWN\r\n", "", "X-Forwarded-For: 192.0.2.7\r\n", nowhere)
	f("PROXY TCP4 10.0.0.2 192.0.2.1 5000 443\r\n", "", "", nowhere)
	f("PROXY TCP4 10.0.0.2 192.0.2.1 5000 443\r\n", "", "X-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7")
	f("\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00", "", "", nowhere) // LOCAL
}

// FuzzOriginOf: whatever stands further left than the first address that is not trusted,
// or than the first that can't be read, changes nothing; and what comes out is written
// anew from addresses.
func FuzzOriginOf(f *testing.F) {
	for _, s := range []string{"", "192.0.2.7", "10.0.0.1, 192.0.2.7:80", `for="[fd00::1]:1";x="`, `",\"`, "for=10.0.0.1;by=a"} {
		f.Add(s, "6.6.6.6", "192.0.2.7, 10.0.0.2")
		f.Add(s, "10.6.6.6", `for=192.0.2.7, for="[fd00::1]"`)
	}
	both := []*proxies{trustTen(f, config.XForwardedFor), trustTen(f, config.Forwarded)}
	peer := netip.MustParseAddr("10.0.0.1")
	f.Fuzz(func(t *testing.T, left, middle, right string) {
		for i, p := range both {
			if !isText([]byte(left + middle + right)) {
				return
			}
			from := p.originOf(peer, headWith(p.header, left, middle, right))
			for _, part := range strings.Split(from.String(), ", ") {
				if a, err := netip.ParseAddr(part); err != nil || a.String() != part {
					t.Fatalf("the cluster would get %q", part)
				}
			}
			for _, hop := range from.via {
				if !p.trusts(hop) {
					t.Fatalf("%q is followed, and is not trusted", hop)
				}
			}
			alone := p.originOf(peer, headWith(p.header, right))
			if p.follow(&origin{client: peer}, right) {
				continue // the rest has a say
			}
			if from.String() != alone.String() {
				t.Fatalf("header %d %q, %q, %q: got %q; without the left part %q", i, left, middle, right, from.String(), alone.String())
			}
		}
	})
}

// TestForwardedFor: the client that a trusted proxy names is the one that is decided and
// logged for; what anybody else says is dropped.
func TestForwardedFor(t *testing.T) {
	f := func(trusted []string, header config.ForwardedHeader, lines, peer, forwarded string) {
		t.Helper()
		node := newFake(t)
		conf := testConfig(node.url())
		conf.TrustedProxies, conf.ForwardedHeader = trusted, header
		seen := ""
		g := &fakeGate{intake: gate.IntakeStream, plan: func(_ *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
			seen = r.Peer.String()
			return passAll(r)
		}}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if len(trusted) > 0 && trusted[0] == "unix" {
			ln, err = Listen(t.Context(), "unix:"+socketPath(t), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		running := startGuardOn(t, g, conf, fakeAuth{}, ln)
		if a := running.send(request("GET", "/", lines, "")); a.status != 200 {
			t.Errorf("%q: got %+v", lines, a)
		}
		running.send("GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n") // nobody
		got := node.requests()[0].header
		if want := strings.Fields(forwarded); seen != peer || strings.Join(got["X-Forwarded-For"], "|") != forwarded || got.Get("Forwarded") != "" {
			t.Errorf("%q: decided for %q, the node got %q; want %q and %q", lines, seen, got, peer, want)
		}
		if peer == "invalid IP" {
			peer = "unix"
		}
		for _, record := range running.logs.FilterMessage("login refused").All() {
			if logged := record.ContextMap()["peer"]; logged != peer {
				t.Errorf("%q: the log names %v; want %s", lines, logged, peer)
			}
		}
	}
	const lines = "X-Forwarded-For: 6.6.6.6\r\nx-forwarded-for: 192.0.2.7, 10.0.0.2\r\nForwarded: for=192.0.2.9\r\nX_Forwarded_For: 6.6.6.6\r\n"
	f(nil, "", lines, "127.0.0.1", "127.0.0.1")
	f([]string{"10.0.0.0/8"}, "", lines, "127.0.0.1", "127.0.0.1")
	f([]string{"127.0.0.1"}, "", lines, "10.0.0.2", "10.0.0.2, 127.0.0.1")
	f([]string{"127.0.0.1", "10.0.0.0/8"}, "", lines, "192.0.2.7", "192.0.2.7, 10.0.0.2, 127.0.0.1")
	f([]string{"127.0.0.1", "10.0.0.0/8"}, config.Forwarded, lines, "192.0.2.9", "192.0.2.9, 127.0.0.1")
	f([]string{"127.0.0.1", "10.0.0.0/8"}, config.ForwardedNone, lines, "127.0.0.1", "127.0.0.1")
	f([]string{"unix"}, "", lines, "10.0.0.2", "10.0.0.2")
	f([]string{"unix", "10.0.0.0/8"}, "", lines, "192.0.2.7", "192.0.2.7, 10.0.0.2")
	f([]string{"unix"}, "", "", "invalid IP", "")
	f([]string{"127.0.0.1"}, "", "Connection: X-Forwarded-For\r\nX-Forwarded-For: 192.0.2.7\r\n", "192.0.2.7", "192.0.2.7, 127.0.0.1")
}
