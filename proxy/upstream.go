package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"guard/internal/ask"
)

// upstream is the seam between the flow of a request and the wire to the cluster.
type upstream interface {
	// Do sends one call and returns once the head of its answer is there, which may be
	// before the body of the call is sent. The body of the answer has to be closed. An error is a
	// *wireError, or what call.body returned.
	Do(ctx context.Context, c *call) (*answer, error)
}

// call is one request to the cluster as it goes on the wire; framing, Host and guard's
// own credentials are added by the transport.
type call struct {
	method     string
	target     string
	fields     []field
	fixed      []byte // the body, if body is nil
	hasBody    bool   // a Content-Length is sent even if it is 0
	body       func(io.Writer) error
	framing    framing // of body
	abort      func()  // ends a read of the source that body waits in
	repeatable bool
	claim      claim  // for whom it is made
	cluster    string // by whose state it was decided; empty: whichever guard is for
	anonymous  bool   // without guard's account

	node    *host   // where it was sent last
	shunned []*host // where it is not to be sent
}

// answer is the head of the cluster's answer and a body still to be read.
type answer struct {
	status int
	reason string
	fields []field // without framing and hop-by-hop headers
	// length of the body; -1 if only its end will tell. For an answer to HEAD, and for
	// 304, it is what the cluster said and body is empty.
	length   int64
	bodiless bool
	body     answerSource
}

// odd reports whether an answer is one that may come from no node: a refusal of guard's
// account, a word of a balancer, or of another service. Nodes give such answers too.
func (a *answer) odd() bool {
	switch {
	case a.status == 401, a.status == 403, a.status == 407, a.status == 502, a.status == 503, a.status == 504:
		return true
	case a.status/100 == 3:
		return a.status != 304
	}
	kind := a.value("content-type")
	return strings.HasPrefix(kind, "text/html") || a.status >= 400 && strings.HasPrefix(kind, "text/")
}

// early reports whether an answer says that the request was not read to its end.
func (a *answer) early() bool {
	return a.status == http.StatusRequestTimeout || a.status == http.StatusRequestEntityTooLarge
}

// sizeHint says how long the body will be.
func (a *answer) sizeHint() sizeHint {
	if a.bodiless {
		return sizeHint{}
	}
	return sizeHint{a.length, trustCluster}
}

// answerSource is the body of an answer, and the end of the call.
type answerSource interface {
	io.Reader
	// Close ends the call; it may be called more than once.
	Close()
	// SourceDone reports whether the source of call.body is through. Until then it is
	// read by another goroutine.
	SourceDone() bool
}

// value returns the first value of a header; name is in lower case.
func (a *answer) value(name string) string {
	h := head{fields: a.fields}
	return h.value(name)
}

// faultKind says what went wrong between guard and the cluster: a closed set, a metric
// label.
type faultKind string

const (
	faultConnect faultKind = "connect" // no connection: nothing was sent
	faultBusy    faultKind = "busy"    // no connection was free in time: nothing was sent
	faultShare   faultKind = "share"   // the same, but for other users there was one
	faultFull    faultKind = "full"    // as many calls as may wait for one did: nothing was sent
	faultStopped faultKind = "stopped" // guard stopped while the call waited: nothing was sent
	faultCut     faultKind = "cut"     // it ended before the head of an answer
	faultStall   faultKind = "stall"   // no progress within the timeout
	faultGarbage faultKind = "garbage" // the answer is not HTTP as guard accepts it
	faultGone    faultKind = "gone"    // the client left, and the call was given up
)

// wireError is a fault of the wire to the cluster.
type wireError struct {
	kind faultKind
	err  error
}

func (e *wireError) Error() string {
	return fmt.Sprintf("cannot reach the cluster (%s): %v", e.kind, e.err)
}
func (e *wireError) Unwrap() error { return e.err }

// limit returns the bound that the fault is about, if it is about one.
func (e *wireError) limit() ask.Limit {
	switch e.kind {
	case faultBusy:
		return ask.LimitQueueTimeout
	case faultShare:
		return ask.LimitUserConnections
	case faultFull:
		return ask.LimitQueue
	case faultStall:
		return ask.LimitUpstream
	case faultConnect:
		if isTimeout(e.err) {
			return ask.LimitConnect
		}
	}
	return ask.NoLimit
}

var (
	errClientGone = errors.New("the client is gone")
	errCutAnswer  = errors.New("the connection ended inside the answer")
)

// givenUp is the fault of a call that was given up before a byte of it was sent.
func givenUp(ctx context.Context) *wireError { return wasGivenUp(context.Cause(ctx)) }

func wasGivenUp(cause error) *wireError {
	if errors.Is(cause, errDrainOver) {
		return &wireError{faultStopped, cause}
	}
	return &wireError{faultGone, cause} // nobody is there to be told
}

func garbage(format string, args ...any) *wireError {
	return &wireError{faultGarbage, fmt.Errorf(format, args...)}
}
