package integration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/integration"
	"guard/test/testbed"
)

// forwarder passes connections on to a node and counts them; it can be closed.
type forwarder struct {
	net.Listener
	conns atomic.Int64
}

func forward(t *testing.T, node *testbed.Node) *forwarder {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{Listener: ln}
	proxy := httputil.NewSingleHostReverseProxy(parseURL(t, node.URL))
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.conns.Add(1)
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(ln) }() // ends when the test closes it
	t.Cleanup(func() { _ = server.Close() })
	return f
}

func (f *forwarder) url() string { return "http://" + f.Addr().String() }

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestSeveralUpstreams: requests are spread over the nodes; one that is gone, and one that is
// another service, cost no request, from the start on.
func TestSeveralUpstreams(t *testing.T) {
	node := shared(t)
	a, b := forward(t, node), forward(t, node)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	stranger := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(stranger.Close)
	guard := guardproc.Start(t, guardproc.Options{
		Security: guardproc.WriteSecurity(t, policy(t, integration.Strict)),
		Upstream: strings.Join([]string{"http://" + dead.Addr().String(), stranger.URL, a.url(), b.url()}, ","),
	}).Client
	count := func() {
		t.Helper()
		for range 30 {
			wants(t, guard, "dls", "GET /orders-*/_count", "", `200 {"count":3}`)
		}
	}
	fromA, fromB := a.conns.Load(), b.conns.Load()
	count()
	if a.conns.Load() == fromA || b.conns.Load() == fromB {
		t.Errorf("not both nodes were asked: %d and %d requests", a.conns.Load()-fromA, b.conns.Load()-fromB)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	count()
	wants(t, guard, "worker", "PUT /work-1/_doc/up?refresh=true", `{"n":1}`, `201 {"_id":"up","_index":"work-1","result":"created"}`)
	apply(t, node, "DELETE /work-1/_doc/up?refresh=true")
}

// authority signs certificates made for one test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir(), pool: x509.NewCertPool()}
	a.key = newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	a.write(t, "ca.pem", "CERTIFICATE", der)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) write(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// issue makes name.pem and name-key.pem for 127.0.0.1.
func (a *authority) issue(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", "CERTIFICATE", der)
	a.write(t, name+"-key.pem", "PRIVATE KEY", private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestTLS: both sides speak TLS, each with a certificate of its own and one that it asks for.
func TestTLS(t *testing.T) {
	node := shared(t)
	ca, stranger := newAuthority(t), newAuthority(t)
	upstream := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(parseURL(t, node.URL)))
	upstream.TLS = &tls.Config{
		Certificates: []tls.Certificate{ca.issue(t, "node")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool,
		MinVersion: tls.VersionTLS12,
	}
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	ca.issue(t, "guard")
	client, foreign := ca.issue(t, "client"), stranger.issue(t, "client")

	guard := guardproc.Start(t, guardproc.Options{
		Security: guardproc.WriteSecurity(t, policy(t, integration.Strict)), Upstream: upstream.URL,
		Config: fmt.Sprintf("tls: {certificate: %s, key: %s, client_ca: %s, client_auth: required}\nupstream: {ca_file: %s, client_certificate: %s, client_key: %s}\n",
			ca.path("guard.pem"), ca.path("guard-key.pem"), ca.path("ca.pem"), ca.path("ca.pem"), ca.path("guard.pem"), ca.path("guard-key.pem")),
	})
	address := strings.TrimPrefix(strings.TrimPrefix(guard.URL, "http://"), "https://")
	get := func(scheme string, config *tls.Config) (string, error) {
		t.Helper()
		tr := &http.Transport{TLSClientConfig: config}
		defer tr.CloseIdleConnections()
		req, err := http.NewRequest("GET", scheme+"://"+address+"/orders-*/_count", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("dls", password)
		res, err := (&http.Client{Transport: tr, Timeout: 10 * time.Second}).Do(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return fmt.Sprintf("%d %s", res.StatusCode, body), err
	}
	good := &tls.Config{RootCAs: ca.pool, Certificates: []tls.Certificate{client}, MinVersion: tls.VersionTLS12}
	if got, err := get("https", good); err != nil || !strings.HasPrefix(got, `200 {"count":3,`) {
		t.Errorf("got %s, error %v", got, err)
	}
	refused := func(why, scheme string, config *tls.Config) {
		t.Helper()
		if got, err := get(scheme, config); err == nil && strings.HasPrefix(got, "200") {
			t.Errorf("%s: answered %s", why, got)
		}
	}
	refused("no client certificate", "https", &tls.Config{RootCAs: ca.pool, MinVersion: tls.VersionTLS12})
	refused("a certificate of another authority", "https", &tls.Config{RootCAs: ca.pool, Certificates: []tls.Certificate{foreign}, MinVersion: tls.VersionTLS12})
	refused("an authority that the client does not trust", "https", &tls.Config{RootCAs: stranger.pool, Certificates: []tls.Certificate{client}, MinVersion: tls.VersionTLS12})
	refused("plain HTTP", "http", nil)
}

// TestTechnicalAccount: the cluster knows one account, guard's own; the users of guard
// are none of its business.
func TestTechnicalAccount(t *testing.T) {
	const account = "guard-account"
	hers := policy(t, integration.Strict)
	hers["internal_users.yml"] += fmt.Sprintf("\n%s: {hash: %q, backend_roles: [admins]}\n", account, guardproc.Hash(t, "towards-the-cluster"))
	for _, user := range []string{"dls", "limited", "worker"} { // they exist before the cluster no more
		hers["internal_users.yml"] = strings.Replace(hers["internal_users.yml"], "\n"+user+": ", "\nno-"+user+": ", 1)
	}
	node := start(t, testbed.Options{Kind: testbed.Secured, SecurityConfig: guardproc.WriteSecurity(t, hers)})
	guard := guardproc.Start(t, guardproc.Options{
		Security: guardproc.WriteSecurity(t, policy(t, integration.Strict)), Upstream: node.URL,
		Config: "upstream: {username: " + account + ", password: towards-the-cluster}\n",
	}).Client
	wants(t, node.Client, "dls", "GET /orders-*/_count", "", "401 text")
	wants(t, guard, "dls", "GET /orders-*/_count", "", `200 {"count":3}`)
	wants(t, guard, "dls", "GET /orders-eu/_doc/1?_source=tenant", "", "200 orders-eu/1 fields=tenant")
	wants(t, guard, "dls", "GET /orders-eu/_doc/2", "", "404 orders-eu/2 not found")
	wants(t, guard, "worker", "PUT /work-1/_doc/t?refresh=true", `{"n":1}`, `201 {"_id":"t","_index":"work-1","result":"created"}`)
	wants(t, guard, account, "GET /orders-*/_count", "", "401 text") // guard's account is no user of guard
	wants(t, guard, "nobody", "GET /orders-*/_count", "", "403 security_exception [indices:data/read/search]")
	wants(t, guard, "-", "GET /orders-*/_count", "", "401 text")
}
