package ask

import (
	"cmp"
	"net/http"
	"strings"

	"guard/internal/names"
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
	ReasonForeignOrigin   Reason = "foreign_origin" // a page in a browser whose site is not allowed
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
	Limit  Limit // the bound that was met, if it was one: a metric label
	Cause  error // logged, never sent

	// Action and Missing describe the refusal for the log and audit: the first action
	// that was missing, and each that was with its name: "indices:data/read/get on people".
	// Missing lists so many at most, and more counts the others; it is nil where no
	// privilege was missing. It may name what the client could not see.
	Action  string
	Missing func(most int) (cells []string, more int)

	// Index is set on errors about a name that no index has, which clients read.
	Index *MissingName
}

// MissingName is a name in an error that no index has, or can have.
type MissingName struct {
	Name string   // counts if List is empty
	List []string // what the client wrote, where no single name is to blame
	As   Resource
}

// Resource is what a cluster calls the name in its error (resource.type): it depends on
// the endpoint.
type Resource uint8

// The resources, measured on all engines.
const (
	resourceUnknown Resource = iota // zero value, of which nobody said anything: not named at all
	NoResource                      // the error names the index and no resource
	IndexOrAlias                    // where a list of names is taken
	IndexExpression                 // where exactly one name is taken
)

// String returns the resource as it is sent; of one that has no name it is empty.
func (r Resource) String() string {
	switch r {
	case IndexOrAlias:
		return "index_or_alias"
	case IndexExpression:
		return "index_expression"
	default:
		return ""
	}
}

// NoSuchIndex is the cluster's error for a name that it does not have. It shares no memory
// with name.
func NoSuchIndex(name string, as Resource) *Rejection {
	name = strings.Clone(names.Clip(name))
	text := "no such index [" + name + "]"
	if name == "_all" && as == IndexExpression {
		text += " and no indices exist"
	}
	return &Rejection{
		Status: http.StatusNotFound, Type: "index_not_found_exception", Reason: ReasonNotFound,
		Public: text, Index: &MissingName{Name: name, As: as},
	}
}

// NothingLeft is the cluster's error for a list of expressions that mean nothing together,
// where they have to mean something. None at all are every index.
func NothingLeft(list []string, as Resource) *Rejection {
	if len(list) == 0 {
		list = []string{"_all"}
	}
	clipped := make([]string, len(list))
	for i, text := range list {
		clipped[i] = strings.Clone(names.Clip(text))
	}
	return &Rejection{
		Status: http.StatusNotFound, Type: "index_not_found_exception", Reason: ReasonNotFound,
		Public: "no such index [null]", Index: &MissingName{List: clipped, As: as},
	}
}

// InvalidIndexName is the cluster's error for a name that no index can have; public says
// why. It shares no memory with name.
func InvalidIndexName(name, public string) *Rejection {
	return &Rejection{
		Status: http.StatusBadRequest, Type: "invalid_index_name_exception", Reason: ReasonBadRequest,
		Public: public, Index: &MissingName{Name: strings.Clone(names.Clip(name)), As: NoResource},
	}
}

// Member is a member of an error object: one text, or a list of them.
type Member struct {
	Key   string
	Texts []string
}

// IndexMembers lists the members of the error object that name the index.
func (r *Rejection) IndexMembers() []Member {
	if r.Index == nil {
		return nil
	}
	name, list, as := []string{r.Index.Name}, r.Index.List, r.Index.As
	switch {
	case len(list) > 0 && as.String() != "":
		return []Member{{"resource.id", list}, {"resource.type", []string{as.String()}}}
	case as == NoResource:
		return []Member{{"index", name}, {"index_uuid", []string{"_na_"}}}
	case as.String() != "":
		return []Member{{"index", name}, {"resource.id", name}, {"resource.type", []string{as.String()}}, {"index_uuid", []string{"_na_"}}}
	default:
		return nil
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
