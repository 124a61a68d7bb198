package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"guard/authn"
	"guard/gate"
	"guard/internal/ask"
)

const (
	drainLimit = 64 << 10 // bytes of an unread body that are read away to keep a connection
	lingerMost = 256 << 10
	lingerTime = time.Second // how long a refused client may go on sending before the reset
)

// conn is a client's connection. It reads and checks the head of each request itself
// and keeps it; Read, which is what fasthttp calls, gives out a head that guard wrote
// (method, "/", version) without a body. So the library parses nothing that a client
// sent, and the body stays here for the handler.
type conn struct {
	paced             // the socket
	flow     net.Conn // what heads and bodies pass through: the socket, or TLS over it
	*reading          // nil while it waits for a request
	first    [1]byte
	woken    bool // first is still to be read
	lim      *connLimits
	feed     []byte // what fasthttp has still to read of the substitute head

	head    head
	refusal *ask.Rejection // the head was not accepted; the handler sends this
	body    bodyReader
	begun   bool  // a request was read; its body may still be unread
	bye     bool  // no further request is read from this connection
	owes100 bool  // the client waits for a 100 and has not got it
	unsent  share // what the last answer takes until it is sent
	roomy   bool  // there is room for a large buffer, through which an answer passes

	ctx    context.Context //nolint:containedctx // ends with the connection, or when the client leaves
	end    context.CancelCauseFunc
	tls    *tls.Conn // nil on plain connections
	front  *front
	made   *generation // by which its certificate was last found good; nil if plain
	peer   netip.Addr  // zero if the client came by a Unix socket
	from   string      // peer as text; empty for none
	local  bool        // it came by a Unix socket, and nobody named another address
	veiled bool        // the peer relays a client that it does not name: no header is its word
	watch  watched
	place  place // among the connections of all clients
	at     atomic.Int32
	late   atomic.Bool // the client may still be sending what nobody will read
	stuck  atomic.Bool // nothing more can be sent
	closed atomic.Bool
}

// connLimits are the limits of a connection.
type connLimits struct {
	maxHead int
	idle    time.Duration // until the first byte of a request
	header  time.Duration // a whole head, and a TLS handshake
	read    time.Duration // each window of a body
	write   time.Duration // each window of an answer
	sends   pace          // of a body that guard reads
	takes   pace          // of an answer that one waits with

	met  func(ask.Limit)   // is told of limits that end a connection without a word
	fell func(*panicError) // is told of panics that do

	stopped *atomic.Bool // no further connections, nor requests on those that wait
}

// timedOut tells which limit ended the connection, if err is that of a deadline.
func (l *connLimits) timedOut(met ask.Limit, err error) {
	var slow tooSlow
	switch {
	case errors.As(err, &slow):
		l.met(slow.met)
	case isTimeout(err):
		l.met(met)
	}
}

// front is what the connections of a server have in common.
type front struct {
	shown     *material // nil: plain
	proxies   proxies
	announced bool // a proxy begins with a header of the PROXY protocol
	// refused hears of a connection that ended because the header was not right.
	refused func(peer string, err error)
}

func newConn(base context.Context, c net.Conn, lim *connLimits, f *front) *conn {
	k := &conn{paced: paced{Conn: c}, lim: lim, front: f, made: f.shown.load()}
	k.ctx, k.end = context.WithCancelCause(base)
	k.watch = watchable(c, func() { k.end(errClientGone) })
	k.local = c.RemoteAddr().Network() == "unix"
	if a := addressOf(c); a.IsValid() {
		k.named(a)
	}
	k.flow = &k.paced
	if k.made != nil {
		k.tls = tls.Server(&k.paced, k.made.tls)
		k.flow = k.tls
	}
	k.writeTimeout = lim.write
	return k
}

func (c *conn) named(addr netip.Addr) { c.peer, c.from = addr, addr.String() }

// trusted reports whether the peer is a proxy whose word is taken.
func (c *conn) trusted() bool {
	if c.veiled {
		return false
	}
	return c.local && c.front.proxies.unix || c.front.proxies.trusts(c.peer)
}

// substitutes are the heads that fasthttp gets instead of the client's. HEAD tells it
// to send no body, 1.0 not to use chunks, close to end the connection.
var substitutes = [...][]byte{
	[]byte("GET / HTTP/1.1\r\nHost: guard\r\n\r\n"),
	[]byte("HEAD / HTTP/1.1\r\nHost: guard\r\n\r\n"),
	[]byte("GET / HTTP/1.0\r\nHost: guard\r\nConnection: keep-alive\r\n\r\n"),
	[]byte("HEAD / HTTP/1.0\r\nHost: guard\r\nConnection: keep-alive\r\n\r\n"),
	[]byte("GET / HTTP/1.1\r\nHost: guard\r\nConnection: close\r\n\r\n"),
	[]byte("HEAD / HTTP/1.1\r\nHost: guard\r\nConnection: close\r\n\r\n"),
	[]byte("GET / HTTP/1.0\r\nHost: guard\r\n\r\n"),
	[]byte("HEAD / HTTP/1.0\r\nHost: guard\r\n\r\n"),
}

