package proxy

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// authority signs certificates for a test and keeps them in files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
	n    int64
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.file, _ = a.issue("ca", nil)
	return a
}

// issue makes a certificate for name and returns the files of it and its key.
func (a *authority) issue(name string, hosts []string) (certFile, keyFile string) {
	a.t.Helper()
	a.n++
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(a.n), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
		} else {
			tmpl.DNSNames = append(tmpl.DNSNames, h)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	parent, signer := a.cert, a.key
	if parent == nil {
		tmpl.IsCA = true
		tmpl.KeyUsage = x509.KeyUsageCertSign
		parent, signer = tmpl, key
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
	a.must(err)
	if a.cert == nil {
		a.cert, err = x509.ParseCertificate(der)
		a.must(err)
		a.key = key
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	a.must(err)
	certFile, keyFile = filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+".key")
	a.must(os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	a.must(os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	return certFile, keyFile
}

func (a *authority) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// tlsNode is a node that speaks TLS and wants a client certificate.
func tlsNode(t *testing.T, a *authority, hosts ...string) *esfake {
	certFile, keyFile := a.issue("node", hosts)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	a.must(err)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool(), MinVersion: tls.VersionTLS12,
	})
	a.must(err)
	return newFakeOn(t, ln)
}

func TestTLSToTheCluster(t *testing.T) {
	a, foreign := newAuthority(t), newAuthority(t)
	node := tlsNode(t, a, "127.0.0.1")
	url := "https://" + node.ln.Addr().String()
	f := func(change func(*config.Upstream), status int) {
		t.Helper()
		conf := testConfig(url)
		conf.Upstream.CAFile = a.file
		conf.Upstream.ClientCert, conf.Upstream.ClientKey = a.issue("guard", nil)
		change(&conf.Upstream)
		g := startGuard(t, readPlan(nil, true), conf)
		for range 2 { // the second on the pooled connection
			if got := g.send(request("GET", "/", "", "")); got.status != status {
				t.Errorf("got %d %s; want %d", got.status, got.body, status)
			}
		}
	}
	f(func(*config.Upstream) {}, 200)
	f(func(u *config.Upstream) { u.CAFile = foreign.file }, 503)
	f(func(u *config.Upstream) { u.CAFile = "" }, 503)
	f(func(u *config.Upstream) { u.URLs[0] = strings.Replace(url, "127.0.0.1", "localhost", 1) }, 503) // another name than the certificate's
	if n := node.accepted(); n < 1 {
		t.Errorf("%d connections", n)
	}

	fail := func(change func(*config.Upstream), want string) {
		t.Helper()
		conf := testConfig(url)
		change(&conf.Upstream)
		if _, err := NewTransport(conf.Upstream, conf.Timeouts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v; want %q", err, want)
		}
	}
	fail(func(u *config.Upstream) { u.CAFile = "/nowhere" }, "cannot read CA file")
	fail(func(u *config.Upstream) { u.CAFile = filepath.Join(a.dir, "ca.key") }, "no certificate in CA file")
	fail(func(u *config.Upstream) { u.ClientCert = a.file }, "belong together")
	fail(func(u *config.Upstream) { u.ClientCert, u.ClientKey = a.file, a.file }, "cannot load the certificate for the cluster")
	fail(func(u *config.Upstream) { u.URLs = nil }, "0 upstream URLs; want 1 to 1024")
	fail(func(u *config.Upstream) { u.URLs = []string{"ftp://x"} }, "want http or https")
	fail(func(u *config.Upstream) { u.URLs = []string{"http://user:secret@x"} }, `"http://user:xxxxx@x"; want http or https`)
	fail(func(u *config.Upstream) { u.URLs = []string{"http://x/path"} }, "a host and nothing else")
	fail(func(u *config.Upstream) { u.URLs = []string{"http://a b"} }, "cannot read upstream URL")
	fail(func(u *config.Upstream) { u.PasswordFile = "/nowhere" }, "cannot read the password")
}

func TestTLSToClients(t *testing.T) {
	a, foreign := newAuthority(t), newAuthority(t)
	node := newFake(t)
	conf := testConfig(node.url())
	conf.TLS.Certificate, conf.TLS.Key = a.issue("guard", []string{"127.0.0.1"})
	conf.TLS.ClientCA, conf.TLS.ClientAuth = a.file, config.ClientAuthOptional
	user := ""
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, plan: func(p *ask.Principal, r *ask.Request, _ gate.Known) gate.Outcome {
		user = p.Name
		return passAll(r)
	}}, conf)
	f := func(client *tls.Config, raw string, status int) {
		t.Helper()
		client.RootCAs = a.pool()
		client.NextProtos = []string{"h2", "http/1.1"}
		c := tls.Client(g.dial(), client)
		c.SetDeadline(time.Now().Add(10 * time.Second))
		client.ServerName = "127.0.0.1"
		_, _ = io.WriteString(c, raw+raw)
		br := bufio.NewReader(c)
		for range 2 {
			if got := readGot(t, c, br, "GET"); got.status != status {
				t.Errorf("got %+v; want %d", got, status)
			}
		}
		if p := c.ConnectionState().NegotiatedProtocol; status != 0 && p != "http/1.1" {
			t.Errorf("negotiated %q; want http/1.1", p)
		}
	}
	f(&tls.Config{}, request("GET", "/", "", ""), 200)
	f(&tls.Config{}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 401)
	certFile, keyFile := a.issue("berta", nil)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	a.must(err)
	f(&tls.Config{Certificates: []tls.Certificate{cert}}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 200)
	if user != "berta" {
		t.Errorf("the certificate's user came as %q", user)
	}
	certFile, keyFile = foreign.issue("mallory", nil)
	cert, err = tls.LoadX509KeyPair(certFile, keyFile)
	a.must(err)
	f(&tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0)
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if got := g.send(request(method, "/", "", "")); got.status != 400 || !strings.Contains(got.body, "https") {
			t.Errorf("plain HTTP on a TLS port got %+v; want to be told of https", got)
		}
	}
	if got := g.send("\x16nonsense\r\n\r\n"); got.status != 0 {
		t.Errorf("nonsense on a TLS port got %+v", got)
	}

	fail := func(change func(*config.TLS), want string) {
		t.Helper()
		c := conf.TLS
		change(&c)
		if _, err := serverMaterial(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v; want %q", err, want)
		}
	}
	fail(func(c *config.TLS) { c.Key = "" }, "cannot load the certificate for clients")
	fail(func(c *config.TLS) { c.Certificate = "" }, "without tls.certificate") // it never falls back to plain HTTP
	fail(func(c *config.TLS) { c.ClientCA = "/nowhere" }, "cannot read CA file")
	fail(func(c *config.TLS) { c.ClientAuth = "maybe" }, `tls.client_auth "maybe"`)
}

