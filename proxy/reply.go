package proxy

import (
	"bufio"
	"errors"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"guard/gate"
	"guard/internal/ask"
)

// reply is what a turn comes to: an answer that is whole in memory, or the cluster's
// own as it comes.
type reply struct {
	whole  gate.Answer
	reason string  // of whole; empty: the usual one
	stream *answer // if it is not nil, whole is none
	reads  bool    // what was asked changes nothing
}

// write hands the reply to fasthttp, which sends it after the handler has returned.
func (t *turn) write(out *fasthttp.Response, r *reply) {
	if r.stream != nil {
		t.writeStream(out, r)
		return
	}
	if err := t.keep(r.whole.Body); err != nil {
		refusal := t.fail(unheld(err, r.reads)) // it has no need of room
		r = &refusal
	}
	a := &r.whole
	if a.Status < 200 || a.Status > 599 {
		a.Status, a.Body = fasthttp.StatusInternalServerError, nil
	}
	date := ""
	for _, f := range a.Header {
		if strings.EqualFold(f.Name, "date") {
			date = f.Value
		}
	}
	t.open(out, date, a.Status, r.reason)
	if a.ContentType != "" {
		out.Header.SetContentType(a.ContentType)
	}
	opaque := t.conn.head.value("x-opaque-id")
	for _, f := range a.Header {
		t.addField(out, newField(f.Name, f.Value))
		if strings.EqualFold(f.Name, "x-opaque-id") {
			opaque = "" // the cluster has given it back
		}
	}
	if opaque != "" { // clients find their answers by it
		out.Header.Add("X-Opaque-Id", opaque)
	}
	t.compat.mark(out)
	out.SetBodyRaw(a.Body)
	if t.last(false) {
		out.SetConnectionClose()
	}
	t.finish(a.Status)
}

// keep makes the share of the connection what a body takes until it is sent: a client that
// does not read holds no more than its user may. The turn is over before, so that it
// takes no place from others. What fits into the buffers of any connection is not counted.
func (t *turn) keep(body []byte) error {
	if cap(body) <= smallBuffer {
		return nil
	}
	return t.share.passOn(&t.conn.unsent, int64(cap(body)))
}

// last reports whether the connection ends with this answer; busy tells that its body is
// still being read.
func (t *turn) last(busy bool) bool {
	return t.conn.answering(busy, t.srv.Draining())
}

// writeStream sends the cluster's answer with all its headers, as its bytes come.
func (t *turn) writeStream(out *fasthttp.Response, r *reply) {
	a := r.stream
	t.open(out, a.value("date"), a.status, a.reason)
	for _, f := range a.fields {
		t.addField(out, f)
	}
	t.compat.mark(out)
	if t.last(!a.body.SourceDone()) {
		out.SetConnectionClose()
	}
	h := &t.conn.head
	if h.method == "HEAD" || a.status == 304 || a.status == 204 {
		if a.length >= 0 && a.status != 204 {
			out.Header.Set("Content-Length", strconv.FormatInt(a.length, 10))
		}
		out.SkipBody = true
		a.body.Close()
		t.finish(a.status)
		return
	}
	if a.length < 0 && h.http10 {
		t.writeForOld(out, r)
		return
	}
	t.conn.roomy = a.length > mostHeld && t.share.take(copyBuffer) == nil
	out.ImmediateHeaderFlush = a.length < 0 || a.length > mostHeld // then the body bypasses fasthttp's buffer
	t.conn.hurryWrites(t.conn.lim.takes)
	out.SetBodyStream(&streamBody{turn: t, answer: a}, int(a.length))
}

// writeForOld sends an answer of unknown length to a client of HTTP/1.0, which reads no
// chunks: it has to be whole first.
func (t *turn) writeForOld(out *fasthttp.Response, old *reply) {
	a := old.stream
	defer a.body.Close()
	limit := t.srv.limits.MaxFilteredAnswer
	body, err := readWhole(a.body, sizeHint{}, limit, &t.share)
	if err != nil {
		out.Reset()
		r := t.fail(unheld(answerFault(tooMuch(err, limit, "for HTTP/1.0")), old.reads))
		t.write(out, &r)
		return
	}
	_ = t.keep(body) // the room was taken to read it
	out.SetBodyRaw(body)
	t.finish(a.status)
}

// open writes what comes before the headers of an answer itself. The Date is the first:
// what stood there before is lost.
func (t *turn) open(out *fasthttp.Response, date string, status int, reason string) {
	setDate(out, date)
	setStatus(out, status, reason)
	t.srv.cors.stamp(&out.Header, t.site)
}

func setStatus(out *fasthttp.Response, status int, reason string) {
	out.SetStatusCode(status)
	if reason != "" && reason != fasthttp.StatusMessage(status) {
		out.Header.SetStatusMessage([]byte(reason))
	}
}

// setDate comes before all other headers: fasthttp keeps a Date that it has read, and
// drops one that is set.
func setDate(out *fasthttp.Response, date string) {
	if date == "" {
		return // nodes send none, proxies in front of them do
	}
	head := "HTTP/1.1 204 \r\nDate: " + date + "\r\n\r\n"                        // the status that brings no length
	_ = out.Header.Read(bufio.NewReaderSize(strings.NewReader(head), len(head))) // one that the library can't read is left out
}

func (t *turn) addField(out *fasthttp.Response, f field) {
	if hopByHop[f.key] || t.compat.drops(f.key) {
		return // what an answer says of itself never reaches the framing
	}
	out.Header.Add(f.name, f.value)
}

// streamBody feeds fasthttp from the cluster. An error makes it end the connection
// before the last byte, so that the client sees a cut answer as one.
type streamBody struct {
	turn   *turn
	answer *answer
}

func (b *streamBody) Read(p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil {
			fell := &panicError{v, debug.Stack()}
			b.turn.fell(fell)
			n, err = 0, fell
		}
	}()
	n, err = b.answer.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.turn.streamFailed(err)
	}
	return n, err
}

// Close is called by fasthttp when the body is through or given up.
func (b *streamBody) Close() error {
	defer b.turn.finish(b.answer.status)
	b.turn.conn.easeWrites()
	defer func() {
		if v := recover(); v != nil {
			b.turn.fell(&panicError{v, debug.Stack()})
		}
	}()
	b.answer.body.Close()
	return nil
}

func (t *turn) streamFailed(err error) {
	t.conn.bye = true
	s := t.srv
	var wire *wireError
	if errors.As(err, &wire) {
		s.metrics.wire.WithLabelValues(string(wire.kind)).Inc()
		s.metrics.met(wire.limit())
	}
	if s.denyLog.Allow() {
		s.log.Warn("answer cut", zap.String("id", t.req.ID), zap.String("route", t.route), zap.Error(err))
	}
}

// notInName refuses to ask in somebody's name.
func (t *turn) notInName(err error) reply {
	var rej *ask.Rejection
	if !errors.As(err, &rej) {
		return t.refuse(internalFault(err))
	}
	return t.forged(rej.Public)
}

// forged refuses internal headers and impersonation in the shape that the plugin gives
// these two refusals.
func (t *turn) forged(reason string) reply {
	r := t.refuse(&ask.Rejection{Status: 403, Public: reason, Reason: ask.ReasonBadRequest})
	r.whole.Body = forgeryBody(reason)
	return r
}
