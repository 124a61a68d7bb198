package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"go.uber.org/zap"

	"guard/gate"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// fetch makes a call that a plan needs and reads its answer whole.
func (t *turn) fetch(c *gate.Call) (gate.Answer, error) {
	if c.Source != gate.NoBody && c.Source != gate.FixedBody {
		return gate.Answer{}, internalFault(fmt.Errorf("BUG: a need with body source %d", c.Source))
	}
	if c.Shared {
		return t.fetchShared(c)
	}
	return t.twice(t.wireCall(c, passing{plain: true, own: c.OwnAccount}), t.do)
}

// fetchShared makes a call that others may wait for as well. Nothing of it is the first
// caller's, or what that one may not do would be refused to all of them: it carries no
// header of a client, and only its status is kept, so that it holds nothing.
func (t *turn) fetchShared(c *gate.Call) (gate.Answer, error) {
	if !c.OwnAccount || c.Source != gate.NoBody {
		return gate.Answer{}, internalFault(fmt.Errorf("BUG: a shared call %q that is a client's", c.Target))
	}
	s := t.srv
	return s.shared.do(t.conn.ctx, s.base, t.cluster+" "+c.Method+" "+c.Target, func(ctx context.Context) (gate.Answer, error) {
		w := &call{method: c.Method, target: c.Target, fields: []field{newField("Accept", jsonType)}, repeatable: c.Repeatable, cluster: t.cluster, claim: claim{shared: true}}
		a, err := statusOf(s.cluster.Do(ctx, w))
		if w.again(err) {
			a, err = statusOf(s.cluster.Do(ctx, w))
		}
		return a, err
	})
}

// statusOf reads an answer to its end, within bounds, and keeps its status.
func statusOf(a *answer, err error) (gate.Answer, error) {
	if err != nil {
		return gate.Answer{}, err
	}
	defer a.body.Close()
	_, err = io.CopyN(io.Discard, a.body, maxStatusAnswer)
	if err != nil && !errors.Is(err, io.EOF) {
		return gate.Answer{}, answerFault(err)
	}
	return gate.Answer{Status: a.status, ContentType: a.value("content-type")}, nil
}

// maxStatusAnswer is how much is read of an answer of which only the status counts, to
// keep its connection.
const maxStatusAnswer = 256 << 10

// twice makes a call and reads its answer whole. Nothing of an answer that was cut has
// been passed on, so a read is made once more.
func (t *turn) twice(c *call, do func(*call) (*answer, error)) (gate.Answer, error) {
	whole, err := t.whole(do(c))
	if c.again(err) {
		whole, err = t.whole(do(c))
	}
	if err == nil {
		err = t.share.take(esjson.Cost(whole.Body))
	}
	return whole, err
}

// whole reads an answer whole.
func (t *turn) whole(a *answer, err error) (gate.Answer, error) {
	if err != nil {
		return gate.Answer{}, err
	}
	defer a.body.Close()
	return t.readAnswer(a)
}

// forward makes the call that answers the client.
func (t *turn) forward(f *gate.Forwarding) (reply, error) {
	c, local, err := t.forwardCall(f)
	if err != nil || local != nil {
		return t.orLocal(local, err)
	}
	a, err := t.do(c)
	if err != nil {
		return reply{}, err
	}
	if f.Treat == nil {
		err = a.hold()
		if c.again(err) {
			if a, err = t.do(c); err == nil {
				err = a.hold()
			}
		}
		if err != nil {
			return reply{}, err
		}
		// An answer that came before all was sent may be to a part that changed names.
		if a.status < http.StatusMultipleChoices && f.ChangesState != nil && (!a.body.SourceDone() || f.ChangesState()) {
			t.refreshState()
		}
		return reply{stream: a, reads: f.Repeatable}, nil
	}
	whole, err := t.whole(a, nil) // now no upload runs that uses the plan of the lines, which the rest reads
	if c.again(err) {
		whole, err = t.whole(t.do(c))
	}
	if err == nil {
		err = t.share.take(gate.TreatCost(f.Treat, whole.Body))
	}
	if err != nil {
		return reply{}, unheld(err, f.Repeatable)
	}
	if whole.Status < http.StatusMultipleChoices && f.ChangesState != nil && f.ChangesState() {
		t.refreshState()
	}
	treated, err := f.Treat.Treat(whole)
	if err != nil {
		return reply{}, untreatable(err, f.Repeatable)
	}
	r := reply{whole: treated, reads: f.Repeatable}
	if treated.Status == a.status {
		r.reason = a.reason
	}
	return r, nil
}

func (t *turn) orLocal(local *gate.Answer, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return reply{whole: *local, reads: true}, nil
}

