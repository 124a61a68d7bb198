package proxy

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"guard/internal/ask"
)

// doorway bounds the connections of clients, in all and from one address. Who comes
// beyond a bound is turned away before a byte is read.
type doorway struct {
	most, each int // connections in all, from one address (0: no bound)
	turned     func(met ask.Limit, from netip.Addr)

	mu    sync.Mutex // guards what follows
	open  int
	from  map[netip.Addr]int
	conns map[*conn]struct{} // those that were let in

	told  chan struct{} // holds a token for each connection that is being told why
	tells sync.WaitGroup
}

// mostTold is how many connections at a time are told why they are turned away. Others
// are closed without a word: it costs a descriptor, and a second of a goroutine.
const mostTold = 32

func newDoorway(most, each int, turned func(ask.Limit, netip.Addr)) *doorway {
	return &doorway{most: most, each: each, turned: turned, from: make(map[netip.Addr]int), conns: make(map[*conn]struct{}), told: make(chan struct{}, mostTold)}
}

// register shows how many connections there are.
func (d *doorway) register(reg prometheus.Registerer) error {
	return reg.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_client_connections", Help: "Connections of clients that are open.",
	}, func() float64 {
		d.mu.Lock()
		defer d.mu.Unlock()
		return float64(d.open)
	}))
}

// enter counts a connection, or says which limit turns it away. Who entered leaves.
func (d *doorway) enter(from netip.Addr) ask.Limit {
	d.mu.Lock()
	defer d.mu.Unlock()
	bound := d.each > 0 && from.IsValid()
	switch {
	case d.open >= d.most:
		return ask.LimitConnections
	case bound && d.from[from] >= d.each:
		return ask.LimitAddressConnections
	}
	d.open++
	if bound {
		d.from[from]++
	}
	return ask.NoLimit
}

// place is that of one connection that has entered.
type place struct {
	door *doorway
	from netip.Addr // as whose it counts; guarded by the lock of the door, as is left
	left bool
}

// leave may be called beside move.
func (p *place) leave() {
	p.door.mu.Lock()
	defer p.door.mu.Unlock()
	p.left = true
	p.door.open--
	p.door.uncount(p.from)
}

// move counts a connection as that of another address from now on, or says which limit
// stands against it.
func (p *place) move(to netip.Addr) ask.Limit {
	d := p.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.left || to == p.from {
		return ask.NoLimit
	}
	bound := d.each > 0 && to.IsValid()
	if bound && d.from[to] >= d.each {
		return ask.LimitAddressConnections
	}
	d.uncount(p.from)
	p.from = to
	if bound {
		d.from[to]++
	}
	return ask.NoLimit
}

// uncount counts one less from an address. The lock is held.
func (d *doorway) uncount(from netip.Addr) {
	if d.from[from]--; d.from[from] <= 0 {
		delete(d.from, from)
	}
}

// admit lets a connection in, which then has a place to leave. It reports whether it did;
// one that was turned away is not the caller's any more. A plain one can be told why.
func (d *doorway) admit(c net.Conn, from netip.Addr, plain bool) bool {
	met := d.enter(from)
	if met == ask.NoLimit {
		return true
	}
	d.turned(met, from)
	select {
	case d.told <- struct{}{}:
		if plain {
			d.tells.Go(func() {
				tell(c, met)
				<-d.told
			})
			return false
		}
		<-d.told
	default:
	}
	_ = c.Close() // it was of no use to anybody
	return false
}

func (d *doorway) remember(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[c] = struct{}{}
}

func (d *doorway) forget(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
}

// endIdle ends the connections that wait for a request.
func (d *doorway) endIdle() {
	d.mu.Lock()
	conns := slices.Collect(maps.Keys(d.conns))
	d.mu.Unlock()
	for _, c := range conns {
		c.endIdle()
	}
}

// emptied waits until nobody is inside, for a while at most.
func (d *doorway) emptied(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(most / 200) {
		d.mu.Lock()
		open := d.open
		d.mu.Unlock()
		if open == 0 {
			return
		}
	}
}

// wait returns when nobody is told any more, in lingerTime at most.
func (d *doorway) wait() { d.tells.Wait() }

// tell answers a client that is turned away, whatever it asks for, and closes its
// connection. Its request is read away unseen, or the reset would take the answer away.
func tell(c net.Conn, met ask.Limit) {
	defer func() { _ = c.Close() }() // nothing is lost with it
	_ = c.SetDeadline(time.Now().Add(lingerTime))
	if _, err := c.Write(turnedAway(met)); err == nil {
		linger(c)
	}
}

// turnedAway is the whole answer to a connection that is turned away.
func turnedAway(met ask.Limit) []byte {
	rej := &ask.Rejection{Status: http.StatusServiceUnavailable, Type: "circuit_breaking_exception", Public: "too many connections; try again"}
	if met == ask.LimitAddressConnections {
		rej.Status, rej.Public = http.StatusTooManyRequests, "too many connections from this address; close some"
	}
	a := rejectionAnswer(rej)
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	fmt.Fprintf(&b, "Content-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n", a.ContentType, len(a.Body))
	for _, f := range a.Header {
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	b.WriteString("\r\n")
	b.Write(a.Body)
	return b.Bytes()
}

// addressOf returns the far end of a socket; the zero value if it has no address.
func addressOf(c net.Conn) netip.Addr {
	a, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}