func substitute(h *head) []byte {
	i := 0
	if h.method == "HEAD" {
		i |= 1
	}
	if h.http10 {
		i |= 2
	}
	if h.close {
		i |= 4
	}
	return substitutes[i]
}

// Read gives fasthttp the substitute of the next head. It returns io.EOF where the
// connection ends between two requests, and never bytes of the client's.
func (c *conn) Read(p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil { // fasthttp has no recover of its own
			c.bye = true
			n, err = 0, io.EOF
			c.lim.fell(&panicError{v, debug.Stack()})
		}
	}()
	if len(c.feed) == 0 {
		if !c.await() || !c.next() {
			return 0, io.EOF
		}
	}
	n = copy(p, c.feed)
	c.feed = c.feed[n:]
	return n, nil
}

// next reads and checks the next head. It reports whether there was one.
func (c *conn) next() bool {
	block, rej, err := c.readBlock()
	if err != nil {
		return false // nobody is there to be told
	}
	if !c.vouched() {
		return false // as a handshake of now would end
	}
	c.head, c.refusal = head{}, rej
	if rej == nil {
		c.head, c.refusal = parseHead(string(block))
	}
	if c.refusal != nil {
		// The bytes that follow have no meaning that both sides agree on.
		c.head.close, c.head.body, c.head.expect = true, framing{}, false
		c.bye = true
		if bytes.HasPrefix(c.block, []byte("HEAD ")) {
			c.head.method = "HEAD" // the refusal has no body, wherever the fault is
		}
	}
	c.bye = c.bye || c.head.close
	c.late.Store(c.refusal != nil)
	c.body.reset(c.src, c.head.body)
	c.begun, c.owes100 = true, c.head.expect && !c.head.body.none()
	c.paceReads(c.lim.read)
	c.feed = substitute(&c.head)
	return true
}

// finish reads away what is left of the last request's body and reports whether the
// next byte is the first of a new request.
func (c *conn) finish() bool {
	if !c.begun || c.body.ended() {
		return true
	}
	if c.owes100 {
		return false // the client may send the body or not: nobody knows what comes next
	}
	c.paceReads(c.lim.read)
	_, err := io.CopyN(io.Discard, &c.body, drainLimit+1)
	c.lim.timedOut(ask.LimitRead, err)
	return errors.Is(err, io.EOF) && c.body.ended()
}

// What a connection is at.
const (
	atWork  int32 = iota // a request is read or answered
	waiting              // for the first byte of one
	over                 // it was ended while it waited
)

// lastLook is how long a connection waits for a request once guard takes no more.
const lastLook = 100 * time.Millisecond

// await waits for the first byte of a request, and reports whether it came. Until then the
// connection can be ended without a loss. Thousands may stand here: what it is called
// through decides how large their stacks are.
func (c *conn) await() bool {
	c.unsent.release() // fasthttp comes back when it has sent all of the answer
	if c.bye || c.ctx.Err() != nil || !c.finish() {
		return false // a client that left waits for nothing that it sent before
	}
	c.at.Store(waiting)
	if err := c.greet(); err != nil {
		c.lim.timedOut(ask.LimitReadHeader, err)
		return false
	}
	idle := c.lim.idle
	stopped := c.lim.stopped.Load()
	if stopped {
		idle = lastLook
	}
	if err := c.awaitFirst(idle); err != nil {
		if !stopped {
			c.lim.timedOut(ask.LimitIdle, err)
		}
		return false
	}
	return c.at.CompareAndSwap(waiting, atWork)
}

// endIdle ends the connection if it waits for a request.
func (c *conn) endIdle() {
	if c.at.CompareAndSwap(waiting, over) {
		_ = c.Close() // nothing is lost with it
	}
}

