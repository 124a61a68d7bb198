package proxy

import (
	"bytes"

	"guard/config"
	"guard/gate"
	"guard/internal/ask"
)

// What follows is for those who ask what would become of a request that nobody sent: the
// steps of a turn that need no socket.

// ParseTarget cuts a request target into path and parameters, as for a request that was
// sent. The error names what could be read in two ways: it refuses restricted principals.
func ParseTarget(target string) (path []string, params []ask.Param, err error) {
	return splitTarget(target)
}

// CheckTarget says what refuses a target before anybody reads it, whoever asks; nil if
// nothing does.
func CheckTarget(target string) *ask.Rejection { return checkTarget(target) }

// CheckBody says what refuses the whole body of r where it is taken as kind says; nil if
// nothing does.
func CheckBody(kind gate.Intake, r *ask.Request, limits config.Limits) *ask.Rejection {
	size, most := int64(len(r.Body)), bulkBody(limits)
	if kind == gate.IntakeWhole {
		most = wholeBody(limits)
	}
	switch {
	case size == 0:
		return nil
	case kind == gate.IntakeNone:
		return noBodyTaken()
	case size > most.most:
		return most.refusal()
	case kind == gate.IntakeStream:
		return nil
	default:
		return unreadable(r.Header.ContentType)
	}
}

// PlanLines runs a whole bulk body through its plan and returns what is sent of it. If
// nothing is, local is the answer.
func PlanLines(body []byte, lines gate.Lines, limits config.Limits) (sent []byte, local *gate.Answer, refused *ask.Rejection) {
	var out bytes.Buffer
	room := budget{each: limits.MaxUserInFlight}
	room.left.Store(limits.MaxInFlight)
	own := share{from: &room}
	defer own.release()
	pump := newLinePump(bytes.NewReader(body), lines, limits, &own)
	if _, err := pump.run(&out, 0); err != nil {
		return nil, nil, toRejection(err)
	}
	return out.Bytes(), pump.local, nil
}
