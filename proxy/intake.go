package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// takeBody reads the body as the endpoint takes it. After a restart on a newer snapshot
// the body is not read again.
func (t *turn) takeBody(planner Planner) error {
	kind, err := planner.Intake(t.who, &t.req)
	if err != nil {
		return err
	}
	if t.taken {
		if kind != t.intake {
			return &ask.Rejection{Status: 503, Public: "the policy changed during the request; try again", Reason: ask.ReasonStateStale}
		}
		return nil
	}
	t.taken, t.intake = true, kind
	h := &t.conn.head
	switch kind {
	case gate.IntakeNone:
		if !h.body.none() {
			return noBodyTaken()
		}
		return nil
	case gate.IntakeStream:
		if !t.who.Unrestricted {
			return internalFault(errors.New("BUG: a restricted principal's body would be streamed unread"))
		}
		return t.checkAnnounced(bulkBody(t.srv.limits))
	case gate.IntakeLines:
		if err := t.checkReadable(); err != nil {
			return err
		}
		return t.checkAnnounced(bulkBody(t.srv.limits))
	case gate.IntakeWhole:
		return t.readBody()
	}
	return internalFault(fmt.Errorf("BUG: unknown intake %d", kind))
}

// checkAnnounced refuses a body that says itself that it is too large, before a 100 is
// sent or a byte is read.
func (t *turn) checkAnnounced(limit sizeLimit) error {
	if h := &t.conn.head; !h.body.chunked && h.body.length > limit.most {
		return limit.refusal()
	}
	return nil
}

// checkReadable refuses bodies whose type or coding guard does not read: the cluster
// would understand what guard did not.
func (t *turn) checkReadable() error {
	h := &t.conn.head
	if h.body.none() {
		return nil
	}
	if rej := unreadable(t.req.Header.ContentType); rej != nil {
		return rej
	}
	if enc := h.value("content-encoding"); parseCoding(enc) == unknownCoding {
		return &ask.Rejection{
			Status: 415, Type: "illegal_argument_exception", Reason: ask.ReasonBadRequest,
			Public: fmt.Sprintf("content encoding %q; want "+codingNames, clip(enc)),
		}
	}
	return nil
}

// unreadable refuses a content type that guard does not read; nil if it does.
func unreadable(contentType string) *ask.Rejection {
	if isJSON(contentType) {
		return nil
	}
	return &ask.Rejection{
		Status: 406, Type: "media_type_header_exception", Reason: ask.ReasonBadRequest,
		Public: fmt.Sprintf("Content-Type header [%s] is not supported", clip(contentType)),
	}
}

func noBodyTaken() *ask.Rejection { return badRequest("this endpoint takes no body") }

// isJSON reports whether a content type is JSON, or lines of it, in UTF-8.
func isJSON(contentType string) bool {
	typ, params, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(typ)) {
	case "application/json", "application/x-ndjson", "application/vnd.elasticsearch+json", "application/vnd.elasticsearch+x-ndjson",
		"application/vnd.opensearch+json", "application/vnd.opensearch+x-ndjson":
	default:
		return false
	}
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		switch strings.ToLower(name) {
		case "", "compatible-with": // the version of the API alone
		case "charset":
			if v := strings.Trim(value, `"`); !strings.EqualFold(v, "utf-8") && !strings.EqualFold(v, "utf8") {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// openBody returns the inflated body; close releases it.
func (t *turn) openBody() (body io.Reader, closeBody func(), err error) {
	raw, err := t.conn.request()
	if err != nil {
		return nil, nil, err
	}
	c := parseCoding(t.conn.head.value("content-encoding"))
	if raw.ended() {
		c = identity // nothing is sent in no coding
	}
	return t.inflated(raw, c)
}

// inflated returns a body without its coding, which must be a known one; done gives back
// what that takes.
func (t *turn) inflated(body io.Reader, c coding) (plain io.Reader, done func(), err error) {
	if c == identity {
		return body, func() {}, nil
	}
	f, err := newInflater(body, c, &t.share)
	if err != nil {
		return nil, nil, err
	}
	return f, f.release, nil
}

func (t *turn) readBody() error {
	h, limit := &t.conn.head, wholeBody(t.srv.limits)
	if h.body.none() {
		return nil
	}
	if err := t.checkReadable(); err != nil {
		return err
	}
	if err := t.checkAnnounced(limit); err != nil {
		return err
	}
	body, closeBody, err := t.openBody()
	if err != nil {
		return bodyFault(err, limit)
	}
	defer closeBody()
	t.req.Body, err = readWhole(body, sizeHint{h.body.length, trustClient}, limit.most, &t.share)
	if err == nil {
		err = t.share.take(esjson.Cost(t.req.Body))
	}
	if err != nil {
		return bodyFault(err, limit)
	}
	return nil
}

// bodyFault turns what is wrong with a client's body into a refusal.
func bodyFault(err error, limit sizeLimit) error {
	var wire *wireError
	switch {
	case errors.As(err, &wire):
		return err
	case errors.Is(err, errTooLarge):
		return limit.refusal()
	case errors.Is(err, errBomb):
		return limitFault(ask.LimitInflateRatio, 413, "%v", err)
	case errors.Is(err, errBadCoding), errors.Is(err, errTrailing):
		return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: "the body is not what Content-Encoding says", Reason: ask.ReasonBadRequest, Cause: err}
	case errors.Is(err, bufio.ErrBufferFull):
		return badRequest("a line of the body is too long")
	}
	return err
}

// sizeLimit is how large a body may be, and the limit that says so.
type sizeLimit struct {
	name ask.Limit
	most int64 // bytes
}

// wholeBody bounds the bodies that are read whole.
func wholeBody(l config.Limits) sizeLimit { return sizeLimit{ask.LimitBody, l.MaxBody} }

// bulkBody bounds the bodies that are not read whole.
func bulkBody(l config.Limits) sizeLimit { return sizeLimit{ask.LimitBulkBody, l.MaxBulkBody} }

func (l sizeLimit) refusal() *ask.Rejection {
	return limitFault(l.name, 413, "the body is larger than %d bytes", l.most)
}

func badRequest(public string) *ask.Rejection {
	return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: public, Reason: ask.ReasonBadRequest}
}
