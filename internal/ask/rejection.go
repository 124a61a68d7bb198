package ask

import (
	"cmp"
	"net/http"
	"strings"
)

// Reason is why a request was refused: a closed set, used as metric label and in
// the denial record.
type Reason string

// The reasons of a refusal.
const (
	ReasonUnknown         Reason = "" // zero value: refused all the same
	ReasonNoPrivilege     Reason = "no_privilege"
	ReasonUnknownEndpoint Reason = "unknown_endpoint"
	ReasonUnknownParam    Reason = "unknown_parameter"
	ReasonUnknownBody     Reason = "unknown_body_part"
	ReasonBadRequest      Reason = "bad_request"
	ReasonNotFound        Reason = "not_found"
	ReasonRestricted      Reason = "restricted" // not possible under a document or field rule
	ReasonNotBuilt        Reason = "not_built"  // known, not built yet
	ReasonTooLarge        Reason = "too_large"
	ReasonStateStale      Reason = "state_stale" // the cluster state is too old to decide
	ReasonConflict        Reason = "conflict"
	ReasonUpstream        Reason = "upstream"
	ReasonInternal        Reason = "internal"
)

// Status is the HTTP status that a refusal asks for. It is a type of its own, so that
// what is sent and what is logged can only be its Code, which is the same for both.
type Status int

// Code returns the HTTP status. A refusal is never a success: anything but 400 to 599,
// the zero value among it, is 403.
func (s Status) Code() int {
	if s < 400 || s > 599 {
		return http.StatusForbidden
	}
	return int(s)
}

// StatusOf is the Status for an error that the cluster answered with code. One that is no
// status of an error is the cluster's fault: 502.
func StatusOf(code int) Status {
	if code < 400 || code > 599 {
		return http.StatusBadGateway
	}
	return Status(code)
}

// ErrorType is the type of an error in the cluster's shape; empty counts as
// security_exception. Its Name is what is sent.
type ErrorType string

// Name returns the type as it is sent.
func (t ErrorType) Name() string { return cmp.Or(string(t), "security_exception") }

// Rejection is a refusal: what is sent and what is logged are different fields
// (law 12). Its zero value refuses with 403.
type Rejection struct {
	Status Status
	Type   ErrorType
	Public string // sent as the error's reason by Text; names only what the client named itself
	Reason Reason
	Cause  error // logged, never sent

	// Action and Missing describe the refusal for the log and audit: the first action
	// that was missing and the targets it was missing on.
	Action  string
	Missing []string

	// Index is set on errors about the name of an index, which clients read.
	Index    string
	Resource Resource // what the cluster calls Index in its error
}

// Resource is what a cluster calls the index in an error (resource.type): it depends
// on the endpoint.
type Resource string

// The resources, measured on all engines.
const (
	NoResource      Resource = ""                 // the error has none
	IndexOrAlias    Resource = "index_or_alias"   // where a list of names is taken
	IndexExpression Resource = "index_expression" // where exactly one name is taken
)

// IndexMembers lists the members of the error object that name the index, as keys and
// texts.
func (r *Rejection) IndexMembers() [][2]string {
	switch {
	case r.Index == "":
		return nil
	case r.Resource == NoResource:
		return [][2]string{{"index", r.Index}, {"index_uuid", "_na_"}}
	default:
		return [][2]string{{"index", r.Index}, {"resource.id", r.Index}, {"resource.type", string(r.Resource)}, {"index_uuid", "_na_"}}
	}
}

// maxText bounds the text of an error: one stands in the answer for each refused item,
// beside the limits of what a request may hold in memory.
const maxText = 4 << 10 // 4 KiB

// Text is what is sent as the reason: Public, up to a bound.
func (r *Rejection) Text() string {
	switch {
	case r.Public == "":
		return "refused"
	case len(r.Public) > maxText:
		return strings.ToValidUTF8(r.Public[:maxText], "") + "..."
	default:
		return r.Public
	}
}

// Error makes a Rejection usable as an error inside guard.
func (r *Rejection) Error() string {
	if r.Cause != nil {
		return r.Public + ": " + r.Cause.Error()
	}
	return r.Public
}

// Unwrap returns the hidden cause.
func (r *Rejection) Unwrap() error { return r.Cause }