// forwardCall makes the wire call of a forwarding; local is the answer if the plan of
// the lines left nothing to send. A request whose body comes now is counted among those at
// work from the moment that the beginning of it is there.
func (t *turn) forwardCall(f *gate.Forwarding) (c *call, local *gate.Answer, err error) {
	raw := f.Source == gate.ClientBody
	c = t.wireCall(&f.Call, passing{plain: f.Treat != nil, typed: f.AsAsked, body: raw, own: f.OwnAccount})
	switch f.Source {
	case gate.NoBody, gate.FixedBody:
		return c, nil, nil
	case gate.ClientBody:
		if !t.who.Unrestricted || t.intake != gate.IntakeStream {
			return nil, nil, internalFault(errors.New("BUG: the client's own body would be forwarded unread"))
		}
		return c, nil, t.streamBody(c)
	case gate.PlannedBody:
		if f.Lines == nil || t.intake != gate.IntakeLines {
			return nil, nil, internalFault(errors.New("BUG: a planned body without lines"))
		}
		local, err = t.planLines(c, f.Lines)
		return c, local, err
	}
	return nil, nil, internalFault(fmt.Errorf("BUG: unknown body source %d", f.Source))
}

// wireCall gives a call the client's headers that go with it.
func (t *turn) wireCall(c *gate.Call, p passing) *call {
	h := &t.conn.head
	p.cors = t.srv.cors != nil
	w := &call{method: c.Method, target: c.Target, fields: h.requestFields(p), repeatable: c.Repeatable, cluster: t.cluster, claim: claim{user: t.share.user}}
	if !p.own && t.origin.client.IsValid() {
		w.fields = append(w.fields, newField("X-Forwarded-For", t.forwardedFor()))
	}
	contentType := bodyType(c.ContentType, w.fields)
	switch c.Source {
	case gate.FixedBody:
		w.fixed, w.hasBody = c.Body, true
	case gate.NoBody:
		return w
	}
	if contentType == "" {
		contentType = t.req.Header.ContentType
	}
	if contentType != "" {
		w.fields = append(w.fields, newField("Content-Type", contentType))
	}
	return w
}

// forwardedFor names the client to the cluster.
func (t *turn) forwardedFor() string {
	if t.origin.client == t.conn.peer && len(t.origin.via) == 0 {
		return t.conn.from // fast path: nobody is between
	}
	return t.origin.String()
}

// streamBody lets the client's body pass as it is, counted.
func (t *turn) streamBody(c *call) error {
	f := t.conn.head.body
	if f.none() {
		c.hasBody = t.conn.head.value("content-length") != ""
		return t.admit()
	}
	body, err := t.conn.request()
	if err != nil {
		return err
	}
	if !f.chunked && f.length <= writeInline {
		c.fixed, err = readWhole(body, sizeHint{f.length, trustClient}, writeInline, &t.share) // no second goroutine is needed
		if err != nil {
			return err
		}
		return t.admit()
	}
	if err := t.share.take(copyBuffer); err != nil {
		return err
	}
	if err := t.admit(); err != nil {
		return err
	}
	limit := bulkBody(t.srv.limits)
	c.framing, c.abort = f, t.conn.abort
	c.body = func(w io.Writer) error {
		buf := copyBuffers.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
		defer copyBuffers.Put(buf)
		n, err := io.CopyBuffer(w, io.LimitReader(body, limit.most+1), *buf)
		if err != nil {
			return err
		}
		if n > limit.most {
			return limit.refusal()
		}
		return nil
	}
	return nil
}

// do makes a call to the cluster, given up when the client leaves.
func (t *turn) do(c *call) (*answer, error) {
	if !fairCall(c) {
		return nil, internalFault(fmt.Errorf("BUG: the call %q %q would not be one request", c.method, c.target))
	}
	if n, most := t.srv.ownHeader()+headerSize(c.fields), t.srv.limits.MaxUpstreamHeader; n > most {
		return nil, limitFault(ask.LimitUpstreamHeader, 431, "the headers come to %d bytes for the cluster, which takes %d", n, most)
	}
	a, err := t.srv.cluster.Do(t.conn.ctx, c)
	if err == nil {
		t.srv.cors.disown(a)
		return a, nil
	}
	var wire *wireError
	if errors.As(err, &wire) {
		t.srv.metrics.wire.WithLabelValues(string(wire.kind)).Inc()
	}
	return nil, err
}

// fairCall holds what is forwarded to the measure of the frame check: no plan can write
// a second line, whatever went into it.
func fairCall(c *call) bool {
	if !methods[c.method] || c.target == "" || c.target[0] != '/' {
		return false
	}
	for i := range len(c.target) {
		if b := c.target[i]; b <= ' ' || b >= 0x7f {
			return false
		}
	}
	for _, f := range c.fields {
		if !isToken(f.name) || !isText([]byte(f.value)) {
			return false
		}
	}
	return true
}

