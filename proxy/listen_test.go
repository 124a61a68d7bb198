package proxy

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"guard/gate"
)

// socketPath returns a path short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "guard.sock")
}

// TestListenSocket: the file has its mode, what a killed process left is replaced, and
// nothing else is; at the end the file is gone.
func TestListenSocket(t *testing.T) {
	path := socketPath(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
		ln, err := Listen(t.Context(), "unix:"+path, mode)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|mode {
			t.Errorf("the mode is %v, %v; want %v", info.Mode(), err, mode)
		}
		if _, err := Listen(t.Context(), "unix:"+path, mode); err == nil || !strings.Contains(err.Error(), "another process listens on it") || !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener: %v", err)
		}
		_ = ln.Close()
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is left: %v", err)
		}
	}

	killed, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	killed.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = killed.Close()
	ln, err := Listen(t.Context(), "unix:"+path, 0o600)
	if err != nil {
		t.Fatalf("in the place of a dead socket: %v", err)
	}
	_ = ln.Close()

	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), "unix:"+path, 0o600); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("in the place of a file: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file is now %q, %v", text, err)
	}
	if _, err := Listen(t.Context(), "unix:"+filepath.Join(path, "x"), 0o600); err == nil {
		t.Error("a path through a file is listened on")
	}
	if ln, err = Listen(t.Context(), "127.0.0.1:0", 0); err != nil || ln.Addr().Network() != "tcp" {
		t.Fatalf("a port: %v", err)
	}
	_ = ln.Close()
}

// TestSocketClients serves clients of a socket, plain and by TLS. They have no address:
// the cluster is told none, and the log says where they came from.
func TestSocketClients(t *testing.T) {
	a := newAuthority(t)
	for _, secure := range []bool{false, true} {
		node := newFake(t)
		conf := testConfig(node.url())
		if secure {
			conf.TLS.Certificate, conf.TLS.Key = a.issue("guard", []string{"guard.test"})
		}
		ln, err := Listen(t.Context(), "unix:"+socketPath(t), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		g := startGuardOn(t, &fakeGate{intake: gate.IntakeStream}, conf, fakeAuth{}, ln)
		c := g.dial()
		if secure {
			c = tls.Client(c, &tls.Config{RootCAs: a.pool(), ServerName: "guard.test"})
		}
		br := bufio.NewReader(c)
		for _, raw := range []string{request("POST", "/i", jsonLine, "{}"), "GET / HTTP/1.1\r\nHost: a\r\n\r\n"} {
			if _, err := io.WriteString(c, raw); err != nil {
				t.Fatal(err)
			}
			want := map[bool]int{true: 200, false: 401}[strings.Contains(raw, "Authorization")]
			if got := readGot(t, c, br, "POST"); got.status != want {
				t.Errorf("got %+v; want %d", got, want)
			}
		}
		if seen := node.requests(); len(seen) != 1 || seen[0].header.Values("X-Forwarded-For") != nil {
			t.Errorf("the node got %+v", seen)
		}
		for _, record := range g.logs.FilterMessage("login refused").All() {
			if got := record.ContextMap()["peer"]; got != "unix" {
				t.Errorf("the log names the peer %v", got)
			}
		}
	}
}

// TestSocketClientLeaves: a client of a socket that leaves ends its call, as any does.
func TestSocketClientLeaves(t *testing.T) {
	node := newFake(t)
	came, gone := make(chan struct{}), make(chan struct{})
	node.answers(func(c net.Conn, _ *http.Request, _ []byte) {
		close(came)
		_, _ = c.Read(make([]byte, 1))
		close(gone)
	})
	ln, err := Listen(t.Context(), "unix:"+socketPath(t), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	g := startGuardOn(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()), fakeAuth{}, ln)
	c := g.dial()
	if _, err := io.WriteString(c, request("GET", "/", "", "")); err != nil {
		t.Fatal(err)
	}
	<-came
	_ = c.Close()
	<-gone // the test's time limit ends it if not
}
