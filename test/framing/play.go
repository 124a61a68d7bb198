package framing

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Player sends shapes to one proxy.
type Player struct {
	Addr     string
	TLS      *tls.Config // nil: plain
	Auth     string      // header line of the credentials, with its CRLF
	Deadline time.Duration
}

// Played is what a client got.
type Played struct {
	Answers []Answer // final ones, but for that of the probe
	Open    bool     // a further request was answered
	Hung    bool     // the deadline came first
	Stray   string   // bytes that are no answer
}

// Answer is one answer of a proxy.
type Answer struct {
	Status int
	Type   string
	Body   string
}

// probeID marks the request that follows a shape. If the proxy has read the shape to
// its end and not a byte further, it is answered as itself.
const (
	probeID     = "probe"
	probeTarget = "/open/_doc/" + probeID
)

// Play sends the bytes of a shape and reads what comes until the connection ends or
// shows, by a further request, that it goes on. cut says where the bytes are cut into
// pieces that are sent apart; none: they are sent at once.
func (p *Player) Play(s *Shape, cut ...int) (Played, error) {
	c, err := p.dial()
	if err != nil {
		return Played{}, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(p.Deadline)) // fails only on a closed connection
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		p.write(c, s, cut)
	}()
	defer func() { _ = c.Close(); <-sent }()
	return p.read(c, s), nil
}

func (p *Player) dial() (net.Conn, error) {
	c, err := net.Dial("tcp", p.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the proxy: %w", err)
	}
	if p.TLS == nil {
		return c, nil
	}
	t := tls.Client(c, p.TLS)
	if err := t.Handshake(); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("cannot reach the proxy: %w", err)
	}
	return t, nil
}

