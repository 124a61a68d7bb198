package endpoint

import (
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"guard/internal/ask"
	"guard/internal/names"
)

// Query is what the URL and the head of a request say, once it is checked against
// the row of its endpoint.
type Query struct {
	Opts names.Options // the row's, changed by the client's
	// Index is what the parameter index names; it is forwarded in the path.
	Index    string
	HasIndex bool
	// Creates tells that the write may only make a new document.
	Creates bool
	// Refreshes tells that what a query finds is to be refreshed at the end.
	Refreshes bool
	// Params are what is forwarded, in order: without index, and without a body in the URL.
	Params []ask.Param
	// Body is the request's body, from wherever it came.
	Body []byte
}

// Query checks the parameters and the body's presence and type. The error is an
// *ask.Rejection; a route that is not built is one.
func (m Match) Query(r *ask.Request) (Query, error) {
	if m.Route == nil || m.Route.NotBuilt {
		return Query{}, m.notBuilt(r.Method)
	}
	q := Query{Opts: m.Route.Opts, Body: r.Body, Params: make([]ask.Param, 0, len(r.Params))}
	q.Creates = m.Route.ID == "create" || m.Route.ID == "index_new"
	var inURL bodyInParams
	for i, p := range r.Params {
		for _, earlier := range r.Params[:i] {
			if earlier.Name == p.Name {
				return Query{}, m.badParam("holds parameter [%s] twice; want it once", p.Name)
			}
		}
		if err := m.read(p, &q, &inURL); err != nil {
			return Query{}, err
		}
	}
	if err := inURL.into(&q, m); err != nil {
		return Query{}, err
	}
	if err := m.checkBody(r, q.Body, inURL.given); err != nil {
		return Query{}, err
	}
	return q, nil
}

// read takes one parameter into q.
func (m Match) read(p ask.Param, q *Query, inURL *bodyInParams) error {
	switch m.kinds[p.Name] {
	case Plain, QueryText, QueryDetail, Fields, Outside, AnswerFilter, AnswerFormat, Columns:
	case Flag, Formatting, AnswerForm:
		if !isFlag(p.Value) {
			return m.badParam("holds parameter [%s]: Failed to parse value [%s] as only [true] or [false] are allowed.", p.Name, names.Clip(p.Value))
		}
		q.Refreshes = q.Refreshes || p.Name == "refresh" && p.Value != "false"
	case IndexOption:
		if err := readIndexOption(&q.Opts, p.Name, strings.Split(p.Value, ",")); err != nil {
			return m.badParam("holds parameter [%s]: %s", p.Name, err)
		}
	case IndexName:
		inPath, named := m.Index()
		if named && inPath == p.Value {
			return nil // go-elasticsearch writes the path's index of a multi-search here as well
		}
		if named || p.Value == "" {
			return m.badParam("names its index twice or not at all in parameter [%s]; want it once", p.Name)
		}
		q.Index, q.HasIndex = p.Value, true
		return nil
	case Operation:
		if p.Value != "create" && p.Value != "index" {
			return m.badParam("holds parameter [%s]: opType must be 'create' or 'index', found: [%s]", p.Name, names.Clip(p.Value))
		}
		q.Creates = q.Creates || p.Value == "create"
	case BodyText, BodyType:
		inURL.take(p, m.kinds[p.Name])
		return nil
	case Handle:
		return &ask.Rejection{Public: fmt.Sprintf("parameter [%s] of [%s] opens a handle: not built yet", p.Name, shown(m.path)), Reason: ask.ReasonNotBuilt}
	default:
		return &ask.Rejection{
			Status: http.StatusBadRequest, Type: "illegal_argument_exception",
			Public: fmt.Sprintf("request [%s] contains unrecognized parameter: [%s]", shown(m.path), names.Clip(p.Name)),
			Reason: ask.ReasonUnknownParam,
		}
	}
	q.Params = append(q.Params, p)
	return nil
}

// isFlag reports whether the clusters read s as a boolean: a bare name means true.
func isFlag(s string) bool { return s == "" || s == "true" || s == "false" }

// optionNames are the names of the index options.
var optionNames = []string{"expand_wildcards", "ignore_unavailable", "allow_no_indices"}

// readIndexOption reads one of the index options, from a parameter or from the header
// line of a multi-search. values has one element at least.
func readIndexOption(o *names.Options, name string, values []string) error {
	switch name {
	case "expand_wildcards":
		return readExpand(&o.Expand, values)
	case "ignore_unavailable":
		return readBool(&o.IgnoreUnavailable, values)
	case "allow_no_indices":
		return readBool(&o.AllowNoIndices, values)
	default:
		panic(fmt.Sprintf("BUG: parameter %q is no index option", name))
	}
}