// readBlock reads up to the empty line that ends a head. The first bare line feed
// refuses it, so a client that sends no CRLF gets an answer and does not hang.
func (c *conn) readBlock() ([]byte, *ask.Rejection, error) {
	c.paceReads(c.lim.header)
	c.block = c.block[:0]
	first := 0 // length of the request line, once it is known
	for {
		part, err := c.src.ReadSlice('\n')
		c.block = append(c.block, part...)
		if len(c.block) > c.lim.maxHead {
			if first == 0 {
				return nil, limitFault(ask.LimitHeader, 414, "a request line of more than %d bytes", c.lim.maxHead), nil
			}
			return nil, limitFault(ask.LimitHeader, 431, "a request head of more than %d bytes", c.lim.maxHead), nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			if isTimeout(err) {
				slow := limitFault(ask.LimitReadHeader, 408, "the request head did not come within %v", c.lim.header)
				slow.Reason = ask.ReasonBadRequest
				return nil, slow, nil
			}
			return nil, nil, err
		}
		n := len(c.block)
		if n < 2 || c.block[n-2] != '\r' {
			return nil, badFrame("a line of the request head ends in a bare line feed"), nil
		}
		if first == 0 {
			first = n
			if n == 2 {
				return nil, badFrame("an empty line in the place of a request line"), nil
			}
		}
		if n >= 4 && string(c.block[n-4:]) == "\r\n\r\n" {
			return c.block, nil, nil
		}
	}
}

// greet takes what comes once, before the first request: the header by which a proxy
// names its client, and the handshake of TLS. It has the time of a head.
func (c *conn) greet() error {
	if c.begun || c.tls == nil && !c.front.announced {
		return nil
	}
	end := time.Now().Add(c.lim.header)
	if c.front.announced && c.trusted() {
		if err := c.takeAnnouncement(end); err != nil {
			return err
		}
	}
	if c.tls == nil {
		return nil
	}
	ctx, cancel := context.WithDeadline(context.Background(), end)
	defer cancel()
	err := c.tls.HandshakeContext(ctx)
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && plain.Conn != nil && startsHTTP(plain.RecordHeader[:]) {
		_, _ = plain.Conn.Write(wantsTLS) // the connection ends; nobody to tell if it has
	}
	return err
}

// startsHTTP reports whether the first bytes of a connection are those of a plain request.
func startsHTTP(b []byte) bool {
	return slices.ContainsFunc([]string{"GET /", "HEAD ", "POST ", "PUT /", "DELET", "OPTIO", "PATCH"}, func(method string) bool { return string(b) == method })
}

// wantsTLS tells a client who speaks plain HTTP to a TLS port what is wrong.
var wantsTLS = func() []byte {
	body := gate.ErrorBody(badRequest("this port speaks TLS: ask by https"))
	return fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", jsonType, len(body), body)
}()

// takeAnnouncement reads the header of the PROXY protocol from the socket itself: not a
// byte behind it may be taken from TLS or HTTP.
func (c *conn) takeAnnouncement(end time.Time) error {
	_ = c.Conn.SetReadDeadline(end) // fails only on a closed connection, and so will what follows
	said, err := readAnnouncement(c.Conn)
	if err != nil {
		if !errors.Is(err, io.EOF) && !c.closed.Load() { // a mere look whether the port is open is no fault
			c.front.refused(cmp.Or(c.from, "unix"), err)
		}
		return err
	}
	_ = c.Conn.SetReadDeadline(time.Time{})
	c.veiled = said.relayed && !said.client.IsValid()
	if !said.client.IsValid() {
		return nil
	}
	c.local = false
	c.named(said.client)
	if met := c.place.move(c.front.counted(said.client)); met != ask.NoLimit {
		return c.turnAway(met, said.client)
	}
	return nil
}

// turnAway ends a connection whose client, once it was named, has too many. A plain one is
// told why.
func (c *conn) turnAway(met ask.Limit, client netip.Addr) error {
	d := c.place.door
	d.turned(met, client)
	select {
	case d.told <- struct{}{}:
		defer func() { <-d.told }()
		if c.tls == nil {
			_, _ = c.Write(turnedAway(met)) // it is closed in any case
			c.late.Store(true)
		}
	default:
	}
	return errTurnedAway
}

var errTurnedAway = errors.New("too many connections of this client")

// vouched reports whether the CAs of now stand for the certificate that the client has
// shown, though it did so under earlier ones.
func (c *conn) vouched() bool {
	now := c.front.shown.load()
	if now == c.made {
		return true
	}
	if certs := c.tls.ConnectionState().PeerCertificates; len(certs) > 0 {
		between := x509.NewCertPool()
		for _, cert := range certs[1:] {
			between.AddCert(cert)
		}
		_, err := certs[0].Verify(x509.VerifyOptions{
			Roots: now.tls.ClientCAs, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		})
		if err != nil {
			return false
		}
	}
	c.made = now
	return true
}

