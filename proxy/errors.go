package proxy

import (
	"errors"
	"fmt"
	"net/http"

	"guard/gate"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// panicError is what a recovered panic becomes.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

const jsonType = "application/json; charset=UTF-8"

// rejectionAnswer is a refusal as an answer.
func rejectionAnswer(r *ask.Rejection) gate.Answer {
	status := r.Status.Code()
	a := gate.Answer{Status: status, ContentType: jsonType, Body: gate.ErrorBody(r)}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		a.Header = []gate.Field{{Name: "Retry-After", Value: "1"}}
	}
	return a
}

// forgeryBody is the shape of the plugin's refusal of internal headers.
func forgeryBody(reason string) []byte {
	b := append([]byte(nil), `{"error":{"status":"error","reason":`...)
	return append(esjson.AppendString(b, reason), `}}`...)
}

// toRejection turns any error of a request into what the client is told.
func toRejection(err error) *ask.Rejection {
	var rej *ask.Rejection
	var wire *wireError
	var slow tooSlow
	switch {
	case errors.As(err, &rej):
		return rej
	case errors.As(err, &wire):
		return wireRejection(wire)
	case errors.Is(err, errDrainOver), errors.Is(err, errClientGone):
		return wireRejection(wasGivenUp(err))
	case errors.Is(err, errCutBody), errors.Is(err, errBadChunk), errors.Is(err, errBadFooter):
		return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: err.Error(), Reason: ask.ReasonBadRequest}
	case errors.As(err, &slow):
		return lateBody(slow.met, fmt.Sprintf(": less than %d bytes a second", slow.rate), err)
	case isTimeout(err):
		return lateBody(ask.LimitRead, "", err)
	}
	return internalFault(err)
}

// lateBody refuses a body that kept guard waiting for too long.
func lateBody(met ask.Limit, how string, err error) *ask.Rejection {
	return &ask.Rejection{
		Status: 408, Type: "illegal_argument_exception", Public: "the request body did not come in time" + how,
		Reason: ask.ReasonBadRequest, Limit: met, Cause: err,
	}
}

func internalFault(err error) *ask.Rejection {
	return &ask.Rejection{
		Status: 500, Type: "exception", Public: "guard failed to serve the request; its log says why",
		Reason: ask.ReasonInternal, Cause: err,
	}
}

// wireRejection tells the client apart whether its request may have been executed
// (law 13). The addresses of nodes stay in the log.
func wireRejection(w *wireError) *ask.Rejection {
	r := &ask.Rejection{Status: 502, Type: "exception", Reason: ask.ReasonUpstream, Limit: w.limit(), Cause: w}
	switch w.kind {
	case faultConnect:
		r.Status, r.Public = 503, "the cluster can't be reached; nothing was sent to it"
	case faultBusy, faultFull:
		r.Status, r.Type = 429, "rejected_execution_exception"
		r.Public = "all connections to the cluster are in use; nothing was sent to it"
	case faultShare:
		r.Status, r.Type = 429, "rejected_execution_exception"
		r.Public = "too many connections to the cluster are in use for this user; nothing was sent to it"
	case faultStopped:
		r.Status, r.Public = 503, "guard is stopping; nothing was sent to the cluster"
	case faultStall:
		r.Status, r.Public = 504, "the cluster did not answer in time; whether it executed the request is unknown"
	case faultGarbage:
		r.Public = "the cluster's answer is not understood; whether it executed the request is unknown"
	default:
		r.Public = "the connection to the cluster ended before its answer; whether it executed the request is unknown"
	}
	return r
}
