package framing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shape is one row of the table: bytes that a client sends, what they mean to a reader
// who takes the grammar at its word, and what guard makes of them.
type Shape struct {
	ID    string // kind and name
	Title string // for readers of the documentation; empty: what is odd about the bytes
	Raw   string
	Rest  string // sent when a 100 has come
	Odd   string // the piece of Raw that could be read in two ways; it must not arrive
	Means []Meant

	Guard   Verdict // for a principal who may do everything
	Limited Verdict // for one limited to some indices; zero: the same

	HalfClose bool // the client ends its side behind the last byte
	Waits     bool // the bytes end before the request does: a limit of time ends it
	Closes    bool // the connection ends behind the answer, as was asked
	Racy      bool // who comes first decides what is seen; the laws hold in any case
}

// Meant is a request that a shape stands for; the zero value is one that has an answer
// of its own and never arrives.
type Meant struct{ Method, Target, Body string }

// meant are the requests that arrive.
func (s *Shape) meant() []Meant {
	return slices.DeleteFunc(slices.Clone(s.Means), func(m Meant) bool { return m == Meant{} })
}

// limited is what guard does for a limited principal.
func (s *Shape) limited() Verdict {
	if s.Limited == (Verdict{}) {
		return s.Guard
	}
	return s.Limited
}

// Wanted is what guard makes of a shape.
func (s *Shape) Wanted(limited bool) Verdict {
	if limited {
		return s.limited()
	}
	return s.Guard
}

// Name is how the documentation calls a shape.
func (s *Shape) Name() string {
	if s.Title != "" {
		return s.Title
	}
	return "`" + quoted(s.Odd) + "`"
}

// quoted shows bytes within a sentence.
func quoted(s string) string {
	q := strconv.QuoteToASCII(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

// Kind is what became of a shape: a closed set.
type Kind uint8

// The kinds, the good ones first.
const (
	unknownKind Kind = iota
	Passed           // what was meant arrived, once
	Mended           // the same, and the odd piece did not arrive
	Refused          // an answer of 4xx or 5xx, and nothing arrived
	Closed           // the connection was ended without an answer, and nothing arrived
	Begun            // refused, and a request arrived that ended before its last byte
	AsItIs           // what was meant arrived, once, with the odd piece as it was
	Partly           // the first of several arrived, the next was refused
	Simple           // what was meant arrived, and the answer is that of HTTP/0.9: it has no head
	Changed          // one request arrived that is not what was meant
	NotStrict        // a request arrived that the strict grammar does not know
	Ambiguous        // bytes arrived whose end two readers can see in two places
	TwoRequests      // more requests arrived than were sent
	Tunnel           // the connection left HTTP
	Hang             // no answer, and no end of the connection
	Lost             // what arrived was not answered, or twice
)

// Verdict says what became of a shape.
type Verdict struct {
	Kind   Kind
	Status int  // of a refusal
	Open   bool // the connection serves a further request
}

func (v Verdict) String() string {
	switch v.Kind {
	case Passed:
		return "passed"
	case Mended:
		return "passed without it"
	case Refused:
		if v.Open {
			return fmt.Sprintf("refused %d, stays open", v.Status)
		}
		return fmt.Sprintf("refused %d", v.Status)
	case Closed:
		return "closed"
	case Begun:
		return fmt.Sprintf("refused %d, cut on the way", v.Status)
	case AsItIs:
		return "passed as it is"
	case Partly:
		return "first passed, next refused"
	case Simple:
		return "answered as HTTP/0.9"
	case Changed:
		return "passed changed"
	case NotStrict:
		return "passed, not strict"
	case Ambiguous:
		return "**AMBIGUOUS**"
	case TwoRequests:
		return "**TWO REQUESTS**"
	case Tunnel:
		return "**TUNNEL**"
	case Hang:
		return "**HANG**"
	case Lost:
		return "answered wrongly"
	case unknownKind:
	}
	return "not tried"
}

func refused(status int) Verdict { return Verdict{Kind: Refused, Status: status} }
func rejected(status int) Verdict {
	return Verdict{Kind: Refused, Status: status, Open: true}
}

var (
	passed = Verdict{Kind: Passed, Open: true}
	mended = Verdict{Kind: Mended, Open: true}
	partly = Verdict{Kind: Partly}
)

// ended is v for a shape whose connection ends behind the answer.
func ended(v Verdict) Verdict {
	v.Open = false
	return v
}