// request returns the body for reading, after the 100 that the client may wait for. From now
// on the client is held to its pace: what is read of it is held for it, in room that others
// need, and later a connection to the cluster is.
func (c *conn) request() (*bodyReader, error) {
	c.hurryReads(c.lim.sends)
	if c.owes100 {
		c.owes100 = false
		if _, err := c.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return nil, fmt.Errorf("%w: %w", errClientGone, err)
		}
	}
	return &c.body, nil
}

// keepable reports whether the connection can serve another request once the answer
// is sent, as far as is known: a small rest of a body is read away then.
func (c *conn) keepable() bool {
	switch {
	case c.bye, c.aborted.Load(): // what is aborted is read no further
		return false
	case c.body.ended():
		return true
	case c.owes100 || c.body.err != nil:
		return false
	}
	return c.body.chunked || c.body.left <= drainLimit
}

// answering is called before an answer is written; busy tells that the body is still
// being read by an upload, ending that the connection is not to be kept, whatever the
// client may have sent already. It reports whether the connection ends with this answer.
func (c *conn) answering(busy, ending bool) (last bool) {
	cut := ending && !c.bye
	if busy || ending || !c.keepable() {
		c.bye = true
	}
	c.late.Store(cut || busy || c.refusal != nil || !c.body.ended())
	return c.bye
}

// Close ends the connection; a shutdown may call it beside the goroutine that serves.
// If the client may still be sending, it is told by the end of our side first: a reset
// would take the answer away from it.
func (c *conn) Close() error {
	defer c.unsent.release() // also by who serves it and comes second
	if c.closed.Swap(true) {
		return nil
	}
	defer c.place.leave()
	defer c.place.door.forget(c)
	defer c.end(nil)
	c.closing.Store(true)
	if c.stuck.Load() {
		return c.Conn.Close() // TLS would try for seconds to say so
	}
	if c.late.Load() {
		linger(c.flow)
	}
	return c.flow.Close()
}

// linger ends our side of a connection and reads away what still comes, within bounds.
func linger(c net.Conn) {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	buf := lingerBuffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer lingerBuffers.Put(buf)
	for total := 0; total < lingerMost; {
		n, err := c.Read(*buf)
		if total += n; err != nil {
			return
		}
	}
}

var lingerBuffers = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// SetDeadline and its siblings do nothing: fasthttp's deadlines are absolute and would
// end long streams. paced sets those that count.
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// Write sends a part of an answer.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.flow.Write(p)
	if err != nil {
		c.stuck.Store(true)
	}
	c.lim.timedOut(ask.LimitWrite, err)
	return n, err
}

// ReadFrom lets large answers pass through a large buffer of their own.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	buffers := &smallBuffers
	if c.roomy {
		buffers = &copyBuffers
	}
	buf := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	defer buffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{c}, struct{ io.Reader }{r}, *buf)
}

var (
	copyBuffers  = sync.Pool{New: func() any { b := make([]byte, copyBuffer); return &b }}
	smallBuffers = sync.Pool{New: func() any { b := make([]byte, smallBuffer); return &b }}
)

// listener accepts connections for fasthttp.
type listener struct {
	net.Listener
	lim   *connLimits
	front *front
	base  context.Context //nolint:containedctx // above those of its connections
	log   func(err error)
	door  *doorway

	closed atomic.Bool
}

// Close may be called more than once.
func (l *listener) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	return l.Listener.Close()
}

// Accept retries what passes by itself (no descriptors left, an aborted handshake of
// TCP): fasthttp would stop serving.
func (l *listener) Accept() (net.Conn, error) {
	const first = 5 * time.Millisecond
	for wait := first; ; {
		c, err := l.Listener.Accept()
		switch {
		case err == nil:
			if k := l.admit(c); k != nil {
				return k, nil
			}
			wait = first
		case errors.Is(err, net.ErrClosed):
			return nil, io.EOF
		default:
			l.log(err)
			time.Sleep(wait)
			wait = min(2*wait, time.Second)
		}
	}
}

// admit makes a client's connection of a socket, or returns nil if it was turned away.
func (l *listener) admit(c net.Conn) *conn {
	from := l.front.counted(addressOf(c))
	if !l.door.admit(c, from, l.front.shown == nil) {
		return nil
	}
	k := newConn(l.base, c, l.lim, l.front)
	k.place = place{door: l.door, from: from}
	l.door.remember(k)
	return k
}

// counted returns as whose a connection from an address counts; the zero address is
// nobody's: many clients come by a proxy.
func (f *front) counted(from netip.Addr) netip.Addr {
	if f.proxies.trusts(from) {
		return netip.Addr{}
	}
	return authn.Network(from)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
