package main

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"guard/test/guardproc"
)

// TestCheckLive: what stands at upstream.urls and is no node that can serve is named by the
// setting, with what was found and what to change.
func TestCheckLive(t *testing.T) {
	dir := t.TempDir()
	folder := guardproc.WriteSecurity(t, reader(t, "r", "people"))
	f := func(url, keys string, want ...string) {
		t.Helper()
		file := filepath.Join(dir, "guard.yml")
		write(t, dir, "guard.yml", "upstream:\n  urls: ['"+url+"']\n"+keys)
		out, err := command(t, "", "check", "--live", "--config", file, "--security", folder)
		if err == nil {
			t.Errorf("%s with %q: no error, and %q", url, keys, out)
			return
		}
		for _, part := range append(want, file+":2: upstream.urls[0]: "+url+": ") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s with %q: got %v; want %q", url, keys, err, part)
			}
		}
		if n := strings.Count(err.Error(), strings.SplitN(url, "//", 2)[1]); n != 1 {
			t.Errorf("%s with %q: the address is said %d times: %v", url, keys, n, err)
		}
	}
	answers := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>hello</html>")) // guard may be gone
		})
	}
	serve := func(status int) string {
		s := httptest.NewServer(answers(status))
		t.Cleanup(s.Close)
		return s.URL
	}
	safe := httptest.NewUnstartedServer(answers(200))
	safe.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	safe.StartTLS()
	t.Cleanup(safe.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: safe.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	const account = "  username: guard\n  password: secret\n"

	f(strings.Replace(safe.URL, "https:", "http:", 1), "", "; want https in upstream.urls: the node speaks TLS")
	f("http://"+closesAfterGarbage(t, safe.TLS), "", "the node does not answer: ", "; want https in upstream.urls: the node speaks TLS")
	f(strings.Replace(serve(200), "http:", "https:", 1), "", "the node can't be reached: tls: first record does not look like a TLS handshake; want http in upstream.urls")
	f(safe.URL, "", "certificate signed by unknown authority; want the CA that has signed the node's certificate in upstream.ca_file")
	f(strings.Replace(safe.URL, "127.0.0.1", "localhost", 1), "  ca_file: ca.pem\n", "; want a name that stands in the node's certificate in upstream.urls")
	f(safe.URL, "  ca_file: ca.pem\n", "the node can't serve (garbage): ", "; want a node of OpenSearch or Elasticsearch in upstream.urls")
	f(serve(401), "", "it answers 401; want an account of the cluster in upstream.username and upstream.password_file: it asks for one")
	f(serve(401), account, "it answers 401; want the name and password of an account")
	f(serve(403), account, "it answers 403; want an account in upstream.username that may read the state of the cluster")
	f(serve(200), "", "; want a node of OpenSearch or Elasticsearch in upstream.urls, with https if it speaks TLS")
	f(serve(404), "", "it answers 404; want a node of OpenSearch or Elasticsearch in upstream.urls")
	f(serve(503), "", "it answers 503; want a cluster that can serve")
	f("http://"+nobody(t), "", "the node can't be reached: connection refused; want the address of a node that runs in upstream.urls")
}

// closesAfterGarbage listens with TLS and says nothing to who does not speak it, as nodes do.
func closesAfterGarbage(t *testing.T, conf *tls.Config) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				first := make([]byte, 1)
				if _, err := c.Read(first); err == nil && first[0] == 22 { // a handshake
					_ = tls.Server(&begun{c, first}, conf).Handshake() // the other side looks at what comes of it
				}
				_ = c.Close()
			}()
		}
	}()
	return ln.Addr().String()
}

// begun is a connection of which the first bytes were read.
type begun struct {
	net.Conn
	first []byte
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.first) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}

// nobody returns an address on which nobody listens.
func nobody(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

// TestListenTaken: that guard can't listen is the fault of the setting that names the address.
func TestListenTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	socket := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := guardproc.WriteSecurity(t, reader(t, "r", "people"))
	taken := ln.Addr().String()
	f := func(listen, internal, want string) {
		t.Helper()
		_, err := command(t, "", "serve", "--upstream", "http://127.0.0.1:1", "--security", folder, "--listen", listen, "--internal", internal)
		if err == nil || !strings.HasSuffix(err.Error(), "\n  "+want) {
			t.Errorf("got %v; want %s", err, want)
		}
	}
	f(taken, "127.0.0.1:0", `--listen: cannot listen on "`+taken+`": address already in use; want an address that no other process listens on`)
	f("127.0.0.1:0", taken, `--internal: cannot listen on "`+taken+`": address already in use; want an address that no other process listens on`)
	f("192.0.2.1:9200", "127.0.0.1:0", `--listen: cannot listen on "192.0.2.1:9200": cannot assign requested address; want an address of this machine`)
	f("unix:"+socket, "127.0.0.1:0", `--listen: cannot listen on "unix:`+socket+`": the file is there and is no socket; want a path at which guard can make a socket`)
}
