package proxy

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/config"
	"guard/gate"
)

// askingNode is a node that asks for certificates, and notes whose came with what
// password. It holds the answer to /hold.
type askingNode struct {
	*esfake
	hold chan struct{}

	noting sync.Mutex // guards guests
	guests []string
}

func newAskingNode(t *testing.T, a *authority, clients *x509.CertPool) *askingNode {
	t.Helper()
	certFile, keyFile := a.issue("node", []string{"127.0.0.1"})
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	a.must(err)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
	})
	a.must(err)
	n := &askingNode{esfake: newFakeOn(t, ln), hold: make(chan struct{})}
	n.answers(func(c net.Conn, r *http.Request, _ []byte) {
		_, password, _ := r.BasicAuth()
		n.noting.Lock()
		n.guests = append(n.guests, c.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName+" "+password)
		n.noting.Unlock()
		if r.URL.Path == "/hold" {
			<-n.hold
		}
		writeAnswer(c, 200, "{}")
	})
	return n
}

// saw compares who came so far.
func (n *askingNode) saw(want ...string) {
	n.t.Helper()
	n.noting.Lock()
	defer n.noting.Unlock()
	if !slices.Equal(n.guests, want) {
		n.t.Errorf("the node saw %q; want %q", n.guests, want)
	}
}

// shownToCluster makes the files that guard shows to a node, of a's certificates, and
// returns what changes them: the CA that guard believes, its name and its password.
func shownToCluster(t *testing.T, a *authority, u *config.Upstream) (show func(ca *authority, name, password string)) {
	t.Helper()
	dir := t.TempDir()
	u.CAFile, u.ClientCert, u.ClientKey = filepath.Join(dir, "ca"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	u.Username, u.PasswordFile = "guard", filepath.Join(dir, "password")
	return func(ca *authority, name, password string) {
		t.Helper()
		cert, key := a.issue(name, nil)
		copyFile(t, cert, u.ClientCert)
		copyFile(t, key, u.ClientKey)
		copyFile(t, ca.file, u.CAFile)
		a.must(os.WriteFile(u.PasswordFile, []byte(password+"\n"), 0o600))
	}
}

// TestReloadToTheCluster: new connections are made with the new certificate and
// password, those that lie idle are closed, and a call under way ends on its own.
func TestReloadToTheCluster(t *testing.T) {
	a := newAuthority(t)
	node := newAskingNode(t, a, a.pool())
	conf := testConfig("https://" + node.ln.Addr().String())
	show := shownToCluster(t, a, &conf.Upstream)
	show(a, "first", "one")
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	get := func() {
		t.Helper()
		if got := g.send(request("GET", "/", "", "")); got.status != 200 {
			t.Errorf("got %d %s; want 200", got.status, got.body)
		}
	}
	get()
	held := make(chan got, 1)
	go func() { held <- g.send(request("GET", "/hold", "", "")) }()
	eventually(t, "the call is under way", func() bool { return len(node.requests()) == 2 })
	get() // on a connection that then lies idle

	show(a, "second", "two")
	a.must(failure(g.srv.cluster.(*Transport).Reload(t.Context())))
	eventually(t, "the idle connection is closed", func() bool { return node.open() == 1 })
	get()
	close(node.hold)
	if a := <-held; a.status != 200 {
		t.Errorf("the call under way got %+v", a)
	}
	eventually(t, "its connection is closed behind it", func() bool { return node.open() == 1 })
	node.saw("first one", "first one", "first one", "second two")
}

// TestReloadOfTheClustersCA: a node whose CA guard believes no more is not spoken to, until
// guard does again. A password that is none changes nothing.
func TestReloadOfTheClustersCA(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	node := newAskingNode(t, a, a.pool())
	conf := testConfig("https://" + node.ln.Addr().String())
	show := shownToCluster(t, a, &conf.Upstream)
	show(a, "first", "one")
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	f := func(ca *authority, name, password, fault string, want int) {
		t.Helper()
		show(ca, name, password)
		if err := failure(g.srv.cluster.(*Transport).Reload(t.Context())); (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v; want %q", name, err, fault)
		}
		if got := g.send(request("GET", "/", "", "")); got.status != want {
			t.Errorf("%s: got %d %s; want %d", name, got.status, got.body, want)
		}
	}
	f(a, "first", "one", "", 200)
	f(other, "second", "two", "", 503)
	f(a, "third", "", "cannot read the password for the cluster: file is empty", 503)
	f(a, "fourth", "four", "", 200)
	node.saw("first one", "fourth four")
}

// TestReloadUnderLoad swaps certificates as fast as it can under clients that keep their
// connections and clients that make new ones: none loses a request.
func TestReloadUnderLoad(t *testing.T) {
	a := newAuthority(t)
	node := tlsNode(t, a, "127.0.0.1")
	dir := t.TempDir()
	conf := testConfig("https://" + node.ln.Addr().String())
	conf.TLS.Certificate, conf.TLS.Key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	conf.Upstream.CAFile = a.file
	conf.Upstream.ClientCert, conf.Upstream.ClientKey = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	pairs := [2][2]string{}
	for i, name := range []string{"one", "two"} {
		pairs[i][0], pairs[i][1] = a.issue(name, []string{"127.0.0.1"})
	}
	copyFile(t, pairs[0][0], conf.TLS.Certificate)
	copyFile(t, pairs[0][1], conf.TLS.Key)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	before := runtime.NumGoroutine()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() { loadByTLS(t, g, a.pool(), stop) })
	}
	tr := g.srv.cluster.(*Transport)
	for i := range 100 {
		copyFile(t, pairs[i%2][0], conf.TLS.Certificate)
		_, _ = g.srv.Reload(t.Context()) // with the other's key: a fault
		copyFile(t, pairs[i%2][1], conf.TLS.Key)
		a.must(failure(g.srv.Reload(t.Context())))
		a.must(failure(tr.Reload(t.Context())))
	}
	close(stop)
	clients.Wait()
	tr.Close()
	eventually(t, "all connections to the node are given back", func() bool { return tr.Open() == 0 })
	eventually(t, "goroutines have ended", func() bool { return runtime.NumGoroutine() < before+20 }) // idle workers of fasthttp
	if got := g.metric("guard_tls_faulty", ""); got != 0 {
		t.Errorf("guard_tls_faulty is %v", got)
	}
}

// loadByTLS sends reads and writes until stop, three on each connection.
func loadByTLS(t *testing.T, g *guarded, roots *x509.CertPool, stop chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		c, err := tls.Dial("tcp", g.addr, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
		if err != nil {
			t.Errorf("cannot connect: %v", err)
			return
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		br := bufio.NewReader(c)
		for _, method := range []string{"GET", "POST", "PUT"} {
			_, _ = io.WriteString(c, request(method, "/i", jsonLine, "{}"))
			if a := readGot(t, c, br, method); a.status != 200 || a.cut {
				t.Errorf("%s: got %+v", method, a)
			}
		}
		_ = c.Close()
	}
}