// TestSeveralNodes passes over a node that is dead, spreads calls over the others, and
// comes back to it.
func TestSeveralNodes(t *testing.T) {
	one, two := newFake(t), newFake(t)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := dead.Addr().String()
	_ = dead.Close()
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, faultConfig(one.url(), "http://"+addr, two.url()))
	for range 30 {
		if a := g.send(request("POST", "/i", jsonLine, "{}")); a.status != 200 {
			t.Fatalf("got %+v", a)
		}
	}
	if n, m := len(one.requests()), len(two.requests()); n+m != 30 || n < 8 || m < 8 {
		t.Errorf("%d and %d requests", n, m)
	}
	if dead, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	back := newFakeOn(t, dead)
	eventually(t, "the node that came back is used", func() bool {
		g.send(request("GET", "/", "", ""))
		return len(back.requests()) > 0
	})
}

// TestConnectionLimit queues calls for a connection, and says so when none comes free.
func TestConnectionLimit(t *testing.T) {
	node := newFake(t)
	wait := make(chan struct{})
	node.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if r.RequestURI == "/hold" {
			<-wait
		}
		writeAnswer(c, 200, "{}")
	})
	conf := testConfig(node.url())
	conf.Upstream.MaxConns = 1
	conf.Upstream.QueueTimeout = 300 * time.Millisecond
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	held := make(chan got, 1)
	go func() { held <- g.send(request("GET", "/hold", "", "")) }()
	eventually(t, "the only connection is in use", func() bool { return len(node.requests()) == 1 })
	if a := g.send(request("GET", "/", "", "")); a.status != 429 || !strings.Contains(a.body, "nothing was sent") || a.header.Get("Retry-After") == "" {
		t.Errorf("got %+v; want 429", a)
	}
	next := make(chan got, 1)
	go func() { next <- g.send(request("GET", "/", "", "")) }()
	time.Sleep(50 * time.Millisecond)
	close(wait)
	if a := <-held; a.status != 200 {
		t.Errorf("the first: %+v", a)
	}
	if a := <-next; a.status != 200 {
		t.Errorf("the one that waited: %+v", a)
	}
	if n := node.accepted(); n != 1 {
		t.Errorf("%d connections to the node; want 1", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.srv.cluster.Do(ctx, &call{method: "GET", target: "/"}); err == nil {
		t.Error("a call of a client that is gone succeeded")
	}
}
