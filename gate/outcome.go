package gate

import (
	"errors"

	"guard/fls"
	"guard/internal/ask"
)

// Kind says which of the four outcomes a plan has.
type Kind uint8

// The outcomes. The zero value rejects.
const (
	Reject  Kind = iota // refused; Rejection says why
	Local               // guard answers itself
	Need                // calls to make first; then Plan is called again with their answers
	Forward             // one call, and how its answer is treated
)

// Outcome is what Plan returns: exactly one of its members counts, by Kind.
type Outcome struct {
	Kind      Kind
	Rejection ask.Rejection
	Local     Answer
	Needs     []Call
	// NeedState asks for a cluster state newer than the snapshot's: the whole plan
	// restarts on it, once.
	NeedState bool
	Forward   Forwarding

	// Route is the endpoint's id for metrics ("search"); empty when none matched.
	Route string
}

// Reads reports whether nothing is changed by what the outcome says, so that it may be
// planned anew when it has been done.
func (o *Outcome) Reads() bool { return o.Kind != Forward || o.Forward.Repeatable }

// Answer is an HTTP answer that is whole in memory.
type Answer struct {
	Status      int
	ContentType string
	Header      []Field
	Body        []byte
}

// Field is one header line.
type Field struct{ Name, Value string }

// BodySource says where the body of a call comes from.
type BodySource uint8

// The sources of a body.
const (
	NoBody      BodySource = iota
	FixedBody              // Call.Body
	ClientBody             // the client's own body, streamed as it is; unrestricted principals only
	PlannedBody            // the client's lines as Forwarding.Lines passes them
)

// Call is one request to the cluster, built from what was decided.
type Call struct {
	Method string
	Target string // path and query, encoded anew; starts with '/'
	// ContentType is sent if there is a body; empty: the client's own.
	ContentType string
	Source      BodySource
	Body        []byte
	// Repeatable tells that the call may be sent once more after a cut connection.
	Repeatable bool
	// Shared tells that requests at the same time may share one such call, if it begins
	// after each of them asked for it. It carries nothing of the request.
	Shared bool
	// OwnAccount tells that the call is guard's own and not made for the client's
	// headers (X-Opaque-Id is kept if it is not shared, nothing else).
	OwnAccount bool
}

// Forwarding is the call that answers the client.
type Forwarding struct {
	Call
	Lines Lines // only with PlannedBody
	Treat Treatment
	// AsAsked tells that Treat takes an answer of any type, so that the client may ask for one.
	AsAsked bool
	// ChangesState reports whether names or aliases may have changed, once the call was
	// answered: then the cluster state is refreshed before the client gets its answer.
	// Nil means no.
	ChangesState func() bool
}

// Treatment turns the cluster's answer into the client's. A nil Treatment passes it
// on as it comes, streamed.
type Treatment interface {
	// Treat returns the answer for the client. An error means that the answer was not
	// understood: the client gets 502 and no byte of it. The result may share the memory
	// of a.Body, which is not changed.
	Treat(a Answer) (Answer, error)
}

// Moved reports whether err says that an answer holds something of an index that was not
// asked for: a name has come to mean something else since the snapshot was made. A read is
// right on a newer one.
func Moved(err error) bool { return errors.Is(err, fls.ErrOtherIndex) }

// Lines plans the body of a bulk line by line. It is used by one request alone, in
// the order of the lines.
type Lines interface {
	// Action judges an action line, without its line end, and reports whether a
	// document line follows. An error ends the body before its last chunk, so that the
	// cluster executes nothing.
	Action(line []byte) (document bool, err error)
	// Item appends what is sent for the last action and its document (nil if it has
	// none), line ends included; nothing for a refused item.
	Item(dst, document []byte) ([]byte, error)
	// Held returns how many bytes the plan keeps until the answer is there. It never falls.
	Held() int64
	// End is called after the last line. If nothing at all was sent, local is the answer.
	End() (local *Answer, err error)
}

// Known holds the answers to the needs of earlier rounds, in their order.
type Known struct {
	Answers []Answer
	// Fresh tells that the state was refreshed on behalf of this request: a name that is
	// still unknown does not exist.
	Fresh bool
}

// Intake says how the body of a request is to be read before Plan is called.
type Intake uint8

// The ways to read a body.
const (
	IntakeNone   Intake = iota // the endpoint takes no body: one that comes is refused
	IntakeWhole                // read, inflate, bounded; given to Plan as Request.Body
	IntakeLines                // not read by Plan: Forwarding.Lines judges it
	IntakeStream               // not read at all: unrestricted principals
)
