package proxy

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
	"testing"

	"guard/config"
	"guard/gate"
)

// handshake connects by TLS and returns what was agreed on.
func (g *guarded) handshake(client *tls.Config) (tls.ConnectionState, error) {
	g.t.Helper()
	c := tls.Client(g.dial(), client)
	err := c.Handshake()
	return c.ConnectionState(), err
}

// TestCertificateByName: a client gets the first certificate that is valid for the name
// that it asks for, and the default if there is none or it asks for none.
func TestCertificateByName(t *testing.T) {
	a := newAuthority(t)
	conf := testConfig(newFake(t).url())
	conf.TLS.Certificate, conf.TLS.Key = a.issue("default", []string{"a.test"})
	for _, name := range []string{"b.test", "*.c.test"} {
		cert, key := a.issue("for-"+name[len(name)-6:], []string{name})
		conf.TLS.Certificates = append(conf.TLS.Certificates, config.Certificate{Certificate: cert, Key: key})
	}
	f := func(ask, want string) {
		t.Helper()
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
		state, err := g.handshake(&tls.Config{ServerName: ask, InsecureSkipVerify: true}) //nolint:gosec // G402: the test looks at the certificate itself
		if err != nil {
			t.Fatal(err)
		}
		if got := state.PeerCertificates[0].Subject.CommonName; got != want {
			t.Errorf("who asks for %q gets %q; want %q", ask, got, want)
		}
	}
	f("a.test", "default")
	f("b.test", "for-b.test")
	f("x.c.test", "for-c.test")
	f("c.test", "default")
	f("nosuch.test", "default")
	f("", "default")

	conf.TLS.Certificate, conf.TLS.Key = "", "" // then the first of the list is the default
	f("a.test", "for-b.test")
	f("x.c.test", "for-c.test")
}

// TestTLSVersions: neither side speaks an older version or another suite than it may.
func TestTLSVersions(t *testing.T) {
	const suite, other = tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256
	a := newAuthority(t)
	cert, key := a.issue("both", []string{"127.0.0.1"})
	pair, err := tls.LoadX509KeyPair(cert, key)
	a.must(err)
	clients := func(least config.TLSVersion, suites []string, far *tls.Config) error {
		conf := testConfig(newFake(t).url())
		conf.TLS.Certificate, conf.TLS.Key, conf.TLS.MinVersion, conf.TLS.CipherSuites = cert, key, least, suites
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
		far.RootCAs, far.ServerName = a.pool(), "127.0.0.1"
		_, err := g.handshake(far)
		return err
	}
	cluster := func(least config.TLSVersion, suites []string, far *tls.Config) error {
		far.Certificates = []tls.Certificate{pair}
		ln, err := tls.Listen("tcp", "127.0.0.1:0", far)
		a.must(err)
		node := newFakeOn(t, ln)
		node.takes(func(c net.Conn, br *bufio.Reader) { // handshakes that fail are no fault of the test
			if _, err := http.ReadRequest(br); err == nil {
				writeAnswer(c, 200, "{}")
			}
		})
		conf := testConfig("https://" + node.ln.Addr().String())
		conf.Upstream.CAFile, conf.Upstream.MinVersion, conf.Upstream.CipherSuites = a.file, least, suites
		tr, err := NewTransport(conf.Upstream, conf.Timeouts)
		a.must(err)
		defer tr.Close()
		_, _, err = tr.Fetch(t.Context(), "GET", "/")
		return err
	}
	f := func(least config.TLSVersion, suites []string, far *tls.Config, want bool) {
		t.Helper()
		if err := clients(least, suites, far.Clone()); (err == nil) != want {
			t.Errorf("to clients, %s %v: got %v; want success %v", least, suites, err, want)
		}
		if err := cluster(least, suites, far.Clone()); (err == nil) != want {
			t.Errorf("to the cluster, %s %v: got %v; want success %v", least, suites, err, want)
		}
	}
	at := func(version uint16, suites ...uint16) *tls.Config {
		return &tls.Config{MinVersion: version, MaxVersion: version, CipherSuites: suites} //nolint:gosec // G402: old versions are to be refused
	}
	name := []string{tls.CipherSuiteName(suite)}
	f(config.TLS12, nil, at(tls.VersionTLS11), false)
	f(config.TLS12, nil, at(tls.VersionTLS12), true)
	f(config.TLS12, nil, at(tls.VersionTLS13), true)
	f(config.TLS13, nil, at(tls.VersionTLS12), false)
	f(config.TLS13, nil, at(tls.VersionTLS13), true)
	f(config.TLS12, name, at(tls.VersionTLS12, suite), true)
	f(config.TLS12, name, at(tls.VersionTLS12, other), false)
	f(config.TLS12, name, at(tls.VersionTLS13), true) // its suites are its own

	for _, bad := range []config.TLS{
		{Certificate: cert, Key: key, MinVersion: "1.1"},
		{Certificate: cert, Key: key, CipherSuites: []string{"TLS_RSA_WITH_RC4_128_SHA"}},
	} {
		if _, err := serverMaterial(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