func readExpand(e *names.Expand, values []string) (err error) {
	*e, err = names.ParseExpand(values...)
	return err
}

// readBool refuses the empty value: here, unlike elsewhere, it means the default.
func readBool(b *bool, values []string) error {
	if len(values) != 1 || values[0] != "true" && values[0] != "false" {
		return fmt.Errorf("Failed to parse value [%s] as only [true] or [false] are allowed.", names.Clip(strings.Join(values, ","))) //nolint:staticcheck // the cluster's own text
	}
	*b = values[0] == "true"
	return nil
}

// bodyInParams is a body that travels in the URL.
type bodyInParams struct {
	text, kind     string
	given, hasKind bool
}

func (b *bodyInParams) take(p ask.Param, kind ParamKind) {
	if kind == BodyText {
		b.text, b.given = p.Value, true
	} else {
		b.kind, b.hasKind = p.Value, true
	}
}

func (b *bodyInParams) into(q *Query, m Match) error {
	switch {
	case !b.given && !b.hasKind:
		return nil
	case !b.given || !b.hasKind || b.text == "":
		return m.badParam("carries a body in its URL: source and source_content_type parameters are required")
	case len(q.Body) > 0:
		return m.badParam("carries two bodies, one of them as [source]; want one")
	case !isJSON(b.kind):
		return m.badParam("carries a body of type [%s] in its URL; want application/json", names.Clip(b.kind))
	}
	q.Body = []byte(b.text)
	return nil
}

// checkBody compares the body that came with the body that the endpoint takes.
func (m Match) checkBody(r *ask.Request, body []byte, inURL bool) error {
	switch m.Route.Body {
	case NDJSONBulk:
		// The lines are not read here: they are judged one by one.
	case NoBody:
		if len(body) > 0 {
			return m.badBody("illegal_argument_exception", fmt.Sprintf("request [%s %s] does not support having a body", r.Method, shown(m.path)))
		}
		return nil
	case MgetBody:
		if len(body) == 0 {
			return m.badBody("parse_exception", "request body or source parameter is required")
		}
	case Document, UpdateBody, AliasesBody, CopyBody, NDJSONMsearch:
		if len(body) == 0 {
			return m.badBody("parse_exception", "request body is required")
		}
	}
	if inURL || len(body) == 0 && m.Route.Body != NDJSONBulk {
		return nil
	}
	lines := m.Route.Body == NDJSONBulk || m.Route.Body == NDJSONMsearch
	if isJSON(r.Header.ContentType) || lines && isNDJSON(r.Header.ContentType) {
		return nil
	}
	return &ask.Rejection{
		Status: http.StatusNotAcceptable, Type: "media_type_header_exception",
		Public: fmt.Sprintf("Content-Type header [%s] is not supported", names.Clip(r.Header.ContentType)),
		Reason: ask.ReasonBadRequest,
	}
}

func isJSON(contentType string) bool {
	return isMedia(contentType, "application/json", "application/vnd.elasticsearch+json", "application/vnd.opensearch+json")
}

func isNDJSON(contentType string) bool {
	return isMedia(contentType, "application/x-ndjson", "application/vnd.elasticsearch+x-ndjson", "application/vnd.opensearch+x-ndjson")
}

// isMedia reports whether a content type is one of media with no parameter that
// could give the bytes another meaning.
func isMedia(contentType string, media ...string) bool {
	if slices.Contains(media, contentType) {
		return true // fast path: what most clients send
	}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	for name, value := range params {
		switch {
		case name == "charset" && strings.EqualFold(value, "utf-8"), name == "compatible-with":
		default:
			return false
		}
	}
	return slices.Contains(media, kind)
}

func (m Match) notBuilt(verb string) error {
	return &ask.Rejection{
		Public: fmt.Sprintf("endpoint [%s %s] is not built yet", verb, shown(m.path)),
		Reason: ask.ReasonNotBuilt,
	}
}

func (m Match) badParam(format string, args ...any) error {
	return &ask.Rejection{
		Status: http.StatusBadRequest, Type: "illegal_argument_exception",
		Public: fmt.Sprintf("request [%s] ", shown(m.path)) + fmt.Sprintf(format, args...),
		Reason: ask.ReasonBadRequest,
	}
}

func (m Match) badBody(kind ask.ErrorType, text string) error { return badBody(kind, "%s", text) }

func badBody(kind ask.ErrorType, format string, args ...any) error {
	return &ask.Rejection{
		Status: http.StatusBadRequest, Type: kind,
		Public: fmt.Sprintf(format, args...),
		Reason: ask.ReasonBadRequest,
	}
}