// write may fail: who refuses a shape need not read it.
func (p *Player) write(c net.Conn, s *Shape, cut []int) {
	from := 0
	for _, at := range append(cut, len(s.Raw)) {
		if from > 0 {
			time.Sleep(time.Millisecond) // the other side reads meanwhile
		}
		if _, err := io.WriteString(c, s.Raw[from:at]); err != nil {
			return
		}
		from = at
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok && s.HalfClose {
		_ = half.CloseWrite() // as above
	}
}

// read gathers the answers. After as many as were meant it sends the probe.
func (p *Player) read(c net.Conn, s *Shape) (out Played) {
	r := bufio.NewReader(c)
	want := max(len(s.Means), 1)
	for probed := false; ; {
		if len(out.Answers) >= want && !probed && !s.HalfClose {
			probed = true
			probe := "GET " + probeTarget + " HTTP/1.1\r\nHost: es\r\n" + p.Auth + "X-Opaque-Id: " + probeID + "\r\n\r\n"
			_, _ = io.WriteString(c, probe) // the end of the connection is read below
		}
		if _, err := r.Peek(1); err != nil {
			out.Hung = isTimeout(err)
			return out
		}
		res, err := http.ReadResponse(r, &http.Request{Method: s.method(len(out.Answers))})
		if err != nil {
			out.Stray, out.Hung = err.Error(), isTimeout(err)
			return out
		}
		body, err := io.ReadAll(res.Body)
		switch {
		case err != nil:
			out.Stray, out.Hung = err.Error(), isTimeout(err)
			return out
		case res.StatusCode == http.StatusContinue:
			_, _ = io.WriteString(c, s.Rest) // as above
			continue
		case probed && res.Header.Get("X-Opaque-Id") == probeID:
			out.Open = true
			return out
		}
		out.Answers = append(out.Answers, Answer{res.StatusCode, res.Header.Get("Content-Type"), string(body)})
		if res.Close || res.StatusCode == http.StatusSwitchingProtocols {
			return out.end(r)
		}
	}
}

// end reads the end of the connection, which was announced.
func (p Played) end(r *bufio.Reader) Played {
	rest, err := io.ReadAll(io.LimitReader(r, 1<<10))
	p.Hung = isTimeout(err)
	if p.Stray = string(rest); p.Stray != "" {
		p.Stray = fmt.Sprintf("%q behind the last answer", p.Stray)
	}
	return p
}

// method is that of the request which an answer belongs to: HEAD has none with a body.
func (s *Shape) method(i int) string {
	switch {
	case i < len(s.Means):
		return s.Means[i].Method
	case i == 0 && strings.HasPrefix(s.Raw, "HEAD "):
		return http.MethodHead
	}
	return http.MethodGet
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// Judge says what became of a shape.
func Judge(s *Shape, p *Played, seen *Seen) Verdict {
	arrived := seen.Requests
	if p.Open {
		arrived = withoutProbe(arrived)
	}
	v := Verdict{Open: p.Open}
	if len(p.Answers) > 0 {
		v.Status = p.Answers[0].Status
	}
	switch {
	case len(seen.Faults) > 0:
		v.Kind = faultKind(seen.Faults)
	case len(arrived) > max(1, len(s.meant())), smuggled(s, arrived):
		v.Kind = TwoRequests
	case v.Status == http.StatusSwitchingProtocols:
		v.Kind = Tunnel
	case p.Hung:
		v.Kind = Hang
	case len(seen.Begun) > 0 && v.Status >= 400 && len(arrived) == 0:
		v.Kind = Begun
	case len(arrived) == 0 && len(p.Answers) == 0:
		v.Kind = Closed
	case len(arrived) == 0 && v.Status >= 400:
		v.Kind = Refused
	case strings.HasPrefix(p.Stray, "malformed HTTP response") && len(p.Answers) == 0:
		v.Kind = Simple
	case v.Status != http.StatusOK || p.Stray != "" || len(p.Answers) < len(arrived) || len(seen.Begun) > 0:
		v.Kind = Lost
	default:
		v.Kind = howArrived(s, arrived)
	}
	if v.Kind != Refused && v.Kind != Begun {
		v.Status = 0
	}
	return v
}

func faultKind(faults []Fault) Kind {
	if slices.ContainsFunc(faults, func(f Fault) bool { return f.Framing }) {
		return Ambiguous
	}
	return NotStrict
}

// howArrived compares what arrived with what was meant.
func howArrived(s *Shape, arrived []Request) Kind {
	meant := s.meant()
	if len(arrived) > len(meant) {
		return Changed
	}
	dropped := 0
	for i := range arrived {
		if !meant[i].is(&arrived[i]) {
			return Changed
		}
		dropped += len(arrived[i].Dropped)
	}
	switch {
	case len(arrived) < len(s.Means):
		return Partly
	case s.Odd == "":
		return Passed
	case dropped > 0, strings.Contains(headText(arrived), lowerNames(s.Odd)):
		return AsItIs
	}
	return Mended
}

// withoutProbe leaves out one request: the probe.
func withoutProbe(arrived []Request) []Request {
	if n := len(arrived); n > 0 && arrived[n-1].Target == probeTarget {
		return arrived[:n-1]
	}
	return arrived
}

// smuggled reports whether something arrived that only a second reading can have found.
func smuggled(s *Shape, arrived []Request) bool {
	for i := range arrived {
		if !strings.Contains(arrived[i].Target, hiddenID) {
			continue
		}
		if i >= len(s.Means) || s.Means[i].Target != hiddenTarget {
			return true
		}
	}
	return false
}

// headText is the heads of requests, in a form to look for a line in.
func headText(list []Request) string {
	var b strings.Builder
	for i := range list {
		q := &list[i]
		fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", q.Method, q.Target)
		for _, f := range q.Fields {
			fmt.Fprintf(&b, "%s: %s\r\n", strings.ToLower(f.Name), f.Value)
		}
	}
	return b.String()
}

// lowerNames writes the names of header lines as headText does: they mean the same in
// any case, values need not.
func lowerNames(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if name, value, ok := strings.Cut(line, ":"); ok && token.MatchString(name) {
			line = strings.ToLower(name) + ":" + value
		}
		b.WriteString(line)
	}
	return b.String()
}

// is reports whether q is what was meant, by the meaning and not the spelling: a target
// may be escaped in another way, a document written anew.
func (m *Meant) is(q *Request) bool {
	return m.Method == q.Method && sameTarget(m.Target, q.Target) && sameBody(m.Body, q.Body)
}
