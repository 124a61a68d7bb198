package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/valyala/fasthttp"
)

// idleKind is a proxy whose clients wait.
type idleKind struct {
	name  string
	guard bool
	tls   *tls.Config // of its clients; nil: plain
	start func(context.Context) (process, error)
}

// idleKinds are the proxies: each that is there, and guard also by TLS.
func (h *hoarding) idleKinds(progress io.Writer) ([]idleKind, error) {
	kinds := []idleKind{{name: bareName, start: func(ctx context.Context) (process, error) {
		return h.role(ctx, proxyCore, "bare", h.upstream)
	}}}
	for _, f := range foreign {
		if _, err := f.find(); err != nil {
			fmt.Fprintln(progress, "bench:", err)
			continue
		}
		kinds = append(kinds, idleKind{name: f.name, start: func(ctx context.Context) (process, error) {
			return h.startForeign(ctx, f, h.upstream, h.amounts.connections+64)
		}})
	}
	settings, clients, err := selfSigned(h.dir)
	if err != nil {
		return nil, err
	}
	guard := func(settings string) func(context.Context) (process, error) {
		return func(ctx context.Context) (process, error) { return h.startGuard(ctx, h.binary, h.upstream, settings) }
	}
	return append(kinds,
		idleKind{name: "guard", guard: true, start: guard("")},
		idleKind{name: "guard, TLS", guard: true, tls: clients, start: guard(settings)},
	), nil
}

// measure opens n connections, has one request served on each, and looks at the proxy
// while they wait.
func (k idleKind) measure(p process, n int) (r idle, err error) {
	before, err := k.look(p)
	if err != nil {
		return r, err
	}
	waiting := make([]net.Conn, n)
	defer func() {
		for _, c := range waiting {
			if c != nil {
				_ = c.Close() // nothing is expected of it any more
			}
		}
	}()
	if err := k.open(p.addr, waiting); err != nil {
		return r, err
	}
	if r.Resident, _, err = resident(p.pid); err != nil {
		return r, err
	}
	after, err := k.look(p)
	if err != nil {
		return r, err
	}
	for _, i := range []int{0, n / 2, n - 1} { // they are still connections
		if err := k.serveOne(waiting[i], bufio.NewReader(waiting[i])); err != nil {
			return r, fmt.Errorf("connection %d of %d: %w", i+1, n, err)
		}
	}
	return idle{
		Resident: r.Resident - before.Collected, Collected: after.Collected - before.Collected,
		Heap: after.Heap - before.Heap, Stacks: after.Stacks - before.Stacks, Goroutines: after.Goroutines - before.Goroutines,
	}, nil
}

// look returns what the process holds, of guard without its garbage.
func (k idleKind) look(p process) (r idle, err error) {
	if !k.guard {
		r.Collected, _, err = resident(p.pid)
		return r, err
	}
	if r.Goroutines, err = p.metric("go_goroutines"); err != nil {
		return r, err
	}
	left, err := p.collect()
	if err != nil {
		return r, err
	}
	r.Heap, r.Stacks = left.Heap, left.Stacks
	r.Collected, _, err = resident(p.pid)
	return r, err
}

// open fills conns with connections that have been served once.
func (k idleKind) open(addr string, conns []net.Conn) error {
	const dialers = 8
	return each(make([]struct{}, dialers), func(first int, _ struct{}) error {
		r := bufio.NewReader(nil)
		for i := first; i < len(conns); i += dialers {
			c, err := net.DialTimeout("tcp", addr, 10*time.Second)
			if err != nil {
				return fmt.Errorf("cannot open connection %d: %w", i+1, err)
			}
			if k.tls != nil {
				c = tls.Client(c, k.tls)
			}
			conns[i] = c
			r.Reset(c)
			if err := k.serveOne(c, r); err != nil {
				return fmt.Errorf("connection %d of %d: %w", i+1, len(conns), err)
			}
		}
		return nil
	})
}

// idleUser has all rules: the request that a connection was used for costs most.
const idleUser = "both"

// serveOne makes one search.
func (k idleKind) serveOne(c net.Conn, r *bufio.Reader) error {
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return fmt.Errorf("cannot bound a request: %w", err)
	}
	if _, err := c.Write(request(idleUser, searchPath("people"))); err != nil {
		return fmt.Errorf("cannot send: %w", err)
	}
	var answer fasthttp.Response
	if err := answer.Read(r); err != nil {
		return fmt.Errorf("cannot read an answer: %w", err)
	}
	if status := answer.StatusCode(); status != fasthttp.StatusOK || answer.ConnectionClose() {
		return fmt.Errorf("got status %d, and the connection ends: %v; want 200 and one that stays", status, answer.ConnectionClose())
	}
	return nil
}

// selfSigned makes a certificate for loopback in dir. It returns what guard.yml says of
// it, and clients that trust it.
func selfSigned(dir string) (settings string, clients *tls.Config, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", nil, fmt.Errorf("cannot make a key: %w", err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	public, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return "", nil, fmt.Errorf("cannot make a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", nil, fmt.Errorf("cannot write a key: %w", err)
	}
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public})
	err = errors.Join(os.WriteFile(certFile, text, 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	if err != nil {
		return "", nil, fmt.Errorf("cannot write a certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	settings = fmt.Sprintf("tls: {certificate: %q, key: %q}\n", certFile, keyFile)
	return settings, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}, nil
}