// readAnswer reads an answer that guard has to understand, inflated and bounded.
func (t *turn) readAnswer(a *answer) (gate.Answer, error) {
	limit := t.srv.limits.MaxFilteredAnswer
	whole := gate.Answer{Status: a.status, ContentType: a.value("content-type")}
	for _, f := range a.fields {
		if f.key != "content-type" && f.key != "content-encoding" && !exact[f.key] {
			whole.Header = append(whole.Header, gate.Field{Name: f.name, Value: f.value})
		}
	}
	c := parseCoding(a.value("content-encoding"))
	if c == unknownCoding {
		return whole, answerFault(fmt.Errorf("content encoding %q, which guard did not ask for", clip(a.value("content-encoding"))))
	}
	if a.bodiless || a.length == 0 {
		c = identity // there is nothing to inflate
	}
	body, done, err := t.inflated(a.body, c)
	if err != nil {
		return whole, answerFault(err)
	}
	defer done()
	whole.Body, err = readWhole(body, a.sizeHint(), limit, &t.share)
	return whole, answerFault(tooMuch(err, limit, "to filter"))
}

// tooMuch names the limit that an answer met when it was read whole for a purpose.
func tooMuch(err error, limit int64, purpose string) error {
	if !errors.Is(err, errTooLarge) {
		return err
	}
	return &ask.Rejection{
		Status: 502, Type: "exception", Reason: ask.ReasonUpstream, Cause: err, Limit: ask.LimitFilteredAnswer,
		Public: fmt.Sprintf("the answer is too large %s: more than %d bytes; ask for less", purpose, limit),
	}
}

// unheld makes of a limit that the answer to a write met a refusal which does not ask to
// send it again: it was executed, for all that is known (law 13).
func unheld(err error, reads bool) error {
	var rej *ask.Rejection
	if reads || !errors.As(err, &rej) || rej.Limit == ask.NoLimit {
		return err
	}
	return &ask.Rejection{
		Status: 502, Type: "exception", Reason: ask.ReasonUpstream, Limit: rej.Limit, Cause: rej,
		Public: "there is no room for the cluster's answer; whether it executed the request is unknown",
	}
}

// answerFault refuses an answer that can't be read; faults of the wire and of the
// budget stay what they are.
func answerFault(err error) error {
	var wire *wireError
	var rej *ask.Rejection
	if err == nil || errors.As(err, &wire) || errors.As(err, &rej) {
		return err
	}
	return &wireError{faultGarbage, err}
}

// untreatable refuses an answer that was read and not understood: no byte of it is sent.
// What the request has changed, nobody knows then (law 13).
func untreatable(err error, reads bool) error {
	var rej *ask.Rejection
	if errors.As(err, &rej) {
		return err
	}
	public := "the cluster's answer can't be filtered, so it is withheld"
	if !reads {
		public += "; whether it executed the request is unknown"
	}
	return &ask.Rejection{Status: 502, Type: "exception", Reason: ask.ReasonUpstream, Cause: err, Public: public}
}

// refreshState makes what the request changed known before its client hears of it. If
// it fails, the next look at the cluster finds it.
func (t *turn) refreshState() {
	if _, err := t.srv.snaps.Fresher(t.conn.ctx); err != nil {
		t.srv.log.Warn("cannot refresh the cluster state after a change", zap.String("id", t.req.ID), zap.Error(err))
	}
}

// linesStart is how much of a planned body is gathered before it is sent. A body that
// fits is sent with its length, and one that is refused within it costs the cluster
// nothing at all.
const linesStart = 64 << 10

// planLines starts the plan of a body line by line. If all of it fits into the start,
// the call gets it whole; otherwise the rest follows in chunks.
func (t *turn) planLines(c *call, lines gate.Lines) (*gate.Answer, error) {
	body, closeBody, err := t.openBody()
	if err != nil {
		return nil, bodyFault(err, bulkBody(t.srv.limits))
	}
	p := newLinePump(body, lines, t.srv.limits, &t.share)
	start := &heldBuffer{share: &t.share}
	err = p.hold(0)
	done := false
	if err == nil {
		done, err = p.run(start, linesStart)
	}
	if err == nil {
		err = t.admit()
	}
	if err != nil {
		closeBody()
		return nil, err
	}
	if done {
		closeBody()
		if len(start.b) == 0 && p.local != nil {
			return p.local, nil
		}
		c.fixed, c.hasBody = start.b, true
		return nil, nil //nolint:nilnil // the call is complete
	}
	c.framing, c.abort = framing{chunked: true}, t.conn.abort
	c.body = func(w io.Writer) error {
		defer closeBody()
		if _, err := w.Write(start.b); err != nil {
			return err
		}
		_, err := p.run(w, 0)
		return err
	}
	return nil, nil //nolint:nilnil // the call is complete
}
