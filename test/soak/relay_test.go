package soak

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay stands for a node of the cluster: it passes bytes to a real one, dies and comes
// back under its address.
type relay struct {
	node string // host and port of the real node
	addr string // where guard finds it

	mu    sync.Mutex // guards all below
	ln    net.Listener
	conns map[net.Conn]struct{}
	alive sync.WaitGroup
}

func startRelay(t *testing.T, node string) *relay {
	t.Helper()
	r := &relay{node: node, addr: "127.0.0.1:0", conns: map[net.Conn]struct{}{}}
	if err := r.revive(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.kill(); r.alive.Wait() })
	return r
}

// revive listens again where the relay always did.
func (r *relay) revive() error {
	ln, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ln, r.addr = ln, ln.Addr().String()
	r.alive.Go(func() { r.accept(ln) })
	return nil
}

func (r *relay) accept(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		r.alive.Go(func() { r.pass(c) })
	}
}

// pass moves bytes both ways until one side ends; then both are closed.
func (r *relay) pass(client net.Conn) {
	defer client.Close()
	node, err := net.Dial("tcp", r.node)
	if err != nil {
		return
	}
	defer node.Close()
	if !r.keep(client, node) {
		return
	}
	defer r.forget(client, node)
	var there sync.WaitGroup
	there.Go(func() {
		_, _ = io.Copy(node, client) // either side may end at any time: that is the test
		_ = node.Close()
	})
	_, _ = io.Copy(client, node)
	_ = client.Close()
	there.Wait()
}

// keep notes connections that kill has to end. It reports whether the node is alive.
func (r *relay) keep(conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ln == nil {
		return false
	}
	for _, c := range conns {
		r.conns[c] = struct{}{}
	}
	return true
}

func (r *relay) forget(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
	}
}

// kill ends the node as a power cut does: nobody is told, and what was under way is lost.
func (r *relay) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ln == nil {
		return
	}
	_ = r.ln.Close()
	r.ln = nil
	for c := range r.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, in the middle of whatever was sent
		}
		_ = c.Close()
	}
}
