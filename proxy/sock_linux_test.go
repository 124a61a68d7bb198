package proxy

import (
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// TestUntaken: what the far end has not taken is not counted as moved, and what it takes is,
// while the kernel holds far more than that.
func TestUntaken(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			addr := "127.0.0.1:0"
			if network == "unix" {
				addr = filepath.Join(t.TempDir(), "s")
			}
			ln, err := net.Listen(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			far, err := net.Dial(network, ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			near, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			p := &paced{Conn: near, writeTimeout: time.Millisecond}
			for err == nil {
				_, err = p.Write(make([]byte, window)) // until the kernel takes no more
			}
			held := unsent(near)
			if held <= 0 || held > 2*p.went+1<<20 {
				t.Errorf("of %d bytes %d are said to lie in the socket", p.went, held)
			}
			if _, err := io.CopyN(io.Discard, far, p.went); err != nil {
				t.Fatal(err)
			}
			eventually(t, "all has been taken", func() bool { return unsent(near) == 0 })
			p.hurryWrites(testPace)
			p.outward.waited = testPace.stall / looks // it is time for a look
			const overhead = 4 << 10                  // of a byte that lies in a Unix socket
			if _, err := p.Write([]byte("a")); err != nil || p.outward.moved > p.went || p.outward.moved < p.went-overhead {
				t.Errorf("a look sees %d bytes moved, error %v; want some %d", p.outward.moved, err, p.went)
			}
		})
	}
}
